/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kernels of one operator in a compiled file without a source map: the
 * stripes of a cascade, and the slices of the operator's weights.
 */
#include "report.h"

#include <string.h>

enum { WINDOW = 4096 }; /* kernels that are searched, for files of any size */

static bool
same_extent(struct extent x, struct extent y)
{
	return x.h == y.h && x.w == y.w && x.c == y.c;
}

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

/* the layer of an earlier kernel that reads the same weights; -1: none */
static int
layer_of_weights(const struct report *r, size_t i)
{
	const struct operation *o = &r->op[i];
	for (size_t k = i; k-- > window(i);)
		if (same_kind(o, &r->op[k]) && r->op[k].weights_at == o->weights_at)
			return r->op[k].layer;
	return -1;
}

/* True if o reads the weights behind those of p, and their scales are all between them. */
static bool
follows_in_constants(const struct operation *p, const struct operation *o)
{
	const double scale = 16, alignment = 128; /* bytes: per channel, at most; in total */
	double gap = o->weights_at - p->weights_at - p->weight_bytes;
	return gap >= 0 && gap <= scale * (p->ofm.c + o->ofm.c) + alignment;
}

/* Returns the layer of the kernel before, if both compute slices of one OFM; -1: otherwise. */
static int
layer_of_slices(const struct report *r, size_t i)
{
	const struct operation *o = &r->op[i], *p = &r->op[kernel_before(r, i)];
	bool same_map = p != o && same_kind(o, p) && p->weights_at >= 0 &&
			p->ofm.h == o->ofm.h && p->ofm.w == o->ofm.w;
	bool depthwise = !strcmp(o->kind, "depthwise");
	if (!same_map || !follows_in_constants(p, o))
		return -1;
	/* a slice of a depthwise convolution reads a slice of the IFM */
	bool same_ifm = depthwise ? !same_place(o->ifm_at, p->ofm_at)
				  : same_place(o->ifm_at, p->ifm_at) &&
					same_extent(o->ifm, p->ifm);
	return same_ifm ? p->layer : -1;
}

/* True if a kernel between k and i belongs to a layer that is older than that of k. */
static bool
is_within_cascade(const struct report *r, size_t k, size_t i)
{
	size_t first = r->layer[r->op[k].layer].first_op;
	for (size_t j = k + 1; j < i; j++)
		if (!r->op[j].is_transfer && r->layer[r->op[j].layer].first_op < first)
			return true;
	return false;
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
		bool next = k == before && p->ofm.h * p->ofm.w > 1 &&
			    !same_place(o->ifm_at, p->ofm_at) &&
			    !same_place(o->ofm_at, p->ofm_at);
		return next || is_within_cascade(r, k, i) ? p->layer : -1;
	}
	return -1;
}

int
find_group(const struct report *r, size_t i, bool *same_weights)
{
	*same_weights = false;
	if (r->op[i].weights_at < 0)
		return layer_of_stripes(r, i);
	int layer = layer_of_weights(r, i);
	*same_weights = layer >= 0;
	return layer >= 0 ? layer : layer_of_slices(r, i);
}
