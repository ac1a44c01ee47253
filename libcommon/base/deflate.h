/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in fewer: deflate (RFC 1951), of which this writes and reads one kind of block. */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/arena.h"
#include "base/bytes.h"

struct text;

/* appends to t; the same bytes for the same input; a is for tables */
void deflate(struct arena *a, struct text *t, struct bytes in);

/* exactly n bytes of what deflate() wrote; false: it did not, or not so many */
bool inflate(struct bytes in, uint8_t *out, size_t n);

#endif
