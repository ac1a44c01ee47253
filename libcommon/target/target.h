/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compilation targets: accelerators, the memories around them, and the rules by
 * which an OFM block fits the accelerator's SHRAM.
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
const char *accel_nearest(const char *name); /* the most similar name, or NULL */

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

/* ---- memory systems --------------------------------------------------- */

enum mem_area { MEM_SRAM, MEM_DRAM, MEM_ON_CHIP_FLASH, MEM_OFF_CHIP_FLASH,
		MEM_AREAS };

struct mem_props {
	double clock_scale; /* fraction of the AXI port's peak bandwidth */
	int burst_bytes, read_latency, write_latency; /* latencies in cycles */
	int ports;
	int max_reads, max_writes; /* U85: outstanding transfers of a port; 0: unknown */
};

/*
 * Parameters of the calibrated estimate (perf/perf.h) that were fitted to measurements
 * of a device.  The numbers of the memories are then fitted, too.  All zero: not
 * fitted, the numbers of the memories are published ones.
 */
struct calibration {
	int measured;		 /* number of networks that were measured; 0: not fitted */
	double operation_cycles; /* cycles of the front end for each kernel, in addition to
				  * its latency */
	double low, high; /* interval that had 8 of 10 measurements, as multiples of the
			   * estimate */
};

struct memory_system {
	const char *system, *mode; /* names; NULL: unknown */
	const char *source;	   /* file or origin of the numbers */
	const char *part;	   /* the chip that selected the system; NULL: none */
	const char *meant_for;	   /* built-in systems: the accelerator; NULL or "": any */
	double clock;		   /* Hz */
	const char *fitted_for;	   /* accelerator of the measurements; NULL: not fitted */
	struct calibration fit;
	enum mem_area axi[2];
	struct mem_props mem[MEM_AREAS];
	enum mem_area const_area, arena_area, cache_area;
	bool spilling;	      /* the cache is SRAM of its own; the stream uses region 2 */
	int64_t cache_bytes;  /* limit when spilling, else a target size; 0: none */
};

/*
 * Loads the system and mode of these names from an ini file in vela.ini's syntax
 * (ethosu-memory(7) 18.2 to 18.4), or from the built-in profiles if path is NULL.
 * There is no default system: a missing or unknown name is an error that lists the
 * names.
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
const char *memory_area_name(enum mem_area area);   /* name in ini files: OffChipFlash */
const char *memory_area_report(enum mem_area area); /* name in reports: Off-chip Flash */
const char *memory_area_csv(enum mem_area area);    /* name in CSV files: off_chip_flash */
/* Finds a memory area by its name in ini files; false if the name is unknown. */
bool memory_area_find(const char *ini_name, enum mem_area *out);

/* ---- blocks ------------------------------------------------------------ */

enum block_class {
	BLOCK_CONV, BLOCK_DEPTHWISE, BLOCK_FC, BLOCK_POOL, BLOCK_REDUCE_SUM,
	BLOCK_ELEMENTWISE, BLOCK_MATMUL, BLOCK_RESIZE,
};

/* True if a result depends on all channels of the IFM. */
static inline bool
block_class_is_deep(enum block_class c)
{
	return c == BLOCK_CONV || c == BLOCK_FC || c == BLOCK_MATMUL ||
	       c == BLOCK_REDUCE_SUM;
}

enum upscale { UPSCALE_NONE, UPSCALE_NEAREST, UPSCALE_ZEROS };

/*
 * The order in which results are stored: with columns and channels exchanged, or with
 * one axis reversed.
 */
enum out_order { ORDER_HWC, ORDER_HCW, ORDER_REVERSE_H, ORDER_REVERSE_W,
	     ORDER_REVERSE_C };

/*
 * The properties of an operation that decide whether a block fits.  The shapes are
 * those of the operation, or of one stripe of it.
 */
struct block_query {
	enum block_class class;
	struct hwc ifm, ofm; /* ifm: the larger input of an elementwise operation */
	int ifm_bits;
	int kernel_h, kernel_w; /* size after dilation */
	int stride_y, stride_x;
	enum upscale upscale;
	enum out_order order; /* ofm and blocks are in the order before reordering */
	bool bricks;	  /* the OFM is stored as NHCWB16 */
	int up_x, down_x; /* RESIZE: grid units per IFM and OFM column */
	bool part_kernel, sparse;
	bool uses_table;
	bool acc40;
	bool one_tensor; /* elementwise operation with a scalar operand */
	/*
	 * U85: ublock is the microblock to use.  With ublock.c 0, it is the microblock
	 * that suits the operation and pads the OFM `whole` least; with whole.c 0,
	 * `ofm` is used instead.
	 */
	struct hwc ublock, whole;
	bool repeats_h, repeats_w, repeats_c; /* elementwise: an operand is broadcast along
					       * this axis */
};

struct shram_layout {
	struct hwc ifm_block, ublock;
	int ib_end, ab_start, ib2_start; /* bank numbers; ib2 is for elementwise operations
					  * only */
};

/*
 * Computes the SHRAM layout of an OFM block, by ethosu-memory(7) 8.2.  Returns false if
 * the block does not fit, or breaks the limits of 8.1. *banks (may be NULL) is set to
 * the number of banks that the block needs.
 */
bool block_layout(const struct accel *a, const struct block_query *q,
		  struct hwc block, struct shram_layout *out, int *banks);

/* Returns the limit of 8.1 that a block breaks, or NULL. */
const char *block_limit(const struct accel *a, const struct block_query *q,
			struct hwc block);

/* Returns the IFM block that an OFM block needs: ethosu-memory(7) 8.2; U85: 28.2. */
struct hwc block_ifm(const struct accel *a, const struct block_query *q,
		     struct hwc block);
/*
 * U85: depth of an IFM block in the IFM buffer, in elements, rounded up to whole
 * allocation units.  ublock: microblock of the operation; bits: size of an element.
 */
int32_t block85_ifm_held(const struct accel *a, struct hwc ublock, int32_t depth,
			 int bits);

/* Returns the block in the accumulators: "Conv1D adjustment", ethosu-memory(7) 8.2. */
struct hwc block_accumulated(const struct accel *a, const struct block_query *q,
			     struct hwc block);

/* Returns the largest useful block for this OFM, rounded up to the microblock. */
struct hwc block_bounds(const struct accel *a, const struct block_query *q);

/* Block extents are multiples of these; the depth may also be the whole OFM depth. */
struct hwc block_step(const struct accel *a, const struct block_query *q);

/* Returns the microblock in which the operation is computed. */
struct hwc block_ublock(const struct accel *a, const struct block_query *q);

/*
 * True if part-kernel-first traversal is at least as efficient as depth-first:
 * ethosu-weights(7) 2.5, where "beats" means >=.
 */
bool block_part_kernel(const struct accel *a, int ifm_depth, int kernel_elements,
		       int ifm_bits, bool sparse);

#endif
