/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Register command streams, the reading side: find them in a compiled model,
 * decode words into commands, registers into operations, print and verify
 * them.  Numbers below are sections of ethosu-commands(7) and ethosu-memory(7);
 * tables: schema/ethosu.def.  Nothing here knows how our compiler emits a stream.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include "base/text.h"
#include "target/target.h"
#include "tflite/tflite.h"

/* ---- commands: the tables ----------------------------------------------- */

/* registers: NPU_IFM_BASE0, ... one number space for cmd0 and cmd1 */
enum npu_reg {
#define NPU_REG0(code, name, ...) NPU_##name,
#define NPU_REG1(code, name, ...) NPU_##name,
#include "ethosu.def"
	NPU_REGS
};

/* operations, numbered by their opcode */
enum npu_opcode {
#define NPU_OP(code, name, ...) NPU_OP_##name = code,
#include "ethosu.def"
};

enum npu_payload { /* what a cmd1 register holds; NPU_PARAM for cmd0 */
	NPU_PARAM,
	NPU_ADDRESS,
	NPU_STRIDE,
	NPU_BYTES,
	NPU_BYTES40,
	NPU_SCALE,
	NPU_STEP,
	NPU_PLAIN,
};

enum npu_products { /* sets of generations; CUSTOM: only with custom DMA */
	NPU_U55 = 1 << GEN_U55,
	NPU_U65 = 1 << GEN_U65,
	NPU_U85 = 1 << GEN_U85,
	NPU_CUSTOM = 1 << GENERATIONS,
	NPU_BOTH = NPU_U55 | NPU_U65,
	NPU_WIDE = NPU_U65 | NPU_U85,
	NPU_ALL = NPU_BOTH | NPU_U85,
};

struct npu_command_info {
	const char *name;  /* "IFM_BASE0", "CONV" */
	uint16_t code;	   /* low half of the code word: 0x4000 set for cmd1 */
	uint8_t bits, bits85; /* of the param, that of U85; cmd1 register: 0 */
	uint8_t payload;   /* enum npu_payload */
	uint8_t products;  /* enum npu_products */
	bool is_op;
};

struct npu_field {
	const char *name;
	uint8_t lsb, width;
	const char *set; /* enumeration, or "number" */
	uint8_t products;
};

enum { NPU_FIELDS_MAX = 10 }; /* of one command on one product */

extern const struct npu_command_info npu_registers[NPU_REGS];
const struct npu_command_info *npu_operation(unsigned opcode); /* or NULL */
/* of a command's param on products of a generation; 0: a cmd1 register */
int npu_command_bits(const struct npu_command_info *c, enum generation_id generation);
/* the fields of a command on them; how many */
int npu_command_fields(const struct npu_command_info *c,
		       enum generation_id generation,
		       const struct npu_field *out[NPU_FIELDS_MAX]);
/* name of a value in a set, NULL if it has none */
const char *npu_enum_name(const char *set, unsigned value);

/* the code word of a register write or operation */
static inline uint32_t
npu_code_word(const struct npu_command_info *c, uint16_t param)
{
	return c->code | (uint32_t)param << 16;
}

/* ---- containers (14) ---------------------------------------------------- */

/* one stream: of an ethos-u operator, or of a file of raw words */
struct npu_stream {
	const struct accel *accel; /* of the CONFIG word */
	const uint32_t *word;
	size_t n_words;
	uint32_t config, id; /* 0: raw */
	int subgraph, op;    /* in the model; -1: raw */
	const char *name;    /* of the operator's stream tensor, or the file */
};

/*
 * Every ethos-u operator of a model, in execution order, subgraph after
 * subgraph.  Words are copied into the arena.  No operator: *n is 0.  Fails on
 * a payload that breaks 14.1 (rule 48) or an unknown CONFIG word.
 */
bool stream_find(struct arena *a, const struct tfl_model *m,
		 struct npu_stream **out, int *n, struct err *e);

/* one driver payload ("COP1"); subgraph and op are left alone */
bool stream_payload(struct arena *a, struct bytes payload,
		    struct npu_stream *out, struct err *e);

/* bare words, little-endian; a payload is recognised by its FourCC */
bool stream_raw(struct arena *a, struct bytes words, const struct accel *accel,
		struct npu_stream *out, struct err *e);

bool npu_is_operator(const struct tfl_op *op); /* custom code "ethos-u" */

/*
 * The region, 3 to 7, of an input or output of the model that has memory of its own:
 * the model is one ethos-u operator, and of its tensors, which are base pointers in
 * their order, the plan places the scratch memory but not this one.  0: it has none.
 */
int stream_separate_region(const struct tfl_model *m, int tensor);

/* ---- words to commands (1, 2) ------------------------------------------- */

struct npu_command {
	size_t at;	   /* word index of the code word */
	uint32_t code;	   /* low half */
	uint16_t param;
	uint32_t payload;  /* cmd1 */
	bool has_payload;
	bool is_op;
	enum npu_reg reg;  /* if !is_op */
	enum generation_id generation;
	const struct npu_command_info *info;
};

/*
 * The command at word *at, which moves behind it.  False at the end of the
 * words (e untouched) or on words that are no command (e set).
 */
bool stream_next(const struct npu_stream *s, size_t *at,
		 struct npu_command *out, struct err *e);

/* ---- registers ---------------------------------------------------------- */

struct npu_registers {
	uint32_t value[NPU_REGS]; /* param of cmd0, payload of cmd1 */
	uint16_t high[NPU_REGS];  /* param of cmd1 */
	bool written[NPU_REGS];
};

void npu_write(struct npu_registers *r, const struct npu_command *c);

/* an ADDRESS or BYTES40 (0 to 2^40 - 1), a STRIDE (signed); U55: param is a
 * sign only (1, "Exception") */
int64_t npu_address(const struct npu_registers *r, enum npu_reg reg);
int64_t npu_stride(const struct npu_registers *r, enum npu_reg reg);

/* ---- operations: registers decoded at an NPU_OP ------------------------- */

enum npu_op_kind {
	NPU_CONV, NPU_DEPTHWISE, NPU_POOL, NPU_ELEMENTWISE, /* kernels */
	NPU_RESIZE, /* the last of the kernels */
	NPU_DMA, NPU_DMA_WAIT, NPU_KERNEL_WAIT, NPU_BRANCH, NPU_OTHER, NPU_STOP,
};

enum npu_pool { /* from NPU_POOL_SUM on: U85 */
	NPU_POOL_MAX, NPU_POOL_AVERAGE, NPU_POOL_REDUCE_SUM,
	NPU_POOL_SUM, NPU_POOL_NONE, NPU_POOL_MIN, NPU_POOL_ARGMAX_X,
	NPU_POOL_ARGMAX_Y, NPU_POOL_COUNT
};
enum npu_eltwise {
	NPU_ELT_MUL, NPU_ELT_ADD, NPU_ELT_SUB, NPU_ELT_MIN, NPU_ELT_MAX,
	NPU_ELT_LRELU, NPU_ELT_ABS, NPU_ELT_CLZ, NPU_ELT_SHR, NPU_ELT_SHL,
	NPU_ELT_COUNT
};
enum npu_eltwise85 { /* what U85 has besides */
	NPU_ELT85_LSR = 0x0a, NPU_ELT85_DIV,
	NPU_ELT85_EQ = 0x10, NPU_ELT85_NE, NPU_ELT85_GE, NPU_ELT85_GT,
	NPU_ELT85_AND = 0x21, NPU_ELT85_OR, NPU_ELT85_XOR, NPU_ELT85_NOT,
	NPU_ELT85_AND_NOT = 0x2a
};
enum npu_resize { NPU_RESIZE_BILINEAR, NPU_RESIZE_REPLICATE,
		  NPU_RESIZE_NEAREST };
/* what is added before the shift: U55's codes, then what U85 has besides */
enum npu_rounding {
	NPU_ROUND_DBL, NPU_ROUND_TRUNCATE, NPU_ROUND_NATURAL,
	NPU_ROUND_UNDEFINED, /* U55's code 3, U85's 6 and 7 */
	NPU_ROUND_DBL_ASYMMETRIC, NPU_ROUND_SYMMETRIC, NPU_ROUND_TRUNCATE_LOWER
};
enum { NPU_ACT_NONE = 0, NPU_ACT_TANH = 3, NPU_ACT_SIGMOID = 4,
       NPU_ACT_TABLE0 = 16 };
/* function codes of U85 (ethosu-commands(7) 23.5) */
enum npu_act85 {
	NPU_ACT85_U8_U8 = 1, NPU_ACT85_S8_S8 = 4, NPU_ACT85_S8_S16 = 5,
	NPU_ACT85_S8_S32 = 7, NPU_ACT85_S16_S16, NPU_ACT85_S16_S32,
	NPU_ACT85_TANH, NPU_ACT85_SIGMOID
};
enum npu_accumulator { NPU_ACC_RESET, NPU_ACC_KEEP, NPU_ACC_IFM2 };
enum npu_storage { NPU_TILES, NPU_TILES_3X1, NPU_CHAINED, NPU_STORED_NONE };
enum npu_transpose { NPU_HWC, NPU_WHC, NPU_HCW, NPU_WCH, NPU_CHW = 6, NPU_CWH };
enum npu_reverse { NPU_FORWARD, NPU_REVERSE_H, NPU_REVERSE_W, NPU_REVERSE_C };
enum { NPU_MAX_STREAMS = 4, NPU_MAX_CHAINS = 6 };

/* a feature map as the NPU addresses it (5) */
struct npu_fm {
	int region;
	int64_t base[4];
	int32_t h0, h1, w0; /* tiles (5.1) */
	struct hwc shape;   /* accessed extent, stored elements; c: channels */
	int64_t stride_y, stride_x, stride_c;
	int32_t zero;
	int bits;	    /* 8, 16, 32; 64 on U85, else the code is illegal */
	bool is_signed;
	bool bricks;	    /* NHCWB16 */
	enum npu_storage storage; /* U85; if not tiles: nothing has an address */
	int chain;	    /* buffer, of NPU_CHAINED */
};

struct npu_range { /* bytes [at, at + n) of a region */
	int region;
	int64_t at, n;
};

struct npu_op {
	enum npu_op_kind kind;
	size_t at;    /* word index of the NPU_OP */
	int index;    /* counts kernels and DMAs of the stream, from 0 */
	int param;    /* raw: waits' count */
	int mode;     /* enum npu_pool or npu_eltwise */

	struct npu_fm ifm, ifm2, ofm;
	struct hwc extent;   /* of results; ofm.shape is the same transposed */
	bool has_ifm2;	     /* binary elementwise: tensor or scalar; U85: matrix
			      * products, accumulators that are read, too */
	bool ifm_scalar, ifm2_scalar;
	int32_t scalar;	     /* IFM2_SCALAR by IFM2's type; OP_SCALAR */
	bool broadcast_h, broadcast_w, broadcast_c; /* of IFM2 */
	bool ifm2_first;     /* operand A is IFM2 */

	int kernel_h, kernel_w;		 /* undilated; 1 for elementwise */
	int dilated_h, dilated_w;	 /* KERNEL_*_M1 + 1 */
	int stride_y, stride_x, dilation_y, dilation_x;
	int pad_top, pad_left, pad_bottom, pad_right;
	enum upscale upscale;
	int64_t ifm_up_h, ifm_up_w;	 /* IH_up, IW_up of 5.4 (may be <= 0) */
	bool part_kernel;
	int cores;			 /* PARALLEL_MODE + 1 */
	/* per core, on U85: weights per decoder; n 0: none */
	struct npu_range weights[NPU_MAX_STREAMS], scales[2];

	int activation;			 /* function code */
	struct npu_range table;		 /* of a lookup, in the tables; n 0: none */
	int clip_range;
	int32_t min, max;		 /* by the OFM's signedness */
	bool global_scale;		 /* OFM scale mode 1 */
	enum npu_rounding rounding, ifm_rounding;
	uint32_t ofm_mult, opa_mult, opb_mult; /* of IFM and IFM2 on U85 */
	int ofm_shift, opa_shift;
	int operand_scale;		 /* 0 both, 1 OPA, 2 OPB */
	int acc_format;			 /* 0 int32, 1 int40 */
	struct hwc block;
	int ib_end, ab_start, ib2_start;
	int blockdep;

	/* U85 */
	enum npu_accumulator acc_input;
	bool acc_kept;	    /* output disabled: nothing but accumulators */
	struct hwc ublock;  /* c 0: this accelerator has none of that code */
	bool weights_ifm2;  /* matrix product */
	bool fast_weights, sparse_weights; /* WEIGHT_FORMAT */
	enum npu_rounding ifm2_rounding;
	int opb_shift, ofm_double, opa_double, opb_double; /* dbl_rnd */
	enum npu_transpose transpose;
	enum npu_reverse reverse;
	struct npu_resize_axis {
		int32_t n, d, offset; /* scale n / d: ethosu-commands(7) 26.10 */
	} resize_y, resize_x;
	int64_t target; /* of a branch: bytes from the stream's begin */

	/* DMA; size0 = size1 = 1 for 1-D */
	struct npu_range src, dst;	 /* n: of one 1-D transfer */
	bool src_internal, dst_internal; /* SHRAM; region is the core mask */
	int src_dims, dst_dims;		 /* 1, 2, 3 */
	int size0, size1;
	int64_t skip0, skip1;
	/* U85: from one transfer, and from one plane, to the next */
	int64_t src_step[2], dst_step[2];
	bool src_indexed, dst_indexed; /* rows by an index of this vector */
	struct npu_range rows;	       /* n: of all of it, int32 */
	int64_t row_max, row_skip;

	/* registers that it uses and the stream has not written (rule 7) */
	int n_missing;
	enum npu_reg missing[12];
};

struct npu_walk {
	const struct npu_stream *stream;
	size_t at;
	int n_ops;
	struct npu_registers regs;
};

/* starts at word 0 with all registers undefined */
void walk_init(struct npu_walk *w, const struct npu_stream *s);

/*
 * Runs register writes up to the next operation and decodes it.  False at the
 * end of the words, or with e set on words that are no command.
 */
bool walk_next(struct npu_walk *w, struct npu_op *op, struct err *e);

/* decodes operation c from the registers; total: any values are accepted */
void npu_op_decode(const struct npu_registers *r, const struct accel *accel,
		   const struct npu_command *c, struct npu_op *op);

static inline bool
npu_is_kernel(const struct npu_op *op)
{
	return op->kind <= NPU_RESIZE;
}

static inline bool
npu_uses_table(const struct npu_op *op)
{
	return op->table.n > 0;
}

/* is it in memory, at addresses? (not: chained, a scalar, nothing) */
static inline bool
npu_fm_stored(const struct npu_fm *f)
{
	return f->storage <= NPU_TILES_3X1;
}

/* a transfer of U85 in steps, or by an index */
static inline bool
npu_dma_is_stepped(const struct npu_op *op)
{
	return op->src_step[0] || op->src_step[1] || op->dst_step[0] ||
	       op->dst_step[1] || op->src_indexed || op->dst_indexed;
}

static inline int64_t
npu_weight_bytes(const struct npu_op *op)
{
	int64_t n = 0;
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		n += op->weights[i].n;
	return n;
}

const char *npu_op_name(const struct npu_op *op); /* "CONV", "POOL average" */

/* ---- addresses (5) ------------------------------------------------------ */

static inline int
npu_fm_bytes(const struct npu_fm *f)
{
	return f->bits / 8;
}

/* offset in the region of element (y, x, c), which may lie in any tile */
int64_t npu_fm_address(const struct npu_fm *f, int32_t y, int32_t x, int32_t c);

/* a part of a feature map: [y0, y1) x [x0, x1) x [c0, c1) */
struct npu_box {
	int32_t y0, y1, x0, x1, c0, c1;
};

struct npu_box npu_fm_box(const struct npu_fm *f); /* all of its shape */

/*
 * Smallest and largest + 1 byte that a box touches in tile 0..3; n 0: nothing.
 * Returns how many tiles have bytes.
 */
int npu_fm_extent(const struct npu_fm *f, struct npu_box box,
		  struct npu_range tile[4]);

/*
 * Calls visit with every contiguous run of bytes of a box, exactly once a
 * byte (5.2), tile after tile.  Stops when visit returns false, returns that.
 */
typedef bool (*npu_visit)(void *ctx, int64_t at, int64_t n);
bool npu_fm_runs(const struct npu_fm *f, struct npu_box box, npu_visit visit,
		 void *ctx);

/*
 * Are the strides and tiles of the usual nested kind, in which no two elements
 * share a byte?  (False decides nothing.)
 */
bool npu_fm_nests(const struct npu_fm *f);

/* do equal coordinates have equal addresses? */
bool npu_fm_same_place(const struct npu_fm *a, const struct npu_fm *b);

/*
 * Does any byte of the one belong to the other, by exact geometry?  Every run of
 * bytes that is looked at takes one of *steps (NULL: no limit); true, too, when
 * none are left.
 */
bool npu_fm_overlap(const struct npu_fm *a, struct npu_box abox,
		    const struct npu_fm *b, struct npu_box bbox,
		    uint64_t *steps);

/*
 * Same for DMA destinations and sources: every 1-D transfer (10), in order.
 * which 0: source, 1: destination.
 */
bool npu_dma_runs(const struct npu_op *op, int which, npu_visit visit,
		  void *ctx);

/* ---- ordering (11) ------------------------------------------------------ */

/*
 * The largest BLOCKDEP of kernel cur behind kernel prev at which no input job
 * of cur touches an OFM block of prev that may be unfinished, by exact
 * geometry: the smallest i + j of a pair of cur's i-th job and prev's j-th block
 * from its end that share bytes, and the generation's greatest (3, of U85 7) if
 * none below it do.  Jobs have the true IFM block depth (11.3).  0 where
 * prev's table is lost to cur's accumulators.  steps as for npu_fm_overlap:
 * the result is too small, which is safe, when none are left.
 */
int blockdep_max(const struct npu_op *prev, const struct npu_op *cur,
		 const struct accel *accel, uint64_t *steps);

/*
 * Does a block of an elementwise kernel read bytes of its IFM (which 0) or IFM2 (1)
 * that an earlier block of it has written?  false, too, where there are more blocks than
 * are compared, or steps run out.
 */
bool npu_block_overwritten(const struct npu_op *op, const struct accel *accel, int which,
			   uint64_t *steps);

/* ---- verification (16) -------------------------------------------------- */

enum { VERIFY_RULE_WRITTEN = 52 }; /* no read of bytes never written */

struct npu_finding {
	int rule;    /* of npu-dis(1), RULES; 52: above */
	bool error;  /* else a warning: legal but unusual, or only inferred */
	const struct npu_stream *stream;
	size_t at_bytes;
	const char *command; /* NULL: about the container */
	const char *text;
};

struct npu_verify {
	void (*report)(void *ctx, const struct npu_finding *f); /* NULL: count */
	void *ctx;
	unsigned jobs; /* threads that decode weights; 0: one a processor */
	unsigned errors, warnings;
};

/*
 * Checks every rule of section 16 that applies, without executing.  With a
 * model (which the streams are from, all of them, in order) the memory behind
 * the regions is known: bounds, and which bytes have been written.  m NULL: bare
 * streams, each alone.
 */
void stream_verify(const struct tfl_model *m, const struct npu_stream *s, int n,
		   struct npu_verify *v);

/* ---- text --------------------------------------------------------------- */

/*
 * The listing in the reference compiler's layout: heading, a line a command,
 * number of commands, length.  Words that are no command end it and set e,
 * after the lines before them.  fields: decoded bit fields at a line's end.
 */
bool stream_print(struct text *t, const struct npu_stream *s, bool fields,
		  struct err *e);

/* one line without newline: offset, operation, shapes, addresses, ... */
void stream_print_op(struct text *t, const struct npu_op *op);

#endif
