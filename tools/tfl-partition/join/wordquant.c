/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantizes integers through floats: CAST to FLOAT32, then QUANTIZE.  Outside of a
 * range the result is the type's least or greatest value; inside it is
 *
 *	(v * M + 2^(k - 1)) / 2^k + zero point
 *
 * with an M and k that are found by trying all values of the range.  DEQUANTIZE of
 * 16 bits, then QUANTIZE, becomes one QUANTIZE between integers if that has the
 * same result for all 65536 values.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "kernels/kernels.h"

#include <math.h>
#include <string.h>

enum { MAX_RANGE = 65536 };

struct word_quant {
	int root; /* the tensor of integers */
	int32_t lo, hi, mult, shift;
};

/* want: the reference's results for lo, lo + 1, ... hi */
static bool
matches_reference(const struct word_quant *w, const struct tfl_tensor *o, const int32_t *want)
{
	struct g_range r = type_range(o->type);
	int64_t half = w->shift ? (int64_t)1 << (w->shift - 1) : 0;
	for (int64_t v = w->lo; v <= w->hi; v++) {
		int64_t y = ((v * w->mult + half) >> w->shift) + quant_zero(o);
		if (clamp_i64(y, r.lo, r.hi) != want[v - w->lo])
			return false;
	}
	return true;
}

static bool
find_multiplier(struct word_quant *w, const struct tfl_tensor *o, const int32_t *want)
{
	enum { NEAR = 2 };
	double largest = fmax(fabs((double)w->lo), fabs((double)w->hi));
	for (int k = 30; k >= 0; k--) {
		double m = round(ldexp(1 / quant_scale(o), k));
		if (m + NEAR > (double)INT32_MAX / (largest + 1))
			continue;
		for (int d = 0; d <= 2 * NEAR; d++) { /* offsets 0, 1, -1, 2, -2 */
			w->shift = k;
			w->mult = (int32_t)m + (d & 1 ? d / 2 + 1 : -(d / 2));
			if (matches_reference(w, o, want))
				return true;
		}
	}
	return false;
}

/*
 * evaluates the reference for all integers whose results do not saturate, and one
 * beside them
 */
static bool
evaluate_integers(const struct part *p, const struct tfl_op *op, struct word_quant *w)
{
	const struct tfl_tensor *o = part_out(p, op, 0);
	struct g_range r = type_range(o->type);
	double s = quant_scale(o), z = quant_zero(o);
	double lo = floor(((double)r.lo - z) * s) - 1;
	double hi = ceil(((double)r.hi - z) * s) + 1;
	if (!(hi - lo < MAX_RANGE) || !(lo > -(1 << 24)) || !(hi < 1 << 24))
		return false;
	w->lo = (int32_t)lo;
	w->hi = (int32_t)hi;
	int n = w->hi - w->lo + 1;
	struct arena *a = arena_open();
	float *x = anew(a, float, (size_t)n);
	uint8_t *y = anew(a, uint8_t, (size_t)n * 2);
	int32_t *want = anew(a, int32_t, (size_t)n);
	for (int i = 0; i < n; i++)
		x[i] = (float)(w->lo + i);
	bool ok = part_evaluate(p, op, (void *const[]){ x }, y, n);
	struct tfl_tensor as = *o;
	as.data = (struct bytes){ .p = y, .n = (size_t)n * 2 };
	for (int i = 0; ok && i < n; i++)
		want[i] = tensor_int(&as, i);
	ok = ok && want[0] == r.lo && want[n - 1] == r.hi &&
	     find_multiplier(w, o, want);
	arena_close(a);
	return ok;
}

/* The operator of this code and with one input before a QUANTIZE of floats; NULL: there is none. */
static const struct tfl_op *
before_quantize(const struct part *p, const struct tfl_op *op, int code, struct word_quant *w)
{
	const struct tfl_tensor *x = part_in(p, op, 0);
	if (op->code != TFL_QUANTIZE || op->n_in != 1 || op->n_out != 1 || !x ||
	    x->type != TFL_FLOAT32 || x->producer < 0 ||
	    check_fm(p, part_out(p, op, 0), "OFM", TYPE_FM))
		return NULL;
	const struct tfl_op *first = &p->sg->op[x->producer];
	if (first->code != code || first->n_in != 1 || first->in[0] < 0)
		return NULL;
	w->root = first->in[0];
	return part_in(p, first, 0)->data.p ? NULL : first;
}



/*
 * Translates DEQUANTIZE and QUANTIZE into one QUANTIZE, if this has for all values the results
 * of both together.
 */
static bool
read_requant(const struct part *p, const struct tfl_op *op, struct word_quant *w, struct lop *o)
{
	enum { VALUES = 65536 };
	const struct tfl_op *back = before_quantize(p, op, TFL_DEQUANTIZE, w);
	if (!back || part_in(p, back, 0)->type != TFL_INT16)
		return false;
	struct tfl_op *plain = anew(p->a, struct tfl_op, 1);
	*plain = *op;
	plain->in = back->in;
	*o = lop_of(p, plain);
	if (read_quantize(p, o))
		return false;
	struct arena *a = arena_open();
	int16_t *x = anew(a, int16_t, VALUES);
	float *real = anew(a, float, VALUES);
	uint16_t *y = anew(a, uint16_t, VALUES), *z = anew(a, uint16_t, VALUES);
	for (int i = 0; i < VALUES; i++)
		x[i] = (int16_t)(i + INT16_MIN);
	bool ok = part_evaluate(p, back, (void *const[]){ x }, real, VALUES) &&
		  part_evaluate(p, op, (void *const[]){ real }, y, VALUES) &&
		  part_evaluate(p, plain, (void *const[]){ x }, z, VALUES) &&
		  !memcmp(y, z, VALUES * sizeof(*y));
	arena_close(a);
	return ok;
}

bool
join_words(struct part *p, int i, struct join *j)
{
	struct placement *x = &p->op[i];
	const struct tfl_op *op = &p->sg->op[i];
	struct word_quant *w = anew(p->a, struct word_quant, 1);
	struct lop o = x->lop;
	struct err e = { 0 };
	if (x->npu || x->asked || x->border)
		return false;
	const struct tfl_op *first = before_quantize(p, op, TFL_CAST, w);
	const struct tfl_tensor *root = first ? part_in(p, first, 0) : NULL;
	bool words = root && root->type == TFL_INT32 && !check_fm(p, root, "IFM", TYPE_I32) &&
		     tfl_elements(root) == tfl_elements(part_out(p, op, 0)) &&
		     evaluate_integers(p, op, w);
	if (!words && !read_requant(p, op, w, &o))
		return false;
	int cast = p->sg->tensor[op->in[0]].producer;
	/* the evaluation ignores shapes, so check that they are valid */
	if (p->uses[op->in[0]] != 1 || p->op[cast].asked ||
	    !kernel_check(p->sg, &p->sg->op[cast], &e) || !kernel_check(p->sg, op, &e))
		return false;
	if (words)
		o.own = w;
	x->lop = o;
	*j = (struct join){ .as = words ? AS_WORDS : AS_ALONE, .n = 1, .op = { cast } };
	return true;
}

void
lower_words(struct part *p, const struct lop *o)
{
	const struct word_quant *w = o->own;
	struct g_operand ofm = part_ofm(p, o->op->out[0]), dest = low_destination(p->l, ofm);
	struct g_operand v = low_view(p->l, part_ifm(p, w->root), dest.shape);
	struct g_operand lo = word_const(p->l, w->lo), hi = word_const(p->l, w->hi);
	struct g_operand mult = word_const(p->l, w->mult);
	struct g_operand shift = word_const(p->l, w->shift);
	v = word_max(p->l, v, lo);
	v = word_min(p->l, v, hi);
	v = word_mul(p->l, v, mult);
	v = word_shr(p->l, v, shift);
	struct g_operand zero = word_const(p->l, 0);
	struct g_op *last = word_op_to(p->l, OP_ADD, v, zero, dest);
	op_zeros(last, 0, quant_zero(o->ofm));
	low_deliver(p->l, dest, ofm);
}
