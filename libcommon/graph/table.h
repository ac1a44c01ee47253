/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints memory maps in the layout of the reference's "Tensor Allocation".  Every stage
 * prints the map of the addresses that it chose.
 */
#ifndef GRAPH_TABLE_H
#define GRAPH_TABLE_H

#include "base/text.h"

/* Returns a record's name, safe for a terminal; without a name, its identifier: "t3". */
const char *table_name(struct arena *a, const char *name, char letter, int id);

struct table_row {
	int64_t lo, hi;	   /* live range in time steps, both included */
	int64_t at, bytes; /* address and size */
	int64_t usage;	   /* maximum over this live range of the bytes live at one time step */
	const char *purpose, *name;
};

/* heading: memory area, set of memory types, allocator, CPU or NPU subgraph */
void table_head(struct text *t, const char *area, const char *set,
		const char *method, const char *subgraph);
void table_put(struct text *t, const struct table_row *r);
/* tensors: bytes live at the peak; used: bytes of the plan */
void table_end(struct text *t, int64_t tensors, int64_t used);

#endif
