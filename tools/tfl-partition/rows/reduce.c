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

static bool
find_axes(const struct lop *o, struct reduction *r)
{
	bool drop[TFL_MAX_RANK] = { false };
	int64_t axis[TFL_MAX_RANK];
	int n, rank = o->ifm->rank;
	if (!part_ints(o->ifm2, axis, TFL_MAX_RANK, &n))
		return false;
	for (int i = 0; i < n; i++) {
		int at = move_axis(axis[i], rank);
		if (at < 0)
			return false;
		drop[at] = true;
	}
	r->axes = low_axes_of(rank, o->ifm->dim, drop);
	r->count = 1;
	for (int i = 0; i < r->axes.n; i++)
		r->count *= r->axes.axis[i].drop ? r->axes.axis[i].n : 1;
	return true;
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

/* ---- views ------------------------------------------------------------------- */

static struct g_operand
strided(struct g_operand o, struct hwc shape, int64_t offset, int64_t y, int64_t x)
{
	o.view = VIEW_STRIDED;
	o.start = (struct hwc){ 0 };
	o.shape = shape;
	o.offset = offset;
	o.stride[0] = y;
	o.stride[1] = x;
	o.stride[2] = 1;
	return o;
}

/* a whole tensor in another shape */
static struct g_operand
reshaped(struct g_operand o, struct hwc shape)
{
	if (hwc_equal(o.shape, shape))
		return o;
	struct g_operand r = operand_reshape(o.t, shape);
	r.type = o.type;
	return r;
}

static struct nd
view_of(struct g_operand o)
{
	return nd_operand_of(o, 3, (int32_t[]){ o.shape.h, o.shape.w, o.shape.c });
}

/* ---- sums ------------------------------------------------------------------------ */

static void
finish_sum(const struct reduction *r, struct g_op *o)
{
	op_scale(o, r->scale, ROUND_TFL);
	op_zeros(o, r->ifm_zero, r->ofm_zero);
}

/* multiplies 32-bit sums by a constant, as this product is rounded like a scale */
static void
scale_words(struct part *p, const struct reduction *r, struct g_operand sum,
	    struct g_operand ofm)
{
	struct g_op *o = word_op_to(
	    p->l, OP_MUL, sum, word_const(p->l, (int32_t)r->scale.mult), ofm);
	op_scale(o, (struct npu_scale){ .mult = 1, .shift = r->scale.shift },
		 ROUND_TFL);
	op_zeros(o, 0, r->ofm_zero);
}

/* Sums an axis that is larger than a kernel: equal parts are summed and the sums added. */
static void
sum_parts(struct part *p, const struct reduction *r, struct g_operand x,
	  struct g_operand ofm, const int32_t k[3])
{
	int parts = (k[1] + LOW_POOL_WINDOW - 1) / LOW_POOL_WINDOW;
	struct hwc out = { .h = k[0], .w = 1, .c = k[2] };
	struct g_operand sum = { .t = NULL };
	x = low_linear(p->l, x);
	for (int i = 0; i < parts; i++) {
		int64_t lo = (int64_t)k[1] * i / parts;
		int64_t hi = (int64_t)k[1] * (i + 1) / parts;
		struct hwc in = { .h = k[0], .w = (int32_t)(hi - lo), .c = k[2] };
		struct g_operand part = word_new(p->l, out);
		struct g_op *o =
		    low_pool_window(p->l, OP_AVGPOOL,
			 strided(x, in, lo * k[2], (int64_t)k[1] * k[2], k[2]),
			 part, (struct yx){ .y = 1, .x = in.w });
		op_scale(o, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
		op_zeros(o, r->ifm_zero, 0);
		sum = sum.t ? word_add(p->l, sum, part) : part;
	}
	scale_words(p, r, sum, reshaped(ofm, out));
}

/*
 * Reduces the innermost axis when another axis is to be reduced, too.  The 32-bit
 * sums are written so that the other axis becomes the innermost.
 */
static struct g_operand
fold_innermost(struct part *p, struct reduction *r, struct g_operand x)
{
	struct low_extent *last = &r->axes.axis[r->axes.n - 1], *kept = last - 1, *next = last - 2;
	int64_t outer = axes_product(r->axes.axis, r->axes.n - 3);
	int64_t inside = (int64_t)next->n * kept->n;
	struct hwc all = { .h = (int32_t)outer, .w = kept->n, .c = next->n };
	struct hwc in = { .h = next->n, .w = kept->n, .c = last->n };
	struct hwc out = { .h = next->n, .w = kept->n, .c = 1 };
	struct g_operand y = word_new(p->l, all);
	x = low_linear(p->l, x);
	for (int64_t i = 0; i < outer; i++) {
		struct g_operand from =
		    strided(x, in, i * inside * last->n,
			    (int64_t)kept->n * last->n, last->n);
		struct g_op *o = low_op(p->l, OP_REDUCE_SUM, from,
					 strided(y, out, i * inside, 1, next->n));
		op_scale(o, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
	}
	/* raw values were summed, as no compiler uses zero points with this operation */
	if (r->ifm_zero)
		y = word_sub(p->l, y, word_const(p->l, last->n * r->ifm_zero));
	r->ifm_zero = 0;
	int32_t n = next->n;
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
sum_two(struct part *p, const struct reduction *r, struct g_operand x,
	struct g_operand ofm)
{
	const struct low_extent *g = &r->axes.axis[r->axes.n - 4];
	int64_t outer = axes_product(r->axes.axis, r->axes.n - 4);
	int64_t row = (int64_t)g[1].n * g[2].n * g[3].n;
	bool turn = g[0].n > LOW_POOL_ROWS;
	int64_t y = turn ? g[3].n : row, w = turn ? row : g[3].n;
	struct yx kernel = { .y = g[turn ? 2 : 0].n, .x = g[turn ? 0 : 2].n };
	struct hwc in = { .h = kernel.y, .w = kernel.x, .c = g[3].n };
	struct hwc out = { .h = 1, .w = 1, .c = g[3].n };
	x = low_linear(p->l, x);
	for (int64_t i = 0; i < outer * g[1].n; i++) {
		int64_t at = i / g[1].n * row * g[0].n +
			     i % g[1].n * g[2].n * g[3].n;
		finish_sum(r, low_pool_window(p->l, OP_AVGPOOL, strided(x, in, at, y, w),
				   strided(ofm, out, i * g[3].n, g[3].n, g[3].n),
				   kernel));
	}
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
	if (!find_axes(o, r))
		return "the axes are not constants in range";
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

static void
lower_sum(struct part *p, struct reduction *r, struct g_operand x, struct g_operand ofm)
{
	while (r->axes.drops > 1 && r->axes.axis[r->axes.n - 1].drop)
		x = fold_innermost(p, r, x);
	if (r->axes.drops == 0) {
		finish_sum(r, low_copy(p->l, low_view(p->l, x, ofm.shape), ofm));
	} else if (r->axes.drops > 1) {
		sum_two(p, r, x, ofm);
	} else if (x.type == TFL_INT32) {
		struct low_extent *g = &r->axes.axis[r->axes.n - 1];
		struct hwc in = { .h = 1, .w = r->axes.n > 1 ? g[-1].n : 1, .c = g->n };
		struct hwc out = { .h = 1, .w = in.w, .c = 1 };
		finish_sum(r, low_op(p->l, OP_REDUCE_SUM, low_view(p->l, x, in),
				       reshaped(ofm, out)));
	} else {
		int32_t k[3];
		low_axes_dropped(&r->axes, k);
		struct low_reduced channels = low_reduced_channels(x.shape, k);
		bool depth = k[2] == 1 && low_reduced_fits(&channels);
		if (!depth && k[1] > LOW_POOL_WINDOW) {
			sum_parts(p, r, x, ofm, k);
			return;
		}
		const struct nd v = view_of(x), out = view_of(ofm);
		const struct low_end end = { .scaled = true, .scale = r->scale, .zero = r->ofm_zero };
		(void)low_reduce_once(p->l, depth ? OP_REDUCE_SUM : OP_AVGPOOL, &v, r->ifm_zero, k,
				      &out, &end);
	}
}

void
lower_reduce(struct part *p, const struct lop *o)
{
	const int code = o->op->code;
	struct reduction r = *(const struct reduction *)o->own;
	if (is_scaled_sum(o)) {
		struct g_operand x = low_view(p->l, part_ifm(p, o->op->in[0]), tfl_hwc(o->ifm));
		struct g_operand ofm = part_ofm(p, o->op->out[0]);
		struct g_operand dest = low_destination(p->l, ofm);
		lower_sum(p, &r, x, dest);
		low_deliver(p->l, dest, ofm);
		return;
	}
	struct nd v = nd_ifm(p, o->op->in[0]), out = nd_ofm(p, o->op->out[0]);
	bool least = code == TFL_REDUCE_MIN || code == TFL_REDUCE_ALL;
	low_reduce(p->l, code == TFL_SUM ? OP_ADD : least ? OP_MIN : OP_MAX, &r.axes, &v, &out);
}
