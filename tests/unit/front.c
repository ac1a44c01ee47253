/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the front of plans (tools/npu-sched/search/front.c) with the list of all
 * added points: first only candidates for the smallest plan are wanted, then any.
 */
#include "base/arena.h"

#include "../../tools/npu-sched/search/search.h"
#include "drawn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CASES = 500, MOST_POINTS = 40, LIMITS = 1000 };

static struct point
draw_point(void)
{
	struct point p = { .sram = 1 + draw(LIMITS), .cycles = (double)(1 + draw(LIMITS)) };
	p.total = p.sram + draw(50);
	return p;
}

static double
weight_of(const struct point *p)
{
	return point_weight(p->total, p->cycles);
}

static double
least_weight(const struct point *v, int n)
{
	double least = INFINITY;
	for (int i = 0; i < n; i++)
		least = fmin(least, weight_of(&v[i]));
	return least;
}

/* the first n_small points were added while only the smallest within a limit was
 * wanted */
struct given {
	struct point v[MOST_POINTS];
	int n, n_small;
	int64_t within;
};

static void
add_all(struct front *f, struct given *g)
{
	g->n = 1 + (int)draw(MOST_POINTS);
	g->n_small = (int)draw(g->n + 1);
	g->within = 1 + draw(LIMITS);
	for (int i = 0; i < g->n; i++) {
		f->smallest_within = i < g->n_small ? g->within : 0;
		/* some points are equal to others */
		g->v[i] = i && !draw(4) ? g->v[draw(i)] : draw_point();
		front_add(f, &g->v[i]);
	}
}

static bool
is_smaller(const struct point *p, const struct point *q)
{
	return p->total < q->total || (p->total == q->total && p->cycles < q->cycles);
}

/* the smallest of the wanted points; NULL if there is none */
static const struct point *
find_smallest(const struct given *g)
{
	const struct point *best = NULL;
	for (int i = 0; i < g->n; i++) {
		bool wanted = i >= g->n_small || g->v[i].sram <= g->within;
		if (wanted && (!best || is_smaller(&g->v[i], best)))
			best = &g->v[i];
	}
	return best;
}

/* A point is wanted if it is lighter, smaller, or faster in no more memory.  While
 * only smallest plans are wanted, it must be smaller and within the limit. */
static bool
check_wanted(struct front *f, const struct given *g, const struct point *p)
{
	const struct point *q = front_fastest(f, p->sram), *least = find_smallest(g);
	const bool smaller = !least || is_smaller(p, least);
	bool wanted = smaller || !q || p->cycles < q->cycles ||
		      weight_of(p) < weight_of(&f->lightest);
	bool ok = front_wants(f, p->sram, p->total, p->cycles) == wanted;
	f->smallest_within = g->within;
	ok &= front_wants(f, p->sram, p->total, p->cycles) ==
	      (smaller && p->sram <= g->within);
	f->smallest_within = 0;
	return ok;
}

/* no point added while any point was wanted is faster in the same memory, or as fast
 * in less */
static bool
check_limit(const struct front *f, const struct given *g, int64_t limit)
{
	const struct point *q = front_fastest(f, limit);
	bool ok = !q || q->sram <= limit;
	for (int i = g->n_small; i < g->n; i++) {
		const struct point *p = &g->v[i];
		const struct point *small = front_smallest(f, p->cycles);
		ok &= small && small->sram <= p->sram;
		ok &= p->sram > limit || (q && q->cycles <= p->cycles);
	}
	return ok;
}

/* the extremes are those of the wanted points */
static bool
check_extremes(const struct front *f, const struct given *g)
{
	const struct point *least = find_smallest(g), *p = &f->smallest;
	bool ok = least ? p->total == least->total && p->cycles == least->cycles
			: p->cycles == 0;
	if (!g->n_small)
		ok &= weight_of(&f->lightest) == least_weight(g->v, g->n) &&
		      weight_of(front_lightest(f, LIMITS)) == weight_of(&f->lightest);
	return ok;
}

static bool
check(int number)
{
	struct front f = { .a = arena_open() };
	struct given g;
	add_all(&f, &g);
	f.smallest_within = 0;
	bool ok = check_extremes(&f, &g);
	for (size_t i = 1; i < f.n; i++)
		ok &= f.v[i - 1].sram < f.v[i].sram && f.v[i - 1].cycles > f.v[i].cycles;
	for (int i = 0; i < 20; i++) {
		struct point p = draw_point();
		ok &= check_wanted(&f, &g, &p) && check_limit(&f, &g, p.sram);
	}
	struct point p = draw_point();
	front_clear(&f);
	ok &= !front_fastest(&f, LIMITS) && !front_lightest(&f, LIMITS) &&
	      front_wants(&f, p.sram, p.total, p.cycles);
	if (!ok)
		printf("case %d: %d points, %d of them small: not the front of all\n", number,
		       g.n, g.n_small);
	arena_close(f.a);
	return ok;
}

int
main(void)
{
	int wrong = 0;
	for (int i = 0; i < CASES; i++)
		wrong += !check(i);
	return wrong != 0;
}
