/* SPDX-License-Identifier: Apache-2.0 */
/* npu-wenc: reads a scheduled graph and writes it with encoded weights. */
#include "wenc.h"

#include "base/cli_options.h"
#include "base/sandbox.h"
#include "graph/graph.h"
#include "target/memory.h"

static const struct cli_option option_list[] = {
	{ CLI_FLAG("stats", stats, "print sizes of weights and scales on standard error") },
	{ CLI_FLAG("verbose-allocation", allocation,
		   "list the addresses of constants on standard error") },
	{ CLI_FLAG("decode", decode,
		   "decode instead: read an encoded graph and write each weights record as "
		   "wN.npy (OHWI, int16) to the directory of -o") },
	{ CLI_TEXT("blob", "FILE", blob,
		   "write the constants to FILE instead of embedding them in the graph") },
	{ CLI_VALUE("fast", level, 1,
		    "-1 (fastest encoding) to -9 (smallest result); default: the level of the "
		    "plan, or -6"), .key = '1' },
#define LEVEL(n) { CLI_VALUE(NULL, level, n, NULL), .key = '0' + (n), .flags = OPTION_HIDDEN }
	LEVEL(2), LEVEL(3), LEVEL(4), LEVEL(5), LEVEL(6), LEVEL(7), LEVEL(8),
#undef LEVEL
	{ CLI_VALUE("best", level, 9, ""), .key = '9' },
	{ 0 },
};

static const struct argp argp = {
	.doc = "Compress the weights of a scheduled NPU graph, pack biases and scales, "
	       "and lay out the constants.\v"
	       "Exit status: 0 done, 2 error.  See npu-wenc(1).",
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_write(s, o->blob);
	if (o->decode)
		sandbox_write_in(s, o->output ? o->output : ".");
}

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
		.options = option_list,
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.output_doc = "write the graph to FILE",
		.jobs = &o.jobs,
		.jobs_doc = "encode on N threads (0: one per processor)",
		.confined = true,
		.allow = allow,
		.names_files = true,
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
