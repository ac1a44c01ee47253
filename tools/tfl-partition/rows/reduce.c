/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MEAN, SUM, REDUCE_MAX, REDUCE_MIN, and REDUCE_ANY, REDUCE_ALL of BOOL, over any axes:
 * nputools-lowering(7) 3.3, 5.2.  Adjacent axes that are all kept or all reduced are merged.
 * A pool reduces the middle one of three axes.
 */
#include "../moves/move.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/reduce.h"

enum { MAX_OPS = 4096 };

struct reduction {
	struct low_axes axes;
	int64_t count; /* number of elements that each result combines */
	struct npu_scale scale;
	int32_t ifm_zero; /* zero point of the summed elements; 0 once these are partial sums */
	int32_t ofm_zero;
};

/* a sum that is rescaled; SUM of INT32 adds plain integers */
static bool
is_scaled_sum(const struct lop *o)
{
	return o->op->code == TFL_MEAN || (o->op->code == TFL_SUM && o->ifm->type != TFL_INT32);
}

/* M' and e' of the reference: the multiplier includes the division by n */
static bool
mean_scale(double ratio, struct reduction *r)
{
	struct fixed_mult q = fixed_quantize(ratio);
	int shift = 63 - __builtin_clzll((uint64_t)r->count);
	shift = shift < 32 ? shift : 32;
	shift = shift < 31 + q.exp ? shift : 31 + q.exp;
	if (q.mult <= 0 || shift < 0)
		return false;
	int64_t mult = ((int64_t)q.mult << shift) / r->count;
	int s = 31 - (q.exp - shift);
	r->scale = (struct npu_scale){ .mult = (uint32_t)mult, .shift = s };
	return mult > 0 && mult <= INT32_MAX && s >= 0 && s <= 63;
}

static int64_t
axes_product(const struct low_extent *g, int n)
{
	int64_t v = 1;
	for (int i = 0; i < n; i++)
		v *= g[i].n;
	return v;
}

/* ---- sums ------------------------------------------------------------------------ */

static struct low_end
end_of(const struct reduction *r)
{
	return (struct low_end){ .scaled = true, .scale = r->scale, .zero = r->ofm_zero };
}

/* Sums an axis that is larger than a kernel: equal parts are summed and the sums added. */
static void
sum_parts(struct part *p, const struct reduction *r, const struct nd *v, const struct nd *out,
	  const int32_t k[3])
{
	const int64_t in[3] = { k[0], k[1], k[2] };
	const int32_t to[3] = { k[0], 1, k[2] };
	int parts = (k[1] + LOW_POOL_WINDOW - 1) / LOW_POOL_WINDOW;
	struct g_operand sum = { .t = NULL };
	struct nd x = nd_readable_as(p->l, *v, in, 3);
	for (int i = 0; i < parts; i++) {
		int64_t lo = in[1] * i / parts, hi = in[1] * (i + 1) / parts;
		const int32_t piece[3] = { k[0], (int32_t)(hi - lo), k[2] };
		struct nd from = nd_part(&x, 1, lo, hi - lo);
		struct g_operand one = word_new(p->l, (struct hwc){ k[0], 1, k[2] });
		const struct nd dest = nd_operand_of(one, 3, to);
		(void)low_reduce_once(p->l, OP_AVGPOOL, &from, r->ifm_zero, piece, &dest,
				      &low_plain);
		sum = sum.t ? word_add(p->l, sum, one) : one;
	}
	/* multiplies 32-bit sums by a constant, as this product is rounded like a scale */
	const struct nd all = nd_operand_of(sum, 3, to);
	struct nd dest = nd_writable_as(p->l, out, all.dim, all.rank);
	struct g_op *o = word_op_to(p->l, OP_MUL, nd_to_operand(&all),
				    word_const(p->l, (int32_t)r->scale.mult),
				    nd_to_operand(&dest));
	op_scale(o, (struct npu_scale){ .mult = 1, .shift = r->scale.shift },
		 ROUND_TFL);
	op_zeros(o, 0, r->ofm_zero);
	nd_deliver(p->l, &dest, out);
}

/*
 * Reduces the innermost axis when another axis is to be reduced, too.  The 32-bit
 * sums are written so that the other axis becomes the innermost.
 */
static struct nd
fold_innermost(struct part *p, struct reduction *r, const struct nd *v)
{
	struct low_extent *last = &r->axes.axis[r->axes.n - 1], *kept = last - 1, *next = last - 2;
	const int32_t outer = (int32_t)axes_product(r->axes.axis, r->axes.n - 3), n = next->n;
	const int32_t k[3] = { n * kept->n, last->n, 1 }, all[3] = { outer, kept->n, n };
	const int64_t in[4] = { outer, n, kept->n, last->n }, to[2] = { kept->n, n };
	struct nd x = nd_readable_as(p->l, *v, in, 4);
	struct g_operand sum = word_new(p->l, (struct hwc){ outer, kept->n, n });
	struct nd y = nd_operand_of(sum, 3, all);
	for (int32_t i = 0; i < outer; i++) {
		struct nd from = nd_part(&x, 0, i, 1), dest = nd_part(&y, 0, i, 1);
		from = nd_as(from, in + 1, 3);
		dest = nd_as(dest, to, 2);
		nd_transpose(&dest);
		(void)low_reduce_once(p->l, OP_REDUCE_SUM, &from, 0, k, &dest, &low_plain);
	}
	if (r->ifm_zero) {
		sum = word_sub(p->l, sum, word_const(p->l, last->n * r->ifm_zero));
		y = nd_operand_of(sum, 3, all);
	}
	r->ifm_zero = 0;
	*next = *kept;
	if (r->axes.n > 3) {
		next[-1].n *= kept->n;
		next--;
	}
	next[1] = (struct low_extent){ .n = n, .drop = true };
	r->axes.n = (int)(next + 2 - r->axes.axis);
	r->axes.drops--;
	return y;
}

/*
 * Sums over two axes, where the last four axes are reduced, kept, reduced, kept.  One
 * kernel covers both reduced axes, for each position of the axes before these four.
 */
static void
sum_two(struct part *p, const struct reduction *r, const struct nd *v, const struct nd *out)
{
	static const int turned[3] = { 1, 0, 2 };
	const struct low_extent *g = &r->axes.axis[r->axes.n - 4];
	const int64_t outer = axes_product(r->axes.axis, r->axes.n - 4);
	const int64_t in[5] = { outer, g[0].n, g[1].n, g[2].n, g[3].n };
	const int64_t to[3] = { outer, g[1].n, g[3].n }, window[3] = { g[0].n, g[2].n, g[3].n };
	struct nd x = nd_readable_as(p->l, *v, in, 5), dest = nd_writable_as(p->l, out, to, 3);
	const struct low_end end = end_of(r);
	for (int64_t i = 0; i < outer * g[1].n; i++) {
		struct nd from = nd_part(&x, 0, i / g[1].n, 1), sum = nd_part(&dest, 0, i / g[1].n, 1);
		nd_slice(&from, 2, i % g[1].n, 1, 1);
		nd_slice(&sum, 1, i % g[1].n, 1, 1);
		from = nd_as(from, window, 3);
		if (g[0].n > LOW_POOL_ROWS)
			nd_permute(&from, turned);
		struct yx kernel = { .y = (int32_t)from.dim[0], .x = (int32_t)from.dim[1] };
		struct g_op *op = low_pool_window(p->l, OP_AVGPOOL, nd_to_operand(&from),
						  nd_to_operand(&sum), kernel);
		op->ifm_zero = r->ifm_zero;
		low_finish(&end, op);
	}
	nd_deliver(p->l, &dest, out);
}

static const char *
read_sum(const struct part *p, const struct lop *o, struct reduction *r)
{
	double ratio = quant_scale(o->ifm) / quant_scale(o->ofm);
	bool ok = o->op->code == TFL_MEAN
		      ? mean_scale(ratio, r)
		      : npu_quantise(ratio, &r->scale) && r->scale.mult <= INT32_MAX;
	if (!ok)
		return "the scale can't be expressed";
	if (r->count * 32768 > INT32_MAX && o->ifm->type == TFL_INT16 &&
	    r->count > LOW_POOL_WINDOW)
		return "a sum of more than 65536 elements of 16 bits";
	if (r->axes.drops == 0)
		return NULL;
	if (r->axes.drops == 1) {
		int32_t k[3];
		low_axes_dropped(&r->axes, k);
		struct low_reduced s = low_reduced_by_pool(tfl_hwc(o->ifm), k);
		if (k[1] > LOW_POOL_WINDOW) /* sum_parts() will sum it */
			s = (struct low_reduced){ .in = { k[0], 1, k[2] } };
		return low_reduced_fits(&s) ? NULL
					    : "more than 65536 results before or behind the axis";
	}
	const struct low_extent *g = &r->axes.axis[r->axes.n - 1];
	for (int i = 0; i < r->axes.n; i++)
		if (r->axes.axis[i].n > LOW_REDUCE_EXTENT)
			return arena_printf(p->a, "one of %d axes has %d elements: at "
					"most 65536", r->axes.drops, r->axes.axis[i].n);
	if (g->drop)
		return axes_product(r->axes.axis, r->axes.n - 3) <= MAX_OPS ? NULL
							: "too many axes in turn";
	/* the innermost axis is kept: one kernel must cover both reduced axes */
	int32_t small = g[-1].n < g[-3].n ? g[-1].n : g[-3].n;
	return r->axes.drops > 2 || small > LOW_POOL_ROWS ||
			       (int64_t)g[-1].n * g[-3].n > LOW_POOL_WINDOW ||
			       axes_product(r->axes.axis, r->axes.n - 4) * g[-2].n > MAX_OPS
		   ? "the reduced axes are too many or too large"
		   : NULL;
}

const char *
read_reduce(const struct part *p, struct lop *o)
{
	struct reduction *r = o->own = anew(p->a, struct reduction, 1);
	const char *why = check_ifm_ofm(p, o);
	if (why)
		return why;
	*r = (struct reduction){ .ifm_zero = quant_zero(o->ifm), .ofm_zero = quant_zero(o->ofm) };
	if (o->ifm->type != o->ofm->type)
		return "IFM and OFM differ in type";
	if (o->ifm->data.p)
		return "IFM is constant";
	bool drop[TFL_MAX_RANK] = { false };
	int64_t axis[TFL_MAX_RANK];
	int n;
	if (!part_ints(o->ifm2, axis, TFL_MAX_RANK, &n))
		return "the axes are not constants in range";
	for (int i = 0; i < n; i++) {
		int at = move_axis(axis[i], o->ifm->rank);
		if (at < 0)
			return "the axes are not constants in range";
		drop[at] = true;
	}
	r->axes = low_axes_of(o->ifm->rank, o->ifm->dim, drop);
	r->count = 1;
	for (int i = 0; i < r->axes.n; i++)
		r->count *= r->axes.axis[i].drop ? r->axes.axis[i].n : 1;
	if (tfl_elements(o->ofm) * r->count != tfl_elements(o->ifm))
		return "the OFM's shape is not what the axes give";
	if (is_scaled_sum(o))
		return read_sum(p, o, r);
	const int code = o->op->code;
	const struct hwc natural = tfl_hwc(o->ifm);
	if (code == TFL_REDUCE_MIN || code == TFL_REDUCE_MAX)
		why = check_same_quant(p, o);
	return why ?: low_reduce_check(&r->axes, o->ifm->type, &natural);
}

void
lower_reduce(struct part *p, const struct lop *o)
{
	const int code = o->op->code;
	bool least = code == TFL_REDUCE_MIN || code == TFL_REDUCE_ALL;
	struct reduction r = *(const struct reduction *)o->own;
	struct nd x = nd_ifm(p, o->op->in[0]), out = nd_ofm(p, o->op->out[0]);
	if (!is_scaled_sum(o)) {
		low_reduce(p->l, code == TFL_SUM ? OP_ADD : least ? OP_MIN : OP_MAX, &r.axes, &x,
			   &out);
		return;
	}
	const struct low_end end = end_of(&r);
	int32_t k[3];
	while (r.axes.drops > 1 && r.axes.axis[r.axes.n - 1].drop)
		x = fold_innermost(p, &r, &x);
	if (r.axes.drops == 0) {
		x = nd_readable_as(p->l, x, out.dim, out.rank);
		nd_unary(p->l, OP_AVGPOOL, &x, r.ifm_zero, &out, &end);
		return;
	}
	if (r.axes.drops > 1) {
		sum_two(p, &r, &x, &out);
		return;
	}
	low_axes_dropped(&r.axes, k);
	if (k[2] == 1 && !low_reduce_once(p->l, OP_REDUCE_SUM, &x, r.ifm_zero, k, &out, &end))
		return;
	if (k[1] > LOW_POOL_WINDOW)
		sum_parts(p, &r, &x, &out, k);
	else
		(void)low_reduce_once(p->l, OP_AVGPOOL, &x, r.ifm_zero, k, &out, &end);
}
