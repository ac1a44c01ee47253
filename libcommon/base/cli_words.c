/* SPDX-License-Identifier: Apache-2.0 */
/* Finds all malformed options of a command line with getopt_long(). */
#include "base/cli_words.h"

#include "base/arena.h"
#include "base/cli.h"
#include "base/nearest.h"
#include "base/text.h"

#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_mistakes; /* of the command line, each printed when it was found */

void
cli_error(const char *fmt, ...)
{
	va_list ap;
	char *line;
	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		out_of_memory();
	va_end(ap);
	text_make_plain(line);
	(void)fprintf(stderr, "%s: error: %s\n", program_invocation_short_name, line);
	free(line);
	n_mistakes++;
}

void
cli_print(const struct err *e)
{
	(void)fprintf(stderr, "%s: %s%serror: %s\n", program_invocation_short_name, e->place,
		      *e->place ? ": " : "", e->text);
}

void
cli_refuse(const struct err *e)
{
	cli_print(e);
	n_mistakes++;
}

int
cli_mistakes(void)
{
	return n_mistakes;
}

/*
 * what getopt_long() returns for struct scan's name[i]: FIRST_NAME + i, above all
 * letters
 */
enum { FIRST_NAME = 1 << 16 };

struct scan {
	struct arena *a;
	struct option *name; /* n of them, then abbreviations, and an all-zero one */
	int n;
	const struct cli_elsewhere *elsewhere;
	struct text letters; /* for getopt_long(): "name:" takes an argument */
};

/* ---- the tables as getopt_long() wants them -------------------------------- */

static bool
is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

static int
has_argument(const struct argp_option *real)
{
	if (!real->arg)
		return no_argument;
	return real->flags & OPTION_ARG_OPTIONAL ? optional_argument : required_argument;
}

static void
add_row(struct scan *s, const struct argp_option *o, int has_arg)
{
	static const char *const colons[] = { [no_argument] = "",
					      [required_argument] = ":",
					      [optional_argument] = "::" };
	if (o->name) {
		/* an abbreviation that an option and its alias share is not ambiguous */
		const bool same = o->flags & OPTION_ALIAS && s->n;
		const int value = same ? s->name[s->n - 1].val : FIRST_NAME + s->n;
		s->name[s->n] = (struct option){ o->name, has_arg, NULL, value };
		s->n++;
	}
	if (o->key > ' ' && o->key < 127 && o->key != '?')
		text_printf(&s->letters, "%c%s", o->key, colons[has_arg]);
}

/* True if all options that begin with these n bytes have one meaning. */
static bool
is_clear(const struct scan *s, const char *word, size_t n, int value)
{
	for (int i = 0; i < s->n; i++)
		if (!strncmp(s->name[i].name, word, n) && s->name[i].val != value)
			return false;
	return true;
}

static void
list_options(struct scan *s, const struct argp_option *const table[CLI_TABLES])
{
	size_t rows = 0;
	for (int t = 0; t < CLI_TABLES; t++)
		for (const struct argp_option *o = table[t]; o && !is_end(o); o++)
			rows += 1 + (o->name && o->flags & OPTION_ALIAS ? strlen(o->name) : 0);
	s->name = anew(s->a, struct option, rows + 1);
	text_puts(&s->letters, ":"); /* a missing argument is told from a wrong letter */
	for (int t = 0; t < CLI_TABLES; t++) {
		const struct argp_option *real = table[t];
		for (const struct argp_option *o = table[t]; o && !is_end(o); o++) {
			real = o->flags & OPTION_ALIAS ? real : o;
			add_row(s, o, has_argument(real));
		}
	}
	/* the getopt_long() of musl refuses an abbreviation that an option and its alias share */
	struct option *to = &s->name[s->n];
	for (int i = 1; i < s->n; i++) {
		const struct option *o = &s->name[i], *before = o - 1;
		for (size_t k = 1; o->val == before->val && !strncmp(o->name, before->name, k); k++)
			if (is_clear(s, o->name, k, o->val))
				*to++ = (struct option){ arena_strndup(s->a, o->name, k), o->has_arg,
							 NULL, o->val };
	}
}

/* ---- messages --------------------------------------------------------------- */

/* word: an option's long name, without "--" and without "=argument" */
static void
print_bad_name(const struct scan *s, const char *word)
{
	struct text names = { 0 };
	const char **list = anew(s->a, const char *, (size_t)s->n);
	for (int i = 0; i < s->n; i++)
		list[i] = s->name[i].name;
	const char *meant = nearest_word(word, list, (size_t)s->n);
	for (int i = 0; i < s->n; i++)
		if (!strncmp(list[i], word, strlen(word)))
			text_printf(&names, " '--%s'", list[i]);
	if (s->elsewhere && !strcmp(word, s->elsewhere->name))
		cli_error("unrecognized option '--%s'; %s", word, s->elsewhere->hint);
	else if (names.n)
		cli_error("option '--%s' is ambiguous; possibilities:%s", word,
			  text_str(&names));
	else
		cli_error("unrecognized option '--%s'%s%s%s", word,
			  meant ? "; did you mean --" : "", meant ? meant : "",
			  meant ? "?" : "");
	text_free(&names);
}

/*
 * found: '?' or ':', as getopt_long() returned it.  optopt is the letter, the key of the
 * row, or 0 for an unknown name; last: the last word that getopt_long() took as a whole,
 * which is the word with the unknown name.
 */
static void
print_mistake(const struct scan *s, int found, const char *last)
{
	const char *name = optopt >= FIRST_NAME ? s->name[optopt - FIRST_NAME].name : NULL;
	if (name && found == ':')
		cli_error("option '--%s' requires an argument", name);
	else if (name)
		cli_error("option '--%s' doesn't allow an argument", name);
	else if (!optopt)
		print_bad_name(s, arena_strndup(s->a, last + 2, strcspn(last + 2, "=")));
	else if (found == ':')
		cli_error("option requires an argument -- '%c'", optopt);
	else
		cli_error("invalid option -- '%c'", optopt);
}

/* ---- the words ---------------------------------------------------------------- */

/* "-c": argp takes the letters of a word like "-qv" one by one */
static char *
letter_word(int c)
{
	static char word[UCHAR_MAX + 1][3];
	char *w = word[(unsigned char)c];
	w[0] = '-';
	w[1] = (char)c;
	return w;
}

/* the option that getopt_long() has just returned, and its argument */
static void
add_option(struct cli_words *w, int found, char **argv)
{
	char *last = argv[optind - 1];
	if (found < FIRST_NAME)
		w->argv[w->argc++] = letter_word(found);
	else if (optarg == last)
		w->argv[w->argc++] = argv[optind - 2];
	else
		w->argv[w->argc++] = last; /* "--name" or "--name=argument" */
	if (optarg && (found < FIRST_NAME || optarg == last))
		w->argv[w->argc++] = optarg;
}

void
cli_check_words(struct cli_words *w, const struct argp_option *const table[CLI_TABLES],
		const struct cli_elsewhere *elsewhere, int argc, char **argv)
{
	struct scan s = { .a = arena_open(), .elsewhere = elsewhere };
	/* words at most, with the program's name, "--" and NULL: a letter becomes an option */
	size_t most = 3;
	for (int i = 1; i < argc; i++)
		most += argv[i][0] == '-' && argv[i][1] != '-' ? strlen(argv[i]) : 1;
	*w = (struct cli_words){ .argv = calloc(most, sizeof(*w->argv)) };
	if (!w->argv)
		out_of_memory();
	list_options(&s, table);
	w->argv[w->argc++] = argv[0];
	opterr = 0;
	optind = 0; /* from the first word on, whatever was parsed before */
	for (;;) {
		optopt = 0;
		int found = getopt_long(argc, argv, text_str(&s.letters), s.name, NULL);
		if (found == -1)
			break;
		if (optopt == '?') /* not in the letters: getopt_long() returns '?' */
			add_option(w, '?', argv);
		else if (found == '?' || found == ':')
			print_mistake(&s, found, argv[optind - 1]);
		else
			add_option(w, found, argv);
	}
	w->argv[w->argc++] = "--";
	while (optind < argc)
		w->argv[w->argc++] = argv[optind++];
	text_free(&s.letters);
	arena_close(s.a);
}
