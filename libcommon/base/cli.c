/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"

#include "base/arena.h"
#include "base/cli_options.h"
#include "base/cli_words.h"
#include "base/file.h"
#include "base/human.h"
#include "base/nearest.h"
#include "base/sandbox.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* argp of a shared libc reads this variable of the program, so that it has to be visible there */
__attribute__((visibility("default"))) const char *argp_program_bug_address =
	"the project's issue tracker";

/*
 * Freed memory is needed again soon, until the program ends.  If malloc() returned it
 * to the system meanwhile, every 4 KiB of it would cost a page fault.
 */
static void
keep_memory(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
	enum { KEEP_BYTES = 32 << 20 };
	(void)mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
#ifdef M_TOP_PAD
	/* calloc() would clear memory that malloc() requests ahead, and so touch it */
	(void)mallopt(M_TOP_PAD, 0);
#endif
#endif
}

/* Flushes standard output; returns false if it failed, and reports that unless an error of the run,
 * which may be the same, was reported before. */
static bool
output_is_whole(bool reported)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	if (reported)
		return false;
	(void)fprintf(stderr, "%s: standard output: error: %s\n",
		      program_invocation_short_name, strerror(errno));
	return false;
}

/* argp itself exits after --help, --usage and --version, so atexit() checks the output */
static void
check_output(void)
{
	if (!output_is_whole(false))
		_exit(EXIT_TROUBLE);
}

/* ---- common options ------------------------------------------------------ */

enum { KEY_USAGE = -3, KEY_NO_SANDBOX = -4, KEY_PERMIT = -5 };

/* every program has these; argp's own --help has the letter '?' alone */
static const struct argp_option standard_options[] = {
    {.name = "help", .key = 'h', .doc = "Give this help list", .group = -1},
    {.key = '?', .flags = OPTION_HIDDEN},
    {.name = "usage", .key = KEY_USAGE, .doc = "Give a short usage message"},
    {.name = "version",
     .key = 'V',
     .doc = "Print program version",
     .group = -1},
    {0},
};

static error_t
parse_standard(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case 'h':
	case '?':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		break;
	case KEY_USAGE:
		argp_state_help(state, stdout,
				ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK);
		break;
	case 'V':
		(void)printf("%s (nputools) %s\n", state->name, NPUTOOLS_VERSION);
		exit(EXIT_SUCCESS);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct parsers { /* what the tables of options share */
	const struct argp *own;
	void *options; /* of own */
	const struct cli_common *common;
	const char **operand; /* all operands: the output must not overwrite them */
	size_t n_operands;
	bool misspelt; /* an option: operands and what is missing can't be
			  judged */
	bool unconfined; /* --no-sandbox */
	const char **permitted; /* --permit */
	size_t n_permitted;
};

static error_t
parse_common(int key, char *arg, struct argp_state *state)
{
	struct parsers *p = state->input;
	const struct cli_common *c = p->common;
	if (key == 'o' && c->output) {
		*c->output = arg;
	} else if (key == 'j' && c->jobs) {
		*c->jobs = (unsigned)cli_number("-j", arg, 0, CLI_MAX_JOBS);
	} else if (key == KEY_NO_SANDBOX) {
		p->unconfined = true;
	} else if (key == KEY_PERMIT) {
		p->permitted[p->n_permitted++] = arg;
	} else if (key == ARGP_KEY_ARG && c->file) {
		if (state->arg_num == 1)
			cli_error("more than one %s", c->what);
		*c->file = arg;
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t
parse_all(int key, char *arg, struct argp_state *state)
{
	struct parsers *p = state->input;
	if (key == ARGP_KEY_ARG)
		p->operand[p->n_operands++] = arg;
	if (key == ARGP_KEY_ARG && p->misspelt)
		return 0;
	/* exits if the output would overwrite an operand */
	const char **output = key == ARGP_KEY_END && !p->misspelt ? p->common->output : NULL;
	struct err e = { 0 };
	for (size_t i = 0; output && i < p->n_operands; i++)
		if (!file_check_output(*output, p->operand[i], &e))
			exit(cli_finish(&e));
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = p;
	state->child_inputs[1] = p;
	return 0;
}

/*
 * The program's parser.  If an option is misspelt, the options are not checked together,
 * because an option may be missing only for its spelling.
 */
static error_t
parse_own(int key, char *arg, struct argp_state *state)
{
	struct parsers *p = state->input;
	const struct cli_common *c = p->common;
	if (key == ARGP_KEY_END && p->misspelt)
		return 0;
	if (c->options && cli_take(c->options, key, arg, p->options))
		return 0;
	if (key == ARGP_KEY_ARG && c->operand) {
		c->operand(p->options, arg);
		return 0;
	}
	if (key == ARGP_KEY_END && c->check) {
		c->check(p->options);
		return 0;
	}
	if (!p->own->parser)
		return ARGP_ERR_UNKNOWN;
	state->input = p->options;
	error_t e = p->own->parser(key, arg, state);
	state->input = p;
	return e;
}

/*
 * makes the rows of -o, -j, --no-sandbox and --permit, of those that the program has; an
 * all-zero row is the last one
 */
static void
list_common(const struct cli_common *c, struct argp_option row[5])
{
	int n = 0;
	if (c->output)
		row[n++] = (struct argp_option){
			.name = "output", .key = 'o', .group = c->output_group,
			.arg = c->output_value ? c->output_value : "FILE",
			.doc = c->output_doc ? c->output_doc : "write to FILE",
		};
	if (c->jobs)
		row[n++] = (struct argp_option){ .name = "jobs", .key = 'j', .arg = "N",
						 .doc = c->jobs_doc };
	if (c->confined)
		row[n++] = (struct argp_option){
			.name = "no-sandbox", .key = KEY_NO_SANDBOX, .group = c->output_group,
			.doc = "do not give up the rights to open other files and to start "
			       "programs",
		};
	if (c->names_files)
		row[n++] = (struct argp_option){
			.name = "permit", .key = KEY_PERMIT, .arg = "PATH",
			.group = c->output_group,
			.doc = "if the graph names files, read PATH, or those in the directory PATH",
		};
}

/* The program's list comes first, so that it may open files that are not in the list. */
static void
confine(const struct parsers *p)
{
	const struct cli_common *c = p->common;
	struct sandbox s;
	if (!c->confined || p->unconfined)
		return;
	sandbox_open(&s);
	if (c->allow)
		c->allow(&s, p->options);
	for (size_t i = 0; i < p->n_operands; i++)
		sandbox_read(&s, p->operand[i]);
	for (size_t i = 0; i < p->n_permitted; i++)
		sandbox_read(&s, p->permitted[i]);
	if (c->output && !c->output_value)
		sandbox_write(&s, *c->output);
	sandbox_enter(&s);
}

static void
parse(struct parsers *p, const struct argp_option *common_row, int argc,
      char **argv)
{
	const struct argp *own = p->own;
	const struct cli_option *options = p->common->options;
	struct argp_option *table = options ? cli_table(options) : NULL;
	struct argp first = {.options = table ? table : own->options, .parser = parse_own};
	/* argp's --help loses the memory of an empty table */
	struct argp shared = {.options = common_row[0].name ? common_row : NULL,
			      .parser = parse_common};
	struct argp standard = {.options = standard_options,
				.parser = parse_standard};
	struct argp_child tables[] = {{&first, 0, NULL, 0},
				      {&shared, 0, NULL, 0},
				      {&standard, 0, NULL, 0},
				      {0}};
	struct argp whole = {.parser = parse_all,
			     .args_doc = own->args_doc      ? own->args_doc
					 : p->common->file ? "[FILE]"
							   : NULL,
			     .doc = own->doc,
			     .children = tables};
	const struct argp_option *const rows[CLI_TABLES] = {
	    first.options, shared.options, standard_options};
	struct cli_words words;
	cli_check_words(&words, rows, p->common->elsewhere, argc, argv);
	p->misspelt = cli_mistakes() > 0;
	p->operand = calloc((size_t)argc + 1, sizeof(*p->operand));
	p->permitted = calloc((size_t)argc + 1, sizeof(*p->permitted));
	if (!p->operand || !p->permitted)
		out_of_memory();
	if (argp_parse(&whole, words.argc, words.argv, ARGP_NO_HELP, NULL, p) == ENOMEM)
		out_of_memory();
	if (!cli_mistakes())
		confine(p);
	free(p->operand);
	free(p->permitted);
	free(words.argv);
	free(table);
}

void
cli_parse(const struct argp *argp, int argc, char **argv, void *options,
	  const struct cli_common *common)
{
	static const struct cli_common none;
	struct parsers all = {
	    .own = argp, .options = options, .common = common ? common : &none};
	struct argp_option row[5] = { 0 };
	list_common(all.common, row);
	argp_err_exit_status = EXIT_TROUBLE;
	keep_memory();
	/* above the limit of file sizes, write() then fails: we report it and clean up */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (atexit(check_output))
		out_of_memory();
	const char *what = all.common->what;
	file_await(what && strcmp(what, "FILE") != 0 ? what : "input");
	parse(&all, row, argc, argv);
	if (!cli_mistakes())
		return;
	const char *name = program_invocation_short_name;
	(void)fprintf(stderr,
		      "Try `%s --help' or `%s --usage' for more information.\n",
		      name, name);
	exit(EXIT_TROUBLE);
}

int
cli_run(const struct argp *argp, int argc, char **argv, void *options,
	const struct cli_common *common,
	bool (*run)(void *options, struct arena *a, struct err *e))
{
	struct err e = { 0 };
	cli_parse(argp, argc, argv, options, common);
	struct arena *a = arena_open();
	(void)run(options, a, &e);
	arena_close(a);
	return cli_finish(&e);
}

void
cli_show(void (*list)(struct text *t))
{
	struct text t = { 0 };
	struct err none = { 0 };
	list(&t);
	text_show(&t, stdout);
	exit(cli_finish(&none));
}

int
cli_finish(const struct err *e)
{
	int status = e->status;
	if (e->status)
		cli_print(e);
	if (output_is_whole(status == EXIT_TROUBLE))
		return status;
	clearerr(stdout); /* the error was already reported */
	return EXIT_TROUBLE;
}

static void
note(struct text *to, const char *label, const char *fmt, va_list ap)
{
	struct arena *a = arena_open();
	const char *plain = text_plain(a, arena_vprintf(a, fmt, ap));
	if (to)
		text_printf(to, "%s: %s\n", label, plain);
	else
		(void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
			      label, plain);
	arena_close(a);
}

void
cli_note(const char *label, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	note(NULL, label, fmt, ap);
	va_end(ap);
}

void
cli_note_to(const struct err *e, const char *label, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	note(e->notes, label, fmt, ap);
	va_end(ap);
}

int
cli_index(const char **arg)
{
	const char *p = *arg;
	size_t digits = strspn(p, "0123456789");
	int k = 0;
	if (!digits || digits > 4 || p[digits] != '=')
		return -1;
	for (; *p != '='; p++)
		k = 10 * k + (*p - '0');
	*arg = p + 1;
	return k;
}

int64_t
cli_number(const char *option, const char *arg, int64_t min, int64_t max)
{
	char *end;
	errno = 0;
	intmax_t v = strtoimax(arg, &end, 0);
	if (!errno && end != arg && !*end && v >= min && v <= max)
		return v;
	cli_error("%s takes a whole number from %" PRId64 " to %" PRId64
		  ", not '%s'",
		  option, min, max, arg);
	return min;
}

double
cli_real(const char *option, const char *arg, double min, double max)
{
	char *end;
	double v = strtod(arg, &end);
	if (end != arg && !*end && v >= min && v <= max)
		return v;
	cli_error("%s needs a number from %g to %g, not '%s'", option, min, max, arg);
	return min;
}

int
cli_choice(const char *option, const char *arg, const char *const *list)
{
	struct text t = { 0 };
	size_t n = 0;
	for (; list[n]; n++)
		if (!strcasecmp(list[n], arg)) /* as Vela does */
			return (int)n;
	for (size_t i = 0; i < n; i++)
		text_printf(&t, "%s%s", i ? ", " : "", list[i]);
	const char *meant = nearest_word(arg, list, n);
	cli_error("%s: no such choice: '%s'; choices: %s%s%s%s", option, arg,
		  text_str(&t), meant ? "; did you mean " : "",
		  meant ? meant : "", meant ? "?" : "");
	text_free(&t);
	return 0;
}

int64_t
cli_bytes(const char *option, const char *arg, int64_t min, int64_t max)
{
	char *end;
	errno = 0;
	intmax_t v = strtoimax(arg, &end, 0);
	int shift = end == arg ? 0 : bytes_suffix_shift(end);
	if (!errno && end != arg && (!*end || shift) && v >= (min >> shift) &&
	    v <= (max >> shift) && v << shift >= min)
		return v << shift;
	cli_error("%s takes a number of bytes from %" PRId64 " to %" PRId64 ", such as "
		  "65536, 64K or 1M, not '%s'",
		  option, min, max, arg);
	return min;
}
