/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tosa-partition: lowers the operators of a TOSA graph to NPU primitives.
 * Functions are listed under the name of their file, in running order.
 *
 * Operators are lowered in order, each to operations that write directly to the
 * memory of its result.  A RESCALE, CLAMP or TABLE that is the only reader of a
 * result becomes part of the operations that make this result (tail.c).  A RESCALE
 * to 32 bits waits until somebody reads it, because most readers read its input
 * instead and apply the scale themselves (scaled.c).  Lowering functions return
 * NULL, or the reason why the NPU can't run the operator.
 */
#ifndef TOSA_PARTITION_PART_H
#define TOSA_PARTITION_PART_H

#include "base/diag.h"
#include "base/io_layout.h"
#include "lower/conv.h"
#include "lower/matmul.h"
#include "lower/pool.h"
#include "rewrite/exact.h"
#include "tosa/tosa.h"

/*
 * --input-layout, --output-layout: channels last, as the caller has them, or first,
 * as the graph has them
 */
enum { CHANNELS_LAST, CHANNELS_FIRST };
/* layout.c; in the order of the enumeration, NULL at the end */
extern const char *const io_layout_names[];

struct options {
	const char *input, *output;
	const char *accel; /* NULL: lower for all accelerators, or for that of part */
	const char *part; /* NULL: none */
	bool report;
	struct io_layouts in, out; /* --input-layout, --output-layout */
	int target; /* --target: index in low_targets */
	struct rewrite_options rewrites;
};

struct part {
	struct arena *a;
	struct tosa_graph *t;
	struct graph *g;
	struct lower *l;
	struct nd *value; /* view that holds each tensor; t NULL: not made yet */
	/* loose.c: view of more dimensions of a tensor without memory; t NULL: none */
	struct nd *loose;
	bool *bound;	  /* the tensor's memory is a part of its only reader's result */
	int *reader;	  /* the only reader of each tensor; -1: none or several */
	/* the operator that makes each tensor in the file, folded or not; -1: none */
	int *maker;
	bool *done;	  /* of each operator: it is folded, or part of another one */
	const char **why; /* of each operator: why the NPU can't run it; NULL: it can */
	int refused;	  /* number of operators with a reason */
	struct err *e;
};

enum { MAX_UNROLLED = 1 << 14 }; /* operators */
/*
 * main.c: makes the graph p->g of the bytes of a file, which messages call o->input.  Needs:
 * p->a, p->e and p->l, the target of the lowering.  Fails if an operator is refused, except
 * for a report.
 */
bool partition_tosa(struct part *p, const struct options *o, struct bytes file);

/*
 * loop.c: unrolls WHILE_LOOPs whose number of iterations constants determine.  Runs
 * before everything else.
 */
void unroll_loops(struct part *p);

/*
 * while.c: after lowering, adds to the inputs of each node of a loop, and of the
 * nodes behind it, the tensors of other nodes that it uses.
 */
void list_loop_values(struct part *p);

/* split.c: gives each sum of 48 bits a single reader.  Runs before anything is counted. */
void split_sums(struct arena *a, struct tosa_graph *g);

/* fold.c: evaluates operators on constants */
void fold_constants(struct part *p);
/*
 * Are all operands constants, and is the result small enough to fold?  fold_op()
 * then computes the elements of the result.
 */
bool fold_is_constant(const struct part *p, const struct tosa_op *op);
struct bytes fold_op(struct part *p, const struct tosa_op *op);

/*
 * layout.c: leaves out TRANSPOSEs of inputs and outputs that the caller does not
 * need.  Needs: readers.  Result: value of the tensors that these read and write;
 * done.
 */
bool take_layouts(struct part *p, const struct options *o);

/* lower.c: lowers every operator */
void lower_all(struct part *p);

/* report.c */
void print_report(const struct part *p, struct text *t);

/* ---- for operators --------------------------------------------------------------- */

/* values.c */
/* allocates the arrays for tensors and operators of p->t */
void part_alloc_tables(struct part *p);
int graph_type(int tosa_type); /* element type of the NPU's tensor */
/* a new tensor of the graph */
struct nd own_tensor(struct part *p, const struct tosa_tensor *t);
void make_border(struct part *p); /* makes tensors for inputs and outputs */
/* a constant with its elements in the NPU's type */
struct nd const_tensor(struct part *p, const struct tosa_tensor *t);
/* v with 1 where it is not 0: true inside the graph, where the application's may be any value */
struct nd truth_of(struct part *p, const struct nd *v);
struct nd value_of(struct part *p, int tensor); /* the view to read a tensor */
struct nd result_view(struct part *p, int tensor); /* the view to write a result */
/* makes a result another name of `seen`, or copies it if the result already has memory */
void name_result(struct part *p, int tensor, const struct nd *seen);
/* true for [N,H,W,C] that operations can address, with contiguous channels */
bool is_feature_map(const struct nd *v);
/* v itself, or a copy of which is_feature_map() is true */
struct nd readable_fm(struct part *p, const struct nd *v);
/* a view to write a feature map: v itself, or new memory that nd_deliver() copies to v */
struct nd writable_fm(struct part *p, const struct nd *v);

/* conv.c: the window of a CONV2D or DEPTHWISE_CONV2D, without weights and channels */
struct low_conv conv_window(const struct part *p, const struct tosa_op *op);

/* pool.c */
struct low_pool pool_window(const struct part *p, const struct tosa_op *op);

/* pad.c */
struct low_borders borders_of(const struct part *p, const struct tosa_op *op);
/*
 * The PAD that makes a tensor, if the readers of the tensor pad instead: they then read the
 * PAD's input.  NULL: there is none.
 */
const struct tosa_op *folded_pad(const struct part *p, int tensor);
/* should a PAD's input, of this shape, be made in the result's memory, where PAD writes around it? */
bool pads_around(const struct part *p, const struct tosa_op *op, const struct nd *in,
		 struct low_borders *b);

/* loose.c: gives a loose tensor memory of its own */
struct nd materialized(struct part *p, int tensor);
/*
 * For the CONV2D that is the only reader of a loose tensor: the feature map to
 * read, and in (*at)[i] the channel of it that is channel i.  False: not possible.
 */
bool take_channels(struct part *p, int tensor, struct nd *fm, int32_t **at);

/* tail.c: the RESCALE, CLAMP and TABLE behind an operation, done by that operation */
struct tail {
	int out;  /* the tensor to write */
	int type; /* NPU's type of its elements */
	bool scaled;
	struct tosa_rescale r; /* if scaled */
	int64_t zero, lo, hi;
	bool has_table;
	uint8_t table[256];
};
enum { TAIL_SCALE = 1, TAIL_CHANNELS = 2, TAIL_WORDS = 4 };
/*
 * Takes the operators behind a tensor as its tail, and marks them as done.  The
 * flags allow a RESCALE with one scale, with a scale per channel, from 48 bits to
 * 32.
 */
struct tail tail_of(struct part *p, int tensor, unsigned flags);
/* scale of a channel; 1 if the tail has no RESCALE */
struct npu_scale tail_scale(const struct tail *t, int64_t channel);
enum g_round tail_round(const struct tail *t);
/* true for double rounding with a shift above 31; smaller shifts round once */
bool rounds_twice(const struct tosa_rescale *r, int64_t shift);
/* the tail's zero point, clamp and table, without a scale */
struct low_end tail_end(struct part *p, const struct tail *t);
/* the same with the rounding and the scale of channel 0 */
struct low_end tail_scaled_end(struct part *p, const struct tail *t);

/* scaled.c: operands that are RESCALEs waiting for a reader */
struct source { /* (v - zero) * mult >> shift, rounded half up */
	int tensor;
	int32_t zero;
	int64_t mult;
	int shift; /* mult is odd; a negative shift means a factor */
};
/* false: the tensor is no RESCALE that ADD, SUB, MUL and sums can apply themselves */
bool source_of(struct part *p, int tensor, struct source *s);
/* makes the result of a RESCALE that waited */
struct nd scaled_value(struct part *p, int tensor);

/* true if there is no rounding; then *factor is mult / 2^shift */
bool is_factor(const struct source *s, int64_t *factor);
/* binary.c: is the only reader of a tensor a RESCALE to 8 or 16 bits with one scale? */
bool narrowing_rescale(const struct part *p, int tensor, struct tosa_rescale *r);

/* range.c: can the product of two operands be proven to fit 32 bits? */
bool product_fits(const struct part *p, const struct tosa_op *op);

/* arith.c: single operations on values */
/* operations of two operands without zero points */
void binary_to(struct part *p, enum g_op_kind kind, const struct nd *a,
	     const struct nd *b, const struct nd *out, const struct low_end *end);
/* the same for the operands and the result of an operator */
void binary_op(struct part *p, enum g_op_kind kind, const struct tosa_op *op,
	       const struct low_end *end);
/* looks up elements of 8 or 16 bits, the sums with 0 */
void look_up(struct part *p, const struct nd *v, struct g_lut *lut, const struct nd *out);
/* scales.c: scales 32 bits by a RESCALE's factors */
const char *scale_to(struct part *p, const struct nd *v, const struct tail *t,
		     const struct nd *out);
/* arith.c: piece k of every element, in a smaller type; 0 is the lowest */
struct nd part_of(const struct nd *v, int type, int k);

typedef const char *lower_fn(struct part *p, const struct tosa_op *op);
/* one for each name in the column `lowering` of schema/tosa_ops.def */
#define TOSA_OP(code, name, attributes, min_in, max_in, constants, lowering) \
	lower_fn lower_##lowering;
#include "tosa_ops.def"
lower_fn lower_conv_product; /* convproduct.c: CONV2D and others with computed weights */

#endif
