/* SPDX-License-Identifier: Apache-2.0 */
/* Prints --help and --usage in the layout of glibc's argp. */
#include "argp.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* columns, counted from 0; a line has at most WIDTH - 1, or WIDTH after a break */
enum { LETTER = 2, NAME = 6, DOC = 29, HEADING = 1, USAGE = 12, WIDTH = 79 };

/* an option and the aliases behind it */
struct entry {
	const struct argp_option *o;
	int n, group;
	const struct argp_option *heading; /* NULL unless o is a heading: it has no letter
					    * and no name */
};

struct page {
	FILE *f;
	int col;
	struct entry *entry;
	int n;
};

/* ---- lines ----------------------------------------------------------------- */

static void
new_line(struct page *p, int margin)
{
	(void)fputc('\n', p->f);
	for (p->col = 0; p->col < margin; p->col++)
		(void)fputc(' ', p->f);
}

static void
indent_to(struct page *p, int col)
{
	for (; p->col < col; p->col++)
		(void)fputc(' ', p->f);
}

static void
put(struct page *p, const char *s)
{
	(void)fputs(s, p->f);
	p->col += (int)strlen(s);
}

/* Returns how many bytes of s fit on this line.  An overlong word gets its own line. */
static size_t
line_bytes(const struct page *p, const char *s, size_t n)
{
	if (p->col + (int)n < WIDTH)
		return n;
	size_t at = p->col < WIDTH ? (size_t)(WIDTH - p->col) : 0;
	size_t cut = at < n ? at : n;
	while (cut && s[cut] != ' ')
		cut--;
	if (!cut)
		for (cut = at < n ? at : n; cut < n && s[cut] != ' '; cut++)
			;
	while (cut && s[cut - 1] == ' ')
		cut--;
	return cut;
}

/* Prints s from the current column, broken between words; later lines begin at margin. */
static void
fill(struct page *p, const char *s, int margin)
{
	while (*s) {
		size_t n = strcspn(s, "\n"), k = line_bytes(p, s, n);
		p->col += (int)fwrite(s, 1, k, p->f);
		if (k == n && !s[n])
			return;
		s += k;
		s += k == n ? 1 : strspn(s, " ");
		new_line(p, *s ? margin : 0);
	}
}

/* ---- entries in their order ------------------------------------------------- */

static int
letter_of(const struct argp_option *o)
{
	return o->key > 0 && o->key < 256 && isprint(o->key) ? o->key : 0;
}

static const char *
name_of(const struct entry *e)
{
	for (int i = 0; i < e->n; i++)
		if (e->o[i].name && !(e->o[i].flags & OPTION_HIDDEN))
			return e->o[i].name;
	return NULL;
}

static int
visible_letter(const struct entry *e)
{
	for (int i = 0; i < e->n; i++)
		if (letter_of(&e->o[i]) && !(e->o[i].flags & OPTION_HIDDEN))
			return e->o[i].key;
	return 0;
}

/* orders groups 0, 1, 2 ... and then the negative ones, with -1 last */
static unsigned
group_rank(int group)
{
	return (unsigned)group;
}

static int
compare_entries(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	if (a->group != b->group)
		return group_rank(a->group) < group_rank(b->group) ? -1 : 1;
	const char *name_a = name_of(a), *name_b = name_of(b);
	int letter_a = visible_letter(a), letter_b = visible_letter(b);
	if (!letter_a && !letter_b && name_a && name_b)
		return strcasecmp(name_a, name_b);
	int first_a = letter_a ? letter_a : name_a ? *name_a : 0;
	int first_b = letter_b ? letter_b : name_b ? *name_b : 0;
	int lower = tolower(first_a) - tolower(first_b);
	if (lower || first_a != first_b)
		return lower ? lower : first_b - first_a;
	if (!letter_a != !letter_b)
		return letter_a ? 1 : -1;
	return a->o < b->o ? -1 : 1;
}

static void
add_entries(struct page *p, const struct argp_option *o)
{
	int group = 0;
	for (; o && (o->name || o->key || o->doc || o->group); o++) {
		if (o->flags & OPTION_ALIAS) {
			p->entry[p->n - 1].n++;
			continue;
		}
		bool heading = !o->name && !o->key;
		group = o->group ? o->group : heading ? group + 1 : group;
		p->entry[p->n++] = (struct entry){ .o = o, .n = 1, .group = group,
						   .heading = heading ? o : NULL };
	}
}

static struct page
open_page(const struct argp_tables *t, FILE *f)
{
	struct page p = { .f = f };
	size_t n = 1;
	for (int i = 0; i < t->n; i++)
		for (const struct argp_option *o = t->v[i]->options;
		     o && (o->name || o->key || o->doc || o->group); o++)
			n++;
	p.entry = calloc(n, sizeof(*p.entry));
	if (!p.entry)
		exit(argp_err_exit_status);
	for (int i = 0; i < t->n; i++)
		add_entries(&p, t->v[i]->options);
	qsort(p.entry, (size_t)p.n, sizeof(*p.entry), compare_entries);
	return p;
}

/* ---- --help ----------------------------------------------------------------- */

static void
put_argument(struct page *p, const struct argp_option *real, const char *before)
{
	if (!real->arg)
		return;
	bool optional = real->flags & OPTION_ARG_OPTIONAL;
	put(p, optional ? "[" : "");
	put(p, before);
	put(p, real->arg);
	put(p, optional ? "]" : "");
}

/* Prints the letters, then the names; returns false if all of them are hidden. */
static bool
put_names(struct page *p, const struct entry *e)
{
	bool any = false, named = name_of(e);
	for (int i = 0; i < e->n; i++) {
		if (!letter_of(&e->o[i]) || e->o[i].flags & OPTION_HIDDEN)
			continue;
		put(p, any ? ", " : "");
		indent_to(p, LETTER);
		put(p, (char[]){ '-', (char)e->o[i].key, '\0' });
		if (!named)
			put_argument(p, e->o, " ");
		any = true;
	}
	for (int i = 0; i < e->n; i++) {
		if (!e->o[i].name || e->o[i].flags & OPTION_HIDDEN)
			continue;
		put(p, any ? ", " : "");
		indent_to(p, NAME);
		put(p, "--");
		put(p, e->o[i].name);
		put_argument(p, e->o, "=");
		any = true;
	}
	return any;
}

static void
put_option_doc(struct page *p, const char *doc)
{
	if (!doc || !*doc)
		return;
	if (p->col > DOC + 3)
		new_line(p, DOC);
	else if (p->col >= DOC)
		put(p, "   ");
	else
		indent_to(p, DOC);
	fill(p, doc, DOC);
}

static void
put_entries(struct page *p)
{
	const struct entry *before = NULL;
	bool headings = false, letters_with_argument = false;
	for (int i = 0; i < p->n; i++) {
		const struct entry *e = &p->entry[i];
		if (!e->heading && !(name_of(e) || visible_letter(e)))
			continue;
		if (before && (e->heading || (headings && before->group != e->group)))
			new_line(p, 0);
		if (e->heading) {
			indent_to(p, HEADING);
			fill(p, e->heading->doc, HEADING);
			headings = true;
		} else {
			(void)put_names(p, e);
			put_option_doc(p, e->o->doc);
		}
		letters_with_argument = letters_with_argument ||
			(e->o->arg && visible_letter(e) && name_of(e));
		new_line(p, 0);
		before = e;
	}
	if (!letters_with_argument)
		return;
	new_line(p, 0);
	fill(p, "Mandatory or optional arguments to long options are also mandatory or "
		"optional for any corresponding short options.", 0);
	new_line(p, 0);
}

/* Prints the part of all docs before or behind '\v'. */
static bool
put_doc(struct page *p, const struct argp_tables *t, bool behind)
{
	bool any = false;
	for (int i = 0; i < t->n; i++) {
		const char *doc = t->v[i]->doc, *v = doc ? strchr(doc, '\v') : NULL;
		if (!doc || (behind && !v))
			continue;
		char *part = behind ? strdup(v + 1)
				    : strndup(doc, v ? (size_t)(v - doc) : strlen(doc));
		if (part && *part) {
			if (behind)
				new_line(p, 0);
			fill(p, part, 0);
			if (p->col)
				new_line(p, 0);
			any = true;
		}
		free(part);
	}
	return any;
}

/* Prints a line for each alternative of operands. */
static void
put_usage(struct page *p, const struct argp_tables *t, const char *name,
	  void (*options)(struct page *p))
{
	const char *s = t->v[0]->args_doc ? t->v[0]->args_doc : "";
	for (bool first = true; first || *s; first = false) {
		size_t n = strcspn(s, "\n");
		char *alternative = strndup(s, n);
		put(p, first ? "Usage: " : "  or:  ");
		put(p, name);
		if (first && options)
			options(p);
		else
			put(p, " [OPTION...]");
		if (alternative && *alternative) {
			if (p->col + 1 + (int)n >= WIDTH)
				new_line(p, USAGE);
			else
				put(p, " ");
			fill(p, alternative, USAGE);
		}
		free(alternative);
		new_line(p, 0);
		s += n + (s[n] == '\n');
	}
}

void
argp_print_help(const struct argp_tables *t, const char *name, FILE *f)
{
	struct page p = open_page(t, f);
	put_usage(&p, t, name, NULL);
	if (put_doc(&p, t, false))
		new_line(&p, 0);
	put_entries(&p);
	(void)put_doc(&p, t, true);
	if (argp_program_bug_address) {
		new_line(&p, 0);
		(void)fprintf(f, "Report bugs to %s.\n", argp_program_bug_address);
	}
	free(p.entry);
}

/* ---- --usage ---------------------------------------------------------------- */

/* " [...]", whole on this line or on the next; glibc's argp breaks some lines elsewhere, since it
 * looks for the place in what its buffer holds */
static void
put_bracket(struct page *p, const char *before, const char *name,
	    const struct argp_option *real, const char *sign)
{
	size_t n = strlen(before) + strlen(name) + 2;
	if (real->arg)
		n += strlen(sign) + strlen(real->arg) +
		     (real->flags & OPTION_ARG_OPTIONAL ? 2 : 0);
	if (p->col + (int)n >= WIDTH)
		new_line(p, USAGE);
	else
		put(p, " ");
	put(p, "[");
	put(p, before);
	put(p, name);
	put_argument(p, real, sign);
	put(p, "]");
}

static void
put_all_options(struct page *p)
{
	char letters[257];
	size_t n = 0;
	for (int pass = 0; pass < 3; pass++) {
		for (int i = 0; i < p->n; i++) {
			const struct entry *e = &p->entry[i];
			for (int k = 0; k < e->n; k++) {
				const struct argp_option *o = &e->o[k];
				char letter[2] = { (char)letter_of(o), '\0' };
				if (o->flags & OPTION_HIDDEN)
					continue;
				if (pass == 0 && *letter && !e->o->arg)
					letters[n++] = *letter;
				else if (pass == 1 && *letter && e->o->arg)
					put_bracket(p, "-", letter, e->o, " ");
				else if (pass == 2 && o->name)
					put_bracket(p, "--", o->name, e->o, "=");
			}
		}
		letters[n] = '\0';
		if (pass == 0 && n)
			put_bracket(p, "-", letters, &(struct argp_option){ 0 }, "");
	}
}

void
argp_print_usage(const struct argp_tables *t, const char *name, FILE *f)
{
	struct page p = open_page(t, f);
	put_usage(&p, t, name, put_all_options);
	free(p.entry);
}
