/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a graph: values, enumerations and one struct for each kind of record.  The
 * keys are in schema/graph.def, their meaning in nputools-graph(5).
 *
 * Operations see shapes as H x W x C with batch 1, like the NPU.  A record remembers
 * which of its keys are present: G_HAS tests a key, G_SET marks it.  A stage obeys the
 * keys that are present and adds those that are missing.
 */
#ifndef GRAPH_RECORDS_H
#define GRAPH_RECORDS_H

#include "base/arena.h"
#include "base/scale.h"
#include "target/shape.h"
#include "tflite/types.h"

/* ---- values ------------------------------------------------------------ */

struct yx {
	int32_t y, x;
};

struct g_pad {
	int32_t top, left, bottom, right;
};

struct g_range { /* lo:hi; each key says whether hi is included */
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

struct g_tfls { /* operators or tensors of the original model: SUBGRAPH.INDEX,... */
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
	const char *blob; /* NULL: the data are in `buffer` */
	uint32_t buffer;
};

enum g_view {
	VIEW_WHOLE,   /* t3: the whole tensor */
	VIEW_RESHAPE, /* t3[h,w,c]: the elements in linear order, with another shape */
	VIEW_BOX,     /* t3[h,w,c]@y,x,c: a box inside the tensor */
	VIEW_STRIDED, /* t3[h,w,c]+offset:y,x,c: with any strides, in elements */
};

struct g_operand {
	struct g_tensor *t;
	enum g_view view;
	int type;	   /* enum tfl_type; equal to the tensor's unless written as
			    * t3.i16... */
	struct hwc shape;  /* the shape that the operation sees */
	struct hwc start;  /* VIEW_BOX: first element of the box */
	int64_t offset;	   /* VIEW_STRIDED: first element, counted in elements */
	int64_t stride[3]; /* VIEW_STRIDED: of y, x, c, in elements */
};

/* ---- enumerations; names in graph/fields.c ------------------------------- */

enum g_io { IO_NONE, IO_IN, IO_OUT, IO_INOUT };
enum g_layout { LAYOUT_NHWC, LAYOUT_NHCWB16 };
/*
 * A place is a base pointer (region) of the command stream: flash 0, arena 1, cache 2.
 * From PLACE_IO on, each place is memory of the application for one input or output, or
 * for all inputs or all outputs (node_packs_io).
 */
enum g_place { PLACE_FLASH, PLACE_ARENA, PLACE_CACHE, PLACE_IO, PLACES = 8 };
enum g_node_kind { NODE_NPU, NODE_CPU };
/*
 * The part of a U85 loop that a node is (check_loops.c).  All parts are in one command
 * stream, that of the node in front of the loop.
 */
enum g_loop { LOOP_NONE, LOOP_CONDITION, LOOP_TEST, LOOP_BODY, LOOP_END };
enum g_op_kind {
#define OPERATION(kind, name, blocks, stages) OP_##kind,
#include "operations.def"
#undef OPERATION
	OP_KINDS
};
enum g_driver { DRIVER_LINUX }; /* whose rules the streams have to keep */
enum g_sample { SAMPLE_NEAREST, SAMPLE_BILINEAR };
enum g_scaled { SCALED_BOTH, SCALED_A, SCALED_B }; /* IFM scale mode */
enum g_round { ROUND_TFL, ROUND_TRUNCATE, ROUND_NATURAL };
enum g_act { G_ACT_CLAMP, G_ACT_TANH, G_ACT_SIGMOID, G_ACT_LUT };
enum g_traversal { DEPTH_FIRST, PART_KERNEL };
/* U85: the operand that an operation takes from a chain buffer */
enum g_chain { CHAIN_NONE, CHAIN_IFM, CHAIN_IFM2 };

extern const char *const area_names[], *const io_names[], *const layout_names[],
    *const place_names[], *const node_names[], *const loop_names[], *const op_names[],
    *const upscale_names[], *const order_names[], *const sample_names[], *const scaled_names[], *const round_names[],
    *const act_names[], *const traversal_names[], *const chain_names[],
    *const driver_names[];

/* ---- records ------------------------------------------------------------- */

struct g_rec {
	int id;		    /* number of the record's identifier */
	int index;	    /* position in the graph's array of its kind */
	const char *word;   /* identifier of a record without a number */
	unsigned line;	    /* line in the file; 0: made by this program */
	uint64_t has;	    /* bit G_x_y is set if the key is present */
	const char *before; /* comment lines above the record, or NULL */
	const char *after;  /* comment at the end of the record's line, or NULL */
	const char *extra;  /* text of the x- keys, or NULL */
};

/* enum { G_TENSOR_name, ... }: number of a key, and its bit in g_rec.has */
#define RECORD(n, keyword, prefix, type, array) enum {
#define KEY(n, field, text, kind, names) G_##n##_##field,
#define END(n) G_##n##_KEYS };
#include "graph.def"

#define G_HAS(r, key) (((r)->rec.has >> (key)) & 1)
#define G_SET(r, key) ((r)->rec.has |= (uint64_t)1 << (key))
#define G_CLEAR(r, key) ((r)->rec.has &= ~((uint64_t)1 << (key)))
/* G_PUT(op, OP, block, value): assigns a field and marks its key as present */
#define G_PUT(r, record, field, ...)                                         \
	((r)->field = __VA_ARGS__, G_SET(r, G_##record##_##field))

struct g_model {
	struct g_rec rec;
	const char *name, *description;
	struct g_tfls inputs, outputs; /* absent: those of the original model */
	struct g_tensors in, out;      /* only if there is no original model */
	int32_t desired_batch, actual_batch; /* batch: inputs in one run; absent: 1 */
	int driver; /* enum g_driver that must accept the streams; absent: any */
};

/* What a rule of schema/rewrites.def changed. */
struct g_rewrite {
	struct g_rec rec;
	const char *rule;
	const char *name;  /* of the operation that was replaced */
	struct g_tfls tfl; /* operators of the original model of that operation */
	int64_t bytes;	   /* constants that are saved, before encoding; negative: added */
	int64_t cycles;	   /* cycles that are saved, by the estimate of the rule */
	const char *text;  /* a sentence for the user */
	struct g_list channels; /* OFM channels of that operation that were removed */
};

/* An operator of a source that is no TFLite model; its index is the operator's number. */
struct g_layer {
	struct g_rec rec;
	const char *kind; /* of the operator, such as CONV2D */
	const char *name; /* of its first output */
};

struct g_target { /* rec.word is the accelerator's name */
	struct g_rec rec;
	double clock;
	const char *system, *memory, *source;
	int axi0, axi1, const_area, arena_area, cache_area; /* enum mem_area */
	int64_t cache_bytes;
	double cycles;	  /* of one run, by the calibrated estimate */
	double objective; /* cycles by the estimate of npu-sched --model */
	int32_t measured; /* networks of the fit, see struct calibration; 0: not fitted */
	double operation, low, high;
	const char *fitted_for;
	const char *part; /* name of the chip that selected the profile */
	/* the chip itself, if a file describes it: struct target_part */
	const char *part_system, *part_memory, *arena_memory, *constant_memory, *cpu;
	int64_t arena_bytes, constant_bytes, npu_sram_bytes;
	double cpu_clock;
	/* npu-sched --yield-every: the limit of an operator in cycles; cycles and bytes of
	 * commands that the division adds; most bytes that are live between two pieces */
	int64_t yield_every, yield_bytes, yield_kept;
	double yield_cycles;
};

struct g_memory { /* rec.word is the area's name */
	struct g_rec rec;
	double scale;
	int32_t burst, read, write, ports;
	int32_t max_reads, max_writes; /* outstanding transfers of a port; 0: unknown */
};

struct g_area { /* rec.word is the place's name */
	struct g_rec rec;
	int32_t region;
	int64_t used, bound;
};

struct g_tensor {
	struct g_rec rec;
	struct g_shape shape;
	struct hwc hwc; /* shape for the NPU; if absent, graph_hwc() of shape */
	const char *name;
	float scale;
	int64_t zero;
	struct g_tfls tfl; /* tensors of the original model that it stands for */
	int io;		   /* enum g_io: input or output of the model, or none */
	int32_t variable;
	struct g_source source; /* data of a constant */
	int layout, area;	/* enum g_layout, enum g_place */
	int64_t row_stride, pixel_stride; /* bytes, of a border tensor; 0: dense */
	int32_t planes; /* 1: the application has this border tensor as N,C,H,W, while the
			 * original model has it as N,H,W,C */
	int64_t at;
	struct g_range live; /* first and last time step, both included */
	int32_t rows;	     /* rolling buffer: number of rows in memory */
	struct g_tensors over; /* at most one: this tensor reuses the bytes of that tensor,
				* in place */
};

struct g_weights {
	struct g_rec rec;
	struct g_shape shape; /* O,H,W,I */
	const char *name;
	struct g_list zero; /* zero points: one, or one for each output channel */
	struct g_source source;
	int64_t offset;	       /* of element 0,0,0,0, in elements */
	struct g_list strides; /* of O,H,W,I in elements; absent: dense */
	struct g_list slices;  /* first channels 0 < ... < O; absent: one slice */
	int32_t level;	       /* compression level of the encoder */
	struct g_list bytes;   /* size of each slice, encoded at that level */
	struct g_span coding;  /* part of blob GRAPH_CODING: codes for that level */
	int64_t at;	       /* address of slice 0 in flash */
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

struct g_buffer { /* memory for prefetched weights */
	struct g_rec rec;
	int64_t bytes, at;
	int area;
	struct g_range live;
};

struct g_node {
	struct g_rec rec;
	int kind;	   /* enum g_node_kind */
	int loop;	   /* enum g_loop */
	struct g_tfls tfl; /* operators of the original model */
	struct g_tensors in, out;
	const char *what; /* CPU: name of the operator */
	const char *why;  /* CPU: why it is not on the NPU */
};

struct g_op {
	struct g_rec rec;
	int kind; /* enum g_op_kind */
	struct g_node *node;
	const char *name;
	struct g_tfls tfl; /* operators that it was lowered from */
	struct g_operand ifm, ifm2, ofm;
	int32_t scalar; /* second operand if ifm2 is absent */
	int32_t ifm_zero, ifm2_zero, ofm_zero;
	struct yx kernel, stride, dilation; /* kernel: size before dilation */
	struct g_pad pad;
	int upscale; /* enum upscale, of the IFM */
	int order;   /* enum out_order, of OP_REORDER */
	int sample;  /* enum g_sample, of OP_RESIZE */
	struct yx up, down;   /* OP_RESIZE: distance of IFM and OFM elements, in grid units */
	struct g_range first; /* OP_RESIZE: row (lo) and column (hi) of OFM element 0,0 */
	struct g_pad edge; /* rows and columns that are repeated at the IFM's edges */
	struct g_weights *weights;
	struct g_scales *scales;
	int32_t reversed; /* 1: IFM2 is the first operand */
	struct npu_scale opa;
	int32_t opb;
	int scaled; /* enum g_scaled */
	int ifm_round; /* enum g_round, for the scaled operand */
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

/* One step of the schedule: an operation (or some of its rows), or a DMA transfer. */
struct g_step {
	struct g_rec rec;
	struct g_op *op;	   /* run=: rows lo to hi - 1 of the OFM */
	struct g_weights *weights; /* fetch=: a slice, into a buffer */
	struct g_lut *lut;	   /* lut=: a table, into a slot of SHRAM */
	struct g_node *node;
	struct g_range rows;
	int32_t slice;	      /* index of the weights' slice */
	struct g_range bytes; /* fetch=: part of the slice; absent: all of it */
	struct g_buffer *buffer;
	struct g_buffer *scale_buffer; /* run=: holds the scales; the weights are not
					* buffered */
	int32_t slot;
	int32_t blockdep;
};

struct g_code {
	struct g_rec rec;
	struct g_weights *weights;
	int32_t slice, core;
	struct g_range depth;
	struct g_span scale_bytes, weight_bytes; /* address and size in flash */
};

/*
 * Name of the blob with the codes of weight streams.  For each weights record, its
 * slices and their streams in order, the blob has a 32-bit length and a coding
 * (weights/weights.h).
 */
#define GRAPH_CODING "coding"

/* Data of a blob: embedded as base64, or in a file: from="path". */
struct g_blob {
	struct g_rec rec;
	const char *name;
	int64_t bytes;
	uint64_t xxh3;
	const char *path; /* NULL: the data are embedded */
	const char *text; /* base64 text from the file, or NULL */
	size_t text_len;
	uint8_t *decode_to; /* memory to decode the text into; NULL: allocate */
	const uint8_t *data; /* decoded data; NULL before graph_blob() */
};

enum g_stage { STAGE_NONE, STAGE_PART, STAGE_SCHED, STAGE_WENC };

struct tfl_model;

struct graph {
	struct arena *a;
	const char *file; /* name for error messages */
	int stage;	  /* enum g_stage: the stage that wrote the graph */
	struct tfl_model *model; /* NULL until it is needed for the first time */
	const char *last; /* comment lines before eof, or NULL */
#define RECORD(n, keyword, prefix, type, array)                              \
	struct type **array;                                                 \
	size_t n_##array, cap_##array;                                       \
	int next_##array; /* one more than the largest number of a record */
#include "graph.def"
	struct g_blob **blobs;
	size_t n_blobs, cap_blobs;
};

/* reports an error at a record: FILE:LINE */
#define graph_err(g, r, e, ...)                                              \
	err_at(e, (g)->file, (r)->rec.line, __VA_ARGS__)

#endif
