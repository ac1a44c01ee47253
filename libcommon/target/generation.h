/* SPDX-License-Identifier: Apache-2.0 */
/* The generations of accelerators: schema/generations.def. */
#ifndef TARGET_GENERATION_H
#define TARGET_GENERATION_H

#include "target/shape.h"

enum generation_id {
#define GENERATION(id, ...) GEN_##id,
#include "generations.def"
	GENERATIONS
};

/*
 * Properties that all accelerators of a generation share.  Modules where the
 * generations differ by more than numbers have a table of functions, indexed by
 * generation_id.
 */
struct npu_generation {
	int product; /* number in the product's name, for example 55 */
	uint32_t arch; /* architecture in the ID of a driver payload */
	struct hwc max_block;
	int max_blockdep;
	unsigned lacks; /* bits: enum accel_lack */
	unsigned does;	/* bits: enum accel_action */
};

/* features that a generation may lack */
enum accel_lack {
	LACK_WIDE_ZEROS,   /* zero points that do not fit a byte */
	LACK_LONG_SCALES,  /* multipliers of more than 15 bits for sums of more than 32 bits */
	LACK_FUNCTIONS,	   /* TANH and SIGMOID without a table */
	LACK_SPARSE,	   /* sparse weights: two of four */
	LACK_DIVISION,	   /* the operation DIV */
	LACK_SLOPES,	   /* LRELU with two slopes */
	LACK_MATMUL,	   /* matrix multiplication of two feature maps */
	LACK_ORDERS,	   /* results stored in another order; accelerators with this feature
			    * have no negative strides */
	LACK_RESIZE,	   /* a resize unit, which samples between elements */
	LACK_BITS,	   /* comparisons and bitwise operations */
	LACK_ARGMAX,	   /* a pool that returns the position of the maximum */
	LACK_FAST_WEIGHTS, /* a second weight decoder */
	LACK_GATHER,	   /* DMA of rows that a feature map indexes */
	LACK_CHAINS,	   /* kernels that take the result of the kernel before from a buffer */
	LACK_WORD_CURVES,  /* tables that map 16 bits to 32 */
	LACK_OVERTAKING,   /* DMA transfers that overtake each other */
	LACK_SHRAM,	   /* SHRAM banks that a stream divides into buffers */
	LACK_BRANCHES,	   /* branches in the command stream */
};

enum accel_action { DO_SIMULATE, DO_VERIFY, DO_COMPILE, DO_ESTIMATE, DOINGS };

extern const struct npu_generation generations[GENERATIONS];

#endif
