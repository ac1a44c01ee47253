/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reorders the channels of a feature map.  Runs of adjacent channels are copied.
 * Single channels of bytes are selected by a 1x1 convolution with one weight of 1 per
 * output: the result is exact, as each sum is one byte.  Its blocks are full, where a
 * copy would have blocks of one channel.
 */
#include "lower/conv.h"

#include "graph/facts.h"

enum {
	FEW_RUNS = 2,		/* at most this many copies take no longer than the
				 * convolution */
	MAX_CHANNELS = 1 << 12, /* limit of input and output channels, so that weights
				 * have a few MB */
};

/* Returns the number of channels, from the first on, that stay adjacent. */
static int32_t
run_of(const int32_t *map, int32_t n)
{
	int32_t k = 1;
	while (k < n && map[k] == map[k - 1] + 1)
		k++;
	return k;
}

bool
low_picks_channels(const struct nd *in, const int32_t *map, int32_t n)
{
	int32_t runs = 0;
	for (int32_t k = 0; k < n; k += run_of(map + k, n - k))
		runs++;
	return in->rank == 4 && graph_type_bytes(in->type) == 1 &&
	       runs > FEW_RUNS && in->dim[3] <= MAX_CHANNELS &&
	       n <= MAX_CHANNELS;
}

/*
 * Selects channels by a convolution that reads the IFM channels from the lowest to the
 * highest one needed.
 */
static void
pick_channels(struct lower *l, struct nd in, const struct nd *out, const int32_t *map)
{
	int32_t n = (int32_t)out->dim[3], least = map[0], most = map[0];
	for (int32_t o = 1; o < n; o++) {
		least = map[o] < least ? map[o] : least;
		most = map[o] > most ? map[o] : most;
	}
	int32_t depth = most - least + 1;
	nd_slice(&in, 3, least, depth, 1);
	uint8_t *v = anew(l->a, uint8_t, (size_t)n * (size_t)depth);
	struct npu_scale *scale = anew(l->a, struct npu_scale, (size_t)n);
	for (int32_t o = 0; o < n; o++) {
		v[(int64_t)o * depth + map[o] - least] = 1;
		scale[o] = scale_one();
	}
	static const int64_t zero = 0;
	struct yx one = { .y = 1, .x = 1 };
	struct low_conv c = {
		.kind = OP_CONV, .o = n, .i = depth, .groups = 1, .kernel = one,
		.stride = one, .dilation = one, .round = ROUND_TFL, .scale = scale,
		.bias = anew(l->a, int64_t, (size_t)n),
		.weights = { .v = v, .type = TFL_INT8, .name = l->name ? l->name : "", .zero = &zero, .n_zero = 1,
			     .stride = { depth, depth, depth, 1 } },
	};
	struct low_end end = { .clamped = true, .clamp = type_range(in.type) };
	low_conv(l, &c, &in, out, &end);
}

void
low_copy_channels(struct lower *l, const struct nd *from, const struct nd *to,
		  const int32_t *map)
{
	int axis = to->rank - 1;
	int32_t n = (int32_t)to->dim[axis];
	if (low_picks_channels(from, map, n)) {
		pick_channels(l, *from, to, map);
		return;
	}
	for (int32_t k = 0, run; k < n; k += run) {
		run = run_of(map + k, n - k);
		struct nd x = nd_part(from, axis, map[k], run), y = nd_part(to, axis, k, run);
		nd_copy(l, &x, &y);
	}
}
