/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that change the order of all elements: TRANSPOSE, REVERSE_V2,
 * DEPTH_TO_SPACE, SPACE_TO_DEPTH.
 */
#include "move.h"

#include "tflite/fields.h"

const char *
view_transpose(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	int64_t perm[TFL_MAX_RANK];
	int order[TFL_MAX_RANK], n;
	unsigned seen = 0;
	if (!part_ints(part_in(p, op, 1), perm, TFL_MAX_RANK, &n))
		return "the permutation is not constant";
	if (n != v->rank)
		return "the permutation does not have the IFM's rank";
	for (int i = 0; i < n; i++) {
		order[i] = move_axis(perm[i], n);
		if (order[i] < 0 || seen >> order[i] & 1)
			return "the permutation is not valid";
		seen |= 1u << order[i];
	}
	nd_permute(v, order);
	return NULL;
}

const char *
view_reverse(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	int64_t axes[TFL_MAX_RANK];
	int n;
	if (!part_ints(part_in(p, op, 1), axes, TFL_MAX_RANK, &n))
		return "the axes are not constant";
	unsigned seen = 0;
	for (int i = 0; i < n; i++) {
		int d = move_axis(axes[i], v->rank);
		if (d < 0 || seen >> d & 1)
			return "an axis is out of range or named twice";
		seen |= 1u << d;
		nd_slice(v, d, v->dim[d] - 1, v->dim[d], -1);
	}
	return NULL;
}

const char *
view_depth_to_space(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	const char *why = check_options(p, op, &fb_DepthToSpaceOptions);
	int64_t b = why ? 0 : TFL_OPT(op, DepthToSpaceOptions, block_size);
	if (why)
		return why;
	if (!family_rank(op, part_in(p, op, 0)) || b < 1 || b > UINT16_MAX || v->dim[3] % (b * b))
		return "the block size does not match the IFM";
	static const int order[] = { 0, 1, 3, 2, 4, 5 };
	nd_split(v, 3, v->dim[3] / b);
	nd_split(v, 4, v->dim[4] / b);
	nd_permute(v, order);
	return NULL;
}

const char *
view_space_to_depth(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	static const int order[] = { 0, 1, 3, 2, 4, 5 };
	const char *why = check_options(p, op, &fb_SpaceToDepthOptions);
	int64_t b = why ? 0 : TFL_OPT(op, SpaceToDepthOptions, block_size);
	if (why)
		return why;
	if (!family_rank(op, part_in(p, op, 0)) || b < 1 || v->dim[1] % b || v->dim[2] % b)
		return "the block size does not match the IFM";
	nd_split(v, 1, b);
	nd_split(v, 3, b);
	nd_permute(v, order);
	return NULL;
}
