/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L2_NORMALIZATION of int8: each element times the inverse square root of its row's
 * sum of squares, as the reference computes it (libcommon/kernels/convert.c), with
 * one multiplier and one shift per row.
 */
#include "../part.h"

#include "tflite/fields.h"

enum {
	MOST = 32768, /* elements of a row, as in the kernel: sums stay below 2^31 */
	/* sums from here on are shifted right before the iteration, with rounding */
	ROUNDED = 1 << 27,
	/* for sums from here on the results are shifted right after the product */
	SHIFTED = 1 << 21,
	EVEN_PAIRS = 5, /* number of free pairs of bits with which nothing is shifted */
};

const char *
read_normalize(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_rows(p, o) ?: check_options(p, op, &fb_L2NormOptions);
	if (why)
		return why;
	if (TFL_OPT(op, L2NormOptions, fused_activation_function))
		return "TensorFlow Lite has no kernel with a fused activation";
	int32_t depth = tfl_hwc(o->ifm).c;
	return depth <= MOST ? NULL
			     : arena_printf(p->a, "rows of %d elements: at most %d", depth,
					(int)MOST);
}

void
lower_normalize(struct part *p, const struct lop *o)
{
	const struct tfl_tensor *i = o->ifm;
	int32_t zero = quant_zero(i), reach = zero < 0 ? 127 - zero : zero + 128;
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	int64_t most = (int64_t)reach * reach * x.shape.c;

	struct g_operand squares = word_new(p->l, x.shape);
	struct g_op *square = low_pair(p->l, OP_MUL, x, x, squares);
	square->ifm_zero = square->ifm2_zero = zero;
	struct g_operand sum = row_sum(p, squares);
	struct g_operand pairs = word_free_pairs(p, sum);
	/* half of sum * 4^(pairs - 1), rounded: the start of the iteration */
	struct g_operand zero_word = word_const(p->l, 0), four = word_const(p->l, 4);
	struct g_operand up = word_sub(p->l, word_add(p->l, pairs, pairs), four);
	if (most >= ROUNDED) {
		struct g_operand down = word_max(p->l, word_sub(p->l, zero_word, up), zero_word);
		up = word_max(p->l, up, zero_word);
		sum = word_shr(p->l, sum, down);
	}
	struct g_operand root = word_inverse_root(p, word_shl(p->l, sum, up));

	struct g_operand none = word_const(p->l, 0);
	struct g_operand left = word_sub(p->l, pairs, word_const(p->l, EVEN_PAIRS));
	struct g_operand v = word_widened(p->l, x, zero);
	if (most < SHIFTED) {
		v = word_shl(p->l, v, left);
		op_scale(word_op_to(p->l, OP_MUL, v, root, ofm),
			 (struct npu_scale){ .mult = 1, .shift = 31 }, ROUND_TFL);
		return;
	}
	v = word_shl(p->l, v, word_max(p->l, left, none));
	struct g_operand right = word_max(p->l, word_sub(p->l, none, left), none);
	/* the product / 2^right, halves away from 0 */
	struct g_operand product = word_mul_high(p->l, v, root);
	struct g_operand magnitude = word_shr(p->l, word_abs(p->l, product), right);
	struct g_operand below = word_max(p->l, product, word_const(p->l, -1));
	struct g_operand sign = word_min(p->l, below, word_const(p->l, 1));
	(void)word_op_to(p->l, OP_MUL, magnitude, sign, ofm);
}
