/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the division into cascades for a limit (tools/npu-sched/cascades/divide.c)
 * with all divisions of a few operations.
 */
#include "base/arena.h"
#include "base/fixed.h"

#include "../../tools/npu-sched/cascades/cascades.h"
#include "drawn.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_OPS = 7, LENGTH = 3, WAYS = 2, CASES = 2000 };

/* all cascades of up to LENGTH operations, in some variants, by their last operation */
static struct cascades
draw_cascades(struct arena *a, int n_ops)
{
	struct cascades c = { .a = a };
	c.v = anew(a, struct cascade_choice, MOST_OPS * LENGTH * WAYS);
	c.first_of = anew(a, int, MOST_OPS + 1);
	c.sums[LIMITED].at_cpu = draw(200);
	for (int last = 0; last < n_ops; last++) {
		c.first_of[last] = (int)c.n;
		for (int k = 0; k < LENGTH * WAYS; k++) {
			int length = k / WAYS + 1;
			double fetched = (double)(length * (50 + draw(100)));
			if (length > last + 1)
				continue;
			c.v[c.n++] = (struct cascade_choice){
				.first = last + 1 - length, .last = last,
				.cost = { fetched + (double)draw(80), fetched },
				.bytes = { 50 + draw(400) }, .slid = { draw(60) },
				.weights = draw(3) ? draw(300) : 0 };
		}
	}
	c.first_of[n_ops] = (int)c.n;
	return c;
}

/* weights without stripes: the free bytes hold a share of them */
static double
cycles_of(const struct cascade_choice *x, int64_t room)
{
	double share = x->weights ? fmin((double)room / (double)x->weights, 1) : 1;
	return x->cost[0] - (x->cost[0] - x->cost[1]) * share;
}

/* INFINITY if the cascade does not fit */
static double
cycles_below(const struct cascades *c, int choice, int64_t limit, bool slide, bool in_place)
{
	const struct cascade_choice *x = &c->v[choice];
	int64_t bytes = x->bytes[LIMITED] + (slide ? 0 : x->slid[LIMITED]);
	return bytes > limit ? INFINITY : cycles_of(x, in_place ? 0 : limit - bytes);
}

/* the fewest cycles of operations before `end`, over all divisions */
static double
fewest(const struct cascades *c, int end, int64_t limit, bool slide, bool in_place)
{
	double least = INFINITY;
	if (!end)
		return c->sums[LIMITED].at_cpu > limit ? INFINITY : 0;
	for (int k = c->first_of[end - 1]; k < c->first_of[end]; k++)
		least = fmin(least, fewest(c, c->v[k].first, limit, slide, in_place) +
				    cycles_below(c, k, limit, slide, in_place));
	return least;
}

/* cycles of the selected cascades; -1 if they do not divide all operations */
static double
cycles_picked(const struct cascades *c, const int *picked, int n, int n_ops, int64_t limit,
	      bool slide, bool in_place)
{
	double sum = 0;
	int end = n_ops;
	for (int i = 0; i < n; i++) {
		const struct cascade_choice *x = &c->v[picked[i]];
		if (x->last != end - 1)
			return -1;
		end = x->first;
		sum += cycles_below(c, picked[i], limit, slide, in_place);
	}
	return end ? -1 : sum;
}

static bool
check(int number)
{
	struct arena *a = arena_open();
	int n_ops = 1 + (int)draw(MOST_OPS);
	struct sched s = { .a = a, .n_ops = n_ops };
	struct cascades c = draw_cascades(a, n_ops);
	int64_t limit = draw(700);
	bool slide = draw(2), in_place = draw(2);
	double least = fewest(&c, n_ops, limit, slide, in_place);
	const struct division d = cascades_choose(&s, a, &c, limit, slide, in_place);
	double cycles = d.n ? cycles_picked(&c, d.picked, d.n, n_ops, limit, slide, in_place)
			    : INFINITY;
	/* the same numbers added in another order */
	bool ok = d.n ? fabs(cycles - least) <= least * ROUNDING : least == INFINITY;
	/* below the smallest possible limit there is no division */
	int64_t works = cascades_least(&s, &c);
	ok &= cascades_choose(&s, a, &c, works, true, in_place).n > 0 &&
	      cascades_choose(&s, a, &c, works - 1, true, in_place).n == 0;
	if (!ok)
		printf("case %d: %d operations below %" PRId64 ": %g cycles, fewest %g\n",
		       number, n_ops, limit, cycles, least);
	arena_close(a);
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
