/* SPDX-License-Identifier: Apache-2.0 */
/* What --layers measures of every tensor (layers.c), and how it is printed (advice.c). */
#ifndef NPU_EVAL_LAYERS_H
#define NPU_EVAL_LAYERS_H

#include "npu-eval.h"

/* sums over elements: of squared values, and of squared differences */
struct noise {
	double signal, noise;
};
double noise_db(struct noise n); /* signal to noise in dB; INFINITY: no difference */

struct channel {
	struct noise all, own;
	int32_t lo, hi; /* least and greatest integer that occurred */
};

/*
 * all: noise of the integer network against the network in real numbers.  own: noise of
 * one operator.  For own, the operator is computed in real numbers on the integer
 * network's inputs, and compared with the integer network's output.
 */
struct layer {
	int op, tensor;
	struct noise all, own;
	double lo, hi;	  /* least and greatest value of the real network */
	size_t n, clipped; /* values, those more than a step beyond the integers' range */
	/*
	 * largest error of the operator alone, in steps of the scale; only values
	 * inside the range count
	 */
	double steps;
	int32_t q_lo, q_hi;
	int32_t n_channels; /* size of the last dimension */
	struct channel *channel;
	/*
	 * false: the operator has no function in real numbers; its integers are used
	 * instead
	 */
	bool has_function;
};

struct layers {
	const struct tfl_model *m;
	size_t n_items;
	struct layer *layer; /* sorted by the noise of each operator alone, the worst first */
	size_t n;
};

/* the least and greatest integer of the tensor's type */
void layer_limits(const struct tfl_tensor *t, int32_t *lo, int32_t *hi);
void print_layers(struct text *t, const struct layers *all, enum format format);

#endif
