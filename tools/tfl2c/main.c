/* SPDX-License-Identifier: Apache-2.0 */
/* tfl2c: writes a TFLite model as C for the firmware. */
#include "base/cli_options.h"
#include "base/file.h"
#include "base/identifier.h"
#include "base/sandbox.h"
#include "kernels/kernels.h"
#include "map/map.h"
#include "map/profile.h"
#include "raw/raw.h"
#include "target/accel.h"
#include "target/part.h"
#include "tfl2c.h"

#include <ctype.h>
#include <string.h>

static const char *const dialect_names[] = { "alif", "mlek", "cmsis", "xxd",
					     NULL };
static const char *const mode_names[] = { "Shared_Sram", "Dedicated_Sram",
					  "Sram_Only", NULL };
static const char *const format_names[] = { "header", "source", "asm", "call",
					     NULL };

static bool
is_namespace(const char *s)
{
	for (;;) {
		size_t n = strcspn(s, ":");
		if (!identifier_is_valid(s, n))
			return false;
		s += n;
		if (!*s)
			return true;
		if (s[0] != ':' || s[1] != ':')
			return false;
		s += 2;
	}
}

static bool
is_section(const char *s)
{
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._$-", *p))
			return false;
	return *s != '\0';
}

/* MACRO, or MACRO(MACRO) */
static bool
is_section_macro(const char *s)
{
	size_t n = strcspn(s, "(");
	if (!identifier_is_valid(s, n))
		return false;
	if (!s[n])
		return true;
	size_t k = strcspn(s + n + 1, ")");
	return identifier_is_valid(s + n + 1, k) && !strcmp(s + n + 1 + k, ")");
}

static void
check_names(const struct options *o)
{
	if (o->name && !identifier_is_valid(o->name, strlen(o->name)))
		cli_error("--name needs a C identifier, not '%s'", o->name);
	if (o->guard && !identifier_is_valid(o->guard, strlen(o->guard)))
		cli_error("--guard needs a C identifier, not '%s'", o->guard);
	if (o->namespaces && !is_namespace(o->namespaces))
		cli_error("--namespace needs a C++ namespace, not '%s'", o->namespaces);
	if (o->shared_arena &&
	    !identifier_is_valid(o->shared_arena, strlen(o->shared_arena)))
		cli_error("--shared-arena needs a C identifier, not '%s'", o->shared_arena);
	if (o->section && !is_section(o->section))
		cli_error("--section needs the name of a section, not '%s'", o->section);
	if (o->section_macro && !is_section_macro(o->section_macro))
		cli_error("--section-macro needs MACRO or MACRO(MACRO), not '%s'",
			  o->section_macro);
	if (o->section_macro && (o->section || o->format == FORMAT_ASM ||
				 o->dialect == DIALECT_XXD))
		cli_error("--section-macro excludes --section, --format=asm and "
			  "--dialect=xxd");
	if (o->align & (o->align - 1))
		cli_error("--align needs a power of two, not %d", o->align);
	if (o->memory_mode && !region_config(o->memory_mode))
		(void)cli_choice("--memory-mode", o->memory_mode, mode_names);
}

static void
add_expression(void *options, const char *code)
{
	struct options *o = options;
	if (o->n_expressions == MAX_EXPRESSIONS)
		cli_error("more than %d expressions", MAX_EXPRESSIONS);
	else
		o->expression[o->n_expressions++] = code;
}

static void
check_options(void *options)
{
	struct options *o = options;
	check_names(o);
	bool kit = o->dialect == DIALECT_MLEK && o->format == FORMAT_HEADER;
	if ((o->n_expressions || o->labels_file) && !kit)
		cli_error("--expression and --labels work only with --dialect=mlek and "
			  "--format=header");
	if (o->n_expressions && o->declarations)
		cli_error("--declarations excludes --expression");
	if (o->format == FORMAT_ASM && o->namespaces)
		cli_error("--format=asm excludes --namespace");
	if (o->format == FORMAT_CALL &&
	    (o->namespaces || o->dialect == DIALECT_XXD || o->shared_arena))
		cli_error("--format=call excludes --namespace, --shared-arena and "
			  "--dialect=xxd");
	if (o->profile && o->format != FORMAT_CALL)
		cli_error("--profile works only with --format=call");
	if (o->declarations &&
	    ((o->format != FORMAT_HEADER && o->format != FORMAT_CALL) ||
	     o->dialect == DIALECT_XXD))
		cli_error("--declarations works only with --format=header or call, and "
			  "without --dialect=xxd");
	if (o->resolver && !o->resolver_file &&
	    (o->format != FORMAT_HEADER || o->dialect == DIALECT_XXD))
		cli_error("this --format or --dialect has no header for the resolver: "
			  "use --resolver=FILE");
	if (o->format != FORMAT_ASM)
		return;
	if (!o->incbin)
		o->incbin = o->file;
	if (!o->incbin || !strcmp(o->incbin, "-"))
		cli_error("--format=asm needs the model's file when it is assembled: "
			  "name the file, or use --incbin=PATH");
}

static const struct cli_option option_list[] = {
	{ CLI_TEXT("name", "NAME", name,
		   "C name of the array, a different one for each network of a firmware "
		   "(default by dialect: network_model, nn_model, ethos_model, or the name "
		   "of the file)"), .key = 'n' },
	{ CLI_TEXT("name-of", "FILE", name_of,
		   "name the array after FILE; characters other than letters and digits become "
		   "'_'") },
	{ SHARED_CHOICE(DIALECT, dialect, dialect_names) },
	{ CLI_CHOICE("format", "NAME", format, format_names,
		     "kind of file: header (default), source, asm, or call (a C function that "
		     "runs the network without an interpreter)") },
	{ CLI_FLAG("profile", profile,
		   "with --format=call: read a counter of cycles around each operator, and print "
		   "the times as npu-perf --measured reads them") },
	{ CLI_FLAG("declarations", declarations,
		   "write a header without the bytes, to use with a file of --format=source "
		   "or asm") },
	{ .name = "header-only-declarations", .flags = OPTION_ALIAS },
	{ CLI_TEXT("resolver", "FILE", resolver_file,
		   "add C++ code that registers the operators of the model with a "
		   "MicroMutableOpResolver, at the end of the header or in FILE"),
	  .flags = OPTION_ARG_OPTIONAL, .seen = CLI_SEEN(resolver) },
	/* 16: the driver checks it (ethosu-commands(7) 14.4) */
	{ CLI_NUMBER("align", "BYTES", align, 16, 1 << 20,
		     "alignment of the array in bytes (default 16)") },
	{ CLI_TEXT("section", "NAME", section, "linker section of the array") },
	{ CLI_TEXT("section-macro", "NAME", section_macro,
		   "set the section by a macro of the firmware: its value is the name "
		   "(CONFIG_MODEL_SECTION), or it is an attribute "
		   "(CY_SECTION(CY_ML_MODEL_MEM))") },
	{ SHARED_TEXT(SHARED_ARENA, shared_arena) },
	{ CLI_TEXT("namespace", "A::B", namespaces, "wrap the whole file in C++ namespaces") },
	{ CLI_TAKE("expression", "CODE", add_expression,
		   "with --dialect=mlek: add a declaration before the array, such as 'extern "
		   "const int g_FrameLength = 640'") },
	{ CLI_TEXT("labels", "FILE", labels_file,
		   "with --dialect=mlek: add GetLabelsVector() with the names in FILE, one per "
		   "line") },
	{ CLI_TEXT("guard", "MACRO", guard, "macro of the include guard") },
	{ CLI_TEXT("incbin", "PATH", incbin,
		   "with --format=asm: path of the model in .incbin (default: FILE)") },
	{ CLI_NUMBER("arena-limit", "BYTES", arena_limit, 1, INT64_MAX,
		     "fail (status 1) if the tensor arena needs more than BYTES") },
	{ CLI_NUMBER("model-limit", "BYTES", model_limit, 1, INT64_MAX,
		     "fail (status 1) if the model is larger than BYTES") },
	{ SHARED_TEXT(PART, part),
	  .doc = "fail (status 1) if the model does not fit the NPU or the memories of this "
		 "chip" },
	{ SHARED_FLAG(OVERFLOW, allow_overflow) },
	{ SHARED_LIST(LIST_PARTS, target_part_list) },
	{ CLI_TEXT("memory-mode", "MODE", memory_mode,
		   "check at build time that the driver is configured for this mode: "
		   "Shared_Sram, Dedicated_Sram or Sram_Only") },
	{ 0 }
};

static const struct argp argp = {
	.doc = "Write a TFLite model, compiled or not, as C: its bytes, and macros for "
	       "memory, inputs, outputs and the NPU.",
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_read(s, o->labels_file);
	sandbox_read(s, o->part);
	sandbox_write(s, o->resolver_file);
}

/* like xxd -i: each character that is no letter or digit becomes '_' */
static const char *
name_of_file(struct arena *a, const char *path)
{
	if (!path || !strcmp(path, "-"))
		return "model";
	bool digit = isdigit((unsigned char)path[0]);
	char *name = arena_printf(a, "%s%s", digit ? "__" : "", path);
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) || *p & 0x80)
			*p = '_';
	return name;
}

static void
choose_name(struct arena *a, struct options *o)
{
	if (!o->name && o->name_of)
		o->name = identifier_of_file(a, o->name_of);
	if (o->name)
		return;
	switch (o->dialect) {
	case DIALECT_ALIF: o->name = "network_model"; break;
	case DIALECT_MLEK: o->name = "nn_model"; break;
	case DIALECT_CMSIS: o->name = "ethos_model"; break;
	case DIALECT_XXD: o->name = name_of_file(a, o->file); break;
	}
}

/* checks --model-limit and --arena-limit */
static bool
check_limits(const struct job *j, struct err *e)
{
	const struct options *o = j->o;
	const struct tensor_plan *p = &j->plan;
	if (o->model_limit && (uint64_t)o->model_limit < j->m->file.n)
		return err_no(e, j->m->name, 0, "the model takes %zu bytes, the limit is %lld",
			      j->m->file.n, (long long)o->model_limit);
	if (o->format == FORMAT_CALL)
		return !o->arena_limit || o->arena_limit >= j->call.arena_bytes ||
		       err_no(e, j->m->name, 0, "the arena of the call takes %lld bytes, the limit "
						"is %lld",
			      (long long)j->call.arena_bytes, (long long)o->arena_limit);
	if (o->arena_limit && o->arena_limit < p->arena_bytes)
		return err_no(e, j->m->name, 0, "the tensor arena takes %lld bytes (tensors "
			      "%lld, variables %lld, runtime %lld), the limit is %lld",
			      (long long)p->arena_bytes, (long long)p->tensor_bytes,
			      (long long)p->variable_bytes, (long long)p->runtime_bytes,
			      (long long)o->arena_limit);
	return true;
}

static bool
check_part(struct arena *a, struct job *j, struct err *e)
{
	const struct options *o = j->o;
	struct part_needs n = {
		.arena = o->format == FORMAT_CALL ? j->call.arena_bytes : j->plan.arena_bytes,
		.constants = (int64_t)j->m->file.n,
		.constants_in_arena = target_mode_has_constants_in_arena(o->memory_mode),
	};
	const struct target_part *p = o->part ? target_part_take(a, o->part, e) : o->chip;
	if (!p)
		return !o->part;
	if (j->npu.n_ops && !target_part_has(p, j->npu.accel->name, j->m->name, e)) {
		e->status = EXIT_NO;
		return false;
	}
	j->part = target_part_with(p, p->system, o->memory_mode ? o->memory_mode : p->mode);
	/* without an SRAM of the NPU's own, these bytes are in the arena */
	n.cache = p->cache_bytes ? j->npu.fast_bytes : 0;
	j->n_lacks = target_part_lacks(p, &n, j->lack);
	if (o->allow_overflow || !j->n_lacks)
		return true;
	const struct part_lack *x = j->lack;
	const char *what = x->needs == n.arena ? "the tensor arena takes"
			   : x->needs == n.constants ? "the model takes"
			   : x->needs == n.cache ? "fast copies of tensors take"
						 : "tensor arena and model take";
	/* parts where the network fits as it is, or with its NPU's compiler run again */
	struct text parts = { 0 };
	const char *with = j->npu.n_ops ? arena_printf(a, " with an %s", j->npu.accel->name) : "";
	target_part_list_fitting(&parts, j->npu.n_ops ? j->npu.accel->name : NULL, &n);
	if (!strcmp(text_str(&parts), "none") && j->npu.n_ops) {
		text_puts(&parts, "; with another NPU: ");
		target_part_list_fitting(&parts, NULL, &n);
	}
	(void)err_no(e, j->m->name, 0, "%s %lld bytes, %s of %s has %lld: %lld are missing; "
		     "parts%s where it fits: %s; --allow-overflow accepts it, for boards with "
		     "external memory", what, (long long)x->needs, x->memory, p->name,
		     (long long)x->has, (long long)(x->needs - x->has), with, text_str(&parts));
	text_free(&parts);
	return false;
}

static bool
write_files(struct arena *a, const struct job *j, struct err *e)
{
	struct text t = { 0 }, r = { 0 };
	struct file_set *s = file_set_open(a);
	compose(&t, j);
	if (j->o->resolver_file)
		compose_resolver(&r, j);
	bool ok = (!j->o->resolver_file ||
		   file_set_add(s, j->o->resolver_file, r.p, r.n, false, e)) &&
		  file_set_add(s, j->o->output, t.p, t.n, false, e);
	text_free(&t);
	text_free(&r);
	return file_set_end(s, ok, e);
}

/*
 * Removes the source map of a compiled model, because the firmware does not use it.  A
 * source file has declarations that must also hold for the unchanged file, which asm
 * embeds.  For these formats map_cut() keeps all other data at its offset.
 */
static bool
leave_out_map(struct arena *a, const struct options *o, struct tfl_model **m,
	      struct err *e)
{
	bool as_is = o->format == FORMAT_ASM || o->dialect == DIALECT_XXD;
	struct bytes b = (*m)->file;
	if (as_is)
		return true;
	if (o->format == FORMAT_SOURCE ||
	    (o->declarations && o->format != FORMAT_CALL))
		b = map_cut(a, *m);
	else if (!map_strip(a, *m, &b, e))
		return false;
	return model_read(a, b, (*m)->name, m, e);
}

/*
 * If the options do not set the memory mode and the part, takes those that the file was
 * compiled for.
 */
static bool
take_profile(struct arena *a, const struct tfl_model *m, struct options *o, struct err *e)
{
	struct profile p;
	if (!profile_read(a, m, &p, e))
		return false;
	if (!o->memory_mode && p.memory.mode && region_config(p.memory.mode))
		o->memory_mode = p.memory.mode;
	o->chip = p.memory.chip;
	return true;
}

int
main(int argc, char **argv)
{
	struct options o = { .align = 16 };
	struct err e = { 0 };
	struct tfl_model *m;
	struct cli_common common = {
		.options = option_list,
		.check = check_options,
		.file = &o.file, .what = "model",
		.output = &o.output,
		.confined = true,
		.allow = allow,
	};
	cli_parse(&argp, argc, argv, &o, &common);
	struct arena *a = arena_open();
	choose_name(a, &o);
	char *prefix = arena_strdup(a, o.name);
	for (char *c = prefix; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	struct job j = { .o = &o, .prefix = prefix };
	if (read_class_names(a, o.labels_file, &j.labels, &e) &&
	    raw_read_file(a, o.file, &m, &e) &&
	    take_profile(a, m, &o, &e) && leave_out_map(a, &o, &m, &e) && npu_facts(a, m, &j.npu, &e) &&
	    plan_arena(a, m, &j.plan, &e) && borders_read(a, m, &j.borders, &e) &&
	    (o.format != FORMAT_CALL || plan_call(a, m, &j.plan, &j.call, &e)) &&
	    resolver_kinds(m, &j.kinds, &e)) {
		struct text missing = { 0 };
		j.m = m;
		resolver_missing(&missing, &j.kinds);
		if (o.resolver && missing.n)
			cli_note("warning", "TensorFlow Lite Micro has no Add...() for %s",
				 text_str(&missing));
		text_free(&missing);
		if (o.resolver)
			resolver_refused(m);
		/* the names of a model and of its compiled form differ little */
		if (check_limits(&j, &e) && check_part(a, &j, &e) && write_files(a, &j, &e) &&
		    !j.npu.n_ops && m->subgraph[0].n_ops)
			cli_note("note", "%s: no operator runs on the NPU; npucc compiles models for it",
				 m->name);
	}
	arena_close(a);
	return cli_finish(&e);
}
