/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits sums of two products that are used by channels, as the gates of a recurrent cell are.
 * Computed at once, such a sum needs memory for all channels of both products.  Computed
 * channels by channels, each just before its use, it takes more kernels and the memory of few
 * channels.  In running order: choose.c chooses the rewrite of the network, sums.c finds the
 * sums, split.c makes the graph of pieces, order.c orders it, pieces.c makes its parts.
 */
#ifndef NPU_SCHED_SPLIT_H
#define NPU_SCHED_SPLIT_H

#include "../sched.h"

/* ---- sums.c ------------------------------------------------------------------- */

/*
 * A sum.  Each operand is written by one product (FC) only.  All users of the sum are
 * elementwise and take all its columns, and channels between its cuts.
 */
struct sum {
	struct g_op *add;
	struct g_op *product[2]; /* the products that make IFM and IFM2 */
	int shared[2];	/* number of sums that read the product */
	int turn[2];	/* number of these before this sum */
	int n_cuts;
	int32_t *cut; /* channels at which pieces begin; cut[n_cuts]: all channels */
};
/* How sums are split.  columns: pieces of one column instead of all.  ahead: products that
 * several sums read, as those of many time steps, are made for so many sums at once; 0: in
 * pieces. */
struct split {
	bool columns;
	int ahead;
};
struct sums {
	struct sum *v;
	size_t n;
	int *of; /* of each tensor: index of the sum that it holds; -1: none */
};

/* Finds the sums that can be split.  The graph is as tfl-partition wrote it. */
struct sums sums_find(struct arena *a, const struct graph *g);

/* ---- pieces.c ----------------------------------------------------------------- */

/* A part of a sum: columns from `at` on, channels of one piece. */
struct part {
	struct hwc at, shape; /* c: see depth */
	struct g_range depth;
};

/* Weights and scales of parts, one record for equal ones. */
struct constants {
	struct graph *g;
	struct arena *a;
	struct constant {
		const void *of; /* the record of the whole product */
		int64_t lo;	/* first channel of the part */
		void *piece;	/* the record of the part */
	} *v;
	size_t n, cap;
};

/* Copies op to a new record. */
struct g_op *copy_op(struct graph *g, const struct g_op *op);
/* False: two operands certainly share no bytes. */
bool may_overlap(const struct g_operand *a, const struct g_operand *b);
/* Can a product be made in parts of the columns that operand o of a sum reads? */
bool has_product_part(const struct g_op *product, const struct g_operand *o);
/* A new operation that makes a part of what o reads, in a new tensor. */
struct g_op *product_part(struct constants *k, const struct g_op *product,
			  const struct g_operand *o, const struct part *p);

/*
 * product_group() makes the product that a sum's operand reads, for `ahead` successive sums
 * that read it at once; NULL: these do not read a box of the product.  group_operand() is the
 * operand of one of these sums in the result, t.
 */
struct g_op *product_group(struct constants *k, const struct sums *l, const struct sum *s,
			   int operand, int ahead);
struct g_operand group_operand(const struct sums *l, const struct sum *s, int operand,
			       int ahead, struct g_tensor *t);

/* ---- order.c ------------------------------------------------------------------ */

struct ops {
	struct g_op **v;
	size_t n, cap;
};

/* Channels of a sum, or later values in the same channels. */
struct piece {
	struct g_tensor *t;
	struct ops waiting; /* operations that make t and its inputs, in the old order */
};

/* Operations in their new order, and those that still wait. */
struct order {
	struct arena *a;
	size_t n_tensors; /* of the original graph */
	/* of each tensor behind these: the piece that it holds, or NULL */
	struct piece **added;
	size_t n_added, cap_added;
	struct piece **waits; /* pieces with operations that wait */
	size_t n_waits, cap_waits;
	struct ops out;
};

/* Makes a piece of t, a new tensor. */
struct piece *order_add(struct order *x, struct g_tensor *t);
/* Lets op, which writes to no piece, wait until p is used. */
void order_wait(struct order *x, struct piece *p, struct g_op *op);
/* Takes the next operation of the old order, or a part of it.  It waits if it writes to a
 * piece. */
void order_append(struct order *x, struct g_op *op);
/* Runs all operations that still wait. */
void order_end(struct order *x);

/* ---- split.c ------------------------------------------------------------------ */

/* The number of pieces of a sum. */
int64_t count_pieces(const struct sum *s, struct split how);
/* Rewrites the graph: sums, their products and their users in pieces. */
void split_sums(struct graph *g, struct arena *a, const struct sums *l, struct split how);

/* ---- choose.c ----------------------------------------------------------------- */

/* Plans the graph of s in each of its rewrites by `plan`.  s becomes the best one. */
bool plan_split(struct sched *s, bool (*plan)(struct sched *));

#endif
