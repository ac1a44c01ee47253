/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SOFTMAX of two classes in 8 bits.  The results depend only on the difference of
 * the two elements, so a table gives them, without sums and reciprocals.  The index
 * of the table is an element minus the other one, 0 at most.  An entry has the
 * distances from the middle of the lesser element's result and of the greater
 * one's; both are 0 for equal elements.  A result is the middle, plus the
 * lesser-element entry of the element itself, plus the greater-element entry of the
 * other one.
 */
#include "../part.h"

#include "graph/facts.h"
#include "kernels/kernels.h"

enum { DIFFERENCES = 256 };

/* results for rows whose elements differ by 0, 1 ... 255 */
struct results {
	int32_t middle; /* result for rows of equal elements */
	int32_t lesser[DIFFERENCES], greater[DIFFERENCES]; /* results minus `middle` */
	bool mirrored; /* `greater` is the negative of `lesser`, after the clamp */
};

/* evaluates rows of the type's greatest value and a value i below it */
static bool
find_results(const struct part *p, const struct tfl_op *op, struct results *f)
{
	struct tfl_tensor y = *part_out(p, op, 0);
	int32_t hi = (int32_t)type_range(y.type).hi;
	uint8_t x[DIFFERENCES][2];
	int16_t data[2 * DIFFERENCES];
	for (int i = 0; i < DIFFERENCES; i++) {
		x[i][0] = (uint8_t)type_range(part_in(p, op, 0)->type).hi;
		x[i][1] = (uint8_t)(x[i][0] - i);
	}
	if (!part_evaluate_rows(p, op, (void *const[]){ x }, data, DIFFERENCES, 2))
		return false;
	y.data.p = (const uint8_t *)data;
	f->middle = tensor_int(&y, 0);
	f->mirrored = true;
	for (int i = 0; i < DIFFERENCES; i++) {
		f->greater[i] = tensor_int(&y, 2 * i) - f->middle;
		f->lesser[i] = tensor_int(&y, 2 * i + 1) - f->middle;
		f->mirrored &= f->greater[i] == (-f->lesser[i] < hi - f->middle
						     ? -f->lesser[i]
						     : hi - f->middle);
	}
	return true;
}

/* element k of every row */
static struct g_operand
class_of(struct g_operand o, int k)
{
	struct hwc one = { .h = o.shape.h, .w = 1, .c = 1 };
	return low_box(o, one, (struct hwc){ .w = k });
}

/* one of the two halves of the words that belong to element k */
static struct g_operand
half_of(struct g_operand words, int k, int half)
{
	words.type = TFL_INT16;
	words.view = VIEW_STRIDED;
	words.shape.w = 1;
	words.stride[0] = 4;
	words.stride[1] = 2;
	words.stride[2] = 1;
	words.offset = 2 * k + half;
	return words;
}

bool
lower_softmax_pairs(struct part *p, const struct tfl_op *op, struct g_operand x,
		    struct g_operand ofm)
{
	struct results f;
	struct hwc s = ofm.shape, pairs = { .h = s.h * s.w, .w = 2, .c = 1 };
	if (s.c != 2 || !find_results(p, op, &f))
		return false;
	bool bytes = f.mirrored && ofm.type != TFL_INT16;
	struct g_operand u = low_new(p->l, bytes ? TFL_INT8 : TFL_INT32, pairs);
	/* entries with both results as halves of a word or, if mirrored bytes, only `lesser` */
	uint8_t narrow[DIFFERENCES];
	int32_t wide[DIFFERENCES];
	for (int i = 0; i < DIFFERENCES; i++) {
		int k = DIFFERENCES - 1 - i;
		narrow[k] = (uint8_t)f.lesser[i];
		wide[k] = (int32_t)((uint32_t)f.greater[i] << 16 |
				    (uint16_t)f.lesser[i]);
	}
	struct g_lut *lut = bytes ? low_lut8(p->l, narrow) : low_lut32(p->l, wide);
	x = low_view(p->l, x, pairs);
	for (int k = 0; k < 2; k++)
		subtract_for_table(p->l, class_of(x, k), class_of(x, !k), class_of(u, k), lut);
	struct g_operand dest = low_destination(p->l, ofm);
	struct g_operand y = operand_reshape(dest.t, pairs);
	for (int k = 0; k < 2; k++) {
		struct g_op *r = low_pair(p->l, bytes ? OP_SUB : OP_ADD,
					  bytes ? class_of(u, k) : half_of(u, k, 0),
					  bytes ? class_of(u, !k) : half_of(u, !k, 1),
					  class_of(y, k));
		op_zeros(r, 0, f.middle);
	}
	low_deliver(p->l, dest, ofm);
	return true;
}
