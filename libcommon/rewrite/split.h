/* SPDX-License-Identifier: Apache-2.0 */
/* What split.c uses: parts of products (parts.c) and the new order (order.c). */
#ifndef REWRITE_SPLIT_H
#define REWRITE_SPLIT_H

#include "rewrite/rewrite.h"

/* ---- parts.c ------------------------------------------------------------------ */

/* A part of what an operand reads or writes: a box of its elements. */
struct part {
	struct hwc at, shape;
};

/* Weights and scales of parts, one record for equal ones. */
struct constants {
	struct graph *g;
	struct arena *a;
	struct constant {
		const void *of; /* the record of the whole product */
		struct part channels;
		void *piece;	/* the record of the part */
	} *v;
	size_t n, cap;
};

/* False: two operands certainly share no bytes. */
bool may_overlap(const struct g_operand *a, const struct g_operand *b);
/* The operand k of a sum: 0 IFM, 1 IFM2. */
const struct g_operand *sum_operand(const struct sum *s, int k);
/* Can a product be made in parts of the columns that operand o of a sum reads? */
bool has_product_part(const struct g_op *product, const struct g_operand *o);
/* Makes a part of operand k of a sum in a new tensor, by a new operation. */
struct g_op *product_part(struct constants *c, const struct sum *s, int k, struct part p);

/*
 * product_group() makes operand k of a sum for `ahead` successive sums that read the same
 * product; NULL: these do not read a box of the product.  group_operand() is the operand of one
 * of these sums in the result, t.
 */
struct g_op *product_group(struct graph *g, const struct sums *l, const struct sum *s, int k,
			   int ahead);
struct g_operand group_operand(const struct sums *l, const struct sum *s, int k, int ahead,
			       struct g_tensor *t);

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
	struct piece **piece; /* of each tensor: the piece that it holds, or NULL */
	size_t n_tensors, cap_tensors;
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

#endif
