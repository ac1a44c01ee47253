/* SPDX-License-Identifier: Apache-2.0 */
/* The front of all plans: every variant is explored. */
#include "run.h"

/* with an SRAM of the NPU's own: as ever more maps leave it, or when all have left */
static bool
explore_spills(struct search *x, struct variant *v, const struct knobs *knobs, bool all)
{
	enum { PATIENCE = 4 }; /* spills in a row that lead to nothing */
	struct arena *a = arena_open();
	const struct spills *l = list_spills(v, a, knobs->spills);
	variant_rest(v);
	bool ok = true;
	for (size_t i = 1, idle = 0; ok && l && i < l->n; i++) {
		if (l->v[i].order != l->v[i - 1].order)
			idle = 0;
		/* all that may leave: the least there is, and the same in any order */
		bool last = i + 1 == l->n || l->v[i + 1].order != l->v[i].order;
		if (all && l->v[i].order != l->v[1].order)
			break;
		if ((idle >= PATIENCE || all) && !last)
			continue;
		const size_t n = x->n;
		struct variant *w = explored_spill(x, v, l, i);
		const struct front before = x->found.front;
		ok = explore(w, &x->found.front, knobs, COARSELY);
		idle = x->found.front.changes == before.changes ? idle + 1 : 0;
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
	/* another layout or objective that leads to nothing leads to nothing with maps
	 * outside either; but without any map inside weights are read in place */
	bool idle = (t.layout || t.objective) && x->found.front.changes == changes;
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
	bool any = f->lightest.recipe.variant == v;
	for (size_t i = 0; i < f->n; i++)
		any |= f->v[i].recipe.variant == v;
	return any;
}

/* another layout or objective of a form that is no better than others in its first one */
static bool
is_futile(const struct search *x, struct setting t)
{
	return x->s->rival.weight > 0 && !x->found.front.n && (t.layout || t.objective);
}

/* what gave the fastest plan within the profile's own limit is better below that, too; how
 * much depends on how densely it is explored */
static bool
explore_anchored(struct search *x)
{
	struct variant *v = x->found.within_of;
	const struct knobs *knobs = anchor_knobs(x->s);
	if (!v || !knobs)
		return true;
	v->s->care = QUICK;
	return explore(v, &x->found.front, knobs, FINELY);
}

/* first all coarsely, then what leads to something in detail */
static bool
explore_settings(struct search *x)
{
	const struct settings l = list_settings(x);
	x->n_explored = 0;
	for (int i = 0; i < l.n; i++)
		if (!is_futile(x, l.v[i]) && !explore_setting(x, l.v[i]))
			return false;
	bool ok = explore_anchored(x);
	for (size_t i = 0; ok && i < x->n_explored; i++)
		if (is_on_front(&x->found.front, x->explored[i]))
			ok = explore(x->explored[i], &x->found.front, search_knobs(x->s), FINELY);
	return ok;
}

/* points of the front that are new, as they are now: others will take their places */
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

/* adds them to l */
static void
take_new_points(struct search *x, struct points *l)
{
	struct front *f = &x->found.front;
	struct point *v = anew(x->s->a, struct point, l->n + f->n + 1);
	bool apart = true;
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	l->v = v;
	for (size_t i = 0; i < f->n; i++) {
		apart &= f->v[i].sram != f->lightest.sram ||
			 f->v[i].cycles != f->lightest.cycles;
		take_new_point(l, &f->v[i]);
	}
	if (apart)
		take_new_point(l, &f->lightest);
}

static void
add_points(struct front *f, struct points l)
{
	for (size_t i = 0; i < l.n; i++)
		front_add(f, &l.v[i]);
}

/*
 * The front from an empty one, of what is lighter than so many times the lightest; 0: of
 * all.  Each step of effort takes in what those below find, each from an empty front, as
 * the points of one that is denser have other plans beside them.  Leaves in l: all points.
 * *least: the front of the first step.
 */
static bool
explore_steps(struct search *x, double heaviest, struct points *l, struct front *least)
{
	struct front *f = &x->found.front;
	const int steps = (x->s->o->effort - 1) / EFFORTS;
	struct points less = *l;
	for (int step = 0; step <= steps; step++) {
		x->s->effort_step = step;
		less = *l;
		front_clear(f);
		f->heaviest = heaviest;
		if (!explore_settings(x))
			return false;
		if (!step)
			*least = *f;
		take_new_points(x, l);
	}
	add_points(f, less);
	return true;
}

/* with other weights in place */
static bool
leave_all(struct search *x, struct points l)
{
	bool ok = true;
	for (size_t i = 0; ok && i < x->n; i++)
		ok = leave_on_front(x->variant[i], &x->found.front, l.v, l.n);
	return ok;
}

bool
explore_all(struct search *x, int64_t limit)
{
	const double heaviest = 1.3;
	struct front *f = &x->found.front;
	f->a = x->s->a;
	f->rival = x->s->rival;
	add_anchor(f, INT64_MAX, x->s->anchors.fastest);
	add_anchor(f, profile_limit(x->s), x->s->anchors.within);
	struct points light = { .n = 0 }, rest = { .n = 0 };
	struct found least = { .s = x->s };
	if (!explore_steps(x, heaviest, &light, &least.front))
		return false;
	/* where nothing was let in, nothing was too heavy: all has been explored; whatever
	 * more effort finds, what less goes on to is not to be missed */
	if (is_lightest_asked(&least, limit) || !light.n)
		return leave_all(x, light);
	if (!explore_steps(x, 0, &rest, &least.front))
		return false;
	add_points(f, light);
	return leave_all(x, light) && leave_all(x, rest);
}
