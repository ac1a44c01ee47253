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
	       ((q->ask != ASK_FAST_ENOUGH && q->ask != ASK_SMALLEST) || p->cycles <= q->cycles);
}

/* What the question minimizes: the first number, then the second. */
static void
merit(enum ask ask, const struct point *p, double v[2])
{
	const double sram = (double)p->sram, total = (double)p->total;
	v[0] = ask == ASK_SMALLEST ? total
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

static struct question
draw_question(int number)
{
	return (struct question){ .ask = (enum ask)(number % KINDS), .within = 1 + draw(LIMITS),
				  .total_within = draw(2) ? INT64_MAX : 1 + draw(LIMITS),
				  .cycles = (double)(1 + draw(LIMITS)),
				  .improvable = IMPROVABLE };
}

static bool
check(int number)
{
	struct front f = { .a = arena_open() };
	const struct question q = draw_question(number);
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

/* Copies of a front, to which points were added in any order, and then merged, have the same
 * answer as one front with all points. */
static bool
check_merge(int number)
{
	enum { COPIES = 3 };
	struct front all = { .a = arena_open() }, f = { .a = all.a }, copy[COPIES];
	const struct question q = draw_question(number);
	front_open(&all, q);
	front_open(&f, q);
	for (int i = (int)draw(MOST_POINTS); i > 0; i--) {
		const struct point p = draw_point();
		front_add(&all, &p);
		front_add(&f, &p);
	}
	for (int k = 0; k < COPIES; k++)
		copy[k] = front_copy(&f, f.a);
	for (int i = (int)draw(MOST_POINTS); i > 0; i--) {
		const struct point p = draw_point();
		front_add(&all, &p);
		front_add(&copy[draw(COPIES)], &p);
	}
	for (int k = 0; k < COPIES; k++)
		front_merge(&f, &copy[k]);
	const struct point *x = front_answer(&all), *y = front_answer(&f);
	const bool ok = x && y ? !is_better(q.ask, x, y) && !is_better(q.ask, y, x) : !x && !y;
	if (!ok)
		printf("case %d, question %d: merged copies give another answer\n", number, q.ask);
	arena_close(all.a);
	return ok;
}

int
main(void)
{
	int wrong = 0;
	for (int i = 0; i < CASES; i++)
		wrong += !check(i) + !check_merge(i);
	return wrong != 0;
}
