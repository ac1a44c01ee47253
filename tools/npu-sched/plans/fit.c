/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a plan below a memory limit: plans its weight transfers and assigns its
 * addresses.  The sizes of its weights are exact, because all slices have been encoded.
 */
#include "../weights/transfers.h"
#include "clock.h"
#include "fit.h"

#include <math.h>

/* Has p the transfers of f already? */
static bool
is_walked(const struct plan *p, const struct fitting *f)
{
	const struct fitting *was = &p->fitting;
	return p->least_cycles > 0 && f->how == SUMMED && was->how == SUMMED &&
	       was->limit == f->limit && was->ahead == f->ahead;
}

double
plan_fetches(struct sched *s, struct plan *p, struct fitting f)
{
	const bool walked = is_walked(p, &f);
	p->fitting = f;
	if (walked)
		return p->least_cycles;
	walk_transfers(s, p);
	return p->least_cycles = plan_bound(s, p);
}

void
plan_addresses(struct sched *s, struct plan *p, int64_t most)
{
	place_beside(s, p, p->fitting.beside);
	if (p->fitting.how == SUMMED)
		place_rects(s, p, p->fitting.care, most);
	else
		find_address_peak(s, p);
	p->cycles = plan_clock(s, p);
}

bool
plan_fit(struct sched *s, struct plan *p, struct fitting f, double below)
{
	if (plan_fetches(s, p, f) >= below) {
		p->cycles = NAN; /* no addresses, so no clock */
		return false;
	}
	plan_addresses(s, p, INT64_MAX);
	return p->cycles < below;
}

/* Plans transfers below another limit, by the sum of bytes.  Returns the lower bound. */
static double
fetch_below(struct sched *s, struct plan *p, int64_t limit)
{
	struct fitting f = p->fitting;
	f.limit = limit;
	f.how = SUMMED;
	return plan_fetches(s, p, f);
}

/* Could p be as fast with transfers below a limit?  By its lower bound. */
static bool
may_be_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	return fetch_below(s, p, limit) <= cycles && p->need <= limit;
}

/* Is p as fast with a limit?  By its clock.  Many rectangles are not packed anew, which takes
 * long. */
static bool
is_as_fast(struct sched *s, struct plan *p, int64_t limit, double cycles)
{
	enum { MANY_RECTS = 256 };
	double below = nextafter(cycles, INFINITY);
	for (enum fit how = p->n_rects > MANY_RECTS ? BETWEEN : SUMMED;; how++) {
		struct fitting f = { .limit = limit, .how = how, .care = TRY, .beside = LAST };
		if (plan_fit(s, p, f, below) && p->need <= limit)
			return true;
		if (how == BETWEEN)
			return false;
	}
}

enum { HALVINGS = 12, CLOSE = 1024 };

/* The least limit for transfers, up to `hi`, with which the lower bound of p stays, by halving. */
static int64_t
least_by_bound(struct sched *s, struct plan *p, int64_t hi)
{
	double cycles = p->cycles;
	int64_t lo = 0;
	for (int i = 0; i < HALVINGS && hi - lo > CLOSE; i++) {
		int64_t mid = lo + (hi - lo) / 2;
		if (may_be_as_fast(s, p, mid, cycles))
			hi = p->need;
		else
			lo = mid;
	}
	return hi;
}

/* A fitting with a smaller limit than `was`, down to `lo`, with which p stays as fast. */
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

/* Packs once more, with the largest budget. */
static void
pack_last(struct sched *s, struct plan *p)
{
	p->fitting.care = p->fitting.beside = LAST;
	plan_addresses(s, p, INT64_MAX);
}

/*
 * Finds the least limit with which p stays as fast: by its lower bound or, where addresses make
 * it slower, by trial.
 */
static void
trim_limit(struct sched *s, struct plan *p, struct fitting was, double cycles)
{
	p->cycles = cycles;
	(void)fetch_below(s, p, NO_LIMIT_BYTES);
	int64_t most = p->need, least = least_by_bound(s, p, was.limit);
	(void)fetch_below(s, p, least);
	pack_last(s, p);
	if (p->cycles <= cycles)
		return;
	/* begin with twice the bytes that all transfers need */
	if (was.limit > 2 * most && is_as_fast(s, p, 2 * most, cycles))
		was = p->fitting;
	was = least_by_clock(s, p, was, least - 1, cycles);
	(void)plan_fit(s, p, was, INFINITY);
}

/* The merit of a plan with addresses: cycles first, then bytes. */
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
is_better_merit(struct merit a, struct merit b)
{
	return a.cycles < b.cycles || (a.cycles == b.cycles && a.peak < b.peak);
}

/*
 * Times ahead that were tried.  A result holds for shorter times, too, down to the time that
 * its transfers used.
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

/* The best fitting of least_ahead() so far. */
struct latest {
	struct fitting fitting;
	struct merit merit;
	int64_t most; /* bytes */
};

/* Fits p with transfers at most `ahead` cycles before their use.  True: it is the best so far. */
static bool
improve_ahead(struct sched *s, struct plan *p, struct tries *l, struct latest *best, double ahead)
{
	if (is_tried(l, ahead))
		return false;
	struct fitting f = best->fitting;
	f.ahead = ahead;
	const struct merit bound = { .cycles = plan_fetches(s, p, f), .peak = p->need };
	l->v[l->n].ahead = ahead;
	l->v[l->n++].used = p->used_ahead;
	if (!is_better_merit(bound, best->merit))
		return false;
	plan_addresses(s, p, INT64_MAX);
	const struct merit now = merit_of(s, p);
	if (!is_better_merit(now, best->merit) || now.peak > best->most)
		return false;
	best->fitting = f;
	best->merit = now;
	return true;
}

/*
 * Finds the time ahead, in cycles, with which p is best by its clock in no more bytes: from short to
 * long ones, then near the best one.  The shortest time need not be best, as transfers delay each
 * other.  Long times take long, as many buffers are live at once.  Result with ahead 0: p is best as
 * it is.
 */
static struct fitting
least_ahead(struct sched *s, struct plan *p, struct fitting was)
{
	enum { LENGTHS = MOST_TRIES * 3 / 4, NEAR = MOST_TRIES - LENGTHS, PATIENCE = 2 };
	const double shorter = 0.7, cycles = p->cycles;
	struct tries tried = { .n = 0 };
	struct latest best = { .fitting = was, .merit = merit_of(s, p), .most = peak_of(s, p) };
	for (int i = LENGTHS, idle = 0; i > 0 && idle < PATIENCE; i--) {
		const bool better = improve_ahead(s, p, &tried, &best, cycles * pow(shorter, i));
		idle = better || best.fitting.ahead == 0 ? 0 : idle + 1;
	}
	const double ahead = best.fitting.ahead;
	for (int i = 1; i <= NEAR && ahead > 0; i++)
		(void)improve_ahead(s, p, &tried, &best, ahead * pow(shorter, (double)i / NEAR));
	return best.fitting;
}

/*
 * Without a limit, the fastest plan may hold more weights than it needs, and hold them for
 * longer.  Finds the least memory with which the plan stays as fast.
 */
void
plan_trim(struct sched *s, struct plan *p)
{
	struct fitting first = p->fitting;
	const double cycles = p->cycles;
	if (!p->map_rank) {
		struct packed_maps m = pack_maps(s, p->a, p);
		place_maps(s, p, &m);
	}
	first.beside = LAST;
	trim_limit(s, p, first, cycles);
	const struct fitting trimmed = p->fitting;
	const struct fitting late = least_ahead(s, p, (struct fitting){
		.limit = p->need, .how = SUMMED, .care = TRY, .beside = LAST });
	(void)plan_fit(s, p, late.ahead > 0 ? late : trimmed, INFINITY);
	if (late.ahead == 0)
		return;
	const int64_t peak = peak_of(s, p);
	const double best = p->cycles;
	pack_last(s, p);
	if (p->cycles > best || peak_of(s, p) > peak)
		(void)plan_fit(s, p, late, INFINITY);
}
