/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, and the accelerators: schema/target.def. */
#ifndef TARGET_ACCEL_H
#define TARGET_ACCEL_H

#include "base/diag.h"

#include <stdbool.h>
#include <stdint.h>

struct hwc {
	int32_t h, w, c;
};

static inline int64_t
hwc_elements(struct hwc s)
{
	return (int64_t)s.h * s.w * s.c;
}

static inline bool
hwc_equal(struct hwc a, struct hwc b)
{
	return a.h == b.h && a.w == b.w && a.c == b.c;
}

enum upscale { UPSCALE_NONE, UPSCALE_NEAREST, UPSCALE_ZEROS };

/*
 * The order in which results are stored: with columns and channels exchanged, or with
 * one axis reversed.
 */
enum out_order { ORDER_HWC, ORDER_HCW, ORDER_REVERSE_H, ORDER_REVERSE_W,
	     ORDER_REVERSE_C };

/* ---- accelerators ----------------------------------------------------- */

enum {
	SHRAM_BANK_BYTES = 1024,
	SHRAM_OUTPUT_BANKS = 2, /* output staging, at the start of SHRAM */
	LUT_BYTES = 2048,	/* table memory, at the end of SHRAM */
	BRICK = 16,		/* channels of an NHCWB16 brick */
	MAX_KERNELS = 2,	/* outstanding kernel operations */
	DMA_QUEUE = 4,		/* outstanding transfers, for all accelerators */
	MAX_BLOCK_H = 32, MAX_BLOCK_W = 64, MAX_BLOCK_C = 128,
	SUBKERNEL_MAX = 8,
};

enum generation_id {
#define GENERATION(id, ...) GEN_##id,
#include "target.def"
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

enum accel_id {
#define ACCEL(id, ...) ACCEL_##id,
#include "target.def"
	ACCEL_COUNT
};

/* columns of the output-cycle table: ethosu-timing(7) 1 */
enum out_column {
	OUT_ELTWISE32_0, OUT_ELTWISE32_1, OUT_MUL32, OUT_MUL_OR_ACC40,
	OUT_ADD_SIMPLE, OUT_ADD_ADVANCED, OUT_MAXPOOL, OUT_OTHER, OUT_COLUMNS
};
/* columns of U85's output-cycle table: ethosu-timing(7) 21 */
enum out85_column {
	OUT85_8, OUT85_16, OUT85_32, OUT85_64, OUT85_NARROWED, OUT85_WORDS,
	OUT85_COLUMNS
};
/* U85: units that read memory; each has a limit of outstanding data: ethosu-timing(7) 22 */
enum read_channel { READ_COPY, READ_STREAM, READ_WEIGHTS, READ_FAST_WEIGHTS,
		    READ_IFM, READ_SCALES, READ_CHANNELS };
enum act_column { ACT_TABLE, ACT_RELU, ACT_NONE, ACT_COLUMNS };

struct accel {
	enum accel_id id;
	enum generation_id generation;
	const char *name;	 /* example: ethos-u55-256 */
	const char *report_name; /* example: Ethos_U55_256 */
	int macs;		 /* per cycle and core */
	int cores;
	int streams;	   /* weight streams that a core decodes in parallel */
	union {
		struct hwc ublock; /* OFM microblock; the IFM's has the same height and
				    * width, and depth 8 */
		struct hwc ublocks[3]; /* U85: the microblocks; each operation uses one of
					* them */
	};
	int n_ublocks;
	int banks;	   /* SHRAM banks per core */
	int lut_banks;	   /* banks that are always reserved for tables; 0 on 16-bank parts */
	int ifm_buffer, acc_buffer, out_buffer, chain_buffer; /* U85: sizes in bytes */
	int axi_bytes;	   /* bytes per cycle and port */
	int address_bits;
	int max_dma; /* number of outstanding transfers */
	uint32_t config_word;
	int granule_ifm, granule_ifm32, granule_acc32, granule_acc40;
	double out_cycles[OUT_COLUMNS]; /* per element */
	double act_cycles[ACT_COLUMNS];
	int delay32, delay40;
	double out85_cycles[OUT85_COLUMNS], act85_cycles[2];
	int read_words[READ_CHANNELS]; /* most outstanding words of 16 bytes; 0: no limit */
};

extern const struct accel accels[ACCEL_COUNT];

const struct accel *accel_find(const char *name); /* NULL if the name is unknown */
/* Like accel_find(), but an unknown name is an error that lists the names. */
const struct accel *accel_named(const char *name, struct err *e);
const struct accel *accel_of_config(uint32_t config_word); /* NULL if unknown */
const char *accel_names(void); /* all names, for usage texts */

/* Returns false and sets e if this kit does not support the action for the accelerator. */
bool accel_does(const struct accel *a, enum accel_action what, struct err *e);

static inline const struct npu_generation *
accel_generation(const struct accel *a)
{
	return &generations[a->generation];
}

static inline bool
accel_lacks(const struct accel *a, enum accel_lack what)
{
	return accel_generation(a)->lacks >> what & 1;
}

static inline bool
accel_is_u65(const struct accel *a)
{
	return a->generation == GEN_U65;
}

/* True if addresses and DMA lengths have 40 bits, and DMA has no alignment rules. */
static inline bool
accel_is_wide(const struct accel *a)
{
	return a->address_bits > 32;
}

static inline int32_t
accel_lut_base(const struct accel *a)
{
	return a->banks * SHRAM_BANK_BYTES - LUT_BYTES;
}

#endif
