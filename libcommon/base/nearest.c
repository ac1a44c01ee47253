/* SPDX-License-Identifier: Apache-2.0 */
#include "base/nearest.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORD = 63 };

static int
letter(char c)
{
	return c == '_' ? '-' : tolower((unsigned char)c);
}

/*
 * The Levenshtein distance, row by row: row[j] is the distance between the first i
 * letters of a and the first j letters of b.
 */
static unsigned
word_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	unsigned row[MAX_WORD + 1];
	if (n > MAX_WORD || m > MAX_WORD)
		return UINT_MAX;
	for (unsigned j = 0; j <= m; j++)
		row[j] = j;
	for (unsigned i = 1; i <= n; i++) {
		unsigned diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			unsigned here = diagonal + (letter(a[i - 1]) != letter(b[j - 1]));
			diagonal = row[j];
			if (here > row[j] + 1)
				here = row[j] + 1;
			row[j] = here > row[j - 1] + 1 ? row[j - 1] + 1 : here;
		}
	}
	return row[m];
}

bool
word_contains(const char *word, const char *s)
{
	for (; *word; word++) {
		size_t i = 0;
		while (s[i] && letter(word[i]) == letter(s[i]))
			i++;
		if (!s[i])
			return true;
	}
	return !*s;
}

/* for words of one distance: how far apart their digits are, as in e9 and e8 */
static int
digits_apart(const char *a, const char *b)
{
	int sum = 0;
	if (strlen(a) != strlen(b))
		return INT_MAX;
	for (size_t i = 0; a[i]; i++)
		if (isdigit((unsigned char)a[i]) && isdigit((unsigned char)b[i]))
			sum += abs(a[i] - b[i]);
	return sum;
}

const char *
nearest_word(const char *s, const char *const *words, size_t n)
{
	const char *best = NULL;
	unsigned least = (unsigned)(strlen(s) / 3) + 2;
	for (size_t i = 0; i < n; i++) {
		unsigned d = word_distance(s, words[i]);
		if (d < least || (best && d == least &&
				  digits_apart(s, words[i]) < digits_apart(s, best))) {
			best = words[i];
			least = d;
		}
	}
	return best;
}
