/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rewritings of a graph.  Each function returns a new graph that computes the same values, and
 * leaves the original unchanged; both share constants (graph_copy()).  The graph must be as a
 * front end wrote it, with the decisions that the user added.  The functions cannot fail, but
 * the result can break a limit of the NPU: the caller runs graph_check().  Whether a rewriting
 * pays is the caller's question.
 */
#ifndef REWRITE_REWRITE_H
#define REWRITE_REWRITE_H

#include "graph/graph.h"

/* ---- batch.c ---------------------------------------------------------------- */

/* How n inputs are processed in one run. */
struct batch_choice {
	int32_t n;	/* at least 2 */
	int32_t columns; /* width of the grid of vectors: that of the NPU's micro-block */
	/*
	 * of each operation: true if it runs for all inputs before the next operation, as one
	 * kernel where possible, else as kernels that share their weights.  Runs of other
	 * operations are done input by input, with feature maps and transfers of their own.
	 */
	const bool *together;
};

/*
 * Makes the graph for n inputs from the graph for one: inputs, outputs and variables get n
 * times their leading dimension.  Needs: no node on the CPU, no loop.
 */
struct graph *rewrite_batch(struct arena *a, const struct graph *g,
			    const struct batch_choice *how);

/* ---- sums.c ------------------------------------------------------------------- */

/*
 * Sums of two products (FC) that are used by channels, as the gates of a recurrent cell are.
 * Computed at once, such a sum needs memory for all channels of both products.  Computed
 * channels by channels, each just before its use, it takes more kernels and the memory of few
 * channels.
 *
 * Each operand of a sum is written by one product only.  All users of the sum are elementwise
 * and take all its columns, and channels between its cuts.
 */
struct sum {
	struct g_op *add;
	struct g_op *product[2]; /* the products that make IFM and IFM2 */
	int shared[2];	/* number of sums that read the product */
	int turn[2];	/* number of these before this sum */
	int n_cuts;	/* at least 2 */
	int32_t *cut; /* channels at which pieces begin; cut[n_cuts]: all channels */
};
struct sums {
	struct sum *v;
	size_t n;
	int *of; /* of each tensor: index of the sum that it holds; -1: none */
};

/* Finds the sums that can be split. */
struct sums sums_find(struct arena *a, const struct graph *g);

/* ---- split.c ------------------------------------------------------------------ */

/* How sums are split. */
struct split {
	bool columns; /* pieces of one column instead of all columns */
	/* products that several sums read, as those of many time steps, are made for so many
	 * sums at once; 0: in pieces */
	int ahead;
};
/* The number of pieces of a sum. */
int64_t count_pieces(const struct sum *s, struct split how);
/* Makes sums, their products and their users in pieces. */
struct graph *rewrite_sums(struct arena *a, const struct graph *g, struct split how);

#endif
