/* SPDX-License-Identifier: Apache-2.0 */
/* RESCALE, CLAMP, TABLE, NEGATE, ABS, CLZ, CAST. */
#include "part.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"

static int
unsigned_type(int type)
{
	return type == TFL_INT8 ? TFL_UINT8 : TFL_UINT16;
}

/* one scale per channel: a depthwise convolution with weights of 1 */
static const char *
rescale_channels(struct part *p, const struct tail *t, const struct nd *v,
		 const struct nd *out)
{
	int32_t n = (int32_t)v->dim[v->rank - 1];
	int64_t dim[4] = { 1, 1, nd_elements(v) / n, n };
	for (int i = 0; i + 2 < v->rank; i++)
		dim[1] *= v->dim[i];
	dim[2] /= dim[1];
	struct nd from = nd_addressed_as(p->l, v, dim, 4), to = nd_writable_as(p->l, out, dim, 4);
	uint8_t *ones = anew(p->a, uint8_t, (size_t)n);
	int64_t *bias = anew(p->a, int64_t, (size_t)n);
	struct npu_scale *scale = anew(p->a, struct npu_scale, (size_t)n);
	for (int32_t k = 0; k < n; k++) {
		ones[k] = 1;
		scale[k] = tail_scale(t, k);
	}
	struct low_weights w = { .v = ones, .type = TFL_INT8, .stride = { 1, n, n },
				 .zero = anew(p->a, int64_t, 1), .n_zero = 1,
				 .name = "ones" };
	struct low_conv c = { .kind = OP_DEPTHWISE, .weights = w, .o = n, .i = 1,
			      .groups = 1, .kernel = { .y = 1, .x = 1 },
			      .stride = { .y = 1, .x = 1 },
			      .dilation = { .y = 1, .x = 1 }, .bias = bias,
			      .ifm_zero = (int32_t)t->r.in_zero, .scale = scale,
			      .round = tail_round(t) };
	const char *why = low_conv_check(p->a, &c, &from, &to);
	struct low_end end = tail_end(p, t);
	if (why)
		return why;
	low_conv(p->l, &c, &from, &to, &end);
	nd_deliver(p->l, &to, out);
	return NULL;
}

const char *
lower_rescale(struct part *p, const struct tosa_op *op)
{
	int in = tosa_in(p->t, op, 0)->type, type = tosa_out(p->t, op)->type;
	if (type == TOSA_INT32 && (in == TOSA_INT8 || in == TOSA_INT16)) {
		/* it waits for readers that apply its scale themselves */
		if (p->t->tensor[op->out[0]].is_output)
			(void)scaled_value(p, op->out[0]);
		return NULL;
	}
	/* a RESCALE that is part of no operation before it, with its tail */
	struct tail t = tail_of(p, op->out[0], 0);
	t.scaled = true;
	t.r = tosa_rescale_of(p->t, op);
	t.zero = t.r.out_zero;
	if (t.r.out_unsigned && t.out == op->out[0] && !t.has_table) {
		t.lo = tosa_least(type, true);
		t.hi = tosa_most(type, true);
	}
	struct nd v = value_of(p, op->in[0]), out = result_view(p, t.out);
	if (v.type == TFL_INT32)
		return scale_to(p, &v, &t, &out);
	if (t.r.in_unsigned)
		v.type = unsigned_type(v.type);
	if (t.r.out_unsigned)
		out.type = unsigned_type(out.type);
	/* have all multipliers 15 bits, as U85 needs for sums of 16-bit operands? */
	bool fits = true;
	for (int64_t k = 0; t.r.per_channel && k < v.dim[v.rank - 1]; k++)
		fits = fits && tail_scale(&t, k).mult <= INT16_MAX;
	if (t.r.per_channel && v.type == TFL_INT16 && !fits) {
		struct nd w = nd_widen(p->l, &v, (int32_t)t.r.in_zero, TFL_INT32);
		return scale_to(p, &w, &t, &out);
	}
	if (t.r.per_channel)
		return rescale_channels(p, &t, &v, &out);
	struct low_end end = tail_scaled_end(p, &t);
	if (!tail_scale(&t, 0).mult) /* a factor of 0: the shift leaves nothing */
		end.scale.shift = 40;
	nd_unary(p->l, OP_AVGPOOL, &v, (int32_t)t.r.in_zero, &out, &end);
	return NULL;
}

const char *
lower_clamp(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]);
	int64_t lo, hi;
	tosa_clamp_of(p->t, op, &lo, &hi);
	if (v.type == TFL_INT32) {
		struct nd out = result_view(p, op->out[0]);
		struct nd below = nd_with_scalar(p->l, OP_MIN, &v, (int32_t)hi);
		struct nd c = nd_const_one(p->l, TFL_INT32, v.rank, (int32_t)lo);
		binary_to(p, OP_MAX, &below, &c, &out, &low_half_up);
		return NULL;
	}
	struct tail t = tail_of(p, op->out[0], 0);
	struct nd out = result_view(p, t.out);
	t.lo = clamp_i64(t.lo, lo, hi);
	t.hi = clamp_i64(t.hi, lo, hi);
	struct low_end end = tail_scaled_end(p, &t);
	end.scale = scale_one();
	nd_unary(p->l, OP_AVGPOOL, &v, 0, &out, &end);
	return NULL;
}

/* ---- TABLE ---------------------------------------------------------------------------- */

/* the RESCALE by 2^-7 to 16 bits that is the only reader of the tensor; NULL: none */
static const struct tosa_op *
native_rescale(const struct part *p, int tensor)
{
	int i = p->reader[tensor];
	if (i < 0 || p->t->tensor[tensor].is_output || p->t->op[i].code != TOSA_RESCALE)
		return NULL;
	const struct tosa_op *op = &p->t->op[i];
	struct tosa_rescale r = tosa_rescale_of(p->t, op);
	if (r.per_channel || r.in_zero || r.out_zero || r.out_unsigned ||
	    r.rounding == TOSA_DOUBLE_ROUND || tosa_out(p->t, op)->type != TOSA_INT16)
		return NULL;
	int64_t m = tosa_value(r.mult, 0), s = tosa_value(r.shift, 0);
	return s >= 7 && m == INT64_C(1) << (s - 7) ? op : NULL;
}

/* 16-bit elements in a table of 512 segments */
static void
look_up_curve(struct part *p, const struct nd *v, const struct tosa_tensor *table,
	      const struct nd *out)
{
	int16_t points[513];
	for (int i = 0; i < 513; i++)
		points[i] = (int16_t)tosa_value(table, i);
	look_up(p, v, low_lut16(p->l, points), out);
}

/* base * 128 + slope * fraction: Ethos-U85's own table, or a table for each of the three */
static void
raw_curve(struct part *p, const struct nd *v, const struct tosa_tensor *table,
	  const struct nd *out)
{
	if (low_has(p->l, LACK_WORD_CURVES)) {
		look_up_curve(p, v, table, out);
		return;
	}
	struct nd base = nd_new_like(p->l, v, TFL_INT16), slope = nd_new_like(p->l, v, TFL_INT16);
	struct nd rest = nd_new_like(p->l, v, TFL_INT16), words[2];
	int64_t value[3][512];
	for (int i = 0; i < 512; i++) {
		int64_t a = tosa_value(table, i), b = tosa_value(table, i + 1);
		value[0][i] = (uint16_t)a;
		value[1][i] = (uint16_t)(b - a);
		value[2][i] = (int64_t)128 << 16;
	}
	const struct nd *to[3] = { &base, &slope, &rest };
	for (int k = 0; k < 3; k++) {
		struct low_end end = low_half_up;
		end.has_scalar = true;
		end.lut = low_lut_words(p->l, 16, value[k], 512);
		nd_unary(p->l, OP_ADD, v, 0, to[k], &end);
	}
	words[0] = nd_new_like(p->l, v, TFL_INT32);
	words[1] = nd_new_like(p->l, v, TFL_INT32);
	struct low_end by_128 = low_half_up;
	by_128.has_scalar = true;
	by_128.scalar = 128;
	nd_unary(p->l, OP_MUL, &base, 0, &words[0], &by_128);
	binary_to(p, OP_MUL, &slope, &rest, &words[1], &low_half_up);
	binary_to(p, OP_ADD, &words[0], &words[1], out, &low_half_up);
}

const char *
lower_table(struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *table = tosa_in(p->t, op, 1);
	struct nd v = value_of(p, op->in[0]);
	if (v.type == TFL_INT8) {
		struct tail t = tail_of(p, op->out[0], 0);
		struct nd out = result_view(p, t.out);
		uint8_t bytes[256];
		for (int i = 0; i < 256; i++) {
			int64_t y = tosa_value(table, i);
			bytes[i] = t.has_table ? t.table[y + 128]
					       : (uint8_t)clamp_i64(y, t.lo, t.hi);
		}
		look_up(p, &v, low_lut8(p->l, bytes), &out);
		return NULL;
	}
	const struct tosa_op *r = native_rescale(p, op->out[0]);
	if (!r) {
		struct nd out = result_view(p, op->out[0]);
		raw_curve(p, &v, table, &out);
		return NULL;
	}
	struct nd out = result_view(p, r->out[0]);
	p->done[p->reader[op->out[0]]] = true;
	look_up_curve(p, &v, table, &out);
	return NULL;
}

/* ---- the other operators -------------------------------------------------------- */

/* the least number of 32 bits, which has no negative, becomes the greatest; U85 would wrap */
const char *
lower_negate(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]);
	struct tail t = tail_of(p, op->out[0], 0);
	if (v.type == TFL_INT32)
		v = nd_with_scalar(p->l, OP_MAX, &v, -INT32_MAX);
	struct nd out = result_view(p, t.out), zero = nd_const_one(p->l, v.type, v.rank, 0);
	t.zero = tosa_zero_of(p->t, op, 2);
	struct low_end end = tail_scaled_end(p, &t);
	nd_binary(p->l, OP_SUB, &zero, 0, &v, (int32_t)tosa_zero_of(p->t, op, 1), &out,
		  &end);
	return NULL;
}

/* ABS, CLZ */
const char *
lower_plain(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	nd_unary(p->l, op->code == TOSA_ABS ? OP_ABS : OP_CLZ, &v, 0, &out, &low_half_up);
	return NULL;
}

/* to fewer bits: the low bits; to BOOL: the magnitude, at most 1 */
const char *
lower_cast(struct part *p, const struct tosa_op *op)
{
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	struct low_end end = low_half_up;
	if (tosa_out(p->t, op)->type == TOSA_BOOL) {
		end.clamped = true;
		end.clamp.hi = 1;
		nd_unary(p->l, OP_ABS, &v, 0, &out, &end);
	} else if (out.type != TFL_INT32 && v.type == TFL_INT32) {
		nd_narrow(p->l, &v, &out);
	} else if (graph_type_bytes(out.type) < graph_type_bytes(v.type)) {
		struct nd low = part_of(&v, out.type, 0);
		nd_copy(p->l, &low, &out);
	} else if (out.type == TFL_INT32) {
		end.has_scalar = true;
		end.scalar = 1;
		nd_unary(p->l, OP_MUL, &v, 0, &out, &end);
	} else {
		end.scale = scale_one();
		nd_unary(p->l, OP_AVGPOOL, &v, 0, &out, &end);
	}
	return NULL;
}
