/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reader a file.  `make fuzz` links each with libFuzzer; `make check`
 * links it with replay.c, which feeds the corpus and seeded mutations of it.
 * A reader may refuse anything; it must not crash, hang or leak, and what it
 * accepts must hold the property that the file names.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * A target may have one: libFuzzer and replay.c change inputs with it alone, and
 * leave out the cuts; see lib/mutate.h.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned seed) __attribute__((weak));

/* libFuzzer's own changes, with its dictionary; nowhere else */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

#endif
