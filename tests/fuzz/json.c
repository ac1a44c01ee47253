/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: the strings of an accepted text are written and read again with the same
 * content. */
#include "fuzz.h"

#include "base/json.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void
print(struct text *t, const struct json *v)
{
	if (v->kind == JSON_STRING)
		text_quoted(t, v->string, strlen(v->string));
	else if (v->kind == JSON_NUMBER)
		text_double(t, v->number);
	else if (v->kind < JSON_ARRAY)
		text_puts(t, v->kind == JSON_NULL ? "null" : v->number > 0 ? "true" : "false");
	if (v->kind < JSON_ARRAY)
		return;
	text_putc(t, v->kind == JSON_ARRAY ? '[' : '{');
	for (size_t i = 0; i < v->n; i++) {
		text_puts(t, i ? "," : "");
		if (v->kind == JSON_OBJECT) {
			text_quoted(t, v->item[i].key, strlen(v->item[i].key));
			text_putc(t, ':');
		}
		print(t, &v->item[i]);
	}
	text_putc(t, v->kind == JSON_ARRAY ? ']' : '}');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json v, again;
	struct err e = { 0 };
	struct text t = { 0 }, u = { 0 };
	struct arena *a = arena_open();
	if (json_parse(a, (struct bytes){ .p = data, .n = size }, "fuzz", &v, &e)) {
		print(&t, &v);
		struct bytes out = { .p = (const uint8_t *)t.p, .n = t.n };
		if (!json_parse(a, out, "again", &again, &e))
			abort();
		print(&u, &again);
		if (t.n != u.n || memcmp(t.p, u.p, t.n) != 0)
			abort();
	}
	text_free(&t);
	text_free(&u);
	arena_close(a);
	return 0;
}
