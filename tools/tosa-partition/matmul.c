/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MATMUL.  Sums of 16-bit products have up to 39 bits.  Without an operation for
 * matrix products no operation yields such sums: their parts are made and scaled
 * separately (lower/matmul.h).
 */
#include "part.h"

enum { MAX_BLOCKS = 2048 };

static const int turned[] = { 0, 2, 1 }; /* [batch][depth][column] as [batch][column][depth] */

struct wide {
	struct part *p;
	struct low_matmul m;
};

static void
multiply_half(void *ctx, const struct nd *a, const struct nd *b, const struct nd *sums)
{
	struct wide *w = ctx;
	w->m.a = *a;
	w->m.b = *b;
	nd_permute(&w->m.b, turned);
	low_matmul_all(w->p->l, &w->m, sums, &low_half_up);
}

const char *
lower_matmul(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct low_matmul m = { .a = a, .b = b,
				.a_zero = (int32_t)tosa_zero_of(p->t, op, 2),
				.b_zero = (int32_t)tosa_zero_of(p->t, op, 3) };
	nd_permute(&m.b, turned);
	bool wide = a.type == TFL_INT16, native = low_matmul_is_native(p->l, &m);
	struct tail t = tail_of(p, op->out[0], TAIL_SCALE | (native ? TAIL_WORDS : 0));
	if (wide && !t.scaled)
		return "an operator other than RESCALE to 8 or 16 bits reads its sums "
		       "of 48 bits";
	if (wide && !native && a.dim[2] > LOW_WIDE_DEPTH)
		return arena_printf(p->a, "sums of %lld products of 16 bits, at most %d",
			   (long long)a.dim[2], (int)LOW_WIDE_DEPTH);
	if (a.dim[0] * low_matmul_blocks(p->l, &m) > MAX_BLOCKS)
		return "more than 2048 blocks of 32768 products";
	struct nd out = result_view(p, t.out);
	struct low_end end = wide && !native ? tail_end(p, &t) : tail_scaled_end(p, &t);
	struct wide ctx = { .p = p, .m = m };
	struct low_wide w = { .a = a, .b = b, .scale = tail_scale(&t, 0),
			      .multiply = multiply_half, .end = &end, .ctx = &ctx };
	if (wide && !native)
		low_multiply_wide(p->l, &w, &out);
	else
		low_matmul_all(p->l, &m, &out, &end);
	return NULL;
}
