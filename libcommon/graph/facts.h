/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a graph's records that follow from their values. */
#ifndef GRAPH_FACTS_H
#define GRAPH_FACTS_H

#include "graph/records.h"

struct block_query;

struct hwc graph_hwc(const struct g_shape *s); /* default H x W x C of a shape */
const char *graph_type_text(int type); /* i8, u8, i16, i32, ... */
int graph_type_parse(const char *s, size_t n); /* -1: unknown */
int graph_type_bytes(int type);
bool graph_type_signed(int type);
struct g_operand operand_whole(struct g_tensor *t);
/* True if the operand is a whole tensor, in its type. */
bool operand_is_whole(const struct g_operand *o);
struct g_operand operand_reshape(struct g_tensor *t, struct hwc shape);
/* True if each row of the operand is the row of its tensor with the same number, whatever
 * width and depth the operand gives the row. */
bool operand_has_rows(const struct g_operand *o);
struct g_operand operand_box(struct g_tensor *t, struct hwc shape,
			     struct hwc start);

/* The OFM (k 0), the IFM (1) or IFM2 (2) of an operation; const if the operation is const. */
#define operand_ofm_first(op, k)                                             \
	((k) == 0 ? &(op)->ofm : (k) == 1 ? &(op)->ifm : &(op)->ifm2)
/* Returns an operand with the same elements, given by strides.  The tensor has layout NHWC. */
struct g_operand operand_by_strides(struct g_operand o);

/* True if the operand's elements are contiguous in memory, row by row. */
bool operand_is_contiguous(const struct g_operand *o);

/* True if the tensor has an explicit row or pixel stride. */
bool tensor_has_strides(const struct g_tensor *t);
/*
 * Size of a tensor in its layout, in bytes; of a rolling buffer, the rows in memory.
 * With strides, the distance from the first byte to the last.
 */
int64_t tensor_bytes(const struct g_tensor *t);
bool tensor_is_const(const struct g_tensor *t);
bool tensor_is_input(const struct g_tensor *t);	 /* also true for IO_INOUT */
bool tensor_is_output(const struct g_tensor *t); /* also true for IO_INOUT */
/* True if the list has the tensor. */
bool tensors_have(const struct g_tensors *l, const struct g_tensor *t);
/* Bytes in use of an area of the graph; 0: the graph has no such area. */
int64_t graph_place_used(const struct graph *g, int place);
/* Is an operator of the source model one of the list? */
bool has_operator(const struct g_tfls *l, struct g_tfl operator);
/*
 * True if the streams must keep the rules of the Linux driver (nputools-linux(7),
 * RULES).
 */
bool graph_is_for_linux(const struct graph *g);
struct g_stride {
	int64_t y, x, c; /* bytes */
};
struct g_stride tensor_strides(const struct g_tensor *t);

/* Returns the node that a step belongs to. */
static inline struct g_node *
step_node(const struct g_step *s)
{
	return s->op ? s->op->node : s->node;
}
/* True if operations of the node can run more than once. */
static inline bool
node_repeats(const struct g_node *n)
{
	return n->loop != LOOP_NONE && n->loop != LOOP_END;
}
/* True if the node is in the same command stream as the node before it. */
static inline bool
node_continues(const struct g_node *n)
{
	return n->loop != LOOP_NONE;
}
bool graph_has_loops(const struct graph *g);

/* kind: enum g_op_kind */
bool op_is_elementwise(int kind);
bool op_is_pool(int kind); /* MAX, AVERAGE, REDUCE_SUM */
bool op_has_weights(int kind);
bool op_has_table(const struct g_op *op); /* uses a table in the table memory of SHRAM */
bool op_is_binary(int kind);
/*
 * True if the operation can clamp its result, or look the result up in a table, before it
 * stores the result: schema/operations.def.
 */
bool op_can_clamp(int kind);
bool op_can_look_up(int kind);
/* Range of a type of 8 or 16 bits, or of the clamp registers for 32 bits. */
struct g_range type_range(int type);
/* True for a comparison (U85), whose result is a truth value. */
bool op_compares(int kind);
/* True if the DMA engine does the operation, without a kernel or blocks. */
bool op_is_transfer(int kind);
/* True for a pool that moves its IFM unchanged. */
bool op_only_moves(const struct g_op *op);
/* True if row y of the OFM depends only on row y of the operands. */
bool op_is_row_by_row(int kind);
enum block_class op_block_class(int kind);
/* bits of an element of the IFM */
int op_ifm_bits(const struct g_op *op);
/* Number of rows and columns of the IFM that a resize reads. */
struct yx op_sampled(const struct g_op *op);
/* Shape of the result, before a reorder stores it in another order. */
struct hwc op_extent(const struct g_op *op);
/* True if both operands have the same elements in the same order. */
bool operand_equal(const struct g_operand *a, const struct g_operand *b);
/* True for two boxes of one feature map without a common element. */
bool boxes_are_disjoint(const struct g_operand *a, const struct g_operand *b);
/*
 * True if two operations access t so that their order matters: at least one of them
 * writes t, and the accessed parts may overlap.
 */
bool ops_conflict(const struct g_op *a, const struct g_op *b,
		  const struct g_tensor *t);
/* rows and columns of the dilated kernel */
struct yx op_dilated(const struct g_op *op);
/* The query for target/blocks.h, for a stripe of `rows` OFM rows. */
struct block_query op_block_query(const struct g_op *op, int32_t rows);

/*
 * Chains (check_chains.c): an elementwise operation of the next step takes the result
 * of a kernel from a chain buffer, without a feature map in memory.
 *
 * op_chained_operand() returns the operand that op takes from a chain buffer, or NULL.
 * step_next_in_chain() returns the next step if it continues the chain of s, or NULL.
 */
enum { CHAIN_LENGTH = 4, CHAIN_READS = 3 /* operands in memory */ };
const struct g_operand *op_chained_operand(const struct g_op *op);
const struct g_step *step_next_in_chain(const struct graph *g, const struct g_step *s);
/*
 * Checks whether the last of n >= 2 operations can take the result of the operation
 * before it from a chain buffer.  The earlier operations must be a chain already;
 * blocks and op->chain must be set.  Returns NULL, or the reason: the sentence that
 * follows "pN: ".
 */
const char *chain_ops_fault(const struct g_op *const *ops, int n);

/* ---- separate.c: inputs and outputs outside the arena ---------------------- */

/* True for a border tensor with memory of its own, outside the arena. */
bool tensor_is_separate(const struct g_tensor *t);
bool graph_has_separate(const struct graph *g);
/*
 * True if an input or output of the model is behind the node's eighth base pointer.  Then
 * all inputs share the place PLACE_IO, and all outputs share the next place.
 */
bool node_packs_io(const struct g_node *n);
struct io_place {
	int place;  /* 0: the tensor is not an input or output of the node */
	int64_t at; /* offset in bytes; 0 unless the node packs its inputs and outputs */
};
/*
 * Stores in of[t->rec.index] the place that each border tensor of the node gets if it is
 * outside the arena.  Without packing, the base pointers are in the order of the node's
 * inputs, followed by its outputs; the place is PLACES where there are not enough.  With
 * packing, a tensor begins at the end of the tensor before it in the node's list, rounded
 * up to 16.  The layouts of the tensors must be known.
 */
void node_io_places(const struct g_node *n, struct io_place *of);

#endif
