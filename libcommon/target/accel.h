/* SPDX-License-Identifier: Apache-2.0 */
/* The accelerators: schema/target.def. */
#ifndef TARGET_ACCEL_H
#define TARGET_ACCEL_H

#include "base/diag.h"
#include "target/generation.h"

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
