/* SPDX-License-Identifier: Apache-2.0 */
/* The rule "channels": removes channels from tensors, views, weights, scales and constants. */
#include "rewrite/prune.h"

#include "emit/emit.h"
#include "graph/build.h"

#include <string.h>

static void
put_list(struct pruner *p, struct g_list *l, const bool *kept)
{
	struct g_list r = { .v = anew(p->a, int64_t, l->n + 1) };
	for (size_t k = 0; k < l->n; k++)
		if (kept[k])
			r.v[r.n++] = l->v[k];
	*l = r;
}

static struct g_source
new_source(struct pruner *p, const char *kind, int id, struct bytes b)
{
	const char *name = arena_printf(p->a, "%s%d.kept", kind, id);
	while (graph_find_blob(p->g, name))
		name = arena_printf(p->a, "%s.", name);
	return (struct g_source){ .blob = graph_add_blob(p->g, name, b)->name };
}

/* The sum of the products of the IFM channels that are removed, for one OFM channel. */
static int64_t
folded(const struct pruner *p, const struct g_op *op, const struct weights_view *w,
       const bool *ifm, int32_t o)
{
	struct lanes l;
	int64_t sum = 0;
	if (op->kind == OP_DEPTHWISE || !lanes_of(&op->ifm, &l))
		return 0;
	for (int32_t i = 0; i < op->ifm.shape.c; i++) {
		struct interval v = p->values.of[op->ifm.t->rec.index][l.first + i % l.n];
		/* all weights of a channel with several values are zero */
		if (ifm[i] || v.lo != v.hi || v.lo == op->ifm_zero)
			continue;
		for (int32_t y = 0; y < op->kernel.y; y++)
			for (int32_t x = 0; x < op->kernel.x; x++)
				sum += (int64_t)weights_value(w, o, y, x, i) *
				       (v.lo - op->ifm_zero);
	}
	return sum;
}

static bool
shrink_product(struct pruner *p, struct g_op *op)
{
	struct weights_view view;
	int32_t n_ifm, n_ofm;
	bool *ifm = prune_kept(p, &op->ifm, &n_ifm), *ofm = prune_kept(p, &op->ofm, &n_ofm);
	if (n_ifm == op->ifm.shape.c && n_ofm == op->ofm.shape.c)
		return true;
	if (!emit_weights_view(p->a, p->g, op->weights, &view, p->x->e))
		return false;
	/* the scales of the OFM channels that stay, with the folded products in the bias */
	struct g_scales *s = op->scales = graph_copy_g_scales(p->g, op->scales);
	struct g_list bias = { .v = anew(p->a, int64_t, s->bias.n), .n = s->bias.n };
	for (size_t o = 0; o < bias.n; o++)
		bias.v[o] = s->bias.v[o] + folded(p, op, &view, ifm, (int32_t)o);
	s->bias = bias;
	put_list(p, &s->bias, ofm);
	put_list(p, &s->mult, ofm);
	put_list(p, &s->shift, ofm);
	/* the weights that stay, in O,H,W,I order; a convolution alone uses the record */
	struct g_weights *w = op->weights;
	const int32_t *d = w->shape.dim;
	bool depthwise = op->kind == OP_DEPTHWISE;
	int32_t depth = depthwise ? 1 : n_ifm;
	size_t n = (size_t)n_ofm * (size_t)d[1] * (size_t)d[2] * (size_t)depth;
	uint8_t *v = anew(p->a, uint8_t, n), *to = v;
	for (int32_t o = 0; o < d[0]; o++)
		for (int32_t y = 0; ofm[o] && y < d[1]; y++)
			for (int32_t x = 0; x < d[2]; x++)
				for (int32_t i = 0; i < d[3]; i++)
					if (depthwise || ifm[i])
						*to++ = *weights_at(&view, o, y, x, i);
	if (w->zero.n > 1)
		put_list(p, &w->zero, ofm);
	w->shape.dim[0] = n_ofm;
	w->shape.dim[3] = depth;
	w->source = new_source(p, "weights", w->rec.id, (struct bytes){ .p = v, .n = n });
	G_CLEAR(w, G_WEIGHTS_offset);
	G_CLEAR(w, G_WEIGHTS_strides);
	w->offset = 0;
	w->strides = (struct g_list){ .n = 0 };
	return true;
}

/* Copies the channels of a constant that the OFM keeps. */
static bool
shrink_constant(struct pruner *p, const struct g_op *op, struct g_operand *o, bool *replaced)
{
	int32_t n;
	bool *kept = prune_kept(p, &op->ofm, &n);
	struct bytes b;
	if (!o->t || !tensor_is_const(o->t) || o->shape.c == 1 || n == op->ofm.shape.c)
		return true;
	struct hwc shape = { .h = o->shape.h, .w = o->shape.w, .c = n };
	size_t size = (size_t)graph_type_bytes(o->type), all = (size_t)hwc_elements(o->shape);
	if (!graph_source(p->g, &o->t->rec, &o->t->source, &b, p->x->e))
		return false;
	if (b.n < all * size)
		return graph_err(p->g, o->t, p->x->e, "t%d reaches outside of its data", o->t->rec.id);
	uint8_t *v = arena_alloc(p->a, (size_t)hwc_elements(shape), size), *to = v;
	for (size_t i = 0; i < all; i++)
		if (kept[i % (size_t)o->shape.c]) {
			memcpy(to, b.p + i * size, size);
			to += size;
		}
	replaced[o->t->rec.index] = true;
	struct g_tensor *t = graph_add_feature_map(p->g, o->type, shape);
	G_PUT(t, TENSOR, source, new_source(p, "const", t->rec.id,
					    (struct bytes){ .p = v, .n = (size_t)(to - v) }));
	*o = operand_whole(t);
	return true;
}

bool
prune_graph(struct pruner *p)
{
	struct graph *g = p->g;
	size_t n = g->n_tensors;
	bool *replaced = anew(p->a, bool, n + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		if (op_has_weights(op->kind) ? !shrink_product(p, op)
					     : !shrink_constant(p, op, &op->ifm, replaced) ||
						   !shrink_constant(p, op, &op->ifm2, replaced))
			return false;
	}
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < 3; k++) {
			struct g_operand *o = operand_ofm_first(g->ops[i], k);
			if (o->t && (size_t)o->t->rec.index < n)
				prune_view(p, o);
		}
	for (size_t i = 0; i < n; i++) {
		struct g_tensor *t = g->tensors[i];
		int32_t kept = prune_count_tensor(p, t);
		if (kept == t->hwc.c)
			continue;
		t->hwc.c = t->shape.dim[t->shape.rank - 1] = kept;
		/* the tensor is no longer a tensor of the model */
		t->tfl = (struct g_tfls){ .n = 0 };
		G_CLEAR(t, G_TENSOR_tfl);
	}
	exact_drop_unused(p->x, replaced, n);
	return true;
}
