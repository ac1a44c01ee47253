/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interval of the values of each channel, by the integer arithmetic of the NPU
 * (nputools-rewrites(7) 3).  An accumulator's interval follows from the weights, the
 * bias and the intervals of the IFM.  Scale, zero point and clamp never decrease as the
 * accumulator increases; therefore both ends of its interval give the interval of the result.
 * A table is read for each value.  The result of any other arithmetic has the interval of
 * its type.
 */
#include "rewrite/channels.h"

#include "base/fixed.h"
#include "base/little_endian.h"
#include "emit/emit.h"
#include "graph/build.h"
#include "graph/facts.h"

struct finder {
	struct arena *a;
	struct graph *g;
	struct intervals *out;
	struct err *e;
};

/* an interval of accumulators */
struct span {
	int64_t lo, hi;
};

static struct interval
all_of_type(int type)
{
	switch (type) {
	case TFL_INT8:
	case TFL_UINT8:
	case TFL_INT16: {
		struct g_range r = type_range(type);
		return (struct interval){ .lo = (int32_t)r.lo, .hi = (int32_t)r.hi };
	}
	case TFL_UINT16:
		return (struct interval){ .hi = UINT16_MAX };
	default:
		return (struct interval){ .lo = INT32_MIN, .hi = INT32_MAX };
	}
}

static bool
is_narrow(int type)
{
	return type == TFL_INT8 || type == TFL_UINT8 || type == TFL_INT16;
}

static struct interval
hull(struct interval a, struct interval b)
{
	if (a.lo > a.hi)
		return b;
	if (b.lo > b.hi)
		return a;
	return (struct interval){ .lo = min_i32(a.lo, b.lo), .hi = max_i32(a.hi, b.hi) };
}

/* ---- operands -------------------------------------------------------------------- */

/* The interval of channel k of an operand. */
static struct interval
channel_of(const struct finder *f, const struct g_operand *o, int32_t k)
{
	struct lanes l;
	const struct interval *v = f->out->of[o->t->rec.index];
	if (!lanes_of(o, &l))
		return all_of_type(o->type);
	struct interval x = v[l.first + k % l.n];
	return x.lo > x.hi ? all_of_type(o->type) : x;
}

/* Channel k of the OFM gets values of an interval; all channels are joined, from 0 on. */
static void
join(const struct finder *f, const struct g_operand *o, int32_t k, struct interval x)
{
	struct lanes l;
	struct interval *v = f->out->of[o->t->rec.index];
	if (lanes_of(o, &l)) {
		v[l.first + k % l.n] = hull(v[l.first + k % l.n], x);
		return;
	}
	for (int32_t c = 0; k == 0 && c < o->t->hwc.c; c++)
		v[c] = all_of_type(o->t->shape.type);
}

/* The values of an operand minus its zero point; or 0, if the window reaches outside. */
static struct span
input_of(struct interval x, int32_t zero, bool outside)
{
	struct span s = { .lo = (int64_t)x.lo - zero, .hi = (int64_t)x.hi - zero };
	if (outside) {
		s.lo = min_i64(s.lo, 0);
		s.hi = max_i64(s.hi, 0);
	}
	return s;
}

/* ---- the output stage (ethosu-commands(7) 6.2 to 6.5, 26.2) ------------------------ */

/* (v * mult + rounding) >> shift; with double rounding, of an operand d bits up */
static int64_t
scaled(int64_t v, struct npu_scale s, int round, int d)
{
	int64_t half = s.shift ? (int64_t)1 << (s.shift - 1) : 0, add = half;
	int64_t twice = s.shift > 31 - d ? (int64_t)1 << (30 - d) : 0;
	if (round == ROUND_TFL)
		add = half + (v < 0 ? -twice : twice);
	else if (round == ROUND_TRUNCATE)
		add = v < 0 ? (int64_t)(((uint64_t)1 << s.shift) - 1) : 0;
	return fixed_scale_wide(v, s.mult, s.shift ? add : 0, s.shift);
}

/* Only scales that are the same on all generations are computed. */
static bool
is_plain_scale(struct npu_scale s)
{
	return s.mult <= INT32_MAX && s.shift >= 0 && s.shift < 62;
}

/* The results of a scaled accumulator: zero point, clamp, table. */
static struct interval
output_of(const struct g_op *op, struct span s)
{
	struct interval all = all_of_type(op->ofm.type);
	struct g_range c = G_HAS(op, G_OP_clamp) ? op->clamp
						 : (struct g_range){ .lo = all.lo, .hi = all.hi };
	bool table = op->act == G_ACT_LUT && op->lut->bits == 8;
	if (!is_narrow(op->ofm.type) || (op->act != G_ACT_CLAMP && !table))
		return all;
	const int64_t far = (int64_t)1 << 40;
	int32_t lo = clamp_i32(max_i64(c.lo, all.lo), all.lo, all.hi);
	int32_t hi = clamp_i32(min_i64(c.hi, all.hi), all.lo, all.hi);
	if (lo > hi)
		return all;
	struct interval x = {
		.lo = clamp_i32(max_i64(s.lo, -far) + op->ofm_zero, lo, hi),
		.hi = clamp_i32(min_i64(s.hi, far) + op->ofm_zero, lo, hi),
	};
	if (!table)
		return x;
	bool is_signed = graph_type_signed(op->ofm.type);
	struct interval r = { .lo = 1 };
	for (int32_t v = x.lo; v <= x.hi; v++) {
		int64_t entry = op->lut->values.v[v + (is_signed ? 128 : 0)];
		int32_t y = is_signed ? (int8_t)(uint8_t)entry : (int32_t)entry;
		r = hull(r, (struct interval){ .lo = y, .hi = y });
	}
	return r;
}

static struct interval
result_of(const struct g_op *op, struct span s, struct npu_scale by)
{
	if (!is_plain_scale(by))
		return all_of_type(op->ofm.type);
	return output_of(op, (struct span){ .lo = scaled(s.lo, by, op->round, 0),
					    .hi = scaled(s.hi, by, op->round, 0) });
}

/* ---- kernels ----------------------------------------------------------------------- */

/* Sums over products, with the bias, and the sum of their greatest magnitudes. */
struct products {
	int64_t lo, hi, most;
};

enum { SHORT_ROW = 1 << 12, NARROW = 1 << 10 }; /* their products have 31 bits, with weights of 9 */

/* Adds n products of adjacent weights; the sums have 32 bits. */
static void
add_narrow(struct products *r, const uint8_t *v, bool is_signed, int32_t zero, const int32_t *lo,
	   const int32_t *hi, int32_t n)
{
	int32_t flip = is_signed ? 128 : 0, sum_lo = 0, sum_hi = 0, most = 0;
	for (int32_t i = 0; i < n; i++) {
		int32_t k = (v[i] ^ flip) - flip - zero, a = k * lo[i], b = k * hi[i];
		int32_t least = a < b ? a : b, greatest = a < b ? b : a;
		sum_lo += least;
		sum_hi += greatest;
		most += greatest > -least ? greatest : -least;
	}
	r->lo += sum_lo;
	r->hi += sum_hi;
	r->most += most;
}

static void
add_wide(struct products *r, const struct weights_view *w, const uint8_t *v, int32_t zero,
	 const int32_t *lo, const int32_t *hi, int32_t n)
{
	for (int32_t i = 0; i < n; i++) {
		uint8_t x = v[i * w->stride_i];
		int64_t k = (w->is_unsigned ? x : (int8_t)x) - zero;
		int64_t a = k * lo[i], b = k * hi[i];
		r->lo += min_i64(a, b);
		r->hi += max_i64(a, b);
		r->most += max_i64(max_i64(a, b), -min_i64(a, b));
	}
}

/* CONV, FC and DEPTHWISE: all sums fit the accumulators if these hold the greatest `most`. */
static bool
find_product(struct finder *f, const struct g_op *op)
{
	struct weights_view w;
	int64_t most = 0, limit = (int64_t)1 << (op->acc40 ? 39 : 31);
	int32_t n = op->ofm.shape.c;
	if (!emit_weights_view(f->a, f->g, op->weights, &w, f->e))
		return false;
	struct arena *scratch = arena_open();
	/* the interval of each IFM channel, minus the zero point, and their greatest magnitude */
	int32_t depth = op->ifm.shape.c, greatest = 0;
	int32_t *lo = anew(scratch, int32_t, (size_t)depth);
	int32_t *hi = anew(scratch, int32_t, (size_t)depth);
	for (int32_t i = 0; i < depth; i++) {
		struct span x = input_of(channel_of(f, &op->ifm, i), op->ifm_zero,
					 !op_has_full_windows(op));
		lo[i] = clamp_i32(x.lo, INT32_MIN / 2, INT32_MAX / 2);
		hi[i] = clamp_i32(x.hi, INT32_MIN / 2, INT32_MAX / 2);
		greatest = max_i32(greatest, max_i32(-lo[i], hi[i]));
	}
	struct products *s = anew(scratch, struct products, (size_t)n);
	int32_t row = op->weights->shape.dim[3];
	bool narrow = w.stride_i == 1 && row <= SHORT_ROW && greatest < NARROW;
	for (int32_t o = 0; o < n; o++) {
		int64_t bias = op->scales->bias.v[o];
		int32_t zero = weights_zero(&w, o), first = op->kind == OP_DEPTHWISE ? o : 0;
		s[o] = (struct products){ .lo = bias, .hi = bias, .most = bias < 0 ? -bias : bias };
		for (int32_t ky = 0; ky < op->kernel.y; ky++)
			for (int32_t kx = 0; kx < op->kernel.x; kx++) {
				const uint8_t *v = weights_at(&w, o, ky, kx, 0);
				if (narrow)
					add_narrow(&s[o], v, !w.is_unsigned, zero, lo + first,
						   hi + first, row);
				else
					add_wide(&s[o], &w, v, zero, lo + first, hi + first, row);
			}
		most = max_i64(most, s[o].most);
	}
	bool fits = most < limit && !op->ifm2.t && is_narrow(op->ifm.type);
	f->out->fits[op->rec.index] = fits;
	for (int32_t o = 0; o < n; o++) {
		const struct g_scales *by = op->scales;
		struct npu_scale scale = { .mult = (uint32_t)by->mult.v[o],
					   .shift = (int)by->shift.v[o] };
		struct span sum = { .lo = s[o].lo, .hi = s[o].hi };
		join(f, &op->ofm, o,
		     fits ? result_of(op, sum, scale) : all_of_type(op->ofm.type));
	}
	arena_close(scratch);
	return true;
}

static struct span
operand_scaled(const struct g_op *op, struct span x, bool first)
{
	bool narrow = graph_type_bytes(op->ifm.type) == 1;
	int64_t by = narrow ? 1 << 19 : 1 << 14;
	int d = narrow ? 20 : 15;
	if (op->scaled == SCALED_BOTH)
		by = (uint16_t)(first ? (int64_t)op->opa.mult : op->opb);
	else if ((op->scaled == SCALED_A) == first)
		return (struct span){ .lo = scaled(x.lo, op->opa, op->ifm_round, d),
				      .hi = scaled(x.hi, op->opa, op->ifm_round, d) };
	return (struct span){ .lo = x.lo * by, .hi = x.hi * by };
}

static struct interval
element_of(const struct g_op *op, struct span x, struct span y)
{
	struct interval all = all_of_type(op->ofm.type);
	bool scales = G_HAS(op, G_OP_scale);
	struct span a = op->reversed ? y : x, b = op->reversed ? x : y;
	switch (op->kind) {
	case OP_MUL: {
		int64_t p[] = { x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi };
		struct span s = { .lo = p[0], .hi = p[0] };
		for (int k = 1; k < 4; k++) {
			s.lo = min_i64(s.lo, p[k]);
			s.hi = max_i64(s.hi, p[k]);
		}
		return scales ? result_of(op, s, op->scale) : all;
	}
	case OP_ADD:
	case OP_SUB:
		if (!scales || !G_HAS(op, G_OP_opa) || !is_plain_scale(op->opa) ||
		    op->ifm_round == ROUND_TRUNCATE)
			return all;
		a = operand_scaled(op, a, true);
		b = operand_scaled(op, b, false);
		if (op->kind == OP_SUB)
			b = (struct span){ .lo = -b.hi, .hi = -b.lo };
		return result_of(op, (struct span){ .lo = a.lo + b.lo, .hi = a.hi + b.hi },
				 op->scale);
	case OP_MIN:
		return scales ? all
			      : output_of(op, (struct span){ .lo = min_i64(x.lo, y.lo),
							     .hi = min_i64(x.hi, y.hi) });
	case OP_MAX:
		return scales ? all
			      : output_of(op, (struct span){ .lo = max_i64(x.lo, y.lo),
							     .hi = max_i64(x.hi, y.hi) });
	case OP_LRELU:
		if (!scales || G_HAS(op, G_OP_opa) || !is_plain_scale(op->scale) ||
		    op->round == ROUND_TRUNCATE)
			return all;
		if (x.lo < 0)
			x.lo = scaled(x.lo, op->scale, op->round, 0);
		if (x.hi < 0)
			x.hi = scaled(x.hi, op->scale, op->round, 0);
		return output_of(op, x);
	default:
		return all;
	}
}

static struct interval
channelwise_of(const struct finder *f, const struct g_op *op, int32_t k)
{
	struct span x = input_of(channel_of(f, &op->ifm, k), op->ifm_zero, false);
	struct span y = { .lo = (int64_t)op->scalar - op->ifm2_zero,
			  .hi = (int64_t)op->scalar - op->ifm2_zero };
	const int64_t n = (int64_t)op->kernel.y * op->kernel.x;
	bool ok = is_narrow(op->ifm.type) && is_narrow(op->ofm.type);
	if (!ok && op->kind != OP_COPY)
		return all_of_type(op->ofm.type);
	switch (op->kind) {
	case OP_COPY:
		return channel_of(f, &op->ifm, k);
	case OP_MAXPOOL:
		if (G_HAS(op, G_OP_scale))
			return all_of_type(op->ofm.type);
		return output_of(op, input_of(channel_of(f, &op->ifm, k), op->ifm_zero,
					      !op_has_full_windows(op)));
	case OP_AVGPOOL:
		/*
		 * The average of values is between the least and the greatest one: U55 and U65 round
		 * it by a multiplier, U85 divides.
		 */
		x = input_of(channel_of(f, &op->ifm, k), op->ifm_zero, !op_has_full_windows(op));
		if (!op_has_full_windows(op) || !G_HAS(op, G_OP_scale)) {
			if (x.lo == 0 && x.hi == 0)
				return output_of(op, x);
			return output_of(op, (struct span){ .lo = x.lo - 1, .hi = x.hi + 1 });
		}
		/*
		 * With another scale, all generations multiply the sum.  If the scale is 1 / n, U85
		 * has another multiplier; with both, n times a value gives the value.
		 */
		return result_of(op, (struct span){ .lo = n * x.lo, .hi = n * x.hi }, op->scale);
	default:
		if (!op_is_elementwise(op->kind))
			return all_of_type(op->ofm.type);
		if (op->ifm2.t)
			y = input_of(channel_of(f, &op->ifm2, op->ifm2.shape.c == 1 ? 0 : k),
				     op->ifm2_zero, false);
		return element_of(op, x, y);
	}
}

/* ---- tensors ------------------------------------------------------------------------ */

bool
intervals_find(struct arena *a, struct graph *g, struct intervals *out, struct err *e)
{
	struct finder f = { .a = a, .g = g, .out = out, .e = e };
	out->of = anew(a, struct interval *, g->n_tensors + 1);
	out->fits = anew(a, bool, g->n_ops + 1);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		const int type = t->shape.type;
		struct interval *v = out->of[i] = anew(a, struct interval, (size_t)t->hwc.c);
		bool open = G_HAS(t, G_TENSOR_io) || t->variable;
		for (int32_t c = 0; c < t->hwc.c; c++)
			v[c] = open ? all_of_type(type) : (struct interval){ .lo = 1 };
		if (!tensor_is_const(t))
			continue;
		struct bytes b;
		int64_t n = hwc_elements(t->hwc);
		if (!graph_source(g, &t->rec, &t->source, &b, e))
			return false;
		bool ok = is_narrow(type) && (int64_t)b.n >= n * graph_type_bytes(type);
		for (int32_t c = 0; !ok && c < t->hwc.c; c++)
			v[c] = all_of_type(type);
		for (int64_t k = 0; ok && k < n; k++) {
			int32_t x = type == TFL_INT8  ? (int8_t)b.p[k]
				  : type == TFL_UINT8 ? b.p[k]
						      : (int16_t)load_le16(b.p + 2 * k);
			int64_t c = k % t->hwc.c;
			v[c] = hull(v[c], (struct interval){ .lo = x, .hi = x });
		}
	}
	/* others write the tensors of nodes: the application, the CPU, the previous run */
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_tensors *l[] = { &g->nodes[i]->in, &g->nodes[i]->out };
		for (int k = 0; k < 2; k++)
			for (size_t j = 0; j < l[k]->n; j++) {
				const struct g_tensor *t = l[k]->v[j];
				for (int32_t c = 0; c < t->hwc.c; c++)
					out->of[t->rec.index][c] = all_of_type(t->shape.type);
			}
	}
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (op_has_weights(op->kind)) {
			if (!find_product(&f, op))
				return false;
			continue;
		}
		bool channelwise = op_is_channelwise(op);
		for (int32_t k = 0; k < op->ofm.shape.c; k++)
			join(&f, &op->ofm, k,
			     channelwise ? channelwise_of(&f, op, k) : all_of_type(op->ofm.type));
	}
	return true;
}
