/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewritings of a graph.  Each function returns a new graph that computes the same values, and
 * leaves the original graph unchanged; both graphs share constants (graph_copy()).  The input is
 * the graph of a front end, with any decisions that the user added.  The functions cannot fail.
 * But the result can break a limit of the NPU; therefore the caller runs graph_check().  The
 * caller also decides whether the new graph is faster.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "graph/graph.h"

/* ---- batch.c ---------------------------------------------------------------- */

/* How one run processes n inputs. */
struct batch_choice {
	int32_t n;	/* number of inputs, at least 2 */
	int32_t columns; /* width of the grid of vectors: the width of the NPU's microblock */
	/*
	 * For each operation: true if the operation runs for all inputs before the next operation
	 * begins.  One kernel runs it for all inputs if possible; otherwise several kernels share
	 * the weights.  false: adjacent operations of this kind form a run, which is executed
	 * input by input; each input has feature maps and transfers of its own.
	 */
	const bool *together;
};

/*
 * Makes the graph for n inputs from the graph for one input.  The leading dimension of inputs,
 * outputs and variables is multiplied by n.  Needs: no node on the CPU, no loop.
 */
struct graph *rewrite_batch(struct arena *a, const struct graph *g,
			    const struct batch_choice *how);

/* ---- sums.c ------------------------------------------------------------------- */

/*
 * Sums of two products (FC) whose users read some of the channels, such as the gates of a
 * recurrent cell.  If such a sum is computed at once, it needs memory for all channels of both
 * products.  A split computes a piece of the channels just before its use.  Then the sum needs
 * more kernels, but memory for few channels only.
 *
 * One product writes each operand of a sum.  All users of the sum are elementwise.  A user reads
 * all columns, and the channels from one cut to another.
 */
struct sum {
	struct g_op *add;
	struct g_op *product[2]; /* the products that make IFM and IFM2 */
	int shared[2];	/* for each product: number of sums that read it */
	int turn[2];	/* position of this sum among the sums that read the product, from 0 */
	int n_cuts;	/* number of pieces, at least 2 */
	int32_t *cut; /* first channel of each piece, ascending; cut[n_cuts]: number of channels */
};
struct sums {
	struct sum *v;
	size_t n;
	int *of; /* for each tensor: index in v of the sum that the tensor holds; -1: none */
};

/* Finds the sums that can be split. */
struct sums sums_find(struct arena *a, const struct graph *g);

/* ---- split.c ------------------------------------------------------------------ */

/* How sums are split. */
struct split {
	bool columns; /* a piece has one column; otherwise all columns */
	/* Several sums may read one product, for example the sums of several time steps.  The
	 * columns for this many sums are computed at once.  0 or 1: in pieces, like the sum. */
	int ahead;
};
/* Returns the number of pieces of a sum. */
int64_t count_pieces(const struct sum *s, struct split how);
/* Splits all sums of sums_find(), their products and their users into pieces. */
struct graph *rewrite_sums(struct arena *a, const struct graph *g, struct split how);

#endif
