/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Without a limit, the fastest plan may keep feature maps and weights that buy nothing.  Finds
 * the smallest of the plans that are as fast.
 */
#include "search.h"

#include <math.h>
#include <stdlib.h>

/* For qsort: by the bytes that feature maps need. */
static int
compare_least(const void *x, const void *y)
{
	const struct candidate *a = *(struct candidate *const *)x,
			       *b = *(struct candidate *const *)y;
	if (a->least != b->least)
		return a->least < b->least ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static bool
may_match_cycles(const struct candidate *k, const struct plan *p)
{
	const double nearly = 1.001; /* estimates are made with estimated sizes */
	return k->lower_bound <= p->cycles && k->estimate <= p->cycles * nearly;
}

/* Lists candidates that may be as fast as p in less memory, the smallest first. */
static size_t
list_smaller(const struct variant *x, const struct plan *p, struct candidate **v)
{
	size_t n = 0;
	for (size_t i = 0; i < x->n; i++) {
		struct candidate *k = &x->v[i];
		if (may_match_cycles(k, p) && k->least < peak_of(x->s, p))
			v[n++] = k;
	}
	qsort(v, n, sizeof(struct candidate *), compare_least);
	return n;
}

/* Is candidate i as fast as p in less memory?  If so, leaves it open with that plan. */
static bool
is_smaller_plan(struct variant *x, struct candidate *i, const struct plan *p)
{
	struct sched *s = x->s;
	const struct fitting all = { .limit = NO_LIMIT_BYTES, .how = SUMMED, .most = INT64_MAX };
	candidate_close(i); /* it is open if it was the fastest for a while */
	if (!work_out(x, i))
		return false;
	(void)candidate_packed(x, i);
	if (plan_may_trim(s, i->plan, peak_of(s, p), p->cycles) &&
	    plan_fit(s, i->plan, all, nextafter(p->cycles, INFINITY)))
		plan_trim(s, i->plan);
	else
		i->plan->cycles = INFINITY;
	if (i->plan->cycles <= p->cycles && peak_of(s, i->plan) < peak_of(s, p))
		return true;
	candidate_close(i);
	return false;
}

bool
may_shrink_to(const struct variant *x, const struct plan *p, int64_t bytes)
{
	bool any = peak_of(x->s, p) <= bytes;
	for (size_t i = 0; i < x->n && !any; i++)
		any = may_match_cycles(&x->v[i], p) && x->v[i].least <= bytes;
	return any;
}

struct plan *
shrink(struct variant *x, struct plan *p)
{
	enum { TRIES = 12 };
	struct candidate **v = anew(x->list, struct candidate *, x->n + 1);
	plan_trim(x->s, p);
	size_t n = list_smaller(x, p, v);
	for (size_t i = 0; i < n && i < TRIES; i++) {
		if (!is_smaller_plan(x, v[i], p))
			continue;
		plan_close(p);
		p = v[i]->plan;
		v[i]->plan = NULL;
		break;
	}
	return p;
}
