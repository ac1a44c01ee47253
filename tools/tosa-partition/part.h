/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tosa-partition: a TOSA graph's operators as NPU primitives.  The functions stand
 * under the name of their file, in running order.
 *
 * Operators are lowered in order, each into operations that write where its result
 * belongs.  A RESCALE, CLAMP or TABLE that alone reads a result goes into the
 * operations that make it (tail.c); a RESCALE to 32 bits waits until somebody
 * reads it, because most readers take its input and apply the scale themselves
 * (scaled.c).  Lowering functions return NULL, or the reason why the NPU can't.
 */
#ifndef TOSA_PARTITION_PART_H
#define TOSA_PARTITION_PART_H

#include "base/diag.h"
#include "base/ends.h"
#include "graph/graph.h"
#include "lower/conv.h"
#include "lower/matmul.h"
#include "tosa/tosa.h"

/* --input-layout, --output-layout */
enum { ENDS_LAST, ENDS_FIRST }; /* channels: as the caller has them, as the graph has */
extern const char *const end_names[]; /* layout.c */

struct options {
	const char *input, *output;
	const char *accel; /* NULL: for all of them */
	bool report;
	struct end_layouts in, out; /* --input-layout, --output-layout */
	int target; /* of low_targets */
};

struct part {
	struct arena *a;
	struct tosa_graph *t;
	struct graph *g;
	struct lower *l;
	struct nd *value; /* where each tensor lives; t NULL: nowhere yet */
	struct nd *loose; /* what it is, of more dimensions than it has, in other memory */
	bool *bound;	  /* its place is in the result of what reads it */
	int *reader;	  /* the operator that alone reads it, else -1 */
	int *maker;	  /* the operator that wrote it in the file, folded or not */
	bool *done;	  /* operators that are part of another, or constant */
	const char **why; /* of each operator: the reason for a refusal */
	int refused;	  /* how many */
	struct err *e;
};

enum { MAX_UNROLLED = 1 << 14 }; /* operators */
/* loop.c: WHILE_LOOPs whose turns constants tell become those turns.  Before all else */
void unroll_loops(struct part *p);

/*
 * while.c: after lowering, tensors of other nodes that each node of a loop touches, and
 * those behind, are listed as what enters it
 */
void list_loop_values(struct part *p);

/* split.c: sums of 48 bits have one reader each.  Before anything is counted */
void split_sums(struct arena *a, struct tosa_graph *g);

/* fold.c: results of constants become constants */
void fold_constants(struct part *p);
/* of an operator whose operands are constants: shall it be folded?  the result's elements */
bool fold_is_constant(const struct part *p, const struct tosa_op *op);
struct bytes fold_op(struct part *p, const struct tosa_op *op);

/*
 * layout.c: TRANSPOSEs at the border that the caller does not need are left out.
 * Needs: readers.  Leaves: value of what they read or write, done.
 */
bool take_layouts(struct part *p, const struct options *o);

/* lower.c: every operator into operations */
void lower_all(struct part *p);

/* report.c */
void print_report(const struct part *p, struct text *t);

/* ---- for operators --------------------------------------------------------------- */

/* values.c */
void part_make_room(struct part *p); /* for values and operators of p->t */
int graph_type(int tosa_type); /* of the elements of an NPU tensor */
struct nd own_tensor(struct part *p, const struct tosa_tensor *t); /* its own memory */
void make_border(struct part *p); /* inputs and outputs exist as they are */
struct nd value_of(struct part *p, int tensor); /* to read */
struct nd result_place(struct part *p, int tensor); /* to write */
/* the result is what is seen: another name of it, copied where it has a place */
void name_result(struct part *p, int tensor, const struct nd *seen);
/* [N,H,W,C] as operations can read it, whose channels are neighbours */
bool is_map(const struct nd *v);
struct nd readable_map(struct part *p, const struct nd *v);
/* to write so: the same memory, or other that deliver_map copies from */
struct nd room_map(struct part *p, const struct nd *v);
void deliver_map(struct part *p, const struct nd *room, const struct nd *v);
const char *say(const struct part *p, const char *fmt, ...) PRINTF(2, 3);

/* loose.c: a tensor that was loose, in memory of its own */
struct nd settled(struct part *p, int tensor);
/* for the CONV2D that alone reads it: a map, and which of its channels each one is */
bool take_channels(struct part *p, int tensor, struct nd *map, int32_t **at);

/* tail.c: what follows an operation that has a scale, a clamp and a table */
struct tail {
	int out;  /* the tensor to write */
	int type; /* of its elements, as the NPU sees them */
	bool scaled;
	struct tosa_rescale r; /* where scaled */
	int64_t zero, lo, hi;
	bool has_table;
	uint8_t table[256];
};
enum { TAIL_SCALE = 1, TAIL_CHANNELS = 2, TAIL_WORDS = 4 };
/* what may be taken: a RESCALE of all channels alike, of each its own, of 48 bits to 32 */
struct tail tail_of(struct part *p, int tensor, unsigned flags);
struct npu_scale tail_scale(const struct tail *t, int64_t channel);
enum g_round tail_round(const struct tail *t);
/* double rounding says so of large shifts alone */
bool rounds_twice(const struct tosa_rescale *r, int64_t shift);
/* an operation's zero point, clamp and table */
void tail_finish(struct part *p, const struct tail *t, struct g_op *op);

/* scaled.c: operands of RESCALEs that wait */
struct source { /* (v - zero) * mult >> shift, rounded half up */
	int tensor;
	int32_t zero;
	int64_t mult;
	int shift; /* mult is odd; negative: a factor */
};
bool source_of(struct part *p, int tensor, struct source *s);
struct nd scaled_value(struct part *p, int tensor); /* of a RESCALE that waited */

bool is_factor(const struct source *s, int64_t *factor); /* without rounding */
/* binary.c: the RESCALE that alone reads a tensor, of all channels, to 8 or 16 bits */
bool narrows(const struct part *p, int tensor, struct tosa_rescale *r);

/* range.c: is the product of two operands known to be one of 32 bits? */
bool product_fits(const struct part *p, const struct tosa_op *op);

/* arith.c: single operations on values */
struct finish { /* what completes an operation */
	struct part *p;
	const struct tail *tail; /* NULL: zero and clamp */
	struct npu_scale scale;	 /* mult 0: 1 */
	enum g_round round;
	int32_t zero;
	bool clamped;
	struct g_range clamp;
	bool has_scalar;
	int32_t scalar;
	int32_t opa, opb; /* factors of ADD's and SUB's operands, 0: 1 */
	struct npu_scale scaled; /* of one of them, or LRELU's above 0; mult 0: none */
	bool scaled_b;		 /* it is the second */
	struct g_lut *lut;
};
nd_made finish_op; /* ctx: struct finish */
/* kinds of one operand */
void unary_to(struct part *p, enum g_op_kind kind, const struct nd *v, int32_t zero,
	      const struct nd *out, struct finish *f);
/* elements as they are, but scaled, clamped, of another type */
void pool_to(struct part *p, const struct nd *v, int32_t zero, const struct nd *out,
	     struct finish *f);
void both_to(struct part *p, enum g_op_kind kind, const struct nd *a,
	     const struct nd *b, const struct nd *out, struct finish *f);
/* bytes through a table, by what they are less -128 */
void table_to(struct part *p, const struct nd *v, const uint8_t table[256],
	      const struct nd *out);
void curve_to(struct part *p, const struct nd *v, const int16_t points[513],
	      const struct nd *out);
/* scales.c: 32 bits through a RESCALE's factors */
const char *scale_to(struct part *p, const struct nd *v, const struct tail *t,
		     const struct nd *out);
/* arith.c: part k of every element, of a smaller type */
struct nd part_of(const struct nd *v, int type, int k);
/* matmul.c: matrix i of a batch, its second axis (or first, transposed) along
 * neighbours; the place of a result's */
struct nd matrix_of(struct part *p, const struct nd *v, int64_t i, bool transpose);
struct nd matrix_place(const struct nd *v, int64_t i);

typedef const char *lower_fn(struct part *p, const struct tosa_op *op);
lower_fn lower_conv, lower_transpose_conv, lower_matmul; /* conv.c ... */
lower_fn lower_conv_product;				 /* convproduct.c */
lower_fn lower_avg_pool, lower_max_pool;		 /* pool.c */
lower_fn lower_sum_of, lower_mul;			 /* binary.c */
lower_fn lower_extreme;					 /* extreme.c */
lower_fn lower_compare, lower_select; /* choose.c */
lower_fn lower_divide;				   /* divide.c */
lower_fn lower_bits, lower_not, lower_bool, lower_shift; /* bits.c */
lower_fn lower_rescale, lower_clamp, lower_table, lower_negate, lower_abs,
    lower_clz, lower_cast;				 /* unary.c */
lower_fn lower_reduce, lower_reduce_sum, lower_argmax;	 /* reduce.c */
lower_fn lower_concat, lower_pad, lower_reverse, lower_tile, lower_gather,
    lower_scatter;					 /* move.c */
lower_fn lower_moved;					 /* loose.c */
lower_fn lower_resize;					 /* resize.c */
lower_fn lower_loop;					 /* while.c */

#endif
