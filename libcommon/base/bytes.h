/* SPDX-License-Identifier: Apache-2.0 */
/* A run of bytes that belongs to someone else. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct bytes {
	const uint8_t *p;
	size_t n;
};

#endif
