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

struct search {
	struct sched *s;
	struct chains *chains;
	int64_t least;	/* bytes that feature maps need at least */
	struct plan *v[MAX_CANDIDATES];
	size_t n;
};

struct plan *
plan_new(struct sched *s)
{
	struct plan *p = anew(s->a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->rolling = anew(s->a, int32_t, n);
	p->band = anew(s->a, int32_t, n);
	p->over = anew(s->a, struct g_tensor *, n);
	p->lead = anew(s->a, int64_t, n);
	p->slices = anew(s->a, struct g_list, n);
	return p;
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
		for (size_t k = 0; k < p->n_kernels; k++) {
			int64_t m = kernel_moment(s, p, (int)k);
			if (m >= r->lo && m <= r->hi && over > p->taken[k])
				p->taken[k] = over;
		}
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
	enum { TRIES = 3 };
	p->taken = anew(s->a, int64_t, p->n_kernels + 1);
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
		p->taken = anew(s->a, int64_t, p->n_kernels + 1);
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
compare_plans(const void *x, const void *y)
{
	const struct plan *a = *(struct plan *const *)x;
	const struct plan *b = *(struct plan *const *)y;
	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	return a->need < b->need ? -1 : a->need > b->need;
}

static void
try_plan(struct search *x, int64_t maps, int64_t limit, struct policy policy)
{
	struct plan *p = plan_new(x->s);
	p->eager = policy.eager;
	if (x->n == MAX_CANDIDATES || !chains_choose(x->s, x->chains, maps, policy.slide, p))
		return;
	make_units(x->s, p, policy.target);
	find_maps(x->s, p);
	p->taken = anew(x->s->a, int64_t, p->n_kernels + 1);
	plan_fetches(x->s, p, limit);
	/* addresses come when sizes are exact; the bound tells enough here */
	if (p->need <= limit)
		x->v[x->n++] = p;
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
	qsort(x->v, x->n, sizeof(*x->v), compare_plans);
}

/*
 * Exact sizes for the candidates in order, until what was found beats what the
 * rest promise.  Sizes decide discretely: weights fit beside the maps or not.
 */
static struct plan *
decide(struct search *x, int64_t limit)
{
	size_t few = 8 * (size_t)x->s->o->effort;
	struct plan *best = NULL, *last = NULL;
	double last_cycles = 0;
	for (size_t i = 0; i < x->n && (i < few || !best); i++) {
		struct plan *p = x->v[i];
		if (best && best->cycles <= p->cycles)
			break;
		if (last && last_cycles == p->cycles && last->n_kernels == p->n_kernels)
			continue; /* the same again */
		last = p;
		last_cycles = p->cycles;
		if (!measure_units(x->s, p))
			return NULL;
		if (fit(x->s, p, limit) && (!best || compare_plans(&p, &best) < 0))
			best = p;
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
 * a quarter more time, so feature maps shrink as far as bands go at a fair
 * price, and not down the cliff behind.
 */
static double
weigh(int64_t bytes, double cycles)
{
	return (double)bytes * pow(cycles, 0.49);
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
	for (size_t i = 0; i < x->n; i++) {
		struct plan *p = x->v[i];
		/* promising: do its addresses fit, at which price? */
		if ((best->plan && weigh(p->need, p->cycles) >= best->weight) ||
		    !measure_units(x->s, p) || !fit(x->s, p, limit))
			continue;
		double w = weigh(peak_of(x->s, p), p->cycles);
		if (!best->plan || w < best->weight)
			*best = (struct lightest){ p, w, limit };
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
	x->chains = chains_list(s);
	x->least = chains_least(s, x->chains);
	x->n = 0;
	if (x->least == INT64_MAX)
		return NULL;
	if (s->o->size && !s->memory.spilling)
		return search_smallest(x);
	list_plans(x, limit_of(s));
	struct plan *p = decide(x, limit_of(s));
	return s->e->status ? NULL : p;
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
	struct graph *g = x->s->g;
	int *areas = anew(x->s->a, int, g->n_tensors + 1);
	double best = -1;
	for (int i = 0, worse = 0; i < MAX_SPILLS && worse < PATIENCE; i++) {
		struct plan *p = search_areas(x);
		if (x->s->e->status)
			return NULL;
		worse += p && best >= 0 && p->cycles >= best;
		if (p && (best < 0 || p->cycles < best)) {
			best = p->cycles;
			for (size_t k = 0; k < g->n_tensors; k++)
				areas[k] = g->tensors[k]->area;
		}
		if (!spill_one(x))
			break;
	}
	for (size_t k = 0; best >= 0 && k < g->n_tensors; k++)
		g->tensors[k]->area = areas[k];
	return search_areas(x);
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
	struct plan *q = search_layout(x, true);
	if (s->e->status)
		return NULL;
	if (q && (!p || score(s, q) < score(s, p)))
		return q;
	/* blocks follow the layouts: made again for the one that won */
	return p ? search_layout(x, false) : NULL;
}

static bool
is_met(struct search *x, int64_t limit, const int *areas)
{
	struct sched *s = x->s;
	for (size_t i = 0; i < s->g->n_tensors; i++)
		s->g->tensors[i]->area = areas[i];
	s->memory.cache_bytes = limit;
	return search_layouts(x) != NULL;
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

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e, "the graph is scheduled "
				 "already; npu-sched takes what tfl-partition wrote");
	struct search x = { .s = s };
	forget_blocks(s);
	if (!measure_whole(s))
		return false;
	int *areas = anew(s->a, int, s->g->n_tensors + 1);
	for (size_t i = 0; i < s->g->n_tensors; i++)
		areas[i] = s->g->tensors[i]->area;
	s->plan = search_layouts(&x);
	if (s->e->status)
		return false;
	if (x.least == INT64_MAX)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
						   "fits the SHRAM of %s",
			      s->accel->name);
	if (!s->plan) {
		int64_t limit = limit_of(s);
		return too_small(s, limit, least_limit(&x, areas));
	}
	if (limit_of(s) == NO_LIMIT_BYTES && !s->o->size)
		trim(s, s->plan);
	return true;
}
