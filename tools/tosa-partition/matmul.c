/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL.  Sums of 16-bit products have up to 39 bits.  Without an operation for
 * matrix products no operation yields such sums: their parts are made and scaled
 * separately (lower/matmul.h).
 */
#include "part.h"

const char *
lower_matmul(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct low_matmul m = { .a = a, .b = b,
				.a_zero = (int32_t)tosa_zero_of(p->t, op, 2),
				.b_zero = (int32_t)tosa_zero_of(p->t, op, 3) };
	nd_transpose(&m.b);
	bool native = low_matmul_is_native(p->l, &m);
	struct tail t = tail_of(p, op->out[0], TAIL_SCALE | (native ? TAIL_WORDS : 0));
	if (m.a.type == TFL_INT16 && !t.scaled)
		return "an operator other than RESCALE to 8 or 16 bits reads its sums "
		       "of 48 bits";
	const char *why = low_matmul_check(p->l, &m, m.a.dim[0]);
	if (why)
		return why;
	struct nd out = result_view(p, t.out);
	struct low_end end = tail_scaled_end(p, &t);
	low_matmul(p->l, &m, &out, &end);
	return NULL;
}
