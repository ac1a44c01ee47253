/* SPDX-License-Identifier: Apache-2.0 */
/* Parses npucc's own options, and passes those of options.def to their programs. */
#include "npucc.h"

#include "base/cli.h"
#include "rewrite/exact.h"
#include "target/accel.h"
#include "target/memory.h"
#include "target/part.h"
#include "target/target.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROUTES = 6 };

enum id {
#define OPTION(id, key, long, value, programs, doc) ID_##id,
#define ALIAS(id, long) ID_##id,
#define HIDDEN(id, key, ...) ID_##id,
#include "options.def"
	ID_GROUP,
};

/* ids start above the letters, which are keys themselves */
#define KEY(id, key) ((key) ? (key) : 256 + ID_##id)

struct route {
	enum program to;
	const char *pattern; /* NULL: the option as it is */
	bool is_used;
};

static const struct row {
	int id;
	struct argp_option option;
	struct route route[MAX_ROUTES + 1]; /* the last one is not used */
} rows[] = {
#define OWN { .is_used = false }
#define TO(program) { program, NULL, true },
#define AS(program, pattern) { program, pattern, true },
#define GROUP(heading) { .id = ID_GROUP, .option = { .doc = heading } },
#define ROW(i, letter, long, value, may_lack, text, ...)                        \
	{ .id = ID_##i,                                                         \
	  .option = { .name = long, .key = KEY(i, letter), .arg = value,        \
		      .flags = may_lack, .doc = text },                         \
	  .route = { __VA_ARGS__ } },
#define OPTION(i, letter, long, value, programs, text)                          \
	ROW(i, letter, long, value, 0, text, programs)
#define OPTIONAL(i, letter, long, value, programs, text)                        \
	ROW(i, letter, long, value, OPTION_ARG_OPTIONAL, text, programs)
#define ALIAS(i, long)                                                          \
	{ .id = ID_##i, .option = { .name = long, .flags = OPTION_ALIAS } },
#define HIDDEN(i, letter, ...)                                                  \
	{ .id = ID_##i,                                                         \
	  .option = { .key = KEY(i, letter), .flags = OPTION_HIDDEN },          \
	  .route = { __VA_ARGS__ } },
#include "options.def"
};

static const char *const suffixes[N_STAGES] = {
	[PARTITION] = ".part", [SCHED] = ".sched", [WENC] = ".wenc",
	[CMDGEN] = ".tflite",  [TFL2C] = ".h",
};

const char *
stage_suffix(enum program p)
{
	return suffixes[p];
}

static void
add_word(struct options *o, enum program p, const char *word)
{
	struct words *w = &o->to[p];
	agrow(o->a, w->v, w->n, &w->cap);
	w->v[w->n++] = word;
}

/* adds the words of the form, with the value in place of '%'; value NULL: the option has none */
static void
pass_on(struct options *o, const struct row *option, const struct route *r, const char *value)
{
	if (!r->pattern) {
		add_word(o, r->to, arena_printf(o->a, "--%s%s%s", option->option.name,
						value ? "=" : "", value ? value : ""));
		return;
	}
	const char *blank = strchr(r->pattern, ' ');
	const char *last = blank ? blank + 1 : r->pattern;
	if (blank)
		add_word(o, r->to,
			 arena_strndup(o->a, r->pattern, (size_t)(blank - r->pattern)));
	const char *at = strchr(last, '%');
	if (at)
		last = arena_printf(o->a, "%.*s%s%s", (int)(at - last), last, value,
				    at + 1);
	add_word(o, r->to, last);
}

/* parses STAGE:OPTION */
static void
pass_as_it_is(struct options *o, const char *arg)
{
	const char *colon = strchr(arg, ':');
	size_t n = colon ? (size_t)(colon - arg) : strlen(arg);
	struct text all = { 0 };
	for (int i = 0; i <= N_STAGES + 1; i++) {
		enum program p = i < N_STAGES ? (enum program)i
				 : i == N_STAGES ? TOSA_PARTITION : QUANTIZE;
		const char *name = program_name(p);
		text_printf(&all, " %s", name);
		if (!colon || strlen(name) != n || strncmp(name, arg, n) != 0)
			continue;
		add_word(o, p, colon + 1);
		o->has_passed[p] = true;
		if (p <= PARTITION || p == QUANTIZE)
			o->tflite_only = arena_printf(o->a, "--pass=%s", arg);
		else if (p == TOSA_PARTITION)
			o->tosa_only = arena_printf(o->a, "--pass=%s", arg);
		text_free(&all);
		return;
	}
	cli_error("--pass needs STAGE:OPTION, and '%.*s' is no stage; stages are%s",
		  (int)n, arg, text_str(&all));
	text_free(&all);
}

/* true if the row gives p the option with n bytes of name, or is npucc's own with this name */
static bool
gives(const struct row *r, enum program p, const char *name, size_t n)
{
	const char *own = r->option.name;
	bool same = own && strlen(own) == n && !strncmp(own, name, n);
	if (!r->route[0].is_used)
		return same && r->id != ID_GROUP;
	for (const struct route *to = r->route; to->is_used; to++) {
		const char *word = to->pattern; /* NULL: the option as it is */
		if (to->to != p)
			continue;
		if (word ? !strncmp(word, "--", 2) && strcspn(word + 2, "=") == n &&
			   !strncmp(word + 2, name, n)
			 : same)
			return true;
	}
	return false;
}

const char *
option_for(struct arena *a, enum program p, const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (gives(&rows[i], p, name, n))
			return arena_printf(a, "--%s", rows[i].option.name);
	return arena_printf(a, "--pass=%s:--%.*s", program_name(p), (int)n, name);
}

static void
set_own_option(struct options *o, int id, char *arg)
{
	switch (id) {
	case ID_OUTPUT: o->out = arg; break;
	case ID_KEEP: o->keep = arg; break;
	case ID_REPORT:
		if (*arg == '-' && arg[1])
			cli_error("--report took '%s' as its file: name the page with "
				  "--report=FILE.html", arg);
		o->page = arg;
		break;
	case ID_ADVICE: o->advice = true; break;
	case ID_CHECK: o->check = true; break;
	case ID_ERRORS_ONLY: o->errors_only = true; break;
	case ID_LIST_PARTS: cli_show(target_part_list);
	case ID_LIST_PROFILES: cli_show(memory_list_profiles);
	case ID_LIST_REWRITES: cli_show(rewrite_list);
	case ID_OVERFLOW:
		o->allow_overflow = true;
		add_word(o, SCHED, "--allow-overflow");
		add_word(o, TFL2C, "--allow-overflow");
		break;
	case ID_PASS: pass_as_it_is(o, arg); break;
	default: break;
	}
}

/* the program that writes an output which npucc does not: the end of a message */
static const char *
other_writer(const char *out)
{
	static const struct {
		const char *suffix, *hint;
	} hints[] = {
		{ ".npz", "npu-cmdgen --emit=npz and npu-vela --output-format=raw write .npz files: "
			  "nputools-executorch(7)" },
#define C_SOURCE "tfl2c makes C code of the .tflite: --format=source the model as an array, "        \
		 "--format=call a function that runs it"
		{ ".c", C_SOURCE }, { ".cc", C_SOURCE }, { ".cpp", C_SOURCE },
		{ ".s", "tfl2c --format=asm makes an assembler file of the .tflite" },
		{ ".S", "tfl2c --format=asm makes an assembler file of the .tflite" },
	};
	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (text_has_suffix(out, hints[i].suffix))
			return hints[i].hint;
	return NULL;
}

/* finds the stage that makes the output, by its suffix */
static void
find_last(struct options *o)
{
	o->last = CMDGEN;
	if (!o->out || !strcmp(o->out, "-"))
		return;
	for (int p = PARTITION; p < N_STAGES; p++)
		if (text_has_suffix(o->out, suffixes[p])) {
			o->last = (enum program)p;
			return;
		}
	o->database = text_has_suffix(o->out, ".xml");
	const char *hint = other_writer(o->out);
	if (o->database)
		add_word(o, CMDGEN, "--emit=debug-xml");
	else
		cli_error("%s: unknown suffix of the output: name it .tflite (compiled model), .h "
			  "(C header), .xml (debug database), or .part, .sched, .wenc (the text "
			  "behind a stage)%s%s", o->out, hint ? "; " : "", hint ? hint : "");
}

/* chooses the name of the output if the user gave none */
static void
choose_output(struct options *o)
{
	if (!o->in && o->taken) {
		cli_error("no model: --%s took '%s' as its %s", o->taken_by, o->taken, o->taken_as);
	} else if (!o->in) {
		cli_error("no model: name a file, or name the output for a model on standard "
			  "input with -o FILE");
	} else if (!strcmp(o->in, "-")) {
		cli_error("no output: name it with -o FILE");
	} else if (access(".", W_OK) && (errno == EACCES || errno == EROFS)) {
		cli_error("can't write to the current directory: name the output with -o FILE");
	} else { /* NAME_npu.tflite in the current directory, for NAME.tflite in any directory */
		const char *name = file_base(o->in);
		size_t n = strlen(name);
		size_t suffix = text_has_suffix(name, ".tflite") ? strlen(".tflite")
				: text_has_suffix(name, ".tosa") ? strlen(".tosa")
								 : 0;
		n -= n > suffix ? suffix : 0;
		o->out = arena_printf(o->a, "%.*s_npu.tflite", (int)n, name);
	}
	o->chose_out = true;
	o->summary = !o->errors_only;
}

bool
passes(const struct options *o, enum program p, const char *option)
{
	const struct words *w = &o->to[p];
	for (size_t i = 0; i < w->n; i++)
		if (!strncmp(w->v[i], option, strlen(option)))
			return true;
	return false;
}

/*
 * Chooses the memory system of an accelerator without one.  Only the graph of
 * tfl-partition needs no chip.
 */
static void
choose_target(struct options *o)
{
	const struct target_names *n = &o->names;
	const char *system, *mode;
	const struct target_part *p = target_part_take(o->a, o->part, &(struct err){ 0 });
	if (p && !o->accel)
		o->accel = p->accel;
	o->for_linux = passes(o, PARTITION, "--target=linux");
	if (o->last < SCHED || o->part || passes(o, SCHED, "--part"))
		return;
	/* of a missing file and a missing chip, the file is reported */
	bool is_missing = o->in && strcmp(o->in, "-") != 0 && access(o->in, F_OK);
	if (!o->accel && !is_missing && !passes(o, SCHED, "--accelerator-config") &&
	    !passes(o, SCHED, "-a"))
		cli_error("no chip: use --part=NAME, of which npucc --list-parts has a list, or "
			  "--accelerator-config=NAME with one of %s", accel_names());
	if (!o->accel || n->system || n->mode || n->has_config || passes(o, SCHED, "--system-config") ||
	    passes(o, SCHED, "--memory-mode") || passes(o, SCHED, "--config") ||
	    !example_memory(o, &system, &mode))
		return;
	add_word(o, SCHED, arena_printf(o->a, "--system-config=%s", system));
	add_word(o, SCHED, arena_printf(o->a, "--memory-mode=%s", mode));
}

static void
check_page(const struct options *o)
{
	if (!text_has_suffix(o->page, ".html") && !text_has_suffix(o->page, ".htm"))
		cli_error("--report writes a page: name it FILE.html, not '%s'", o->page);
	if (!o->out)
		cli_error("--keep writes report.html itself: leave out --report, or name the "
			  "model that it shows with -o FILE.tflite");
	else if (!strcmp(o->out, "-") || o->last < CMDGEN || o->database)
		cli_error("--report needs a compiled model: name it with -o FILE.tflite or its "
			  "header with -o FILE.h, or leave out -o");
	if (passes(o, CMDGEN, "--no-map"))
		cli_error("--report shows the operators by the names in the source map: leave "
			  "out --no-map");
}

static void
check_combination(struct options *o)
{
	if (o->report) { /* a text in place of the model, which excludes what needs one */
		const char *other = o->check ? "--check" : o->page ? "--report"
				    : o->advice ? "--advice" : NULL;
		if (o->keep)
			cli_error("--front and --explain exclude --keep, which writes "
				  "front.json itself");
		if (other)
			cli_error("%s needs a compiled model, not --front or --explain", other);
		if (o->out &&
		    (text_has_suffix(o->out, ".tflite") || text_has_suffix(o->out, ".tosa")))
			cli_error("--front and --explain write a report, no model: name it FILE.txt "
				  "or FILE.json, not '%s', or leave them out", o->out);
	}
	if (o->report && !o->out)
		o->out = "-";
	if (!o->out && !o->keep)
		choose_output(o);
	if (o->keep && !*o->keep)
		cli_error("--keep needs the name of a directory or of a .tar.gz file");
	o->archive = o->keep && text_has_suffix(o->keep, ".tar.gz");
	if (o->report)
		o->last = SCHED;
	else
		find_last(o);
	choose_target(o);
	/* without -j, all processors work: the bytes are the same for any number of threads */
	if (!passes(o, SCHED, "--jobs=")) {
		add_word(o, SCHED, "--jobs=0");
		add_word(o, WENC, "--jobs=0");
		add_word(o, CMDGEN, "--jobs=0");
	}
	if (o->errors_only && o->verbose)
		cli_error("--quiet and --verbose-all exclude each other");
	if (o->page && (o->out || o->keep))
		check_page(o);
	bool is_model = o->last == CMDGEN && !o->database && o->out && strcmp(o->out, "-") != 0;
	o->summary |= o->advice && is_model && !o->errors_only;
	if (o->advice && !o->page && !o->summary)
		cli_error("--advice is for the summary or the page of a compiled model: %s",
			  o->errors_only ? "name a page with --report=FILE.html, or leave out "
					   "--quiet"
					 : "name the model with -o FILE.tflite, or leave out -o");
	target_check_names(&o->names, cli_refuse);
	if (o->database && o->keep)
		cli_error("--keep keeps a model: name %s in another run with the same options",
			  o->out);
	const char *of_pictures = passes(o, QUANTIZE, "--range=")  ? "range"
				  : passes(o, QUANTIZE, "--resize") ? "resize"
								     : NULL;
	if (of_pictures && !passes(o, QUANTIZE, "--data") && !passes(o, QUANTIZE, "--random"))
		cli_error("--%s is for the pictures of --quantize=DATA, which is missing; mkinput "
			  "has a --%s for a picture that is an input of the network", of_pictures,
			  of_pictures);
	if (o->errors_only && o->to[QUANTIZE].n)
		add_word(o, QUANTIZE, "--quiet");
	/* the summary tells of floats at the model's borders, with their price */
	if (o->summary && !passes(o, QUANTCHECK, "--strict"))
		add_word(o, QUANTCHECK, "--allow=interface-float");
	if (o->check && (o->last < CMDGEN || o->database))
		cli_error("--check needs a compiled model, not %s", o->out);
	if (o->in && !strcmp(o->in, "-"))
		o->in = NULL;
}

static bool
is_model_name(const char *word)
{
	return text_has_suffix(word, ".tflite") || text_has_suffix(word, ".tosa");
}

/* the name of an option that the word would be, had it dashes: part=alif-e7-he; NULL: none */
static const char *
option_without_dashes(const char *word)
{
	size_t n = strcspn(word, "=");
	for (size_t i = 0; word[n] && i < ARRAY_LEN(rows); i++) {
		const char *name = rows[i].id == ID_GROUP ? NULL : rows[i].option.name;
		if (name && strlen(name) == n && !strncmp(word, name, n))
			return word;
	}
	return NULL;
}

static void
take_model(struct options *o, const char *arg)
{
	const char *option = option_without_dashes(arg);
	if (!option && o->in)
		option = option_without_dashes(o->in);
	if (o->in)
		cli_error("more than one model: %s, %s%s%s%s", o->in, arg,
			  option ? "; did you mean --" : "", option ? option : "", option ? "?" : "");
	o->in = arg;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	if (key == ARGP_KEY_ARG) {
		take_model(o, arg);
		return 0;
	}
	if (key == ARGP_KEY_END) {
		check_combination(o);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *r = &rows[i];
		if (!key || r->option.key != key)
			continue;
		if (is_model_name(arg)) {
			o->taken = arg;
			o->taken_by = r->option.name;
			o->taken_as = r->option.arg;
		}
		if (!r->route[0].is_used)
			set_own_option(o, r->id, arg);
		switch (r->id) {
		case ID_ACCELERATOR: o->accel = o->names.accel = arg; break;
		case ID_PART: o->part = o->names.part = arg; break;
		case ID_SYSTEM: o->names.system = arg; break;
		case ID_MODE: o->names.mode = arg; break;
		case ID_CONFIG: o->names.has_config = true; break;
		default: break;
		}
		o->verbose |= r->id == ID_VERBOSE_ALL;
		o->report |= r->id == ID_FRONT || r->id == ID_EXPLAIN;
		bool tflite_only = r->route[0].is_used && r->id != ID_FAIL_ON_CPU;
		for (const struct route *to = r->route; to->is_used; to++) {
			pass_on(o, r, to, arg);
			tflite_only = tflite_only && (to->to <= PARTITION || to->to >= QUANTIZE);
		}
		if (r->id == ID_ALLOW && strstr(arg, "unequal-quantization"))
			add_word(o, PARTITION, "--allow=unequal-quantization");
		/* tosa-partition always fails if an operator must run on the CPU */
		if (tflite_only)
			o->tflite_only = arena_printf(o->a, "--%s", r->option.name);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

void
options_parse(struct options *o, int argc, char **argv)
{
	struct argp_option list[ARRAY_LEN(rows) + 1] = { 0 };
	int group = 0;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		list[i] = rows[i].option;
		group += rows[i].id == ID_GROUP;
		list[i].group = group;
	}
	const struct argp argp = {
		.options = list,
		.parser = parse_option,
		.args_doc = "[FILE]",
		.doc = "Compile a quantized TFLite model for an Ethos-U NPU.\v"
		       "Exit status: 0 done, 1 a check failed or a limit can't be met, "
		       "2 error.  See npucc(1).",
	};
	static const struct cli_elsewhere labels = {
		"labels", "--pass=tfl-quantize:--labels=FILE has the classes of --quantize=DATA, "
			  "--pass=tfl2c:--labels=FILE names for the header"
	};
	cli_parse(&argp, argc, argv, o, &(struct cli_common){ .elsewhere = &labels });
}
