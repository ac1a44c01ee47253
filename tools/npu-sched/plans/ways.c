/* SPDX-License-Identifier: Apache-2.0 */
/* The way to decide about transfers that suits a plan best. */
#include "../weights/transfers.h"

#include <string.h>

/* a way that cannot save more of all cycles is not walked */
static const double WORTHWHILE = 0.02;

/* what a walk has decided, until another one is better */
struct decided {
	struct weight_slice *slice;
	struct fetch *fetch;
	size_t n_fetches;
	double cycles;
	int64_t need;
};

static struct decided
keep_decided(struct arena *a, const struct plan *p)
{
	struct decided d = { .n_fetches = p->n_fetches, .cycles = p->cycles, .need = p->need };
	d.slice = anew(a, struct weight_slice, p->n_slices + 1);
	d.fetch = anew(a, struct fetch, p->n_fetches + 1);
	memcpy(d.slice, p->slice, p->n_slices * sizeof(*d.slice));
	if (d.n_fetches)
		memcpy(d.fetch, p->fetch, d.n_fetches * sizeof(*d.fetch));
	return d;
}

/* the plan has had room for as many transfers */
static void
take_decided(struct sched *s, struct plan *p, struct walking x, const struct decided *d)
{
	memcpy(p->slice, d->slice, p->n_slices * sizeof(*d->slice));
	if (d->n_fetches)
		memcpy(p->fetch, d->fetch, d->n_fetches * sizeof(*d->fetch));
	p->n_fetches = d->n_fetches;
	p->cycles = d->cycles;
	p->need = d->need;
	list_buffers(s, p, x.between);
}

/* p->asked: with no less each way would decide the same */
static void
walk_way(struct sched *s, struct plan *p, struct walking x, double saves[WAYS],
	 int64_t *asked)
{
	p->bound_known = 0;
	walk_transfers(s, p, x, saves);
	*asked = p->asked > *asked ? p->asked : *asked;
	p->asked = *asked;
}

/* what the first one has left becomes what the way with the lowest bound leaves; of
 * those the first */
static void
compare_ways(struct sched *s, struct plan *p, struct walking x, const double saves[WAYS],
	     int64_t asked)
{
	struct arena *a = arena_open();
	const double most = WORTHWHILE * p->cycles;
	double none[WAYS], least = plan_bound(s, p);
	enum transfers best = IN_PIECES;
	struct decided kept = keep_decided(a, p);
	for (enum transfers way = IN_ONE; way < WAYS; way++) {
		if (saves[way] <= most)
			continue;
		x.way = way;
		walk_way(s, p, x, none, &asked);
		double bound = plan_bound(s, p);
		if (bound >= least)
			continue;
		least = bound;
		best = way;
		kept = keep_decided(a, p);
	}
	if (x.way != best)
		take_decided(s, p, x, &kept);
	p->bound_known = least;
	arena_close(a);
}

static void
walk_ways(struct sched *s, struct plan *p, struct walking x)
{
	int64_t asked = 0;
	double saves[WAYS];
	p->used_ahead = 0;
	walk_way(s, p, x, saves, &asked);
	for (enum transfers way = IN_ONE; way < WAYS; way++)
		if (saves[way] > WORTHWHILE * p->cycles) {
			compare_ways(s, p, x, saves, asked);
			return;
		}
}

void
plan_fetches(struct sched *s, struct plan *p, int64_t limit)
{
	walk_ways(s, p, (struct walking){ .limit = limit });
}

void
plan_fetches_between(struct sched *s, struct plan *p, int64_t limit)
{
	walk_ways(s, p, (struct walking){ .limit = limit, .between = true });
}
