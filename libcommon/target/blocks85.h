/* SPDX-License-Identifier: Apache-2.0 */
/* U85's rules for blocks, called by blocks.c.  Private to this folder. */
#ifndef TARGET_BLOCKS85_H
#define TARGET_BLOCKS85_H

#include "target/blocks.h"

struct hwc block85_ublock(const struct accel *a, const struct block_query *q);
struct hwc block85_bounds(const struct accel *a, const struct block_query *q);
const char *block85_limit(const struct accel *a, const struct block_query *q,
			  struct hwc block);
struct hwc block85_ifm(const struct accel *a, const struct block_query *q,
		       struct hwc block);
bool block85_layout(const struct accel *a, const struct block_query *q,
		    struct hwc block, struct shram_layout *out, int *banks);
bool block85_part_kernel(int ifm_depth, int kernel_elements, bool sparse);

#endif
