/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts the network between named tensors out of a model. */
#ifndef TFLITE_CUT_H
#define TFLITE_CUT_H

#include "base/bytes.h"

#include <stdbool.h>

struct arena;
struct err;
struct tfl_model;

/* where an operator of subgraph 0 is, seen from the cut network */
enum cut_side {
	CUT_INSIDE,
	CUT_BEFORE, /* a new input depends on the operator */
	CUT_BEHIND, /* the operator depends on a new output */
	CUT_ASIDE,  /* neither */
};

struct cut {
	const enum cut_side *side; /* of each operator of the original */
	int n_ops, n_left_out;
	/* tensors of subgraph 0, with the numbers of the original */
	int n_in, n_out;
	const int *in, *out;
	int n_kept_in; /* the last inputs: those of the original that the network still reads */
	struct bytes file; /* the new model */
};

/*
 * Makes a model of the operators between the tensors `inputs` and `outputs`: lists of
 * names, or of tensor numbers, with commas between them.  NULL stands for the inputs or
 * outputs of the original.  Constants of operators outside are dropped.  Tensors and other
 * subgraphs keep their numbers.  Errors name a tensor that does not exist, or that makes
 * no cut.
 */
bool tfl_cut(struct arena *a, const struct tfl_model *m, const char *inputs,
	     const char *outputs, struct cut *cut, struct err *e);

/*
 * The same between tensors given by their numbers, as a name can be the number of another tensor.
 * An input of the original that no output depends on stays an input.
 */
bool tfl_cut_at(struct arena *a, const struct tfl_model *m, const int *in, int n_in, const int *out,
		int n_out, struct cut *cut, struct err *e);

const char *cut_side_name(enum cut_side s); /* example: "before the inputs" */

#endif
