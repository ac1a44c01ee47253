/* SPDX-License-Identifier: Apache-2.0 */
/* Parts: chips and boards by name, from schema/part.def. */
#ifndef TARGET_PART_H
#define TARGET_PART_H

#include "base/diag.h"
#include "base/text.h"

#include <stdint.h>

struct target_part {
	const char *name;
	const char *accel, *system, *mode; /* as the options of npu-sched */
	const char *arena_memory, *constant_memory;
	int64_t arena_bytes, constant_bytes; /* of those memories */
	int64_t cache_bytes;		     /* of the NPU's own; 0: it has none */
	const char *source;
};

/* NULL, with the names and what was probably meant in e, if there is none */
const struct target_part *target_part_find(const char *name, struct err *e);

void target_part_list(struct text *t); /* a line of each, and its source */

/* names of the parts with so much memory of either kind, for the same accelerator
 * (NULL: any); "none" */
void target_part_list_fitting(struct text *t, const char *accel, int64_t arena_bytes,
		       int64_t constant_bytes);

#endif
