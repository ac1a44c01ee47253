/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that select elements by position: nputools-lowering(7) 3.4, 5.7. */
#include "kernels/view.h"

/*
 * Copies the view's elements to the output, whose shape in the file has to match their
 * number.
 */
static bool
gather_view(struct call *c, int k, const struct view *v)
{
	const struct tfl_tensor *in = call_in(c, k), *out = call_out(c, 0);
	if (!call_movable(c, in, out))
		return false;
	if (view_count(v) != tfl_elements(out))
		return call_mismatch(
		    c, "%lld elements are picked, the output has %lld",
		    (long long)view_count(v), (long long)tfl_elements(out));
	view_gather(c->io->out[0], c->io->in[k], *v, element_size(in));
	return true;
}

/* Returns input k, which has one index for each dimension of in. */
static const int64_t *
per_dimension(struct call *c, int k, const char *role,
	      const struct tfl_tensor *in)
{
	int64_t n;
	const int64_t *v = call_indices(c, k, role, &n);
	if (v && n != in->rank) {
		(void)call_mismatch(c, "%s has %lld elements for rank %d", role,
				    (long long)n, in->rank);
		return NULL;
	}
	return v;
}

bool
kernel_slice(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0);
	const int64_t *begin = per_dimension(c, 1, "begin", in);
	const int64_t *size = begin ? per_dimension(c, 2, "size", in) : NULL;
	struct view v = view_of(in);
	if (!size)
		return false;
	for (int d = 0; d < in->rank; d++) {
		if (begin[d] < 0 || begin[d] > in->dim[d] || size[d] < -1 ||
		    size[d] > in->dim[d] - begin[d])
			return call_err(c,
					"%lld elements from %lld on of "
					"dimension %d, which has %d",
					(long long)size[d], (long long)begin[d],
					d, in->dim[d]);
		v.dim[d] = size[d] < 0 ? in->dim[d] - begin[d] : size[d];
		v.base += begin[d] * v.stride[d];
	}
	return gather_view(c, 0, &v);
}

/* ---- STRIDED_SLICE ------------------------------------------------------- */

/* Converts one bound of a dimension of n elements: position b, or the default if masked. */
static int64_t
bound(int64_t b, bool masked, int64_t n, bool forward, bool is_end)
{
	int64_t lo = forward ? 0 : -1, hi = forward ? n : n - 1;
	if (masked)
		return forward == is_end ? hi : lo;
	return clamp_i64(b < 0 ? b + n : b, lo, hi);
}

struct bounds {
	const int64_t *begin, *end, *stride;
	int64_t begin_mask, end_mask, shrink_mask;
};

bool
slice_positions(int rank, int64_t n, int64_t ellipsis_mask, int64_t new_axis_mask,
		int at[TFL_MAX_RANK])
{
	int own = 0, d = 0;
	if (n > 2 * TFL_MAX_RANK || (ellipsis_mask & (ellipsis_mask - 1)))
		return false;
	for (int i = 0; i < n; i++)
		own += !((ellipsis_mask | new_axis_mask) >> i & 1);
	if (own > rank)
		return false;
	for (int i = 0; i < n; i++) {
		if (ellipsis_mask >> i & 1)
			for (int k = own; k < rank; k++)
				at[d++] = -1;
		else if (!(new_axis_mask >> i & 1))
			at[d++] = i;
	}
	while (d < rank)
		at[d++] = -1;
	return true;
}

/* Applies position k to dimension d, which has n elements. */
static bool
stride_dimension(struct call *c, const struct bounds *b, int d, int k, int64_t n,
		 struct view *v)
{
	int64_t step = b->stride[k];
	if (step == 0 || step < INT32_MIN || step > INT32_MAX)
		return call_err(c, "stride of dimension %d is %lld", d,
				(long long)step);
	if (b->shrink_mask >> k & 1) {
		int64_t at = b->begin[k] < 0 ? b->begin[k] + n : b->begin[k];
		if (b->begin_mask >> k & 1)
			at = 0;
		if (at < 0 || at >= n)
			return call_err(c,
					"position %lld of dimension %d, which "
					"has %lld",
					(long long)b->begin[k], d,
					(long long)n);
		v->base += at * v->stride[d];
		v->dim[d] = 1;
		return true;
	}
	bool forward = step > 0;
	int64_t from =
	    bound(b->begin[k], b->begin_mask >> k & 1, n, forward, false);
	int64_t to = bound(b->end[k], b->end_mask >> k & 1, n, forward, true);
	int64_t span = forward ? to - from : from - to,
		size = forward ? step : -step;
	v->base += from * v->stride[d];
	v->dim[d] = span > 0 ? (span + size - 1) / size : 0;
	v->stride[d] *= step;
	return true;
}

bool
kernel_strided_slice(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0);
	struct fb_ref o = tfl_options(c->op, &fb_StridedSliceOptions);
	struct bounds b = {
		.begin_mask = fb_int(o, FB_StridedSliceOptions_begin_mask),
		.end_mask = fb_int(o, FB_StridedSliceOptions_end_mask),
		.shrink_mask =
		    fb_int(o, FB_StridedSliceOptions_shrink_axis_mask),
	};
	int64_t n[3];
	int at[TFL_MAX_RANK];
	if (fb_int(o, FB_StridedSliceOptions_offset))
		return call_err(c, "offset is not supported");
	if (!(b.begin = call_indices(c, 1, "begin", &n[0])) ||
	    !(b.end = call_indices(c, 2, "end", &n[1])) ||
	    !(b.stride = call_indices(c, 3, "strides", &n[2])))
		return false;
	if (n[1] != n[0] || n[2] != n[0] ||
	    !slice_positions(in->rank, n[0],
			     fb_int(o, FB_StridedSliceOptions_ellipsis_mask),
			     fb_int(o, FB_StridedSliceOptions_new_axis_mask), at))
		return call_mismatch(
		    c,
		    "%lld begins, %lld ends and %lld strides for rank "
		    "%d",
		    (long long)n[0], (long long)n[1], (long long)n[2],
		    in->rank);
	struct view v = view_of(in);
	for (int d = 0; d < in->rank; d++)
		if (at[d] >= 0 &&
		    !stride_dimension(c, &b, d, at[d], in->dim[d], &v))
			return false;
	return gather_view(c, 0, &v);
}

/* ---- TRANSPOSE, REVERSE_V2 ----------------------------------------------- */

bool
kernel_transpose(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	const int64_t *perm = per_dimension(c, 1, "permutation", in);
	struct view from = view_of(in), v = from;
	unsigned seen = 0;
	if (!perm)
		return false;
	for (int d = 0; d < in->rank; d++) {
		int axis;
		if (!call_axis(c, perm[d], in->rank, &axis))
			return false;
		if (seen >> axis & 1)
			return call_err(
			    c, "permutation names dimension %d twice", axis);
		seen |= 1u << axis;
		v.dim[d] = from.dim[axis];
		v.stride[d] = from.stride[axis];
		if (out->rank != in->rank || out->dim[d] != v.dim[d])
			return call_mismatch(c,
					     "output shape is not the permuted "
					     "input shape");
	}
	return gather_view(c, 0, &v);
}

bool
kernel_reverse_v2(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0);
	int64_t n;
	const int64_t *axes = call_indices(c, 1, "axes", &n);
	struct view v = view_of(in);
	for (int64_t i = 0; axes && i < n; i++) {
		int d;
		if (!call_axis(c, axes[i], in->rank, &d))
			return false;
		if (v.stride[d] < 0)
			return call_err(c, "axis %d is named twice", d);
		v.base += (v.dim[d] - 1) * v.stride[d];
		v.stride[d] = -v.stride[d];
	}
	return axes && call_same_shape(c, in, call_out(c, 0)) &&
	       gather_view(c, 0, &v);
}

/* ---- SPACE_TO_DEPTH, DEPTH_TO_SPACE -------------------------------------- */

/*
 * Both operators permute N x H x block x W x block x C: the depth holds the position
 * inside the block, then the channel.
 */
static bool
blocks(struct call *c, int64_t block, bool to_depth)
{
	struct nhwc i, o;
	if (!call_nhwc(c, call_in(c, 0), "input", &i) ||
	    !call_nhwc(c, call_out(c, 0), "output", &o))
		return false;
	struct nhwc s = to_depth ? i : o,
		    d = to_depth ? o : i; /* space, depth */
	if (block < 1 || block > UINT16_MAX || d.n != s.n ||
	    s.h != (int64_t)d.h * block || s.w != (int64_t)d.w * block ||
	    d.c != (int64_t)s.c * block * block)
		return call_mismatch(
		    c,
		    "%dx%dx%d and %dx%dx%d do not suit a block "
		    "size of %lld",
		    i.h, i.w, i.c, o.h, o.w, o.c, (long long)block);
	int64_t w = s.w, ch = s.c, row = w * ch;
	struct view v =
	    to_depth
		? (struct view){ .rank = 6,
				 .dim = { d.n, d.h, d.w, block, block, ch },
				 .stride = { s.h * row, block * row, block * ch,
					     row, ch, 1 } }
		: (struct view){ .rank = 6,
				 .dim = { d.n, d.h, block, d.w, block, ch },
				 .stride = { (int64_t)d.h * d.w * d.c,
					     (int64_t)d.w * d.c, block * ch,
					     d.c, ch, 1 } };
	return gather_view(c, 0, &v);
}

bool
kernel_space_to_depth(struct call *c)
{
	return blocks(c, TFL_OPT(c->op, SpaceToDepthOptions, block_size), true);
}

bool
kernel_depth_to_space(struct call *c)
{
	return blocks(c, TFL_OPT(c->op, DepthToSpaceOptions, block_size),
		      false);
}
