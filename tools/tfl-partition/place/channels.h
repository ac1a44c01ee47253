/* SPDX-License-Identifier: Apache-2.0 */
/* Which channels of a map others take, and in which order the map has them then. */
#ifndef TFL_PARTITION_CHANNELS_H
#define TFL_PARTITION_CHANNELS_H

#include "../moves/move.h"

/* picks.c: what operators that only move make of the channels of a map */
struct pick {
	int root; /* 1 + the tensor whose channels these are; 0: none */
	int32_t n;
	const int32_t *at; /* element k of a pixel is channel at[k] of the root's */
};
/* of output k of an operator, given those of its input; root 0: something else */
struct pick pick_of(struct part *p, const struct tfl_op *op, int k,
		    const struct pick *picks);
/* a tensor is all channels of itself */
struct pick pick_all(struct part *p, int tensor);
bool pick_is_by(const struct tfl_op *op); /* is it one of those operators? */
/* a map of bytes [N,H,W,C] */
bool pick_can_have(const struct part *p, int tensor);

/* concat.c: CONCATENATION of maps along their channels, as they are */
bool concat_has_channels(const struct part *p, const struct tfl_op *op);
/* concatorder.c: do they lie in another order in some of them? */
bool concat_is_ordered(const struct part *p, const struct tfl_op *op);
void bind_ordered_concat(struct part *p, const struct tfl_op *op);
void lower_ordered_concat(struct part *p, const struct tfl_op *op);

#endif
