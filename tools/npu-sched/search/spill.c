/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which feature maps leave the NPU's own SRAM, and in which order. */
#include "search.h"

#include "base/hash.h"
#include "graph/facts.h"

#include <limits.h>
#include <string.h>

/* the most spills of an order: each has a third more feature maps than the one before */
enum { GROWTHS = 96 };

struct spill_order {
	int *tensor;
	size_t n;
	int64_t *least; /* [n + 1]: lower bound of all plans' bytes, after so many have left */
	int64_t *most; /* [n + 1]: the most bytes of those that stay, as the order counts them */
	uint64_t *set; /* [n + 1]: sum of hashes of those that have left */
};

/* For each operation, the first and the last one of all cascades that contain it.  A cascade
 * needs the bytes of all feature maps that are live while any of its operations runs. */
struct reach {
	int first, last;
};

static int
fullest(const struct sched *s, const int64_t *bytes)
{
	int best = 0;
	for (int i = 1; i < s->n_ops; i++)
		best = bytes[i] > bytes[best] ? i : best;
	return best;
}

/* The largest feature map that is live in one of these time steps and has not left; -1: none. */
static int
largest(const struct cascades *c, int from, int to, const bool *gone)
{
	int best = -1;
	for (size_t i = 0; i < c->n_live; i++) {
		const struct live_range *l = &c->live[i];
		if (l->lo <= to && l->hi >= from && l->bytes[LIMITED] > 0 && !gone[i] &&
		    (best < 0 || l->bytes[LIMITED] > c->live[best].bytes[LIMITED]))
			best = (int)i;
	}
	return best;
}

static struct spill_order
spill_order_by(struct sched *s, const struct cascades *c, struct arena *a, int by)
{
	const size_t n = (size_t)s->n_ops + 1;
	int64_t *live = anew(a, int64_t, n); /* of all feature maps, while each operation runs whole */
	int64_t *need = anew(a, int64_t, n); /* the least to run it, alone or in a cascade */
	int64_t *bound = anew(a, int64_t, n);
	struct reach *reach = anew(a, struct reach, n);
	for (int i = 0; i < s->n_ops; i++) {
		live[i] = c->v[c->first_of[i]].bytes[LIMITED];
		need[i] = INT64_MAX;
		reach[i] = (struct reach){ .first = i, .last = i };
	}
	for (size_t k = 0; k < c->n; k++) {
		const struct cascade_choice *x = &c->v[k];
		for (int i = x->first; i <= x->last; i++) {
			need[i] = min_i64(need[i], x->bytes[LIMITED] - x->slid[LIMITED]);
			reach[i].first = reach[i].first < x->first ? reach[i].first : x->first;
			reach[i].last = reach[i].last > x->last ? reach[i].last : x->last;
		}
	}
	memcpy(bound, need, n * sizeof(*need));
	const int64_t *left = by == BY_MAPS ? live : need;
	bool *gone = anew(a, bool, c->n_live + 1);
	for (int i = 0; i < s->n_ops; i++)
		/* operands of copies do not leave; a gather reads and writes any memory */
		if (s->info[i].op->kind == OP_COPY)
			gone[s->info[i].op->ifm.t->rec.index] =
			    gone[s->info[i].op->ofm.t->rec.index] = true;
	struct spill_order o = { .n = 0 };
	o.tensor = anew(a, int, c->n_live + 1);
	o.least = anew(a, int64_t, c->n_live + 2);
	o.most = anew(a, int64_t, c->n_live + 2);
	o.set = anew(a, uint64_t, c->n_live + 2);
	while (s->n_ops) {
		int most = fullest(s, left);
		int t = largest(c, step_of(s, most), step_of(s, most), gone);
		/* where results are written over operands, sums are less than the bytes of the maps */
		t = t < 0 ? largest(c, INT_MIN, INT_MAX, gone) : t;
		o.least[o.n] = max_i64(bound[fullest(s, bound)], 0);
		o.most[o.n] = left[most];
		if (t < 0)
			break;
		const struct live_range *l = &c->live[t];
		int first = s->n_ops, last = -1, lo = 0, hi = s->n_ops;
		while (lo < hi) { /* the first operation at or after the first time step */
			int mid = (lo + hi) / 2;
			if (step_of(s, mid) < l->lo)
				lo = mid + 1;
			else
				hi = mid;
		}
		for (int i = lo; i < s->n_ops && step_of(s, i) <= l->hi; i++) {
			live[i] -= l->bytes[LIMITED];
			need[i] -= l->bytes[LIMITED];
			first = reach[i].first < first ? reach[i].first : first;
			last = reach[i].last > last ? reach[i].last : last;
		}
		for (int i = first; i <= last; i++)
			bound[i] -= l->bytes[LIMITED];
		gone[t] = true;
		o.tensor[o.n++] = t;
		o.set[o.n] = o.set[o.n - 1] + hash_xxh3(&t, sizeof(t));
	}
	return o;
}

/*
 * In a large network, a spill is left out that lowers neither the largest sum of bytes nor its lower
 * bound: in a chain of a thousand operations, hundreds of feature maps have to leave before the peak
 * is lower.  Such a spill may still help, as more weights fit elsewhere: without it, a chain of three
 * hundred operations takes 8 % more bytes with Size.
 */
struct spills *
spills_list(struct sched *s, const struct cascades *c, struct arena *a, int by)
{
	enum { MANY = 512 };
	struct spills *l = anew(a, struct spills, 1);
	l->v = anew(a, struct spill, 2 * (GROWTHS + 1));
	for (int one = BY_MAPS; one <= BY_NEEDS; one <<= 1) {
		if (!(by & one))
			continue;
		struct spill_order *o = anew(a, struct spill_order, 1);
		*o = spill_order_by(s, c, a, one);
		size_t last = 0; /* the last one added */
		for (size_t n = 1, next; n <= o->n; n = next) {
			/* with half as many more, one drawn network takes 15 % more cycles within a
			 * limit, two others 5 % */
			next = n + n / 3 + 1;
			next = n < o->n && next > o->n ? o->n : next;
			if (n < o->n && o->n > MANY && o->least[n] >= o->least[last] &&
			    o->most[n] >= o->most[last])
				continue;
			last = n;
			bool is_twice = false; /* the same feature maps leave in another order */
			for (size_t i = 0; i < l->n; i++)
				is_twice |= l->v[i].set == o->set[n];
			if (!is_twice)
				l->v[l->n++] = (struct spill){ .order = o, .n = n, .set = o->set[n],
							       .least = o->least[n] };
		}
	}
	return l;
}

void
spill_apply(struct sched *s, const struct spill *w)
{
	for (size_t i = 0; i < w->n; i++)
		s->g->tensors[w->order->tensor[i]]->area = PLACE_ARENA;
	pack_left_maps(s);
}
