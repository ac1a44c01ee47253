/* SPDX-License-Identifier: Apache-2.0 */
/* Checks commas, brackets, blanks and values of printed JSON, in each style. */
#include "base/json_out.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void
put_document(const struct json_out *j)
{
	const int32_t v[] = { 1, -2 };
	json_root(j, '{');
	json_open(j, "none", '[');
	json_close(j, ']');
	json_put_string(j, "text", "a\",\n{");
	json_put_string(j, "null", NULL);
	json_line(j, 1);
	json_open(j, "list", '[');
	for (int i = 0; i < 2; i++) {
		json_line(j, 2);
		json_open(j, NULL, '{');
		json_put_i64(j, "i", i);
		json_put_f64(j, "half", i / 2.0);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_put_i32s(j, "v", v, 2);
	json_put_f64(j, "nan", (double)NAN);
	json_put_f64(j, "inf", (double)-INFINITY);
	json_put_bool(j, "yes", true);
	json_put_null(j, "no");
	json_put_rounded(j, "third", 1 / 3.0, 1000);
	json_put_rounded(j, "zero", -0.0001, 1000);
	json_put_rounded(j, "huge", 1e300, 1000);
	json_put_format(j, "mark", "<%d&>", 7);
	json_close_line(j, 1, '}');
}

static bool
check(enum json_style style, const char *want)
{
	struct text t = { 0 };
	const struct json_out j = { .t = &t, .style = style };
	put_document(&j);
	bool ok = !strcmp(text_str(&t), want);
	if (!ok)
		printf("%s\ninstead of\n%s\n", t.p, want);
	text_free(&t);
	return ok;
}

int
main(void)
{
	bool ok = check(JSON_COMPACT, "{\"none\":[],\"text\":\"a\\\",\\u000a{\",\"null\":null,\n"
		" \"list\":[\n  {\"i\":0,\"half\":0},\n  {\"i\":1,\"half\":0.5}],\"v\":[1,-2],"
		"\"nan\":null,\"inf\":null,\"yes\":true,\"no\":null,\"third\":0.333,\"zero\":0,"
		"\"huge\":1e+300,\"mark\":\"<7&>\"\n }");
	ok &= check(JSON_SPACED, "{\"none\": [], \"text\": \"a\\\",\\u000a{\", \"null\": null,\n"
		" \"list\": [\n  {\"i\": 0, \"half\": 0},\n  {\"i\": 1, \"half\": 0.5}], "
		"\"v\": [1, -2], \"nan\": null, \"inf\": null, \"yes\": true, \"no\": null, "
		"\"third\": 0.333, \"zero\": 0, \"huge\": 1e+300, \"mark\": \"<7&>\"\n }");
	ok &= check(JSON_PADDED, "{ \"none\": [], \"text\": \"a\\\",\\u000a{\", \"null\": null,\n"
		" \"list\": [\n  { \"i\": 0, \"half\": 0 },\n  { \"i\": 1, \"half\": 0.5 }], "
		"\"v\": [1, -2], \"nan\": null, \"inf\": null, \"yes\": true, \"no\": null, "
		"\"third\": 0.333, \"zero\": 0, \"huge\": 1e+300, \"mark\": \"<7&>\"\n }");
	struct text t = { 0 };
	json_put_string(&(struct json_out){ .t = &t, .in_page = true }, NULL, "</a>&\"");
	ok &= !strcmp(text_str(&t), "\"\\u003c/a\\u003e\\u0026\\\"\"");
	text_free(&t);
	return ok ? 0 : 1;
}
