/* SPDX-License-Identifier: Apache-2.0 */
/* PAD, PADV2, MIRROR_PAD, TILE: nputools-lowering(7) 3.4. */
#include "kernels/view.h"

#include "base/little_endian.h"

#include <string.h>

/* elements before each dimension */
struct border {
	int64_t before[TFL_MAX_RANK];
};

/* Loads paddings [rank][2], which have to extend the input's shape to the output's. */
static bool
load_border(struct call *c, struct border *b)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	int64_t n;
	const int64_t *v = call_indices(c, 1, "paddings", &n);
	if (!v || !call_movable(c, in, out))
		return false;
	if (n != 2 * in->rank || out->rank != in->rank)
		return call_mismatch(c, "%lld paddings from rank %d to rank %d",
				     (long long)n, in->rank, out->rank);
	for (int d = 0; d < in->rank; d++) {
		int64_t before = v[2 * d], behind = v[2 * d + 1];
		if (before < 0 || behind < 0 || before > out->dim[d] ||
		    behind > out->dim[d] ||
		    in->dim[d] + before + behind != out->dim[d])
			return call_mismatch(
			    c,
			    "dimension %d: %lld + %d + %lld is not "
			    "%d",
			    d, (long long)before, in->dim[d], (long long)behind,
			    out->dim[d]);
		b->before[d] = before;
	}
	return true;
}

/* Returns the element that fills the border: input 2, or the output's zero point. */
static bool
border_value(struct call *c, const struct tfl_tensor *out, uint8_t value[8])
{
	memset(value, 0, 8);
	const struct tfl_tensor *value_input = call_in(c, 2);
	if (value_input) {
		if (!call_same_type(c, value_input, out))
			return false;
		if (tfl_elements(value_input) != 1)
			return call_mismatch(
			    c, "the padding value has %lld elements",
			    (long long)tfl_elements(value_input));
		if (!c->check)
			memcpy(value, c->io->in[2], element_size(out));
		return true;
	}
	if (out->type != TFL_INT8 && out->type != TFL_UINT8 &&
	    out->type != TFL_INT16)
		return true;
	struct affine q = { 0 };
	if (out->quant.n_scale && !call_affine(c, out, "output", &q))
		return false;
	store_le32(value, (uint32_t)q.zero);
	return true;
}

bool
kernel_pad(struct call *c)
{
	struct border b;
	uint8_t value[8];
	if (!load_border(c, &b) || !border_value(c, call_out(c, 0), value))
		return false;
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	struct view v = view_of(out);
	for (int d = 0; d < in->rank; d++) {
		v.dim[d] = in->dim[d];
		v.base += b.before[d] * v.stride[d];
	}
	if (c->check)
		return true;
	const size_t bytes = element_size(out), n = (size_t)tfl_elements(out);
	uint8_t *to = c->io->out[0];
	for (size_t i = 0; i < n; i++)
		memcpy(to + i * bytes, value, bytes);
	view_scatter(to, v, c->io->in[0], bytes);
	return true;
}

/*
 * Returns the input index of output index o, for n elements; symmetric: the edge
 * element is repeated.
 */
static int64_t
mirrored(int64_t o, int64_t before, int64_t n, bool symmetric)
{
	int64_t i = o - before;
	if (i < 0)
		return symmetric ? -i - 1 : -i;
	if (i >= n)
		return symmetric ? 2 * n - 1 - i : 2 * n - 2 - i;
	return i;
}

/* index[d][o]: offset, in elements, of position o of dimension d */
static int64_t **
mirror_tables(struct call *c, const struct border *b, bool symmetric)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	struct view v = view_of(in);
	int64_t **index = anew(c->a, int64_t *, TFL_MAX_RANK);
	for (int d = 0; d < in->rank; d++) {
		index[d] = anew(c->a, int64_t, (size_t)out->dim[d]);
		for (int32_t o = 0; o < out->dim[d]; o++) {
			int64_t i =
			    mirrored(o, b->before[d], in->dim[d], symmetric);
			if (i < 0 || i >= in->dim[d]) {
				(void)call_err(c,
					       "dimension %d: padding is "
					       "larger than the %d elements to "
					       "mirror",
					       d, in->dim[d]);
				return NULL;
			}
			index[d][o] = i * v.stride[d];
		}
	}
	return index;
}

/* Copies elements; the offset of each is the sum of one table entry per dimension. */
static void
copy_indexed(struct call *c, int64_t **index)
{
	const struct tfl_tensor *out = call_out(c, 0);
	size_t bytes = element_size(out);
	int32_t at[TFL_MAX_RANK] = { 0 };
	uint8_t *y = c->io->out[0];
	for (int64_t i = 0; i < tfl_elements(out); i++, y += bytes) {
		int64_t from = 0;
		for (int d = 0; d < out->rank; d++)
			from += index[d][at[d]];
		memcpy(y, (const uint8_t *)c->io->in[0] + (size_t)from * bytes,
		       bytes);
		for (int d = out->rank - 1; d >= 0 && ++at[d] == out->dim[d];
		     d--)
			at[d] = 0;
	}
}

bool
kernel_mirror_pad(struct call *c)
{
	struct border b;
	int64_t mode = TFL_OPT(c->op, MirrorPadOptions, mode);
	if (!load_border(c, &b))
		return false;
	if (mode != 0 && mode != 1)
		return call_err(c, "the mirror mode %lld is unknown", (long long)mode);
	int64_t **index = mirror_tables(c, &b, mode == 1);
	if (!index)
		return false;
	if (!c->check)
		copy_indexed(c, index);
	return true;
}

bool
kernel_tile(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	int64_t n, **index = anew(c->a, int64_t *, TFL_MAX_RANK);
	const int64_t *times = call_indices(c, 1, "multiples", &n);
	if (!times || !call_movable(c, in, out))
		return false;
	if (n != in->rank || out->rank != in->rank)
		return call_mismatch(c,
				     "%lld multiples from rank %d to rank %d",
				     (long long)n, in->rank, out->rank);
	struct view v = view_of(in);
	for (int d = 0; d < in->rank; d++) {
		if (times[d] < 0 || times[d] > INT32_MAX ||
		    in->dim[d] * times[d] != out->dim[d])
			return call_mismatch(
			    c, "dimension %d: %lld times %d is not %d", d,
			    (long long)times[d], in->dim[d], out->dim[d]);
		index[d] = anew(c->a, int64_t, (size_t)out->dim[d]);
		for (int32_t o = 0; o < out->dim[d]; o++)
			index[d][o] = o % in->dim[d] * v.stride[d];
	}
	if (!c->check)
		copy_indexed(c, index);
	return true;
}
