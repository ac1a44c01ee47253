/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes, costs and decodes one stream, and measures the times. */
#ifndef UNIT_CODING_H
#define UNIT_CODING_H

#include "weights/weights.h"

#include <math.h>
#include <string.h>
#include <time.h>

struct coding {
	const int16_t *v;
	size_t n;
	int level;
	struct bytes out;
	size_t cost;
	bool same; /* the decoded values equal the encoded ones */
	struct err e;
	double encode_s, cost_s, decode_s;
};

static inline void
coding_encode(struct coding *c, struct arena *a)
{
	c->out = weights_encode(a, c->v, c->n, c->level);
}

static inline void
coding_cost(struct coding *c, struct arena *a)
{
	(void)a;
	c->cost = weights_cost(c->v, c->n, c->level);
}

static inline void
coding_decode(struct coding *c, struct arena *a)
{
	struct weights_values back = { 0 };

	c->same = weights_decode(a, c->out, (int64_t)c->n, &back, &c->e) &&
		  memcmp(back.v, c->v, c->n * sizeof(*c->v)) == 0;
}

static inline double
coding_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/*
 * Seconds of one run: the minimum of several runs, as filling the caches takes longer
 * than a stream of a thousand values.
 */
static inline double
coding_time(struct coding *c, struct arena *a,
	    void (*run)(struct coding *, struct arena *))
{
	enum { LEAST_RUNS = 2, MOST_RUNS = 50 };
	double least = HUGE_VAL, spent = 0;

	for (int i = 0; i < LEAST_RUNS || (i < MOST_RUNS && spent < 2e-3);
	     i++) {
		double t0 = coding_now();
		run(c, a);
		double t = coding_now() - t0;
		spent += t;
		least = t < least ? t : least;
	}
	return least;
}

/* true if the encoded length equals the cost and the stream decodes to v */
static inline bool
coding_run(struct coding *c, struct arena *a)
{
	c->encode_s = coding_time(c, a, coding_encode);
	c->cost_s = coding_time(c, a, coding_cost);
	c->decode_s = coding_time(c, a, coding_decode);
	return c->same && c->cost == c->out.n;
}

#endif
