/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of a stream: registers decoded at an NPU_OP, and the bytes and the order that
 * follow.  The emitter makes the same records before it writes the registers.  Numbers in
 * parentheses are sections of ethosu-commands(7) and ethosu-memory(7).
 */
#ifndef STREAM_OP_H
#define STREAM_OP_H

#include "target/shape.h"

#include <stddef.h>

struct accel;

enum npu_op_kind {
	/* kernels */
	NPU_CONV, NPU_DEPTHWISE, NPU_POOL, NPU_ELEMENTWISE, NPU_RESIZE,
	/* other operations */
	NPU_DMA, NPU_DMA_WAIT, NPU_KERNEL_WAIT, NPU_BRANCH, NPU_OTHER, NPU_STOP,
};

enum npu_pool { /* from NPU_POOL_SUM on: U85 only */
	NPU_POOL_MAX, NPU_POOL_AVERAGE, NPU_POOL_REDUCE_SUM,
	NPU_POOL_SUM, NPU_POOL_NONE, NPU_POOL_MIN, NPU_POOL_ARGMAX_X,
	NPU_POOL_ARGMAX_Y, NPU_POOL_COUNT
};
enum npu_eltwise {
	NPU_ELT_MUL, NPU_ELT_ADD, NPU_ELT_SUB, NPU_ELT_MIN, NPU_ELT_MAX,
	NPU_ELT_LRELU, NPU_ELT_ABS, NPU_ELT_CLZ, NPU_ELT_SHR, NPU_ELT_SHL,
	NPU_ELT_COUNT
};
enum npu_eltwise85 { /* operations that only U85 has */
	NPU_ELT85_LSR = 0x0a, NPU_ELT85_DIV,
	NPU_ELT85_EQ = 0x10, NPU_ELT85_NE, NPU_ELT85_GE, NPU_ELT85_GT,
	NPU_ELT85_AND = 0x21, NPU_ELT85_OR, NPU_ELT85_XOR, NPU_ELT85_NOT,
	NPU_ELT85_AND_NOT = 0x2a
};
enum npu_resize { NPU_RESIZE_BILINEAR, NPU_RESIZE_REPLICATE,
		  NPU_RESIZE_NEAREST };
/* What is added before the shift: the codes of U55, then the additional modes of U85. */
enum npu_rounding {
	NPU_ROUND_DBL, NPU_ROUND_TRUNCATE, NPU_ROUND_NATURAL,
	NPU_ROUND_UNDEFINED, /* code 3 of U55; codes 6 and 7 of U85 */
	NPU_ROUND_DBL_ASYMMETRIC, NPU_ROUND_SYMMETRIC, NPU_ROUND_TRUNCATE_LOWER
};
enum { NPU_ACT_NONE = 0, NPU_ACT_TANH = 3, NPU_ACT_SIGMOID = 4,
       NPU_ACT_TABLE0 = 16 };
/* Function codes of U85 (ethosu-commands(7) 23.5). */
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

/* A feature map as the NPU addresses it (ethosu-memory(7) 5). */
struct npu_fm {
	int region;
	int64_t base[4];
	int32_t h0, h1, w0; /* heights of tiles 0 and 1, width of tile 0 */
	struct hwc shape;   /* accessed elements, as stored; c: channels */
	int64_t stride_y, stride_x, stride_c;
	int32_t zero;
	int bits;	    /* 8, 16 or 32; 64 is legal on U85 only */
	bool is_signed;
	bool bricks;	    /* NHCWB16, otherwise NHWC */
	enum npu_storage storage; /* U85; only the two kinds of tiles have addresses */
	int chain;	    /* number of the chain buffer, for NPU_CHAINED */
};

struct npu_range { /* bytes [at, at + n) of a region */
	int region;
	int64_t at, n;
};

struct npu_op {
	enum npu_op_kind kind;
	size_t at;    /* word index of the NPU_OP */
	int index;    /* position among the stream's kernels and DMAs, from 0; -1: neither */
	int param;    /* raw param; of a wait: how many may stay outstanding */
	int mode;     /* enum npu_pool, npu_eltwise, npu_eltwise85 or npu_resize */

	struct npu_fm ifm, ifm2, ofm;
	struct hwc extent;   /* of results before transposition; ofm.shape is stored */
	bool has_ifm2;	     /* binary elementwise: tensor or scalar; U85: also matrix
			      * products and accumulators that are read */
	bool ifm_scalar, ifm2_scalar;
	int32_t scalar;	     /* IFM2_SCALAR in the type of IFM2; U85: OP_SCALAR */
	struct npu_axes { /* axes along which an operand is repeated; all of a scalar's */
		bool h, w, c;
	} ifm_broadcast, ifm2_broadcast; /* ifm_broadcast: U85 only */
	bool ifm2_first;     /* operand A is IFM2, operand B is the IFM */

	int kernel_h, kernel_w;		 /* without dilation; 1 for elementwise */
	int dilated_h, dilated_w;	 /* KERNEL_*_M1 + 1 */
	int stride_y, stride_x, dilation_y, dilation_x;
	int pad_top, pad_left, pad_bottom, pad_right;
	enum upscale upscale;
	int64_t ifm_up_h, ifm_up_w; /* upscaled extent: may be <= 0 (ethosu-memory(7) 5.4) */
	bool part_kernel;
	int cores;			 /* PARALLEL_MODE + 1 */
	/* one per core; on U85, weights has one per decoder.  n 0: none */
	struct npu_range weights[NPU_MAX_STREAMS], scales[2];

	int activation;			 /* function code; U85: enum npu_act85 */
	struct npu_range table;		 /* bytes of the operation's table; n 0: no table */
	int clip_range;
	int32_t min, max;		 /* the clamp, in the signedness of the OFM */
	bool global_scale;		 /* OFM scale mode 1: OFM_SCALE for all channels */
	enum npu_rounding rounding, ifm_rounding;
	uint32_t ofm_mult, opa_mult, opb_mult; /* U85: opa is for the IFM, opb for IFM2 */
	int ofm_shift, opa_shift;
	int operand_scale;		 /* 0: both operands, 1: OPA, 2: OPB */
	int acc_format;			 /* 0: int32, 1: int40 (U85: int48) */
	struct hwc block;
	int ib_end, ab_start, ib2_start;
	int blockdep;

	/* U85 only */
	enum npu_accumulator acc_input;
	bool acc_kept;	    /* output disabled: the result is accumulators only */
	struct hwc ublock;  /* c 0: the accelerator has no microblock of this code */
	bool weights_ifm2;  /* matrix product: IFM2 holds the filters */
	bool fast_weights, sparse_weights; /* WEIGHT_FORMAT */
	enum npu_rounding ifm2_rounding;
	int opb_shift, ofm_double, opa_double, opb_double; /* *_double: dbl_rnd */
	enum npu_transpose transpose;
	enum npu_reverse reverse;
	struct npu_resize_axis {
		int32_t n, d, offset; /* scale n / d: ethosu-commands(7) 26.10 */
	} resize_y, resize_x;
	int64_t target; /* of a branch: bytes from the begin of the stream */

	/* DMA; size0 = size1 = 1 for a 1-D transfer */
	struct npu_range src, dst;	 /* n: bytes of one 1-D transfer */
	bool src_internal, dst_internal; /* SHRAM (U85: tables); region is the core mask */
	int src_dims, dst_dims;		 /* 1, 2 or 3; 4 is the undefined stride mode 3 */
	int size0, size1;
	int64_t skip0, skip1;
	/* U85: bytes from one transfer to the next, and from one plane to the next */
	int64_t src_step[2], dst_step[2];
	bool src_indexed, dst_indexed; /* the index vector selects the rows */
	struct npu_range rows;	       /* the index vector, int32; n: all its bytes */
	int64_t row_max, row_skip;

	/* registers that the operation uses and the stream has not written (rule 7) */
	int n_missing;
	uint16_t missing[12]; /* enum npu_reg */
};

/* False for operations that make a result without a sum over the IFM's elements. */
static inline bool
npu_has_accumulators(const struct npu_op *op)
{
	return op->kind != NPU_ELEMENTWISE && op->kind != NPU_RESIZE;
}

/*
 * True if the OFM is one block: U85 keeps the accumulators of one block only (W11 in
 * ethosu-commands(7) 17).
 */
static inline bool
npu_is_one_block(const struct npu_op *op)
{
	return op->block.h >= op->extent.h && op->block.w >= op->extent.w &&
	       op->block.c >= op->extent.c;
}

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

/*
 * True if the feature map has addresses in memory; false if it is chained, a scalar or
 * absent.
 */
static inline bool
npu_fm_stored(const struct npu_fm *f)
{
	return f->storage <= NPU_TILES_3X1;
}

/* True for a transfer of U85 in steps or by an index. */
static inline bool
npu_dma_is_stepped(const struct npu_op *op)
{
	return op->src_step[0] || op->src_step[1] || op->dst_step[0] ||
	       op->dst_step[1] || op->src_indexed || op->dst_indexed;
}

/* Bytes of all weight streams of an operation. */
static inline int64_t
npu_weight_bytes(const struct npu_op *op)
{
	int64_t n = 0;
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		n += op->weights[i].n;
	return n;
}

const char *npu_op_name(const struct npu_op *op); /* "conv", "dma", or the mode: "average";
						   * "?" if undefined */

/* ---- addresses (ethosu-memory(7) 5) ------------------------------------- */

static inline int
npu_fm_bytes(const struct npu_fm *f)
{
	return f->bits / 8;
}

/* Offset in the region of element (y, x, c), in whichever tile the element is. */
int64_t npu_fm_address(const struct npu_fm *f, int32_t y, int32_t x, int32_t c);

/* A part of a feature map: [y0, y1) x [x0, x1) x [c0, c1). */
struct npu_box {
	int32_t y0, y1, x0, x1, c0, c1;
};

struct npu_box npu_fm_box(const struct npu_fm *f); /* the whole shape */

/*
 * Stores for each of the tiles 0 to 3 the range from the first to the last byte that a box
 * touches there; n 0: no byte.  Returns how many tiles have bytes.
 */
int npu_fm_extent(const struct npu_fm *f, struct npu_box box,
		  struct npu_range tile[4]);
/* True if the extent of a tile of abox shares bytes with that of a tile of bbox. */
bool npu_fm_extents_overlap(const struct npu_fm *a, struct npu_box abox, const struct npu_fm *b,
			    struct npu_box bbox);

/*
 * Calls visit with every contiguous run of bytes of a box, tile after tile.  Each byte
 * is visited exactly once (ethosu-memory(7) 5.2).  Stops when visit returns false, and
 * returns that value.
 */
typedef bool (*npu_visit)(void *ctx, int64_t at, int64_t n);
bool npu_fm_runs(const struct npu_fm *f, struct npu_box box, npu_visit visit,
		 void *ctx);

/*
 * True if strides and tiles nest in the usual order, in which no two elements share a
 * byte.  False decides nothing.
 */
bool npu_fm_nests(const struct npu_fm *f);

/* True if equal coordinates have equal addresses in both feature maps. */
bool npu_fm_same_place(const struct npu_fm *a, const struct npu_fm *b);

/*
 * True if a byte of one box belongs to the other one, by exact geometry.  Every run of
 * bytes that is examined takes one of *steps (NULL: no limit).  Also true when no steps
 * are left.
 */
bool npu_fm_overlap(const struct npu_fm *a, struct npu_box abox,
		    const struct npu_fm *b, struct npu_box bbox,
		    uint64_t *steps);

/*
 * Visits every 1-D transfer (ethosu-commands(7) 10) of a DMA operation, in order, as
 * npu_fm_runs() does.  which 0: its source, 1: its destination.
 */
bool npu_dma_runs(const struct npu_op *op, int which, npu_visit visit,
		  void *ctx);

/* ---- ordering (ethosu-commands(7) 11) ----------------------------------- */

/*
 * The largest BLOCKDEP of kernel cur behind kernel prev at which no input job of cur
 * touches an OFM block of prev that may be unfinished, by exact geometry.  If the i-th job
 * of cur and the j-th block of prev, counted from its end, share bytes, then i + j is an
 * upper bound.  The result is the smallest of these bounds and of the generation's maximum
 * (3, or 7 on U85).  Jobs have the true IFM block depth (ethosu-commands(7) 11.3).
 *
 * The result is 0 where the accumulators of cur overwrite the table of prev.  steps as for
 * npu_fm_overlap: the result is too small, which is safe, when no steps are left.
 */
int blockdep_max(const struct npu_op *prev, const struct npu_op *cur,
		 const struct accel *accel, uint64_t *steps);

/*
 * True if a block of an elementwise kernel reads bytes of its IFM (which 0) or IFM2 (which
 * 1) that an earlier block of the kernel has written.  Also false if the kernel has more
 * blocks than are compared, or if the steps run out.
 */
bool npu_block_overwritten(const struct npu_op *op, const struct accel *accel, int which,
			   uint64_t *steps);

#endif
