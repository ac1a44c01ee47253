/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The NPU graph: what passes between the stages, in memory.  As text it is
 * described in nputools-graph(5); the keys are in schema/graph.def.
 *
 * Shapes are seen as H x W x C with batch 1, as the NPU sees them.  A record
 * remembers which of its keys are present: G_HAS tells, G_SET marks; a stage
 * obeys what it finds and adds what is missing.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/fixed.h"
#include "base/text.h"
#include "target/target.h"
#include "tflite/tflite.h"

/* ---- values ------------------------------------------------------------ */

struct yx {
	int32_t y, x;
};

struct g_pad {
	int32_t top, left, bottom, right;
};

struct g_range { /* lo:hi */
	int64_t lo, hi;
};

struct g_span { /* 0xAT:BYTES */
	int64_t at, bytes;
};

struct g_list { /* 1,2,3*10 (three, ten times) */
	int64_t *v;
	size_t n;
};

struct g_shape { /* i8[1,28,28,8] */
	int type; /* enum tfl_type */
	int rank;
	int32_t dim[TFL_MAX_RANK];
};

struct g_tfls { /* subgraph.index,... in the original model */
	int n;
	struct g_tfl {
		int subgraph, index;
	} *v;
};

struct g_tensors {
	struct g_tensor **v;
	size_t n;
};

/* constant data: buffer.N of the original model, or blob.NAME */
struct g_source {
	const char *blob; /* NULL: a buffer */
	uint32_t buffer;
};

enum g_view {
	VIEW_WHOLE,   /* t3: the tensor as it is */
	VIEW_RESHAPE, /* t3[h,w,c]: its elements in linear order */
	VIEW_BOX,     /* t3[h,w,c]@y,x,c: a part of it */
	VIEW_STRIDED, /* t3[h,w,c]+offset:y,x,c: any strides, in elements */
};

struct g_operand {
	struct g_tensor *t;
	enum g_view view;
	int type;	   /* enum tfl_type; the tensor's unless t3.i16... */
	struct hwc shape;  /* what the operation sees */
	struct hwc start;  /* VIEW_BOX */
	int64_t offset;	   /* VIEW_STRIDED, elements */
	int64_t stride[3]; /* y, x, c, elements */
};

/* ---- enumerations; names in graph/names.c -------------------------------- */

enum g_io { IO_NONE, IO_IN, IO_OUT, IO_INOUT };
enum g_layout { LAYOUT_NHWC, LAYOUT_NHCWB16 };
/*
 * A place is a base pointer of the command stream: flash 0, arena 1, cache 2.  From
 * PLACE_IO on they are memory of the application's, each for one input or output.
 */
enum g_place { PLACE_FLASH, PLACE_ARENA, PLACE_CACHE, PLACE_IO, PLACES = 8 };
enum g_node_kind { NODE_NPU, NODE_CPU };
/* the part of a loop of U85 that a node is (check_loops.c); all are of one stream, that
 * of the node in front of them */
enum g_loop { LOOP_NONE, LOOP_CONDITION, LOOP_TEST, LOOP_BODY, LOOP_END };
enum g_op_kind {
	OP_CONV, OP_FC, OP_DEPTHWISE, OP_MAXPOOL, OP_AVGPOOL, OP_REDUCE_SUM,
	OP_COPY, /* bytes as they are, by the DMA engine: no kernel */
	OP_GATHER, OP_SCATTER, /* the same of the columns that IFM2 names: U85 */
	OP_MATMUL, /* rows of the IFM by those of IFM2: U85 */
	OP_REORDER, /* as an average of 1x1, stored in another order: U85 */
	OP_ARGMAX, /* where a row has its first greatest element: U85 */
	OP_RESIZE, /* samples between elements of the IFM: U85 */
	OP_MUL, OP_ADD, OP_SUB, OP_MIN, OP_MAX, OP_LRELU, OP_ABS, OP_CLZ,
	OP_SHR, OP_SHL, OP_DIV,
	/* of U85: all bits where a comparison of two holds, and operations on bits */
	OP_EQUAL, OP_UNEQUAL, OP_GREATER, OP_NOT_LESS, OP_AND, OP_OR, OP_AND_NOT, OP_XOR,
	OP_LSR, /* shifted down as an unsigned number */
	OP_KINDS
};
enum g_driver { DRIVER_LINUX }; /* whose rules the streams have to keep */
enum g_sample { SAMPLE_NEAREST, SAMPLE_BILINEAR };
enum g_scaled { SCALED_BOTH, SCALED_A, SCALED_B }; /* IFM scale mode */
enum g_round { ROUND_TFL, ROUND_TRUNCATE, ROUND_NATURAL };
enum g_act { G_ACT_CLAMP, G_ACT_TANH, G_ACT_SIGMOID, G_ACT_LUT };
enum g_traversal { DEPTH_FIRST, PART_KERNEL };
/* which operand an operation of U85 takes out of a chain buffer */
enum g_chain { CHAIN_NONE, CHAIN_IFM, CHAIN_IFM2 };

extern const char *const area_names[], *const io_names[], *const layout_names[],
    *const place_names[], *const node_names[], *const loop_names[], *const op_names[],
    *const upscale_names[], *const order_names[], *const sample_names[], *const scaled_names[], *const round_names[],
    *const act_names[], *const traversal_names[], *const chain_names[],
    *const driver_names[];

/* ---- records ------------------------------------------------------------- */

struct g_rec {
	int id;		    /* the number in its identifier */
	int index;	    /* its place in the graph's list of its kind */
	const char *word;   /* the identifier where it has no number */
	unsigned line;	    /* in the file it was read from, 0: made here */
	uint64_t has;	    /* bit of each key that is present */
	const char *before; /* comment lines above, or NULL */
	const char *after;  /* comment behind, or NULL */
	const char *extra;  /* x- keys, as they were, or NULL */
};

/* enum { G_TENSOR_name, ... }: the number of a key, its bit in has */
#define RECORD(n, keyword, prefix, type, array) enum {
#define KEY(n, field, text, kind, names) G_##n##_##field,
#define END(n) G_##n##_KEYS };
#include "graph.def"

#define G_HAS(r, key) (((r)->rec.has >> (key)) & 1)
#define G_SET(r, key) ((r)->rec.has |= (uint64_t)1 << (key))
#define G_CLEAR(r, key) ((r)->rec.has &= ~((uint64_t)1 << (key)))
/* G_PUT(op, OP, block, value): assigns a field and marks its key */
#define G_PUT(r, record, field, ...)                                         \
	((r)->field = __VA_ARGS__, G_SET(r, G_##record##_##field))

struct g_model {
	struct g_rec rec;
	const char *name, *description;
	struct g_tfls inputs, outputs; /* absent: those of the original */
	struct g_tensors in, out;      /* where there is no original */
	int32_t desired_batch, actual_batch; /* inputs in one run; absent: 1 */
	int driver; /* enum g_driver that is to take the streams; absent: any */
};

struct g_target { /* rec.word is the accelerator's name */
	struct g_rec rec;
	double clock;
	const char *system, *memory, *source;
	int axi0, axi1, const_area, arena_area, cache_area; /* enum mem_area */
	int64_t cache_bytes;
	double cycles; /* predicted, by the timeline estimate */
	int32_t measured; /* of a fitted system: struct calibration */
	double operation, low, high;
	const char *fitted_for;
	const char *part; /* the chip that the profile was chosen by */
};

struct g_memory { /* rec.word is the area's name */
	struct g_rec rec;
	double scale;
	int32_t burst, read, write, ports;
	int32_t max_reads, max_writes; /* outstanding at a port; 0: not known */
};

struct g_area { /* rec.word is the place's name */
	struct g_rec rec;
	int32_t region;
	int64_t used, bound;
};

struct g_tensor {
	struct g_rec rec;
	struct g_shape shape;
	struct hwc hwc; /* as the NPU sees it; set by graph_hwc when absent */
	const char *name;
	float scale;
	int64_t zero;
	struct g_tfls tfl; /* the tensors of the original that it stands for */
	int io;		   /* enum g_io: input or output of the model */
	int32_t variable;
	struct g_source source; /* a constant */
	int layout, area;	/* enum g_layout, enum g_place */
	int64_t row_stride, pixel_stride; /* bytes, of an end; 0: dense */
	int32_t planes; /* 1: an end as N,C,H,W, where the original has N,H,W,C */
	int64_t at;
	struct g_range live; /* first and last step, both included */
	int32_t rows;	     /* rolling buffer: rows that are stored */
	struct g_tensors over; /* one: it is written over that one's bytes */
};

struct g_weights {
	struct g_rec rec;
	struct g_shape shape; /* O,H,W,I */
	const char *name;
	struct g_list zero; /* one, or one for each output channel */
	struct g_source source;
	int64_t offset;	       /* of element 0,0,0,0, in elements */
	struct g_list strides; /* of O,H,W,I in elements; absent: dense */
	struct g_list slices;  /* channel offsets 0 < ... < O; absent: one */
	int32_t level;	       /* to encode at */
	struct g_list bytes;   /* of each slice, encoded at that level */
	struct g_span coding;  /* in blob GRAPH_CODING: how that level codes them */
	int64_t at;	       /* of slice 0 in flash */
};

struct g_scales {
	struct g_rec rec;
	struct g_list bias, mult, shift;
};

struct g_lut {
	struct g_rec rec;
	int32_t bits;	      /* 8: 256 bytes; 16: 512 words; 32: 256 words */
	struct g_list values; /* unsigned */
	int64_t at;
};

struct g_buffer { /* room for fetched weights */
	struct g_rec rec;
	int64_t bytes, at;
	int area;
	struct g_range live;
};

struct g_node {
	struct g_rec rec;
	int kind;	   /* enum g_node_kind */
	int loop;	   /* enum g_loop */
	struct g_tfls tfl; /* operators of the original */
	struct g_tensors in, out;
	const char *what; /* CPU: the operator's name */
	const char *why;  /* CPU: the reason */
};

struct g_op {
	struct g_rec rec;
	int kind; /* enum g_op_kind */
	struct g_node *node;
	const char *name;
	struct g_tfls tfl; /* the operators it was made from */
	struct g_operand ifm, ifm2, ofm;
	int32_t scalar; /* instead of ifm2 */
	int32_t ifm_zero, ifm2_zero, ofm_zero;
	struct yx kernel, stride, dilation; /* kernel is not dilated */
	struct g_pad pad;
	int upscale; /* enum upscale */
	int order;   /* enum out_order, of a reorder */
	int sample;  /* enum g_sample, of a resize */
	struct yx up, down;   /* the IFM's elements and the OFM's in units of a grid */
	struct g_range first; /* row and column of element 0,0 of the OFM there */
	struct g_pad edge; /* rows and columns repeated at the IFM's edges */
	struct g_weights *weights;
	struct g_scales *scales;
	int32_t reversed; /* the second operand comes first */
	struct npu_scale opa;
	int32_t opb;
	int scaled; /* enum g_scaled */
	int ifm_round; /* enum g_round: of the operand that is scaled */
	struct npu_scale scale;
	int round; /* enum g_round */
	int act;   /* enum g_act */
	struct g_lut *lut;
	struct g_range clamp;
	int32_t acc40, sparse, fast;
	int chain; /* enum g_chain */
	int traversal;
	struct hwc block;
	int32_t ib, ab, ib2, blockdep;
};

/* what is done, in order: an op (or a part of it), or a DMA transfer */
struct g_step {
	struct g_rec rec;
	struct g_op *op;	   /* run: rows lo to hi of the OFM */
	struct g_weights *weights; /* fetch: a slice into a buffer */
	struct g_lut *lut;	   /* upload into a slot of SHRAM */
	struct g_node *node;
	struct g_range rows;
	int32_t slice;	      /* of the weights */
	struct g_range bytes; /* fetch: a part of the slice; absent: all */
	struct g_buffer *buffer;
	struct g_buffer *scale_buffer; /* run: of scales; weights are read in place */
	int32_t slot;
	int32_t blockdep;
};

struct g_code {
	struct g_rec rec;
	struct g_weights *weights;
	int32_t slice, core;
	struct g_range depth;
	struct g_span scale_bytes, weight_bytes; /* in flash */
};

/* how weight streams are coded: of each record's slices and their streams in order
 * 32 bits of length and a coding (weights/weights.h) */
#define GRAPH_CODING "coding"

/* embedded as base64, or named: from="path" */
struct g_blob {
	struct g_rec rec;
	const char *name;
	int64_t bytes;
	uint64_t xxh3;
	const char *path; /* NULL: embedded */
	const char *text; /* base64 as read, or NULL */
	size_t text_len;
	uint8_t *room; /* to decode the text in; NULL: memory of its own */
	const uint8_t *data; /* decoded, or NULL until graph_blob */
};

enum g_stage { STAGE_NONE, STAGE_PART, STAGE_SCHED, STAGE_WENC };

struct graph {
	struct arena *a;
	const char *file; /* for diagnostics */
	int stage;	  /* enum g_stage: who wrote it */
	struct tfl_model *model; /* once somebody asked for it */
	const char *last; /* comment lines before eof, or NULL */
#define RECORD(n, keyword, prefix, type, array)                              \
	struct type **array;                                                 \
	size_t n_##array, cap_##array;
#include "graph.def"
	struct g_blob **blobs;
	size_t n_blobs, cap_blobs;
};

/* ---- reading, printing, checking ------------------------------------------ */

struct graph *graph_new(struct arena *a, const char *file);

/*
 * Parses text; errors are FILE:LINE.  `need` is the stage that must have
 * written it (or a later one): if not, the error says which is missing.
 * Ends with graph_check and graph_check_sources.
 */
bool graph_read(struct arena *a, struct bytes text, const char *file,
		enum g_stage need, struct graph **out, struct err *e);

/*
 * The text that g was read from, p, isn't needed again: blobs are decoded where they
 * stand in it, which spares memory as large as they are.
 */
void graph_spend_text(struct graph *g, uint8_t *p);

/* the canonical text; blobs that were not touched go out as they came in */
void graph_print(const struct graph *g, struct text *t);
/*
 * What a stream is compared with, and the reasons of the CPU: records without other strings
 * and comments,
 * zeros for the values of scales and tables, size and hash of the blob flash.
 */
void graph_print_bare(const struct graph *g, struct text *t);

/* writes the canonical text as file_write() does, large blobs without a copy */
bool graph_write(const struct graph *g, const char *path, struct err *e);
/* the same as one of several files that appear together (base/file.h) */
struct file_set;
bool graph_add_to(struct file_set *s, const struct graph *g, const char *path,
		  struct err *e);

/*
 * What every stage may rely on: references in range, views inside their
 * tensors, types the NPU has, addresses aligned and not overlapping while
 * both are live, blocks that fit.
 */
bool graph_check(const struct graph *g, struct err *e);

/*
 * Of a finished graph, in which no operation stands for another any more: what is
 * read has been written before, in the order of nodes and operations.
 */
bool graph_check_sources(const struct graph *g, struct err *e);

/* ---- building --------------------------------------------------------------- */

/* graph_add_tensor(g), ...: a new record with the next free number */
#define RECORD(n, keyword, prefix, type, array)                              \
	struct type *graph_add_##type(struct graph *g);
#include "graph.def"
struct g_blob *graph_add_blob(struct graph *g, const char *name,
			      struct bytes data);

/* the bytes of a blob, decoded and held against its hash */
bool graph_blob(struct graph *g, struct g_blob *b, struct bytes *out,
		struct err *e);
struct g_blob *graph_find_blob(const struct graph *g, const char *name);
void graph_drop_blob(struct graph *g, const struct g_blob *b);

/*
 * The original model, out of the blob "model"; one without tensors and operators
 * where the model record says what goes in and out itself (in, out)
 */
bool graph_model(struct graph *g, struct tfl_model **out, struct err *e);
/* constant data: a slice of the model or of a blob; errors are at the record that
 * has it as its from= */
bool graph_source(struct graph *g, const struct g_rec *of, const struct g_source *s,
		  struct bytes *out, struct err *e);

/* an error at a record: FILE:LINE */
#define graph_err(g, r, e, ...)                                              \
	err_at(e, (g)->file, (r)->rec.line, __VA_ARGS__)

/* ---- facts ------------------------------------------------------------------ */

struct hwc graph_hwc(const struct g_shape *s); /* default view of a shape */
const char *graph_type_text(int type); /* i8, u8, i16, i32, ... */
int graph_type_parse(const char *s, size_t n); /* -1: unknown */
int graph_type_bytes(int type);
bool graph_type_signed(int type);
struct g_operand operand_whole(struct g_tensor *t);
struct g_operand operand_reshape(struct g_tensor *t, struct hwc shape);
struct g_operand operand_box(struct g_tensor *t, struct hwc shape,
			     struct hwc start);

/* do an operand's elements lie one behind the other, row by row? */
bool operand_is_run(const struct g_operand *o);

/* are its rows or pixels apart? */
bool tensor_has_strides(const struct g_tensor *t);
/* bytes of a tensor in its layout (rows of a rolling buffer counted): with strides,
 * from the first element to the last */
int64_t tensor_bytes(const struct g_tensor *t);
bool tensor_is_const(const struct g_tensor *t);
bool tensor_is_input(const struct g_tensor *t);	 /* of the model ... */
bool tensor_is_output(const struct g_tensor *t); /* ... and it may be both */
/* an input or output with memory of its own, outside of the arena */
/* are the streams to keep the rules of Linux's driver (nputools-linux(7))? */
bool graph_is_for_linux(const struct graph *g);
bool tensor_is_separate(const struct g_tensor *t);
/*
 * The place that an input or output of a node has then: base pointers go in the order
 * of the node's inputs, behind them its outputs.  PLACES: there are not so many, or
 * the node does not know the tensor.
 */
int node_io_place(const struct g_node *n, const struct g_tensor *t);
struct g_stride {
	int64_t y, x, c; /* bytes */
};
struct g_stride tensor_strides(const struct g_tensor *t);

/* may operations of the node run again? */
static inline bool
node_repeats(const struct g_node *n)
{
	return n->loop != LOOP_NONE && n->loop != LOOP_END;
}
/* a node goes on with the stream of the node before it */
static inline bool
node_continues(const struct g_node *n)
{
	return n->loop != LOOP_NONE;
}
bool graph_has_loops(const struct graph *g);

bool op_is_elementwise(int kind);
bool op_is_pool(int kind); /* MAX, AVERAGE, REDUCE_SUM */
bool op_has_weights(int kind);
bool op_has_table(const struct g_op *op); /* in the memory for tables */
bool op_is_binary(int kind);
/* of U85: the result says whether something holds */
bool op_compares(int kind);
/* done by the DMA engine, without a kernel or blocks */
bool op_is_transfer(int kind);
/* row y of the OFM is made of row y of the operands */
bool op_is_row_by_row(int kind);
enum block_class op_block_class(int kind);
int op_ifm_bits(const struct g_op *op);
/* rows and columns of the IFM that a resize reads */
struct yx op_sampled(const struct g_op *op);
/* what is computed, before a reorder stores it otherwise */
struct hwc op_extent(const struct g_op *op);
/* do two operations touch t, one of them writing, such that their order matters? */
bool ops_conflict(const struct g_op *a, const struct g_op *b,
		  const struct g_tensor *t);
struct yx op_dilated(const struct g_op *op);
/* the question to ask of the target for a stripe of `rows` OFM rows */
struct block_query op_block_query(const struct g_op *op, int32_t rows);

/*
 * Chains (check_chains.c): what one kernel makes and an elementwise operation, run by
 * the step behind it, takes without a map between them.  The operand that op takes so,
 * or NULL; and that step, or NULL.
 */
enum { CHAIN_LENGTH = 4, CHAIN_READS = 3 /* operands in memory */ };
const struct g_operand *op_chained(const struct g_op *op);
const struct g_step *step_chained(const struct graph *g, const struct g_step *s);
/*
 * May the last of n operations, two at least, take what the one before it makes?  Those
 * before it are a chain; blocks and op->chain have been set.  NULL, or why not: the
 * sentence that follows "pN: ".
 */
const char *chain_ops_fault(const struct g_op *const *ops, int n);

/* the accelerator and memory system the graph records; STAGE_SCHED and later */
bool graph_target(const struct graph *g, const struct accel **a,
		  struct memory_system *m, struct err *e);
void graph_set_target(struct graph *g, const struct accel *a,
		      const struct memory_system *m);

#endif
