/* SPDX-License-Identifier: Apache-2.0 */
/* Which maps leave the NPU's own SRAM. */
#include "chains.h"

/* the least that runs each operation, alone or in a chain */
static void
find_needs(const struct sched *s, const struct chains *c, int64_t *need)
{
	for (int i = 0; i < s->n_ops; i++)
		need[i] = INT64_MAX;
	for (size_t k = 0; k < c->n; k++)
		for (int i = c->v[k].chain.first; i <= c->v[k].chain.last; i++)
			need[i] = c->v[k].bytes < need[i] ? c->v[k].bytes : need[i];
}

/* the operation with most bytes live, of those that need more than limit */
static int
find_fullest(const struct sched *s, const int64_t *live, const int64_t *need,
	     int64_t limit)
{
	int fullest = -1;
	for (int i = 0; i < s->n_ops; i++)
		if (need[i] > limit && (fullest < 0 || live[i] > live[fullest]))
			fullest = i;
	return fullest;
}

static int
largest_at(const struct chains *c, int op)
{
	int best = -1;
	for (size_t i = 0; i < c->n_lives; i++) {
		const struct life *l = &c->life[i];
		if (l->lo <= op && l->hi >= op && l->bytes > 0 &&
		    (best < 0 || l->bytes > c->life[best].bytes))
			best = (int)i;
	}
	return best;
}

bool
chains_spill(struct sched *s, struct chains *c, int64_t limit)
{
	int64_t *live = anew(c->a, int64_t, (size_t)s->n_ops + 1);
	int64_t *need = anew(c->a, int64_t, (size_t)s->n_ops + 1);
	bool any = false;
	find_needs(s, c, need);
	for (int i = 0; i < s->n_ops; i++)
		live[i] = c->v[c->first_of[i]].bytes;
	for (;;) {
		int op = find_fullest(s, live, need, any ? limit : -1);
		int t = op < 0 ? -1 : largest_at(c, op);
		if (t < 0)
			return any;
		struct life *l = &c->life[t];
		for (int i = l->lo; i <= l->hi; i++) {
			live[i] -= l->bytes;
			need[i] -= l->bytes;
		}
		l->bytes = 0;
		s->g->tensors[t]->area = PLACE_ARENA;
		any = true;
	}
}
