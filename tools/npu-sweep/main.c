/* SPDX-License-Identifier: Apache-2.0 */
/* npu-sweep: compiles many models, and compares the memory and time of the results. */
#include "sweep.h"

#include "base/cli.h"
#include "base/file.h"

#include <string.h>

struct sweep {
	struct options *o;
	struct programs programs;
	struct plan p;
	struct store store;
	bool *want; /* for each job of the plan: true if --run-jobs selects the job */
	struct err *e;
};

enum { PLAN_MAX = 1 << 30, LIMITS = 4, JOBS_PER_TASK = 20 };

/*
 * --merge and --emit of a plan need no compiler: the plan contains the hash of the programs
 * that it is for.
 */
static bool
needs_programs(const struct options *o)
{
	return !(o->plan && (o->merge || o->engine != HERE));
}

static bool
make_plan(struct sweep *s)
{
	const char *path = s->o->plan;
	s->p.build = s->programs.build;
	if (path) {
		struct bytes file;
		struct arena *scratch = arena_open();
		bool ok = file_read(scratch, path, PLAN_MAX, &file, s->e) &&
			  plan_read(&s->p, file, file_name(path), s->e);
		arena_close(scratch);
		if (!ok)
			return false;
	} else if (!plan_options(s->o, &s->p, s->e)) {
		return false;
	}
	s->want = anew(s->p.a, bool, s->p.n_jobs);
	return plan_select(&s->p, s->o->run_jobs, s->want, s->e);
}

static bool
merge(struct sweep *s)
{
	struct rows r;
	struct text t = { 0 };
	size_t worse = 0;
	const char *unknown = NULL;
	rows_make(s->p.a, &s->p, s->o->limits, s->o->front || s->o->format == AS_HTML || s->o->format == AS_SENTENCES,
		  &r);
	if (s->o->against) {
		if (!print_changes(&t, &r, s->o, &worse, &unknown, s->e))
			return false;
	} else {
		switch (s->o->format) {
		case AS_HTML: print_page(&t, &s->p, &r, s->o); break;
		case AS_SENTENCES: print_picks(&t, &s->p, &r); break;
		default: print_rows(&t, &r, s->o);
		}
	}
	/* a page of failures alone would look like a result; the message says why there is none */
	bool is_page = s->o->format == AS_HTML && !s->o->against, has_plan = false;
	for (size_t i = 0; i < r.n; i++)
		has_plan |= r.v[i].status == OK;
	if (is_page && !has_plan)
		text_free(&t);
	else if (!file_write_text(s->o->output, &t, s->e))
		return false;
	if (worse)
		return err_no(s->e, NULL, 0, "%zu results are worse than in %s by more than %g "
			      "%%", worse, s->o->against, s->o->tolerance);
	if (unknown)
		return err_no(s->e, s->o->against, 0, "no result of %s to compare with", unknown);
	if (s->o->against)
		return true;
	/*
	 * the table has rows for missing and failed jobs; a message counts them and
	 * sets the status
	 */
	if (r.n_missing)
		return err_no(s->e, NULL, 0, "%zu of %zu results are missing; the same command "
			      "without --merge computes them", r.n_missing, s->p.n_jobs);
	const char *first = r.first_message ? r.first_message : "";
	if (r.n_failed > r.n_refused)
		return err_set(s->e, "%zu of %zu jobs failed; the first: %s", r.n_failed,
			       s->p.n_jobs, first);
	return !r.n_failed || err_no(s->e, NULL, 0, "%zu of %zu jobs were refused; the first: %s",
				     r.n_refused, s->p.n_jobs, first);
}

static bool
sweep(struct sweep *s)
{
	struct options *o = s->o;
	struct store *store = &s->store;
	struct text t = { 0 };
	if (!take_like(o, s->e) ||
	    (needs_programs(o) && !programs_find_all(o->a, &s->programs, s->e)))
		return false;
	if (o->gc) {
		if (store_collect(o->results, s->programs.build, &t, s->e))
			return file_write_text(o->output, &t, s->e);
		text_free(&t);
		return false;
	}
	if (!make_plan(s))
		return false;
	/* commands of another engine need a store */
	if (!o->results && o->engine != HERE && o->engine != JSONL)
		o->results = "npu-sweep.results";
	*store = (struct store){ .a = s->p.a, .dir = o->results };
	if (o->results)
		store_load(store, &s->p, s->want);
	if (store->damaged)
		cli_note("warning", "%s: %zu damaged results are computed again", o->results,
			 store->damaged);
	if (o->retry && !store_forget_failed(store, &s->p, s->want, s->e))
		return false;
	/* the jobs of --plan before they are computed: the build, the models, the options */
	bool checks = o->plan && needs_programs(o);
	if (checks && !hash128_equal(s->programs.build, s->p.build))
		return err_at(s->e, file_name(o->plan), 0, "the plan is for another build of "
			      "the programs; make the plan again, or use that build");
	for (size_t i = 0; checks && i < s->p.n_jobs; i++)
		if (s->want[i] && !s->p.job[i].record &&
		    !plan_check_job(&s->p, &s->p.job[i], s->e))
			return false;
	if (o->engine != HERE) {
		if (o->engine == DRY_RUN)
			emit_commands(o, &s->p, s->want, &t);
		else if (!emit_plan(o, &s->p, store, s->want, &t, s->e))
			return false;
		return file_write_text(o->output, &t, s->e);
	}
	if (!o->results)
		store = NULL;
	if (!o->merge && ((store && !store_make(store, s->e)) ||
			  !run_plan(o, &s->programs, &s->p, store, s->want, s->e)))
		return false;
	return o->run_jobs || merge(s);
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	struct arena *a = arena_open();
	struct options o = { .a = a, .limits = LIMITS, .jobs_per_task = JOBS_PER_TASK };
	options_parse(&o, argc, argv);
	struct sweep s = { .o = &o, .e = &e, .p = { .a = a, .interned = { .a = a } } };
	s.p.max_ms = o.max_ms;
	s.p.max_sram = (double)o.max_sram;
	(void)sweep(&s);
	arena_close(a);
	return cli_finish(&e);
}
