/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All operations divided into chains: for a limit of memory the fastest sequence
 * of candidates that stays below it is a shortest path.
 */
#include "chains.h"

#include <string.h>

/*
 * Cycles of a candidate when this much memory is left for its weights.  Bands
 * want an operation's weights whole, all the time; without bands they can be
 * cut into slices that come and go.
 */
static double
cost_with_room(const struct candidate *k, int64_t room)
{
	double in_place = k->chain.cost[0], fetched = k->chain.cost[1];
	if (!k->weights || room >= k->weights)
		return fetched;
	if (k->chain.rows) {
		for (int i = 0; i < k->n_savings; i++)
			if (k->saving[i].bytes <= room) {
				in_place -= k->saving[i].cycles;
				room -= k->saving[i].bytes;
			}
		return in_place;
	}
	double share = room > 0 ? (double)room / (double)k->weights : 0;
	return in_place - (in_place - fetched) * share;
}

struct path {
	double cycles;
	int64_t peak;
	int candidate;
};

static struct path *
shortest(struct sched *s, struct arena *a, const struct chains *c, int64_t limit,
	 bool slide)
{
	struct path *p = anew(a, struct path, (size_t)s->n_ops + 1);
	p[0].peak = c->cpu_bytes;
	for (int i = 0; i < s->n_ops; i++) {
		p[i + 1].candidate = -1;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct candidate *x = &c->v[k];
			const struct path *from = &p[x->chain.first];
			int64_t bytes = x->bytes + (slide ? 0 : x->slid);
			if (bytes > limit || p[0].peak > limit ||
			    (x->chain.first && from->candidate < 0))
				continue;
			double cycles = from->cycles + cost_with_room(x, limit - bytes);
			int64_t peak = bytes > from->peak ? bytes : from->peak;
			if (p[i + 1].candidate >= 0 &&
			    (cycles > p[i + 1].cycles ||
			     (cycles == p[i + 1].cycles && peak >= p[i + 1].peak)))
				continue;
			p[i + 1] = (struct path){ cycles, peak, k };
		}
	}
	return p;
}

int64_t
chains_least(struct sched *s, const struct chains *c)
{
	struct arena *a = arena_open();
	int64_t *peak = anew(a, int64_t, (size_t)s->n_ops + 1);
	peak[0] = c->cpu_bytes;
	for (int i = 0; i < s->n_ops; i++) {
		peak[i + 1] = INT64_MAX;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct candidate *x = &c->v[k];
			int64_t from = peak[x->chain.first];
			int64_t most = x->bytes > from ? x->bytes : from;
			peak[i + 1] = most < peak[i + 1] ? most : peak[i + 1];
		}
	}
	int64_t least = peak[s->n_ops];
	arena_close(a);
	return least;
}

double
chains_floor(struct sched *s, const struct chains *c, const int *picked, int n,
	     enum cut cut)
{
	double sum = 0;
	while (n-- > 0) {
		const struct chain *x = &c->v[picked[n]].chain;
		sum += x->rows ? x->floor : whole_floor(s, x->first, cut);
	}
	return sum * (1 - ROUNDING);
}

struct chains_bound
chains_bound(const struct chains *c)
{
	return (struct chains_bound){ .floor = c->floor, .in_place = c->in_place };
}

int64_t
chains_most(const struct chains *c)
{
	int64_t most = c->whole_peak;
	for (size_t i = 0; i < c->n; i++) {
		const struct candidate *x = &c->v[i];
		if (x->bytes + x->slid + x->weights > most)
			most = x->bytes + x->slid + x->weights;
	}
	return most;
}

int64_t
chains_whole_peak(const struct chains *c)
{
	return c->whole_peak;
}

int
chains_choose(struct sched *s, const struct chains *c, int64_t limit, bool slide,
	      int *picked)
{
	struct arena *a = arena_open();
	const struct path *p = shortest(s, a, c, limit, slide);
	int n = 0;
	if (s->n_ops && p[s->n_ops].candidate >= 0)
		for (int i = s->n_ops; i > 0; i = c->v[picked[n++]].chain.first)
			picked[n] = p[i].candidate;
	arena_close(a);
	return n;
}

static void
run_bands(struct sched *s, struct arena *a, struct chain *c)
{
	if (c->kernel)
		return;
	c->band = anew(a, int32_t, (size_t)(c->last - c->first) + 1);
	(void)chain_price(s, c);
	chain_run(s, a, c, true);
}

static void
take(struct sched *s, const struct chain *c, struct plan *p, bool slide)
{
	memcpy(p->kernel + p->n_kernels, c->kernel, c->n_kernels * sizeof(*c->kernel));
	p->n_kernels += c->n_kernels;
	for (int i = c->first; i <= c->last; i++) {
		bool over = i == c->last && (slide || !c->lead);
		p->over[i] = over ? c->over : NULL;
		p->lead[i] = c->lead;
		p->band[i] = c->rows ? c->band[i - c->first] : 0;
		p->rolling[i] = c->rows && i < c->last ? c->rolling[i - c->first] : 0;
		if (p->rolling[i] >= s->info[i].op->ofm.t->hwc.h)
			p->rolling[i] = 0;
	}
}

void
chains_take(struct sched *s, struct chains *c, const int *picked, int n, bool slide,
	    struct plan *out)
{
	size_t kernels = 0;
	for (int i = 0; i < n; i++) {
		run_bands(s, c->a, &c->v[picked[i]].chain);
		kernels += c->v[picked[i]].chain.n_kernels;
	}
	out->kernel = anew(out->a, struct kernel, kernels + 1);
	while (n-- > 0)
		take(s, &c->v[picked[n]].chain, out, slide);
	for (size_t i = 0; i < c->slides.n; i++) {
		const struct slide *x = &c->slides.v[i];
		out->over[x->first] = x->from;
		out->lead[x->first] = x->lead;
	}
}
