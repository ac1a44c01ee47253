/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kernel of an operator. */
#include "tosakernels/tosakernels.h"

#include <stdarg.h>
#include <stdio.h>

void
tosa_warn(struct tosa_run *r, const char *fmt, ...)
{
	va_list ap;
	if (r->warned)
		return;
	r->warned = true;
	va_start(ap, fmt);
	(void)vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

static const struct {
	void (*run)(struct tosa_run *);
} kernels[TOSA_OP_LIMIT] = {
	[TOSA_ARGMAX] = { tosa_run_argmax },
	[TOSA_AVG_POOL2D] = { tosa_run_avg_pool },
	[TOSA_CONV2D] = { tosa_run_conv },
	[TOSA_DEPTHWISE_CONV2D] = { tosa_run_conv },
	[TOSA_MATMUL] = { tosa_run_matmul },
	[TOSA_MAX_POOL2D] = { tosa_run_max_pool },
	[TOSA_TRANSPOSE_CONV2D] = { tosa_run_transpose_conv },
	[TOSA_CLAMP] = { tosa_run_unary },
	[TOSA_ADD] = { tosa_run_binary },
	[TOSA_ARITHMETIC_RIGHT_SHIFT] = { tosa_run_binary },
	[TOSA_BITWISE_AND] = { tosa_run_binary },
	[TOSA_BITWISE_OR] = { tosa_run_binary },
	[TOSA_BITWISE_XOR] = { tosa_run_binary },
	[TOSA_INTDIV] = { tosa_run_binary },
	[TOSA_LOGICAL_AND] = { tosa_run_binary },
	[TOSA_LOGICAL_LEFT_SHIFT] = { tosa_run_binary },
	[TOSA_LOGICAL_RIGHT_SHIFT] = { tosa_run_binary },
	[TOSA_LOGICAL_OR] = { tosa_run_binary },
	[TOSA_LOGICAL_XOR] = { tosa_run_binary },
	[TOSA_MAXIMUM] = { tosa_run_binary },
	[TOSA_MINIMUM] = { tosa_run_binary },
	[TOSA_MUL] = { tosa_run_binary },
	[TOSA_SUB] = { tosa_run_binary },
	[TOSA_TABLE] = { tosa_run_table },
	[TOSA_ABS] = { tosa_run_unary },
	[TOSA_BITWISE_NOT] = { tosa_run_unary },
	[TOSA_CLZ] = { tosa_run_unary },
	[TOSA_LOGICAL_NOT] = { tosa_run_unary },
	[TOSA_NEGATE] = { tosa_run_unary },
	[TOSA_SELECT] = { tosa_run_select },
	[TOSA_EQUAL] = { tosa_run_binary },
	[TOSA_GREATER] = { tosa_run_binary },
	[TOSA_GREATER_EQUAL] = { tosa_run_binary },
	[TOSA_REDUCE_ALL] = { tosa_run_reduce },
	[TOSA_REDUCE_ANY] = { tosa_run_reduce },
	[TOSA_REDUCE_MAX] = { tosa_run_reduce },
	[TOSA_REDUCE_MIN] = { tosa_run_reduce },
	[TOSA_REDUCE_SUM] = { tosa_run_reduce },
	[TOSA_CONCAT] = { tosa_run_concat },
	[TOSA_PAD] = { tosa_run_move },
	[TOSA_RESHAPE] = { tosa_run_unary },
	[TOSA_REVERSE] = { tosa_run_move },
	[TOSA_SLICE] = { tosa_run_move },
	[TOSA_TILE] = { tosa_run_move },
	[TOSA_TRANSPOSE] = { tosa_run_move },
	[TOSA_GATHER] = { tosa_run_gather },
	[TOSA_SCATTER] = { tosa_run_scatter },
	[TOSA_RESIZE] = { tosa_run_resize },
	[TOSA_CAST] = { tosa_run_unary },
	[TOSA_RESCALE] = { tosa_run_rescale },
	[TOSA_IDENTITY] = { tosa_run_unary },
};

void
tosa_eval(struct tosa_run *r)
{
	kernels[r->op->code].run(r);
}
