/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What candidates take, with estimated sizes of weights.  An estimate only reads the
 * network and changes no plan but its own, so that threads share them.
 */
#include "search.h"

#include "base/threads.h"

#include <math.h>

/* rooms between what the maps need and what transfers ask for, which may be many times
 * as much: powers of that ratio */
static const double room_powers[ROOMS - 1] = {
	0.04, 0.1, 0.17, 0.24, 0.34, 0.46, 0.63, 0.8 };

static bool
is_wanted(const struct wanted *w, const struct candidate *c, double cycles)
{
	return cycles < w->below && c->least <= w->limit &&
	       (!w->front || front_wants(w->front, c->least, c->least + c->beside, cycles));
}

/* cycles with transfers below some rooms, rising: nothing less takes fewer, but that
 * transfers choose greedily; so below one that is not wanted none is */
static void
estimate_rooms(struct sched *s, struct plan *p, struct candidate *c, const struct wanted *w)
{
	bool wanted = true;
	double least = (double)max_i64(c->least, ALIGN);
	double much = fmax((double)c->need / least, 1.05);
	for (int i = ROOMS - 2; i >= 0; i--) {
		c->room[i] = (int64_t)(least * pow(much, room_powers[i]));
		c->cycles[i] = INFINITY;
		if (!wanted)
			continue;
		plan_fetches(s, p, c->room[i]);
		c->cycles[i] = plan_bound(s, p);
		wanted = is_wanted(w, c, c->cycles[i]);
	}
}

bool
has_few_weights(const struct sched *s)
{
	enum { FEW = 16 };
	return s->g->n_weights <= FEW;
}

/* bytes that the maps need at least, of the limited place and of the other */
static void
find_least(struct sched *s, const struct plan *p, struct candidate *c)
{
	c->least = c->beside = 0;
	for (size_t k = 0; k < p->n_kernels; k++)
		c->least = p->map_bytes[k] > c->least ? p->map_bytes[k] : c->least;
	if (s->memory.spilling)
		c->beside = maps_least(s, p, PLACE_ARENA);
}

/* transfers by one policy; false: nobody wants it */
static bool
estimate(struct sched *s, struct plan *p, struct candidate *c, const struct wanted *w)
{
	if (!is_wanted(w, c, c->lower_bound))
		return false;
	p->eager = c->policy.eager;
	int64_t room = round_limit(w->limit, p, FINE);
	plan_fetches(s, p, room);
	if (p->need > room)
		plan_fetches(s, p, p->need); /* just room for the maps */
	if (p->need > w->limit)
		return false;
	c->estimate = plan_bound(s, p);
	c->need = p->need;
	if (!w->front)
		return true;
	if (!is_wanted(w, c, c->estimate))
		return false;
	c->room[ROOMS - 1] = NO_LIMIT_BYTES;
	c->cycles[ROOMS - 1] = c->estimate;
	estimate_rooms(s, p, c, w);
	return true;
}

struct estimation {
	struct sched *s;
	struct trial *trial;
	const struct wanted *wanted;
};

static void
estimate_trial(void *ctx, size_t i)
{
	const struct estimation *e = ctx;
	struct trial *t = &e->trial[i];
	struct candidate c = t->of;
	t->n = 0;
	c.lower_bound = fmax(plan_lower_bound(e->s, t->p, e->wanted->below), c.lower_bound);
	if (c.lower_bound >= e->wanted->below)
		return;
	find_maps(e->s, t->p);
	find_least(e->s, t->p, &c);
	for (int eager = 0; eager < 2; eager++) {
		struct candidate *found = &t->found[t->n];
		*found = c;
		found->policy.eager = eager;
		if (eager ? t->eager : t->lazy)
			t->n += estimate(e->s, t->p, found, e->wanted);
	}
}

void
estimate_trials(struct sched *s, struct trial *t, size_t n, const struct wanted *w)
{
	/* a kernel's walks take as long as a hundred weights' encoding */
	enum { WEIGHTS = 100 };
	struct estimation e = { .s = s, .trial = t, .wanted = w };
	int64_t cost[TRIALS];
	for (size_t i = 0; i < n; i++)
		cost[i] = WEIGHTS * (int64_t)t[i].p->n_kernels;
	threads_for(s->o->jobs, n, cost, estimate_trial, &e);
}
