/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM: the description that the rules fill in and the
 * lowering reads.
 */
#ifndef LSTM_H
#define LSTM_H

#include "../part.h"

#include "kernels/kernels.h"

#define GATE_SCALE 0x1p-12f /* scale of the activations' inputs */
#define UNIT_SCALE 0x1p-15f /* scale of the activations' outputs */

struct lstm {
	const struct tfl_tensor *x, *hidden, *cell, *ofm;
	int32_t batch, steps, features, cells;
	bool major; /* time is the first dimension of X and OFM, the batch the second */
	int32_t clip;
	struct npu_scale keep, add, emit; /* scales of f*c, i*g, o*tanh(c) */
};

/* lstmrules.c */
/*
 * The scale from products of the weights w with an input, or with the last output
 * (recurrent), to GATE_SCALE.  Returns false if no multiplier and shift express it.
 */
bool lstm_gate_scale(const struct lstm *l, const struct tfl_tensor *w, bool recurrent,
		     struct npu_scale *s);

#endif
