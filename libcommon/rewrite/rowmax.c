/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rowmax: the maximum of each row is found by halves of the row (nputools-rewrites(7) 5).
 *
 * A maximum pool over rows of one channel uses one lane of a microblock.  Instead, the columns
 * of a row are seen as channels, and an elementwise maximum compares the first half of the
 * channels with the last half, then the first quarter with the second one, and so on.  Each
 * maximum is written over its first operand, so that no memory is needed.
 */
#include "rewrite/rules.h"

enum { LEAST_COLUMNS = 4, MOST_STEPS = 17, MOST_EXTENT = 65536 };

/* The steps that replace a pool. */
struct tree {
	struct g_operand row;	/* columns as channels, rows as a plane */
	struct g_operand result; /* the OFM of the pool, in the shape of the plane */
	struct g_op step[MOST_STEPS];
	int n;
};

/* ---- the pattern --------------------------------------------------------------- */

static bool
is_pool_of_rows(const struct g_op *op)
{
	const struct g_tensor *t = op->ifm.t;
	struct g_range all = type_range(op->ofm.type);
	return op->kind == OP_MAXPOOL && op->kernel.y == 1 && op->kernel.x == op->ifm.shape.w &&
	       op->kernel.x >= LEAST_COLUMNS && op->ifm.shape.c == 1 && op->ofm.shape.w == 1 &&
	       op->ofm.shape.h == op->ifm.shape.h && !op->pad.left && !op->pad.right &&
	       !op->pad.top && !op->pad.bottom && op->upscale == UPSCALE_NONE &&
	       op->act == G_ACT_CLAMP && op->clamp.lo <= all.lo && op->clamp.hi >= all.hi &&
	       op->ifm_zero == op->ofm_zero && op->ifm.type == op->ofm.type &&
	       operand_is_contiguous(&op->ifm) && t->layout == LAYOUT_NHWC &&
	       op->ofm.t->layout == LAYOUT_NHWC && !tensor_has_strides(op->ofm.t);
}

/* True if the pool is the only reader of its IFM, and the last operation that touches it. */
static bool
may_overwrite(const struct graph *g, const struct g_op *pool)
{
	const struct g_tensor *t = pool->ifm.t;
	if (!exact_is_inner(g, t))
		return false;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		bool reads = op->ifm.t == t || op->ifm2.t == t;
		if (op != pool && (reads || (op->ofm.t == t && op->rec.index > pool->rec.index)))
			return false;
	}
	return pool->ofm.t != t;
}

/* ---- the replacement ----------------------------------------------------------- */

/* Sees n channels from `first` on of all rows. */
static struct g_operand
channels(const struct tree *t, int32_t first, int32_t n)
{
	struct g_operand o = t->row;
	o.offset += first;
	o.shape.c = n;
	return o;
}

/* False: the extents exceed those of operations. */
static bool
make_tree(const struct g_op *pool, struct tree *t)
{
	const struct g_operand in = operand_by_strides(pool->ifm), out = operand_by_strides(pool->ofm);
	int32_t rows = in.shape.h, n = in.shape.w, h = 1;
	for (int32_t i = 2; i <= rows / i; i++) /* the largest divisor up to the square root */
		h = rows % i ? h : i;
	int32_t w = rows / h;
	*t = (struct tree){ .row = in, .result = out };
	t->row.shape = (struct hwc){ .h = h, .w = w, .c = n };
	t->row.stride[0] = (int64_t)w * n;
	t->row.stride[1] = n;
	t->row.stride[2] = 1;
	t->result.shape = (struct hwc){ .h = h, .w = w, .c = 1 };
	t->result.stride[1] = out.stride[0];
	t->result.stride[0] = w * out.stride[0];
	for (int32_t m = n, k; m > 1; m -= k) {
		k = m / 2;
		struct g_op *op = &t->step[t->n++];
		*op = (struct g_op){ .kind = OP_MAX, .round = ROUND_TFL };
		op->ifm = channels(t, 0, k);
		op->ifm2 = channels(t, m - k, k);
		op->ofm = m == 2 ? t->result : op->ifm;
		op->kernel = op->stride = op->dilation = (struct yx){ .y = 1, .x = 1 };
		op->clamp = type_range(op->ofm.type);
	}
	return w <= MOST_EXTENT && n <= MOST_EXTENT;
}

bool
rewrite_rowmax(struct exact *x)
{
	for (size_t i = 0; i < x->g->n_ops; i++) {
		struct g_op *pool = x->g->ops[i];
		struct change c = { .old = { pool } };
		struct tree t;
		double saved;
		bool fits = x->estimate && is_pool_of_rows(pool) && may_overwrite(x->g, pool) &&
			    make_tree(pool, &t);
		for (int k = 0; fits && k < t.n; k++)
			c.now[k] = &t.step[k];
		if (!fits || !change_pays(x, &c, 0.9, &saved))
			continue;
		size_t first = x->g->n_ops;
		x->l->node = pool->node;
		x->l->name = pool->name;
		for (int k = 0; k < t.n; k++) {
			struct g_op *op = low_op(x->l, OP_MAX, t.step[k].ifm, t.step[k].ofm);
			op_ifm2(op, t.step[k].ifm2, pool->ifm_zero);
			op_zeros(op, pool->ifm_zero, pool->ofm_zero);
			G_PUT(op, OP, tfl, pool->tfl);
		}
		exact_move(x, first, (size_t)t.n, i);
		exact_note(x, pool, 0, saved,
			   "a pool over rows of %d becomes %d elementwise maxima", t.row.shape.c, t.n);
		exact_drop_op(x, pool); /* behind its steps */
		i += (size_t)t.n - 1;
	}
	return true;
}
