/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of what lies where, in the layout of the reference's "Tensor
 * Allocation"; every stage prints those whose addresses it chose.
 */
#ifndef GRAPH_TABLE_H
#define GRAPH_TABLE_H

#include "base/text.h"

/* a record's name as it may go to a terminal, or, without one, its id: "t3" */
const char *table_name(struct arena *a, const char *name, char letter, int id);

struct table_row {
	int64_t lo, hi;	   /* times, both included */
	int64_t at, bytes; /* of the memory */
	int64_t usage;	   /* largest sum of bytes live at one of its times */
	const char *purpose, *name;
};

/* heading: memory area, set of memory types, method, CPU or NPU subgraph */
void table_head(struct text *t, const char *area, const char *set,
		const char *method, const char *subgraph);
void table_put(struct text *t, const struct table_row *r);
/* bytes that tensors need at the fullest time, and that the plan takes */
void table_end(struct text *t, int64_t tensors, int64_t used);

#endif
