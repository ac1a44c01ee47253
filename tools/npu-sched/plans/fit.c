/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan with exact sizes to transfers and addresses below a limit. */
#include "fit.h"

#include <math.h>
#include <string.h>

/* transfers of p are to be as f says, but for their limit */
static void
follow(struct plan *p, struct fitting f)
{
	p->fitting = f;
	p->ahead = f.ahead;
	p->worth = f.worth;
	p->exceptions = f.exceptions;
}

double
plan_transfers(struct sched *s, struct plan *p, struct fitting f)
{
	follow(p, f);
	if (f.how == SUMMED)
		plan_fetches(s, p, f.limit);
	else
		plan_fetches_between(s, p, f.limit);
	return plan_bound(s, p);
}

void
plan_addresses(struct sched *s, struct plan *p)
{
	if (p->fitting.how == SUMMED)
		place_rects(s, p, p->fitting.care, p->fitting.most);
	else
		place_given(s, p);
	p->cycles = plan_clock(s, p);
}

bool
plan_fit(struct sched *s, struct plan *p, struct fitting f, double below)
{
	if (plan_transfers(s, p, f) >= below) {
		p->cycles = NAN; /* no addresses, no clock */
		return false;
	}
	plan_addresses(s, p);
	return p->cycles < below;
}

/* is it as fast with transfers below a limit?  as far as its bound tells */
static bool
may_be_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	plan_fetches(s, p, limit);
	return p->need <= limit && plan_bound(s, p) <= cycles;
}

bool
plan_may_trim(struct sched *s, struct plan *p, int64_t bytes, double cycles)
{
	p->ahead = 0;
	return may_be_as_fast(s, p, bytes - 1, cycles);
}

/* by its clock; to pack many rectangles takes long */
static bool
is_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	enum { MANY_RECTS = 256 };
	double below = nextafter(cycles, INFINITY);
	for (enum fit how = p->n_rects > MANY_RECTS ? BETWEEN : SUMMED;; how++) {
		struct fitting f = { .limit = limit, .how = how, .care = TRY,
				     .most = INT64_MAX, .worth = p->worth, .exceptions = p->exceptions };
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

/* addresses once more, with care */
static void
place_last(struct sched *s, struct plan *p)
{
	place_rects(s, p, LAST, INT64_MAX);
	p->cycles = plan_clock(s, p);
}

/*
 * The least limit with which it stays as fast, as far as its bound tells; where
 * addresses make it slower, as found by trial.
 */
static void
trim_limit(struct sched *s, struct plan *p, struct fitting was, double cycles)
{
	follow(p, was);
	p->cycles = cycles;
	plan_fetches(s, p, NO_LIMIT_BYTES);
	int64_t most = p->need, least = least_by_bound(s, p);
	plan_fetches(s, p, least);
	place_last(s, p);
	if (p->cycles <= cycles)
		return;
	/* a smaller one than what all of it needs, to begin with */
	if (was.limit > 2 * most && is_as_fast(s, p, 2 * most, cycles))
		was = p->fitting;
	was = least_by_clock(s, p, was, least - 1, cycles);
	(void)plan_fit(s, p, was, INFINITY);
}

/* how good a plan with addresses is: cycles first, then bytes */
struct merit {
	double cycles;
	int64_t peak;
};

static struct merit
merit_of(const struct sched *s, const struct plan *p)
{
	return (struct merit){ .cycles = p->cycles, .peak = peak_of(s, p) };
}

static bool
is_better(struct merit a, struct merit b)
{
	return a.cycles < b.cycles || (a.cycles == b.cycles && a.peak < b.peak);
}

/*
 * Times ahead that were tried.  What one has given holds for less time, down to what its
 * transfers have used of it.
 */
enum { MOST_TRIES = 20 };
struct tries {
	struct {
		double ahead, used;
	} v[MOST_TRIES];
	int n;
};

static bool
is_tried(const struct tries *l, double ahead)
{
	for (int i = 0; i < l->n; i++)
		if (ahead <= l->v[i].ahead && ahead >= l->v[i].used)
			return true;
	return false;
}

/* the plan with transfers not before that; false: it was tried, or is slower */
static bool
try_ahead(struct sched *s, struct plan *p, struct tries *l, struct fitting f, double most)
{
	if (is_tried(l, f.ahead))
		return false;
	bool ok = plan_fit(s, p, f, nextafter(most, INFINITY));
	l->v[l->n].ahead = f.ahead;
	l->v[l->n++].used = p->used_ahead;
	return ok;
}

/*
 * Cycles ahead of their use that weights may be fetched, with which it is best by its
 * clock in no more bytes; that is not simply the fewest, as transfers get in each
 * other's way.  None: p as it is is best.
 */
static struct fitting
least_ahead(struct sched *s, struct plan *p, struct fitting was)
{
	enum { TRIES = MOST_TRIES };
	double shorter = 0.7;
	struct tries tried = { .n = 0 };
	struct fitting f = was;
	const int64_t most = peak_of(s, p);
	struct merit best = merit_of(s, p);
	f.ahead = best.cycles;
	for (int i = 0; i < TRIES; i++) {
		/* first all lengths, then those near the best one */
		if (i == TRIES * 3 / 4) {
			f.ahead = was.ahead;
			shorter = pow(shorter, 1.0 / (TRIES - i));
		}
		f.ahead *= shorter;
		if (!try_ahead(s, p, &tried, f, best.cycles) || peak_of(s, p) > most)
			continue;
		struct merit now = merit_of(s, p);
		if (!is_better(now, best))
			continue;
		was = f;
		best = now;
	}
	return was;
}

/* transfers and addresses of a plan, to be as they were after other ones were tried */
struct snapshot {
	struct plan plan;
	struct weight_slice *slice;
	struct fetch *fetch;
	struct rect *rect;
};

/* there may be none, and no array */
static void
copy(void *to, const void *from, size_t bytes)
{
	if (bytes)
		memcpy(to, from, bytes);
}

static struct snapshot
snapshot(struct arena *a, const struct plan *p)
{
	struct snapshot x = { .plan = *p };
	x.slice = anew(a, struct weight_slice, p->n_slices + 1);
	x.fetch = anew(a, struct fetch, p->n_fetches + 1);
	x.rect = anew(a, struct rect, p->n_rects + 1);
	copy(x.slice, p->slice, p->n_slices * sizeof(*p->slice));
	copy(x.fetch, p->fetch, p->n_fetches * sizeof(*p->fetch));
	copy(x.rect, p->rect, p->n_rects * sizeof(*p->rect));
	return x;
}

/* the same plan: it has had room for as much */
static void
restore(struct plan *p, const struct snapshot *x)
{
	const struct plan now = *p;
	*p = x->plan;
	p->slice = now.slice;
	p->fetch = now.fetch;
	p->cap_fetches = now.cap_fetches;
	p->rect = now.rect;
	p->touches = now.touches;
	copy(p->slice, x->slice, p->n_slices * sizeof(*p->slice));
	copy(p->fetch, x->fetch, p->n_fetches * sizeof(*p->fetch));
	copy(p->rect, x->rect, p->n_rects * sizeof(*p->rect));
}

/*
 * Without a limit the fastest plan may hold more weights than it needs, and hold them
 * for longer: the least memory with which it stays as fast.
 */
void
plan_trim(struct sched *s, struct plan *p)
{
	const struct fitting first = p->fitting;
	const double cycles = p->cycles;
	if (!p->map_rank) {
		struct packed_maps m = pack_maps(s, p->a, p);
		place_maps(s, p, &m);
	}
	trim_limit(s, p, first, cycles);
	struct arena *a = arena_open();
	const struct snapshot trimmed = snapshot(a, p);
	struct fitting all = { .limit = p->need, .how = SUMMED, .care = TRY,
			       .most = INT64_MAX, .worth = first.worth, .exceptions = first.exceptions };
	struct fitting late = least_ahead(s, p, all);
	if (late.ahead == 0)
		restore(p, &trimmed);
	arena_close(a);
	if (late.ahead == 0)
		return;
	(void)plan_fit(s, p, late, INFINITY);
	const int64_t peak = peak_of(s, p);
	const double best = p->cycles;
	place_last(s, p);
	if (p->cycles > best || peak_of(s, p) > peak)
		(void)plan_fit(s, p, late, INFINITY);
}
