/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan with exact sizes to transfers and addresses below a limit. */
#include "../search/search.h"

#include <math.h>

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->rolling = anew(a, int32_t, n);
	p->stripe = anew(a, int32_t, n);
	p->over = anew(a, struct g_tensor *, n);
	p->lead = anew(a, int64_t, n);
	p->ends = anew(a, struct g_list, n);
	return p;
}

void
plan_close(struct plan *p)
{
	if (p)
		arena_close(p->a);
}

bool
plan_fit(struct sched *s, struct plan *p, struct fitting f, double below)
{
	p->fitting = f;
	int64_t limit = f.limit;
	if (f.how == SUMMED)
		plan_fetches(s, p, limit);
	else
		plan_fetches_between(s, p, limit);
	if (plan_bound(s, p) >= below)
		return false;
	if (f.how == SUMMED)
		place_rects(s, p, s->care, f.most);
	else
		place_given(s, p);
	p->cycles = plan_clock(s, p);
	return p->cycles < below;
}

/* is it as fast with transfers below a limit?  as far as its bound tells */
static bool
may_be_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	plan_fetches(s, p, limit);
	return p->need <= limit && plan_bound(s, p) <= cycles;
}

/* by its clock; to pack many rectangles takes long */
static bool
is_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	enum { MANY_RECTS = 256 };
	double below = nextafter(cycles, INFINITY);
	for (enum fit how = p->n_rects > MANY_RECTS ? BETWEEN : SUMMED;; how++) {
		struct fitting f = { .limit = limit, .how = how, .most = INT64_MAX };
		if (plan_fit(s, p, f, below) && p->need <= limit)
			return true;
		if (how == BETWEEN)
			return false;
	}
}

enum { HALVINGS = 12, CLOSE = 1024 };

/* the least limit for transfers with which its bound stays */
static int64_t
least_by_bound(struct sched *s, struct plan *p)
{
	double cycles = p->cycles;
	int64_t lo = 0, hi = p->fitting.limit;
	for (int i = 0; i < HALVINGS && hi - lo > CLOSE; i++) {
		int64_t mid = lo + (hi - lo) / 2;
		if (may_be_as_fast(s, p, mid, cycles))
			hi = p->need;
		else
			lo = mid;
	}
	return hi;
}

/* a smaller one than `was`, down to `lo`, with which it stays */
static struct fitting
least_by_clock(struct sched *s, struct plan *p, struct fitting was, int64_t lo,
	       double cycles)
{
	for (int i = 0; i < HALVINGS && was.limit - lo > CLOSE; i++) {
		int64_t mid = lo + (was.limit - lo) / 2;
		if (is_as_fast(s, p, mid, cycles))
			was = p->fitting;
		else
			lo = mid;
	}
	return was;
}

/*
 * Without a limit the fastest plan may hold more weights than it needs: the least
 * memory with which it stays as fast, as far as its bound tells; where addresses
 * make it slower, as found by trial.
 */
void
plan_trim(struct sched *s, struct plan *p)
{
	struct fitting was = p->fitting;
	double cycles = p->cycles;
	if (!p->map_rank) {
		struct packed_maps m = pack_maps(s, p->a, p);
		place_maps(p, &m);
	}
	plan_fetches(s, p, NO_LIMIT_BYTES);
	int64_t most = p->need, least = least_by_bound(s, p);
	plan_fetches(s, p, least);
	place_rects(s, p, LAST, INT64_MAX);
	p->cycles = plan_clock(s, p);
	if (p->cycles <= cycles)
		return;
	/* a smaller one than what all of it needs, to begin with */
	if (was.limit > 2 * most && is_as_fast(s, p, 2 * most, cycles))
		was = p->fitting;
	was = least_by_clock(s, p, was, least - 1, cycles);
	(void)plan_fit(s, p, was, INFINITY);
}
