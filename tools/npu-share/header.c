/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header for the firmware: the arena, the place of each tensor in it, the constants, and
 * a function for each network.
 */
#include "share.h"

#include "base/file.h"

#include <ctype.h>
#include <string.h>

/* a prefix of macros: in upper case */
static const char *
upper(const struct share *s, const char *name)
{
	char *p = arena_strdup(s->a, name);
	for (char *c = p; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return p;
}

static void
put_array(struct text *t, const char *name, const char *what, struct bytes b)
{
	text_printf(t, "static const unsigned char %s_%s[] __attribute__((aligned(16))) = {\n", name,
		    what);
	enum { PER_LINE = 12 };
	for (size_t i = 0; i < b.n; i++)
		text_printf(t, "%s0x%02x,%s", i % PER_LINE ? " " : "\t", b.p[i],
			    i % PER_LINE == PER_LINE - 1 || i + 1 == b.n ? "\n" : "");
	text_puts(t, b.n ? "};\n" : "\t0,\n};\n");
}

static void
put_tensors(const struct share *s, struct text *t, int net, bool in)
{
	const struct tfl_subgraph *g = &chosen_file(s, net)->m->subgraph[0];
	const struct span *at = in ? chosen(s, net)->in : chosen(s, net)->out;
	const char *p = upper(s, arena_printf(s->a, "%s_%s", s->o->name, s->net[net].name));
	int n = in ? g->n_in : g->n_out;
	text_printf(t, "#define %s_%s %d\n", p, in ? "INPUTS" : "OUTPUTS", n);
	for (int k = 0; k < n; k++) {
		const struct tfl_tensor *x = &g->tensor[in ? g->in[k] : g->out[k]];
		const char *io = arena_printf(s->a, "%s_%s_%d", p, in ? "INPUT" : "OUTPUT", k);
		text_printf(t, "#define %s_OFFSET %lld\n#define %s_BYTES %lld\n", io,
			    (long long)(s->choice.place.at[net] + at[k].at), io,
			    (long long)at[k].n);
		if (x->quant.n_scale != 1)
			continue;
		text_printf(t, "#define %s_SCALE ", io);
		text_float(t, x->quant.scale[0]);
		text_printf(t, "f\n#define %s_ZERO_POINT (%lld)\n", io,
			    x->quant.n_zero ? (long long)x->quant.zero[0] : 0);
	}
}

/* function parameters behind the driver's */
static const char *
parameters(const struct share *s)
{
	return s->choice.fast ? "void *arena, void *fast" : "void *arena";
}

static void
put_states(const struct share *s, struct text *t, int net)
{
	const struct compiled *c = chosen_file(s, net);
	const struct tfl_subgraph *g = &c->m->subgraph[0];
	text_printf(t, "/* sets the first values of the variables: call before the first run */\n"
		       "static inline void\n%s_%s_reset(void *arena)\n{\n", s->o->name,
		    s->net[net].name);
	if (!c->alone) {
		text_printf(t, "\t%s_reset((unsigned char *)arena + %lld);\n}\n\n",
			    s->net[net].name, (long long)s->choice.place.at[net]);
		return;
	}
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *x = &g->tensor[i];
		if (!x->is_variable)
			continue;
		int fill = x->type == TFL_INT8 && x->quant.n_zero
			       ? (int)(x->quant.zero[0] & 0xff) : 0;
		text_printf(t, "\tmemset((unsigned char *)arena + %lld, %d, %lld);\n",
			    (long long)(s->choice.place.at[net] + tfl_planned_at(c->m, 0, i)), fill,
			    (long long)tfl_bytes(x));
	}
	text_puts(t, "}\n\n");
}

static void
put_run(const struct share *s, struct text *t, int net)
{
	const struct row *r = chosen(s, net);
	const char *name = s->o->name, *n = s->net[net].name;
	long long at = (long long)s->choice.place.at[net];
	text_printf(t, "static inline int\n%s_%s_run(struct ethosu_driver *driver, %s)\n{\n", name, n,
		    parameters(s));
	text_puts(t, "\tuint64_t base[3];\n\tsize_t size[3];\n");
	text_printf(t, "\tbase[0] = (uintptr_t)(%s_constants + %lld);\n"
		       "\tsize[0] = sizeof(%s_constants) - %lld;\n", name,
		    (long long)s->base_at[net], name, (long long)s->base_at[net]);
	text_printf(t, "\tbase[1] = (uintptr_t)((unsigned char *)arena + %lld);\n"
		       "\tsize[1] = %lld;\n", at, (long long)r->arena);
	if (r->fast)
		text_printf(t, "\tbase[2] = (uintptr_t)fast;\n\tsize[2] = %lld;\n",
			    (long long)r->fast);
	else
		text_printf(t, "%s\tbase[2] = base[1];\n\tsize[2] = size[1];\n",
			    s->choice.fast ? "\t(void)fast;\n" : "");
	text_printf(t, "\treturn ethosu_invoke_v3(driver, %s_%s_stream, sizeof(%s_%s_stream),\n"
		       "\t\tbase, size, 3, 0);\n}\n\n", name, n, name, n);
}

/* A network with operators of the CPU is a function of tfl2c --format=call. */
static void
put_call(const struct share *s, struct text *t, int net)
{
	const char *name = s->o->name, *n = s->net[net].name;
	text_printf(t, "static inline int\n%s_%s_run(struct ethosu_driver *driver, %s)\n{\n", name, n,
		    parameters(s));
	text_printf(t, "\treturn %s_call(driver, (unsigned char *)arena + %lld%s);\n}\n\n", n,
		    (long long)s->choice.place.at[net], chosen(s, net)->fast ? ", fast" : "");
}

/* Has the network variables that an interpreter resets? */
static bool
has_state(const struct compiled *c)
{
	for (int i = 0; i < c->m->n_subgraphs; i++)
		for (int k = 0; k < c->m->subgraph[i].n_tensors; k++)
			if (c->m->subgraph[i].tensor[k].is_variable)
				return true;
	return c->resources > 0;
}

/* networks under TensorFlow Lite Micro */
static void
put_interpreters(const struct share *s, struct text *t)
{
	const char *guard = upper(s, s->o->name), *name = s->o->name;
	text_printf(t, "/*\n * The functions need TensorFlow Lite Micro's micro_interpreter.h and\n"
		       " * micro_mutable_op_resolver.h, included before this header, and one file of the\n"
		       " * program.  arena: %s_ARENA_BYTES, aligned to 16.  Call %s_start() once, before all\n"
		       " * others.  Write the inputs at arena + ..._OFFSET directly before a run, and read the\n"
		       " * outputs directly behind it: another network may use these bytes.\n */\n"
		       "#ifdef TENSORFLOW_LITE_MICRO_MICRO_INTERPRETER_H_\n", guard, name);
	for (int i = 0; i < s->p.n; i++) { /* its interpreter, and functions to use it */
		const struct compiled *c = chosen_file(s, i);
		const char *n = s->net[i].name, *macro = upper(s, n);
		const char *p = arena_printf(s->a, "%s_%s", name, n), *upper_p = upper(s, p);
		text_printf(t, "static tflite::MicroInterpreter *%s_interpreter;\n\n"
			       "static inline bool\n%s_start(uint8_t *arena)\n{\n", p, p);
		text_printf(t, "\talignas(16) static uint8_t persistent[%s_PERSISTENT_ARENA_SIZE];\n"
			       "\tstatic tflite::MicroMutableOpResolver<%s_RESOLVER_OPS> resolver;\n"
			       "\tif (!%s_add_operators(resolver))\n\t\treturn false;\n", macro, macro, n);
		text_printf(t, "\tstatic tflite::MicroAllocator *allocator = tflite::MicroAllocator::Create(\n"
			       "\t\tpersistent, sizeof(persistent), arena + %s_ARENA_OFFSET, %s_ARENA_BYTES);\n"
			       "\tstatic tflite::MicroInterpreter interpreter(tflite::GetModel(%s), resolver,\n"
			       "\t\tallocator%s%s%s);\n", upper_p, upper_p, n,
			    c->resources ? ", tflite::MicroResourceVariables::Create(allocator, " : "",
			    c->resources ? macro : "", c->resources ? "_RESOURCE_VARIABLES)" : "");
		text_printf(t, "\t%s_interpreter = &interpreter;\n"
			       "\treturn interpreter.AllocateTensors() == kTfLiteOk;\n}\n\n", p);
		text_printf(t, "static inline int\n%s_run()\n{\n"
			       "\treturn %s_interpreter->Invoke() == kTfLiteOk ? 0 : -1;\n}\n\n", p, p);
		if (has_state(c))
			text_printf(t, "/* sets the first values of the variables again */\n"
				       "static inline int\n%s_reset()\n{\n"
				       "\treturn %s_interpreter->Reset() == kTfLiteOk ? 0 : -1;\n}\n\n",
				    p, p);
	}
	text_printf(t, "/* makes all interpreters; false: one failed */\n"
		       "static inline bool\n%s_start(uint8_t *arena)\n{\n\treturn ", name);
	for (int i = 0; i < s->p.n; i++)
		text_printf(t, "%s%s_%s_start(arena)", i ? " &&\n\t       " : "", name, s->net[i].name);
	text_puts(t, ";\n}\n#endif\n");
}

static void
put_functions(const struct share *s, struct text *t)
{
	const char *guard = upper(s, s->o->name);
	text_printf(t, "/*\n * The functions need ethosu_driver.h, included before this header, and one file\n"
		       " * of the program: each file that includes both has its own copy of the constants.\n"
		       " * arena: %s_ARENA_BYTES, aligned to 16.  Write the inputs at arena + "
		       "..._OFFSET directly\n * before a run, and read the outputs directly "
		       "behind it: another network may use\n * these bytes.  The caller must flush and "
		       "invalidate caches.\n */\n#ifdef ETHOSU_DRIVER_H\n", guard);
	put_array(t, s->o->name, "constants", s->constants);
	for (int i = 0; i < s->p.n; i++) {
		if (!chosen_file(s, i)->alone)
			continue;
		put_array(t, arena_printf(s->a, "%s_%s", s->o->name, s->net[i].name), "stream",
			  s->payload[i]);
	}
	text_putc(t, '\n');
	for (int i = 0; i < s->p.n; i++) {
		if (chosen(s, i)->n_kept)
			put_states(s, t, i);
		if (chosen_file(s, i)->alone)
			put_run(s, t, i);
		else
			put_call(s, t, i);
	}
	text_puts(t, "#endif\n");
}

void
print_header(const struct share *s, struct text *t)
{
	const char *guard = upper(s, s->o->name);
	text_printf(t, "/* %s: made by npu-share; do not edit */\n#ifndef %s_H\n#define %s_H\n\n"
		       "#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n",
		    s->o->name, guard, guard);
	for (int i = 0; i < s->p.n; i++)
		if (s->o->tflm)
			text_printf(t, "#define %s_OWN_ARENA\n#include \"%s.h\"\n",
				    upper(s, s->net[i].name), s->net[i].name);
		else if (!chosen_file(s, i)->alone)
			text_printf(t, "#include \"%s.h\" /* with %s.c: operators of the CPU */\n",
				    s->net[i].name, s->net[i].name);
	text_printf(t, "/* memory that all networks share, aligned to 16 */\n"
		       "#define %s_ARENA_BYTES %lld\n", guard, (long long)s->choice.place.bytes);
	if (s->choice.fast)
		text_printf(t, "/* memory that only the NPU uses, during a run */\n"
			       "#define %s_FAST_BYTES %lld\n", guard, (long long)s->choice.fast);
	for (int k = 0; k < s->p.n_chains; k++) {
		const struct chain *c = &s->p.chain[k];
		text_printf(t, "/* output %d of %s is input %d of %s: run %s, then %s */\n", c->out,
			    s->net[c->from].name, c->in, s->net[c->to].name, s->net[c->from].name,
			    s->net[c->to].name);
	}
	text_putc(t, '\n');
	for (int i = 0; i < s->p.n; i++) {
		const struct row *r = chosen(s, i);
		const char *p = upper(s, arena_printf(s->a, "%s_%s", s->o->name, s->net[i].name));
		text_puts(t, "/* ");
		text_puts(t, s->net[i].name);
		text_printf(t, ": %.0f cycles of the NPU in a run */\n", r->cycles);
		text_printf(t, "#define %s_ARENA_OFFSET %lld\n#define %s_ARENA_BYTES %lld\n", p,
			    (long long)s->choice.place.at[i], p, (long long)r->arena);
		put_tensors(s, t, i, true);
		put_tensors(s, t, i, false);
		text_putc(t, '\n');
	}
	(s->o->tflm ? put_interpreters : put_functions)(s, t);
	text_puts(t, "\n#endif\n");
}
