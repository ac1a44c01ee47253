/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each file tests one reader.  `make fuzz` links it with libFuzzer; `make check`
 * links it with replay.c, which runs the corpus and seeded mutations of it.  A reader
 * may refuse any input.  It must not crash, hang or leak, and an accepted input must
 * have the property that the file states.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A target may have a mutator: libFuzzer and replay.c then change inputs only with
 * it, and replay.c does not cut inputs; see lib/mutate.h.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed) __attribute__((weak));

/* libFuzzer's own mutations, with its dictionary; available only in libFuzzer */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

#endif
