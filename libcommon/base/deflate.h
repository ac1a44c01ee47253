/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes in fewer: deflate (RFC 1951), of which this writes and reads one kind of block.
 * Not by the names that zlib has: mkinput is linked with both.
 */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/arena.h"
#include "base/bytes.h"

struct text;

/* appends to t; the same bytes for the same input; a is for tables */
void deflate_bytes(struct arena *a, struct text *t, struct bytes in);

/* exactly n bytes of what deflate_bytes() wrote; false: it did not, or not so many */
bool inflate_bytes(struct bytes in, uint8_t *out, size_t n);

#endif
