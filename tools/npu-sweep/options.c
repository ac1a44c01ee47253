/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sweep's options. */
#include "sweep.h"

#include "base/cli.h"
#include "target/target.h"

#include <stdlib.h>
#include <string.h>

enum { OPT_SYSTEM = 256, OPT_MODE, OPT_CONFIG, OPT_EFFORT, OPT_LIKE, OPT_LIMITS, OPT_FRONT,
       OPT_JSON, OPT_CSV, OPT_HTML, OPT_PICK, OPT_DRY, OPT_EMIT, OPT_PER_TASK, OPT_RESULTS,
       OPT_PLAN, OPT_RUN_JOBS, OPT_MERGE, OPT_TIMEOUT, OPT_RETRY, OPT_GC, OPT_AGAINST,
       OPT_TOLERANCE };

static const struct argp_option option_list[] = {
	{ 0, 0, 0, 0, "What to compile:", 1 },
	{ "accelerator-config", 'a', "LIST", 0, "accelerators to compile for, separated by commas "
	  "(default: all of Ethos-U55)", 0 },
	{ "system-config", OPT_SYSTEM, "LIST", 0, "profiles of the clock and the memory "
	  "speeds, separated by commas", 0 },
	{ "memory-mode", OPT_MODE, "NAME", 0, "which memory holds constants, arena and cache", 0 },
	{ "config", OPT_CONFIG, "FILE", 0,
	  "read the profiles from FILE, in the syntax of vela.ini", 0 },
	{ "like", OPT_LIKE, "FILE", 0, "use accelerator and memory system of the compiled model "
	  "FILE, where no option names them", 0 },
	{ "effort", OPT_EFFORT, "N", 0,
	  "how long each compilation searches for a plan: 1 ... 9", 0 },
	{ "limits", OPT_LIMITS, "N", 0, "number of arena limits that the table has between the "
	  "smallest and the fastest result (default 4)", 0 },
	{ 0, 0, 0, 0, "What to print:", 2 },
	{ "front", OPT_FRONT, 0, 0,
	  "print only the results on the Pareto front, and the failures", 0 },
	{ "json", OPT_JSON, 0, 0, "print the table as JSON", 0 },
	{ "csv", OPT_CSV, 0, 0, "print the table as CSV, with all columns", 0 },
	{ "html", OPT_HTML, 0, 0, "print an HTML page with a picture of each front", 0 },
	{ "pick", OPT_PICK, 0, 0, "print a sentence for each front: which result to use, and "
	  "why", 0 },
	{ "against", OPT_AGAINST, "OLD", 0, "compare with OLD, a table of --json or a directory "
	  "of --results, and print the changes; fail (status 1) if a result became worse", 0 },
	{ "tolerance", OPT_TOLERANCE, "PERCENT", 0, "with --against: accept results that are "
	  "worse by up to PERCENT (default 0)", 0 },
	{ 0, 0, 0, 0, "How to compute:", 3 },
	{ "results", OPT_RESULTS, "DIR", 0, "keep the results in DIR, and use the results that DIR "
	  "already has", 0 },
	{ "timeout", OPT_TIMEOUT, "SECONDS", 0, "time limit of a job; the row of a job that takes "
	  "longer has the status timeout", 0 },
	{ "retry", OPT_RETRY, 0, 0, "compute failed jobs again, instead of using their results in "
	  "--results", 0 },
	{ "merge", OPT_MERGE, 0, 0,
	  "compile nothing; print the results that --results already has", 0 },
	{ "gc", OPT_GC, 0, 0, "delete the files of --results that this build cannot use: damaged "
	  "results, results of other builds, old plans", 0 },
	{ 0, 0, 0, 0, "Other engines:", 4 },
	{ "dry-run", OPT_DRY, 0, 0,
	  "print the commands instead of running them, one on each line", 0 },
	{ "emit", OPT_EMIT, "ENGINE", 0, "print the jobs for another engine: ninja, make or slurm, "
	  "or as lines of JSON: jsonl", 0 },
	{ "jobs-per-task", OPT_PER_TASK, "N", 0, "with --emit: number of jobs in a task; "
	  "default 20", 0 },
	{ "plan", OPT_PLAN, "FILE", 0, "read the jobs from FILE, lines of --emit=jsonl, instead of "
	  "from models and options", 0 },
	{ "run-jobs", OPT_RUN_JOBS, "LIST", 0, "compute only these jobs of the plan, for example "
	  "1-20,25 or all; store the results in --results and print no table", 0 },
	{ 0 }
};

static void
add_name(struct options *o, struct names *l, const char *name)
{
	agrow(o->a, l->v, l->n, &l->cap);
	l->v[l->n++] = name;
}

/* Splits a list at its commas, and drops repeated names. */
static void
take_names(struct options *o, struct names *l, const char *arg)
{
	l->n = 0;
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

/* Adds a model.  "./" before a leading "-" keeps programs from reading an option. */
static void
take_model(struct options *o, const char *arg)
{
	add_name(o, &o->models, *arg == '-' ? arena_printf(o->a, "./%s", arg) : arg);
}

static double
take_real(const char *option, const char *arg)
{
	const double most = 1e9;
	char *end;
	double v = strtod(arg, &end);
	if (end == arg || *end || !(v >= 0) || v > most)
		cli_error("%s needs a number from 0 to 1e9, not '%s'", option, arg);
	return v;
}

static void
take_engine(struct options *o, const char *arg)
{
	static const char *const names[] = { "ninja", "make", "slurm", "jsonl", NULL };
	o->engine = (enum engine)(NINJA + cli_choice("--emit", arg, names));
}

static void
check_options(const struct options *o)
{
	if (o->gc && !o->results)
		cli_error("--gc needs --results=DIR, the store to clean");
	if (!o->models.n && !o->plan && !o->gc)
		cli_error("no model; name at least one .tflite or .tosa file");
	if (o->models.n && o->plan)
		cli_error("--plan and models exclude each other; the plan names its models");
	if (o->run_jobs && !o->results)
		cli_error("--run-jobs needs --results=DIR, the store for its results");
	if (o->merge && !o->results)
		cli_error("--merge needs --results=DIR, the store to read");
	if (o->against && (o->format == AS_HTML || o->format == AS_SENTENCES))
		cli_error("--against excludes --html and --pick; it prints text, --json or --csv");
}

static bool
take_what(int key, char *arg, struct options *o)
{
	enum { MAX_LIMITS = 9999 };
	switch (key) {
	case 'a': take_names(o, &o->accels, arg); break;
	case OPT_SYSTEM: take_names(o, &o->systems, arg); break;
	case OPT_MODE: o->mode = arg; break;
	case OPT_CONFIG: o->config = arg; break;
	case OPT_LIKE: o->like = arg; break;
	case OPT_EFFORT:
		(void)cli_number("--effort", arg, 1, 9);
		o->effort = arg;
		break;
	case OPT_LIMITS:
		o->limits = (int)cli_number("--limits", arg, 0, MAX_LIMITS);
		break;
	default: return false;
	}
	return true;
}

static bool
take_format(int key, char *arg, struct options *o)
{
	switch (key) {
	case OPT_FRONT: o->front = true; break;
	case OPT_JSON: o->format = AS_JSON; break;
	case OPT_CSV: o->format = AS_CSV; break;
	case OPT_HTML: o->format = AS_HTML; break;
	case OPT_PICK: o->format = AS_SENTENCES; break;
	case OPT_AGAINST: o->against = arg; break;
	case OPT_TOLERANCE: o->tolerance = take_real("--tolerance", arg); break;
	default: return false;
	}
	return true;
}

static bool
take_how(int key, char *arg, struct options *o)
{
	enum { MAX_PER_TASK = 1000000 };
	switch (key) {
	case OPT_DRY: o->engine = DRY_RUN; break;
	case OPT_EMIT: take_engine(o, arg); break;
	case OPT_PER_TASK:
		o->jobs_per_task = cli_number("--jobs-per-task", arg, 1, MAX_PER_TASK);
		break;
	case OPT_RESULTS: o->results = arg; break;
	case OPT_PLAN: o->plan = arg; break;
	case OPT_RUN_JOBS: o->run_jobs = arg; break;
	case OPT_MERGE: o->merge = true; break;
	case OPT_TIMEOUT: o->timeout = take_real("--timeout", arg); break;
	case OPT_RETRY: o->retry = true; break;
	case OPT_GC: o->gc = true; break;
	default: return false;
	}
	return true;
}

static error_t
parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	if (key == ARGP_KEY_ARG)
		take_model(o, arg);
	else if (key == ARGP_KEY_END)
		check_options(o);
	else if (!take_what(key, arg, o) && !take_format(key, arg, o) &&
		 !take_how(key, arg, o))
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse_option,
	.args_doc = "MODEL...\n--plan=FILE\n--gc --results=DIR",
	.doc = "Compiles models for several accelerators and memory systems, on this machine "
	       "or by another engine, and prints a table of memory and time.  Marks the Pareto "
	       "front: the results that no other result beats in both."
	       "\vCycles are estimates: npu-perf-accuracy(7).",
};

void
options_parse(struct options *o, int argc, char **argv)
{
	struct cli_common common = {
		.output = &o->output,
		.output_doc = "write the table, page or plan to FILE",
		.output_group = 2,
		.jobs = &o->jobs,
		.jobs_doc = "number of compilations at a time (default: the number of processors)",
	};
	cli_parse(&argp, argc, argv, o, &common);
}
