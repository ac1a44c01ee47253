/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators whose result is a part of their input: SLICE, STRIDED_SLICE, SPLIT,
 * SPLIT_V, UNPACK.  If the consumers can read the part in place, no operation is
 * needed.
 */
#include "move.h"

#include "base/fixed.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"

/* more than the rank, as some positions belong to no dimension */
enum { MAX_POSITIONS = 2 * TFL_MAX_RANK };

/* ---- SLICE, STRIDED_SLICE --------------------------------------------------- */

const char *
view_slice(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	int64_t begin[TFL_MAX_RANK], size[TFL_MAX_RANK];
	int n, m;
	if (!part_ints(part_in(p, op, 1), begin, TFL_MAX_RANK, &n) ||
	    !part_ints(part_in(p, op, 2), size, TFL_MAX_RANK, &m))
		return "begin or size is not constant";
	if (n != v->rank || m != v->rank)
		return "begin and size do not have the IFM's rank";
	for (int i = 0; i < n; i++) {
		int64_t len = size[i] == -1 ? v->dim[i] - begin[i] : size[i];
		if (begin[i] < 0 || begin[i] > v->dim[i] || len < 0 ||
		    len > v->dim[i] - begin[i])
			return arena_printf(p->a, "the slice exceeds dimension %d", i);
		nd_slice(v, i, begin[i], len, 1);
	}
	return NULL;
}

/* applies begin:end:step to an axis: nputools-lowering(7) 3.4 */
static bool
slice_axis(struct nd *v, int i, int64_t begin, int64_t end, int64_t step,
	   unsigned masked)
{
	int64_t n = v->dim[i], lo = step > 0 ? 0 : -1, hi = step > 0 ? n : n - 1;
	begin = clamp_i64(begin < 0 ? begin + n : begin, lo, hi);
	end = clamp_i64(end < 0 ? end + n : end, lo, hi);
	if (masked & 1)
		begin = step > 0 ? lo : hi;
	if (masked & 2)
		end = step > 0 ? hi : lo;
	int64_t span = step > 0 ? end - begin : begin - end;
	int64_t size = step > 0 ? step : -step;
	if (span < 1)
		return false;
	nd_slice(v, i, begin, (span + size - 1) / size, step);
	return true;
}

const char *
view_strided_slice(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	const char *why = check_options(p, op, &fb_StridedSliceOptions);
	int64_t b[MAX_POSITIONS], e[MAX_POSITIONS], s[MAX_POSITIONS];
	int n[3], position[TFL_MAX_RANK];
	if (why)
		return why;
	if (TFL_OPT(op, StridedSliceOptions, offset))
		return "the option offset is set";
	if (!part_ints(part_in(p, op, 1), b, MAX_POSITIONS, &n[0]) ||
	    !part_ints(part_in(p, op, 2), e, MAX_POSITIONS, &n[1]) ||
	    !part_ints(part_in(p, op, 3), s, MAX_POSITIONS, &n[2]))
		return "begin, end or strides are not constant";
	if (n[1] != n[0] || n[2] != n[0] ||
	    !slice_positions(v->rank, n[0],
			     TFL_OPT(op, StridedSliceOptions, ellipsis_mask),
			     TFL_OPT(op, StridedSliceOptions, new_axis_mask),
			     position))
		return "begin, end and strides do not match the IFM's rank";
	int64_t begin_mask = TFL_OPT(op, StridedSliceOptions, begin_mask);
	int64_t end_mask = TFL_OPT(op, StridedSliceOptions, end_mask);
	int64_t shrink = TFL_OPT(op, StridedSliceOptions, shrink_axis_mask);
	for (int i = 0; i < v->rank; i++) {
		int k = position[i];
		if (k < 0)
			continue;
		if (s[k] == 0 || s[k] < INT32_MIN || s[k] > INT32_MAX)
			return arena_printf(p->a, "dimension %d has a bad stride", i);
		unsigned mask = (unsigned)(begin_mask >> k & 1) |
				(unsigned)(end_mask >> k & 1) << 1;
		if (shrink >> k & 1) {
			int64_t at = b[k] < 0 ? b[k] + v->dim[i] : b[k];
			if (mask & 1)
				at = 0;
			if (at < 0 || at >= v->dim[i])
				return arena_printf(p->a, "position outside of "
						"dimension %d", i);
			nd_slice(v, i, at, 1, 1);
		} else if (!slice_axis(v, i, b[k], e[k], s[k], mask)) {
			return arena_printf(p->a, "the slice of dimension %d is empty", i);
		}
	}
	return NULL;
}

/* ---- SPLIT, SPLIT_V, UNPACK --------------------------------------------------- */

/* the axis that is cut into parts; UNPACK drops it */
struct split {
	int axis, data; /* index of the input that is cut */
	bool drop;
};

/* length of output k along the axis */
static int64_t
split_length(const struct part *p, const struct tfl_op *op, const struct split *s, int k)
{
	const struct tfl_tensor *o = part_out(p, op, k);
	if (s->drop)
		return 1;
	return s->axis < o->rank ? o->dim[s->axis] : 0;
}

const char *
read_split(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct split *s = o->own = anew(p->a, struct split, 1);
	*s = (struct split){ .data = op->code == TFL_SPLIT, .drop = op->code == TFL_UNPACK };
	const struct tfl_tensor *cut = part_in(p, op, s->data);
	const char *why = check_moved(p, cut, "IFM");
	if (why)
		return why;
	int64_t axis, at = 0;
	int n_axes;
	if (s->drop)
		axis = TFL_OPT(op, UnpackOptions, axis);
	else if (!part_ints(part_in(p, op, s->data ? 0 : 2), &axis, 1, &n_axes) || n_axes != 1)
		return "the axis is not constant";
	s->axis = move_axis(axis, cut->rank);
	if (s->axis < 0)
		return "the axis is out of range";
	if (cut->data.p)
		return "IFM is constant";
	struct nd in = nd_shape(cut);
	for (int k = 0; k < op->n_out; k++) {
		const struct tfl_tensor *t = part_out(p, op, k);
		struct nd v, to = nd_shape(t);
		int64_t n = split_length(p, op, s, k);
		why = check_moved(p, t, "OFM");
		if (!why && t->type != in.type)
			why = "IFM and OFM differ in type";
		if (!why && (n < 1 || n > in.dim[s->axis] - at))
			why = "the parts are larger than the axis";
		if (why)
			return why;
		v = nd_part(&in, s->axis, at, n);
		if (nd_elements(&v) != nd_elements(&to))
			return "an OFM's shape is not what the split gives";
		why = check_copies(p, &v, &to);
		if (why)
			return why;
		at += n;
	}
	return at == in.dim[s->axis] ? NULL : "the parts do not fill the axis";
}

void
split_view(const struct part *p, const struct lop *o, int k, struct nd *v)
{
	const struct split *s = o->own;
	int64_t at = 0;
	for (int i = 0; i < k; i++)
		at += split_length(p, o->op, s, i);
	nd_slice(v, s->axis, at, split_length(p, o->op, s, k), 1);
}

void
lower_split(struct part *p, const struct lop *o)
{
	const struct split *s = o->own;
	for (int k = 0; k < o->op->n_out; k++) {
		struct nd v = nd_ifm(p, o->op->in[s->data]);
		split_view(p, o, k, &v);
		nd_result(p, o->op->out[k], &v);
	}
}
