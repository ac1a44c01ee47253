/* SPDX-License-Identifier: Apache-2.0 */
/* The memories around an accelerator: schema/memory.def. */
#ifndef TARGET_MEMORY_H
#define TARGET_MEMORY_H

#include "base/arena.h"

#include <stdint.h>

struct accel;
struct target_part;
struct text;

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
	const struct target_part *chip; /* that chip; NULL: none, or only its name is known */
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

/*
 * Fails if the system is a built-in one of another accelerator: its latencies and scales are
 * those of one NPU's clock and ports.
 */
bool memory_check_accel(const struct memory_system *m, const struct accel *accel,
			struct err *e);

/*
 * Is the name one of a built-in profile's?  NULL is not; e lists the names there are: the
 * systems of the generation of an accelerator (NULL: of all generations), or all modes.
 */
bool memory_check_system(const char *name, const struct accel *accel, struct err *e);
bool memory_check_mode(const char *name, struct err *e);

void memory_list_profiles(struct text *t); /* names, numbers, sources */
/*
 * True if the on-chip flash of the constants is the SRAM of the arena on another port
 * (ethosu-memory(7) 18.4): the numbers of both are then the same.
 */
bool memory_has_one_sram(const struct memory_system *m);
double memory_bytes_per_cycle(const struct memory_system *m,
			      const struct accel *a, enum mem_area area);
const char *memory_area_name(enum mem_area area);   /* name in ini files: OffChipFlash */
const char *memory_area_report(enum mem_area area); /* name in reports: Off-chip Flash */
const char *memory_area_csv(enum mem_area area);    /* name in CSV files: off_chip_flash */
/* Finds a memory area by its name in ini files; false if the name is unknown. */
bool memory_area_find(const char *ini_name, enum mem_area *out);

#endif
