/* SPDX-License-Identifier: Apache-2.0 */
/* npu-wenc: reads a scheduled graph and writes it with encoded weights. */
#include "wenc.h"

#include "base/cli.h"
#include "graph/graph.h"
#include "target/memory.h"

enum { OPT_STATS = 256, OPT_DECODE, OPT_BLOB, OPT_ALLOCATION };

static const struct argp_option option_list[] = {
	{ "stats", OPT_STATS, 0, 0,
	  "print sizes of weights and scales on standard error", 0 },
	{ "verbose-allocation", OPT_ALLOCATION, 0, 0,
	  "list the addresses of constants on standard error", 0 },
	{ "decode", OPT_DECODE, 0, 0,
	  "decode instead: read an encoded graph and write each weights record as "
	  "wN.npy (OHWI, int16) to the directory of -o", 0 },
	{ "blob", OPT_BLOB, "FILE", 0,
	  "write the constants to FILE instead of embedding them in the graph", 0 },
	{ "fast", '1', 0, 0,
	  "-1 (fastest encoding) to -9 (smallest result); default: the level of the "
	  "plan, or -6", 0 },
	{ 0, '2', 0, OPTION_HIDDEN, 0, 0 }, { 0, '3', 0, OPTION_HIDDEN, 0, 0 },
	{ 0, '4', 0, OPTION_HIDDEN, 0, 0 }, { 0, '5', 0, OPTION_HIDDEN, 0, 0 },
	{ 0, '6', 0, OPTION_HIDDEN, 0, 0 }, { 0, '7', 0, OPTION_HIDDEN, 0, 0 },
	{ 0, '8', 0, OPTION_HIDDEN, 0, 0 },
	{ "best", '9', 0, 0, "", 0 },
	{ 0 },
};

static const struct cli_store stores[] = {
	CLI_FLAG(OPT_STATS, struct options, stats),
	CLI_FLAG(OPT_DECODE, struct options, decode),
	CLI_FLAG(OPT_ALLOCATION, struct options, allocation),
	CLI_TEXT(OPT_BLOB, struct options, blob),
	{ 0 },
};

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	(void)arg;
	if (key < '1' || key > '9')
		return ARGP_ERR_UNKNOWN;
	o->level = key - '0';
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.doc = "Compress the weights of a scheduled NPU graph, pack biases and scales, "
	       "and lay out the constants.\v"
	       "Exit status: 0 done, 2 error.  See npu-wenc(1).",
};

static bool
run(void *options, struct arena *a, struct err *e)
{
	const struct options *o = options;
	struct bytes text;
	struct wenc w = { .a = a, .e = e, .files = file_set_open(a) };
	struct memory_system m;
	enum g_stage need = o->decode ? STAGE_WENC : STAGE_SCHED;
	if (!file_read(a, o->input, SIZE_MAX / 4, &text, e) ||
	    !graph_read(a, text, file_name(o->input), need, &w.g, e) ||
	    !graph_target(w.g, &w.accel, &m, e))
		return false;
	if (o->decode)
		return file_set_end(w.files, decode_all(&w, o), e);
	if (!encode_graph(&w, o))
		return file_set_end(w.files, false, e);
	if (!o->blob) /* a single file is written without a copy in memory */
		return graph_write(w.g, o->output, e);
	return file_set_end(w.files, graph_add_to(w.files, w.g, o->output, e), e);
}

int
main(int argc, char **argv)
{
	struct options o = { .jobs = 1 };
	struct cli_common common = {
		.stores = stores,
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.output_doc = "write the graph to FILE",
		.jobs = &o.jobs,
		.jobs_doc = "encode on N threads (0: one per processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
