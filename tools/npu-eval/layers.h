/* SPDX-License-Identifier: Apache-2.0 */
/* What --layers finds of every tensor (layers.c), and how it is told (advice.c). */
#ifndef NPU_EVAL_LAYERS_H
#define NPU_EVAL_LAYERS_H

#include "npu-eval.h"

/* sums over elements: of squares, and of squared differences */
struct noise {
	double signal, noise;
};
double noise_db(struct noise n); /* INFINITY: no difference */

struct channel {
	struct noise all, own;
	int32_t lo, hi; /* integers seen */
};

/*
 * all: the integer network against the real one.  own: the operator alone, in real
 * numbers on the integer network's inputs, against what it made of them.
 */
struct layer {
	int op, tensor;
	struct noise all, own;
	double lo, hi;	  /* of the real network */
	size_t n, clipped; /* values, and those beyond what the type holds */
	double steps; /* the operator's own largest difference, of values that it holds */
	int32_t q_lo, q_hi;
	int32_t n_channels; /* of the last dimension */
	struct channel *channel;
	bool known; /* false: no form in real numbers, its integers stand in */
};

struct layers {
	const struct tfl_model *m;
	size_t n_items;
	struct layer *layer; /* worst first */
	size_t n;
};

/* of the type */
void layer_limits(const struct tfl_tensor *t, int32_t *lo, int32_t *hi);
void print_layers(struct text *t, const struct layers *all, enum format format);

#endif
