/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cli.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/nearest.h"
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
#include <unistd.h>

const char *argp_program_bug_address = "the project's issue tracker";

static void
print_version(FILE *f, struct argp_state *state)
{
	(void)fprintf(f, "%s (nputools) %s\n", state->name, NPUTOOLS_VERSION);
}

/*
 * What is freed is wanted again soon, until the program ends: giving it back to
 * the system meanwhile costs a page fault for every 4 KiB of it.
 */
static void
keep_memory(void)
{
#if defined(M_TRIM_THRESHOLD) && defined(M_MMAP_THRESHOLD)
	enum { KEEP_BYTES = 32 << 20 };
	(void)mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
	(void)mallopt(M_MMAP_THRESHOLD, KEEP_BYTES);
#ifdef M_TOP_PAD
	/* memory asked for ahead is memory that calloc() clears, and so touches */
	(void)mallopt(M_TOP_PAD, 0);
#endif
#endif
}

/* is all of standard output where it should be?  If not, says so */
static bool
output_is_whole(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return true;
	(void)fprintf(stderr, "%s: standard output: %s\n",
		      program_invocation_short_name, strerror(errno));
	return false;
}

/* argp ends a program itself after --help, --usage and --version */
static void
check_output(void)
{
	if (!output_is_whole())
		_exit(EXIT_TROUBLE);
}

/* ---- common options ------------------------------------------------------ */

static error_t
parse_common(int key, char *arg, struct argp_state *state)
{
	const struct cli_common *c = state->input;
	if (key == 'o' && c->output) {
		*c->output = arg;
	} else if (key == 'j' && c->jobs) {
		*c->jobs = (unsigned)cli_number(state, "-j", arg, 0, CLI_MAX_JOBS);
	} else if (key == ARGP_KEY_ARG && c->file) {
		if (state->arg_num)
			argp_error(state, "more than one %s", c->what);
		*c->file = arg;
	} else {
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

struct parsers { /* what each of the two tables is given */
	void *options;
	const struct cli_common *common;
	const char **operand; /* all of them, for check_operands() */
	size_t n_operands;
};

/* ends the program if the output would take the place of an operand */
static void
check_operands(struct argp_state *state, const struct parsers *p)
{
	const char **output = p->common->output;
	struct err e = { 0 };
	for (size_t i = 0; output && i < p->n_operands; i++)
		if (!file_check_output(*output, p->operand[i], &e))
			argp_failure(state, EXIT_TROUBLE, 0, "%s", e.text);
}

static error_t
parse_both(int key, char *arg, struct argp_state *state)
{
	struct parsers *p = state->input;
	if (key == ARGP_KEY_ARG)
		p->operand[p->n_operands++] = arg;
	if (key == ARGP_KEY_END)
		check_operands(state, p);
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = p->options;
	state->child_inputs[1] = (void *)(uintptr_t)p->common;
	return 0;
}

/* rows for what the program has of them; n rows and an end */
static void
list_common(const struct cli_common *c, struct argp_option row[3])
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
}

void
cli_parse(const struct argp *argp, int argc, char **argv, void *options,
	  const struct cli_common *common)
{
	static const struct cli_common none;
	struct parsers both = { .options = options,
				.common = common ? common : &none };
	struct argp_option row[3] = { 0 };
	struct argp own = { .options = argp->options, .parser = argp->parser,
			    .help_filter = argp->help_filter };
	struct argp shared = { .options = row, .parser = parse_common };
	struct argp_child tables[] = { { &own, 0, NULL, 0 }, { &shared, 0, NULL, 0 },
				       { 0 } };
	struct argp whole = { .parser = parse_both, .args_doc = argp->args_doc,
			      .doc = argp->doc, .children = tables,
			      .help_filter = argp->help_filter };
	list_common(both.common, row);
	if (!row[0].name) /* argp's --help loses the memory of an empty table */
		shared.options = NULL;
	both.operand = calloc((size_t)argc + 1, sizeof(*both.operand));
	if (!both.operand)
		out_of_memory();
	argp_program_version_hook = print_version;
	argp_err_exit_status = EXIT_TROUBLE;
	keep_memory();
	/* beyond a limit of files' sizes, write() fails: it is said, and cleaned up */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (atexit(check_output))
		out_of_memory();
	(void)argp_parse(&whole, argc, argv, 0, NULL, &both);
	free(both.operand);
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
		(void)fprintf(stderr, "%s: %s\n", program_invocation_short_name,
			      e->text);
	if (output_is_whole())
		return status;
	clearerr(stdout); /* it has been said */
	return EXIT_TROUBLE;
}

void
cli_note(const char *label, const char *fmt, ...)
{
	char *line;
	va_list ap;
	va_start(ap, fmt);
	if (vasprintf(&line, fmt, ap) < 0)
		out_of_memory();
	va_end(ap);
	struct arena *a = arena_open();
	(void)fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name,
		      label, text_plain(a, line));
	arena_close(a);
	free(line);
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
cli_number(struct argp_state *state, const char *option, const char *arg,
	   int64_t min, int64_t max)
{
	char *end;
	errno = 0;
	intmax_t v = strtoimax(arg, &end, 0);
	if (errno || end == arg || *end || v < min || v > max)
		argp_error(state, "%s takes a whole number from %" PRId64
				  " to %" PRId64 ", not '%s'",
			   option, min, max, arg);
	return v;
}

int
cli_choice(struct argp_state *state, const char *option, const char *arg,
	   const char *const *list)
{
	struct text t = { 0 };
	size_t n = 0;
	for (; list[n]; n++)
		if (!strcmp(list[n], arg))
			return (int)n;
	for (size_t i = 0; i < n; i++)
		text_printf(&t, "%s%s", i ? ", " : "", list[i]);
	const char *meant = nearest_word(arg, list, n);
	argp_error(state, "%s: no such choice: '%s'; choices: %s%s%s%s", option, arg,
		   text_str(&t), meant ? "; did you mean " : "",
		   meant ? meant : "", meant ? "?" : "");
	text_free(&t);
	return 0;
}

/* the power of two that a suffix stands for; 0: it is none */
static int
suffix_shift(const char *end)
{
	static const struct { char letter; int shift; } suffix[] = {
		{ 'k', 10 }, { 'K', 10 }, { 'm', 20 }, { 'M', 20 },
	};
	for (size_t i = 0; *end && !end[1] && i < ARRAY_LEN(suffix); i++)
		if (*end == suffix[i].letter)
			return suffix[i].shift;
	return 0;
}

int64_t
cli_bytes(struct argp_state *state, const char *option, const char *arg, int64_t min,
	  int64_t max)
{
	char *end;
	errno = 0;
	intmax_t v = strtoimax(arg, &end, 0);
	int shift = end == arg ? 0 : suffix_shift(end);
	if (errno || end == arg || (*end && !shift) || v < (min >> shift) ||
	    v > (max >> shift) || v << shift < min)
		argp_error(state, "%s takes bytes from %" PRId64 " to %" PRId64
				  ", as 65536, 64K or 1M, not '%s'",
			   option, min, max, arg);
	return v << shift;
}
