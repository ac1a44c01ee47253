/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes a graph's text: numbers and words in values; keys are removed, or added
 * with the value of another record; records are removed, doubled or reordered.  Lines
 * between blob and end do not change.
 */
#include "mutate.h"

#include "base/arena.h"
#include "base/text.h"
#include "graph/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 2000 };

static const struct key {
	const char *record, *text;
} keys[] = {
#define RECORD(n, keyword, prefix, type, array)
#define KEY(n, field, text, kind, names) { #n, text },
#include "graph.def"
};

struct change {
	struct arena *a;
	struct dice *d;
	char *line[MAX_LINES];
	size_t n, n_records; /* lines in front of the first blob */
};

static void
split(struct change *c, char *text)
{
	for (char *s; c->n < MAX_LINES && (s = strsep(&text, "\n"));) {
		if (!strncmp(s, "blob", 4) && !c->n_records)
			c->n_records = c->n;
		c->line[c->n++] = s;
	}
	if (!c->n_records)
		c->n_records = c->n;
}

/* a position in s where a number begins; -1 if there is none */
static long
find_number(struct dice *d, const char *s)
{
	long found = -1;
	size_t seen = 0;
	bool value = false;
	for (const char *p = s; *p; p++) {
		value = *p == ' ' ? false : *p == '=' ? true : value;
		if (value && isdigit((unsigned char)*p) &&
		    !isalnum((unsigned char)p[-1]) && one_in(d, ++seen))
			found = p - s;
	}
	return found;
}

static void
change_number(struct change *c, char **line)
{
	long at = find_number(c->d, *line);
	if (at < 0)
		return;
	char *end;
	int64_t v = strtoll(*line + at, &end, 0);
	*line = arena_printf(c->a, "%.*s%" PRId64 "%s", (int)at, *line,
			     odd_number(c->d, v), end);
}

/* the k-th word " key=value" of a line, or NULL; quoted names contain no blanks here */
static char *
find_word(char *line, size_t k, size_t *n)
{
	for (char *p = strchr(line, ' '); p; p = strchr(p + 1, ' ')) {
		size_t w = 1 + strcspn(p + 1, " ");
		if (memchr(p, '=', w) && k-- == 0) {
			*n = w;
			return p;
		}
	}
	return NULL;
}

static size_t
count_words(char *line)
{
	size_t k = 0, n;
	while (find_word(line, k, &n))
		k++;
	return k;
}

static void
drop_word(struct change *c, char **line)
{
	size_t n;
	char *w = find_word(*line, roll(c->d, count_words(*line)), &n);
	if (w)
		*line = arena_printf(c->a, "%.*s%s", (int)(w - *line), *line, w + n);
}

/* takes a key of another record with its value; replaces the key or adds it */
static void
take_word(struct change *c, char **line)
{
	char *from = c->line[roll(c->d, c->n_records)];
	size_t n, m;
	char *w = find_word(from, roll(c->d, count_words(from)), &n);
	if (!w)
		return;
	size_t key = strcspn(w, "=") + 1;
	for (size_t k = 0; k < count_words(*line); k++) {
		char *x = find_word(*line, k, &m);
		if (!strncmp(x, w, key)) {
			*line = arena_printf(c->a, "%.*s%.*s%s", (int)(x - *line),
					     *line, (int)n, w, x + m);
			return;
		}
	}
	*line = arena_printf(c->a, "%s%.*s", *line, (int)n, w);
}

static void
add_key(struct change *c, char **line)
{
	const struct key *k = &keys[roll(c->d, ARRAY_LEN(keys))];
	*line = arena_printf(c->a, "%s %s=%" PRId64, *line, k->text,
			     odd_number(c->d, 1));
}

static void
change_lines(struct change *c, size_t i)
{
	size_t k = 1 + roll(c->d, c->n_records - 1);
	char *s = c->line[i];
	if (one_in(c->d, 2)) {
		c->line[i] = c->line[k];
		c->line[k] = s;
	} else if (one_in(c->d, 2) && c->n < MAX_LINES) {
		memmove(&c->line[k + 1], &c->line[k],
			(c->n - k) * sizeof(c->line[0]));
		c->line[k] = s;
		c->n++;
		c->n_records++;
	} else {
		memmove(&c->line[i], &c->line[i + 1],
			(c->n - i - 1) * sizeof(c->line[0]));
		c->n--;
		c->n_records--;
	}
}

static void
change_one(struct change *c)
{
	size_t i = c->n_records > 1 ? 1 + roll(c->d, c->n_records - 1) : 0;
	switch (roll(c->d, 10)) {
	case 0:
		if (i)
			change_lines(c, i);
		break;
	case 1:
		drop_word(c, &c->line[i]);
		break;
	case 2: case 3:
		take_word(c, &c->line[i]);
		break;
	case 4:
		add_key(c, &c->line[i]);
		break;
	default:
		change_number(c, &c->line[i]);
		break;
	}
}

size_t
mutate_graph(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct dice d = dice_init(seed);
	struct arena *a = arena_open();
	struct change *c = anew(a, struct change, 1);
	struct text t = { 0 };
	c->a = a;
	c->d = &d;
	split(c, arena_strndup(a, (const char *)data, size));
	for (size_t k = 1 + roll(&d, 3); k-- > 0;)
		change_one(c);
	for (size_t i = 0; i < c->n; i++)
		text_printf(&t, "%s%s", i ? "\n" : "", c->line[i]);
	bool fits = t.n && t.n <= max && !one_in(&d, 50);
	if (fits)
		memcpy(data, t.p, t.n);
	size_t n = fits ? t.n : mutate_bytes(data, size, max, seed);
	text_free(&t);
	arena_close(a);
	return n;
}
