/* SPDX-License-Identifier: Apache-2.0 */
/* The Pareto front of plans by bytes and cycles. */
#include "search.h"

#include <math.h>
#include <string.h>

/* Weight of cycles against bytes: a tenth less memory is worth 18 % more time.  So feature maps
 * shrink as far as stripes save bytes at a fair price, and not down the cliff behind. */
static const double EXPONENT = 0.64;

double
point_weight(int64_t bytes, double cycles)
{
	return (double)bytes * pow(cycles, EXPONENT);
}

/* Number of points that have at most `sram` bytes. */
static size_t
count_below(const struct front *f, int64_t sram)
{
	size_t lo = 0, hi = f->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (f->v[mid].sram <= sram)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Is the best plan of another rewrite as good, even if the estimate is too high by `nearly`? */
static bool
incumbent_wins(const struct front *f, int64_t total, double cycles)
{
	const double nearly = 1.02;
	const struct incumbent *r = &f->incumbent;
	if (r->cycles == 0)
		return false;
	if (f->smallest_within)
		return total > r->total || (total == r->total && cycles > nearly * r->cycles);
	return point_weight(total, cycles) > nearly * point_weight(r->total, r->cycles) ||
	       (r->slowest > 0 && cycles > nearly * r->slowest);
}

static bool
is_lighter(const struct point *p, int64_t total, double cycles)
{
	return p->cycles == 0 ||
	       point_weight(total, cycles) < point_weight(p->total, p->cycles);
}

static bool
is_smaller(const struct point *p, int64_t total, double cycles)
{
	return p->cycles == 0 || total < p->total || (total == p->total && cycles < p->cycles);
}

/* Fewer cycles, by more than rounding. */
static bool
is_faster(double cycles, double than)
{
	return cycles < than * (1 - ROUNDING);
}

bool
front_wants(const struct front *f, int64_t sram, int64_t total, double cycles)
{
	size_t n = count_below(f, sram);
	if (cycles == INFINITY || incumbent_wins(f, total, cycles))
		return false;
	if (f->smallest_within)
		return sram <= f->smallest_within && is_smaller(&f->smallest, total, cycles);
	if (f->most_total && total > f->most_total)
		return false;
	return is_lighter(&f->lightest, total, cycles) ||
	       is_smaller(&f->smallest, total, cycles) || !n ||
	       is_faster(cycles, f->v[n - 1].cycles);
}

int64_t
front_most(const struct front *f, double cycles, int64_t beside)
{
	if (f->smallest_within)
		return f->smallest.cycles > 0 ? f->smallest.total - beside : INT64_MAX;
	size_t lo = 0, hi = f->n; /* the first point that is as fast */
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (f->v[mid].cycles > cycles)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->n || f->lightest.cycles == 0)
		return INT64_MAX;
	double light = point_weight(f->lightest.total, f->lightest.cycles) /
		       point_weight(1, fmax(cycles, 1));
	int64_t bytes = max_i64((int64_t)fmin(light, (double)NO_LIMIT_BYTES),
				f->smallest.total) - beside;
	return bytes > f->v[lo].sram ? bytes : f->v[lo].sram;
}

static void
insert(struct front *f, const struct point *p)
{
	size_t at = count_below(f, p->sram), end = at;
	if (at && !is_faster(p->cycles, f->v[at - 1].cycles))
		return;
	if (at && f->v[at - 1].sram == p->sram)
		at--;
	while (end < f->n && !is_faster(f->v[end].cycles, p->cycles))
		end++;
	agrow(f->a, f->v, f->n, &f->cap);
	memmove(&f->v[at + 1], &f->v[end], (f->n - end) * sizeof(*f->v));
	f->n = f->n - (end - at) + 1;
	f->v[at] = *p;
}

static struct point
copy_point(struct arena *a, const struct point *p)
{
	struct point q = *p;
	size_t bytes = (size_t)p->recipe.division.n * sizeof(int);
	q.recipe.division.picked = arena_alloc(a, bytes + 1, 1);
	if (bytes)
		memcpy(q.recipe.division.picked, p->recipe.division.picked, bytes);
	return q;
}

/* Would a point take the place of an anchor? */
static bool
has_better_anchor(const struct front *f, const struct point *p)
{
	bool any = false;
	for (int i = 0; i < f->n_anchors; i++) {
		const struct anchor *a = &f->anchor[i];
		bool no_slower = f->smallest_within ? is_faster(p->cycles, a->cycles)
						    : p->cycles <= a->cycles;
		any |= p->sram <= a->sram && no_slower;
	}
	return any;
}

void
front_add(struct front *f, const struct point *p)
{
	if (has_better_anchor(f, p))
		return;
	if (!front_wants(f, p->sram, p->total, p->cycles))
		return;
	const struct point q = copy_point(f->a, p);
	f->changes++;
	if (is_lighter(&f->lightest, q.total, q.cycles))
		f->lightest = q;
	if (is_smaller(&f->smallest, q.total, q.cycles))
		f->smallest = q;
	insert(f, &q);
}

void
front_clear(struct front *f)
{
	f->n = 0;
	f->smallest = f->lightest = (struct point){ .cycles = 0 };
}

const struct point *
front_fastest(const struct front *f, int64_t sram)
{
	size_t n = count_below(f, sram);
	const struct point *p = n ? &f->v[n - 1] : NULL;
	if (f->lightest.cycles > 0 && f->lightest.sram <= sram &&
	    (!p || f->lightest.cycles < p->cycles))
		p = &f->lightest;
	return p;
}

const struct point *
front_least(const struct front *f, int64_t sram)
{
	const struct point *p = &f->smallest;
	if (p->cycles > 0 && p->sram <= sram)
		return p;
	return f->n && f->v[0].sram <= sram ? &f->v[0] : NULL;
}

const struct point *
front_lightest(const struct front *f, int64_t sram)
{
	const struct point *best = NULL;
	double least = INFINITY;
	for (size_t i = 0; i <= f->n; i++) {
		const struct point *p = i < f->n ? &f->v[i] : &f->lightest;
		double weight = point_weight(p->total, p->cycles);
		if (p->sram > sram || p->cycles == 0 || weight >= least)
			continue;
		best = p;
		least = weight;
	}
	return best;
}

const struct point *
front_smallest(const struct front *f, double cycles)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].cycles <= cycles)
			return &f->v[i];
	return NULL;
}
