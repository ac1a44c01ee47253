/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sched: reads a partitioned graph, writes a scheduled one. */
#include "cascades/cascades.h"
#include "passes.h"

#include "base/cli.h"
#include "base/file.h"
#include "batch/batch.h"
#include "graph/graph.h"
#include "network/plan_text.h"
#include "search/rewrites.h"
#include "split/split.h"
#include "stage.h"
#include "target/part.h"
#include "target/target.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BATCH = 1024, MOST_PERCENT = 1000000 };
enum { OPT_SYSTEM = 256, OPT_MODE, OPT_CONFIG, OPT_CACHE, OPT_OPTIMISE, OPT_EFFORT,
       OPT_LEVEL, OPT_PROFILES, OPT_PART, OPT_PARTS, OPT_ANY, OPT_LIST_CONFIG,
       OPT_LIST_GRAPH, OPT_LIST_ALLOCATION, OPT_FRONT, OPT_EXPLAIN, OPT_JSON,
       OPT_DUMP, OPT_WITHIN, OPT_MAX_CYCLES, OPT_MODEL, OPT_BATCH,
       OPT_REQUIRE_BATCH, OPT_NO_REWRITE, OPT_NO_OVERLAP, OPT_REWRITES, OPT_YIELD,
       OPT_PLAN, OPT_KEEP_PLAN };

/* Where the runtime's arena is not in SRAM, operations would read the rows of a state from DRAM. */
static bool
rewrite(struct sched *s)
{
	return s->memory.spilling || rewrite_planned(s->a, s->g, &s->o->rewrites, s->e);
}

static bool
study(struct sched *s)
{
	begin_costs(s);
	begin_sizes(s);
	begin_kept(s);
	study_ops(s);
	return true;
}

static const struct pass {
	const char *name;
	bool (*run)(struct sched *);
} passes[] = {
	{ .name = "rewrites", .run = rewrite },
	{ .name = "tables", .run = separate_tables },
	{ .name = "stages", .run = complete_stages },
	{ .name = "sparse", .run = find_sparse },
	{ .name = "constants", .run = fetch_constants },
	{ .name = "copies", .run = list_copies },
	{ .name = "formats", .run = choose_formats },
	{ .name = "study", .run = study },
	{ .name = "traversals", .run = choose_traversals },
	{ .name = "decoders", .run = choose_decoders },
	{ .name = "search", .run = search_plan },
	{ .name = "apply", .run = apply_plan },
	{ .name = "predict", .run = predict_cycles },
	{ .name = "yield", .run = yield_streams },
};

static const struct argp_option option_list[] = {
	{ "accelerator-config", 'a', "NAME", 0,
	  "the NPU to compile for: ethos-u55-32 to ethos-u85-2048 (required)", 0 },
	{ "system-config", OPT_SYSTEM, "NAME", 0,
	  "profile of the clock and the memory speeds (required); --list-profiles "
	  "lists them", 0 },
	{ "memory-mode", OPT_MODE, "NAME", 0,
	  "which memory holds constants, arena and cache (required)", 0 },
	{ "config", OPT_CONFIG, "FILE", 0,
	  "read --system-config and --memory-mode from a vela.ini file", 0 },
	{ "part", OPT_PART, "NAME", 0,
	  "compile for this chip: sets accelerator, profiles and the SRAM limit of the "
	  "arena", 0 },
	{ "list-parts", OPT_PARTS, 0, 0, "list the chips for --part, and exit", 0 },
	{ "any-accelerator", OPT_ANY, 0, 0,
	  "accept a built-in profile that was made for another accelerator", 0 },
	{ "list-profiles", OPT_PROFILES, 0, 0,
	  "list the built-in profiles, and exit", 0 },
	{ "optimise", OPT_OPTIMISE, "Performance|Size|Balanced", 0,
	  "goal of the plan: fewest cycles (Performance, default), fewest bytes stored "
	  "(Size), or little SRAM for few more cycles (Balanced)", 0 },
	{ "arena-cache-size", OPT_CACHE, "BYTES", 0,
	  "use at most BYTES of SRAM for the arena; K, M and G are units of 1,024, as in "
	  "64K or 1M", 0 },
	{ "within", OPT_WITHIN, "PERCENT", 0,
	  "save memory if the plan takes at most PERCENT more cycles than the fastest "
	  "(default: 5, or 0 with --arena-cache-size; Balanced: 10; Size: 100)", 0 },
	{ "batch", OPT_BATCH, "N", 0,
	  "process up to N inputs in one run (fewer if N do not fit or are "
	  "slower)", 0 },
	{ "require-batch", OPT_REQUIRE_BATCH, 0, 0,
	  "fail (status 1) unless all inputs fit in one run", 0 },
	{ "max-cycles", OPT_MAX_CYCLES, "N", 0,
	  "use as little SRAM as possible while staying within N cycles", 0 },
	{ "yield-every", OPT_YIELD, "CYCLES", 0,
	  "divide the command stream into operators of at most CYCLES each, so that the "
	  "firmware can do something else between them", 0 },
	{ "front", OPT_FRONT, 0, 0,
	  "print the Pareto front of SRAM and cycles instead of the graph", 0 },
	{ "explain", OPT_EXPLAIN, 0, 0,
	  "print what limits the plan (peak memory, transfers, blocks) instead of the "
	  "graph", 0 },
	{ "json", OPT_JSON, 0, 0,
	  "print the result of --front or --explain as JSON", 0 },
	{ "keep-plan", OPT_KEEP_PLAN, "FILE", 0,
	  "write the decisions of the plan to FILE, as text that can be edited", 0 },
	{ "plan", OPT_PLAN, "FILE", 0,
	  "make the plan from the decisions in FILE, without a search", 0 },
	{ "dump", OPT_DUMP, "PASS", 0,
	  "write the graph as it is after pass PASS, to debug the scheduler", 0 },
	{ "effort", OPT_EFFORT, "N", 0,
	  "search effort, from 1 (fast) to 9 (thorough); default 3", 0 },
	{ "model", OPT_MODEL, "robust|calibrated|timeline", 0,
	  "cycles by which plans are compared: the mean of two estimates (robust, default), or "
	  "one of them", 0 },
	{ "no-rewrite", OPT_NO_REWRITE, "NAME[,...]|all", 0,
	  "do not apply these rules of --list-rewrites, or none of them", 0 },
	{ "no-overlap", OPT_NO_OVERLAP, 0, 0,
	  "do not use shifts in place, which the hardware's documentation does not mention", 0 },
	{ "list-rewrites", OPT_REWRITES, 0, 0,
	  "list the rules that replace operations by cheaper ones with the same results, and "
	  "exit", 0 },
	{ "level", OPT_LEVEL, "N", 0,
	  "compression level, 1 to 9, that npu-wenc will use (default 6)", 0 },
	{ "verbose", 'v', 0, 0,
	  "print the memory in use and its lower bound on standard error", 0 },
	{ "verbose-config", OPT_LIST_CONFIG, 0, 0,
	  "list the clock and the memories on standard error", 0 },
	{ "verbose-graph", OPT_LIST_GRAPH, 0, 0,
	  "list operations and tensors on standard error", 0 },
	{ "verbose-allocation", OPT_LIST_ALLOCATION, 0, 0,
	  "list addresses and lifetimes of tensors on standard error", 0 },
	{ 0 },
};

static const char *const goals[] = {
	[GOAL_PERFORMANCE] = "Performance", [GOAL_SIZE] = "Size", [GOAL_BALANCED] = "Balanced",
	NULL,
};
static const char *const models[] = {
	[MODEL_ROBUST] = "robust", [MODEL_CALIBRATED] = "calibrated",
	[MODEL_TIMELINE] = "timeline", NULL,
};

static bool
is_pass(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(passes); i++)
		if (!strcmp(passes[i].name, name))
			return true;
	return false;
}

static const char *
pass_names(void)
{
	static char names[160];
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(passes); i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s",
				      i ? ", " : "", passes[i].name);
	return names;
}

/* The member that an option without a value sets; NULL: key is no such option. */
static bool *
flag_of(struct options *o, int key)
{
	switch (key) {
	case OPT_REQUIRE_BATCH: return &o->require_batch;
	case OPT_FRONT: return &o->front;
	case OPT_EXPLAIN: return &o->explain;
	case OPT_JSON: return &o->json;
	case OPT_ANY: return &o->any_accelerator;
	case OPT_NO_OVERLAP: return &o->rewrites.no_overlap;
	case 'v': return &o->verbose;
	case OPT_LIST_CONFIG: return &o->list_config;
	case OPT_LIST_GRAPH: return &o->list_graph;
	case OPT_LIST_ALLOCATION: return &o->list_allocation;
	default: return NULL;
	}
}

/* The member that keeps the text of an option's value; NULL: key is no such option. */
static const char **
text_of(struct options *o, int key)
{
	switch (key) {
	case 'a': return &o->accel;
	case OPT_SYSTEM: return &o->system;
	case OPT_MODE: return &o->mode;
	case OPT_CONFIG: return &o->config;
	case OPT_PART: return &o->part;
	case OPT_PLAN: return &o->plan;
	case OPT_KEEP_PLAN: return &o->keep_plan;
	default: return NULL;
	}
}

static bool
take_number(struct options *o, int key, const char *arg)
{
	const int64_t most_bytes = (int64_t)1 << 40, most_cycles = (int64_t)1 << 50;
	switch (key) {
	case OPT_CACHE:
		o->cache_bytes =
		    cli_bytes("--arena-cache-size", arg, 1, most_bytes);
		o->limited = true;
		return true;
	case OPT_WITHIN:
		o->within = cli_real("--within", arg, 0, MOST_PERCENT);
		return true;
	case OPT_MAX_CYCLES:
		o->max_cycles = cli_number("--max-cycles", arg, 1, most_cycles);
		return true;
	case OPT_YIELD:
		o->yield_every = cli_number("--yield-every", arg, 1, most_cycles);
		return true;
	case OPT_BATCH:
		o->batch = (int32_t)cli_number("--batch", arg, 1, MAX_BATCH);
		return true;
	case OPT_EFFORT:
		o->effort = (int)cli_number("--effort", arg, 1, 9);
		return true;
	case OPT_LEVEL:
		o->level = (int)cli_number("--level", arg, 1, 9);
		return true;
	default:
		return false;
	}
}


static void
check_options(const struct options *o)
{
	if (o->require_batch && !o->batch)
		cli_error("--require-batch works only with --batch");
	if (o->front + o->explain + (o->dump != NULL) > 1)
		cli_error("--front, --explain and --dump exclude each other");
	const struct target_names names = {
		.accel = o->accel, .part = o->part, .system = o->system, .mode = o->mode,
		.has_config = o->config != NULL, .required = true,
	};
	target_check_names(&names, cli_error);
	if (o->within >= 0 && o->max_cycles)
		cli_error("--within and --max-cycles exclude each other");
	if (o->plan && (o->front || o->explain || o->max_cycles || o->within >= 0))
		cli_error("--plan needs no search: it excludes --front, --explain, --max-cycles and "
			  "--within");
	if (o->keep_plan && (o->front || o->explain || o->dump))
		cli_error("--keep-plan excludes --front, --explain and --dump");
	if ((o->plan || o->keep_plan) && o->batch)
		cli_error("a plan cannot be kept or read with --batch");
	if (o->json && !o->front && !o->explain)
		cli_error("--json works only with --front or --explain");
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	bool *flag = flag_of(o, key);
	const char **text = text_of(o, key);
	if (flag)
		*flag = true;
	else if (text)
		*text = arg;
	if (flag || text || take_number(o, key, arg))
		return 0;
	switch (key) {
	case OPT_DUMP:
		o->dump = arg;
		if (!is_pass(arg))
			cli_error("there is no pass '%s'; there are %s", arg,
				  pass_names());
		break;
	case OPT_OPTIMISE:
		o->goal = (enum goal)cli_choice("--optimise", arg, goals);
		break;
	case OPT_MODEL:
		o->model = (enum model)cli_choice("--model", arg, models);
		break;
	case OPT_NO_REWRITE:
		rewrite_take_off(&o->rewrites.off, arg);
		break;
	case OPT_REWRITES:
		cli_show(rewrite_list);
	case OPT_PROFILES:
		cli_show(memory_list_profiles);
	case OPT_PARTS:
		cli_show(target_part_list);
	case ARGP_KEY_END:
		check_options(o);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = option_list, .parser = parse_option,
	.doc = "Schedule a partitioned NPU graph for an accelerator and a memory "
	       "system: choose block configurations, layouts, order and addresses.\v"
	       "Exit status: 0 done, 1 a limit of memory, cycles or batch can't be "
	       "met, 2 error.  See npu-sched(1).",
};

/* Takes options that are absent from the part, whose SRAM is a limit like any other. */
static bool
take_part(struct arena *a, struct options *o, struct err *e)
{
	const struct target_part *p = target_part_take(a, o->part, e);
	if (!o->part)
		return true;
	if (!p || !target_part_has(p, o->accel, NULL, e))
		return false;
	o->part = p->name;
	o->accel = p->accel;
	if (!o->config && !o->system)
		o->system = p->system;
	if (!o->config && !o->mode)
		o->mode = p->mode;
	if (!o->config && o->system == p->system)
		o->config = p->config;
	if (!o->cache_bytes)
		o->cache_bytes = p->cache_bytes ? p->cache_bytes : p->arena_bytes;
	return true;
}

/* Fails if the arena would be in SRAM: the Linux driver has only region 2 there. */
static bool
check_driver(const struct sched *s)
{
	return !graph_is_for_linux(s->g) || s->memory.spilling ||
	       err_set(s->e, "error: the Linux driver keeps the arena in DRAM: memory mode %s "
			     "does not, Dedicated_Sram does", s->memory.mode);
}

static bool
find_target(struct sched *s)
{
	const struct options *o = s->o;
	if (!o->accel)
		return err_set(s->e, "error: --accelerator-config is required: one "
				     "of %s", accel_names());
	s->accel = accel_named(o->accel, s->e);
	if (!s->accel)
		return false;
	if (!accel_does(s->accel, DO_COMPILE, s->e))
		return false;
	if (!memory_load(s->a, o->config, o->system, o->mode, s->accel, &s->memory,
			 s->e) ||
	    (!o->any_accelerator && !memory_check_accel(&s->memory, s->accel, s->e)))
		return false;
	s->memory.part = o->part;
	s->profile_bytes = s->memory.cache_bytes;
	if (o->cache_bytes)
		s->memory.cache_bytes = o->cache_bytes;
	return true;
}

static bool
read_graph(struct sched *s, uint8_t *text, size_t n)
{
	if (!graph_read(s->a, (struct bytes){ .p = text, .n = n }, file_name(s->o->input),
			STAGE_PART, &s->g, s->e) ||
	    !check_driver(s))
		return false;
	graph_release_text(s->g, text);
	sched_machines(s);
	graph_set_target(s->g, s->accel, &s->memory);
	return true;
}

/* Runs the passes up to the one to be dumped.  The front needs none after the search. */
static bool
run_passes(struct sched *s)
{
	for (size_t i = 0; i < ARRAY_LEN(passes); i++) {
		if (!passes[i].run(s) || !graph_check(s->g, s->e))
			return false;
		if (s->o->dump && !strcmp(s->o->dump, passes[i].name))
			break;
		if (s->o->front && passes[i].run == search_plan)
			break;
	}
	return true;
}

static bool
plan_graph(struct sched *s)
{
	return plan_forms(s, run_passes);
}

static bool
write_report(struct sched *s)
{
	struct text t = { 0 };
	if (s->o->front)
		print_front(s, &t);
	else if (!print_explanation(s, &t))
		return text_free(&t), false;
	return file_write_text(s->o->output, &t, s->e);
}

static void
say(const struct sched *s)
{
	cli_note_to(s->e, "profile", "%s, %s, %s (%s)", s->accel->name, s->memory.system,
		 s->memory.mode, s->memory.source);
	if (s->smaller.bytes)
		cli_note_to(s->e, "size", "a plan with %" PRId64 " bytes less takes %.1f times "
				 "the cycles: try --within=%" PRId64,
				 s->smaller.bytes, s->smaller.times, s->smaller.within);
	for (size_t i = 0; s->o->verbose && i < s->g->n_areas; i++)
		cli_note_to(s->e, "memory", "%s: %" PRId64 " bytes used, lower bound %" PRId64,
			 s->g->areas[i]->rec.word, s->g->areas[i]->used,
			 s->g->areas[i]->bound);
	note_yield(s);
}

static void
list(const struct sched *s)
{
	struct text t = { 0 };
	if (s->o->list_config)
		print_config(s, &t);
	if (s->o->list_graph)
		print_graph(s, &t);
	if (s->o->list_allocation)
		print_allocation(s, &t);
	text_show(&t, stderr);
}

bool
schedule_target(struct sched *s, struct options *o)
{
	return take_part(s->a, o, s->e) && find_target(s);
}

bool
schedule_text(struct sched *s, uint8_t *text, size_t n)
{
	if (!read_graph(s, text, n) || (s->o->plan && !plan_read(s)) ||
	    !(s->o->batch ? plan_batch(s, plan_graph) : plan_graph(s)))
		return false;
	say(s);
	return true;
}

static bool
schedule(struct sched *s)
{
	uint8_t *text;
	size_t n;
	if (!file_take(s->a, s->o->input, SIZE_MAX / 4, &text, &n, s->e) ||
	    !schedule_text(s, text, n))
		return false;
	if (s->o->front || s->o->explain)
		return write_report(s);
	if (!s->o->dump)
		list(s);
	if (!s->plan_text)
		return graph_write(s->g, s->o->output, s->e);
	struct file_set *files = file_set_open(s->a);
	const size_t bytes = strlen(s->plan_text);
	const bool ok = graph_add_to(files, s->g, s->o->output, s->e) &&
			file_set_add(files, s->o->keep_plan, s->plan_text, bytes, false, s->e);
	return file_set_end(files, ok, s->e);
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	struct options *o = options;
	struct sched s = { .a = a, .o = o, .e = e };
	bool ok = schedule_target(&s, o) && schedule(&s);
	plan_close(s.plan);
	return ok;
}

int
main(int argc, char **argv)
{
	struct options o = { .within = -1, .effort = 3, .level = WEIGHTS_LEVEL_DEFAULT, .jobs = 1 };
	struct cli_common common = {
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.output_doc = "write the graph to FILE",
		.jobs = &o.jobs,
		.jobs_doc = "compress weights for the plan on N threads (0: one per "
			    "processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
