/* SPDX-License-Identifier: Apache-2.0 */
/*
 * window: columns of an image with few channels become channels (nputools-rewrites(7) 2).
 *
 * The NPU multiplies at least eight channels at a time.  If the pixels of a row are contiguous,
 * `columns` adjacent pixels can be read as one pixel of `columns` times as many channels.  The
 * distance of these pixels is the stride, so the stride becomes 1, and the kernel has fewer
 * columns.  Where columns > stride, pixels overlap in memory.
 */
#include "rewrite/rules.h"

#include "base/fixed.h"
#include "emit/emit.h"
#include "graph/build.h"
#include "lower/conv.h"

#include <string.h>

enum { MOST_CHANNELS = 16, MOST_COPIED = 4 /* channels of an image that is copied */ };

/* One way to read the image. */
struct packing {
	int32_t columns; /* pixels that are read as one */
	int32_t zeros;	 /* taps of zero in front of the first column of the kernel */
	int32_t taps;	 /* columns of the new kernel */
	int32_t width;	 /* pixels of a row of the new IFM */
	int32_t left, right; /* new padding, in new pixels */
	int32_t copied; /* above 0: the image is copied, with its padding, into rows of this width */
};

/* A convolution, and its IFM by strides. */
struct site {
	struct g_op *op;
	struct g_operand ifm;
	int32_t stride;
};

/* ---- packings ------------------------------------------------------------------ */

/*
 * Without padding, each window begins with a pixel of the new IFM.  The taps behind the kernel
 * are zeros; the pixels that they read are in the same row.
 */
static bool
pack_unpadded(const struct site *s, int32_t columns, struct packing *f)
{
	const struct g_op *op = s->op;
	int32_t more = op->kernel.x > columns ? ceil_div(op->kernel.x - columns, s->stride) : 0;
	*f = (struct packing){ .columns = columns, .taps = 1 + more,
			    .width = op->ofm.shape.w + more };
	return !op->pad.left && !op->pad.right &&
	       (f->width - 1) * s->stride + columns <= op->ifm.shape.w;
}

/*
 * With padding, a pixel of the new IFM has as many columns as the stride, so that pixels do not
 * overlap: then a whole pixel is padding, or none of it.
 */
static bool
pack_padded(const struct site *s, struct packing *f)
{
	const struct g_op *op = s->op;
	int32_t n = s->stride, w = op->ifm.shape.w;
	*f = (struct packing){ .columns = n, .zeros = (n - op->pad.left % n) % n, .width = w / n };
	f->taps = ceil_div(op->kernel.x + f->zeros, n);
	f->left = (op->pad.left + f->zeros) / n;
	f->right = op->ofm.shape.w - 1 + f->taps - f->left - f->width;
	if (f->right < 0) { /* the last pixels are not read */
		f->width += f->right;
		f->right = 0;
	}
	return n > 1 && w % n == 0 && f->width > 0 && f->left < f->taps && f->right < f->taps;
}

/*
 * A copy of the image contains the padding of columns, so that windows may overlap in it.  The
 * copy is at most half as large as the OFM: then the plan needs no more memory.
 */
static bool
pack_copied(const struct site *s, struct packing *f)
{
	const struct g_op *op = s->op;
	int32_t width = (op->ofm.shape.w - 1) * s->stride + op->kernel.x;
	*f = (struct packing){ .columns = op->kernel.x, .taps = 1, .width = op->ofm.shape.w,
			       .copied = width };
	int64_t copy = (int64_t)op->ifm.shape.h * width * op->ifm.shape.c;
	return (op->pad.left || op->pad.right) && op->ifm.type != TFL_INT16 && width > op->pad.left &&
	       op->ifm.shape.c <= MOST_COPIED && 2 * copy <= hwc_elements(op->ofm.shape);
}

/* ---- the copy ------------------------------------------------------------------ */

/*
 * Describes the copy: a depthwise convolution whose only weight that is not zero is 1.  The
 * kernel is as wide as the padding of both sides and one column, so that padding alone makes the
 * columns at the sides.  t: the copy.
 */
static struct g_op
copy_op(const struct site *s, const struct packing *f, struct g_tensor *t)
{
	const struct g_op *of = s->op;
	int32_t w = f->copied - of->pad.left;
	struct g_op op = { .kind = OP_DEPTHWISE, .ifm = of->ifm, .ofm = operand_whole(t),
			   .ifm_zero = of->ifm_zero, .ofm_zero = of->ifm_zero,
			   .weights = of->weights };
	if (w < of->ifm.shape.w) { /* the convolution does not read the last columns */
		op.ifm = s->ifm;
		op.ifm.shape.w = w;
	}
	int32_t both = f->copied - op.ifm.shape.w;
	op.kernel = (struct yx){ .y = 1, .x = both + 1 };
	op.stride = op.dilation = (struct yx){ .y = 1, .x = 1 };
	op.pad = (struct g_pad){ .left = both, .right = both };
	op.clamp = type_range(of->ifm.type);
	return op;
}

/* The tensor of the copy. */
static struct g_tensor
copy_tensor(const struct site *s, const struct packing *f)
{
	struct hwc shape = { .h = s->op->ifm.shape.h, .w = f->copied, .c = s->op->ifm.shape.c };
	return (struct g_tensor){ .hwc = shape,
				  .shape = { .type = s->op->ifm.type, .rank = 4,
					     .dim = { 1, shape.h, shape.w, shape.c } } };
}

/* Adds the copy before operation `at`.  Returns its tensor. */
static struct g_tensor *
add_copy(struct exact *x, const struct site *s, const struct packing *f, size_t at)
{
	struct g_tensor t = copy_tensor(s, f), *to;
	struct g_op as = copy_op(s, f, &t), *op;
	to = graph_add_feature_map(x->g, t.shape.type, t.hwc);
	x->l->node = s->op->node;
	x->l->name = s->op->name;
	op = low_op(x->l, OP_DEPTHWISE, as.ifm, operand_whole(to));
	G_PUT(op, OP, tfl, s->op->tfl);
	op_zeros(op, as.ifm_zero, as.ofm_zero);
	op_kernel(op, as.kernel, as.stride, as.dilation, as.pad);
	const size_t n = (size_t)t.hwc.c, k = (size_t)as.kernel.x;
	const struct g_shape taps = { .type = TFL_INT8, .rank = 4, .dim = { t.hwc.c, 1, as.kernel.x, 1 } };
	const struct npu_scale one = scale_one();
	uint8_t *v = anew(x->a, uint8_t, n * k);
	for (size_t i = 0; i < n; i++)
		v[i * k + k - 1 - (size_t)s->op->pad.left] = 1;
	G_PUT(op, OP, weights, low_weights_new(x->l, "weights", taps,
					       (struct bytes){ .p = v, .n = n * k }));
	G_PUT(op, OP, scales, low_scales_new(x->l, n, NULL, &one, true));
	exact_move(x, x->g->n_ops - 1, 1, at);
	return to;
}

/* ---- the replacement ----------------------------------------------------------- */

/* The operation in its new shape, with the old weights.  It reads the image, or its copy. */
static struct g_op
new_op(const struct site *s, const struct packing *f, struct g_tensor *copy)
{
	const struct g_operand *old = &s->op->ifm;
	const struct hwc shape = { .h = old->shape.h, .w = f->width, .c = f->columns * old->shape.c };
	struct g_op op = *s->op;
	if (f->copied) {
		op.ifm = (struct g_operand){
			.t = copy, .view = VIEW_STRIDED, .type = old->type, .shape = shape,
			.stride = { (int64_t)f->copied * old->shape.c,
				    (int64_t)s->stride * old->shape.c, 1 } };
	} else if ((old->view == VIEW_WHOLE || old->view == VIEW_RESHAPE) &&
		   f->columns == s->stride && hwc_elements(shape) == hwc_elements(old->shape)) {
		/* an IFM that is the whole tensor stays a reshaped tensor */
		op.ifm = operand_reshape(old->t, shape);
		op.ifm.type = old->type;
	} else {
		op.ifm = s->ifm;
		op.ifm.shape = shape;
		op.ifm.stride[1] = (int64_t)s->stride * old->shape.c;
		op.ifm.stride[2] = 1;
	}
	op.kernel.x = f->taps;
	op.stride.x = 1;
	op.pad.left = f->left;
	op.pad.right = f->right;
	return op;
}

/* Makes the weights of the new convolution.  Taps that the kernel does not have are zero points. */
static bool
new_weights(struct exact *x, const struct site *s, const struct packing *f, struct g_op *op)
{
	struct weights_view v;
	const struct g_weights *old = s->op->weights;
	if (!emit_weights_view(x->a, x->g, old, &v, x->e))
		return false;
	const int32_t depth = op->ifm.shape.c, c = s->op->ifm.shape.c;
	const size_t row = (size_t)f->taps * (size_t)depth, all = (size_t)op->kernel.y * row;
	uint8_t *p = anew(x->a, uint8_t, (size_t)v.o * all);
	for (int32_t o = 0; o < v.o; o++) {
		uint8_t *to = p + (size_t)o * all;
		memset(to, (uint8_t)weights_zero(&v, o), all);
		for (int32_t y = 0; y < v.h; y++)
			for (int32_t k = 0; k < v.w; k++) {
				int32_t at = k + f->zeros, tap = at / s->stride;
				tap = tap < f->taps ? tap : f->taps - 1;
				int32_t column = at - tap * s->stride;
				uint8_t *pixel = to + (size_t)y * row + (size_t)(tap * depth + column * c);
				for (int32_t i = 0; i < c; i++)
					pixel[i] = *weights_at(&v, o, y, k, i);
			}
	}
	struct g_weights *w = graph_add_g_weights(x->g);
	const char *name = arena_printf(x->a, "weights%d", w->rec.id);
	G_PUT(w, WEIGHTS, shape, (struct g_shape){ .type = old->shape.type, .rank = 4,
						   .dim = { v.o, v.h, f->taps, depth } });
	if (G_HAS(old, G_WEIGHTS_name))
		G_PUT(w, WEIGHTS, name, old->name);
	if (G_HAS(old, G_WEIGHTS_zero))
		G_PUT(w, WEIGHTS, zero, old->zero);
	struct bytes b = { .p = p, .n = (size_t)v.o * all };
	G_PUT(w, WEIGHTS, source, (struct g_source){ .blob = graph_add_blob(x->g, name, b)->name });
	op->weights = w;
	return true;
}

/* ---- the rule ------------------------------------------------------------------ */

struct best {
	struct packing packing;
	struct g_op op;
	struct cycles cycles;
	bool found;
};

static void
try_packing(const struct exact *x, const struct site *s, const struct packing *f,
	    const struct cycles *now, struct best *b)
{
	struct g_tensor t = copy_tensor(s, f);
	struct g_op copy = copy_op(s, f, &t), op = new_op(s, f, &t);
	struct cycles c = { 0 };
	const double share = f->copied ? 0.9 : 0.99; /* a copy needs memory, too */
	if (f->columns > s->stride && !x->overlap)
		return;
	if ((f->copied && !estimate_add(x->estimate, &copy, &c)) ||
	    !estimate_add(x->estimate, &op, &c) || !cycles_are_fewer(&c, now, share) ||
	    (b->found && !cycles_are_fewer(&c, &b->cycles, share)))
		return;
	*b = (struct best){ .packing = *f, .op = op, .cycles = c, .found = true };
}

/* Operations of one convolution share their weights: so do their replacements. */
struct remade {
	const struct g_weights *old;
	struct packing packing;
	struct g_weights *now;
};

bool
rewrite_windows(struct exact *x)
{
	struct remade last = { 0 };
	for (size_t i = 0; i < x->g->n_ops; i++) {
		struct site s;
		struct packing f;
		struct cycles now = { 0 };
		struct best b = { .found = false };
		struct g_op *op = x->g->ops[i];
		const struct g_tensor *t = op->ifm.t;
		if (!x->estimate || op->kind != OP_CONV || op->kernel.x < 2 || op->dilation.x != 1 ||
		    op->upscale != UPSCALE_NONE || op->ifm.shape.c > MOST_CHANNELS ||
		    op->edge.left || op->edge.right || t->layout != LAYOUT_NHWC ||
		    tensor_has_strides(t))
			continue;
		s = (struct site){ .op = op, .ifm = operand_by_strides(op->ifm),
				   .stride = op->stride.x };
		if (s.ifm.stride[1] != op->ifm.shape.c ||
		    (op->ifm.shape.c != 1 && s.ifm.stride[2] != 1) ||
		    !estimate_add(x->estimate, op, &now))
			continue;
		if (pack_padded(&s, &f))
			try_packing(x, &s, &f, &now, &b);
		if (s.stride > 1 && pack_unpadded(&s, s.stride, &f))
			try_packing(x, &s, &f, &now, &b);
		if (s.op->kernel.x > s.stride && pack_unpadded(&s, s.op->kernel.x, &f))
			try_packing(x, &s, &f, &now, &b);
		if (pack_copied(&s, &f))
			try_packing(x, &s, &f, &now, &b);
		if (!b.found)
			continue;
		struct g_op *by = &b.op;
		if (b.packing.copied)
			by->ifm.t = add_copy(x, &s, &b.packing, (size_t)op->rec.index);
		if (last.old == op->weights && !memcmp(&last.packing, &b.packing, sizeof(b.packing)))
			by->weights = last.now;
		else if (!new_weights(x, &s, &b.packing, by))
			return false;
		last = (struct remade){ .old = op->weights, .packing = b.packing, .now = by->weights };
		const int64_t fewer = ((int64_t)op->kernel.x * op->ifm.shape.c -
				       (int64_t)by->kernel.x * by->ifm.shape.c) *
				      op->kernel.y * op->ofm.shape.c;
		exact_note(x, op, fewer, cycles_saved(&b.cycles, &now),
			   "a kernel of %dx%d over %d channel%s%s becomes one of %dx%d over %d channels%s",
			   op->kernel.y, op->kernel.x, op->ifm.shape.c, op->ifm.shape.c == 1 ? "" : "s",
			   s.stride > 1 ? arena_printf(x->a, " with stride %d", s.stride) : "",
			   by->kernel.y, by->kernel.x, by->ifm.shape.c,
			   b.packing.copied ? " of a padded copy" : "");
		by->rec.index = op->rec.index; /* a copy has moved the operation */
		G_SET(by, G_OP_pad);
		if (!by->pad.top && !by->pad.left && !by->pad.bottom && !by->pad.right)
			G_CLEAR(by, G_OP_pad);
		*op = *by;
		i += b.packing.copied > 0; /* the operation is behind its copy */
	}
	return true;
}
