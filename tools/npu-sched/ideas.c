/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates: what maps may take, how finely weights are cut, what happens to
 * weights that are late.  All are costed with estimated sizes; the encoder's
 * exact sizes decide between the best few.
 */
#include "search.h"

#include <stdlib.h>

static const struct policy policies[] = {
	{ .target = 0 },
	{ .target = 32768 },
	{ .target = 4096 },
	{ .target = 0, .eager = true },
	{ .target = 12288, .eager = true },
	{ .target = 0, .slide = true },
	{ .target = 12288, .slide = true },
	{ .target = 4096, .slide = true },
};

/* qsort's order: fastest first, then smallest */
static int
compare_ideas(const void *x, const void *y)
{
	const struct idea *a = x, *b = y;
	if (a->cycles != b->cycles)
		return a->cycles < b->cycles ? -1 : 1;
	if (a->need != b->need)
		return a->need < b->need ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static bool
is_better(const struct plan *a, const struct plan *b)
{
	return !b || a->cycles < b->cycles ||
	       (a->cycles == b->cycles && a->need < b->need);
}

/* the plan with estimated sizes, still without transfers; NULL: there is none */
static struct plan *
make_plan(struct search *x, const struct idea *i)
{
	struct plan *p = plan_new(x->s);
	p->eager = i->policy.eager;
	if (!chains_choose(x->s, x->chains, i->maps, i->policy.slide, p)) {
		plan_close(p);
		return NULL;
	}
	make_units(x->s, p, i->policy.target);
	find_maps(x->s, p);
	p->taken = anew(p->a, int64_t, p->n_kernels + 1);
	return p;
}

/* plans are large and many: kept is how to make them again */
static void
try_plan(struct search *x, int64_t maps, int64_t limit, struct policy policy)
{
	struct idea i = { .maps = maps, .limit = limit, .policy = policy,
			  .number = x->n };
	struct plan *p = x->n < MAX_CANDIDATES ? make_plan(x, &i) : NULL;
	if (!p)
		return;
	plan_fetches(x->s, p, limit);
	i.cycles = p->cycles;
	i.need = p->need;
	i.n_kernels = p->n_kernels;
	plan_close(p);
	/* addresses come when sizes are exact; the bound tells enough here */
	if (i.need <= limit)
		x->v[x->n++] = i;
}

struct plan *
realise(struct search *x, const struct idea *i, int64_t limit)
{
	struct plan *p = make_plan(x, i);
	if (measure_units(x->s, p) && plan_fit(x->s, p, limit))
		return p;
	plan_close(p);
	return NULL;
}

/*
 * Candidates below a limit, best first.  What maps may take rises in steps that
 * do not depend on the limit: what was possible with less stays possible.
 */
void
list_plans(struct search *x, int64_t limit)
{
	x->n = 0;
	bool free = limit >= NO_LIMIT_BYTES;
	for (size_t t = 0; t < ARRAY_LEN(policies); t++) {
		int64_t maps = x->least;
		for (; !free && maps < limit; maps += maps / 8 + 16)
			try_plan(x, maps, limit, policies[t]);
		try_plan(x, limit, limit, policies[t]);
	}
	qsort(x->v, x->n, sizeof(*x->v), compare_ideas);
}

void
list_full_plans(struct search *x, int64_t limit)
{
	x->n = 0;
	for (size_t i = 0; i < ARRAY_LEN(policies); i++)
		if (!policies[i].eager)
			try_plan(x, limit, limit, policies[i]);
}

/*
 * Exact sizes for the candidates in order, until what was found, now or before,
 * beats what the rest promise.  Sizes decide discretely: weights fit beside the
 * maps or not.
 */
static struct plan *
decide(struct search *x, int64_t limit, struct plan *best)
{
	size_t few = 8 * (size_t)x->s->o->effort;
	const struct idea *last = NULL;
	for (size_t k = 0; k < x->n && (k < few || !best); k++) {
		const struct idea *i = &x->v[k];
		if (best && best->cycles <= i->cycles)
			break;
		if (last && last->cycles == i->cycles && last->n_kernels == i->n_kernels)
			continue; /* the same again */
		last = i;
		struct plan *p = realise(x, i, limit);
		if (p && is_better(p, best)) {
			plan_close(best);
			best = p;
		} else {
			plan_close(p);
		}
		if (x->s->e->status)
			break;
	}
	return best;
}

/* down to seven significant bits */
static int64_t
round_limit(int64_t limit)
{
	int64_t step = 16;
	while (limit / step >= 128)
		step *= 2;
	return limit / step * step;
}

/*
 * The best plan below a limit.  A lower limit must not have a better one, and
 * greedy choices may well miss what they found with less.  So limits of few
 * digits, which others share, are searched too, from this one on downwards, until
 * several in a row promise nothing better; none where addresses cost next to
 * nothing of what was promised, as where the limit is out of reach.
 */
struct plan *
search_fastest(struct search *x, int64_t limit)
{
	enum { PATIENCE = 6 };
	const double next_to_nothing = 1.0005;
	list_plans(x, limit);
	struct plan *best = decide(x, limit, NULL);
	if (limit >= NO_LIMIT_BYTES ||
	    (best && best->cycles <= x->v[0].cycles * next_to_nothing))
		return best;
	for (int dull = 0, n = 0; dull < PATIENCE && n < x->lower; n++) {
		limit = round_limit(limit - 1);
		if (limit < x->least || x->s->e->status)
			break;
		list_plans(x, limit);
		dull = best && x->n && x->v[0].cycles < best->cycles ? 0 : dull + 1;
		best = decide(x, limit, best);
	}
	return best;
}
