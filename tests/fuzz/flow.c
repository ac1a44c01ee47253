/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model or a TOSA graph passes through the whole flow.  It is refused with one line
 * that names the file, and no other file is left; or it is compiled.  Then the
 * command streams obey all rules and match their graph, and the compiled model
 * computes the plain model's bytes.  The last byte selects accelerator, memories and
 * options, and a view of the result.  The other bytes are the model.
 */
#include "fuzz.h"

#include "lib/mutate.h"
#include "lib/programs.h"
#include "lib/wrap.h"
#include "tflite/tflite.h"
#include "tosa/tosa.h"

#include <string.h>

/* an execution takes milliseconds: larger models find nothing that these do not */
enum {
	MAX_OPS = 24, MAX_TENSOR = 1 << 14, MAX_ELEMENTS = 1 << 16,
	MAX_PRODUCTS = 1 << 21, MAX_GRAPH_BYTES = 1 << 17,
};

static const struct machine {
	const char *accel, *system, *memory, *option;
} machines[] = {
	{ "ethos-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram",
	  "--effort=3" },
	{ "ethos-u55-256", "RTSS_HP_SRAM_MRAM", "Shared_Sram", "--optimise=Size" },
	{ "ethos-u55-32", "Ethos_U55_Deep_Embedded", "Sram_Only", "--effort=1" },
	{ "ethos-u55-64", "Himax_WiseEye2", "Shared_Sram", "--effort=5" },
	{ "ethos-u65-256", "Ethos_U65_Embedded", "Shared_Sram", "--level=2" },
	{ "ethos-u65-512", "Ethos_U65_High_End", "Dedicated_Sram", "--effort=3" },
	{ "ethos-u65-512", "Ethos_U65_Client_Server", "Dedicated_Sram_256KB",
	  "--optimise=Size" },
	{ "ethos-u65-256", "Ethos_U65_Mid_End", "Dedicated_Sram", "--effort=2" },
	/* at the end, so that the choices of older inputs stay the same */
	{ "ethos-u85-128", "Ethos_U85_SYS_DRAM_Low", "Dedicated_Sram", "--effort=3" },
	{ "ethos-u85-256", "Ethos_U85_SYS_DRAM_Low", "Sram_Only", "--optimise=Size" },
	{ "ethos-u85-512", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram", "--effort=1" },
	{ "ethos-u85-1024", "Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_384KB",
	  "--level=2" },
	{ "ethos-u85-2048", "Ethos_U85_SYS_DRAM_High", "Dedicated_Sram",
	  "--optimise=Size" },
};

/*
 * A view is a run of a program that must succeed for every compiled model.  Its input is the
 * model, a stage's graph or the estimate.  Each kind of arguments includes those before it.
 */
enum with { OUTPUT, PROFILE, ACCELERATOR };
static const struct view {
	int (*main)(int, char **);
	const char *called, *option, *in;
	enum with with;
} views[] = {
	{ .main = NULL }, /* none */
	{ main_npu_report, "npu_report", "--html", "perf", OUTPUT },
	{ main_npu_report, "npu_report", "--summary", "perf", OUTPUT },
	{ main_npu_report, "npu_report", "--svg=timeline", "perf", OUTPUT },
	{ main_npu_report, "npu_report", "--svg=memory", "perf", OUTPUT },
	{ main_npu_report, "npu_report", "--model-explorer", "perf", OUTPUT },
	{ main_npu_perf, "npu_perf", "--csv", "npu.tflite", PROFILE },
	{ main_npu_perf, "npu_perf", "--trace", "npu.tflite", PROFILE },
	{ main_npu_perf, "npu_perf", "--verbose-performance", "wenc", OUTPUT },
	{ main_npu_perf, "npu_perf", "--summary-csv", "wenc", OUTPUT },
	{ main_npu_dis, "npu_dis", "--high-level", "npu.tflite", OUTPUT },
	{ main_npu_dis, "npu_dis", "--json", "npu.tflite", OUTPUT },
	{ main_npu_dis, "npu_dis", "--fields", "npu.tflite", OUTPUT },
	{ main_npu_dis, "npu_dis", "--map", "npu.tflite", OUTPUT },
	{ main_npu_perf, "npu_perf", "--yaml", "npu.tflite", PROFILE },
	{ main_npu_sched, "npu_sched", "--front", "part", ACCELERATOR },
	{ main_npu_sched, "npu_sched", "--explain", "part", ACCELERATOR },
	{ main_tfl2c, "tfl2c", "--dialect=mlek", "npu.tflite", OUTPUT },
	{ main_tfl2c, "tfl2c", "--format=asm", "npu.tflite", OUTPUT },
};

static void
look(struct bench *b, const struct machine *m, unsigned choice)
{
	const struct view *v = &views[choice / ARRAY_LEN(machines) % ARRAY_LEN(views)];
	/* an absent argument ends the list */
	if (v->main &&
	    bench_run(b, v->main, v->called, v->option, bench_path(b, v->in),
		      "-o", bench_path(b, "view"),
		      v->with >= PROFILE ? "--system-config" : NULL, m->system,
		      "--memory-mode", m->memory, v->with >= ACCELERATOR ? "-a" : NULL,
		      m->accel, (char *)NULL))
		finding(b, "no %s of the compiled model", v->option);
}

/* products of an operator with weights, approximately */
static int64_t
products(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	int64_t most = 1, out = 0;
	for (int i = 0; i < op->n_in && i < 3; i++)
		if (op->in[i] >= 0) {
			int64_t n = tfl_elements(&g->tensor[op->in[i]]);
			most = n > most ? n : most;
		}
	for (int i = 0; i < op->n_out; i++)
		out += tfl_elements(&g->tensor[op->out[i]]);
	return most * out;
}

static bool
is_small(const struct tfl_model *m)
{
	const struct tfl_subgraph *g = m->subgraph;
	int64_t elements = 0, n = 0;
	for (int i = 0; i < g->n_tensors; i++) {
		int64_t k = tfl_elements(&g->tensor[i]);
		if (k > MAX_TENSOR)
			return false;
		elements += k;
	}
	for (int i = 0; i < g->n_ops; i++)
		n += products(g, &g->op[i]);
	return g->n_ops <= MAX_OPS && elements <= MAX_ELEMENTS &&
	       n <= 64 * (int64_t)MAX_PRODUCTS;
}

/* compiles a graph, which the NPU's stages must accept unchanged */
static bool
compile(struct bench *b, const struct machine *m)
{
	const char *part = bench_path(b, "part"), *sched = bench_path(b, "sched");
	const char *wenc = bench_path(b, "wenc"), *out = bench_path(b, "npu.tflite");
	if (RUN(b, npu_sched, "-a", m->accel, "--system-config", m->system,
		"--memory-mode", m->memory, m->option, "-o", sched, part))
		finding(b, "npu-sched refuses what tfl-partition wrote");
	if (RUN(b, npu_wenc, "-o", wenc, sched))
		finding(b, "npu-wenc refuses what npu-sched wrote");
	if (RUN(b, npu_cmdgen, "-o", out, wenc))
		finding(b, "npu-cmdgen refuses what npu-wenc wrote");
	return true;
}

#define INPUTS "--inputs=random,min,alternating"
static const enum sim_values kinds[] = { SIM_RANDOM, SIM_MIN, SIM_ALTERNATING };

/*
 * True if the plain model has a result to compare with.  It has none if the reference
 * refuses an operator on the CPU, or if an operator accepts only some values.
 */
static bool
is_computable(struct bench *b, struct arena *a, const char *model, const char *part)
{
	static const char *const partial[] = { "(RSQRT)", "(LOG)", "(DIV)", "(EXP)",
					       "(GATHER)", "(SOFTMAX)" };
	if (!RUN(b, npu_sim, INPUTS, "--require-outputs", model))
		return true;
	const char *said = arena_strdup(a, text_str(&b->said));
	for (size_t i = 0; i < ARRAY_LEN(partial); i++)
		if (strstr(said, partial[i]))
			return false;
	/* the CPU runs the operators of other subgraphs */
	if (strstr(said, ": error: subgraph ") && !strstr(said, ": error: subgraph 0,"))
		return false;
	const char *open = strstr(said, " (");
	size_t n = open ? strcspn(open + 2, ")") : 0;
	if (!open || !strstr(part, arena_printf(a, " op=%.*s ", (int)n, open + 2)))
		finding(b, "the plain model is refused, the NPU takes it");
	return false;
}

static void
compare(struct bench *b, struct arena *a, const struct tfl_model *m, const char *part)
{
	const char *model = bench_path(b, "m.tflite"), *npu = bench_path(b, "npu.tflite");
	const char *with = arena_printf(a, "--compare=%s", model);
	model = arena_strdup(a, model);
	if (!RUN(b, npu_sim, INPUTS, with, npu))
		return;
	if (b->status == EXIT_NO && model_wraps(a, m, kinds, ARRAY_LEN(kinds)))
		return;
	struct bench was = *b;
	was.said = (struct text){ 0 };
	text_puts(&was.said, text_str(&b->said));
	if (is_computable(b, a, model, part))
		finding(&was, "the compiled model computes something else");
	text_free(&was.said);
}

/* Does an interpreter refuse the variables of the model, as tfl2c has said?  npu-sim refuses them,
 * too. */
static bool
has_wrong_variables(struct bench *b, const char *model)
{
	const bool named = strstr(text_str(&b->said), "_VARIABLE): ") ||
			   strstr(text_str(&b->said), "(VAR_HANDLE): ");
	return named && RUN(b, npu_sim, INPUTS, model);
}

static void
judge(struct bench *b, struct arena *a, const struct tfl_model *read,
      const struct machine *m, unsigned choice)
{
	struct bytes part;
	const char *npu = bench_path(b, "npu.tflite");
	const char *source = arena_printf(a, "--source=%s", bench_path(b, "wenc"));
	if (!bench_get(b, a, "part", &part))
		finding(b, "its output is not there");
	bool on_npu = strstr((const char *)part.p, "\nop ") != NULL;
	if (on_npu && RUN(b, npu_dis, "-q", "--verify", source, npu))
		finding(b, "the compiled model breaks a rule");
	compare(b, a, read, (const char *)part.p);
	npu = bench_path(b, "npu.tflite");
	if (on_npu && RUN(b, npu_perf, "--json", "--system-config", m->system,
			  "--memory-mode", m->memory, "-o", bench_path(b, "perf"),
			  npu))
		finding(b, "no estimate of the compiled model");
	if (RUN(b, tfl2c, "--resolver", "-o", bench_path(b, "h"), npu) &&
	    !has_wrong_variables(b, npu))
		finding(b, "no header of the compiled model");
	if (on_npu)
		look(b, m, choice);
}

/* ---- TOSA -------------------------------------------------------------------- */

static bool
tosa_is_small(const struct tosa_graph *g)
{
	int64_t elements = 0;
	for (int i = 0; i < g->n_tensors; i++) {
		int64_t k = tosa_elements(&g->tensor[i]);
		if (k > MAX_TENSOR)
			return false;
		elements += k;
	}
	return g->n_ops <= MAX_OPS && elements <= MAX_ELEMENTS / 8;
}

/*
 * The compiled graph must compute the results of the plain graph.  If inputs violate
 * a precondition of TOSA, the plain graph is refused and there is no result to
 * compare with.
 */
static void
judge_tosa(struct bench *b, struct arena *a, const struct machine *m, unsigned choice)
{
	const char *npu = arena_strdup(a, bench_path(b, "npu.tflite"));
	const char *graph = arena_strdup(a, bench_path(b, "m.tosa"));
	const char *source = arena_printf(a, "--source=%s", bench_path(b, "wenc"));
	if (RUN(b, npu_dis, "-q", "--verify", source, npu))
		finding(b, "the compiled graph breaks a rule");
	if (RUN(b, npu_perf, "--json", "--system-config", m->system, "--memory-mode",
		m->memory, "-o", bench_path(b, "perf"), npu))
		finding(b, "no estimate of the compiled graph");
	if (RUN(b, npu_sim, INPUTS, graph) == EXIT_YES && !b->said.n &&
	    RUN(b, npu_sim, INPUTS, arena_printf(a, "--compare=%s", graph), npu))
		finding(b, "the compiled graph computes something else");
	look(b, m, choice);
}

/* continues with the graph of a partitioner; why: the reader's reason for refusing
 * the model, or NULL */
static bool
part_compiles(struct bench *b, struct arena *a, const struct machine *m, const char *why)
{
	struct bytes part;
	if (why)
		finding(b, "takes what can't be read: %s", why);
	return bench_get(b, a, "part", &part) && part.n <= MAX_GRAPH_BYTES && compile(b, m);
}

static void
flow_tosa(struct bench *b, struct arena *a, struct bytes graph, const struct machine *m,
	  unsigned choice)
{
	struct err e = { 0 };
	struct tosa_graph *read;
	bool ok = tosa_read(a, graph, "m", &read, &e);
	if (ok && !tosa_is_small(read))
		return;
	bench_put(b, "m.tosa", graph);
	const char *in = bench_path(b, "m.tosa");
	if (RUN(b, tosa_partition, "-a", m->accel, "-o", bench_path(b, "part"), in)) {
		expect_refusal(b, in, IN_TOSA, 1);
		return;
	}
	if (part_compiles(b, a, m, ok ? NULL : e.text))
		judge_tosa(b, a, m, choice);
}

/* ---- either -------------------------------------------------------------------- */

static void
flow(struct bench *b, struct arena *a, struct bytes model, unsigned choice)
{
	const struct machine *m = &machines[choice % ARRAY_LEN(machines)];
	if (tosa_is(model)) {
		flow_tosa(b, a, model, m, choice);
		return;
	}
	struct err e = { 0 };
	struct tfl_model *read;
	bool ok = tfl_read(a, model, "m", &read, &e);
	if (ok && !is_small(read))
		return;
	bench_put(b, "m.tflite", model);
	const char *in = bench_path(b, "m.tflite");
	if (RUN(b, tfl_quantcheck, "-q", in) == EXIT_TROUBLE)
		expect_refusal(b, in, IN_MODEL, 1);
	if (RUN(b, tfl_partition, "-a", m->accel, "-o", bench_path(b, "part"), in)) {
		expect_refusal(b, in, IN_MODEL, 1);
		return;
	}
	if (part_compiles(b, a, m, ok ? NULL : e.text))
		judge(b, a, read, m, choice);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes model = { .p = data, .n = size - 1 };
	return size ? bench_try(model, data[size - 1], flow) : 0;
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return mutate_model(data, size, max, seed);
}
