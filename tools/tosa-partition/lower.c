/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers, in order, every operator that is not part of another one. */
#include "part.h"

static lower_fn *const lowerings[TOSA_OP_LIMIT] = {
	[TOSA_ARGMAX] = lower_argmax,
	[TOSA_AVG_POOL2D] = lower_avg_pool,
	[TOSA_CONV2D] = lower_conv,
	[TOSA_DEPTHWISE_CONV2D] = lower_conv,
	[TOSA_MATMUL] = lower_matmul,
	[TOSA_MAX_POOL2D] = lower_max_pool,
	[TOSA_TRANSPOSE_CONV2D] = lower_transpose_conv,
	[TOSA_CLAMP] = lower_clamp,
	[TOSA_ADD] = lower_sum_of,
	[TOSA_ARITHMETIC_RIGHT_SHIFT] = lower_shift,
	[TOSA_BITWISE_AND] = lower_bits,
	[TOSA_BITWISE_OR] = lower_bits,
	[TOSA_BITWISE_XOR] = lower_bits,
	[TOSA_INTDIV] = lower_divide,
	[TOSA_LOGICAL_AND] = lower_bool,
	[TOSA_LOGICAL_LEFT_SHIFT] = lower_shift,
	[TOSA_LOGICAL_RIGHT_SHIFT] = lower_shift,
	[TOSA_LOGICAL_OR] = lower_bool,
	[TOSA_LOGICAL_XOR] = lower_bool,
	[TOSA_MAXIMUM] = lower_extreme,
	[TOSA_MINIMUM] = lower_extreme,
	[TOSA_MUL] = lower_mul,
	[TOSA_SUB] = lower_sum_of,
	[TOSA_TABLE] = lower_table,
	[TOSA_ABS] = lower_abs,
	[TOSA_BITWISE_NOT] = lower_not,
	[TOSA_CLZ] = lower_clz,
	[TOSA_LOGICAL_NOT] = lower_not,
	[TOSA_NEGATE] = lower_negate,
	[TOSA_SELECT] = lower_select,
	[TOSA_EQUAL] = lower_compare,
	[TOSA_GREATER] = lower_compare,
	[TOSA_GREATER_EQUAL] = lower_compare,
	[TOSA_REDUCE_ALL] = lower_reduce,
	[TOSA_REDUCE_ANY] = lower_reduce,
	[TOSA_REDUCE_MAX] = lower_reduce,
	[TOSA_REDUCE_MIN] = lower_reduce,
	[TOSA_REDUCE_SUM] = lower_reduce_sum,
	[TOSA_CONCAT] = lower_concat,
	[TOSA_PAD] = lower_pad,
	[TOSA_RESHAPE] = lower_moved,
	[TOSA_REVERSE] = lower_reverse,
	[TOSA_SLICE] = lower_moved,
	[TOSA_TILE] = lower_tile,
	[TOSA_TRANSPOSE] = lower_moved,
	[TOSA_GATHER] = lower_gather,
	[TOSA_SCATTER] = lower_scatter,
	[TOSA_RESIZE] = lower_resize,
	[TOSA_CAST] = lower_cast,
	[TOSA_RESCALE] = lower_rescale,
	[TOSA_IDENTITY] = lower_moved,
	[TOSA_WHILE_LOOP] = lower_loop,
};

/* writes outputs that are constants */
static void
write_outputs(struct part *p)
{
	for (int i = 0; i < p->t->n_out; i++) {
		const struct tosa_tensor *t = &p->t->tensor[p->t->out[i]];
		bool again = false;
		for (int k = 0; k < i; k++)
			again |= p->t->out[k] == p->t->out[i];
		if (!t->data.p || again)
			continue;
		int64_t n = tosa_elements(t), dim[TOSA_MAX_RANK];
		int32_t *v = anew(p->a, int32_t, (size_t)n);
		for (int64_t k = 0; k < n; k++)
			v[k] = (int32_t)tosa_value(t, k);
		for (int k = 0; k < t->rank; k++)
			dim[k] = t->dim[k];
		struct nd to = result_view(p, p->t->out[i]);
		struct nd from = nd_const(p->l, to.type, t->rank, dim, v);
		nd_copy(p->l, &from, &to);
	}
}

void
lower_all(struct part *p)
{
	for (int i = 0; i < p->t->n_ops; i++) {
		const struct tosa_op *op = &p->t->op[i];
		if (p->done[i])
			continue;
		p->l->op_i = op->number;
		p->l->name = tosa_out(p->t, op)->name;
		const char *why = lowerings[op->code](p, op);
		if (!why && p->l->too_many)
			why = "it would take more than 16384 operations";
		p->l->too_many = false;
		if (why)
			p->why[i] = why;
	}
	for (int i = 0; i < p->t->n_ops; i++)
		p->refused += p->why[i] != NULL;
	write_outputs(p);
}
