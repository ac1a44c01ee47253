/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewrites of a network: graphs that compute the same.  Each is planned as a network of its
 * own, and the requested goal decides between them as it does between plans (batch, split).
 */
#include "rewrites.h"

#include "base/text.h"
#include "graph/graph.h"
#include "search.h"

void
rewrite_open(const struct sched *s, struct graph *rewrite, struct sched *out, struct err *e)
{
	*out = (struct sched){ .a = s->a, .o = s->o, .e = e, .accel = s->accel,
			       .memory = s->memory, .profile_bytes = s->profile_bytes,
			       .machine = s->machine, .calibrated = s->calibrated,
			       .published = s->published, .plan_input = s->plan_input,
			       .g = rewrite };
}

/* Merges two fronts by rising memory; drops rows that are no better than another one. */
static struct sched_front
merge_fronts(struct arena *a, const struct sched_front *x, const struct sched_front *y,
	     const struct rewrite_changes *changes)
{
	struct sched_front r = { .v = anew(a, struct sched_row, x->n + y->n + 1) };
	const struct sched_row *before = NULL; /* last row that was kept, in its own front */
	for (size_t i = 0, k = 0; i < x->n || k < y->n;) {
		bool first = k == y->n || (i < x->n && (x->v[i].sram < y->v[k].sram ||
							(x->v[i].sram == y->v[k].sram &&
							 x->v[i].objective <= y->v[k].objective)));
		const struct sched_row *row = first ? &x->v[i++] : &y->v[k++];
		if (r.n && row->objective >= r.v[r.n - 1].objective * (1 - ROUNDING))
			continue;
		r.v[r.n] = *row;
		if (r.n++ && before != row - 1) {
			r.v[r.n - 1].change = first ? changes->from : changes->to;
			r.v[r.n - 1].back = first ? changes->to : changes->from;
		}
		before = row;
	}
	return r;
}

void
adopt_rewrite(struct sched *s, const struct sched *best)
{
	struct err *e = s->e;
	*s = *best;
	s->e = e;
}

double
objective_of(const struct sched *s)
{
	const struct g_target *t = s->g->targets[0];
	return G_HAS(t, G_TARGET_objective) || !s->plan ? t->objective : s->plan->cycles;
}

const char *
by_objective(const struct options *o)
{
	static const char *const words[] = {
		[MODEL_ROBUST] = "by the mean of both estimates",
		[MODEL_CALIBRATED] = "by the calibrated estimate",
		[MODEL_TIMELINE] = "by Arm's published formulas",
	};
	return words[o->model];
}

bool
is_better_rewrite(const struct sched *x, const struct sched *y)
{
	const struct plan *p = x->plan, *q = y->plan;
	const bool saves = x->fastest > 0 && y->fastest > 0;
	double c = saves ? x->fastest : objective_of(x), d = saves ? y->fastest : objective_of(y);
	if (!p || !q)
		return false;
	if (x->o->max_cycles)
		return peak_of(x, p) < peak_of(y, q);
	if (x->o->goal == GOAL_SIZE)
		return total_of(p) < total_of(q) || (total_of(p) == total_of(q) && c < d);
	return c < d || (c == d && peak_of(x, p) < peak_of(y, q));
}

bool
keep_rewrite(struct sched *best, bool *any, struct sched *x, bool is_better,
	     const struct rewrite_changes *changes)
{
	struct sched_front front =
	    *any ? merge_fronts(x->a, &best->front, &x->front, changes) : x->front;
	bool replaces = !*any || is_better;
	plan_close(replaces ? best->plan : x->plan);
	if (replaces)
		*best = *x;
	*any = true;
	best->front = front;
	return replaces;
}
