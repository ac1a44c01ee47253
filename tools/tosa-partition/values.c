/* SPDX-License-Identifier: Apache-2.0 */
/* Maps each TOSA tensor to the graph tensor, and the view of it, that holds its elements. */
#include "part.h"

#include "graph/build.h"
#include "graph/facts.h"

#include <string.h>

enum { MAX_DEPTH = 32 }; /* nested results */

int
graph_type(int type)
{
	switch (type) {
	case TOSA_INT16:
		return TFL_INT16;
	case TOSA_INT32:
	case TOSA_INT48: /* only if its values are proven to fit 32 bits */
		return TFL_INT32;
	default:
		return TFL_INT8;
	}
}

void
part_alloc_tables(struct part *p)
{
	size_t n = (size_t)p->t->n_tensors, n_ops = (size_t)p->t->n_ops;
	p->value = anew(p->a, struct nd, n + 1);
	p->loose = anew(p->a, struct nd, n + 1);
	p->bound = anew(p->a, bool, n + 1);
	p->reader = anew(p->a, int, n + 1);
	p->maker = anew(p->a, int, n + 1);
	p->done = anew(p->a, bool, n_ops + 1);
	p->why = anew(p->a, const char *, n_ops + 1);
}

struct nd
own_tensor(struct part *p, const struct tosa_tensor *t)
{
	struct g_tensor *n = graph_add_g_tensor(p->g);
	struct g_shape s = { .type = graph_type(t->type), .rank = t->rank };
	bool border = t->is_input || t->is_output;
	if (t->type == TOSA_BOOL && border) /* the NPU reads it as bytes */
		s.type = TFL_BOOL;
	memcpy(s.dim, t->dim, sizeof(t->dim));
	G_PUT(n, TENSOR, shape, s);
	n->hwc = graph_hwc(&s);
	G_PUT(n, TENSOR, name, t->name);
	struct nd v = nd_operand_of(operand_whole(n), t->rank, t->dim);
	v.type = graph_type(t->type);
	return v;
}

static void
push(struct part *p, struct g_tensors *l, struct g_tensor *t, size_t *cap)
{
	agrow(p->a, l->v, l->n, cap);
	l->v[l->n++] = t;
}

void
make_border(struct part *p)
{
	struct tosa_graph *g = p->t;
	struct g_model *m = p->g->models[0];
	struct g_node *n = p->l->node;
	size_t cap[4] = { 0 };
	for (int i = 0; i < g->n_in; i++) {
		struct nd *v = &p->value[g->in[i]];
		if (!v->t)
			*v = own_tensor(p, &g->tensor[g->in[i]]);
		G_PUT(v->t, TENSOR, io, IO_IN);
		push(p, &m->in, v->t, &cap[0]);
		push(p, &n->in, v->t, &cap[2]);
	}
	for (int i = 0; i < g->n_out; i++) {
		struct nd *v = &p->value[g->out[i]];
		if (!v->t)
			*v = own_tensor(p, &g->tensor[g->out[i]]);
		G_PUT(v->t, TENSOR, io, tensor_is_input(v->t) ? IO_INOUT : IO_OUT);
		push(p, &m->out, v->t, &cap[1]);
		if (!tensors_have(&n->out, v->t))
			push(p, &n->out, v->t, &cap[3]);
	}
	G_SET(m, G_MODEL_in);
	G_SET(m, G_MODEL_out);
	if (n->in.n)
		G_SET(n, G_NODE_in);
	if (n->out.n)
		G_SET(n, G_NODE_out);
}

struct nd
const_tensor(struct part *p, const struct tosa_tensor *t)
{
	struct nd shape = nd_dense(graph_type(t->type), t->rank, t->dim);
	int64_t n = tosa_elements(t);
	int32_t *v = anew(p->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		v[i] = (int32_t)tosa_value(t, i);
	return nd_const(p->l, shape.type, shape.rank, shape.dim, v);
}

struct nd
truth_of(struct part *p, const struct nd *v)
{
	struct nd one = nd_new_like(p->l, v, TFL_INT8);
	struct low_end end = low_half_up;
	end.clamped = true;
	end.clamp.hi = 1;
	nd_unary(p->l, OP_ABS, v, 0, &one, &end);
	return one;
}

struct nd
value_of(struct part *p, int tensor)
{
	struct nd *v = &p->value[tensor];
	if (p->loose[tensor].t)
		return materialized(p, tensor);
	if (v->t && v->t->shape.type == TFL_BOOL && tensor_is_input(v->t))
		*v = truth_of(p, v);
	if (p->t->tensor[tensor].data.p && !p->t->tensor[tensor].is_output)
		return const_tensor(p, &p->t->tensor[tensor]);
	if (!v->t)
		*v = scaled_value(p, tensor);
	return *v;
}

/* ---- memory of results ------------------------------------------------------------- */

static struct nd view_within(struct part *p, int tensor, int depth);

/* the part of the only reader's result that is this tensor, if there is one */
static bool
view_in_reader(struct part *p, int tensor, int depth, struct nd *out)
{
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	if (p->reader[tensor] < 0 || t->is_output || t->is_input || depth > MAX_DEPTH)
		return false;
	const struct tosa_op *op = &p->t->op[p->reader[tensor]];
	const struct nd shape = nd_dense(graph_type(t->type), t->rank, t->dim);
	if (op->code == TOSA_CONCAT) {
		int64_t axis = tosa_axis_of(op), at = 0;
		for (int k = 0; op->in[k] != tensor; k++)
			at += tosa_in(p->t, op, k)->dim[axis];
		*out = view_within(p, op->out[0], depth + 1);
		nd_slice(out, (int)axis, at, t->dim[axis], 1);
		return out->stride[out->rank - 1] == 1 || out->dim[out->rank - 1] == 1;
	}
	struct low_borders b;
	if (op->code == TOSA_PAD && pads_around(p, op, &shape, &b)) {
		struct g_operand any;
		const struct nd all = view_within(p, op->out[0], depth + 1);
		*out = nd_middle(&all, &shape, b.before);
		return nd_operand(out, &any);
	}
	if (op->code != TOSA_RESHAPE && op->code != TOSA_IDENTITY)
		return false;
	*out = view_within(p, op->out[0], depth + 1);
	return nd_reshape(out, shape.dim, shape.rank);
}

static struct nd
view_within(struct part *p, int tensor, int depth)
{
	struct nd *v = &p->value[tensor];
	if (v->t)
		return *v;
	p->bound[tensor] = view_in_reader(p, tensor, depth, v);
	if (!p->bound[tensor])
		*v = own_tensor(p, &p->t->tensor[tensor]);
	return *v;
}

struct nd
result_view(struct part *p, int tensor)
{
	return view_within(p, tensor, 0);
}

void
name_result(struct part *p, int tensor, const struct nd *seen)
{
	const struct tosa_tensor *t = &p->t->tensor[tensor];
	const struct nd shape = nd_dense(seen->type, t->rank, t->dim);
	struct nd v = *seen, to;
	bool forward = true;
	for (int i = 0; i < v.rank; i++)
		forward = forward && v.stride[i] > 0;
	if (!p->value[tensor].t && p->reader[tensor] >= 0 &&
	    p->t->op[p->reader[tensor]].code == TOSA_CONCAT)
		(void)result_view(p, tensor);
	if (!p->value[tensor].t && forward && nd_reshape(&v, shape.dim, shape.rank)) {
		p->value[tensor] = v;
		return;
	}
	to = result_view(p, tensor);
	nd_copy(p->l, seen, &to);
}

/* ---- views of feature maps --------------------------------------------------------- */

bool
is_feature_map(const struct nd *v)
{
	struct nd image = nd_part(v, 0, 0, 1);
	struct g_operand o;
	return nd_operand(&image, &o);
}

struct nd
readable_fm(struct part *p, const struct nd *v)
{
	if (is_feature_map(v))
		return *v;
	struct nd r = nd_new_like(p->l, v, v->type);
	nd_copy(p->l, v, &r);
	return r;
}

struct nd
writable_fm(struct part *p, const struct nd *v)
{
	return is_feature_map(v) ? *v : nd_new_like(p->l, v, v->type);
}
