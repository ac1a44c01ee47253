/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the fastest plans: of all, and within the limit of the memory profile itself. */
#include "run.h"

#include <math.h>

/*
 * Keeps one of two plans, either of which may be NULL, and closes the other.  Plans that are
 * searched next have to beat both as they were before leave_in_place(), which makes most plans
 * faster.
 */
static struct plan *
keep_plan(struct plan *p, struct plan *q, bool second)
{
	struct plan *kept = second ? q : p;
	if (p && q)
		kept->plain = fmin(p->plain, q->plain);
	plan_close(second ? p : q);
	return kept;
}

/* The faster plan; q if both are as fast. */
static struct plan *
faster_plan(struct plan *p, struct plan *q)
{
	return keep_plan(p, q, q && (!p || q->cycles <= p->cycles));
}

/* Can cascades take fewer cycles than `below`?  Stripes hardly take fewer cycles than whole
 * operations: no measured network has gained 3 %. */
static bool
may_gain(const struct variant *v, double below)
{
	const double gain = 0.97;
	return cascades_bound(v->cascades).lower_bound * gain < below;
}

/* The fastest plan of whole feature maps; NULL: none takes fewer than `below` cycles. */
static struct plan *
search_whole(struct search *x, struct variant *v, int64_t limit, double below,
	     enum detail detail)
{
	if (variant_begin(v))
		return search_fastest(v, limit, below, detail);
	x->unfit = true;
	return NULL;
}

/* The fastest plan with stripes, too: p, or one of fewer than `below` cycles.  Choices that
 * cannot be faster are dropped only without a limit: within one, divisions depend on all
 * choices listed. */
static struct plan *
search_cascades(struct variant *v, struct plan *p, int64_t limit, double below,
		enum detail detail)
{
	/* stripes that are as fast may take less memory: in small networks all are listed */
	enum { FEW_OPS = 4 };
	bool few = p && v->s->n_ops <= FEW_OPS;
	if (few)
		below = nextafter(below, INFINITY);
	if (v->s->e->status || !v->cascades || (!few && !may_gain(v, below)) ||
	    !cascades_add(v->s, v->cascades, below, limit == NO_LIMIT_BYTES))
		return p;
	return faster_plan(p, search_fastest(v, limit, below, detail));
}

/*
 * The fastest plan of another layout or objective than the first one, whose whole feature maps
 * take x->whole cycles.  Cascades are searched only if its own whole feature maps take fewer,
 * and all is searched in detail only if the coarse search has found fewer than `below`.
 */
static struct plan *
search_other(struct search *x, struct variant *v, const struct plan *best,
	     enum detail detail)
{
	double below = best->plain;
	struct plan *p = search_whole(x, v, NO_LIMIT_BYTES, x->whole, COARSELY);
	if (!p)
		return NULL;
	if (p->plain < below) {
		below = p->plain;
	} else if (p->cycles >= best->cycles) {
		plan_close(p);
		p = NULL;
	}
	p = search_cascades(v, p, NO_LIMIT_BYTES, below, COARSELY);
	if (!p || detail != FINELY || v->s->e->status)
		return p;
	below = nextafter(p->plain, INFINITY);
	return faster_plan(p, search_fastest(v, NO_LIMIT_BYTES, below, FINELY));
}

static struct plan *
search_first(struct search *x, struct variant *v, double below, enum detail detail)
{
	struct plan *p = search_whole(x, v, NO_LIMIT_BYTES, below, detail);
	x->whole = p ? p->plain : below;
	return search_cascades(v, p, NO_LIMIT_BYTES, x->whole, detail);
}

static struct plan *
search_variant(struct search *x, struct variant *v, const struct plan *best, double below,
	       enum detail detail)
{
	struct plan *p = best ? search_other(x, v, best, detail)
			      : search_first(x, v, below, detail);
	const double plain = p ? p->plain : 0;
	/* the coarse search asks whether the plan fits the profile's own limit */
	if (p && !v->s->e->status &&
	    (detail == FINELY || may_shrink_to(v, p, profile_limit(v->s))))
		p = shrink(v, p);
	if (p)
		p->plain = plain;
	variant_rest(v);
	return p;
}

/* Closes a variant whose plan lost, unless others may take costs from it (find_like). */
static void
drop_loser(struct search *x, const struct variant *v)
{
	if (v && v->like)
		drop_variant(x, v);
}

/* The fastest plan of the settings from l->v[*i] on that have the same order and use of copies.
 * Leaves *i behind these settings.  NULL: none takes fewer than `below` cycles. */
static struct plan *
search_order(struct search *x, const struct settings *l, int *i, double below,
	     enum detail detail, struct variant **of)
{
	const struct setting first = l->v[*i];
	struct plan *best = NULL;
	for (; *i < l->n && l->v[*i].copies == first.copies &&
	       l->v[*i].reordered == first.reordered && !x->s->e->status; ++*i) {
		struct variant *v = open_setting(x, l->v[*i]);
		struct plan *p = search_variant(x, v, best, below, detail);
		const bool faster = p && (!best || p->cycles < best->cycles);
		*of = faster ? v : *of;
		best = keep_plan(best, p, faster);
		if (!faster)
			drop_loser(x, v);
	}
	return best;
}

/* A plan must take fewer cycles than this to be as fast as the best plan of another rewrite. */
static double
cycles_to_beat(const struct search *x)
{
	return x->s->below > 0 ? nextafter(x->s->below, INFINITY) : INFINITY;
}

/* No bound for networks of few weights, where leave_in_place() may make any plan faster. */
static double
plain_to_beat(const struct search *x)
{
	return has_few_weights(x->s) ? INFINITY : cycles_to_beat(x);
}

/* Does p take fewer cycles than the fastest plan so far, or as many in fewer bytes? */
static bool
is_better_order(const struct search *x, const struct plan *p)
{
	const struct plan *q = x->found.fastest;
	return !q || p->cycles < q->cycles ||
	       (p->cycles == q->cycles && peak_of(x->s, p) < peak_of(x->s, q));
}

/* Finds the fastest plan of all orders; ties go to the smallest. */
static void
search_orders(struct search *x, enum detail detail)
{
	const struct settings l = list_settings(x);
	for (int i = 0; i < l.n && !x->s->e->status;) {
		struct variant *v = NULL;
		double most = x->found.fastest ? nextafter(x->found.fastest->plain, INFINITY)
					       : plain_to_beat(x);
		struct plan *p = search_order(x, &l, &i, most, detail, &v);
		const bool better = p && is_better_order(x, p);
		x->found.fastest_of = better ? v : x->found.fastest_of;
		x->found.fastest = keep_plan(x->found.fastest, p, better);
		if (!better)
			drop_loser(x, v);
	}
}

bool
is_hopeless(const struct search *x)
{
	const double most = cycles_to_beat(x);
	const struct plan *p = x->found.fastest, *q = x->found.within;
	return most < INFINITY && (!p || p->cycles >= most) && (!q || q->cycles >= most);
}

/* The spills next to the best one of the settings before; if there is none, all spills. */
static struct g_range
pick_spills(const struct search *x, const struct spills *l)
{
	enum { BESIDE = 2 };
	int64_t n = l ? (int64_t)l->n : 0;
	if (!x->found.within)
		return (struct g_range){ .lo = 0, .hi = n };
	return (struct g_range){ .lo = max_i64(x->spill - BESIDE, 0),
				 .hi = min_i64(x->spill + BESIDE + 1, n) };
}

/* Is the estimate of a spill's best division near the least one that led to a plan? */
static bool
is_promising(const struct search *x, double estimate)
{
	return estimate == INFINITY || estimate <= x->estimate * ESTIMATES_APART;
}

/* The fastest plan of v, or of a spill of it.  The cascades of v are listed already if its
 * spills were listed by them. */
static struct plan *
search_spill(struct search *x, struct variant *v, int64_t limit, double below)
{
	struct plan *p = NULL;
	if (!v->cascades) {
		p = search_whole(x, v, limit, below, FINELY);
		below = p ? p->plain : below;
		if (v->s->e->status || !may_gain(v, below) ||
		    !cascades_add(v->s, v->cascades, below, false))
			return p;
	}
	if (!may_gain(v, below))
		return p;
	const double estimate = cascades_estimate(v->s, v->cascades, limit, false);
	if (!is_promising(x, estimate))
		return p;
	struct plan *q = search_fastest(v, limit, below, FINELY);
	if (q)
		x->estimate = fmin(x->estimate, estimate);
	return faster_plan(p, q);
}

/* Searches v and its spills within the profile's own limit.  Result: x->found.within. */
static void
search_within(struct search *x, struct variant *v, int64_t limit)
{
	enum { SPILLS = 18 }; /* as in struct knobs, for any effort */
	struct arena *a = arena_open();
	const struct spills *l = list_spills(v, a, SPILLS);
	const struct g_range some = pick_spills(x, l);
	for (int64_t i = some.lo; i < some.hi && !x->s->e->status; i++) {
		struct variant *w = i ? open_spill(x, v, l, (size_t)i) : v;
		const struct plan *best = x->found.within;
		double below = best ? best->plain : plain_to_beat(x);
		struct plan *p = search_spill(x, w, limit, below);
		variant_rest(w);
		const bool faster = p && (!best || p->cycles < best->cycles);
		x->found.within = keep_plan(x->found.within, p, faster);
		if (faster) {
			x->spill = i;
			x->found.within_of = w;
		} else if (i) {
			drop_variant(x, w);
		}
	}
	arena_close(a);
}

/* Closes the fastest plan and the variants opened last, up to one from which others may take
 * costs. */
static void
forget_fastest(struct search *x)
{
	plan_close(x->found.fastest);
	x->found.fastest = NULL;
	x->found.fastest_of = NULL;
	while (x->n && x->variant[x->n - 1]->like)
		drop_loser(x, x->variant[x->n - 1]);
}

static bool
fits(const struct search *x, int64_t limit)
{
	return x->found.fastest && peak_of(x->s, x->found.fastest) <= limit;
}

/* Is the fastest plan of all larger than the limit?  True if the best division takes `apart`
 * times the estimated cycles within the limit: no measured network then had a fastest plan that
 * fits.  Leaves the cascades of v. */
static bool
is_beyond(struct variant *v, int64_t limit)
{
	const double apart = 1.02;
	if (!variant_begin(v) || cascades_whole_peak(v->cascades) <= limit)
		return false;
	variant_add_cascades(v);
	double free = cascades_estimate(v->s, v->cascades, NO_LIMIT_BYTES, true);
	return cascades_estimate(v->s, v->cascades, limit, true) > apart * free;
}

/* Do whole feature maps and all weights fit at once?  Then no coarse search is needed to find
 * whether the fastest plan fits. */
static bool
everything_fits(const struct variant *v, int64_t limit)
{
	int64_t bytes = cascades_whole_peak(v->cascades);
	for (int i = 0; i < v->s->n_ops && bytes <= limit; i++) {
		struct weights_size w = whole_size(v->s, i);
		bytes += w.stream + w.scales;
	}
	return bytes <= limit;
}

/* Finds the fastest plans: of all, and within the profile's own limit. */
static void
find_anchors(struct search *x)
{
	int64_t limit = profile_limit(x->s);
	bool limited = limit < NO_LIMIT_BYTES;
	const struct settings l = list_settings(x);
	struct variant *first = NULL;
	bool searched = true; /* the fastest of all, than which none is faster within a limit */
	if (limited && is_limit_asked(x->s, limit)) {
		first = open_setting(x, l.v[0]);
		searched = !is_beyond(first, limit);
		bool all = searched && everything_fits(first, limit);
		variant_rest(first);
		if (searched)
			search_orders(x, all ? FINELY : COARSELY);
		if (!all && fits(x, limit)) {
			forget_fastest(x);
			search_orders(x, FINELY);
		}
	} else {
		search_orders(x, FINELY);
	}
	if (!limited || fits(x, limit) || (searched && is_hopeless(x)))
		return;
	for (int i = 0; i < l.n && !x->s->e->status; i++)
		search_within(x, !i && first ? first : open_setting(x, l.v[i]), limit);
	if (x->found.within && !has_few_weights(x->s))
		(void)leave_in_place(x->found.within_of->s, x->found.within, limit);
}

void
search_anchors(struct search *x)
{
	find_anchors(x);
	const struct plan *p = x->found.fastest, *q = x->found.within;
	x->s->anchors = (struct anchors){ .fastest = p ? p->cycles : 0,
					  .within = q ? q->cycles : 0 };
}

bool
may_beat(struct search *x)
{
	const double below = cycles_to_beat(x);
	const struct settings l = list_settings(x);
	bool any = below == INFINITY;
	for (int i = 0; i < l.n && !any; i++) {
		struct variant *v = open_setting(x, l.v[i]);
		any = !variant_begin(v) || cascades_bound(v->cascades).lower_bound < below ||
		      (may_gain(v, below) &&
		       cascades_add(v->s, v->cascades, below, true));
		drop_variant(x, v);
	}
	return any;
}
