/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that tensors and buffers do not overlap while they are live. */
#include "graph/check.h"

#include "graph/facts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Finds for each tensor the first tensor whose bytes it reuses, through all over=. */
static bool
find_roots(struct check *c, const struct g_tensor **root)
{
	const struct graph *g = c->g;
	const struct g_tensor **visited = anew(c->a, const struct g_tensor *, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		size_t n = 0;
		for (; !root[t->rec.index] && t->over.n; t = t->over.v[0]) {
			if (n == g->n_tensors)
				return BAD(c, t, "t%d: over= leads back to the same "
						 "tensor",
					   t->rec.id);
			visited[n++] = t;
		}
		t = root[t->rec.index] ? root[t->rec.index] : t;
		root[t->rec.index] = t;
		while (n--)
			root[visited[n]->rec.index] = t;
	}
	return true;
}

/* an allocation with its live range: of a tensor or a buffer */
struct placement {
	int64_t lo, hi, at, end;
	int area;
	const struct g_tensor *root; /* the tensor's root, see find_roots(); NULL: a buffer */
};

static bool
is_tensor_placed(const struct g_tensor *t)
{
	return G_HAS(t, G_TENSOR_at) && G_HAS(t, G_TENSOR_live);
}

static struct placement
tensor_placement(const struct g_tensor *t, const struct g_tensor *root)
{
	return (struct placement){ .lo = t->live.lo, .hi = t->live.hi, .at = t->at,
			      .end = t->at + tensor_bytes(t), .area = t->area, .root = root };
}

static struct placement
buffer_placement(const struct g_buffer *b)
{
	return (struct placement){ .lo = b->live.lo, .hi = b->live.hi, .at = b->at,
			      .end = b->at + b->bytes, .area = b->area };
}

/*
 * Allocations of one area may share bytes if their live ranges are disjoint, or if
 * over= joins them.  Data that is fetched into a buffer must not overwrite a live
 * tensor.
 */
static bool
collide(const struct placement *a, const struct placement *b)
{
	return a->area == b->area && a->lo <= b->hi && b->lo <= a->hi && a->at < b->end &&
	       b->at < a->end && a->root != b->root;
}

static int
compare_placements(const void *x, const void *y)
{
	const struct placement *a = x, *b = y;
	return a->lo < b->lo ? -1 : a->lo > b->lo;
}

/* True if any two allocations collide.  Each is compared with those live when it begins. */
static bool
any_collide(struct arena *a, struct placement *v, size_t n)
{
	const struct placement **live = anew(a, const struct placement *, n + 1);
	size_t n_live = 0;
	if (n)
		qsort(v, n, sizeof(*v), compare_placements);
	for (size_t i = 0; i < n; i++) {
		size_t left = 0;
		for (size_t k = 0; k < n_live; k++) {
			if (live[k]->hi < v[i].lo)
				continue;
			live[left++] = live[k];
			if (collide(live[k], &v[i]))
				return true;
		}
		n_live = left;
		live[n_live++] = &v[i];
	}
	return false;
}

/*
 * Comparing all pairs of a thousand tensors takes longer than all other checks.
 * Therefore the pairs are compared only if any_collide() finds a collision.
 */
bool
check_overlap(struct check *c)
{
	const struct graph *g = c->g;
	const struct g_tensor **root = anew(c->a, const struct g_tensor *, g->n_tensors + 1);
	struct placement *v = anew(c->a, struct placement, g->n_tensors + g->n_buffers + 1);
	size_t n = 0;
	if (!find_roots(c, root))
		return false;
	for (size_t i = 0; i < g->n_tensors; i++)
		if (is_tensor_placed(g->tensors[i]))
			v[n++] = tensor_placement(g->tensors[i], root[i]);
	for (size_t i = 0; i < g->n_buffers; i++)
		if (G_HAS(g->buffers[i], G_BUFFER_live))
			v[n++] = buffer_placement(g->buffers[i]);
	if (!any_collide(c->a, v, n))
		return true;
	for (size_t i = 0; i < g->n_tensors; i++)
		for (size_t k = 0; k < i; k++) {
			const struct g_tensor *a = g->tensors[i], *b = g->tensors[k];
			const struct placement x = tensor_placement(a, root[i]);
			const struct placement y = tensor_placement(b, root[k]);
			if (is_tensor_placed(a) && is_tensor_placed(b) && collide(&x, &y))
				return BAD(c, a, "t%d at 0x%" PRIx64 " overlaps t%d at 0x%"
					   PRIx64 " while both are live", a->rec.id,
					   (uint64_t)a->at, b->rec.id, (uint64_t)b->at);
		}
	for (size_t i = 0; i < g->n_buffers; i++) {
		const struct g_buffer *b = g->buffers[i];
		const struct placement x = buffer_placement(b);
		for (size_t k = 0; k < g->n_tensors && G_HAS(b, G_BUFFER_live); k++) {
			const struct g_tensor *t = g->tensors[k];
			const struct placement y = tensor_placement(t, root[k]);
			if (is_tensor_placed(t) && collide(&x, &y))
				return BAD(c, b, "b%d at 0x%" PRIx64 " overlaps t%d at 0x%" PRIx64
					   " while both are live", b->rec.id, (uint64_t)b->at,
					   t->rec.id, (uint64_t)t->at);
		}
	}
	return true;
}
