/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which channels of a feature map other tensors pick, and in which order the
 * feature map then stores its channels.
 */
#ifndef TFL_PARTITION_CHANNELS_H
#define TFL_PARTITION_CHANNELS_H

#include "../moves/move.h"

/* picks.c: the channels of a feature map that an operator which only moves data selects */
struct pick {
	int root; /* 1 + the tensor whose channels these are; 0: none */
	int32_t n;
	const int32_t *at; /* element k of a pixel is channel at[k] of the root */
};
/* the pick of output k of an operator, from the picks of its input; root 0: not a pick */
struct pick pick_of(struct part *p, const struct tfl_op *op, int k,
		    const struct pick *picks);
/* the pick of all channels of the tensor itself */
struct pick pick_all(struct part *p, int tensor);
/* true if the operator only moves data, as those of picks.c */
bool is_picking_op(const struct tfl_op *op);
/* true for an 8-bit feature map [N,H,W,C] */
bool is_pickable_fm(const struct part *p, int tensor);

/* concat.c: true for CONCATENATION along the channels, without requantization */
bool concat_has_channels(const struct part *p, const struct tfl_op *op);
/* concatorder.c: true if an input or the result stores its channels in another order */
bool concat_is_ordered(const struct part *p, const struct tfl_op *op);
void bind_ordered_concat(struct part *p, const struct tfl_op *op);
void lower_ordered_concat(struct part *p, const struct tfl_op *op);

#endif
