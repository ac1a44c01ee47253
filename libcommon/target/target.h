/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we compile for: the accelerators, the memories around them, and the
 * rules by which an OFM block fits the accelerator's SHRAM.
 */
#ifndef TARGET_TARGET_H
#define TARGET_TARGET_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/text.h"

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

/* ---- accelerators ----------------------------------------------------- */

enum {
	SHRAM_BANK_BYTES = 1024,
	SHRAM_OUTPUT_BANKS = 2, /* at the start: output staging */
	LUT_BYTES = 2048,	/* at the end of SHRAM */
	BRICK = 16,		/* channels of an NHCWB16 brick */
	MAX_KERNELS = 2,	/* outstanding kernel operations */
	DMA_QUEUE = 4,		/* outstanding transfers, of any accelerator */
	MAX_BLOCK_H = 32, MAX_BLOCK_W = 64, MAX_BLOCK_C = 128,
	SUBKERNEL_MAX = 8,
};

enum generation_id {
#define GENERATION(id, ...) GEN_##id,
#include "target.def"
	GENERATIONS
};

/*
 * What all accelerators of a generation have in common.  Modules in which the
 * generations differ by more than numbers have a table of functions, indexed by
 * generation_id.
 */
struct npu_generation {
	int product; /* 55 */
	uint32_t arch; /* of the ID in a driver payload */
	struct hwc max_block;
	int max_blockdep;
	unsigned lacks; /* bits: enum accel_lack */
	unsigned does;	/* bits: enum accel_doing */
};

/* what a generation may lack */
enum accel_lack {
	LACK_WIDE_ZEROS,   /* zero points beyond a byte */
	LACK_LONG_SCALES,  /* multipliers of more than 15 bits for sums of more than 32 */
	LACK_FUNCTIONS,	   /* TANH and SIGMOID without a table */
	LACK_SPARSE,	   /* weights of two in four */
	LACK_DIVISION,	   /* DIV */
	LACK_SLOPES,	   /* LRELU of two slopes */
	LACK_MATMUL,	   /* products of two maps */
	LACK_ORDERS,	   /* results stored in another order; what has them has no
			    * negative strides */
	LACK_RESIZE,	   /* a unit that samples between elements */
	LACK_BITS,	   /* comparisons, and operations on bits */
	LACK_ARGMAX,	   /* a pool that finds where the greatest is */
	LACK_FAST_WEIGHTS, /* a second decoder of weights */
	LACK_GATHER,	   /* transfers of rows that a map names */
	LACK_CHAINS,	   /* kernels that take what the one before makes */
	LACK_WORD_CURVES,  /* tables from 16 bits to 32 */
	LACK_OVERTAKING,   /* transfers that overtake each other */
	LACK_SHRAM,	   /* banks of memory that a stream divides */
	LACK_BRANCHES,	   /* streams that branch */
};

enum accel_doing { DO_SIMULATE, DO_VERIFY, DO_COMPILE, DO_ESTIMATE, DOINGS };

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
/* of U85: ethosu-timing(7) 21 */
enum out85_column {
	OUT85_8, OUT85_16, OUT85_32, OUT85_64, OUT85_NARROWED, OUT85_WORDS,
	OUT85_COLUMNS
};
/* what reads memory, and how much of it may be on its way, of U85: ethosu-timing(7) 22 */
enum read_channel { READ_COPY, READ_STREAM, READ_WEIGHTS, READ_FAST_WEIGHTS,
		    READ_IFM, READ_SCALES, READ_CHANNELS };
enum act_column { ACT_TABLE, ACT_RELU, ACT_NONE, ACT_COLUMNS };

struct accel {
	enum accel_id id;
	enum generation_id generation;
	const char *name;	 /* ethos-u55-256 */
	const char *report_name; /* Ethos_U55_256 */
	int macs;		 /* per cycle and core */
	int cores;
	int streams;	   /* of weights, that a core decodes side by side */
	union {
		struct hwc ublock; /* OFM; the IFM's is the same but 8 deep */
		struct hwc ublocks[3]; /* U85: an operation chooses */
	};
	int n_ublocks;
	int banks;	   /* SHRAM per core */
	int lut_banks;	   /* always reserved; 0 on 16-bank parts */
	int ifm_buffer, acc_buffer, out_buffer, chain_buffer; /* bytes; U85 */
	int axi_bytes;	   /* per cycle and port */
	int address_bits;
	int max_dma; /* outstanding transfers */
	uint32_t config_word;
	int granule_ifm, granule_ifm32, granule_acc32, granule_acc40;
	double out_cycles[OUT_COLUMNS]; /* per element */
	double act_cycles[ACT_COLUMNS];
	int delay32, delay40;
	double out85_cycles[OUT85_COLUMNS], act85_cycles[2];
	int read_words[READ_CHANNELS]; /* of 16 bytes; 0: as many as there are */
};

extern const struct accel accels[ACCEL_COUNT];

const struct accel *accel_find(const char *name); /* NULL if unknown */
/* the same, or e says what there is */
const struct accel *accel_named(const char *name, struct err *e);
const struct accel *accel_of_config(uint32_t config_word); /* NULL likewise */
const char *accel_names(void); /* for usage texts */
const char *accel_nearest(const char *name); /* that was meant, or NULL */

/* false (and e says so): this kit doesn't do that for the accelerator */
bool accel_does(const struct accel *a, enum accel_doing what, struct err *e);

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

/* addresses and DMA lengths of 40 bits, of any alignment */
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

/* ---- memory systems --------------------------------------------------- */

enum mem_area { MEM_SRAM, MEM_DRAM, MEM_ON_CHIP_FLASH, MEM_OFF_CHIP_FLASH,
		MEM_AREAS };

struct mem_props {
	double clock_scale; /* of the AXI port's peak bandwidth */
	int burst_bytes, read_latency, write_latency; /* latencies in cycles */
	int ports;
	int max_reads, max_writes; /* outstanding at a port; 0: not known; U85 */
};

/*
 * What was fitted to measurements of a device, beside the memories' own numbers, for
 * the calibrated estimate (perf/perf.h).  All zero: the numbers are published ones.
 */
struct calibration {
	int measured;		 /* networks that it was fitted on */
	double operation_cycles; /* of the front end for a kernel, beside its latency */
	double low, high; /* times the estimate: where 8 of 10 measurements fell */
};

struct memory_system {
	const char *system, *mode; /* names; NULL: not known */
	const char *source;	   /* file or origin of the numbers */
	const char *part;	   /* the chip that it was chosen by; NULL: none */
	const char *meant_for;	   /* accelerator of a built-in one; NULL, "": any */
	double clock;		   /* Hz */
	const char *fitted_for;	   /* accelerator of the measurements; NULL: none */
	struct calibration fit;
	enum mem_area axi[2];
	struct mem_props mem[MEM_AREAS];
	enum mem_area const_area, arena_area, cache_area;
	bool spilling;	      /* cache is SRAM of its own: region 2 is used */
	int64_t cache_bytes;  /* limit when spilling, else a target; 0: none */
};

/*
 * The system and mode of these names, from an ini file in vela.ini's syntax
 * (ethosu-memory(7) 18.2 to 18.4) or, when path is NULL, from the built-in
 * profiles.  A name that is missing or unknown is an error that lists what
 * there is: there is no default system.
 */
bool memory_load(struct arena *a, const char *path, const char *system,
		 const char *mode, const struct accel *accel,
		 struct memory_system *out, struct err *e);

/* Is the name one of a built-in profile's?  NULL is not; e lists the names there are. */
bool memory_check_system(const char *name, struct err *e);
bool memory_check_mode(const char *name, struct err *e);

/* what a command line names; NULL: it does not */
struct target_names {
	const char *accel, *part, *system, *mode;
	bool has_config; /* system and mode are in a file */
	bool required;	 /* without a part the other names have to be there */
};

/* Calls say() with a message for every unknown or missing name, as cli_error() takes it. */
void target_check_names(const struct target_names *n, void (*say)(const char *fmt, ...));

void memory_list_profiles(struct text *t); /* names, numbers, sources */
double memory_bytes_per_cycle(const struct memory_system *m,
			      const struct accel *a, enum mem_area area);
const char *memory_area_name(enum mem_area area);   /* OffChipFlash (ini) */
const char *memory_area_report(enum mem_area area); /* Off-chip Flash */
const char *memory_area_csv(enum mem_area area);    /* off_chip_flash */
bool memory_area_find(const char *ini_name, enum mem_area *out);

/* ---- blocks ------------------------------------------------------------ */

enum block_class {
	BLOCK_CONV, BLOCK_DEPTHWISE, BLOCK_FC, BLOCK_POOL, BLOCK_REDUCE_SUM,
	BLOCK_ELEMENTWISE, BLOCK_MATMUL, BLOCK_RESIZE,
};

/* does a result depend on all channels of the IFM? */
static inline bool
block_class_is_deep(enum block_class c)
{
	return c == BLOCK_CONV || c == BLOCK_FC || c == BLOCK_MATMUL ||
	       c == BLOCK_REDUCE_SUM;
}

enum upscale { UPSCALE_NONE, UPSCALE_NEAREST, UPSCALE_ZEROS };

/* how results are stored: columns and channels exchanged, or an axis backwards */
enum out_order { ORDER_HWC, ORDER_HCW, ORDER_REVERSE_H, ORDER_REVERSE_W,
	     ORDER_REVERSE_C };

/* what decides whether a block fits; shapes are those of the (striped) op */
struct block_query {
	enum block_class class;
	struct hwc ifm, ofm; /* ifm: the larger input of an elementwise op */
	int ifm_bits;
	int kernel_h, kernel_w; /* dilated */
	int stride_y, stride_x;
	enum upscale upscale;
	enum out_order order; /* shapes and blocks are those before it */
	bool bricks;	  /* the OFM is stored as nhcwb16 */
	int up_x, down_x; /* RESIZE: steps of an element and of a column */
	bool part_kernel, sparse;
	bool uses_table;
	bool acc40;
	bool one_tensor; /* elementwise with a scalar operand */
	/* U85: which of the accelerator's microblocks; c 0: the one that wastes
	 * least of the whole OFM (h 0: ofm) and suits the operation */
	struct hwc ublock, whole;
	bool repeats_h, repeats_w, repeats_c; /* an elementwise operand, there */
};

struct shram_layout {
	struct hwc ifm_block, ublock;
	int ib_end, ab_start, ib2_start; /* bank numbers; ib2 elementwise only */
};

/*
 * The SHRAM layout of an OFM block, by ethosu-memory(7) 8.2; false if
 * it doesn't fit or the block breaks the limits of 8.1.  *banks (may be NULL)
 * is the number of banks it needs.
 */
bool block_layout(const struct accel *a, const struct block_query *q,
		  struct hwc block, struct shram_layout *out, int *banks);

/* limits of 8.1 alone: why a block is illegal, or NULL */
const char *block_limit(const struct accel *a, const struct block_query *q,
			struct hwc block);

struct hwc block_ifm(const struct accel *a, const struct block_query *q,
		     struct hwc block);
/* U85: the depth of an IFM block as the IFM buffer holds it, in whole units of
 * allocation; ublock: that the operation works in, bits: of an element */
int32_t block85_ifm_held(const struct accel *a, struct hwc ublock, int32_t depth,
			 int bits);

/* accumulators' height: "Conv1D adjustment", ethosu-memory(7) 8.2 */
struct hwc block_accumulated(const struct accel *a, const struct block_query *q,
			     struct hwc block);

/* largest extent a block can have for this OFM, rounded up to the ublock */
struct hwc block_bounds(const struct accel *a, const struct block_query *q);

/* a block's extents are multiples of these, or all there is in depth */
struct hwc block_step(const struct accel *a, const struct block_query *q);

/* the microblock that the operation is worked on in */
struct hwc block_ublock(const struct accel *a, const struct block_query *q);

/* part-kernel-first traversal pays: ethosu-weights(7) 2.5 ("beats": >=) */
bool block_part_kernel(const struct accel *a, int ifm_depth, int kernel_elements,
		       int ifm_bits, bool sparse);

#endif
