/* SPDX-License-Identifier: Apache-2.0 */
/* Turns records into rows: smallest and fastest plan, limits between them, failures. */
#include "sweep.h"

#include <math.h>
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

/* A limit of a plan's own SRAM gives this plan, and no smaller limit does. */
static void
add_plan(struct rows *r, const struct plan *p, const struct target *t, const struct point *v)
{
	const struct record *end = record_of_end(p, t);
	/* the plan of Size or Performance has a row already */
	for (int g = 0; g < FRONT; g++) {
		const struct record *of = record_of(p, t, (enum goal)g);
		if (of && of->status == OK && !(v->sram < of->sram || v->sram > of->sram) &&
		    fabs(v->cycles - of->cycles) < 1)
			return;
	}
	struct row *w = add(r, t, PERFORMANCE);
	w->limit = (int64_t)v->sram;
	w->sram = v->sram;
	w->flash = v->flash >= 0 && v->streams >= 0 ? v->flash + v->streams : -1;
	w->cycles = round(v->cycles);
	w->low_ms = w->high_ms = -1;
	/* the CPU's part is that of the other plan */
	w->ms = end && end->clock > 0
			? end->ms + (v->cycles - end->cycles) / end->clock * 1000 : 0;
	w->cpu_cycles = end ? end->cpu_cycles : 0;
}

static void
add_front(struct rows *r, const struct plan *p, const struct target *t, int limits, bool all)
{
	struct arena *scratch = arena_open();
	const struct record front = front_candidates(p, t);
	bool *chosen = anew(scratch, bool, front.n_points + 1);
	if (front.n_points) {
		const struct pick k = pick_knee(p, t);
		double low = k.smallest.sram, range = k.fastest.sram - low;
		for (int i = 0; i <= limits + 1; i++) {
			/* the fastest plan within the limit: the last one, or 0 for none */
			double limit = low + range * i / (limits + 1);
			size_t n = 0;
			while (n < front.n_points && front.point[n].sram <= limit)
				n++;
			chosen[n ? n - 1 : 0] = true;
		}
		for (size_t i = 0; i < front.n_points; i++)
			chosen[i] |= all || !(front.point[i].sram < k.knee.sram ||
					      front.point[i].sram > k.knee.sram);
	}
	for (size_t i = 0; i < front.n_points; i++)
		if (chosen[i])
			add_plan(r, p, t, &front.point[i]);
	arena_close(scratch);
}

/*
 * Adds the failures of a target.  Successive jobs with the same message share a row, and a part
 * that refuses the plan of Size has one row, as this plan needs the least memory.
 */
static void
add_failures(struct rows *r, const struct plan *p, const struct target *t)
{
	const struct record *last = NULL, *size = record_of(p, t, SIZE);
	bool too_small = size && size->status == REFUSED;
	for (int g = 0; g < GOALS; g++) {
		const struct record *of = record_of(p, t, (enum goal)g);
		if (!of || of->status == OK)
			continue;
		bool refused = of->status == REFUSED, only_refused = r->n_failed == r->n_refused;
		const char *message = message_text(r->a, t, refused && too_small ? size->message
										 : of->message);
		if (!r->n_failed || (only_refused && !refused))
			r->first_message = message;
		r->n_failed++;
		r->n_refused += refused;
		if ((refused && too_small && of != size) ||
		    (last && last->status == of->status &&
		     !strcmp(last->message ? last->message : "", of->message ? of->message : "")))
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

bool
row_flash_is_rough(const struct row *w)
{
	return w->status == OK && w->limit >= 0 && w->flash >= 0;
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

/* Orders targets by their models, and then as in the plan: as the user named them. */
static int
by_row(const void *p, const void *q)
{
	const struct row *x = p, *y = q;
	const struct target *of = x->target, *other = y->target;
	int c = by_number((double)of->model->index, (double)other->model->index);
	if (!c)
		c = (of > other) - (of < other);
	if (!c)
		c = by_number(x->sram, y->sram);
	if (!c)
		c = by_number(x->cycles, y->cycles);
	if (!c)
		c = strcmp(goal_names[x->goal], goal_names[y->goal]);
	return c ? c : by_number((double)x->limit, (double)y->limit);
}

void
rows_make(struct arena *a, const struct plan *p, int limits, bool all, struct rows *r)
{
	*r = (struct rows){ .a = a, .several = p->n_models > 1 || p->n_systems > 1 };
	for (size_t i = 0; i < p->n_targets; i++) {
		const struct target *t = &p->target[i];
		for (int g = 0; g < FRONT; g++) {
			const struct record *of = record_of(p, t, (enum goal)g);
			if (!of || of->status != OK)
				continue;
			struct row *w = add(r, t, (enum goal)g);
#define FIGURE(member, key, source, factor) w->member = of->member;
#include "figures.def"
			w->flash += of->streams;
		}
		add_front(r, p, t, limits, all);
		add_failures(r, p, t);
		add_missing(r, p, t);
	}
	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_row);
	struct arena_memory memory = { 0 };
	for (size_t i = 0; i < r->n; i++) {
		if (!i || r->v[i].target != r->v[i - 1].target)
			memory = target_arena(a, r->v[i].target);
		r->v[i].arena_memory = memory.name;
		r->outside |= memory.is_not_sram;
	}
	/*
	 * The Pareto front: the rows of a target are in ascending order of SRAM, so that a row is
	 * on the front if it is faster than all rows before it, and than the plans that have no row,
	 * or if it has the plan of the row before.
	 */
	double best = INFINITY;
	for (size_t i = 0; i < r->n; i++) {
		struct row *w = &r->v[i];
		const struct row *before = i && w->target == r->v[i - 1].target ? &r->v[i - 1] : NULL;
		if (!before)
			best = INFINITY;
		w->front = w->cycles < best || (before && before->front && w->sram <= before->sram &&
						 w->cycles <= before->cycles);
		best = w->front ? w->cycles : best;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct row *w = &r->v[i];
		if (!w->front || w->limit >= 0)
			continue;
		/* a plan of the front that is better in SRAM or cycles, and not worse in the other */
		const struct record front = front_candidates(p, w->target);
		for (size_t k = 0; k < front.n_points && w->front; k++) {
			double sram = front.point[k].sram, cycles = round(front.point[k].cycles);
			w->front = !(sram <= w->sram && cycles <= w->cycles &&
				     (sram < w->sram || cycles < w->cycles));
		}
	}
}
