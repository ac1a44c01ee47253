/* SPDX-License-Identifier: Apache-2.0 */
/* Explores every variant for the front of all plans. */
#include "run.h"

/* With an SRAM of the NPU's own: explores variants from which more and more feature maps leave,
 * or only (`all`) the one from which all have left. */
static bool
explore_spills(struct search *x, struct variant *v, const struct knobs *knobs, bool all)
{
	enum { PATIENCE = 4 }; /* spills in a row that give no point */
	struct arena *a = arena_open();
	const struct spills *l = list_spills(v, a, knobs->spills);
	variant_rest(v);
	bool ok = true;
	for (size_t i = 1, idle = 0; ok && l && i < l->n; i++) {
		if (l->v[i].order != l->v[i - 1].order)
			idle = 0;
		/* all that may leave: the same in any order */
		bool last = i + 1 == l->n || l->v[i + 1].order != l->v[i].order;
		if (all && l->v[i].order != l->v[1].order)
			break;
		if ((idle >= PATIENCE || all) && !last)
			continue;
		const size_t n = x->n;
		struct variant *w = explored_spill(x, v, l, i);
		const struct front before = x->found.front;
		ok = explore(w, &x->found.front, knobs, COARSELY);
		/* spills before the first plan fits do not count */
		idle = x->found.front.changes == before.changes ? idle + (before.n > 0) : 0;
		if (x->found.front.changes == before.changes && x->n > n)
			drop_variant(x, w);
	}
	arena_close(a);
	return ok;
}

static bool
explore_setting(struct search *x, struct setting t)
{
	struct variant *v = explored_setting(x, t);
	const struct knobs *knobs = search_knobs(x->s);
	unsigned changes = x->found.front.changes;
	if (!explore(v, &x->found.front, knobs, COARSELY))
		return false;
	/* a layout or objective that gives no point gives none with spills, either; but when
	 * all feature maps have left, weights are read in place */
	bool idle = (t.layout || t.objective) && x->found.front.changes == changes &&
		    !x->found.front.smallest_within;
	bool in_place = t.objective == BLOCKS_FOR_IN_PLACE && !t.layout;
	if (!x->s->memory.spilling || (idle && !in_place))
		return true;
	return explore_spills(x, v, knobs, idle);
}

static void
add_anchor(struct front *f, int64_t sram, double cycles)
{
	if (cycles > 0)
		f->anchor[f->n_anchors++] = (struct anchor){ .sram = sram, .cycles = cycles };
}

static bool
is_on_front(const struct front *f, const struct variant *v)
{
	bool any = f->lightest.recipe.variant == v || f->smallest.recipe.variant == v;
	for (size_t i = 0; i < f->n; i++)
		any |= f->v[i].recipe.variant == v;
	return any;
}

/* Is this another layout or objective of a rewrite that gave no point with the first one? */
static bool
is_futile(const struct search *x, struct setting t)
{
	return x->s->incumbent.cycles > 0 && !x->found.front.n && (t.layout || t.objective);
}

/* Explores the variant of the fastest plan within the profile's own limit in detail: it is
 * better at lower limits, too, by an amount that depends on how densely it is explored. */
static bool
explore_anchored(struct search *x)
{
	struct variant *v = x->found.within_of;
	const struct knobs *knobs = anchor_knobs(x->s);
	if (!v || !knobs)
		return true;
	return explore(v, &x->found.front, knobs, FINELY);
}

/*
 * The time of a pass through all settings, compared with that of the first step of effort.
 * Processor time of MobileNetV2 with --front --effort=7 on ethos-u55-128: 0.3 s for a pass for
 * the smallest plan; 2.3 s, 8.3 s and little for the three steps of the front.
 */
static double
round_cost(bool smallest, int step)
{
	const double small = 0.15, first = 1, denser = 2.5;
	if (smallest)
		return small;
	return step ? denser : first;
}

/* Shows progress.  part: of this round, 0 to 1, coarse and fine exploration together. */
static void
show_round(struct search *x, double part)
{
	progress_show(&x->progress, x->done + part * x->cost, x->all);
}

/* Explores all settings coarsely, then those that gave points in detail. */
static bool
explore_settings(struct search *x)
{
	const double coarse = 0.25; /* part of the time of a round: 1/20 to 1/3 */
	const struct settings l = list_settings(x);
	x->n_explored = 0;
	for (int i = 0; i < l.n; i++) {
		show_round(x, coarse * i / l.n);
		if (!is_futile(x, l.v[i]) && !explore_setting(x, l.v[i]))
			return false;
	}
	bool ok = explore_anchored(x);
	for (size_t i = 0; ok && i < x->n_explored; i++) {
		show_round(x, coarse + (1 - coarse) * (double)i / (double)x->n_explored);
		if (is_on_front(&x->found.front, x->explored[i]))
			ok = explore(x->explored[i], &x->found.front, search_knobs(x->s), FINELY);
	}
	x->done += x->cost;
	return ok;
}

/* Copies of new points of the front, whose places others will take. */
struct points {
	struct point *v;
	size_t n;
};

static void
take_new_point(struct points *l, struct point *p)
{
	if (p->left || p->cycles == 0)
		return;
	p->left = true;
	l->v[l->n++] = *p;
}

static bool
is_among(const struct front *f, const struct point *p)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].sram == p->sram && f->v[i].cycles == p->cycles)
			return true;
	return false;
}

/* Adds new points to l. */
static void
take_new_points(struct search *x, struct points *l)
{
	enum { EXTREMES = 2 };
	struct front *f = &x->found.front;
	struct point *extreme[EXTREMES] = { &f->smallest, &f->lightest };
	struct point *v = anew(x->s->a, struct point, l->n + f->n + EXTREMES + 1);
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	l->v = v;
	for (size_t i = 0; i < f->n; i++)
		take_new_point(l, &f->v[i]);
	for (int i = 0; i < EXTREMES; i++)
		if (!is_among(f, extreme[i]))
			take_new_point(l, extreme[i]);
}

static void
add_points(struct front *f, struct points l)
{
	for (size_t i = 0; i < l.n; i++)
		front_add(f, &l.v[i]);
}

/*
 * Explores the front from an empty one.  Each step of effort begins with an empty front, as
 * points of a denser one have other plans beside them, and takes in the points of the steps
 * below.  Result: all points, in l.
 */
static bool
explore_steps(struct search *x, struct points *l)
{
	struct front *f = &x->found.front;
	const int steps = (x->s->o->effort - 1) / EFFORTS;
	struct points less = *l;
	for (int step = 0; step <= steps; step++) {
		x->s->effort_step = step;
		x->cost = round_cost(f->smallest_within > 0, step);
		less = *l;
		front_clear(f);
		if (!explore_settings(x))
			return false;
		take_new_points(x, l);
	}
	add_points(f, less);
	return true;
}

/* Tries points with more weights in place. */
static bool
leave_all(struct search *x, struct points l)
{
	bool ok = true;
	for (size_t i = 0; ok && i < x->n; i++)
		ok = leave_on_front(x->variant[i], &x->found.front, l.v, l.n);
	return ok;
}

/* Adds to l the plan of the least memory within a limit. */
static bool
explore_smallest(struct search *x, int64_t limit, struct points *l)
{
	struct points found = { .n = 0 };
	struct front *f = &x->found.front;
	f->smallest_within = limit;
	bool ok = explore_steps(x, &found) && leave_all(x, found);
	f->smallest_within = 0;
	struct point *v = anew(x->s->a, struct point, l->n + 1);
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	l->v = v;
	if (f->smallest.cycles > 0)
		l->v[l->n++] = f->smallest;
	return ok;
}

/*
 * With an SRAM of the NPU's own, the smallest plan depends on the limit, as the bytes of both
 * memories count.  Size without another limit gives the smallest plan within the profile's own
 * limit.  That plan is found for every request, so that no limit gives a slower plan.
 */
static bool
explore_all_smallest(struct search *x, int64_t limit, struct points *l)
{
	const int64_t own = x->s->memory.spilling ? profile_limit(x->s) : NO_LIMIT_BYTES;
	if (!x->s->memory.spilling || limit == own)
		return explore_smallest(x, own, l);
	return explore_smallest(x, own, l) && explore_smallest(x, limit, l);
}

/* Does every plan need more than the limit?  False with an SRAM of the NPU's own, where the
 * plan of the least memory need not be that of the least SRAM. */
static bool
is_too_small(const struct search *x, int64_t limit)
{
	const struct point *p = &x->found.front.smallest;
	return !x->s->memory.spilling && p->cycles > 0 && p->sram > limit;
}

/*
 * Finds whether a little more memory than the smallest plan's saves many cycles, by a first
 * look at plans up to a quarter larger.  The smallest plan is still the one taken.
 */
static bool
explore_beside(struct search *x)
{
	const double steep = 0.75;
	const struct settings l = list_settings(x);
	const struct front smallest = x->found.front;
	const struct point least = smallest.smallest;
	struct front *f = &x->found.front;
	bool ok = true;
	if (least.cycles == 0)
		return true;
	*f = (struct front){ .a = smallest.a, .most_total = least.total + least.total / 4 };
	for (int i = 0; ok && i < l.n; i++)
		ok = explore_setting(x, l.v[i]);
	const struct point *p = front_fastest(f, INT64_MAX);
	if (ok && p && p->cycles < steep * least.cycles && p->total > least.total)
		x->s->steep = (struct steep){ .bytes = p->total - least.total,
					      .cycles = p->cycles / least.cycles };
	*f = smallest;
	return ok;
}

/* Sums the rounds: for the smallest plan within one or two limits, and for all plans. */
static void
count_rounds(struct search *x, int goal)
{
	const int small = goal == GOAL_BALANCED ? 0 : x->s->memory.spilling ? 2 : 1;
	x->done = x->all = 0;
	for (int step = 0; step <= (x->s->o->effort - 1) / EFFORTS; step++) {
		x->all += small * round_cost(true, step);
		x->all += goal == GOAL_SIZE ? 0 : round_cost(false, step);
	}
}

bool
explore_all(struct search *x, int64_t limit)
{
	const int goal = asked_goal(x->s);
	struct front *f = &x->found.front;
	f->a = x->s->a;
	f->incumbent = x->s->incumbent;
	add_anchor(f, INT64_MAX, x->s->anchors.fastest);
	add_anchor(f, profile_limit(x->s), x->s->anchors.within);
	struct points small = { .n = 0 }, all = { .n = 0 };
	count_rounds(x, goal);
	if (goal != GOAL_BALANCED && !explore_all_smallest(x, limit, &small))
		return false;
	if (goal == GOAL_SIZE)
		return explore_beside(x);
	if (is_too_small(x, limit))
		return true;
	if (!explore_steps(x, &all))
		return false;
	f->smallest_within = NO_LIMIT_BYTES;
	add_points(f, small);
	f->smallest_within = 0;
	return leave_all(x, all);
}
