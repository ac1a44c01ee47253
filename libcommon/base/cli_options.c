/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the rows of a program's options. */
#include "base/cli.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool
is_end(const struct cli_option *r)
{
	return !r->name && !r->key && !r->doc;
}

/* The key of row i: none for a heading and for another name of the row before it. */
static int
key_of(const struct cli_option *rows, size_t i)
{
	const struct cli_option *r = &rows[i];
	bool none = !r->name || r->flags & OPTION_ALIAS;
	return r->key || none ? r->key : CLI_FIRST_KEY + (int)i;
}

struct argp_option *
cli_table(const struct cli_option *rows)
{
	size_t n = 0;
	while (!is_end(&rows[n]))
		n++;
	struct argp_option *t = calloc(n + 1, sizeof(*t));
	if (!t)
		out_of_memory();
	for (size_t i = 0; i < n; i++)
		t[i] = (struct argp_option){
			.name = rows[i].name, .key = key_of(rows, i), .arg = rows[i].arg,
			.flags = rows[i].flags, .doc = rows[i].doc, .group = rows[i].group,
		};
	return t;
}

static void
put_integer(char *at, size_t bytes, int64_t v)
{
	bool flag = v != 0;
	int32_t word = (int32_t)v;
	assert(bytes == sizeof(flag) || bytes == sizeof(word) || bytes == sizeof(v));
	memcpy(at, bytes == sizeof(flag)   ? (void *)&flag
		   : bytes == sizeof(word) ? (void *)&word
					   : (void *)&v, bytes);
}

static void
carry_out(const struct cli_option *r, const char *arg, char *options)
{
	char *at = options + r->at, name[64];
	(void)snprintf(name, sizeof(name), "--%s", r->name ? r->name : "");
	switch (r->kind) {
	case CLI_IS_VALUE: put_integer(at, r->bytes, r->min); break;
	case CLI_IS_TEXT: memcpy(at, &arg, sizeof(arg)); break;
	case CLI_IS_NUMBER:
		put_integer(at, r->bytes, cli_number(name, arg, r->min, r->max));
		break;
	case CLI_IS_CHOICE:
		put_integer(at, r->bytes, arg ? cli_choice(name, arg, r->choices) : r->min);
		break;
	case CLI_IS_TAKEN: r->take(at, arg); break;
	case CLI_IS_LIST: cli_show(r->list);
	case CLI_IS_HEADING: break;
	}
	if (r->seen)
		put_integer(options + r->seen - 1, sizeof(bool), true);
}

bool
cli_take(const struct cli_option *rows, int key, const char *arg, void *options)
{
	for (size_t i = 0; key && !is_end(&rows[i]); i++)
		if (key_of(rows, i) == key) {
			carry_out(&rows[i], arg, options);
			return true;
		}
	return false;
}
