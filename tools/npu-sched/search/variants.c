/* SPDX-License-Identifier: Apache-2.0 */
/* Asks a question of every variant. */
#include "run.h"

#include <string.h>

/*
 * The front of one variant alone, for a question without a limit: improvement may make the plan
 * of one variant faster than that of another which was faster before, or smaller than one that
 * is as fast.  Plans much slower than the fastest of all variants are not wanted.
 */
static struct front *
own_front(struct search *x, struct variant *v)
{
	const double apart = 1.03;
	const struct point *p = front_answer(&x->front);
	if (!v->front) {
		v->front = anew(x->s->a, struct front, 1);
		v->front->a = x->s->a;
		front_open(v->front, x->front.question);
		v->front->seen = x->front.seen;
	}
	double *slowest = &v->front->question.slowest;
	if (p && (*slowest == 0 || apart * p->cycles < *slowest))
		*slowest = apart * p->cycles;
	return v->front;
}

/* Explores all variants that are listed. */
static bool
explore_listed(struct search *x)
{
	const size_t n = x->n_listed;
	x->n_listed = x->cascades = 0;
	return explore_lists(x->listed, n, &x->front, search_knobs(x->s));
}

/* Lists a variant, to be explored with others.  Until there is an answer, which excludes many
 * candidates, and where cascades are too many to keep, it is explored at once. */
static enum listed
list_for_all(struct search *x, struct variant *v)
{
	const enum listed r = list_variant(v, &x->front, search_knobs(x->s));
	if (r != LISTED)
		return r;
	agrow(x->s->a, x->listed, x->n_listed, &x->cap_listed);
	x->listed[x->n_listed++] = v;
	x->cascades += v->cascades->n_all;
	const bool waits = x->cascades <= MOST_CASCADES && front_answer(&x->front);
	return waits || explore_listed(x) ? LISTED : FAILED;
}

/* Explores a variant for its own fastest plan. */
static enum listed
explore_alone(struct search *x, struct variant *v)
{
	struct front *f = own_front(x, v);
	const enum listed r = list_variant(v, f, search_knobs(x->s));
	if (r != LISTED)
		return r;
	if (!explore_lists(&v, 1, f, search_knobs(x->s)))
		return FAILED;
	const struct point *p = front_answer(f);
	if (p)
		front_add(&x->front, p);
	return LISTED;
}

/* Lists a variant for the question, or explores it if there is no limit. */
static enum listed
add_variant(struct search *x, struct variant *v)
{
	const enum listed r = is_unlimited(&x->front) ? explore_alone(x, v) : list_for_all(x, v);
	x->unfit |= r == UNFIT;
	v->may_have_points |= r == LISTED;
	return r;
}

/* With an SRAM of the NPU's own: lists variants from which more and more feature maps leave, in
 * each order until they are too slow.  by: bits of enum spill_by. */
static bool
list_spilled(struct search *x, struct setting t, int by)
{
	struct arena *a = arena_open();
	struct variant *v = variant_of_setting(x, t);
	const struct spills *l = NULL; /* NULL: an operation has no block */
	if (variant_wake(v))
		l = spills_list(v->s, v->cascades, a, by);
	variant_rest(v);
	bool ok = true;
	const struct spill_order *left = NULL; /* the order that is left */
	for (size_t i = 0; ok && l && i < l->n; i++) {
		const struct spill *w = &l->v[i];
		if (w->order == left || !front_wants(&x->front, w->least, 0, 0))
			continue;
		struct variant *y = variant_of_spill(x, v, l, i);
		const enum listed r = add_variant(x, y);
		ok = r != FAILED;
		if (r != TOO_SLOW)
			continue;
		drop_variant(x, y);
		left = w->order;
	}
	arena_close(a);
	return ok;
}

/*
 * Lists variants of a setting from which feature maps leave the SRAM.  Without a limit none needs
 * to.  Of the lists of two orders with three layouts, two are enough: with all of them, 56 networks
 * take 0.1 % fewer cycles, and a quarter more time.  Orders with equal layouts are listed together,
 * as they have spills in common.
 */
static bool
list_all_spilled(struct search *x, struct setting t)
{
	if (!x->s->memory.spilling || is_unlimited(&x->front) || t.dense != DENSE_NO_SLOWER)
		return true;
	const bool shallow = x->s->n_shallow > 0, bytes = x->front.question.ask == ASK_SMALLEST;
	if (shallow && bytes)
		t.dense = DENSE_ALL;
	struct setting cheap = t;
	if (shallow && !bytes)
		cheap.dense = DENSE_CHEAP;
	const struct variant *v = variant_of_setting(x, t), *w = variant_of_setting(x, cheap);
	if (x->s->effort_step == COARSE_STEP)
		return list_spilled(x, t, BY_NEEDS);
	if (!layouts_differ(v->s, w->s))
		return list_spilled(x, t, BY_MAPS | BY_NEEDS);
	return list_spilled(x, t, BY_NEEDS) && list_spilled(x, cheap, BY_MAPS);
}

/* The time of a step of effort behind the first one, compared with that of the first. */
static const double DENSER = 2.5;

/* Is it a setting with the order of v? */
static bool
is_near(struct setting t, const struct variant *v)
{
	return t.copies == v->setting.copies && t.reordered == v->setting.reordered;
}

/* Explores all variants; with spills only of the settings with the order of `near`, if it is
 * named. */
static bool
explore_variants(struct search *x, const struct variant *near)
{
	const struct settings l = list_settings(x);
	enum listed r[ARRAY_LEN(l.v)];
	bool ok = true;
	for (int i = 0; ok && i < l.n; i++) {
		struct variant *v = variant_of_setting(x, l.v[i]);
		progress_show(&x->progress, x->done + x->cost * i / (2 * l.n), x->all);
		r[i] = add_variant(x, v);
		ok = r[i] != FAILED;
		if (r[i] == TOO_SLOW)
			drop_variant(x, v);
	}
	ok = ok && explore_listed(x);
	for (int i = 0; ok && i < l.n; i++) {
		const struct setting t = l.v[i];
		progress_show(&x->progress, x->done + x->cost * (l.n + i) / (2 * l.n), x->all);
		if (r[i] == LISTED && (!near || is_near(t, near)))
			ok = list_all_spilled(x, t);
	}
	x->done += x->cost;
	return ok && explore_listed(x);
}

void
take_points(struct points *l, struct arena *a, const struct front *f)
{
	struct point *v = anew(a, struct point, l->n + f->n + 1);
	if (l->n)
		memcpy(v, l->v, l->n * sizeof(*v));
	if (f->n)
		memcpy(v + l->n, f->v, f->n * sizeof(*v));
	l->v = v;
	l->n += f->n;
	if (f->best.is_set)
		l->v[l->n++] = f->best;
}

static bool
is_on_front(const struct front *f, const struct point *p)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].cycles == p->cycles && f->v[i].sram == p->sram)
			return true;
	return false;
}

/* Adds the starts that are not on the front and can become faster than the answer. */
static void
take_starts(struct points *l, struct arena *a, const struct front *f)
{
	struct front rest = { .v = anew(a, struct point, STARTS) };
	for (size_t i = 0; i < f->n_starts; i++)
		if (!is_on_front(f, &f->start[i]) &&
		    f->start[i].cycles <= IMPROVABLE * front_fewest(f))
			rest.v[rest.n++] = f->start[i];
	take_points(l, a, &rest);
}

void
add_points(struct front *f, const struct points *l)
{
	for (size_t i = 0; i < l->n; i++)
		front_add(f, &l->v[i]);
}

/* Improves the points of the front; without a limit, those of all variants' own fronts, in which
 * they are.  The least SRAM is that of a plan with all weights in place, which is always tried. */
static bool
improve_fronts(struct search *x)
{
	struct points l = { .n = 0 };
	if (x->front.question.ask == ASK_LEAST_SRAM)
		return true;
	if (!is_unlimited(&x->front)) {
		take_points(&l, x->s->a, &x->front);
		take_starts(&l, x->s->a, &x->front);
	}
	for (size_t i = 0; i < x->n; i++) {
		struct variant *v = x->variant[i];
		if (v->front) {
			take_points(&l, x->s->a, v->front);
			take_starts(&l, x->s->a, v->front);
		}
		v->front = NULL;
	}
	add_points(&x->front, &l);
	return improve_points(&x->front, l.v, l.n);
}

/*
 * Each step of effort begins with an empty front, as points of a denser one have other plans
 * beside them, and takes in the results of the steps below.
 */
bool
explore_all(struct search *x, struct question q)
{
	const int steps = (x->s->o->effort - 1) / EFFORTS;
	bool ok = true;
	x->results.n = 0;
	x->done = 0;
	x->all = 1 + DENSER * steps;
	x->front.a = x->s->a;
	for (int step = 0; ok && step <= steps; step++) {
		x->s->effort_step = step;
		x->cost = step ? DENSER : 1;
		front_open(&x->front, q);
		ok = explore_variants(x, NULL) && improve_fronts(x);
		take_points(&x->results, x->s->a, &x->front);
	}
	add_points(&x->front, &x->results);
	return ok;
}

bool
explore_near(struct search *x, const struct variant *v, struct question q)
{
	front_open(&x->front, q);
	return explore_variants(x, v) && improve_fronts(x);
}
