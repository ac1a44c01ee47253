/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutators that know what they change.  Each takes size bytes, writes at most max
 * in their place and returns how many; the same seed does the same.
 */
#ifndef FUZZ_MUTATE_H
#define FUZZ_MUTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* a model by the tables of schema/tflite.def; its last byte is no part of it */
size_t mutate_model(uint8_t *data, size_t size, size_t max, unsigned seed);
/* a TOSA graph, in place, by the tables of schema/tosa.def; 0: it is none */
size_t mutate_tosa(uint8_t *data, size_t n, unsigned seed);
/* a graph's text by the records and keys of schema/graph.def */
size_t mutate_graph(uint8_t *data, size_t size, size_t max, unsigned seed);
/* bytes: changed, lost, doubled; by libFuzzer's own mutator where that is linked */
size_t mutate_bytes(uint8_t *data, size_t size, size_t max, unsigned seed);

struct dice {
	uint64_t state;
};
struct dice dice_init(unsigned seed);
uint64_t dice_next(struct dice *d);
size_t roll(struct dice *d, size_t n); /* below n; 0 for 0 */
/* one of n in 1 */
bool one_in(struct dice *d, size_t n);
/* numbers at which something begins or ends, and neighbours of v */
int64_t odd_number(struct dice *d, int64_t v);

#endif
