/* SPDX-License-Identifier: Apache-2.0 */
/* mkinput: converts data to a model's quantized input, and computes the expected output. */
#include "base/cli_options.h"
#include "base/identifier.h"
#include "base/sandbox.h"
#include "base/text.h"
#include "mkinput.h"
#include "borders/borders.h"
#include "sim/sim.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[] = { "header", "npy", "raw", NULL };
static const char *const dialect_names[] = { "plain", "mlek-samples", "mlek-tests",
					     NULL };

static bool
is_word(const char *s, bool section)
{
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_' &&
		    !(section && strchr("._$-", *p)))
			return false;
	return section ? *s != '\0' : identifier_is_valid(s, strlen(s));
}

static void
check_names(const struct options *o)
{
	const struct {
		const char *option, *word;
		bool section;
	} names[] = {
		{ "--name", o->name, false },
		{ "--guard", o->guard, false },
		{ "--expected-name", o->expected_name, false },
		{ "--use-case", o->use_case, false },
		{ "--section", o->section, true },
		{ "--expected-section", o->expected_section, true },
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].word && !is_word(names[i].word, names[i].section))
			cli_error("%s needs %s, not '%s'", names[i].option,
				  names[i].section ? "the name of a section"
						   : "a C identifier", names[i].word);
}

/* Completes the names of the arrays. */
static bool
name_arrays(struct arena *a, struct options *o, struct err *e)
{
	const char *prefix = o->name_of ? arena_printf(a, "%s_", identifier_of_file(a, o->name_of)) : "";
	if (!o->name)
		o->name = arena_printf(a, "%sinput_data", prefix);
	if (!o->expected_name)
		o->expected_name = arena_printf(a, "%sexpected_output_data", prefix);
	if (o->output_buffer)
		o->output_buffer = arena_printf(a, "%s%s", prefix, o->output_buffer);
	return strcmp(o->name, o->expected_name) != 0 ||
	       err_set(e, "--expected-name is the name of the input's array, too: '%s'", o->name);
}

/* the format that the suffix of a file's name asks for */
static enum output
format_of(const char *path)
{
	if (text_has_suffix(path, ".npy"))
		return AS_NPY;
	return text_has_suffix(path, ".bin") || text_has_suffix(path, ".raw") ? AS_RAW : AS_HEADER;
}

static void
check_options(void *options)
{
	struct options *o = options;
	check_names(o);
	if (!o->model)
		cli_error("no MODEL: name the model that the input is for");
	sample_check_options(&o->in);
	if (o->has_random && o->n_files)
		cli_error("--random excludes FILE operands");
	/*
	 * A dialect of the evaluation kit writes two files into a directory.  The kit fixes
	 * their names and contents.
	 */
	const char *dialect = dialect_names[o->dialect];
	if (o->use_case && o->dialect != DIALECT_MLEK_TESTS)
		cli_error("--use-case works only with --dialect=mlek-tests");
	if (o->dialect && (!o->output || !strcmp(o->output, "-")))
		cli_error("--dialect=%s writes two files: name their directory with -o "
			  "DIR", dialect);
	if (o->dialect && (o->has_format || o->hex || o->name || o->name_of || o->guard ||
			   o->section || o->expected || o->list))
		cli_error("--dialect=%s excludes --format, --hex, --name, --name-of, --guard, "
			  "--section, --expected and --list", dialect);
	if (o->dialect == DIALECT_MLEK_SAMPLES && !o->n_files)
		cli_error("--dialect=mlek-samples needs at least one FILE, a picture "
			  "or a sound");
	/* --list writes no header file and no expected output */
	if (!o->list && o->labels)
		cli_error("--labels works only with --list");
	if (o->list) {
		if (o->n_files || o->has_random)
			cli_error("--list excludes FILE operands and --random");
		if (o->expected || o->name || o->name_of || o->guard || o->section)
			cli_error("--list excludes --expected, --name, --name-of, --guard and --section");
		if (o->has_format && o->format == AS_HEADER)
			cli_error("--list needs --format=npy or --format=raw, not header");
		if ((!o->output || !strcmp(o->output, "-")) && !o->labels)
			cli_error("--list writes two files: name them with -o FILE or "
				  "--labels=FILE");
	}
	if (!o->has_format && !o->dialect)
		o->format = format_of(o->output);
	if (o->list && o->format == AS_HEADER)
		o->format = AS_NPY;
	if (!o->n_files && !o->has_random && !o->list && o->model &&
	    !strcmp(o->model, "-"))
		cli_error("model and data can't both come from standard input: name "
			  "one of them");
}

static void
set_sections(void *options, const char *arg)
{
	struct options *o = options;
	(void)arg;
	o->section = "input_data_sec";
	o->expected_section = "expected_output_data_sec";
	o->output_buffer = "output_data";
	o->output_section = "output_data_sec";
}

static void
take_operand(void *options, const char *arg)
{
	struct options *o = options;
	if (!o->model)
		o->model = arg;
	else if (o->n_files == MAX_FILES)
		cli_error("more than %d files", MAX_FILES);
	else
		o->file[o->n_files++] = arg;
}

static const struct cli_option option_list[] = {
	{ CLI_CHOICE("format", "NAME", format, format_names,
		     "file format of the result: header, npy or raw (default: by the suffix of "
		     "--output, .npy, .raw or .bin, otherwise a header)"),
	  .seen = CLI_SEEN(has_format) },
	{ CLI_TEXT("name", "NAME", name, "C name of the array (default: input_data)"),
	  .key = 'n' },
	{ CLI_TEXT("name-of", "FILE", name_of,
		   "name arrays and include guards after FILE, a different name for each network of a "
		   "firmware: keyword_input_data for keyword.tflite") },
	{ CLI_FLAG("hex", hex,
		   "write the arrays of the header as uint8_t bytes in hexadecimal") },
	{ CLI_CHOICE("dialect", "NAME", dialect, dialect_names,
		     "style of the result: plain (default), or mlek-samples or mlek-tests "
		     "(source files of Arm's ML evaluation kit, in the directory of "
		     "--output)") },
	{ CLI_TEXT("use-case", "NAME", use_case,
		   "use-case name for mlek-tests: suffix of its names, and its C++ "
		   "namespace") },
	{ CLI_TEXT("guard", "MACRO", guard, "macro of the include guard (INPUT_DATA_H)") },
	{ CLI_TEXT("section", "NAME", section,
		   "linker section of the array, which is then writable (not const)") },
	{ CLI_TAKE("sections", NULL, set_sections,
		   "place the arrays for a continuous inference loop: input in "
		   "input_data_sec, expected output in expected_output_data_sec, and an "
		   "output buffer in output_data_sec") },
	{ CLI_TEXT("expected", "FILE", expected,
		   "run the model and write its output to FILE, to test the firmware: .npy, "
		   ".bin or .raw by the suffix, otherwise a header") },
	{ CLI_TEXT("expected-name", "NAME", expected_name,
		   "C name of the array of --expected (default: expected_output_data)") },
	{ CLI_TEXT("expected-section", "NAME", expected_section,
		   "linker section of the array of --expected") },
	SAMPLE_FROM(in),
	{ CLI_VALUE("quantized", in.meaning, QUANTIZED,
		    "the numbers are quantized already: copy them unchanged") },
	{ CLI_VALUE("real", in.meaning, REAL, "the numbers are real values: quantize them") },
	SAMPLE_VALUES(in),
	{ CLI_NUMBER("random", "SEED", seed, 0, INT64_MAX,
		     "generate random integers instead of reading files"),
	  .seen = CLI_SEEN(has_random) },
	{ CLI_TEXT("list", "FILE", list,
		   "convert many files into one array (.npy or raw), for npu-sim --frames: "
		   "FILE has one path and label per line, or is a directory with one "
		   "subdirectory per class") },
	{ CLI_TEXT("labels", "FILE", labels,
		   "write the labels of --list to FILE (default: the name of OUTPUT with "
		   ".labels)") },
	{ 0 }
};

static void
allow(const struct sandbox *s, void *options)
{
	struct options *o = options;
	struct err e = { 0 };
	sandbox_write(s, o->expected);
	sandbox_write(s, o->labels);
	if (o->dialect)
		sandbox_write_in(s, o->output);
	if (!o->list)
		return;
	permit_list(s, o->list);
	/* a temporary file that is read again; if it fails, the run tries once more */
	o->has_spool = spool_open(&o->spool, &e);
}

static const struct argp argp = {
	.args_doc = "MODEL [FILE...]",
	.doc = "Convert data into the quantized input of a TFLite model or a TOSA "
	       "graph, as a C header, .npy or raw bytes.  Give one FILE for each "
	       "input; a model with a single input also reads standard input."
	       "\vExit status: 0 done, 2 error.  See mkinput(1).",
};

static bool
make_part(struct arena *a, const struct options *o, const struct tfl_tensor *t,
	  const char *path, struct filled *out, struct err *e)
{
	struct data d;
	if (!load_data(a, path, &o->in, t, &d, e) || !fit_data(a, &o->in, t, &d, e) ||
	    !fill_tensor(a, &o->in, t, &d, out, e))
		return false;
	warn_clipped(d.name, t, out);
	return true;
}

static bool
make_input(struct arena *a, const struct options *o, const struct tfl_subgraph *g, int i,
	   uint64_t *random, struct filled *out, struct err *e)
{
	const struct tfl_tensor *t = &g->tensor[g->in[i]];
	int each = o->n_files / g->n_in; /* files per input; more than 1 for a batch */
	if (o->has_random) {
		out->n = (size_t)tfl_elements(t);
		out->bytes = anew(a, uint8_t, (size_t)tfl_bytes(t));
		sim_make_indices(SIM_RANDOM, random, t, sim_indices(a, g)[g->in[i]], out->bytes);
		return true;
	}
	if (each <= 1)
		return make_part(a, o, t, o->n_files ? o->file[i] : NULL, out, e);
	/* a batch: one file per part, in consecutive memory */
	struct tfl_tensor one = one_of_batch(t, each);
	size_t bytes = (size_t)tfl_bytes(&one);
	out->bytes = arena_alloc(a, bytes, (size_t)each);
	for (int k = 0; k < each; k++) {
		struct filled f;
		if (!make_part(a, o, &one, o->file[(ptrdiff_t)each * i + k], &f, e))
			return false;
		memcpy(out->bytes + (size_t)k * bytes, f.bytes, bytes);
	}
	return true;
}

static bool
check_inputs(const struct options *o, const struct tfl_subgraph *g, int batch,
	     struct err *e)
{
	/* one file per input, or one per element of a batch */
	int n = o->n_files ? o->n_files : o->has_random ? g->n_in : 1;
	if (n != g->n_in && (batch <= 1 || n != (int64_t)g->n_in * batch)) {
		struct text more = { 0 };
		if (batch > 1)
			text_printf(&more, ", and a batch of %d", batch);
		(void)err_at(e, o->model, 0, "the model has %d input%s%s, but there %s %d file%s: "
			     "give one for each", g->n_in, g->n_in == 1 ? "" : "s", text_str(&more),
			     n == 1 ? "is" : "are", n, n == 1 ? "" : "s");
		text_free(&more);
		return false;
	}
	for (int i = 0; i < g->n_in; i++)
		if (tfl_bytes(&g->tensor[g->in[i]]) < 1 ||
		    tfl_bytes(&g->tensor[g->in[i]]) > MAX_INPUT_BYTES)
			return err_at(e, o->model, 0, "input %d has %lld bytes, at most %d are "
				      "supported", i, (long long)tfl_bytes(&g->tensor[g->in[i]]),
				      (int)MAX_INPUT_BYTES);
	return true;
}

/*
 * Converts the values of t to their layout in memory, if this layout is not dense.  If
 * bytes is NULL, only the shape is set.
 */
static struct array
in_memory(struct arena *a, const struct tfl_tensor *t, const struct border_tensor *x,
	  const uint8_t *bytes)
{
	if (!x || !x->has_record)
		return (struct array){ t, bytes };
	struct tfl_tensor *m = anew(a, struct tfl_tensor, 1);
	*m = *t;
	m->rank = border_memory_shape(x, m->dim);
	uint8_t *p = arena_alloc(a, (size_t)border_bytes(x), 1);
	if (bytes)
		border_pack(x, bytes, p);
	return (struct array){ m, p };
}

static bool
write_expected(struct arena *a, struct file_set *to, const struct options *o,
	       struct array *outputs, const struct border_tensors *x, struct err *e)
{
	int n = x->n_out;
	enum output format = format_of(o->expected);
	for (int i = 0; i < n && format != AS_NPY; i++)
		outputs[i] = in_memory(a, outputs[i].t, &x->out[i], outputs[i].bytes);
	struct sheet s = {
		.name = o->expected_name, .section = o->expected_section, .array = outputs, .n = n,
		.hex = o->hex,
	};
	return format == AS_HEADER ? write_header(to, o->expected, &s, e)
				   : write_binary(a, to, o->expected, &s, format, e);
}

static bool
write_input(struct arena *a, struct file_set *to, const struct options *o,
	    const struct tfl_model *m, const struct border_tensors *x, const struct filled *f,
	    struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	bool values = o->format == AS_NPY;
	struct array *in = anew(a, struct array, (size_t)g->n_in);
	struct array *out = anew(a, struct array, (size_t)g->n_out);
	for (int i = 0; i < g->n_in; i++)
		in[i] = in_memory(a, &g->tensor[g->in[i]], values ? NULL : &x->in[i],
				  f[i].bytes);
	for (int i = 0; i < g->n_out; i++)
		out[i] = in_memory(a, &g->tensor[g->out[i]], values ? NULL : &x->out[i],
				   NULL);
	struct sheet s = {
		.name = o->name, .guard = o->guard,
		.section = o->section, .writable = o->section != NULL,
		.hex = o->hex,
		.array = in, .n = g->n_in, .buffer = o->output_buffer,
		.buffer_section = o->output_section, .outputs = out,
		.n_outputs = o->output_buffer ? g->n_out : 0,
	};
	return o->format == AS_HEADER
		   ? write_header(to, o->output, &s, e)
		   : write_binary(a, to, o->output, &s, o->format, e);
}

static bool
convert_files(void *options, struct arena *a, struct err *e)
{
	struct options *o = options;
	struct model model;
	struct border_tensors x;
	struct array *outputs = NULL;
	if (!name_arrays(a, o, e) || !read_model(a, o->model, &model, e))
		return false;
	const struct tfl_model *m = model.m;
	if (!borders_read(a, m, &x, e))
		return false;
	const struct tfl_model *v = borders_value_model(a, m, &x);
	const struct tfl_subgraph *g = &v->subgraph[0];
	bool kit = o->dialect == DIALECT_MLEK_SAMPLES || o->dialect == DIALECT_MLEK_TESTS;
	if (kit && v != m)
		return err_at(e, o->model, 0, "an input or output has a memory layout, which "
			      "files of the evaluation kit do not support");
	if (o->dialect == DIALECT_MLEK_SAMPLES && g->n_in == 1) {
		struct file_set *s = file_set_open(a);
		return file_set_end(s, write_mlek_samples(a, s, o, &g->tensor[g->in[0]], e), e);
	}
	if (!check_inputs(o, g, x.actual, e))
		return false;
	if (o->list)
		return make_stack(a, o, &g->tensor[g->in[0]], x.actual, e);
	struct filled *f = anew(a, struct filled, (size_t)g->n_in);
	uint64_t random = o->seed;
	for (int i = 0; i < g->n_in; i++)
		if (!make_input(a, o, g, i, &random, &f[i], e))
			return false;
	bool tests = o->dialect == DIALECT_MLEK_TESTS;
	if ((o->expected || tests) && !run_model(a, &model, f, &outputs, e))
		return false;
	struct file_set *s = file_set_open(a);
	if (tests) {
		struct array *in = anew(a, struct array, (size_t)g->n_in);
		for (int i = 0; i < g->n_in; i++)
			in[i] = (struct array){ &g->tensor[g->in[i]], f[i].bytes };
		struct test_data d = { .use_case = o->use_case ? o->use_case : "",
				       .in = in, .n_in = g->n_in,
				       .out = outputs, .n_out = g->n_out };
		return file_set_end(s, write_mlek_tests(a, s, o->output, &d, e), e);
	}
	bool ok = write_input(a, s, o, v, &x, f, e) &&
		  (!o->expected || write_expected(a, s, o, outputs, &x, e));
	return file_set_end(s, ok, e);
}

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct cli_common common = {
		.options = option_list,
		.operand = take_operand,
		.check = check_options,
		.output = &o.output,
		.output_doc = "write the input to FILE",
		.confined = true,
		.allow = allow,
	};
	return cli_run(&argp, argc, argv, &o, &common, convert_files);
}
