/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses.  Each tensor is a rectangle: bytes by moments; the peak can't be
 * below the largest sum of bytes live at one moment.  First fit in several
 * orders, then exchanges in the order that put something on top; it ends when
 * the bound is reached or the budget (never the clock) is spent.
 */
#include "sched.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ALIGN = 16, BUDGET = 4000 };

struct rect {
	struct g_tensor *t;
	struct rect *host; /* lies exactly in this one's bytes: in place */
	int64_t bytes, lo, hi, at;
	bool fixed;
	int64_t crowd; /* largest sum of live bytes while it lives */
};

struct plan {
	struct sched *s;
	struct rect *rect;
	size_t n;
	size_t *order, *best_order;
	int64_t bound, best;
};

static struct rect *
rect_of(struct plan *p, const struct g_tensor *t)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->rect[i].t == t)
			return &p->rect[i];
	return NULL;
}

static struct rect *
root(struct rect *r)
{
	while (r->host)
		r = r->host;
	return r;
}

/* the CPU side keeps variables where the runtime puts them */
static bool
is_placed(const struct g_tensor *t)
{
	return !tensor_is_const(t) && G_HAS(t, G_TENSOR_live) && !t->variable &&
	       graph_type_bytes(t->shape.type) > 0;
}

static bool
whole_and_alike(const struct g_operand *a, const struct g_operand *b)
{
	return a->t != b->t && a->view == VIEW_WHOLE && b->view == VIEW_WHOLE &&
	       hwc_equal(a->t->hwc, b->t->hwc) && a->type == b->type &&
	       a->t->layout == b->t->layout && a->t->area == b->t->area;
}

/* an elementwise result may take the place of an operand that dies with it */
static void
join_in_place(struct plan *p, const struct g_op *op)
{
	const struct g_operand *in[2] = { &op->ifm, &op->ifm2 };
	struct rect *o = rect_of(p, op->ofm.t);
	if (!op_is_elementwise(op->kind) || !o || o->host || o->fixed)
		return;
	for (int i = 0; i < 2; i++) {
		struct rect *r = in[i]->t ? rect_of(p, in[i]->t) : NULL;
		if (!r || r->fixed || !whole_and_alike(in[i], &op->ofm) ||
		    in[i]->t->io == IO_IN || in[i]->t->live.hi != op->ofm.t->live.lo)
			continue;
		struct rect *h = root(r);
		o->host = h;
		h->lo = o->lo < h->lo ? o->lo : h->lo;
		h->hi = o->hi > h->hi ? o->hi : h->hi;
		return;
	}
}

static void
collect(struct plan *p)
{
	struct graph *g = p->s->g;
	p->rect = anew(p->s->a, struct rect, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		if (!is_placed(t))
			continue;
		p->rect[p->n++] = (struct rect){
			.t = t, .bytes = round_up_i64(tensor_bytes(t), ALIGN),
			.lo = t->live.lo, .hi = t->live.hi, .at = t->at,
			.fixed = G_HAS(t, G_TENSOR_at),
		};
	}
	for (size_t i = 0; i < g->n_ops; i++)
		join_in_place(p, g->ops[i]);
}

static bool
meets_in_time(const struct rect *a, const struct rect *b)
{
	return a->lo <= b->hi && b->lo <= a->hi;
}

static void
find_bound(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct rect *r = &p->rect[i];
		int64_t sum = 0;
		if (r->host)
			continue;
		/* the largest sum is taken on where something begins */
		for (size_t k = 0; k < p->n; k++)
			if (!p->rect[k].host && p->rect[k].lo <= r->lo &&
			    p->rect[k].hi >= r->lo)
				sum += p->rect[k].bytes;
		p->bound = sum > p->bound ? sum : p->bound;
		for (size_t k = 0; k < p->n; k++) {
			struct rect *x = &p->rect[k];
			if (x->lo <= r->lo && x->hi >= r->lo && sum > x->crowd)
				x->crowd = sum;
		}
	}
}

/* lowest address where r meets none of those placed before it in order */
static void
drop(struct plan *p, size_t i)
{
	struct rect *r = &p->rect[p->order[i]];
	bool moved = !r->fixed;
	if (moved)
		r->at = 0;
	while (moved) {
		moved = false;
		for (size_t k = 0; k < i; k++) {
			const struct rect *x = &p->rect[p->order[k]];
			if (!meets_in_time(r, x) || r->at >= x->at + x->bytes ||
			    x->at >= r->at + r->bytes)
				continue;
			r->at = x->at + x->bytes;
			moved = true;
		}
	}
}

static int64_t
try_order(struct plan *p, size_t n)
{
	int64_t peak = 0;
	for (size_t i = 0; i < n; i++) {
		drop(p, i);
		const struct rect *r = &p->rect[p->order[i]];
		peak = r->at + r->bytes > peak ? r->at + r->bytes : peak;
	}
	return peak;
}

/* those with an address first, then the most crowded, longest, largest */
static int
compare(const struct rect *a, const struct rect *b)
{
	if (a->fixed != b->fixed)
		return a->fixed ? -1 : 1;
	if (a->crowd != b->crowd)
		return a->crowd > b->crowd ? -1 : 1;
	int64_t da = a->hi - a->lo, db = b->hi - b->lo;
	if (da != db)
		return da > db ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return a->bytes > b->bytes ? -1 : a->bytes < b->bytes;
}

static void
sort_order(struct plan *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0; k--) {
			size_t *o = p->order;
			if (compare(&p->rect[o[k - 1]], &p->rect[o[k]]) <= 0)
				break;
			size_t t = o[k];
			o[k] = o[k - 1];
			o[k - 1] = t;
		}
}

static size_t
top_of(const struct plan *p, size_t n)
{
	size_t top = 0;
	int64_t end = -1;
	for (size_t i = 0; i < n; i++) {
		const struct rect *r = &p->rect[p->order[i]];
		if (r->at + r->bytes > end) {
			end = r->at + r->bytes;
			top = i;
		}
	}
	return top;
}

static uint32_t
next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

static void
climb(struct plan *p, size_t n, size_t first)
{
	uint64_t state = 1;
	for (int i = 0; i < BUDGET && p->best > p->bound && n > first + 1; i++) {
		size_t a = top_of(p, n);
		size_t b = first + next_random(&state) % (n - first);
		if (next_random(&state) % 2)
			a = first + next_random(&state) % (n - first);
		size_t t = p->order[a];
		if (p->rect[t].fixed)
			continue;
		p->order[a] = p->order[b];
		p->order[b] = t;
		int64_t peak = try_order(p, n);
		if (peak <= p->best) {
			p->best = peak;
			memcpy(p->best_order, p->order, n * sizeof(*p->order));
		} else {
			memcpy(p->order, p->best_order, n * sizeof(*p->order));
			(void)try_order(p, n);
		}
	}
	memcpy(p->order, p->best_order, n * sizeof(*p->order));
	p->best = try_order(p, n);
}

static void
solve(struct plan *p)
{
	size_t n = 0, fixed = 0;
	p->order = anew(p->s->a, size_t, p->n + 1);
	p->best_order = anew(p->s->a, size_t, p->n + 1);
	for (size_t i = 0; i < p->n; i++)
		if (!p->rect[i].host)
			p->order[n++] = i;
	sort_order(p, n);
	while (fixed < n && p->rect[p->order[fixed]].fixed)
		fixed++;
	p->best = try_order(p, n);
	memcpy(p->best_order, p->order, n * sizeof(*p->order));
	climb(p, n, fixed);
	for (size_t i = 0; i < p->n; i++) {
		struct rect *r = &p->rect[i];
		G_PUT(r->t, TENSOR, at, root(r)->at);
	}
}

static void
record_area(struct sched *s, int place, int64_t used, int64_t bound)
{
	struct g_area *a = NULL;
	for (size_t i = 0; i < s->g->n_areas; i++)
		if (!strcmp(s->g->areas[i]->rec.word, place_names[place]))
			a = s->g->areas[i];
	if (!a)
		a = graph_add_g_area(s->g);
	a->rec.word = place_names[place];
	G_PUT(a, AREA, region, place);
	G_PUT(a, AREA, used, used);
	G_PUT(a, AREA, bound, bound);
}

bool
place_tensors(struct sched *s)
{
	struct plan p = { .s = s };
	collect(&p);
	find_bound(&p);
	solve(&p);
	record_area(s, PLACE_ARENA, p.best, p.bound);
	int64_t limit = s->memory.spilling ? 0 : s->memory.cache_bytes;
	if (limit && p.best > limit)
		return err_no(s->e, "the arena needs %" PRId64 " bytes, more than "
			      "--arena-cache-size %" PRId64 "; the smallest that "
			      "works is %" PRId64, p.best, limit, p.best);
	return true;
}
