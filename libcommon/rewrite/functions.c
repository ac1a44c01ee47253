/* SPDX-License-Identifier: Apache-2.0 */
/*
 * functions: on Ethos-U85, SIGMOID looks up the table of TANH (nputools-rewrites(7) 15).  Both tables
 * fill the memory for tables, and an LSTM uses them in turn.
 */
#include "rewrite/rules.h"

#include "emit/emit.h"
#include "graph/build.h"
#include "target/accel.h"

#include <stdlib.h>

static bool
lacks_table(const struct g_op *op, int act)
{
	return op->act == act && !op->lut;
}

/* True if each value of INT16, times the constants of the operation, is above -130560: smaller
 * arguments read the first slope. */
static bool
skips_first_slope(const struct g_op *op)
{
	enum { LARGEST = 1 << 15, SECOND = 130560 };
	const bool product = op->kind == OP_MUL && !op->ifm2.t && !op->ifm2_zero;
	const int64_t factor = product ? llabs((long long)op->scalar) : 1;
	return (product || emit_is_plain_pool(op)) && op->ifm.type == TFL_INT16 &&
	       factor <= LARGEST && !op->ifm_zero && !op->ofm_zero &&
	       (LARGEST * factor * op->scale.mult) >> op->scale.shift < SECOND - 1;
}

bool
rewrite_functions(struct exact *x)
{
	struct graph *g = x->g;
	const struct g_op *first = NULL;
	int n_tanh = 0, n = 0, others = 0;
	if (!accel_lacks(x->accel, LACK_FUNCTIONS) || g->n_steps)
		return true;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		const bool takes = lacks_table(op, G_ACT_SIGMOID), skips = skips_first_slope(op);
		n_tanh += lacks_table(op, G_ACT_TANH);
		others += takes && !skips;
		n += takes && skips;
		first = first ? first : takes && skips ? op : NULL;
	}
	if (!n || !n_tanh)
		return true;
	struct g_lut *tanh = low_function(g, true);
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		if (lacks_table(op, G_ACT_TANH) ||
		    (lacks_table(op, G_ACT_SIGMOID) && skips_first_slope(op)))
			G_PUT(op, OP, lut, tanh);
	}
	(void)exact_note(x, first, others ? 0 : LUT_BYTES, 0, "%d SIGMOID%s the table of TANH", n,
			 n == 1 ? " reads" : "s read");
	return true;
}
