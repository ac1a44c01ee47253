/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The front of plans (tools/npu-sched/search/front.c) against all points that it was
 * given: first those alone that may be the lightest, then any.
 */
#include "base/arena.h"

#include "../../tools/npu-sched/search/search.h"
#include "drawn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { CASES = 500, MOST_POINTS = 40, LIMITS = 1000 };

static const double heaviest = 1.3;

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

/* the first n_light were added while heavy ones were not wanted */
struct given {
	struct point v[MOST_POINTS];
	int n, n_light;
};

static void
add_all(struct front *f, struct given *g)
{
	g->n = 1 + (int)draw(MOST_POINTS);
	g->n_light = (int)draw(g->n + 1);
	for (int i = 0; i < g->n; i++) {
		f->heaviest = i < g->n_light ? heaviest : 0;
		/* some are the same as others */
		g->v[i] = i && !draw(4) ? g->v[draw(i)] : draw_point();
		front_add(f, &g->v[i]);
	}
}

/* what is lighter is wanted, and what is faster in no more memory, but for the heavy ones */
static bool
check_wanted(struct front *f, const struct given *g, const struct point *p)
{
	const struct point *q = front_fastest(f, p->sram);
	double weight = weight_of(p), least = least_weight(g->v, g->n);
	bool faster = !q || p->cycles < q->cycles, ok = true;
	for (int light = 0; light < 2; light++) {
		f->heaviest = light ? heaviest : 0;
		bool wanted = weight < least ||
			      (faster && (!light || weight < heaviest * least));
		ok &= front_wants(f, p->sram, p->total, p->cycles) == wanted;
	}
	return ok;
}

/* nothing that was wanted whenever it came is faster in as much memory, or as fast in less */
static bool
check_limit(const struct front *f, const struct given *g, int64_t limit)
{
	const double most = heaviest * least_weight(g->v, g->n);
	const struct point *q = front_fastest(f, limit);
	bool ok = !q || q->sram <= limit;
	for (int i = 0; i < g->n; i++) {
		const struct point *p = &g->v[i];
		if (i < g->n_light && weight_of(p) >= most)
			continue;
		const struct point *small = front_smallest(f, p->cycles);
		ok &= small && small->sram <= p->sram;
		ok &= p->sram > limit || (q && q->cycles <= p->cycles);
	}
	return ok;
}

static bool
check(int number)
{
	struct front f = { .a = arena_open() };
	struct given g;
	add_all(&f, &g);
	bool ok = weight_of(&f.lightest) == least_weight(g.v, g.n) &&
		  weight_of(front_lightest(&f, LIMITS)) == weight_of(&f.lightest);
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
		printf("case %d: %d points, %d of them light: not the front of all\n", number,
		       g.n, g.n_light);
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
