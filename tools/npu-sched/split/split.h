/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of two products that are used by channels, as the gates of a recurrent cell are.
 * Computed at once such a sum needs room for all channels of both products; the same
 * channels by channels, each just before they are used, take more kernels and the room
 * of few of them.  In running order: choose.c says which form of the network is taken,
 * sums.c finds the sums, split.c makes the graph of pieces, order.c its order, pieces.c
 * what it is made of.
 */
#ifndef NPU_SCHED_SPLIT_H
#define NPU_SCHED_SPLIT_H

#include "../sched.h"

/* ---- sums.c ------------------------------------------------------------------- */

/*
 * A sum's operands are what products (FC) make and nothing else writes; what uses it is
 * elementwise and takes all its columns, and channels between its cuts.
 */
struct sum {
	struct g_op *add;
	struct g_op *product[2]; /* that makes IFM, IFM2 */
	int shared[2];	/* sums that read it ... */
	int turn[2];	/* ... and those of them before this one */
	int n_cuts;
	int32_t *cut; /* channels at which pieces begin; cut[n_cuts]: all */
};
/* how sums are split: into pieces of all columns or of one; products that several sums
 * read, as those of many time steps are, for so many of them at once, or 0: in pieces, too */
struct split {
	bool columns;
	int ahead;
};
struct sums {
	struct sum *v;
	size_t n;
	int *of; /* of each tensor: the sum that it is, or -1 */
};

/* ones that can be split; the graph is as tfl-partition wrote it */
struct sums sums_find(struct arena *a, const struct graph *g);

/* ---- pieces.c ----------------------------------------------------------------- */

/* of a sum: columns from `at` on, channels of one piece */
struct part {
	struct hwc at, shape; /* c: depth says */
	struct g_range depth;
};

/* weights and scales of parts: equal ones are one record */
struct constants {
	struct graph *g;
	struct arena *a;
	struct constant {
		const void *of; /* the product's */
		int64_t lo;	/* the first channel */
		void *piece;
	} *v;
	size_t n, cap;
};

/* a record of its own, the same as op otherwise */
struct g_op *copy_op(struct graph *g, const struct g_op *op);
/* false: the bytes that two operands show are not the same ones, for certain */
bool may_overlap(const struct g_operand *a, const struct g_operand *b);
/* can a product be made in parts of the columns that operand o of a sum reads? */
bool has_product_part(const struct g_op *product, const struct g_operand *o);
/* a part of what o reads, as a new operation that makes a tensor of its own */
struct g_op *product_part(struct constants *k, const struct g_op *product,
			  const struct g_operand *o, const struct part *p);

/*
 * The product whose operand k of a sum is, for those sums at once that read it next to
 * each other, `ahead` of them.  NULL: what they read is no box of it.  And what the sum
 * reads of that.
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

/* channels of a sum, or what is written in their place later */
struct piece {
	struct g_tensor *t;
	struct ops waiting; /* what writes to t or to what that reads: in the old order */
};

/* operations in their new order, as far as they don't wait */
struct order {
	struct arena *a;
	size_t n_tensors; /* of the plain graph */
	/* of each tensor behind those: the piece that it is, or NULL */
	struct piece **added;
	size_t n_added, cap_added;
	struct piece **waits; /* those for which something waits */
	size_t n_waits, cap_waits;
	struct ops out;
};

/* t, a new tensor, is a piece */
struct piece *order_add(struct order *x, struct g_tensor *t);
/* op, which writes to no piece, waits until p is used */
void order_wait(struct order *x, struct piece *p, struct g_op *op);
/* the next operation of the old order, or a part of it: it waits if it writes to a piece */
void order_place(struct order *x, struct g_op *op);
/* what still waits runs */
void order_end(struct order *x);

/* ---- split.c ------------------------------------------------------------------ */

/* pieces of a sum */
int64_t count_pieces(const struct sum *s, struct split how);
/* the graph becomes that of pieces */
void split_sums(struct graph *g, struct arena *a, const struct sums *l, struct split how);

/* ---- choose.c ----------------------------------------------------------------- */

/* plans the graph of s in each form that it has by `plan`; s becomes the best one's */
bool plan_split(struct sched *s, bool (*plan)(struct sched *));

#endif
