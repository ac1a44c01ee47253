/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the word that a user probably meant. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the word with the smallest edit distance to s, if the distance is at most a
 * third of the length of s, plus 1; else NULL.  Of several, the one whose digits are nearest to
 * those of s is returned, e8 for e9; of several of these, the first.
 *
 * The distance is the number of letters to insert, delete or replace.  Upper and lower
 * case are equal, and so are '-' and '_'.  Words of more than 63 letters never match.
 */
const char *nearest_word(const char *s, const char *const *words, size_t n);

/* True if the word contains s, with the same letters equal. */
bool word_contains(const char *word, const char *s);

#endif
