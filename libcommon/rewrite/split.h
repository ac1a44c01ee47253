/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for split.c: parts of products (parts.c) and the new order (order.c). */
#ifndef REWRITE_SPLIT_H
#define REWRITE_SPLIT_H

#include "rewrite/rewrite.h"

/* ---- parts.c ------------------------------------------------------------------ */

/* A box of the elements that an operand reads or writes. */
struct part {
	struct hwc at, shape;
};

/* Weights and scales of parts.  Equal parts share one record. */
struct constants {
	struct graph *g;
	struct arena *a;
	struct constant {
		const void *of; /* the weights or scales of the whole product */
		struct part channels;
		void *piece;	/* the weights or scales of the part */
	} *v;
	size_t n, cap;
};

/* True if two operands may share bytes.  False only if they certainly share none. */
bool may_overlap(const struct g_operand *a, const struct g_operand *b);
/* Returns operand k of a sum; 0: IFM, 1: IFM2. */
const struct g_operand *sum_operand(const struct sum *s, int k);
/* True if the columns that operand o of a sum reads can be computed alone: they are a box. */
bool has_product_part(const struct g_op *product, const struct g_operand *o);
/* Adds an operation that computes part p of operand k of a sum into a new tensor. */
struct g_op *product_part(struct constants *c, const struct sum *s, int k, struct part p);

/*
 * product_group() adds an operation that computes operand k for `ahead` successive sums which
 * read the same product.  NULL: the columns that these sums read are no box of the product.
 * group_operand() returns the operand of one of these sums in the resulting tensor t.
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

/* A piece: some channels of a sum, or later values that replace these channels. */
struct piece {
	struct g_tensor *t;
	struct ops waiting; /* operations that compute t and its inputs, in the old order */
};

/* The operations in their new order, and the operations that still wait. */
struct order {
	struct arena *a;
	struct piece **piece; /* for each tensor: the piece that the tensor holds, or NULL */
	size_t n_tensors, cap_tensors;
	struct piece **waits; /* pieces with waiting operations */
	size_t n_waits, cap_waits;
	struct ops out; /* the new order so far */
};

/* Adds a piece for t, a new tensor. */
struct piece *order_add(struct order *x, struct g_tensor *t);
/* Lets op wait until another operation uses piece p.  op itself writes to no piece. */
void order_wait(struct order *x, struct piece *p, struct g_op *op);
/* Takes the next operation of the old order, or a part of that operation.  An operation that
 * writes to a piece waits; any other operation runs at once. */
void order_append(struct order *x, struct g_op *op);
/* Runs all waiting operations. */
void order_end(struct order *x);

#endif
