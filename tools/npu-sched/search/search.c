/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search: the fastest plan, and where that does not answer what is asked, the
 * front of all plans.  Limits, the least weight and the longest time only pick from
 * it (npu-sched-search(7)).
 */
#include "search.h"

#include <math.h>

struct search {
	struct sched *s;
	/* the graph with copies by the DMA engine, and without; and for each the order
	 * that needs less memory than its own, or NULL */
	bool may_copy, copies;
	int *order[2];
	struct variant **variant;
	size_t n, cap;
	bool unfit; /* an operation has no block */
	double whole; /* cycles of whole maps in an order's first setting */
	struct found found;
	int64_t way; /* in which maps left for found.within */
	double estimate; /* the least for the profile's own limit */
};

/* what plans may share, but for the areas of maps */
struct setting {
	bool copies, reordered;
	int layout; /* as pack_shallow_maps takes it */
	int objective;
};

static struct variant *
keep_variant(struct search *x, struct variant *v)
{
	agrow(x->s->a, x->variant, x->n, &x->cap);
	x->variant[x->n++] = v;
	return v;
}

/* the last one that was opened, if nothing came of it */
static void
drop_variant(struct search *x, const struct variant *v)
{
	if (x->n && x->variant[x->n - 1] == v)
		variant_close(x->variant[--x->n]);
}

/* the graph with copies or without: variants are made of it as it is */
static void
set_copies(struct search *x, bool copies)
{
	if (!x->s->copies || x->copies == copies)
		return;
	use_copies(x->s, copies);
	restudy_ops(x->s);
	x->copies = copies;
}

static struct variant *
open_setting(struct search *x, struct setting t)
{
	set_copies(x, t.copies);
	struct variant *v = variant_open(x->s, t.reordered ? x->order[t.copies] : NULL);
	v->copies = t.copies;
	v->s->objective = (enum block_objective)t.objective;
	v->layout = t.layout;
	v->s->care = TRY;
	pack_shallow_maps(v->s, t.layout);
	return keep_variant(x, v);
}

/* all that there are, those with copies first */
struct settings {
	struct setting v[2 * 2 * 2 * BLOCK_OBJECTIVES];
	int n;
};

/* maps with padded bricks are tried without them, too */
static int
count_layouts(const struct search *x)
{
	return x->s->n_shallow > 0 ? 2 : 1;
}

/* among few weights it matters how finely they can be cut and how often they are read */
static int
count_objectives(const struct search *x)
{
	return weights_move(x->s) && has_few_weights(x->s) ? BLOCK_OBJECTIVES : 1;
}

static struct settings
list_settings(const struct search *x)
{
	struct settings l = { .n = 0 };
	for (int without = !x->may_copy; without < 2; without++)
		for (int order = 0; order < (x->order[!without] ? 2 : 1); order++)
			for (int i = 0; i < count_layouts(x); i++)
				for (int k = 0; k < count_objectives(x); k++)
					l.v[l.n++] = (struct setting){ !without, order, i, k };
	return l;
}

/*
 * One of two plans, of which either may be NULL.  What is searched next has to beat both
 * as they were before other weights stayed in place: that makes most plans faster.
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

/* q of two that are as fast */
static struct plan *
faster_plan(struct plan *p, struct plan *q)
{
	return keep_plan(p, q, q && (!p || q->cycles <= p->cycles));
}

/* can cascades take fewer cycles than `below`, where whole operations take what they do?
 * stripes hardly take fewer: none of the networks measured has gained so much */
static bool
may_gain(const struct variant *v, double below)
{
	const double gain = 0.97;
	return cascades_bound(v->cascades).lower_bound * gain < below;
}

/* the fastest plan of whole maps; NULL: none takes fewer cycles than `below` */
static struct plan *
search_whole(struct search *x, struct variant *v, int64_t limit, double below,
	     enum detail detail)
{
	if (variant_begin(v))
		return search_fastest(v, limit, below, detail);
	x->unfit = true;
	return NULL;
}

/* of cascades, too: p, or one that takes fewer cycles than `below`.  Those that can't be
 * faster are left out only where there is no limit: with others, divisions are others */
static struct plan *
search_cascades(struct variant *v, struct plan *p, int64_t limit, double below,
		enum detail detail)
{
	/* stripes that are as fast may take less memory: all are listed where they are few */
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
 * The same of another layout or objective than one that was searched, whose whole maps
 * take x->whole cycles: cascades are looked at where its own whole maps take fewer, and
 * all of it in detail where the first look has found fewer than `below`.
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
	/* a coarse look asks whether it fits the profile's own limit */
	if (p && !v->s->e->status &&
	    (detail == FINELY || may_shrink_to(v, p, profile_limit(v->s))))
		p = shrink(v, p);
	if (p)
		p->plain = plain;
	variant_rest(v);
	return p;
}

/* the fastest of those from l->v[*i] on that have its order, and its copies or none; *i:
 * behind them.  NULL: none takes fewer cycles than `below` */
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
	}
	return best;
}

/* what another form's plan takes, or fewer */
static double
cycles_to_beat(const struct search *x)
{
	return x->s->below > 0 ? nextafter(x->s->below, INFINITY) : INFINITY;
}

/* fewer cycles; of as many fewer bytes, of as many less contention for memory.  of: p's */
static bool
is_better_order(const struct search *x, struct variant *of, struct plan *p)
{
	const struct plan *q = x->found.fastest;
	int64_t more = q ? peak_of(of->s, p) - peak_of(x->s, q) : 0;
	p->contention = plan_contention(of->s, p);
	if (!q || p->cycles != q->cycles)
		return !q || p->cycles < q->cycles;
	return more < 0 || (more == 0 && p->contention < q->contention);
}

/* the fastest plan of all, then the smallest of the orders */
static void
search_orders(struct search *x, enum detail detail)
{
	const struct settings l = list_settings(x);
	for (int i = 0; i < l.n && !x->s->e->status;) {
		struct variant *v = NULL;
		double most = x->found.fastest ? nextafter(x->found.fastest->plain, INFINITY)
					       : cycles_to_beat(x);
		struct plan *p = search_order(x, &l, &i, most, detail, &v);
		const bool better = p && is_better_order(x, v, p);
		x->found.fastest_of = better ? v : x->found.fastest_of;
		x->found.fastest = keep_plan(x->found.fastest, p, better);
	}
}

/* another form's plan is faster than any that was found */
static bool
is_hopeless(const struct search *x)
{
	return x->s->below > 0 && !x->found.fastest && !x->found.within;
}

/* a variant of v with what some way lets leave the SRAM */
static struct variant *
open_spill(struct search *x, const struct variant *v, const struct spills *l, size_t way)
{
	struct variant *w = keep_variant(x, variant_open(v->s, NULL));
	w->copies = v->copies;
	w->reordered = v->reordered;
	w->layout = v->layout;
	spills_apply(w->s, l, way);
	pack_left_maps(w->s);
	return w;
}

/* leaves all cascades of v */
static const struct spills *
list_spills(struct variant *v, struct arena *a, int steps)
{
	if (!v->cascades && !variant_begin(v))
		return NULL;
	variant_add_cascades(v);
	return spills_list(v->s, v->cascades, a, steps);
}

/* of ways to let maps leave, those beside the best one of the settings before; where
 * there is none, all */
static struct g_range
list_ways(const struct search *x, const struct spills *l)
{
	enum { BESIDE = 2 };
	int64_t n = l ? (int64_t)l->n : 0;
	if (!x->found.within)
		return (struct g_range){ .lo = 0, .hi = n };
	return (struct g_range){ .lo = max_i64(x->way - BESIDE, 0),
				 .hi = min_i64(x->way + BESIDE + 1, n) };
}

/* does v's best division promise as much as that of the ways before? */
static bool
is_promising(struct search *x, const struct variant *v, int64_t limit)
{
	double estimate = cascades_estimate(v->s, v->cascades, limit, false);
	if (estimate == INFINITY)
		return true;
	x->estimate = fmin(x->estimate, estimate);
	return estimate <= x->estimate * estimates_apart(x->s);
}

/* of v, or a way to let maps of it leave; v's cascades are there where its ways were
 * listed by them */
static struct plan *
search_way(struct search *x, struct variant *v, int64_t limit, double below)
{
	struct plan *p = NULL;
	if (!v->cascades) {
		p = search_whole(x, v, limit, below, FINELY);
		below = p ? p->plain : below;
		if (v->s->e->status || !may_gain(v, below) ||
		    !cascades_add(v->s, v->cascades, below, false))
			return p;
	}
	if (!may_gain(v, below) || !is_promising(x, v, limit))
		return p;
	return faster_plan(p, search_fastest(v, limit, below, FINELY));
}

/* the fastest plan of v within the profile's own limit becomes x->found.within */
static void
search_within(struct search *x, struct variant *v, int64_t limit)
{
	struct arena *a = arena_open();
	const struct spills *l = list_spills(v, a, search_knobs(x->s)->anchor_spills);
	const struct g_range ways = list_ways(x, l);
	for (int64_t i = ways.lo; i < ways.hi && !x->s->e->status; i++) {
		struct variant *w = i ? open_spill(x, v, l, (size_t)i) : v;
		const struct plan *best = x->found.within;
		double below = best ? best->plain : cycles_to_beat(x);
		struct plan *p = search_way(x, w, limit, below);
		variant_rest(w);
		const bool faster = p && (!best || p->cycles < best->cycles);
		x->found.within = keep_plan(x->found.within, p, faster);
		if (faster) {
			x->way = i;
			x->found.within_of = w;
		} else if (i) {
			drop_variant(x, w);
		}
	}
	arena_close(a);
}

/* with an SRAM of the NPU's own: as ever more maps leave it, or when all have left */
static bool
explore_spills(struct search *x, struct variant *v, const struct knobs *knobs, bool all)
{
	enum { PATIENCE = 4 }; /* ways in a row that lead to nothing */
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
		struct variant *w = open_spill(x, v, l, i);
		unsigned changes = x->found.front.changes;
		ok = explore(w, &x->found.front, knobs, COARSELY);
		idle = x->found.front.changes == changes ? idle + 1 : 0;
		if (idle)
			drop_variant(x, w);
	}
	arena_close(a);
	return ok;
}

static bool
explore_setting(struct search *x, struct setting t)
{
	struct variant *v = open_setting(x, t);
	const struct knobs *knobs = search_knobs(x->s);
	unsigned changes = x->found.front.changes;
	v->s->care = QUICK;
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

/* first all coarsely, then what leads to something in detail */
static bool
explore_settings(struct search *x)
{
	const struct settings l = list_settings(x);
	const size_t first = x->n;
	for (int i = 0; i < l.n; i++)
		if (!is_futile(x, l.v[i]) && !explore_setting(x, l.v[i]))
			return false;
	bool ok = true;
	for (size_t i = first; ok && i < x->n; i++)
		if (is_on_front(&x->found.front, x->variant[i]))
			ok = explore(x->variant[i], &x->found.front, search_knobs(x->s), FINELY);
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

static struct points
take_new_points(struct search *x)
{
	struct front *f = &x->found.front;
	struct points l = { .v = anew(x->s->a, struct point, f->n + 1) };
	bool apart = true;
	for (size_t i = 0; i < f->n; i++) {
		apart &= f->v[i].sram != f->lightest.sram ||
			 f->v[i].cycles != f->lightest.cycles;
		take_new_point(&l, &f->v[i]);
	}
	if (apart)
		take_new_point(&l, &f->lightest);
	return l;
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

/*
 * First what may be the lightest: of 186 rows (62 networks on ethos-u55-128, ethos-u65-256
 * and -512) two have one that the whole front alone does not lead to, none a heavier one,
 * in less than half of the time.  Then all, whatever the limit is, from an empty front: by
 * one with points whole kinds of plans would lead to nothing new, and not be followed.  The
 * first ones are added, so that the lightest is a point of every front.
 */
static bool
explore_all(struct search *x, int64_t limit)
{
	const double heaviest = 1.3;
	struct front *f = &x->found.front;
	f->a = x->s->a;
	f->rival = x->s->rival;
	add_anchor(f, INT64_MAX, x->s->anchors.fastest);
	add_anchor(f, profile_limit(x->s), x->s->anchors.within);
	f->heaviest = heaviest;
	if (!explore_settings(x))
		return false;
	const struct points light = take_new_points(x);
	if (is_lightest_asked(&x->found, limit))
		return leave_all(x, light);
	front_clear(f);
	if (!explore_settings(x))
		return false;
	for (size_t i = 0; i < light.n; i++)
		front_add(f, &light.v[i]);
	const struct points rest = take_new_points(x);
	return leave_all(x, light) && leave_all(x, rest);
}

static bool
fits(const struct search *x, int64_t limit)
{
	return x->found.fastest && peak_of(x->s, x->found.fastest) <= limit;
}

/* is the fastest plan of all larger than the limit?  By estimates of divisions; of the
 * networks that were measured none was within it where they are so far apart.  Leaves v's
 * cascades */
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

/* for whole maps and all weights at once?  then nobody has to look first whether the
 * fastest plan fits */
static bool
has_room_for_all(const struct variant *v, int64_t limit)
{
	int64_t bytes = cascades_whole_peak(v->cascades);
	for (int i = 0; i < v->s->n_ops && bytes <= limit; i++) {
		struct weights_size w = whole_size(v->s, i);
		bytes += w.stream + w.scales;
	}
	return bytes <= limit;
}

/* the fastest plans: of all, and within the profile's own limit */
static void
find_anchors(struct search *x)
{
	int64_t limit = profile_limit(x->s);
	bool limited = limit < NO_LIMIT_BYTES;
	const struct settings l = list_settings(x);
	struct variant *first = NULL;
	bool searched = true; /* for the fastest of all: within a limit none is faster */
	if (limited && is_limit_asked(x->s, limit)) {
		first = open_setting(x, l.v[0]);
		searched = !is_beyond(first, limit);
		bool all = searched && has_room_for_all(first, limit);
		if (searched)
			search_orders(x, all ? FINELY : COARSELY);
		if (!all && fits(x, limit)) {
			plan_close(x->found.fastest);
			x->found.fastest = NULL;
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

static void
search_anchors(struct search *x)
{
	find_anchors(x);
	const struct plan *p = x->found.fastest, *q = x->found.within;
	x->s->anchors = (struct anchors){ .fastest = p ? p->cycles : 0,
					  .within = q ? q->cycles : 0 };
}

static bool
give_up(const struct search *x)
{
	return err_no(x->s->e, "%s: error: another form of it is better", x->s->g->file);
}

static bool
search_all(struct search *x)
{
	struct sched *s = x->s;
	int64_t limit = limit_of(s->memory.cache_bytes);
	/* of the plain form, where this is another: Size's plan is not to be faster */
	if (s->anchors.fastest == 0)
		search_anchors(x);
	if (s->e->status)
		return false;
	if (x->unfit && !x->found.fastest)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
			      "fits the SHRAM of %s", s->accel->name);
	if (is_hopeless(x))
		return give_up(x);
	if (!is_anchor_asked(&x->found, limit) && !explore_all(x, limit))
		return false;
	if (s->o->front || s->o->explain)
		list_front(&x->found);
	if (s->o->front)
		return true;
	if (s->rival.weight > 0 && !x->found.front.n)
		return give_up(x);
	return take_found(&x->found, limit);
}

static bool
find_copies(struct search *x)
{
	x->may_copy = x->s->copies && weigh_copies(x->s);
	x->copies = true; /* those that pay are in use from the next time on */
	return !x->s->e->status;
}

/* of the graph with the copies that pay, and without any */
static bool
find_orders(struct search *x)
{
	for (int copies = 0; copies < (x->may_copy ? 2 : 1); copies++) {
		set_copies(x, copies);
		x->order[copies] = find_order(x->s);
	}
	return !x->s->e->status;
}

/* can it be faster than another form's plan?  as far as bounds of its divisions tell, in the
 * graph's order: to look for another one takes longer, and changes few of them */
static bool
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
	return any || give_up(x);
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e, "the graph is scheduled "
				 "already; npu-sched takes what tfl-partition wrote");
	struct search x = { .s = s, .copies = s->copies != NULL, .estimate = INFINITY,
			    .found.s = s };
	forget_blocks(s);
	bool ok = measure_whole(s) && find_copies(&x) && may_beat(&x) && find_orders(&x) &&
		  search_all(&x);
	plan_close(x.found.fastest);
	plan_close(x.found.within);
	while (x.n > 0)
		variant_close(x.variant[--x.n]);
	return ok;
}
