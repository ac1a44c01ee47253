/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kernels of one operator in a compiled file without a source map: the
 * stripes of a cascade, and the slices of the operator's weights.
 */
#include "report.h"

#include <string.h>

enum { WINDOW = 4096 }; /* kernels that are searched, for files of any size */

static bool
same_place(struct place x, struct place y)
{
	return x.region >= 0 && x.region == y.region && x.at == y.at;
}

static bool
same_kind(const struct operation *x, const struct operation *y)
{
	return !y->is_transfer && y->layer >= 0 && !strcmp(x->kind, y->kind);
}

static size_t
window(size_t i)
{
	return i > WINDOW ? i - WINDOW : 0;
}

/* the kernel before operation i; i: none */
static size_t
kernel_before(const struct report *r, size_t i)
{
	for (size_t k = i; k-- > window(i);)
		if (!r->op[k].is_transfer)
			return k;
	return i;
}

/* Returns the layer of the kernel before, if both compute slices of one OFM; -1: otherwise. */
static int
layer_of_slices(const struct report *r, size_t i)
{
	const double scale = 16, alignment = 128; /* bytes: per channel, at most; in total */
	const struct operation *o = &r->op[i], *p = &r->op[kernel_before(r, i)];
	bool same_map = p != o && same_kind(o, p) && p->weights_at >= 0 &&
			p->ofm.h == o->ofm.h && p->ofm.w == o->ofm.w;
	bool depthwise = !strcmp(o->kind, "depthwise");
	/* between the weights of both are all their scales, and nothing else */
	double gap = o->weights_at - p->weights_at - p->weight_bytes;
	if (!same_map || !(gap >= 0 && gap <= scale * (p->ofm.c + o->ofm.c) + alignment))
		return -1;
	/* a slice of a depthwise convolution reads a slice of the IFM */
	bool same_ifm = depthwise ? !same_place(o->ifm_at, p->ofm_at)
				  : same_place(o->ifm_at, p->ifm_at) && o->ifm.h == p->ifm.h &&
					o->ifm.w == p->ifm.w && o->ifm.c == p->ifm.c;
	return same_ifm ? p->layer : -1;
}

/* The layer of an earlier stripe of a kernel without weights; -1: none. */
static int
layer_of_stripes(const struct report *r, size_t i)
{
	const struct operation *o = &r->op[i];
	size_t before = kernel_before(r, i);
	for (size_t k = i; k-- > window(i);) {
		const struct operation *p = &r->op[k];
		if (!same_kind(o, p) || p->weights_at >= 0 || p->ifm.w != o->ifm.w ||
		    p->ifm.c != o->ifm.c || p->ofm.w != o->ofm.w || p->ofm.c != o->ofm.c)
			continue;
		bool is_stripe = k == before && p->ofm.h * p->ofm.w > 1 &&
				 !same_place(o->ifm_at, p->ofm_at) &&
				 !same_place(o->ofm_at, p->ofm_at);
		/* or a kernel between both belongs to a layer that is older: they are of a cascade */
		for (size_t j = k + 1; j < i && !is_stripe; j++)
			is_stripe = !r->op[j].is_transfer && r->layer[r->op[j].layer].first_op <
								   r->layer[p->layer].first_op;
		return is_stripe ? p->layer : -1;
	}
	return -1;
}

int
find_group(const struct report *r, size_t i, bool *same_weights)
{
	*same_weights = false;
	if (r->op[i].weights_at < 0)
		return layer_of_stripes(r, i);
	const struct operation *o = &r->op[i];
	int layer = -1; /* of an earlier kernel that reads the same weights */
	for (size_t k = i; layer < 0 && k-- > window(i);)
		if (same_kind(o, &r->op[k]) && r->op[k].weights_at == o->weights_at)
			layer = r->op[k].layer;
	*same_weights = layer >= 0;
	return layer >= 0 ? layer : layer_of_slices(r, i);
}
