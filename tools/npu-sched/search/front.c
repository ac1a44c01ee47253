/* SPDX-License-Identifier: Apache-2.0 */
/* The Pareto front of plans by bytes and cycles. */
#include "search.h"

#include <math.h>
#include <string.h>

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

/* Fewer cycles, by more than rounding. */
static bool
is_faster(double cycles, double than)
{
	return cycles < than * (1 - ROUNDING);
}

const struct point *
front_fastest(const struct front *f)
{
	const size_t n = count_below(f, f->question.within);
	return n ? &f->v[n - 1] : NULL;
}

/* The first point of at most `cycles` cycles, as an index; f->n: there is none. */
static size_t
first_as_fast(const struct front *f, double cycles)
{
	size_t lo = 0, hi = f->n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (f->v[mid].cycles > cycles)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double
front_fewest(const struct front *f)
{
	const struct question *q = &f->question;
	if (q->ask == ASK_FAST_ENOUGH)
		return q->cycles;
	if (q->ask != ASK_FASTEST)
		return INFINITY;
	const struct point *p = front_fastest(f);
	const double most = p ? p->cycles : INFINITY;
	return q->slowest > 0 ? fmin(most, q->slowest) : most;
}

double
front_nearest(const struct front *f)
{
	/* of 150 answers within limits of 26 networks, one had an estimate higher by more */
	const double near = 1.02;
	if (f->question.ask != ASK_FASTEST)
		return INFINITY;
	return (is_unlimited(f) ? INEXACT : near) * front_fewest(f);
}

bool
front_is_idle(const struct front *f, double fewest)
{
	return f->question.ask == ASK_FASTEST && front_answer(f) && front_fewest(f) >= fewest;
}

/* Could a point answer the question, or lead to its answer? */
static bool
may_answer(const struct front *f, int64_t sram, double cycles)
{
	const struct question *q = &f->question;
	if (q->ask == ASK_FASTEST) /* improvement may make it faster */
		return cycles <= (is_unlimited(f) ? 1 : q->improvable) * front_fewest(f);
	if (q->ask == ASK_LEAST_SRAM)
		return !f->n || sram < f->v[0].sram;
	if (q->ask != ASK_FAST_ENOUGH)
		return true;
	const size_t enough = first_as_fast(f, q->cycles);
	return enough == f->n || (sram <= f->v[enough].sram && cycles <= q->improvable * q->cycles);
}

bool
front_wants(const struct front *f, int64_t sram, int64_t total, double cycles)
{
	const struct question *q = &f->question;
	if (cycles == INFINITY || sram > front_within(q) || total > q->total_within)
		return false;
	if (q->ask == ASK_SMALLEST)
		return cycles <= q->cycles &&
		       (!f->best.is_set || total < f->best.total ||
			(total == f->best.total && cycles < f->best.cycles));
	size_t n = count_below(f, sram);
	return may_answer(f, sram, cycles) && (!n || is_faster(cycles, f->v[n - 1].cycles));
}

int64_t
front_most(const struct front *f, double cycles, int64_t beside)
{
	const struct question *q = &f->question;
	const struct point *best = &f->best;
	const size_t i = first_as_fast(f, cycles);
	double most = i < f->n ? (double)f->v[i].sram : INFINITY;
	if (q->ask == ASK_LEAST_SRAM && f->n)
		most = (double)f->v[0].sram;
	if (q->ask == ASK_SMALLEST && best->is_set)
		most = (double)(best->total - beside);
	return most < (double)NO_LIMIT_BYTES ? (int64_t)most : NO_LIMIT_BYTES;
}

bool
front_may_reach(const struct front *f, int64_t sram, int64_t total, double lower_bound)
{
	return sram <= f->question.within && lower_bound <= front_fewest(f) &&
	       front_wants(f, sram, total, lower_bound);
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

struct point
point_copy(struct arena *a, const struct point *p)
{
	struct point q = *p;
	q.is_set = true;
	q.decisions = decisions_copy(a, &p->decisions);
	return q;
}

/*
 * Is p faster than the fastest plan of all, or as fast in fewer bytes?  Spills, which are not tried
 * without a limit, may be as fast.
 */
static bool
is_too_fast(const struct front *f, const struct point *p)
{
	const struct point *most = &f->fastest;
	const bool is_spilled = p->variant && p->variant->of;
	if (!most->is_set)
		return false;
	if (is_spilled)
		return is_faster(p->cycles, most->cycles);
	return p->cycles < most->cycles || (p->cycles == most->cycles && p->sram < most->sram);
}

bool
front_accepts(const struct front *f, const struct point *p)
{
	const struct question *q = &f->question;
	return p->sram <= q->within && p->total <= q->total_within && !is_too_fast(f, p);
}

void
front_add(struct front *f, const struct point *p)
{
	if (!front_wants(f, p->sram, p->total, p->cycles) || is_too_fast(f, p))
		return;
	const struct point q = point_copy(f->a, p);
	if (f->question.ask == ASK_SMALLEST) {
		if (q.sram <= f->question.within)
			f->best = q;
	}
	else {
		insert(f, &q);
	}
}

void
front_start_from(struct front *f, const struct point *p)
{
	size_t at = f->n_starts;
	if (f->question.ask != ASK_FASTEST || !p->is_set ||
	    (at == STARTS && p->cycles >= f->start[at - 1].cycles))
		return;
	for (at -= at == STARTS; at > 0 && f->start[at - 1].cycles > p->cycles; at--)
		f->start[at] = f->start[at - 1];
	f->start[at] = point_copy(f->a, p);
	f->n_starts += f->n_starts < STARTS;
}

struct front
front_copy(const struct front *f, struct arena *a)
{
	struct front c = *f;
	c.a = a;
	c.cap = f->n;
	c.v = anew(a, struct point, f->n + 1);
	if (f->n)
		memcpy(c.v, f->v, f->n * sizeof(*f->v));
	return c;
}

void
front_merge(struct front *f, const struct front *from)
{
	for (size_t i = 0; i < from->n; i++)
		front_add(f, &from->v[i]);
	if (from->best.is_set)
		front_add(f, &from->best);
}

void
front_open(struct front *f, struct question q)
{
	*f = (struct front){ .a = f->a, .question = q, .fastest = f->fastest };
	f->seen = anew(f->a, struct hash_table, 1);
	f->seen->a = f->a;
}

void
front_set_fastest(struct front *f, const struct point *p)
{
	f->fastest = point_copy(f->a, p);
}

const struct point *
front_answer(const struct front *f)
{
	const struct question *q = &f->question;
	if (q->ask == ASK_SMALLEST)
		return f->best.is_set && f->best.sram <= q->within ? &f->best : NULL;
	if (q->ask == ASK_LEAST_SRAM)
		return f->n && f->v[0].sram <= q->within ? &f->v[0] : NULL;
	if (q->ask != ASK_FAST_ENOUGH)
		return front_fastest(f);
	const size_t enough = first_as_fast(f, q->cycles);
	return enough < f->n && f->v[enough].sram <= q->within ? &f->v[enough] : NULL;
}
