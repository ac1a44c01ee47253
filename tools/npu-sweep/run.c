/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs jobs on this machine, several at a time, and reads the outputs of their programs
 * until the programs end.  A signal or a full disk stops the sweep: npu-sweep ends the
 * running programs, and their jobs get no result.
 */
#include "sweep.h"

#include "base/cli.h"
#include "base/progress.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct slot {
	struct arena *a; /* memory for one job; reset after the job */
	struct job *job; /* NULL: free */
	struct child child[JOB_CHILDREN];
	double deadline; /* end of the job's time limit, in seconds of now(), or `never` */
	bool late; /* the job has exceeded its time limit */
};

struct runner {
	const struct options *o;
	const struct programs *programs;
	struct plan *p;
	struct store *s; /* NULL: results stay in memory */
	const bool *want;
	struct err *e;
	struct slot *slot;
	size_t n_slots, n_running;
	/* jobs start in the order first, first + 1, ..., first - 1, modulo n_jobs; next: how
	 * many of them have been started or skipped */
	size_t first, next;
	size_t n_done, n_all;
	bool stopping;
	double killed; /* time of SIGKILL for running programs, in seconds of now(); if stopping */
	struct progress progress;
};

static const double never = 1e18, grace = 2; /* grace: seconds from SIGTERM to SIGKILL */

static double
now(void)
{
	struct timespec t;
	const double nano = 1e-9;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + nano * (double)t.tv_nsec;
}

/* ---- one job --------------------------------------------------------------------------- */

static bool
slot_runs(const struct slot *s)
{
	for (int i = 0; i < JOB_CHILDREN; i++)
		if (s->child[i].running)
			return true;
	return false;
}

static void
kill_slot(struct slot *s, int number)
{
	for (int i = 0; i < JOB_CHILDREN; i++)
		child_kill(&s->child[i], number);
}

/* Starts no more jobs, and asks running programs to end. */
static void
stop(struct runner *r)
{
	if (r->stopping)
		return;
	r->stopping = true;
	r->killed = now() + grace;
	for (size_t i = 0; i < r->n_slots; i++)
		if (r->slot[i].job)
			kill_slot(&r->slot[i], SIGTERM);
}

/*
 * Stores the record of a job, and reads it back from the same bytes.  Therefore a table does
 * not depend on whether a result was computed now or earlier.
 */
static void
finish(struct runner *r, struct slot *s)
{
	struct record made;
	const struct target *t = plan_target(r->p, s->job);
	bool ok = true;
	if (s->late)
		made = (struct record){
			.status = TIMEOUT,
			.message = arena_printf(s->a, "no result within %g s",
						r->o->timeout),
		};
	else if (!r->stopping)
		ok = job_result(s->a, t, s->job->goal, s->child, &made, r->e);
	if (ok && (s->late || !r->stopping)) {
		struct text text = { 0 };
		record_print(&text, r->p, s->job, &made);
		struct bytes file = { .p = (const uint8_t *)text.p, .n = text.n };
		ok = !r->s || store_put(r->s, s->job, file, r->e);
		struct record *own = anew(r->p->a, struct record, 1);
		if (ok && record_read(r->p->a, file, &s->job->key, own, NULL))
			s->job->record = own;
		text_free(&text);
		if (ok)
			progress_show(&r->progress, (double)++r->n_done, (double)r->n_all);
	}
	if (r->e->status)
		stop(r);
	for (int i = 0; i < JOB_CHILDREN; i++)
		child_free(&s->child[i]);
	arena_reset(s->a);
	s->job = NULL;
	r->n_running--;
}

static void
start_some(struct runner *r)
{
	for (; r->n_running < r->n_slots && r->next < r->p->n_jobs && !r->stopping;
	     r->next++) {
		size_t k = (r->first + r->next) % r->p->n_jobs;
		struct job *j = &r->p->job[k];
		struct record found;
		if (!r->want[k] || j->record)
			continue;
		/* another sweep may have put it into the store meanwhile */
		if (r->s && store_get(r->s, j, &found)) {
			struct record *own = anew(r->p->a, struct record, 1);
			*own = found;
			j->record = own;
			r->n_done++;
			continue;
		}
		struct slot *s = r->slot;
		while (s->job)
			s++;
		s->job = j;
		s->late = false;
		s->deadline = r->o->timeout > 0 ? now() + r->o->timeout : never;
		r->n_running++;
		bool ok = job_start(s->a, r->programs, plan_target(r->p, j), j->goal, s->child,
				    r->e);
		if (!ok)
			stop(r);
		/* without processes, the programs have ended already */
		s->late = ok && !slot_runs(s) && now() >= s->deadline;
	}
}

/* ---- all of them ------------------------------------------------------------------------ */

/* Sends SIGTERM to a job that exceeds its time limit, and SIGKILL after `grace` seconds. */
static void
look_at_slots(struct runner *r)
{
	double t = now();
	for (size_t i = 0; i < r->n_slots; i++) {
		struct slot *s = &r->slot[i];
		if (!s->job)
			continue;
		if (!slot_runs(s)) {
			finish(r, s);
			continue;
		}
		if (r->stopping && t >= r->killed)
			kill_slot(s, SIGKILL);
		if (t < s->deadline)
			continue;
		kill_slot(s, s->late ? SIGKILL : SIGTERM);
		s->late = true;
		s->deadline = t + grace;
	}
}

bool
run_plan(const struct options *o, const struct programs *programs, struct plan *p,
	 struct store *s, const bool *want, struct err *e)
{
	/* jobs from which a log begins with their number, as it gets no line of progress */
	enum { MANY = 30 };
	const uint64_t golden = 0x9e3779b97f4a7c15;
	struct runner r = { .o = o, .programs = programs, .p = p, .s = s, .want = want,
			    .e = e, .n_slots = children_at_a_time(o->jobs) };
	for (size_t i = 0; i < p->n_jobs; i++)
		r.n_all += want[i] && !p->job[i].record;
	if (!r.n_all)
		return true;
	/* Two sweeps that fill one store begin at different jobs, so that they divide the
	 * work; one alone begins with the first. */
	if (s && r.n_all > 1)
		r.first = (size_t)((uint64_t)getpid() * golden % p->n_jobs);
	r.slot = anew(p->a, struct slot, r.n_slots);
	for (size_t i = 0; i < r.n_slots; i++)
		r.slot[i].a = arena_open();
	if (r.n_all >= MANY && !isatty(STDERR_FILENO))
		cli_note("note", "%zu jobs, %zu at a time", r.n_all, r.n_slots);
	progress_begin(&r.progress, "jobs");
	struct child **running = anew(p->a, struct child *, r.n_slots * JOB_CHILDREN);
	children_begin();
	for (start_some(&r); r.n_running; start_some(&r)) {
		size_t n = 0;
		for (size_t i = 0; i < r.n_slots; i++)
			for (int k = 0; r.slot[i].job && k < JOB_CHILDREN; k++)
				running[n++] = &r.slot[i].child[k];
		/* the seconds until the next signal to a program is due */
		double first = r.stopping ? r.killed : never, t = now();
		for (size_t i = 0; i < r.n_slots; i++)
			if (r.slot[i].job && r.slot[i].deadline < first)
				first = r.slot[i].deadline;
		double left = first > t ? first - t : 0;
		if (r.stopping && !(left > 0))
			left = 0.05; /* SIGKILL is sent: the programs end soon */
		children_wait(running, n, left);
		if (children_signal())
			stop(&r);
		look_at_slots(&r);
	}
	children_end();
	progress_end(&r.progress);
	for (size_t i = 0; i < r.n_slots; i++)
		arena_close(r.slot[i].a);
	if (children_signal() && !e->status) {
		fprintf(stderr, "%s: stopped with %zu of %zu jobs done; %s\n",
			program_invocation_short_name, r.n_done, r.n_all,
			s ? "the same command continues the sweep"
			  : "add --results=DIR, so that the same command can continue a sweep");
		children_raise();
	}
	return !e->status;
}
