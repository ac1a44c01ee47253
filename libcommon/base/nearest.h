/* SPDX-License-Identifier: Apache-2.0 */
/* The word that somebody probably meant. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/*
 * The nearest of the n words to s, at most a third of its letters (and 1) away;
 * of several the first; NULL: none.  The distance is how many letters have to be put
 * in, taken out or changed; upper and lower case, '-' and '_' are the same.  Words of
 * more than 63 letters are far from all others.
 */
const char *nearest_word(const char *s, const char *const *words, size_t n);

#endif
