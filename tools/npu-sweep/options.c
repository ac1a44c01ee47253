/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sweep's options. */
#include "sweep.h"

#include "base/cli_options.h"
#include "target/part.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_LIMITS = 9999, MAX_PER_TASK = 1000000, MOST_REAL = 1000000000 };

static void
add_name(struct options *o, struct names *l, const char *name)
{
	agrow(o->a, l->v, l->n, &l->cap);
	l->v[l->n++] = name;
}

/* Appends the names of a list, which commas divide, and drops repeated names. */
static void
take_names(struct options *o, struct names *l, const char *arg)
{
	for (const char *p = arg; *p;) {
		size_t n = strcspn(p, ","), i = 0;
		const char *name = arena_strndup(o->a, p, n);
		while (i < l->n && strcmp(l->v[i], name) != 0)
			i++;
		if (n && i == l->n)
			add_name(o, l, name);
		p += n + (p[n] == ',');
	}
}

static void
take_accels(void *options, const char *arg)
{
	take_names(options, &((struct options *)options)->accels, arg);
}

static void
take_systems(void *options, const char *arg)
{
	take_names(options, &((struct options *)options)->systems, arg);
}

static void
take_parts(void *options, const char *arg)
{
	struct options *o = options;
	const struct target_part *p;
	struct err e = { 0 };
	if (strcmp(arg, "all") != 0)
		take_names(o, &o->parts, arg);
	else
		for (size_t i = 0; (p = target_part_at(i)); i++)
			if (!target_part_is_reference(p))
				take_names(o, &o->parts, p->name);
	for (size_t i = 0; i < o->parts.n; i++)
		if (!target_part_take(o->a, o->parts.v[i], &e))
			cli_refuse(&e);
	if (!o->parts.n)
		cli_error("--part needs names of parts, or all");
}

static void
take_effort(void *options, const char *arg)
{
	(void)cli_number("--effort", arg, 1, 9);
	((struct options *)options)->effort = arg;
}

/* Adds a model.  "./" before a leading "-" keeps programs from reading an option. */
static void
take_model(void *options, const char *arg)
{
	struct options *o = options;
	add_name(o, &o->models, *arg == '-' ? arena_printf(o->a, "./%s", arg) : arg);
}

static void
take_engine(void *options, const char *arg)
{
	struct options *o = options;
	static const char *const names[] = { "ninja", "make", "slurm", "jsonl", NULL };
	o->engine = (enum engine)(NINJA + cli_choice("--emit", arg, names));
}

static void
check_options(void *options)
{
	struct options *o = options;
	const struct {
		const char *option, *suffix;
		enum format format;
		bool is_set;
	} all[] = {
		{ "--json", ".json", AS_JSON, o->json },
		{ "--csv", ".csv", AS_CSV, o->csv },
		{ "--html", ".html", AS_HTML, o->html },
		{ "--pick", NULL, AS_SENTENCES, o->pick },
	};
	const char *chosen = NULL;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		if (!all[i].is_set)
			continue;
		if (chosen)
			cli_error("%s and %s exclude each other", chosen, all[i].option);
		chosen = all[i].option;
		o->format = all[i].format;
	}
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		/* the suffix of the output names the format, as in npucc */
		if (o->format == AS_TABLE && o->output && all[i].suffix &&
		    text_has_suffix(o->output, all[i].suffix))
			o->format = all[i].format;
	if (o->gc && !o->results)
		cli_error("--gc needs --results=DIR, the store to clean");
	if (!o->models.n && !o->plan && !o->gc)
		cli_error("no model; name at least one .tflite or .tosa file");
	if (o->models.n && o->plan)
		cli_error("--plan and models exclude each other; the plan names its models");
	if (o->parts.n && (o->accels.n || o->systems.n || o->mode || o->config || o->like ||
			   o->any_accelerator))
		cli_error("--part excludes --accelerator-config, --system-config, --memory-mode, "
			  "--config, --like and --any-accelerator; a part has all of these");
	if ((o->max_ms > 0 || o->max_sram > 0) && o->format != AS_SENTENCES)
		cli_error("--max-ms and --max-sram choose a plan: they need --pick");
	if (o->run_jobs && !o->results)
		cli_error("--run-jobs needs --results=DIR, the store for its results");
	if (o->merge && !o->results)
		cli_error("--merge needs --results=DIR, the store to read");
	if (o->against && (o->format == AS_HTML || o->format == AS_SENTENCES))
		cli_error("--against excludes --html and --pick; it prints text, --json or --csv");
}

static const struct cli_option option_list[] = {
	{ CLI_HEADING("What to compile:"), .group = 1 },
	{ SHARED_TAKE(PART, take_parts), .arg = "LIST",
	  .doc = "chips to compile for, separated by commas, or all chips of npucc --list-parts: "
		 "each has its accelerator, memory system and limit of SRAM" },
	{ SHARED_TAKE(ACCELERATOR, take_accels), .arg = "LIST",
	  .doc = "accelerators to compile for, separated by commas (default: those of "
		 "Ethos-U55 that the system configuration is made for)" },
	{ SHARED_TAKE(SYSTEM, take_systems), .arg = "LIST",
	  .doc = "profiles of the clock and the memory speeds, separated by commas" },
	{ SHARED_TEXT(MODE, mode) },
	{ SHARED_FLAG(ANY, any_accelerator) },
	{ SHARED_TEXT(CONFIG, config) },
	{ CLI_TEXT("like", "FILE", like,
		   "use accelerator and memory system of the compiled model FILE, where no "
		   "option names them") },
	{ SHARED_TAKE(EFFORT, take_effort) },
	{ CLI_NUMBER("limits", "N", limits, 0, MAX_LIMITS,
		     "number of arena limits between the smallest and the fastest plan whose "
		     "plans the table has (default 4)") },
	{ CLI_HEADING("What to print:"), .group = 2 },
	{ CLI_FLAG("front", front,
		   "print all plans of the Pareto front and nothing else, except failures") },
	{ CLI_FLAG("json", json, "print the table as JSON") },
	{ CLI_FLAG("csv", csv, "print the table as CSV, with all columns") },
	{ CLI_FLAG("html", html,
		   "print an HTML page with a picture of each front") },
	{ CLI_FLAG("pick", pick,
		   "print a sentence for each front: which result to use, and why") },
	{ CLI_REAL("max-ms", "MS", max_ms, 0, MOST_REAL,
		   "with --pick: choose among the plans of at most MS milliseconds") },
	{ CLI_SIZE("max-sram", "BYTES", max_sram, 0, INT64_MAX / 2,
		   "with --pick: choose among the plans of at most BYTES of SRAM, with the model "
		   "if it lies there, too; K, M and G are units of 1,024") },
	{ CLI_TEXT("against", "OLD", against,
		   "compare with OLD, a table of --json or a directory of --results, and "
		   "print the changes; fail (status 1) if a result became worse, or OLD has none "
		   "for a model and target") },
	{ CLI_REAL("tolerance", "PERCENT", tolerance, 0, MOST_REAL,
		   "with --against: accept results that are worse by up to PERCENT "
		   "(default 0)") },
	{ CLI_HEADING("How to compute:"), .group = 3 },
	{ CLI_TEXT("results", "DIR", results,
		   "keep the results in DIR, and use the results that DIR already has") },
	{ CLI_REAL("timeout", "SECONDS", timeout, 0, MOST_REAL,
		   "time limit of a job; the row of a job that takes longer has the status "
		   "timeout") },
	{ CLI_FLAG("retry", retry,
		   "compute failed jobs again, instead of using their results in "
		   "--results") },
	{ CLI_FLAG("merge", merge,
		   "compile nothing; print the results that --results already has") },
	{ CLI_FLAG("gc", gc,
		   "delete the files of --results that this build cannot use: damaged "
		   "results, results of other builds, old plans") },
	{ CLI_HEADING("Other engines:"), .group = 4 },
	{ CLI_VALUE("dry-run", engine, DRY_RUN,
		    "print the commands instead of running them, one on each line") },
	{ CLI_TAKE("emit", "ENGINE", take_engine,
		   "print the jobs for another engine: ninja, make or slurm, or as lines of "
		   "JSON: jsonl") },
	{ CLI_NUMBER("jobs-per-task", "N", jobs_per_task, 1, MAX_PER_TASK,
		     "with --emit: number of jobs in a task; default 20") },
	{ CLI_TEXT("plan", "FILE", plan,
		   "read the jobs from FILE, lines of --emit=jsonl, instead of from models and "
		   "options") },
	{ CLI_TEXT("run-jobs", "LIST", run_jobs,
		   "compute only these jobs of the plan, for example 1-20,25 or all; store the "
		   "results in --results and print no table") },
	{ 0 }
};

static const struct argp argp = {
	.args_doc = "MODEL...\n--plan=FILE\n--gc --results=DIR",
	.doc = "Compiles models for several accelerators and memory systems, on this machine "
	       "or by another engine, and prints a table of memory and time.  Marks the Pareto "
	       "front: the results that no other result beats in both."
	       "\vColumns: limit is the option --arena-cache-size of npucc that gives the plan; "
	       "sram and flash are bytes, flash those of constants and command streams; cycles "
	       "are those of the NPU; ms is the time of an inference on NPU and CPU; front is * "
	       "for a plan on the Pareto front; arena_memory is the memory of the arena, and not "
	       "printed if this is SRAM for all; - is no value.  Cycles and times "
	       "are estimates: npu-perf-accuracy(7).",
};

void
options_parse(struct options *o, int argc, char **argv)
{
	struct cli_common common = {
		.options = option_list,
		.operand = take_model,
		.check = check_options,
		.output = &o->output,
		.output_doc = "write the table, page or plan to FILE",
		.output_group = 2,
		.jobs = &o->jobs,
		.jobs_doc = "number of compilations at a time (default: the number of processors)",
	};
	cli_parse(&argp, argc, argv, o, &common);
}
