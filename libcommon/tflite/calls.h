/* SPDX-License-Identifier: Apache-2.0 */
/* The subgraphs that IF and WHILE call: their bodies. */
#ifndef TFLITE_CALLS_H
#define TFLITE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bytes;
struct err;
struct tfl_model;
struct tfl_op;

/* IF: the subgraphs of true and of false; WHILE: the condition and the body of the loop */
enum { TFL_CALLEES = 2 };

/* Sets the indices of the subgraphs that an operator calls; false: it is no IF or WHILE. */
bool tfl_callees(const struct tfl_op *op, int64_t callee[TFL_CALLEES]);

/*
 * Returns all subgraphs, callers before their bodies; NULL, with an error, if an index is out
 * of range or a subgraph calls itself.  tfl_read() refuses such models.
 */
int *tfl_call_order(struct arena *a, const struct tfl_model *m, struct err *e);

/* By subgraph: true if it is a body of the first subgraph, or a body of such a body. */
bool *tfl_bodies(struct arena *a, const struct tfl_model *m);

/*
 * Makes a model whose first subgraph is body n of m.  The other subgraphs keep their
 * numbers, and subgraph n is empty.
 */
bool tfl_body(struct arena *a, const struct tfl_model *m, int n, struct bytes *out,
	      struct err *e);

#endif
