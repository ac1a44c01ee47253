/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the answers of tools/npu-sched/search/front.c to each kind of question with a list
 * of all points that were added.
 */
#include "base/arena.h"

#include "../../tools/npu-sched/search/search.h"
#include "drawn.h"

#include <math.h>
#include <stdio.h>

enum { CASES = 2000, MOST_POINTS = 40, LIMITS = 1000, KINDS = ASK_ALL + 1 };

static struct point
draw_point(void)
{
	struct point p = { .sram = 1 + draw(LIMITS), .cycles = (double)(1 + draw(LIMITS)) };
	p.total = p.sram + draw(50);
	return p;
}

/* Does a point keep the limits of the question? */
static bool
is_allowed(const struct question *q, const struct point *p)
{
	return p->sram <= q->within && p->total <= q->total_within &&
	       (q->ask != ASK_FAST_ENOUGH || p->cycles <= q->cycles);
}

/* What the question minimizes: the first number, then the second. */
static void
merit(enum ask ask, const struct point *p, double v[2])
{
	const double sram = (double)p->sram, total = (double)p->total;
	v[0] = ask == ASK_SMALLEST ? total
	       : ask == ASK_LIGHTEST ? point_weight(p->total, p->cycles)
	       : ask == ASK_LEAST_SRAM || ask == ASK_FAST_ENOUGH ? sram : p->cycles;
	v[1] = ask == ASK_SMALLEST ? p->cycles
	       : ask == ASK_FASTEST || ask == ASK_ALL ? sram : 0;
}

static bool
is_better(enum ask ask, const struct point *p, const struct point *q)
{
	double a[2], b[2];
	merit(ask, p, a);
	merit(ask, q, b);
	return a[0] < b[0] || (a[0] == b[0] && a[1] < b[1]);
}

static bool
check(int number)
{
	struct front f = { .a = arena_open() };
	const struct question q = { .ask = (enum ask)(number % KINDS), .within = 1 + draw(LIMITS),
				    .total_within = draw(2) ? INT64_MAX : 1 + draw(LIMITS),
				    .cycles = (double)(1 + draw(LIMITS)) };
	const int n = 1 + (int)draw(MOST_POINTS);
	struct point v[MOST_POINTS];
	const struct point *best = NULL;
	front_open(&f, q);
	for (int i = 0; i < n; i++) {
		/* some points are equal to others */
		v[i] = i && !draw(4) ? v[draw(i)] : draw_point();
		/* a point that is better than the answer is wanted */
		const bool better = is_allowed(&q, &v[i]) &&
				    (!best || is_better(q.ask, &v[i], best));
		if (better && !front_wants(&f, v[i].sram, v[i].total, v[i].cycles))
			printf("case %d: point %d is not wanted\n", number, i);
		front_add(&f, &v[i]);
		best = better ? &v[i] : best;
	}
	const struct point *p = front_answer(&f);
	bool ok = best ? p && is_allowed(&q, p) && !is_better(q.ask, p, best) &&
				 !is_better(q.ask, best, p)
		       : !p;
	for (size_t i = 1; i < f.n; i++)
		ok &= f.v[i - 1].sram < f.v[i].sram && f.v[i - 1].cycles > f.v[i].cycles;
	if (!ok)
		printf("case %d: %d points, question %d: wrong answer\n", number, n, q.ask);
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
