/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for a reader: three digits and a suitable unit. */
#ifndef BASE_HUMAN_H
#define BASE_HUMAN_H

#include "base/arena.h"

const char *human_bytes(struct arena *a, double v); /* "169 KiB" */
const char *human_ms(struct arena *a, double ms);   /* "1.09 ms", "840 \xc2\xb5s" (micro) */
const char *human_clock(struct arena *a, double hz); /* "160 MHz" */
const char *human_count(struct arena *a, double v); /* "1,234,567" */
/* the exponent of 2 that a unit behind a number of bytes means: 10 of "K" or "k"; 0: it is none */
int bytes_suffix_shift(const char *suffix);

#endif
