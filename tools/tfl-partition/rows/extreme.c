/* SPDX-License-Identifier: Apache-2.0 */
/*
 * REDUCE_MAX, REDUCE_MIN, and REDUCE_ANY, REDUCE_ALL of BOOL, over any axes:
 * nputools-lowering(7) 5.2.
 */
#include "reduce.h"

#include "lower/pool.h"
#include "lower/reduce.h"

static const char *
read_extreme(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct reduction *r = anew(p->a, struct reduction, 1);
	const char *why = reduction_read(p, op, r);
	o->own = r;
	bool logic = op->code == TFL_REDUCE_ANY || op->code == TFL_REDUCE_ALL;
	if (!why && !logic)
		why = check_same_quant(p, op);
	return why ?: check_extents(r);
}

static struct g_operand
like(struct part *p, struct g_operand o)
{
	return operand_whole(low_tensor(p->l, o.type, o.shape, NULL));
}

/* reduces the innermost axis that is to be reduced; the other axes remain */
static struct g_operand
drop_axis(struct part *p, struct reduction *r, struct g_operand x,
	  struct g_operand *dest)
{
	int at = r->n - 1;
	while (!r->g[at].drop)
		at--;
	const int32_t k[3] = { (int32_t)axes_product(r->g, at), r->g[at].n,
			       (int32_t)axes_product(r->g + at + 1, r->n - at - 1) };
	struct low_reduced s = low_reduced_by_pool(x.shape, k);
	struct g_operand y =
	    --r->drops ? operand_whole(low_tensor(p->l, x.type, s.out, NULL))
		       : reshaped(*dest, s.out);
	struct g_operand in = low_view(p->l, x, s.in);
	(void)low_pool_window(p->l, OP_MAXPOOL, in, y, s.kernel);
	r->g[at] = (struct axis){ .n = 1 };
	return y;
}

static const char *
lower_extreme(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct reduction r = *(const struct reduction *)o->own;
	if (r.ifm->type == TFL_INT32) {
		lower_words_reduced(p, op, &r);
		return NULL;
	}
	struct g_operand x = low_view(p->l, part_ifm(p, op->in[0]), tfl_hwc(r.ifm));
	struct g_operand ofm = part_ofm(p, op->out[0]);
	if (!r.drops) {
		(void)low_copy(p->l, low_view(p->l, x, ofm.shape), ofm);
		return NULL;
	}
	bool min = op->code == TFL_REDUCE_MIN || op->code == TFL_REDUCE_ALL;
	if (min) {
		struct g_operand turned = like(p, x);
		low_reverse_order(p->l, x, turned);
		x = turned;
	}
	struct g_operand dest = min ? like(p, ofm) : low_destination(p->l, ofm);
	while (r.drops)
		x = drop_axis(p, &r, x, &dest);
	if (min)
		low_reverse_order(p->l, dest, ofm);
	else
		low_deliver(p->l, dest, ofm);
	return NULL;
}

const struct family family_reduce_min_max = {
	.read = read_extreme, .lower = lower_extreme,
};
