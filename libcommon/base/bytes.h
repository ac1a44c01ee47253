/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of bytes that belong to someone else. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *p;
	size_t n;
};

/* True if n_a bytes at a and n_b bytes at b share a byte. */
static inline bool
bytes_overlap(const void *a, size_t n_a, const void *b, size_t n_b)
{
	return (uintptr_t)a < (uintptr_t)b + n_b && (uintptr_t)b < (uintptr_t)a + n_a;
}

#endif
