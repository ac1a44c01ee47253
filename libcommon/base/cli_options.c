/* SPDX-License-Identifier: Apache-2.0 */
/* Carries out the rows of a program's options. */
#include "base/cli_options.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct argp_option shared[] = {
	[SHARED_NO_OPTION] = { 0 },
#define OPTION(id, letter, long_name, value, programs, text)                            \
	[SHARED_##id] = { .name = long_name, .key = letter, .arg = value, .doc = text },
#include "options.def"
};

static bool
is_end(const struct cli_option *r)
{
	return !r->shared && !r->name && !r->key && !r->doc;
}

/* Row i for argp.  A heading and another name of the row before it have no key. */
static struct argp_option
row_of(const struct cli_option *rows, size_t i)
{
	const struct cli_option *r = &rows[i];
	struct argp_option o = shared[r->shared];
	o.name = r->name ? r->name : o.name;
	o.key = r->key ? r->key : o.key;
	o.arg = r->arg ? r->arg : o.arg;
	o.doc = r->doc ? r->doc : o.doc;
	o.flags = r->flags;
	o.group = r->group;
	if (!o.key && o.name && !(o.flags & OPTION_ALIAS))
		o.key = CLI_FIRST_KEY + (int)i;
	return o;
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
		t[i] = row_of(rows, i);
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
carry_out(const struct cli_option *r, const char *option, const char *arg, char *options)
{
	char *at = options + r->at, name[64];
	const char *before;
	double real;
	(void)snprintf(name, sizeof(name), "--%s", option ? option : "");
	switch (r->kind) {
	case CLI_IS_VALUE: put_integer(at, r->bytes, r->min); break;
	case CLI_IS_TEXT:
		memcpy(&before, at, sizeof(before));
		/* who names two chips compares them: the result for one would mislead */
		if (r->shared == SHARED_PART && before && strcmp(before, arg) != 0)
			cli_error("--part is given twice, as %s and as %s; this program takes one "
				  "chip, npu-sweep compares several", before, arg);
		memcpy(at, &arg, sizeof(arg));
		break;
	case CLI_IS_NUMBER:
		put_integer(at, r->bytes, cli_number(name, arg, r->min, r->max));
		break;
	case CLI_IS_BYTES:
		put_integer(at, r->bytes, cli_bytes(name, arg, r->min, r->max));
		break;
	case CLI_IS_REAL:
		real = cli_real(name, arg, (double)r->min, (double)r->max);
		memcpy(at, &real, sizeof(real));
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
	for (size_t i = 0; key && !is_end(&rows[i]); i++) {
		struct argp_option o = row_of(rows, i);
		if (o.key == key) {
			carry_out(&rows[i], o.name, arg, options);
			return true;
		}
	}
	return false;
}
