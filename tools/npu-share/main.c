/* SPDX-License-Identifier: Apache-2.0 */
/* npu-share: several networks in one SRAM and one flash. */
#include "share.h"

#include "base/cli_options.h"
#include "base/file.h"
#include "base/program.h"
#include "target/part.h"
#include "target/target.h"

#include <string.h>

static void
add_text(struct words *w, const char *arg, const char *option)
{
	if (w->n == (int)ARRAY_LEN(w->v))
		cli_error("%s: too many", option);
	else
		w->v[w->n++] = arg;
}

static void
take_rate(void *o, const char *arg)
{
	add_text(&((struct options *)o)->rates, arg, "--rate");
}

static void
take_deadline(void *o, const char *arg)
{
	add_text(&((struct options *)o)->deadlines, arg, "--deadline");
}

static void
take_limit(void *o, const char *arg)
{
	(void)limit_bytes(arg);
	add_text(&((struct options *)o)->limits, arg, "--arena-cache-size");
}

static void
take_together(void *o, const char *arg)
{
	add_text(&((struct options *)o)->together, arg, "--together");
}

static void
take_chain(void *o, const char *arg)
{
	add_text(&((struct options *)o)->chains, arg, "--chain");
}

static void
take_model(void *o, const char *arg)
{
	struct words *w = &((struct options *)o)->models;
	if (w->n == MAX_NETS)
		cli_error("more than %d models", MAX_NETS);
	else
		w->v[w->n++] = arg;
}

#define MOST_BYTES ((int64_t)1 << 40)

static void
check_options(void *options)
{
	const struct options *o = options;
	if (!o->models.n)
		cli_error("no models: name the files of the networks");
	target_check_names(&(struct target_names){ .accel = o->accel, .part = o->part,
						   .system = o->system, .mode = o->mode,
						   .has_config = o->config != NULL },
			   cli_refuse);
	for (const char *p = o->name; *p; p++)
		if (!(*p == '_' || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (p > o->name && *p >= '0' && *p <= '9'))) {
			cli_error("--name=%s is no identifier of C", o->name);
			break;
		}
}

static const struct cli_option option_list[] = {
	{ SHARED_TEXT(ACCELERATOR, accel) },
	{ SHARED_TEXT(PART, part),
	  .doc = "the chip: sets accelerator, profiles and the budgets of its memories" },
	MEMORY_OPTIONS,
	{ SHARED_TEXT(EFFORT, effort) },
	{ CLI_SIZE("sram", "BYTES", sram, 16, MOST_BYTES,
		   "budget of SRAM for all networks; K, M and G are units of 1,024") },
	{ CLI_SIZE("flash", "BYTES", flash, 16, MOST_BYTES,
		   "budget of flash for the constants and streams of all networks") },
	{ CLI_SIZE("dram", "BYTES", dram, 16, MOST_BYTES,
		   "budget of DRAM for the arenas, if the NPU has an SRAM of its own") },
	{ SHARED_REAL(WITHIN, within, 0, 1e6),
	  .doc = "take plans of less SRAM if their weighted time is at most PERCENT above the least "
		 "(default: 5, or 0 with --sram); not if the NPU has an SRAM of its own" },
	{ SHARED_FLAG(INTEGER_IO, integer_io) },
	{ CLI_TAKE("rate", "NAME=HZ", take_rate,
		   "how often network NAME runs in a second: the weight of its time (default 1)") },
	{ CLI_TAKE("deadline", "NAME=MS", take_deadline,
		   "the longest time in milliseconds from a request to the result of network NAME") },
	{ CLI_TAKE("arena-cache-size", "NAME=BYTES", take_limit,
		   "take the plan that npucc makes of network NAME with this limit, as the limit in "
		   "an earlier report: then its compiled model stays the same") },
	{ CLI_TAKE("together", "NAME,NAME[,...]", take_together,
		   "these networks may have live arenas at the same time: one may run before the "
		   "other has finished") },
	{ CLI_TAKE("chain", "NAME[.K],NAME[.K]", take_chain,
		   "output K (default 0) of the first network is input K of the second, without a "
		   "copy") },
	{ CLI_NUMBER("runs", "N", runs, 1, 1000000,
		     "runs of the proof in the simulator (default 100)") },
	{ CLI_TEXT("name", "NAME", name, "prefix of all names in the header (default share)"),
	  .key = 'n' },
	{ CLI_FLAG("tflm", tflm,
		   "the networks run under TensorFlow Lite Micro: each arena also has the buffers of "
		   "the interpreter, and the header makes the interpreters") },
	{ CLI_FLAG("json", json, "print the report as JSON") },
	{ 0 },
};

static const struct argp argp = {
	.args_doc = "[NAME=]MODEL...",
	.doc = "Choose a plan for each of several networks, so that all fit one SRAM and one "
	       "flash in the least time, and write one header for the firmware.\v"
	       "Exit status: 0 done, 1 the budgets or deadlines can't be met, 2 error.  See "
	       "npu-share(1).",
};

/* The compiled model as an array, with its operators for an interpreter. */
static bool
add_model(struct share *s, struct file_set *set, int net)
{
	const char *name = s->net[net].name;
	struct job j = { .path = s->tfl2c, .in = chosen_file(s, net)->file };
	add_word(&j, "tfl2c");
	add_word(&j, "--resolver");
	add_word(&j, "-n");
	add_word(&j, name);
	return run_jobs(s, &j, 1) &&
	       file_set_lend(set, arena_printf(s->a, "%s/%s.h", s->o->output, name), j.out, false,
			     s->e);
}

static bool
call_job(struct share *s, struct job *j, int net, bool declarations)
{
	*j = (struct job){ .path = s->tfl2c, .in = chosen_file(s, net)->file };
	add_word(j, "tfl2c");
	add_word(j, "--format=call");
	if (declarations)
		add_word(j, "--declarations");
	if (s->o->part)
		add_word(j, "--allow-overflow");
	add_word(j, "-n");
	add_word(j, s->net[net].name);
	return run_jobs(s, j, 1);
}

/* A network with operators of the CPU: its compiled model as a C function. */
static bool
add_call(struct share *s, struct file_set *set, int net)
{
	struct job source, header;
	const char *path = arena_printf(s->a, "%s/%s", s->o->output, s->net[net].name);
	return call_job(s, &source, net, false) && call_job(s, &header, net, true) &&
	       file_set_lend(set, arena_printf(s->a, "%s.c", path), source.out, false, s->e) &&
	       file_set_lend(set, arena_printf(s->a, "%s.h", path), header.out, false, s->e);
}

static bool
add_text_file(struct share *s, struct file_set *set, const char *suffix,
	      void (*print)(const struct share *, struct text *))
{
	struct text t = { 0 };
	print(s, &t);
	bool ok = file_set_add(set, arena_printf(s->a, "%s/%s.%s", s->o->output, s->o->name, suffix),
			       t.p, t.n, false, s->e);
	text_free(&t);
	return ok;
}

static bool
write_files(struct share *s)
{
	struct file_set *set = file_set_open(s->a);
	file_set_directory(set, s->o->output);
	bool ok = add_text_file(s, set, "h", print_header) &&
		  add_text_file(s, set, "svg", draw_memory) &&
		  add_text_file(s, set, "json", print_json) &&
		  add_text_file(s, set, "txt", print_table);
	for (int i = 0; ok && i < s->p.n; i++) {
		const struct compiled *c = chosen_file(s, i);
		ok = file_set_lend(set, arena_printf(s->a, "%s/%s_npu.tflite", s->o->output,
						     s->net[i].name), c->file, true, s->e) &&
		     (c->alone || (s->o->tflm ? add_model(s, set, i) : add_call(s, set, i)));
	}
	return file_set_end(set, ok, s->e);
}

static bool
run(void *options, struct arena *a, struct err *e)
{
	struct share *s = anew(a, struct share, 1);
	struct text t = { 0 };
	s->a = a;
	s->o = options;
	s->e = e;
	if (!program_find(a, "npucc", &s->npucc, e) || !program_find(a, "npu-perf", &s->perf, e) ||
	    !program_find(a, "tfl2c", &s->tfl2c, e) || !read_request(s) || !take_fronts(s) ||
	    !solve(s) || !join_constants(s) || !prove(s) || !ask_other_budgets(s) ||
	    (s->o->output && !write_files(s)))
		return false;
	if (!s->o->output && !s->o->json)
		cli_note("note", "no file was written; -o DIR writes the header, the picture, the "
				 "report and the compiled models to DIR");
	if (s->o->json)
		print_json(s, &t);
	else
		print_table(s, &t);
	return file_write_text(NULL, &t, e);
}

int
main(int argc, char **argv)
{
	struct options o = { .name = "share", .runs = 100, .within = -1 };
	struct cli_common common = {
		.options = option_list,
		.operand = take_model,
		.check = check_options,
		.output = &o.output,
		.output_value = "DIR",
		.output_doc = "write the header, the picture, the report and the compiled models to "
			      "directory DIR",
		.jobs = &o.jobs,
		.jobs_doc = "compile N networks at a time (0: one per processor)",
	};
	return cli_run(&argp, argc, argv, &o, &common, run);
}
