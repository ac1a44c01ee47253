/* SPDX-License-Identifier: Apache-2.0 */
/*
 * states: a state that one concatenation reads shares the memory of the concatenation
 * (nputools-rewrites(7) 8).  Streaming networks keep the last rows of a feature map between
 * inferences: they copy the rows in front of the new ones, and at the end copy the last rows
 * back.  Here the variable has all rows, and one copy moves the last rows to the front, in place.
 */
#include "rewrite/rules.h"

#include "graph/build.h"

/* A variable and the tensor that begins with its rows. */
struct state {
	struct g_tensor *variable, *rows;
	struct g_op *read, *assign;
	size_t end;	/* index behind the last operation that uses the rows */
	int64_t n, shift; /* elements of the variable; of the rows in front of its new value */
};

static int64_t
first_element(const struct g_operand *o)
{
	return operand_by_strides(*o).offset;
}

/* One run of elements of type, from the element `first` on. */
static bool
is_run(const struct g_operand *o, int64_t first)
{
	return operand_is_contiguous(o) && o->type == o->t->shape.type && first_element(o) == first;
}

/* True if one node uses the tensor, and no other node or border of the model has it. */
static bool
is_inside(const struct graph *g, const struct g_tensor *t, const struct g_node *only)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i] != only && (tensors_have(&g->nodes[i]->in, t) ||
					    tensors_have(&g->nodes[i]->out, t)))
			return false;
	return !G_HAS(t, G_TENSOR_io) && !G_HAS(t, G_TENSOR_area) && !G_HAS(t, G_TENSOR_layout);
}

/* Finds the only operation that reads v, and the only one that writes v, which are copies. */
static bool
find_copies(const struct graph *g, struct state *s)
{
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		bool writes = op->ofm.t == s->variable;
		if (!writes && op->ifm.t != s->variable && op->ifm2.t != s->variable)
			continue;
		if (!op_only_moves(op) || (writes ? s->assign != NULL : s->read || s->assign))
			return false;
		*(writes ? &s->assign : &s->read) = op;
	}
	return s->read && s->assign && s->read->ofm.t == s->assign->ifm.t &&
	       s->read->node == s->assign->node;
}

/* True if all other operations write the rows behind those of the variable. */
static bool
are_rows_kept(const struct graph *g, struct state *s)
{
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		bool writes = op->ofm.t == s->rows && op != s->read;
		if (writes) {
			const struct g_operand o = operand_by_strides(op->ofm);
			if (op->node != s->read->node || o.type != o.t->shape.type ||
			    o.offset < s->n || o.stride[0] < 0 || o.stride[1] < 0 ||
			    o.stride[2] < 0)
				return false;
		}
		if (writes || op->ifm.t == s->rows || op->ifm2.t == s->rows)
			s->end = i + 1;
	}
	return true;
}

/* Elements from `first` on, as one row whose pixels each fit a block. */
static struct g_operand
row_of(struct g_tensor *t, int64_t first, int64_t n)
{
	int32_t c = 16;
	while (n % c)
		c--;
	return (struct g_operand){ .t = t, .view = VIEW_STRIDED, .type = t->shape.type,
				   .shape = { .h = 1, .w = (int32_t)(n / c), .c = c },
				   .offset = first, .stride = { n, c, 1 } };
}

bool
rewrite_states(struct exact *x)
{
	enum { WIDEST = 65536 };
	struct graph *g = x->g;
	/* if the arena is not in SRAM, operations would read the rows of a state from DRAM */
	if (!x->overlap || x->spilling || graph_has_loops(g))
		return true;
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *v = g->tensors[i];
		struct state s = { .variable = v, .n = hwc_elements(v->hwc) };
		if (!v->variable || G_HAS(v, G_TENSOR_tfl) || !find_copies(g, &s))
			continue;
		struct g_tensor *rows = s.rows = s.read->ofm.t;
		s.shift = first_element(&s.assign->ifm);
		if (rows == v || rows->variable || tensor_is_const(rows) ||
		    rows->shape.type != v->shape.type || !is_inside(g, v, s.read->node) ||
		    !is_inside(g, rows, NULL) || hwc_elements(s.read->ofm.shape) != s.n ||
		    hwc_elements(s.assign->ofm.shape) != s.n || !is_run(&s.read->ifm, 0) ||
		    !is_run(&s.read->ofm, 0) || !is_run(&s.assign->ofm, 0) || s.shift <= 0 ||
		    !is_run(&s.assign->ifm, s.shift) || !are_rows_kept(g, &s) ||
		    row_of(v, 0, s.n).shape.w > WIDEST)
			continue;
		/* the variable becomes the rows; the copy of its new value shifts them at the end */
		struct g_op **op = anew(x->a, struct g_op *, g->n_ops + 1);
		bool *keep = anew(x->a, bool, g->n_tensors + 1);
		size_t n = 0;
		for (size_t j = 0; j < g->n_ops; j++) {
			for (int k = 0; k < 3; k++)
				if (operand_ofm_first(g->ops[j], k)->t == s.rows)
					operand_ofm_first(g->ops[j], k)->t = s.variable;
			if (g->ops[j] != s.read && g->ops[j] != s.assign)
				op[n++] = g->ops[j];
			if (j + 1 == s.end)
				op[n++] = s.assign;
		}
		for (size_t j = 0; j < g->n_tensors; j++)
			keep[j] = g->tensors[j] != s.rows;
		s.variable->shape = s.rows->shape;
		s.variable->hwc = s.rows->hwc;
		if (!G_HAS(s.rows, G_TENSOR_hwc))
			G_CLEAR(s.variable, G_TENSOR_hwc);
		s.assign->ifm = row_of(s.variable, s.shift, s.n);
		s.assign->ofm = row_of(s.variable, 0, s.n);
		graph_set_ops(g, op, n);
		graph_keep_g_tensor(g, keep);
		(void)exact_note(x, s.assign, 0, 0, "the state is shifted in place");
		i--;
	}
	return true;
}
