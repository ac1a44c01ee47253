/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which feature maps leave the NPU's own SRAM, and in which order. */
#include "search.h"

#include "base/hash.h"
#include "graph/facts.h"

/* the most spills of an order: each has a third more feature maps than the one before */
enum { GROWTHS = 96 };

struct spill_order {
	int *tensor;
	size_t n;
	int64_t *least; /* [n + 1]: lower bound of all plans' bytes, after so many have left */
	int64_t *most; /* [n + 1]: the most bytes of those that stay, as the order counts them */
	uint64_t *set; /* [n + 1]: sum of hashes of those that have left */
};

/* The least bytes with which each operation can run, alone or in a cascade. */
static int64_t *
find_needs(const struct sched *s, const struct cascades *c, struct arena *a)
{
	int64_t *need = anew(a, int64_t, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		need[i] = INT64_MAX;
	for (size_t k = 0; k < c->n; k++)
		for (int i = c->v[k].first; i <= c->v[k].last; i++)
			need[i] = min_i64(need[i], c->v[k].bytes[LIMITED] - c->v[k].slid[LIMITED]);
	return need;
}

/* For each operation, the first and the last one of all cascades that contain it.  A cascade
 * needs the bytes of all feature maps that are live while any of its operations runs. */
struct reach {
	int first, last;
};

static struct reach *
find_reach(const struct sched *s, const struct cascades *c, struct arena *a)
{
	struct reach *r = anew(a, struct reach, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		r[i] = (struct reach){ .first = i, .last = i };
	for (size_t k = 0; k < c->n; k++)
		for (int i = c->v[k].first; i <= c->v[k].last; i++) {
			r[i].first = r[i].first < c->v[k].first ? r[i].first : c->v[k].first;
			r[i].last = r[i].last > c->v[k].last ? r[i].last : c->v[k].last;
		}
	return r;
}

/* Bytes of all feature maps that are live while each operation runs whole. */
static int64_t *
find_live(const struct sched *s, const struct cascades *c, struct arena *a)
{
	int64_t *live = anew(a, int64_t, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		live[i] = c->v[c->first_of[i]].bytes[LIMITED];
	return live;
}

static int
fullest(const struct sched *s, const int64_t *bytes)
{
	int best = 0;
	for (int i = 1; i < s->n_ops; i++)
		best = bytes[i] > bytes[best] ? i : best;
	return best;
}

/* The largest feature map that is live at a time step and has not left; -1: none. */
static int
largest_at(const struct cascades *c, int now, const bool *gone)
{
	int best = -1;
	for (size_t i = 0; i < c->n_live; i++) {
		const struct live_range *l = &c->live[i];
		if (l->lo <= now && l->hi >= now && l->bytes[LIMITED] > 0 && !gone[i] &&
		    (best < 0 || l->bytes[LIMITED] > c->live[best].bytes[LIMITED]))
			best = (int)i;
	}
	return best;
}

/* The first operation at a time step or later. */
static int
first_after(const struct sched *s, int now)
{
	int lo = 0, hi = s->n_ops;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (step_of(s, mid) < now)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The largest of all feature maps that have not left.  Where results are written over operands,
 * sums are less than the bytes of the feature maps. */
static int
largest(const struct cascades *c, const bool *gone)
{
	int best = -1;
	for (size_t i = 0; i < c->n_live; i++)
		if (c->live[i].bytes[LIMITED] > 0 && !gone[i] &&
		    (best < 0 || c->live[i].bytes[LIMITED] > c->live[best].bytes[LIMITED]))
			best = (int)i;
	return best;
}

static struct spill_order
spill_order_by(struct sched *s, const struct cascades *c, struct arena *a, int by)
{
	int64_t *need = find_needs(s, c, a), *live = find_live(s, c, a);
	int64_t *bound = find_needs(s, c, a);
	const struct reach *reach = find_reach(s, c, a);
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
		int t = largest_at(c, step_of(s, most), gone);
		t = t < 0 ? largest(c, gone) : t;
		o.least[o.n] = max_i64(bound[fullest(s, bound)], 0);
		o.most[o.n] = left[most];
		if (t < 0)
			break;
		const struct live_range *l = &c->live[t];
		int first = s->n_ops, last = -1;
		for (int i = first_after(s, l->lo);
		     i < s->n_ops && step_of(s, i) <= l->hi; i++) {
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

/* Adds a spill, unless the same feature maps leave in one of another order. */
static void
add_spill(struct spills *l, const struct spill_order *o, size_t n)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].set == o->set[n])
			return;
	l->v[l->n++] = (struct spill){ .order = o, .n = n, .set = o->set[n],
				       .least = o->least[n] };
}

/*
 * Adds spills of an order.  In a large network, a spill is left out that lowers neither the largest
 * sum of bytes nor its lower bound: in a chain of a thousand operations, hundreds of feature maps
 * have to leave before the peak is lower.  Such a spill may still help, as more weights fit
 * elsewhere: without it, a chain of three hundred operations takes 8 % more bytes with Size.
 */
static void
add_spills(struct spills *l, const struct spill_order *o)
{
	enum { MANY = 512 };
	size_t last = 0; /* the last one added */
	/* with half as many more, one drawn network takes 15 % more cycles within a limit, two
	 * others 5 % */
	for (size_t n = 1; n < o->n; n += n / 3 + 1) {
		if (o->n > MANY && o->least[n] >= o->least[last] && o->most[n] >= o->most[last])
			continue;
		add_spill(l, o, n);
		last = n;
	}
	if (o->n)
		add_spill(l, o, o->n);
}

struct spills *
spills_list(struct sched *s, const struct cascades *c, struct arena *a, int by)
{
	struct spills *l = anew(a, struct spills, 1);
	l->v = anew(a, struct spill, 2 * (GROWTHS + 1));
	for (int one = BY_MAPS; one <= BY_NEEDS; one <<= 1) {
		if (!(by & one))
			continue;
		struct spill_order *o = anew(a, struct spill_order, 1);
		*o = spill_order_by(s, c, a, one);
		add_spills(l, o);
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
