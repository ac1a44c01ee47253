/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One search for every case.  Plans differ in how much memory feature maps may
 * take (what they leave is room for weights) and in how finely weights are cut.
 * All are costed by the same clocks with estimated sizes; for the best few the
 * encoder's exact sizes decide; among equals the smallest wins.
 */
#include "sched.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { NO_LIMIT_BYTES = 1 << 30, MAX_CANDIDATES = 256 };

static const struct policy {
	int64_t target; /* bytes of a slice to aim for; 0: weights are not cut */
	bool eager;	/* weights that are late are waited for, not read in place */
	bool slide;	/* results may slide over operands: less, but harder to pack */
} policies[] = {
	{ .target = 0 },
	{ .target = 32768 },
	{ .target = 4096 },
	{ .target = 0, .eager = true },
	{ .target = 12288, .eager = true },
	{ .target = 0, .slide = true },
	{ .target = 12288, .slide = true },
	{ .target = 4096, .slide = true },
};

/* how a plan is made, and what it promised with estimated sizes */
struct idea {
	int64_t maps, limit; /* bytes for maps, for all */
	struct policy policy;
	double cycles;
	int64_t need;
	size_t n_kernels, number;
};

struct search {
	struct sched *s;
	struct chains *chains;
	int64_t least;	/* bytes that feature maps need at least */
	int lower;	/* limits below the one asked for to search at most */
	struct idea v[MAX_CANDIDATES];
	size_t n;
};

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->rolling = anew(a, int32_t, n);
	p->band = anew(a, int32_t, n);
	p->over = anew(a, struct g_tensor *, n);
	p->lead = anew(a, int64_t, n);
	p->slices = anew(a, struct g_list, n);
	return p;
}

void
plan_close(struct plan *p)
{
	if (p)
		arena_close(p->a);
}

static int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[s->memory.spilling ? PLACE_CACHE : PLACE_ARENA];
}

/*
 * Where the addresses went over the limit, weights get less room: as many bytes
 * less, while the rectangle that sticks out is live.
 */
static void
take_room(struct sched *s, struct plan *p, int64_t limit)
{
	int place = s->memory.spilling ? PLACE_CACHE : PLACE_ARENA;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		int64_t over = r->at + r->bytes - limit;
		if (r->place != place || over <= 0)
			continue;
		int end = kernel_at(s, p, r->hi + 1);
		for (int k = kernel_at(s, p, r->lo); k < end; k++)
			p->taken[k] = over > p->taken[k] ? over : p->taken[k];
	}
}

/*
 * Fetches and addresses below the limit.  As planned by the sum of bytes alone,
 * if that can be placed, else where maps that lie already leave room; or with
 * room taken back where it could not be placed, if that ends earlier.
 */
static bool
fit(struct sched *s, struct plan *p, int64_t limit)
{
	enum { TRIES = 6 };
	p->taken = anew(p->a, int64_t, p->n_kernels + 1);
	int64_t maps = pack_maps(s, p);
	double between = 0;
	for (int i = 0; i < TRIES; i++) {
		plan_fetches(s, p, limit);
		if (between && p->cycles >= between)
			break;
		place_rects(s, p, QUICK);
		if (!plan_fits(s, p, limit))
			place_rects(s, p, TRY);
		if (plan_fits(s, p, limit))
			return true;
		take_room(s, p, limit);
		if (between || maps > limit)
			continue;
		int64_t *taken = p->taken;
		p->taken = anew(p->a, int64_t, p->n_kernels + 1);
		plan_fetches_between(s, p, limit);
		between = p->cycles;
		p->taken = taken;
	}
	if (maps > limit)
		return false;
	memset(p->taken, 0, p->n_kernels * sizeof(*p->taken));
	plan_fetches_between(s, p, limit);
	place_given(s, p);
	return plan_fits(s, p, limit);
}

/* qsort's order: fastest first, then smallest */
static int
compare_ideas(const void *x, const void *y)
{
	const struct idea *a = x, *b = y;
	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	if (a->need != b->need)
		return a->need < b->need ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static bool
is_better(const struct plan *a, const struct plan *b)
{
	return !b || a->cycles < b->cycles ||
	       (a->cycles == b->cycles && a->need < b->need);
}

/* the plan with estimated sizes, still without transfers; NULL: there is none */
static struct plan *
make_plan(struct search *x, const struct idea *i)
{
	struct plan *p = plan_new(x->s);
	p->eager = i->policy.eager;
	if (!chains_choose(x->s, x->chains, i->maps, i->policy.slide, p)) {
		plan_close(p);
		return NULL;
	}
	make_units(x->s, p, i->policy.target);
	find_maps(x->s, p);
	p->taken = anew(p->a, int64_t, p->n_kernels + 1);
	return p;
}

/* plans are large and many: kept is how to make them again */
static void
try_plan(struct search *x, int64_t maps, int64_t limit, struct policy policy)
{
	struct idea i = { .maps = maps, .limit = limit, .policy = policy,
			  .number = x->n };
	struct plan *p = x->n < MAX_CANDIDATES ? make_plan(x, &i) : NULL;
	if (!p)
		return;
	plan_fetches(x->s, p, limit);
	i.cycles = p->cycles;
	i.need = p->need;
	i.n_kernels = p->n_kernels;
	plan_close(p);
	/* addresses come when sizes are exact; the bound tells enough here */
	if (i.need <= limit)
		x->v[x->n++] = i;
}

/* with exact sizes and addresses below the limit; NULL: there are none */
static struct plan *
realise(struct search *x, const struct idea *i, int64_t limit)
{
	struct plan *p = make_plan(x, i);
	if (measure_units(x->s, p) && fit(x->s, p, limit))
		return p;
	plan_close(p);
	return NULL;
}

/*
 * Candidates below a limit, best first.  What maps may take rises in steps that
 * do not depend on the limit: what was possible with less stays possible.
 */
static void
list_plans(struct search *x, int64_t limit)
{
	x->n = 0;
	bool free = limit >= NO_LIMIT_BYTES;
	for (size_t t = 0; t < ARRAY_LEN(policies); t++) {
		int64_t maps = x->least;
		for (; !free && maps < limit; maps += maps / 8 + 16)
			try_plan(x, maps, limit, policies[t]);
		try_plan(x, limit, limit, policies[t]);
	}
	qsort(x->v, x->n, sizeof(*x->v), compare_ideas);
}

/*
 * Exact sizes for the candidates in order, until what was found, now or before,
 * beats what the rest promise.  Sizes decide discretely: weights fit beside the
 * maps or not.
 */
static struct plan *
decide(struct search *x, int64_t limit, struct plan *best)
{
	size_t few = 8 * (size_t)x->s->o->effort;
	const struct idea *last = NULL;
	for (size_t k = 0; k < x->n && (k < few || !best); k++) {
		const struct idea *i = &x->v[k];
		if (best && best->cycles <= i->cycles)
			break;
		if (last && last->cycles == i->cycles && last->n_kernels == i->n_kernels)
			continue; /* the same again */
		last = i;
		struct plan *p = realise(x, i, limit);
		if (p && is_better(p, best)) {
			plan_close(best);
			best = p;
		} else {
			plan_close(p);
		}
		if (x->s->e->status)
			break;
	}
	return best;
}

/* down to seven significant bits */
static int64_t
round_limit(int64_t limit)
{
	int64_t step = 16;
	while (limit / step >= 128)
		step *= 2;
	return limit / step * step;
}

/*
 * The best plan below a limit.  A lower limit must not have a better one, and
 * greedy choices may well miss what they found with less.  So limits of few
 * digits, which others share, are searched too, from this one on downwards, until
 * several in a row promise nothing better.
 */
static struct plan *
search_below(struct search *x, int64_t limit)
{
	enum { PATIENCE = 6 };
	struct plan *best = NULL;
	for (int dull = 0, n = 0; dull < PATIENCE; n++) {
		list_plans(x, limit);
		dull = best && x->n && x->v[0].cycles < best->cycles ? 0 : dull + 1;
		best = decide(x, limit, best);
		if (limit >= NO_LIMIT_BYTES || x->s->e->status || n == x->lower)
			break;
		limit = round_limit(limit - 1);
		if (limit < x->least)
			break;
	}
	return best;
}

/*
 * Without a limit the fastest plan may hold more weights than it needs: the
 * least memory with which it stays as fast within half a percent.
 */
static void
trim(struct sched *s, struct plan *p)
{
	enum { HALVINGS = 12, CLOSE = 1024 };
	double cycles = p->cycles * 1.005;
	int64_t hi = p->need, lo = 0;
	for (int i = 0; i < HALVINGS && hi - lo > CLOSE; i++) {
		int64_t mid = lo + (hi - lo) / 2;
		plan_fetches(s, p, mid);
		if (p->need <= mid && p->cycles <= cycles)
			hi = p->need;
		else
			lo = mid;
	}
	plan_fetches(s, p, hi);
	pack_maps(s, p);
	place_rects(s, p, LAST);
}

/*
 * --optimise=Size: what weighs bytes against cycles.  A tenth less SRAM is worth
 * 18 % more time, so feature maps shrink as far as bands go at a fair
 * price, and not down the cliff behind.
 */
static double
weigh(int64_t bytes, double cycles)
{
	return (double)bytes * pow(cycles, 0.64);
}

/* the best plan by weight so far */
struct lightest {
	struct plan *plan;
	double weight;
	int64_t limit;
};

/* of the candidates in x, all below limit */
static void
keep_lightest(struct search *x, int64_t limit, struct lightest *best)
{
	for (size_t k = 0; k < x->n; k++) {
		const struct idea *i = &x->v[k];
		/* promising: do its addresses fit, at which price? */
		if (best->plan && weigh(i->need, i->cycles) >= best->weight)
			continue;
		struct plan *p = realise(x, i, limit);
		double w = p ? weigh(peak_of(x->s, p), p->cycles) : 0;
		if (p && (!best->plan || w < best->weight)) {
			plan_close(best->plan);
			*best = (struct lightest){ p, w, limit };
		} else {
			plan_close(p);
		}
	}
}

/* the plan of least weight, exact sizes and addresses included */
static struct plan *
search_smallest(struct search *x)
{
	struct lightest best = { .plan = NULL };
	int64_t end = chains_whole_peak(x->s, x->chains);
	for (int64_t limit = x->least; limit < end; limit += limit / 16 + 16) {
		x->n = 0;
		for (size_t i = 0; i < ARRAY_LEN(policies); i++)
			if (!policies[i].eager)
				try_plan(x, limit, limit, policies[i]);
		keep_lightest(x, limit, &best);
	}
	/* no bands at all; more only if not even that fits its addresses */
	for (int64_t limit = end; limit == end || !best.plan; limit += limit / 16 + 16) {
		list_plans(x, limit);
		keep_lightest(x, limit, &best);
	}
	return best.plan;
}

static int64_t
limit_of(const struct sched *s)
{
	if (s->memory.cache_bytes && s->memory.cache_bytes < NO_LIMIT_BYTES)
		return s->memory.cache_bytes;
	return NO_LIMIT_BYTES;
}

static bool
too_small(struct sched *s, int64_t limit, int64_t least)
{
	return err_no(s->e, "error: the network needs %" PRId64 " bytes of SRAM, more "
		      "than the limit of %" PRId64 "; the smallest that works is "
		      "%" PRId64, least, limit, least);
}

/* the best plan for the areas that tensors have now; NULL: none, or an error */
static struct plan *
search_areas(struct search *x)
{
	struct sched *s = x->s;
	forget_blocks(s);
	chains_close(x->chains);
	x->chains = chains_list(s);
	x->least = chains_least(s, x->chains);
	x->n = 0;
	if (x->least == INT64_MAX)
		return NULL;
	if (s->o->size && !s->memory.spilling)
		return search_smallest(x);
	return search_below(x, limit_of(s));
}

/* where each tensor lies: part of a plan as long as plans are compared */
static int *
note_areas(struct search *x)
{
	struct graph *g = x->s->g;
	int *areas = anew(x->s->a, int, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		areas[i] = g->tensors[i]->area;
	return areas;
}

static void
restore_areas(struct search *x, const int *areas)
{
	struct graph *g = x->s->g;
	for (size_t i = 0; i < g->n_tensors; i++)
		g->tensors[i]->area = areas[i];
}

/* blocks follow the layouts and areas, those of whole operations first */
static void
choose_blocks(struct sched *s)
{
	forget_blocks(s);
	for (int i = 0; i < s->n_ops; i++)
		(void)block_for(s, i, s->info[i].op->ofm.shape.h);
}

/*
 * Spilling: which feature maps leave the NPU's SRAM.  The largest of those that
 * are live where it is fullest goes first; as long as that gives a faster plan,
 * or there was none.
 */
static bool
spill_one(struct search *x)
{
	struct g_tensor *t = chains_largest(x->s, x->chains);
	if (!t || chains_whole_peak(x->s, x->chains) <= limit_of(x->s))
		return false;
	t->area = PLACE_ARENA;
	return true;
}

static struct plan *
search_spilling(struct search *x)
{
	enum { MAX_SPILLS = 24, PATIENCE = 4 };
	struct plan *best = NULL;
	int *areas = note_areas(x);
	x->lower = 0; /* the many choices of maps take its place */
	for (int i = 0, worse = 0; i < MAX_SPILLS && worse < PATIENCE; i++) {
		struct plan *p = search_areas(x);
		if (p && best && p->cycles >= best->cycles) {
			worse++;
			plan_close(p);
		} else if (p) {
			plan_close(best);
			best = p;
			areas = note_areas(x);
		}
		if (x->s->e->status || !spill_one(x))
			break;
	}
	if (best)
		restore_areas(x, areas);
	choose_blocks(x->s);
	return best;
}

static double
score(const struct sched *s, const struct plan *p)
{
	return s->o->size ? weigh(peak_of(s, p), p->cycles) : p->cycles;
}

static struct plan *
search_layout(struct search *x, bool packed)
{
	pack_shallow_maps(x->s, packed);
	return x->s->memory.spilling ? search_spilling(x) : search_areas(x);
}

/* where memory is short, maps with padded bricks are tried without them */
static struct plan *
search_layouts(struct search *x)
{
	struct sched *s = x->s;
	struct plan *p = search_layout(x, false);
	if (s->e->status || !s->n_shallow ||
	    (!s->o->size && limit_of(s) == NO_LIMIT_BYTES))
		return p;
	int *areas = note_areas(x);
	struct plan *q = search_layout(x, true);
	if (s->e->status || (q && (!p || score(s, q) < score(s, p)))) {
		plan_close(p);
		return q;
	}
	plan_close(q);
	pack_shallow_maps(s, false);
	restore_areas(x, areas);
	choose_blocks(s);
	return p;
}

static bool
is_met(struct search *x, int64_t limit, const int *areas)
{
	restore_areas(x, areas);
	x->s->memory.cache_bytes = limit;
	x->lower = 0;
	struct plan *p = search_layouts(x);
	plan_close(p);
	return p != NULL;
}

/*
 * The smallest limit that is met, for the message: 16 bytes less are refused.
 * Limits grow until one is met; then the gap is halved.
 */
static int64_t
least_limit(struct search *x, const int *areas)
{
	enum { STEP = 16 };
	int64_t yes = round_up_i64(x->least, STEP), no = yes - STEP;
	while (yes < NO_LIMIT_BYTES && !is_met(x, yes, areas)) {
		no = yes;
		yes = round_up_i64(yes + yes / 32, STEP) + STEP;
	}
	while (yes - no > STEP) {
		int64_t mid = (no + (yes - no) / 2) / STEP * STEP;
		if (is_met(x, mid, areas))
			yes = mid;
		else
			no = mid;
	}
	/* a plan that fits is not always found with more room: look once more */
	while (yes > STEP && is_met(x, yes - STEP, areas))
		yes -= STEP;
	return yes;
}

static bool
search_all(struct search *x)
{
	struct sched *s = x->s;
	int *areas = note_areas(x);
	s->plan = search_layouts(x);
	if (s->e->status)
		return false;
	if (x->least == INT64_MAX)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
						   "fits the SHRAM of %s",
			      s->accel->name);
	if (!s->plan) {
		int64_t limit = limit_of(s);
		return too_small(s, limit, least_limit(x, areas));
	}
	if (limit_of(s) == NO_LIMIT_BYTES && !s->o->size)
		trim(s, s->plan);
	return true;
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e, "the graph is scheduled "
				 "already; npu-sched takes what tfl-partition wrote");
	struct search x = { .s = s, .lower = 16 * s->o->effort };
	forget_blocks(s);
	bool ok = measure_whole(s) && search_all(&x);
	chains_close(x.chains);
	return ok;
}
