/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that whole numbers in a text are printed as by printf(3), for each number of
 * digits. */
#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool
check(int64_t v)
{
	char want[32];
	struct text t = { 0 };

	(void)snprintf(want, sizeof(want), "%" PRId64 ";", v);
	text_i64(&t, v);
	text_puts(&t, ";"); /* the text behind the number must be kept */
	bool ok = !strcmp(text_str(&t), want);
	if (!ok)
		printf("%s instead of %s\n", t.p, want);
	text_free(&t);
	return ok;
}

int
main(void)
{
	bool ok = check(INT64_MAX) && check(INT64_MIN);

	for (int64_t v = -1100; v <= 1100; v++)
		ok = check(v) && ok;
	for (int64_t power = 10; ok; power *= 10) {
		for (int64_t v = power - 2; v <= power + 2; v++)
			ok = check(v) && check(-v) && ok;
		if (power > INT64_MAX / 10)
			break;
	}
	return ok ? 0 : 1;
}
