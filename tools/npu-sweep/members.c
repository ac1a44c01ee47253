/* SPDX-License-Identifier: Apache-2.0 */
/* Prints and reads members of JSON objects that both records and plans have. */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
put_string(struct text *t, const char *key, const char *s)
{
	text_printf(t, ", \"%s\": ", key);
	text_quoted(t, s, strlen(s));
}

void
put_hash(struct text *t, const char *key, struct hash128 h)
{
	text_printf(t, ", \"%s\": \"", key);
	text_hash128(t, h);
	text_putc(t, '"');
}

void
text_hash128(struct text *t, struct hash128 h)
{
	text_printf(t, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}

static bool
hash128_read(const char *s, struct hash128 *h)
{
	enum { DIGITS = 32, HALF = 16 };
	char half[HALF + 1] = { 0 };
	if (strlen(s) != DIGITS || strspn(s, "0123456789abcdef") != DIGITS)
		return false;
	memcpy(half, s, HALF);
	h->high = strtoull(half, NULL, 16);
	h->low = strtoull(s + HALF, NULL, 16);
	return true;
}

bool
get_hash(const struct json *o, const char *key, struct hash128 *h)
{
	return hash128_read(json_string(o, key, ""), h);
}

bool
get_goal(const struct json *o, enum goal *goal)
{
	const char *s = json_string(o, "goal", "");
	for (int g = 0; g < GOALS; g++)
		if (!strcmp(goal_names[g], s)) {
			*goal = (enum goal)g;
			return true;
		}
	return false;
}
