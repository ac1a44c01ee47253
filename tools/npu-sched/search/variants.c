/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a question of every variant: of each order of operations and each layout, with and without
 * copies by DMA; then, with an SRAM of the NPU's own, of those from which feature maps have left.
 */
#include "../network/copies.h"
#include "run.h"

#include <string.h>

/* ---- variants -------------------------------------------------------------------------- */

void
set_copies(struct search *x, bool copies)
{
	if (!x->s->copies || x->copies == copies)
		return;
	use_copies(x->s, copies);
	study_ops(x->s);
	x->copies = copies;
}

/* Opens a variant, which the search owns, or finds the one of an earlier question.  of: NULL, or
 * the variant from which the feature maps of a spill leave the SRAM. */
static struct variant *
variant_of(struct search *x, struct setting t, const struct variant *of, const struct spill *spill)
{
	const uint64_t set = of ? spill->set : 0;
	set_copies(x, t.copies); /* all variants share the state of copies */
	for (size_t i = 0; i < x->n; i++) {
		struct variant *v = x->variant[i];
		if (v->of == of && v->spill == set && v->setting.copies == t.copies &&
		    v->setting.reordered == t.reordered && v->setting.dense == t.dense)
			return v;
	}
	struct variant *v = variant_open(of ? of->s : x->s,
					 !of && t.reordered ? x->order[t.copies] : NULL);
	v->setting = t;
	v->of = of;
	v->spill = set;
	if (of)
		spill_apply(v->s, spill);
	else
		pack_shallow_maps(v->s, t.dense);
	agrow(x->s->a, x->variant, x->n, &x->cap);
	return x->variant[x->n++] = v;
}

/* Closes v if it was opened last and has given no point. */
static void
drop_variant(struct search *x, const struct variant *v)
{
	if (!v->may_have_points && x->n && x->variant[x->n - 1] == v)
		variant_close(x->variant[--x->n]);
}

/* ---- lists of candidates ---------------------------------------------------------------- */

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

/* TOO_SLOW: no plan of the variant, nor of one from which more feature maps leave the SRAM, can be
 * wanted.  UNFIT: an operation has no block.  FAILED: an error. */
enum listed { LISTED, TOO_SLOW, UNFIT, FAILED };

/*
 * Lists a variant, to be explored with others.  It is explored at once without a limit, for its own
 * fastest plan; until there is an answer, which excludes many candidates; and where cascades are
 * too many to keep.
 */
static enum listed
add_variant(struct search *x, struct variant *v)
{
	/* stripes hardly take fewer cycles than whole operations: no measured network has gained 3 % */
	const double gain = 0.97;
	const struct knobs *k = search_knobs(x->s);
	struct front *own = is_unlimited(&x->front) ? own_front(x, v) : NULL;
	const struct front *f = own ? own : &x->front;
	bool ok = true, fits = v->is_complete || variant_begin(v);
	x->unfit |= !fits;
	if (!fits || !front_may_reach(f, 0, 0, gain * v->cascades->lower_bound)) {
		variant_rest(v);
		return fits ? TOO_SLOW : UNFIT;
	}
	(void)variant_wake(v);
	list_candidates(v, k->steps, f);
	if (own) {
		size_t one = 1;
		ok = explore_lists(&v, &one, own, k);
		if (ok && front_answer(own))
			front_add(&x->front, front_answer(own));
	} else {
		size_t cascades = 0;
		agrow(x->s->a, x->listed, x->n_listed, &x->cap_listed);
		x->listed[x->n_listed++] = v;
		for (size_t i = 0; i < x->n_listed; i++)
			cascades += x->listed[i]->cascades->n_all;
		if (cascades > MOST_CASCADES || !front_answer(&x->front))
			ok = explore_lists(x->listed, &x->n_listed, &x->front, k);
	}
	v->may_have_points |= ok;
	return ok ? LISTED : FAILED;
}

/*
 * With an SRAM of the NPU's own: lists variants of a setting from which more and more feature maps
 * leave, in each order until they are too slow.  Without a limit none needs to leave.  Of the lists
 * of two orders with three layouts, two are enough: with all of them, 56 networks take 0.1 % fewer
 * cycles, and a quarter more time.  Orders with equal layouts are listed together, as they have
 * spills in common.
 */
static bool
list_spilled(struct search *x, struct setting t)
{
	const bool shallow = x->s->n_shallow > 0, bytes = x->front.question.ask == ASK_SMALLEST;
	if (!x->s->memory.spilling || is_unlimited(&x->front) || t.dense != DENSE_NO_SLOWER)
		return true;
	t.dense = shallow && bytes ? DENSE_ALL : t.dense;
	struct setting cheap = t;
	cheap.dense = shallow && !bytes ? DENSE_CHEAP : t.dense;
	struct {
		struct variant *v;
		int by; /* bits of enum spill_by */
	} list[2] = { { .by = BY_NEEDS }, { .by = BY_MAPS } };
	list[0].v = variant_of(x, t, NULL, NULL);
	list[1].v = variant_of(x, cheap, NULL, NULL);
	int n = x->s->effort_step == COARSE_STEP ? 1 : 2;
	if (n == 2 && !layouts_differ(list[0].v->s, list[1].v->s)) {
		list[0].by |= BY_MAPS;
		n = 1;
	}
	bool ok = true;
	for (int k = 0; ok && k < n; k++) {
		struct arena *a = arena_open();
		struct variant *v = list[k].v;
		const struct spills *l = NULL; /* NULL: an operation has no block */
		if (variant_wake(v))
			l = spills_list(v->s, v->cascades, a, list[k].by);
		variant_rest(v);
		const struct spill_order *left = NULL; /* the order that is left */
		for (size_t i = 0; ok && l && i < l->n; i++) {
			const struct spill *w = &l->v[i];
			if (w->order == left || !front_wants(&x->front, w->least, 0, 0))
				continue;
			struct variant *y = variant_of(x, v->setting, v, w);
			const enum listed r = add_variant(x, y);
			ok = r != FAILED;
			if (r != TOO_SLOW)
				continue;
			drop_variant(x, y);
			left = w->order;
		}
		arena_close(a);
	}
	return ok;
}

/*
 * Between two sizes of feature maps, the division of the larger one may not fit the limit, and that of
 * the smaller one takes more cycles.  So the variant of the answer is also divided for the limit
 * itself.  Not before: as an early answer, such a plan excludes candidates that become better.
 */
static bool
explore_limit(struct search *x)
{
	const struct question *q = &x->front.question;
	const struct point *p = front_answer(&x->front);
	size_t one = 1;
	if (!p || q->ask != ASK_FASTEST || q->within == NO_LIMIT_BYTES)
		return true;
	struct variant *v = p->variant;
	if (!variant_wake(v))
		return true;
	list_candidates(v, 0, &x->front);
	return explore_lists(&v, &one, &x->front, search_knobs(x->s));
}

/* ---- improvement, and the steps of effort ------------------------------------------------- */

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

/* Adds the points of a front, and its starts that are not on it and can become faster than the
 * answer. */
static void
take_all(struct points *l, struct arena *a, const struct front *f)
{
	struct front rest = { .v = anew(a, struct point, STARTS) };
	for (size_t i = 0; i < f->n_starts; i++) {
		const struct point *p = &f->start[i];
		bool is_on_front = false;
		for (size_t k = 0; k < f->n; k++)
			is_on_front |= f->v[k].cycles == p->cycles && f->v[k].sram == p->sram;
		if (!is_on_front && p->cycles <= f->question.improvable * front_fewest(f))
			rest.v[rest.n++] = *p;
	}
	take_points(l, a, f);
	take_points(l, a, &rest);
}

/* Improves the points of the front; without a limit, those of all variants' own fronts, in which
 * they are.  The least SRAM is that of a plan with all weights in place, which is always tried. */
static bool
improve_fronts(struct search *x)
{
	struct points l = { .n = 0 };
	if (x->front.question.ask == ASK_LEAST_SRAM)
		return true;
	if (!is_unlimited(&x->front))
		take_all(&l, x->s->a, &x->front);
	for (size_t i = 0; i < x->n; i++) {
		struct variant *v = x->variant[i];
		if (v->front)
			take_all(&l, x->s->a, v->front);
		v->front = NULL;
	}
	for (size_t i = 0; i < l.n; i++)
		front_add(&x->front, &l.v[i]);
	return improve_points(&x->front, l.v, l.n);
}

/*
 * Each step of effort begins with an empty front, as points of a denser one have other plans
 * beside them, and takes in the results of the steps below.  The fastest plans of all may be the
 * answer, too.  A step explores the variants of all settings, those with copies first; then spills.
 */
bool
explore(struct search *x, const struct variant *near, struct question q)
{
	const double denser = 2.5; /* time of a step of effort behind the first one, in times the first's */
	struct sched *s = x->s;
	const int steps = near ? 0 : (s->o->effort - 1) / EFFORTS;
	struct setting v[2 * 2 * 2];
	enum listed r[ARRAY_LEN(v)];
	int n = 0;
	bool ok = true;
	for (int without = !x->may_copy; without < 2; without++)
		for (int order = 0; order < (x->order[!without] ? 2 : 1); order++)
			for (int all = 0; all < (s->n_shallow > 0 ? 2 : 1); all++)
				v[n++] = (struct setting){ !without, order,
							   all ? DENSE_ALL : DENSE_NO_SLOWER };
	if (!near) {
		x->results.n = 0;
		x->done = 0;
		x->all = 1 + denser * steps;
	}
	x->front.a = s->a;
	for (int step = 0; ok && step <= steps; step++) {
		const double cost = step ? denser : 1;
		if (!near)
			s->effort_step = step;
		front_open(&x->front, q);
		for (int i = 0; ok && i < n; i++) {
			struct variant *w = variant_of(x, v[i], NULL, NULL);
			progress_show(&x->progress, x->done + cost * i / (2 * n), x->all);
			r[i] = add_variant(x, w);
			ok = r[i] != FAILED;
			if (r[i] == TOO_SLOW)
				drop_variant(x, w);
		}
		ok = ok && explore_lists(x->listed, &x->n_listed, &x->front, search_knobs(s));
		for (int i = 0; ok && i < n; i++) {
			progress_show(&x->progress, x->done + cost * (n + i) / (2 * n), x->all);
			if (r[i] == LISTED && (!near || (v[i].copies == near->setting.copies &&
							 v[i].reordered == near->setting.reordered)))
				ok = list_spilled(x, v[i]);
		}
		x->done += cost;
		ok = ok && explore_lists(x->listed, &x->n_listed, &x->front, search_knobs(s)) &&
		     explore_limit(x) && improve_fronts(x);
		if (!near)
			take_points(&x->results, s->a, &x->front);
	}
	for (size_t i = 0; !near && i < x->results.n; i++)
		front_add(&x->front, &x->results.v[i]);
	for (size_t i = 0; !near && i < x->fastest.n; i++)
		front_add(&x->front, &x->fastest.v[i]);
	return ok;
}
