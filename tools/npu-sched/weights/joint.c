/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides about all weight slices of a node together.  The walk (fetch.c) fetches each slice as early
 * as it can, so a transfer that saves little can delay a later one that would save much.  Here
 * the buffers of different slices do not compete for memory.  Then decisions follow from three
 * clocks: the end of the kernels so far, the end of the transfers so far, and the time for which
 * the memory of constants has been busy.  At the first use of a slice each state becomes up to
 * three: the slice stays in place, or the kernel waits for a transfer of the slice or of its
 * scales.  States that are later than another one in kernels and in transfers are dropped.
 *
 * A node takes as long as its kernels, but no less than the memory of constants is busy.
 * Therefore decisions are found by the kernels alone, and by means of both times; the best ones
 * stay.
 */
#include "../costs/costs.h"
#include "graph/facts.h"
#include "transfers.h"

#include <math.h>
#include <string.h>

enum {
	MOST_STATES = 8,
	FAR = 64, /* kernels: a buffer that fits for so long before its first use fits for ever */
	NONE = -1,
};

/* A decision, and the one before it as an index. */
struct choice {
	int before, slice;
	enum held held;
};

struct state {
	double kernels, transfers, busy; /* cycles */
	double rank; /* mean of kernels and busy */
	int last; /* the last decision, as an index; NONE: no slice yet */
	struct choice next; /* not in the list of choices yet */
};

/* States by rising time of transfers and falling rank. */
struct states {
	struct state v[HELDS * MOST_STATES];
	int n;
};

/* What a slice costs, by enum held. */
struct option {
	double cycles; /* of all its kernels, less the least cost of those behind the first one */
	double busy, transfer;
	double ahead; /* cycles before the first use from which on its buffer fits; NAN: never */
};

struct joint {
	struct sched *s;
	struct plan *p;
	struct arena *a;
	struct option (*option)[HELDS]; /* of each slice */
	double share; /* of the busy time in the rank, 0 to 1 */
	struct states now;
	struct choice *choice;
	size_t n_choices, cap_choices;
};

static double
rank_of(const struct joint *j, const struct state *x)
{
	return (1 - j->share) * x->kernels + j->share * x->busy;
}

/* Inserts a state unless another one is no later in both. */
static void
insert(struct states *l, const struct state *x)
{
	int at = l->n, end;
	while (at > 0 && l->v[at - 1].transfers > x->transfers)
		at--;
	if (at > 0 && l->v[at - 1].rank <= x->rank)
		return;
	for (end = at; end < l->n && l->v[end].rank >= x->rank; end++)
		continue;
	memmove(&l->v[at + 1], &l->v[end], (size_t)(l->n - end) * sizeof(*l->v));
	l->n += 1 - (end - at);
	l->v[at] = *x;
}

/* The first use of a slice. */
static void
use_slice(struct joint *j, int slice)
{
	const struct states was = j->now;
	j->now.n = 0;
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		const struct option *o = &j->option[slice][h];
		for (int i = 0; i < was.n && !isnan(o->ahead) && isfinite(o->cycles); i++) {
			struct state x = was.v[i];
			if (h != IN_PLACE) {
				x.transfers = fmax(x.transfers, x.kernels - o->ahead) + o->transfer;
				x.kernels = fmax(x.kernels, x.transfers);
			}
			x.kernels += o->cycles;
			x.busy += o->busy;
			x.rank = rank_of(j, &x);
			x.next = (struct choice){ x.last, slice, h };
			insert(&j->now, &x);
		}
	}
	/* every other state is dropped, but not the last one, whose rank is the least */
	while (j->now.n > MOST_STATES) {
		int n = 0;
		for (int i = (j->now.n - 1) % 2; i < j->now.n; i += 2)
			j->now.v[n++] = j->now.v[i];
		j->now.n = n;
	}
	for (int i = 0; i < j->now.n; i++) {
		agrow(j->a, j->choice, j->n_choices, &j->cap_choices);
		j->now.v[i].last = (int)j->n_choices;
		j->choice[j->n_choices++] = j->now.v[i].next;
	}
}

static void
run_kernel(struct joint *j, int kernel)
{
	const struct kernel *k = &j->p->kernel[kernel];
	const bool first = k->slice >= 0 && j->p->slice[k->slice].first == kernel;
	const double cycles = first ? 0 : least_cost(k);
	const double busy = k->slice < 0 ? constants_busy(j->s, k, IN_PLACE) : 0;
	if (k->table_load > 0) { /* the kernel waits for its table */
		const struct states was = j->now;
		j->now.n = 0;
		for (int i = 0; i < was.n; i++) {
			struct state x = was.v[i];
			x.kernels = x.transfers = fmax(x.transfers, x.kernels) + k->table_load;
			x.rank = rank_of(j, &x);
			insert(&j->now, &x);
		}
	}
	for (int i = 0; i < j->now.n; i++) {
		struct state *x = &j->now.v[i];
		x->kernels += cycles;
		x->busy += busy;
		x->rank = rank_of(j, x);
	}
	if (first)
		use_slice(j, k->slice);
}

static void
find_options(struct joint *j, int slice, int64_t limit)
{
	const struct plan *p = j->p;
	const struct weight_slice *u = &p->slice[slice];
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		struct option o = { .cycles = 0 };
		if (h != IN_PLACE) {
			double memory[MEM_AREAS] = { 0 };
			add_weights_memory(j->s, held_bytes(u, h), memory);
			o.busy = memory[j->s->memory.const_area];
			o.transfer = weights_transfer(j->s, held_bytes(u, h));
			/* how far ahead the buffer fits beside the feature maps */
			const int64_t most = limit - held_bytes(u, h);
			int i = u->last;
			for (; i >= 0 && i > u->first - FAR && p->map_bytes[i] <= most; i--)
				if (i < u->first)
					o.ahead += least_cost(&p->kernel[i]);
			if (i >= u->first)
				o.ahead = NAN;
			else if (i < 0 || i <= u->first - FAR)
				o.ahead = INFINITY;
		}
		for (int i = u->first; i <= u->last; i++) {
			const struct kernel *k = &p->kernel[i];
			if (k->slice != slice)
				continue;
			o.busy += constants_busy(j->s, k, h);
			o.cycles += k->cost[h] - (i > u->first ? least_cost(k) : 0);
		}
		j->option[slice][h] = o;
	}
}

/* Decides about the slices of kernels [from, to).  in_place: scratch for each slice. */
static void
decide_best(struct joint *j, int from, int to, bool *in_place)
{
	static const double shares[] = { 0, 0.5, 0.9 };
	const struct kernel *kernel = j->p->kernel;
	double least = INFINITY;
	for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
		j->share = shares[i];
		j->n_choices = 0;
		j->now = (struct states){ .n = 1, .v[0].last = NONE };
		for (int k = from; k < to; k++)
			if (!op_is_transfer(j->s->info[kernel[k].op].op->kind))
				run_kernel(j, k);
		const struct state *end = &j->now.v[j->now.n - 1];
		for (int c = end->last; c != NONE; c = j->choice[c].before)
			in_place[j->choice[c].slice] = j->choice[c].held == IN_PLACE;
		const double cycles = fmax(end->kernels, end->busy);
		for (int k = from; cycles < least && k < to; k++)
			if (kernel[k].slice >= 0)
				decide_slice(j->p, (size_t)kernel[k].slice, in_place[kernel[k].slice]);
		least = fmin(least, cycles);
	}
}

bool
decide_jointly(struct sched *s, struct plan *p, int64_t limit)
{
	if (p->n_slices > FEW_SLICES || !p->n_slices || !weights_move(s))
		return false;
	struct arena *a = arena_open();
	struct joint j = { .s = s, .p = p, .a = a };
	bool *in_place = anew(a, bool, p->n_slices + 1);
	j.option = (struct option (*)[HELDS])anew(a, struct option, (p->n_slices + 1) * HELDS);
	for (int i = 0; i < (int)p->n_slices; i++)
		find_options(&j, i, limit);
	for (int i = 0, end; i < (int)p->n_kernels; i = end) {
		const int node = s->info[p->kernel[i].op].node;
		for (end = i; end < (int)p->n_kernels && s->info[p->kernel[end].op].node == node;)
			end++;
		decide_best(&j, i, end, in_place);
	}
	arena_close(a);
	return true;
}
