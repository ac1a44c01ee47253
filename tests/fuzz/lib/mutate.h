/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutators that know the format of their input.  Each takes size bytes, replaces them
 * by at most max bytes and returns their number.  The same seed makes the same
 * change.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* changes a model by the tables of schema/tflite.def; the last byte is not part of
 * the model */
size_t mutate_model(uint8_t *data, size_t size, size_t max, unsigned seed);
/* changes a TOSA graph in place, by the tables of schema/tosa.def; 0 if it is not one */
size_t mutate_tosa(uint8_t *data, size_t n, unsigned seed);
/* changes a graph's text by the records and keys of schema/graph.def */
size_t mutate_graph(uint8_t *data, size_t size, size_t max, unsigned seed);
/* changes, removes or doubles bytes; uses libFuzzer's own mutator if that is linked */
size_t mutate_bytes(uint8_t *data, size_t size, size_t max, unsigned seed);

struct dice {
	uint64_t state;
};
struct dice dice_init(unsigned seed);
uint64_t dice_next(struct dice *d);
size_t roll(struct dice *d, size_t n); /* below n; 0 for 0 */
/* true in one of n cases */
bool one_in(struct dice *d, size_t n);
/* a number at a limit of a range, or a neighbour of v */
int64_t odd_number(struct dice *d, int64_t v);

#endif
