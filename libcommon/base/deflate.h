/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses and decompresses bytes with deflate (RFC 1951).  Only one block, with
 * fixed codes, is written and read.  The functions do not have zlib's names, because
 * mkinput is linked with zlib, too.
 */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/arena.h"
#include "base/bytes.h"

struct text;

/*
 * Appends the compressed bytes to t.  The output depends on the input only.  The tables
 * are allocated in a.
 */
void deflate_bytes(struct arena *a, struct text *t, struct bytes in);

/*
 * Decompresses exactly n bytes, the output of deflate_bytes(), to out.  Returns false
 * if the input is not such a block or does not hold exactly n bytes.
 */
bool inflate_bytes(struct bytes in, uint8_t *out, size_t n);

#endif
