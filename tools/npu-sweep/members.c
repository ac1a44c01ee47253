/* SPDX-License-Identifier: Apache-2.0 */
/* Prints and reads members of JSON objects that both records and plans have. */
#include "sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
put_hash(const struct json_out *j, const char *key, struct hash128 h)
{
	json_put_format(j, key, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}

void
text_hash128(struct text *t, struct hash128 h)
{
	text_printf(t, "%016" PRIx64 "%016" PRIx64, h.high, h.low);
}

void
put_job(const struct json_out *j, const struct target *t, enum goal goal)
{
	json_put_string(j, "system", t->system);
	json_put_string(j, "accelerator", t->accel);
	json_put_string(j, "goal", goal_names[goal]);
	json_put_string(j, "memory_mode", t->setup->mode);
	json_put_string(j, "config", t->setup->config);
}

bool
get_hash(const struct json *o, const char *key, struct hash128 *h)
{
	const char *s = json_string(o, key, "");
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
