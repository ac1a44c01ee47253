/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a stream as nested loops, and the tiles that the loops emit.  Private to
 * this folder.
 */
#ifndef WEIGHTS_ORDER_H
#define WEIGHTS_ORDER_H

#include "weights/weights.h"

/* Extents and steps of the loops of ethosu-weights(7) 2.3 and 22.2. */
struct nest {
	enum weights_traversal traversal;
	int32_t o, h, w, i; /* o: channels of the stream; on U85, of the slice */
	int32_t bd, ib, ou;
	int32_t sub_h, sub_w; /* largest sub-kernel */
	int32_t e;	      /* kernel elements are rounded up to a multiple of e */
	int32_t lanes;	      /* input lanes of a tile */
	int32_t rows;	      /* output channels of a tile */
	int32_t first, step;  /* slice channel of o = 0, and the distance to the next */
	/* U85 only */
	int32_t iu;		    /* input channels of a unit */
	int32_t stream, streams;    /* selects the quads of a microblock */
	int32_t stride_y, stride_x; /* phases of kernel elements */
	int32_t padding; /* depthwise: zeros per channel after every ten elements */
};

/*
 * One step of the loops: rows x lanes values of one kernel element.  Rows from n_o on
 * and lanes from n_i on are padding; n_o is 0 for a padding element.
 */
struct tile {
	int32_t o, y, x, i;
	int32_t n_o, n_i;
};

typedef void tile_fn(void *ctx, const struct tile *t);

/* order85.c */
struct nest nest85_of(const struct weights_order *ord, int32_t h, int32_t w,
		      int32_t i);
void nest85_walk(const struct nest *n, tile_fn *fn, void *ctx);
size_t nest85_count(const struct nest *n);

#endif
