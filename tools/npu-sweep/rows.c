/* SPDX-License-Identifier: Apache-2.0 */
/* Turns records into rows: smallest and fastest plan, limits between them, failures. */
#include "sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct row *
add(struct rows *r, const struct target *t, enum goal goal)
{
	agrow(r->a, r->v, r->n, &r->cap);
	struct row *w = &r->v[r->n++];
	*w = (struct row){ .target = t, .goal = goal, .limit = -1, .flash = -1 };
	return w;
}

static const struct record *
record_of(const struct plan *p, const struct target *t, enum goal goal)
{
	return t->job[goal] ? p->job[t->job[goal] - 1].record : NULL;
}

static bool
is_ok(const struct record *r)
{
	return r && r->status == OK;
}

/* Replaces MODEL_MARK in a message by the name of the model in this sweep. */
static const char *
message_text(struct arena *a, const struct target *t, const char *message)
{
	const char *at = message ? strstr(message, MODEL_MARK) : NULL;
	if (!at)
		return message;
	return arena_printf(a, "%.*s%s%s", (int)(at - message), message, t->model->name,
			    message_text(a, t, at + strlen(MODEL_MARK)));
}

static void
add_end(struct rows *r, const struct target *t, enum goal goal, const struct record *of)
{
	struct row *w = add(r, t, goal);
#define FIGURE(member, key, source, factor) w->member = of->member;
#include "figures.def"
}

/* Returns the fastest point within the limit: the SRAM of a front's points ascends. */
static const struct point *
fitting(const struct record *front, int64_t limit)
{
	const struct point *found = NULL;
	for (size_t i = 0; i < front->n_points; i++)
		if (front->point[i].sram <= (double)limit)
			found = &front->point[i];
	return found;
}

static void
add_limits(struct rows *r, const struct plan *p, const struct target *t, int limits)
{
	enum { STEP = 16 }; /* arena sizes are multiples of 16 bytes */
	const struct record *front = record_of(p, t, FRONT);
	const struct record *size = record_of(p, t, SIZE);
	const struct record *fast = record_of(p, t, PERFORMANCE);
	if (!is_ok(front) || !is_ok(size) || !is_ok(fast) || !(fast->sram > size->sram))
		return;
	int64_t low = (int64_t)size->sram, all = (int64_t)fast->sram - low;
	for (int k = 1; k <= limits; k++) {
		int64_t limit = (low + all * k / (limits + 1)) / STEP * STEP;
		const struct point *found = fitting(front, limit);
		if (!found)
			continue;
		struct row *w = add(r, t, PERFORMANCE);
		w->limit = limit;
		w->sram = found->sram;
		w->cycles = round(found->cycles);
		/* the CPU's part is that of the fastest plan */
		w->ms = fast->clock > 0
			    ? fast->ms + (found->cycles - fast->cycles) / fast->clock * 1000 : 0;
		w->cpu_cycles = fast->cpu_cycles;
		w->low_ms = w->high_ms = -1;
	}
}

/* Adds the failures of a target.  Successive jobs with the same message share a row. */
static void
add_failures(struct rows *r, const struct plan *p, const struct target *t)
{
	const struct record *last = NULL;
	for (int g = 0; g < GOALS; g++) {
		const struct record *of = record_of(p, t, (enum goal)g);
		if (!of || of->status == OK)
			continue;
		r->n_failed++;
		const char *message = message_text(r->a, t, of->message);
		r->first_message = r->first_message ? r->first_message : message;
		if (last && last->status == of->status &&
		    !strcmp(last->message ? last->message : "",
			    of->message ? of->message : ""))
			continue;
		last = of;
		struct row *w = add(r, t, (enum goal)g);
		w->status = of->status;
		w->message = message;
		w->sram = w->cycles = INFINITY;
	}
}

static void
add_missing(struct rows *r, const struct plan *p, const struct target *t)
{
	bool any = false;
	for (int g = 0; g < GOALS; g++) {
		if (!t->job[g] || record_of(p, t, (enum goal)g))
			continue;
		r->n_missing++;
		if (any)
			continue;
		any = true;
		struct row *w = add(r, t, (enum goal)g);
		w->status = STATUSES;
		w->sram = w->cycles = INFINITY;
	}
}

static void
add_target(struct rows *r, const struct plan *p, const struct target *t, int limits)
{
	for (int g = 0; g < FRONT; g++) {
		const struct record *of = record_of(p, t, (enum goal)g);
		if (is_ok(of))
			add_end(r, t, (enum goal)g, of);
	}
	add_limits(r, p, t, limits);
	add_failures(r, p, t);
	add_missing(r, p, t);
}

const char *
row_status(const struct row *w)
{
	return w->status == STATUSES ? "missing" : status_names[w->status];
}

/* ---- order ---------------------------------------------------------------------------- */

static int
by_number(double x, double y)
{
	return (x > y) - (x < y);
}

/* Orders targets by their names; equal names have the order of the plan. */
static int
by_target(const struct target *x, const struct target *y)
{
	int c = strcmp(x->model->name, y->model->name);
	if (!c)
		c = by_number((double)x->model->index, (double)y->model->index);
	if (!c)
		c = strcmp(x->system, y->system);
	if (!c)
		c = strverscmp(x->accel, y->accel);
	return c ? c : (x > y) - (x < y);
}

/* Orders limits as decimal text, as release 1.0.0 did.  A row without a limit is first. */
static int
by_limit(int64_t x, int64_t y)
{
	enum { DIGITS = 24 };
	char a[DIGITS] = "", b[DIGITS] = "";
	if (x >= 0)
		(void)snprintf(a, sizeof(a), "%" PRId64, x);
	if (y >= 0)
		(void)snprintf(b, sizeof(b), "%" PRId64, y);
	return strcmp(a, b);
}

static int
by_row(const void *p, const void *q)
{
	const struct row *x = p, *y = q;
	int c = by_target(x->target, y->target);
	if (!c)
		c = by_number(x->sram, y->sram);
	if (!c)
		c = by_number(x->cycles, y->cycles);
	if (!c)
		c = strcmp(goal_names[x->goal], goal_names[y->goal]);
	return c ? c : by_limit(x->limit, y->limit);
}

/*
 * Marks the Pareto front.  The rows of a target are in ascending order of SRAM, so that a
 * row is on the front if it is faster than all rows before it.
 */
static void
mark_front(struct rows *r)
{
	double best = INFINITY;
	for (size_t i = 0; i < r->n; i++) {
		struct row *w = &r->v[i];
		if (!i || w->target != r->v[i - 1].target)
			best = INFINITY;
		w->front = w->cycles < best;
		best = w->front ? w->cycles : best;
	}
}

void
rows_make(struct arena *a, const struct plan *p, int limits, struct rows *r)
{
	*r = (struct rows){ .a = a, .several = p->n_models > 1 || p->n_systems > 1 };
	for (size_t i = 0; i < p->n_targets; i++)
		add_target(r, p, &p->target[i], limits);
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_row);
	mark_front(r);
}
