/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One search for every case.  Plans differ in how much memory feature maps may
 * take (what they leave is room for weights) and in how finely weights are cut;
 * all are costed by the same clocks, the fastest that fits is taken, and among
 * equals the smallest.  A plan for less memory is a candidate for more, so more
 * SRAM never costs cycles.
 */
#include "sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NO_LIMIT_BYTES = 1 << 30, SHARES = 8 };

static const int64_t targets[] = { 0, 32768, 12288 };

struct plan *
plan_new(struct sched *s)
{
	struct plan *p = anew(s->a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->rolling = anew(s->a, int32_t, n);
	p->band = anew(s->a, int32_t, n);
	p->replaces = anew(s->a, int, n);
	p->slices = anew(s->a, struct g_list, n);
	return p;
}

static int64_t
peak_of(const struct sched *s, const struct plan *p)
{
	return p->peak[s->memory.spilling ? PLACE_CACHE : PLACE_ARENA];
}

/* room for weights shrinks until the addresses fit the limit */
static bool
fit(struct sched *s, struct plan *p, int64_t limit)
{
	enum { TRIES = 6 };
	int64_t room = limit;
	for (int i = 0; i < TRIES; i++) {
		plan_fetches(s, p, room);
		place_rects(s, p, false);
		if (!plan_fits(s, p, limit))
			place_rects(s, p, true);
		if (plan_fits(s, p, limit))
			return true;
		room -= peak_of(s, p) - limit;
	}
	plan_fetches(s, p, 0);
	place_rects(s, p, true);
	return plan_fits(s, p, limit);
}

/* before sizes are exact: is a better than b? */
static bool
better(const struct sched *s, const struct plan *a, const struct plan *b)
{
	if (!b || a->cycles != b->cycles)
		return !b || a->cycles < b->cycles;
	return peak_of(s, a) < peak_of(s, b);
}

static struct plan *
try_plan(struct sched *s, struct chains *c, int64_t maps, int64_t limit,
	 int64_t target)
{
	struct plan *p = plan_new(s);
	if (!chains_choose(s, c, maps, p))
		return NULL;
	make_units(s, p, target);
	return fit(s, p, limit) ? p : NULL;
}

static struct plan *
search_below(struct sched *s, struct chains *c, int64_t limit)
{
	struct plan *best = NULL;
	int64_t least = chains_least(s, c);
	for (size_t t = 0; t < ARRAY_LEN(targets); t++)
		for (int i = 0; i <= SHARES; i++) {
			int64_t maps = least + (limit - least) / SHARES * i;
			struct plan *p = try_plan(s, c, i == SHARES ? limit : maps,
						  limit, targets[t]);
			if (p && better(s, p, best))
				best = p;
			if (limit >= NO_LIMIT_BYTES)
				break;
		}
	return best;
}

/*
 * Without a limit the fastest plan may hold more weights than it needs: the
 * least memory with which it stays as fast within half a percent.
 */
static struct plan *
trim(struct sched *s, struct plan *p)
{
	double cycles = p->cycles * 1.005;
	int64_t hi = peak_of(s, p), lo = 0;
	struct plan *best = p;
	for (int i = 0; i < 12 && hi - lo > 1024; i++) {
		int64_t mid = lo + (hi - lo) / 2;
		if (fit(s, p, mid) && p->cycles <= cycles)
			hi = peak_of(s, p) < mid ? peak_of(s, p) : mid;
		else
			lo = mid;
	}
	(void)fit(s, best, hi);
	return best;
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
	return err_no(s->e, "error: the feature maps need %" PRId64 " bytes of SRAM, "
		      "more than the limit of %" PRId64 "; the smallest that works is "
		      "%" PRId64, least, limit, least);
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e, "the graph is scheduled "
				 "already; npu-sched takes what tfl-partition wrote");
	struct chains *c = chains_list(s);
	int64_t least = chains_least(s, c), limit = limit_of(s);
	if (least == INT64_MAX)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
						   "fits the SHRAM of %s",
			      s->accel->name);
	if (s->o->size)
		limit = least;
	struct plan *p = search_below(s, c, limit);
	for (int i = 0; !p && s->o->size && i < 16; i++)
		p = search_below(s, c, limit += limit / 64 + 16);
	if (!p)
		return too_small(s, limit, least);
	/* now with the true sizes of what is encoded */
	if (!measure_units(s, p))
		return false;
	if (!fit(s, p, limit))
		return too_small(s, limit, peak_of(s, p));
	s->plan = limit == NO_LIMIT_BYTES ? trim(s, p) : p;
	{ double a=0,b=0; int nf=0; for (size_t i=0;i<s->plan->n_kernels;i++){a+=s->plan->kernel[i].cost[1]; b+=s->plan->kernel[i].cost[0];} for(size_t i=0;i<s->plan->n_units;i++) nf+=s->plan->unit[i].fetched; fprintf(stderr,"DBG cycles %g sram-sum %g inplace-sum %g kernels %zu units %zu fetched %d fetches %zu\n", s->plan->cycles,a,b,s->plan->n_kernels,s->plan->n_units,nf,s->plan->n_fetches);}
	return true;
}
