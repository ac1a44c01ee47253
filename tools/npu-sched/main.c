/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sched: reads a partitioned graph, writes a scheduled one. */
#include "base/text.h"
#include "cascades/cascades.h"
#include "graph/facts.h"
#include "passes.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/sandbox.h"
#include "batch/batch.h"
#include "graph/graph.h"
#include "network/plan_text.h"
#include "search/rewrites.h"
#include "split/split.h"
#include "stage.h"
#include "target/accel.h"
#include "target/part.h"
#include "target/target.h"
#include "weights/weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_BATCH = 1024, MOST_PERCENT = 1000000 };
#define MOST_BYTES ((int64_t)1 << 40)
#define MOST_CYCLES ((int64_t)1 << 50)

static bool
rewrite(struct sched *s)
{
	return rewrite_planned(s->a, s->g, s->accel, s->memory.spilling, &s->o->rewrites, s->e);
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

static const char *const goals[] = {
	[GOAL_PERFORMANCE] = "Performance", [GOAL_SIZE] = "Size", [GOAL_BALANCED] = "Balanced",
	NULL,
};
static const char *const models[] = {
	[MODEL_ROBUST] = "robust", [MODEL_CALIBRATED] = "calibrated",
	[MODEL_TIMELINE] = "timeline", NULL,
};

static void
take_dump(void *options, const char *arg)
{
	struct options *o = options;
	char names[160];
	size_t n = 0;
	o->dump = arg;
	for (size_t i = 0; i < ARRAY_LEN(passes); i++) {
		if (!strcmp(passes[i].name, arg))
			return;
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i ? ", " : "",
				      passes[i].name);
	}
	cli_error("there is no pass '%s'; there are %s", arg, names);
}

static const struct cli_option option_list[] = {
	{ SHARED_TEXT(ACCELERATOR, accel),
	  .doc = "the NPU to compile for: ethos-u55-32 to ethos-u85-2048 (required)" },
	{ SHARED_TEXT(SYSTEM, system),
	  .doc = "profile of the clock and the memory speeds (required); --list-profiles "
		 "lists them" },
	{ SHARED_TEXT(MODE, mode),
	  .doc = "which memory holds constants, arena and cache (required)" },
	{ SHARED_TEXT(CONFIG, config) },
	{ SHARED_TEXT(PART, part) },
	{ SHARED_FLAG(OVERFLOW, allow_overflow) },
	{ SHARED_LIST(LIST_PARTS, target_part_list) },
	{ SHARED_FLAG(ANY, any_accelerator) },
	{ SHARED_LIST(LIST_PROFILES, memory_list_profiles) },
	{ SHARED_CHOICE(OPTIMISE, goal, goals) },
	{ SHARED_SIZE(ARENA_CACHE, cache_bytes, 1, MOST_BYTES), .seen = CLI_SEEN(limited) },
	{ SHARED_REAL(WITHIN, within, 0, MOST_PERCENT) },
	{ SHARED_NUMBER(BATCH, batch, 1, MAX_BATCH) },
	{ SHARED_FLAG(REQUIRE_BATCH, require_batch) },
	{ SHARED_NUMBER(MAX_CYCLES, max_cycles, 1, MOST_CYCLES) },
	{ SHARED_NUMBER(YIELD, yield_every, 1, MOST_CYCLES) },
	{ SHARED_FLAG(FRONT, front) },
	{ SHARED_FLAG(EXPLAIN, explain) },
	{ SHARED_FLAG(JSON, json) },
	{ SHARED_TEXT(KEEP_PLAN, keep_plan) },
	{ SHARED_TEXT(PLAN, plan) },
	{ CLI_TAKE("dump", "PASS", take_dump,
		   "write the graph as it is after pass PASS, to debug the scheduler") },
	{ SHARED_NUMBER(EFFORT, effort, 1, 9) },
	{ SHARED_CHOICE(MODEL, model, models) },
	REWRITE_OPTIONS,
	{ CLI_NUMBER("level", "N", level, 1, 9,
		     "compression level, 1 to 9, that npu-wenc will use (default 6)") },
	{ CLI_FLAG("verbose", verbose,
		   "print the memory in use and its lower bound on standard error"), .key = 'v' },
	{ CLI_FLAG("verbose-config", list_config,
		   "list the clock and the memories on standard error") },
	{ CLI_FLAG("verbose-graph", list_graph,
		   "list operations and tensors on standard error") },
	{ CLI_FLAG("verbose-allocation", list_allocation,
		   "list addresses and lifetimes of tensors on standard error") },
	{ 0 },
};

static void
check_options(void *options)
{
	const struct options *o = options;
	if (o->require_batch && !o->batch)
		cli_error("--require-batch works only with --batch");
	if (o->front + o->explain + (o->dump != NULL) > 1)
		cli_error("--front, --explain and --dump exclude each other");
	const struct target_names names = {
		.accel = o->accel, .part = o->part, .system = o->system, .mode = o->mode,
		.has_config = o->config != NULL, .required = true,
	};
	target_check_names(&names, cli_refuse);
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
	if ((o->front || o->explain) && o->output &&
	    (text_has_suffix(o->output, ".tflite") || text_has_suffix(o->output, ".tosa")))
		cli_error("--front and --explain write a report, no model: name it FILE.txt or "
			  "FILE.json, not '%s', or leave them out", o->output);
}

static const struct argp argp = {
	.doc = "Schedule a partitioned NPU graph for an accelerator and a memory "
	       "system: choose block configurations, layouts, order and addresses.\v"
	       "Exit status: 0 done, 1 a limit of memory, cycles or batch can't be "
	       "met, 2 error.  See npu-sched(1).",
};

static void
allow(const struct sandbox *s, void *options)
{
	const struct options *o = options;
	sandbox_read(s, o->config);
	sandbox_read(s, o->part);
	sandbox_read(s, o->plan);
	sandbox_write(s, o->keep_plan);
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
	return plan_alternatives(s, run_passes);
}

bool
schedule_target(struct sched *s, struct options *o)
{
	const struct target_part *p = target_part_take(s->a, o->part, s->e);
	if (o->part) {
		if (!p || !target_part_has(p, o->accel, NULL, s->e))
			return false;
		s->part = p;
		o->part = p->name;
		o->accel = p->accel;
		if (!o->config && !o->system)
			o->system = p->system;
		if (!o->config && !o->mode)
			o->mode = p->mode;
		if (!o->config && o->system == p->system)
			o->config = p->config;
	}
	if (!o->accel)
		return err_set(s->e, "--accelerator-config is required: one of %s",
			       accel_names());
	s->accel = accel_named(o->accel, s->e);
	if (!s->accel || !accel_does(s->accel, DO_COMPILE, s->e) ||
	    !memory_load(s->a, o->config, o->system, o->mode, s->accel, &s->memory, s->e) ||
	    (!o->any_accelerator && !memory_check_accel(&s->memory, s->accel, s->e)))
		return false;
	for (int i = 0; i < 2; i++) {
		enum mem_area area = s->memory.axi[i];
		const double scale = s->memory.mem[area].clock_scale;
		if (scale > 1)
			cli_note_to(s->e, "note", "%s: %s_clock_scale is %g, a share of the port's peak: "
				    "%g bytes per cycle of the NPU, but a port moves %d", s->memory.source,
				    memory_area_name(area), scale, scale * s->accel->axi_bytes,
				    s->accel->axi_bytes);
	}
	s->memory.part = o->part;
	s->memory.chip = p;
	s->profile_bytes = s->memory.cache_bytes;
	return true;
}

/* Plans the graph within so many bytes; 0: with no other limit than that of the profile. */
static bool
plan_within(struct sched *s, int64_t limit)
{
	const struct options *o = s->o;
	s->limit_bytes = limit;
	s->memory.cache_bytes = limit ? limit : s->profile_bytes;
	sched_machines(s);
	graph_set_target(s->g, s->accel, &s->memory);
	return (!o->plan || plan_read(s)) && (o->batch ? plan_batch(s, plan_graph) : plan_graph(s));
}

/* Plans the graph within the SRAM of the part; if no plan is, without this limit. */
static bool
plan_overflow(struct sched *s, int64_t limit)
{
	struct sched again = *s;
	struct text *notes = s->e->notes;
	again.g = graph_copy(s->a, s->g);
	if (plan_within(s, limit) || s->e->status != EXIT_NO)
		return !s->e->status;
	plan_close(s->plan);
	*s = again;
	*s->e = (struct err){ .notes = notes };
	cli_note_to(s->e, "note", "no plan is within the %" PRId64 " bytes of %s of %s: --allow-overflow "
		    "takes one without this limit", limit, target_part_fast_memory(s->part),
		    s->part->name);
	return plan_within(s, 0);
}

bool
schedule_text(struct sched *s, uint8_t *text, size_t n)
{
	const struct options *o = s->o;
	const struct bytes input = { .p = text, .n = n };
	if (!graph_read(s->a, input, file_name(o->input), STAGE_PART, &s->g, s->e))
		return false;
	const bool is_for_linux = graph_is_for_linux(s->g);
	if (is_for_linux && !s->memory.spilling) /* the driver has only region 2 in SRAM */
		return err_set(s->e, "the Linux driver keeps the arena in DRAM: memory mode %s does "
			       "not, Dedicated_Sram does", s->memory.mode);
	graph_release_text(s->g, text);
	/* the SRAM of a part is a limit like any other; with the driver of Linux, it may be smaller */
	const struct target_part *named = target_part_with(s->part, o->system, o->mode);
	const int64_t most = s->part ? target_part_sram(s->part, is_for_linux) : 0;
	const int64_t limit = o->cache_bytes ? o->cache_bytes : most;
	const bool may_overflow = o->allow_overflow && most && !o->cache_bytes;
	if (named && limit > most)
		cli_note_to(s->e, "note", "the limit of %" PRId64 " bytes is above the size of %s of "
			    "%s, %" PRId64 " bytes", limit, target_part_fast_memory(named),
			    named->name, most);
	if (!(may_overflow ? plan_overflow : plan_within)(s, limit))
		return false;
	if (o->verbose)
		cli_note_to(s->e, "profile", "%s, %s, %s (%s)", s->accel->name,
			    s->memory.system, s->memory.mode, s->memory.source);
	if (s->smaller.bytes)
		cli_note_to(s->e, "size", "a plan that stores %" PRId64 " bytes less takes %.1f "
				 "times the cycles: try --within=%" PRId64,
				 s->smaller.bytes, s->smaller.times, s->smaller.within);
	for (size_t i = 0; o->verbose && i < s->g->n_areas; i++)
		cli_note_to(s->e, "memory", "%s: %" PRId64 " bytes used, lower bound %" PRId64,
			 s->g->areas[i]->rec.word, s->g->areas[i]->used,
			 s->g->areas[i]->bound);
	note_yield(s);
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
	struct text t = { 0 };
	if (s->o->front || s->o->explain) {
		if (s->o->front)
			print_front(s, &t);
		else
			print_explanation(s, &t);
		return file_write_text(s->o->output, &t, s->e);
	}
	if (s->o->list_config && !s->o->dump)
		print_config(s, &t);
	if (s->o->list_graph && !s->o->dump)
		print_graph(s, &t);
	if (s->o->list_allocation && !s->o->dump)
		print_allocation(s, &t);
	text_show(&t, stderr);
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
		.options = option_list, .check = check_options,
		.file = &o.input, .what = "graph",
		.output = &o.output,
		.output_doc = "write the graph to FILE",
		.jobs = &o.jobs,
		.jobs_doc = "compress weights for the plan on N threads (0: one per "
			    "processor)",
		.confined = true,
		.allow = allow,
		.names_files = true,
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
