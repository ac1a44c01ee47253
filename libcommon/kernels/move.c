/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that join, split and reshape tensors.  They copy bytes unchanged, as TFLite
 * Micro does, even if quantizations differ.  Only CONCATENATION of 8 bits rescales
 * (nputools-lowering(7) 3.4).
 */
#include "kernels/view.h"

#include <math.h>
#include <string.h>

/*
 * RESHAPE, SQUEEZE, EXPAND_DIMS use the output's shape in the file, as TFLite Micro
 * does: it cannot allocate by computed shapes.
 */
bool
kernel_reshape(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_movable(c, in, out) || !call_same_count(c, in, out))
		return false;
	if (c->check)
		return true;
	memmove(c->io->out[0], c->io->in[0], (size_t)tfl_bytes(out));
	return true;
}

/* Checks that a and b agree in rank and in every dimension but axis. */
static bool
match_but_axis(struct call *c, const struct tfl_tensor *a,
	       const struct tfl_tensor *b, int axis)
{
	bool ok = a->rank == b->rank;
	for (int d = 0; ok && d < a->rank; d++)
		ok = d == axis || a->dim[d] == b->dim[d];
	return ok ||
	       call_mismatch(c,
			     "shapes of %s and %s differ elsewhere than in "
			     "dimension %d",
			     a->name, b->name, axis);
}

/* Returns the view of elements start..start+n-1 along axis of a whole tensor. */
static struct view
slab(const struct tfl_tensor *whole, int axis, int64_t start, int64_t n)
{
	struct view v = view_of(whole);
	v.base = start * v.stride[axis];
	v.dim[axis] = n;
	return v;
}

/* ---- CONCATENATION, PACK ------------------------------------------------- */

/*
 * Returns input k in the quantization of the output.  8 bits are converted in float32, as
 * TFLite does for uint8.
 */
static bool
rescaled(struct call *c, int k, const uint8_t **out)
{
	const struct tfl_tensor *t = call_in(c, k), *o = call_out(c, 0);
	struct affine q, r;
	*out = c->io->in[k];
	if (t->type == TFL_UINT8 &&
	    (!call_affine(c, t, "input", &q) || !call_affine(c, o, "output", &r)))
		return false;
	if (!kernel_rescales(c->op, t, o))
		return true;
	if (!call_affine(c, t, "input", &q) || !call_affine(c, o, "output", &r))
		return false;
	if (c->check)
		return true;
	float inverse = 1.0f / r.scale, m = q.scale * inverse;
	float bias = (float)-q.zero * m;
	float lo = (float)type_min(t->type), hi = (float)type_max(t->type);
	int32_t *v = call_widen(c, k);
	for (int64_t i = 0; i < tfl_elements(t); i++) {
		float y = roundf((float)v[i] * m + bias) + (float)r.zero;
		v[i] = (int32_t)fminf(fmaxf(y, lo), hi);
	}
	uint8_t *bytes = anew(c->a, uint8_t, (size_t)tfl_elements(t));
	narrow(t, bytes, v);
	*out = bytes;
	return true;
}

bool
kernel_concatenation(struct call *c)
{
	const struct tfl_tensor *out = call_out(c, 0);
	int axis;
	int64_t at = 0;
	if (!call_axis(c, TFL_OPT(c->op, ConcatenationOptions, axis), out->rank,
		       &axis))
		return false;
	if (TFL_OPT(c->op, ConcatenationOptions, fused_activation_function))
		return call_err(c, "a fused activation is not supported");
	for (int k = 0; k < c->op->n_in; k++) {
		const struct tfl_tensor *in = call_in(c, k);
		if (!in)
			return call_err(c, "input %d is absent", k);
		if (!call_movable(c, in, out) ||
		    !match_but_axis(c, in, out, axis))
			return false;
		if (in->dim[axis] > out->dim[axis] - at)
			return call_mismatch(
			    c,
			    "inputs are longer than the output "
			    "along dimension %d",
			    axis);
		const uint8_t *v = NULL;
		if (!rescaled(c, k, &v))
			return false;
		view_scatter(c->io->out[0], slab(out, axis, at, in->dim[axis]),
			     v, element_size(in));
		at += in->dim[axis];
	}
	return at == out->dim[axis] ||
	       call_mismatch(
		   c,
		   "inputs are shorter than the output along dimension "
		   "%d",
		   axis);
}

/* Checks that the dimensions of whole are the dimensions of part with `axis` inserted. */
static bool
match_inserted(struct call *c, const struct tfl_tensor *whole,
	       const struct tfl_tensor *part, int axis)
{
	bool ok = whole->rank == part->rank + 1;
	for (int d = 0; ok && d < part->rank; d++)
		ok = part->dim[d] == whole->dim[d + (d >= axis)];
	return ok ||
	       call_mismatch(c,
			     "shape of %s is not that of %s without dimension "
			     "%d",
			     part->name, whole->name, axis);
}

bool
kernel_pack(struct call *c)
{
	const struct tfl_tensor *out = call_out(c, 0);
	int axis;
	if (!call_axis(c, TFL_OPT(c->op, PackOptions, axis), out->rank, &axis))
		return false;
	if (out->dim[axis] != c->op->n_in)
		return call_mismatch(c, "%d inputs for %d places", c->op->n_in,
				     out->dim[axis]);
	for (int k = 0; k < c->op->n_in; k++) {
		const struct tfl_tensor *in = call_in(c, k);
		if (!in)
			return call_err(c, "input %d is absent", k);
		if (!call_movable(c, in, out) ||
		    !match_inserted(c, out, in, axis))
			return false;
		view_scatter(c->io->out[0], slab(out, axis, k, 1), c->io->in[k],
			     element_size(in));
	}
	return true;
}

/* ---- UNPACK, SPLIT, SPLIT_V ---------------------------------------------- */

bool
kernel_unpack(struct call *c)
{
	int n = c->op->n_out, axis;
	const struct tfl_tensor *in = call_in(c, 0);
	if (!call_axis(c, TFL_OPT(c->op, UnpackOptions, axis), in->rank, &axis))
		return false;
	if (in->dim[axis] != n)
		return call_mismatch(c, "%d outputs for %d places", n,
				     in->dim[axis]);
	for (int k = 0; k < n; k++) {
		const struct tfl_tensor *out = call_out(c, k);
		if (!call_movable(c, in, out) ||
		    !match_inserted(c, in, out, axis))
			return false;
		view_gather(c->io->out[k], c->io->in[0], slab(in, axis, k, 1),
			    element_size(in));
	}
	return true;
}

/* Cuts the outputs from input k along axis; their shapes determine the lengths. */
static bool
cut_outputs(struct call *c, int k, int axis)
{
	const struct tfl_tensor *in = call_in(c, k);
	int64_t at = 0;
	for (int i = 0; i < c->op->n_out; i++) {
		const struct tfl_tensor *out = call_out(c, i);
		if (!call_movable(c, in, out) ||
		    !match_but_axis(c, in, out, axis))
			return false;
		if (out->dim[axis] > in->dim[axis] - at)
			return call_mismatch(
			    c,
			    "outputs are longer than the input "
			    "along dimension %d",
			    axis);
		view_gather(c->io->out[i], c->io->in[k],
			    slab(in, axis, at, out->dim[axis]),
			    element_size(in));
		at += out->dim[axis];
	}
	return at == in->dim[axis] ||
	       call_mismatch(
		   c,
		   "outputs are shorter than the input along dimension "
		   "%d",
		   axis);
}

static bool
axis_input(struct call *c, int k, int rank, int *axis)
{
	int64_t n;
	const int64_t *v = call_indices(c, k, "axis", &n);
	if (!v)
		return false;
	return n == 1 ? call_axis(c, v[0], rank, axis)
		      : call_err(c, "axis has %lld elements", (long long)n);
}

bool
kernel_split(struct call *c)
{
	int axis;
	if (!axis_input(c, 0, call_in(c, 1)->rank, &axis))
		return false;
	for (int i = 1; i < c->op->n_out; i++)
		if (!call_same_shape(c, call_out(c, 0), call_out(c, i)))
			return false;
	return cut_outputs(c, 1, axis);
}

bool
kernel_split_v(struct call *c)
{
	int axis;
	int64_t n;
	if (!axis_input(c, 2, call_in(c, 0)->rank, &axis))
		return false;
	const int64_t *size = call_indices(c, 1, "sizes", &n);
	if (!size)
		return false;
	if (n != c->op->n_out)
		return call_mismatch(c, "%lld sizes for %d outputs",
				     (long long)n, c->op->n_out);
	for (int i = 0; i < n; i++) {
		const struct tfl_tensor *out = call_out(c, i);
		if (size[i] != -1 && axis < out->rank &&
		    size[i] != out->dim[axis])
			return call_mismatch(
			    c, "output %d has size %d, not %lld", i,
			    out->dim[axis], (long long)size[i]);
	}
	return cut_outputs(c, 0, axis);
}
