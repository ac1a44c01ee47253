/* SPDX-License-Identifier: Apache-2.0 */
/* Parts: chips and boards, from schema/part.def or from a file of the user. */
#ifndef TARGET_PART_H
#define TARGET_PART_H

#include "base/arena.h"
#include "base/diag.h"
#include "target/memory.h"

#include <stdint.h>

struct target_part {
	const char *name;
	const char *chip; /* the chip with this NPU and others; NULL or "": it has no other */
	const char *accel, *system, *mode; /* values of npu-sched's options */
	const char *arena_memory, *constant_memory;
	int64_t arena_bytes, constant_bytes; /* size of these memories, in bytes */
	int64_t cache_bytes;		     /* size of the NPU's own fast memory, in bytes;
					      * 0: none */
	int64_t linux_bytes; /* as much of it has the ethosu driver of Linux */
	const char *cpu;   /* runs the operators that the NPU does not run */
	double cpu_clock;  /* in Hz; 0: the clock of the NPU */
	const char *source;
	const char *config; /* the file with system and mode; NULL: they are built in */
};

/*
 * Returns the built-in part of this name.  If there is none, returns NULL, and the error
 * lists those that contain the name, or their chips, or one that is similar.  Without a name:
 * NULL, and no error.
 */
const struct target_part *target_part_find(const char *name, struct err *e);

/*
 * Returns the part that an option names: the built-in one of this name, or that of the file
 * (nputools(7), PARTS) if the name has a slash or ends in ".ini".
 */
const struct target_part *target_part_take(struct arena *a, const char *name, struct err *e);

/* True if a file describes the part: other programs do not know the part by its name. */
bool target_part_is_own(const struct target_part *p);

/*
 * Fails if the accelerator (NULL: any) is not that of the part.  file: the model that was
 * compiled for the accelerator; NULL: an option names it.
 */
bool target_part_has(const struct target_part *p, const char *accel, const char *file,
		     struct err *e);

/*
 * Bytes of SRAM that a plan may use unless an option gives a limit: the NPU's own memory, or else
 * the memory of the arena.  for_linux: with the ethosu driver of Linux.
 */
int64_t target_part_sram(const struct target_part *p, bool for_linux);

/*
 * p, or NULL if system or mode are not those of the part: then its names are not those of the
 * memories in use.  p may be NULL.
 */
const struct target_part *target_part_with(const struct target_part *p, const char *system,
					   const char *mode);

/*
 * What texts call the memory whose bytes a plan saves (target_part_sram()): the part's name of the
 * arena's memory; "SRAM" for memory of the NPU's own, and without a part.  p may be NULL.
 */
const char *target_part_fast_memory(const struct target_part *p);

/*
 * What texts call a memory: the part's name, or "SRAM", "DRAM", "on-chip flash" and "flash".
 * constants: the memory of the constants.  p may be NULL; mode: the memory mode.
 */
const char *target_part_memory(const struct target_part *p, const char *mode,
			       enum mem_area area, enum mem_area constants);

/* True if arena and constants share one memory of the part.  p may be NULL. */
bool target_part_has_one_memory(const struct target_part *p);

/* True if a and b are NPUs, or memories of an NPU, of one chip.  Either may be NULL. */
bool target_part_same_chip(const struct target_part *a, const struct target_part *b);

/* the first part of the list with this accelerator on p's chip; NULL: none */
const struct target_part *target_part_beside(const struct target_part *p, const char *accel);

/*
 * True for a reference platform: an FPGA board or a model of one, which no product has.  Its CPU
 * has no clock of its own.
 */
bool target_part_is_reference(const struct target_part *p);

/* part i of the list, from 0; NULL behind the last */
const struct target_part *target_part_at(size_t i);

/* prints a heading, and a line for each part; schema/part.def has the sources */
void target_part_list(struct text *t);

/* what a compiled network needs of a part's memories, in bytes */
struct part_needs {
	int64_t arena;
	int64_t cache;	   /* of the NPU's own fast memory; a part without one ignores it */
	int64_t constants; /* the model: constants, command streams and its head */
	bool constants_in_arena; /* with Sram_Only they are read from the memory of the arena */
};

/* a memory that is too small: what is needed of it, and its size, in bytes */
struct part_lack { const char *memory; int64_t needs, has; };
enum { PART_MEMORIES = 3 };

/*
 * Lists the memories of the part that are too small, and returns how many.  If arena and constants
 * are in one memory, by the part or by the memory mode, it needs space for their sum.
 */
size_t target_part_lacks(const struct target_part *p, const struct part_needs *n,
			 struct part_lack out[PART_MEMORIES]);

/*
 * True if a plan of npu-sched --front fits the part.  sram: bytes in the NPU's own SRAM, or of the
 * arena if the part has no such SRAM; stored: bytes of constants and command streams, negative if
 * unknown; mode: the memory mode of the plan, NULL: that of the part.
 */
bool target_part_fits_plan(const struct target_part *p, double sram, double stored,
			   const char *mode);

/* True if a memory mode has the constants in the memory of the arena.  mode may be NULL. */
bool target_mode_has_constants_in_arena(const char *mode);

/*
 * Prints the names of the first parts with this accelerator (NULL: any) that fit, and how many
 * more do.  Prints "none" if no part does.
 */
void target_part_list_fitting(struct text *t, const char *accel, const struct part_needs *n);

#endif
