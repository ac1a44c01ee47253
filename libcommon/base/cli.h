/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every program's main shares: argp set up with our exit status and
 * version, the last flush checked, one line of error.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include "base/diag.h"
#include "base/text.h"

#include <argp.h>
#include <stdint.h>

enum { CLI_MAX_JOBS = 64 };

/*
 * What programs have in common, in a table of its own beside theirs.  A pointer that
 * is NULL: this program has no such option, or takes operands itself.
 */
struct cli_common {
	const char **file;	  /* the only operand, */
	const char *what;	  /* "graph": there is "more than one graph" */
	const char **output;	  /* -o, --output */
	const char *output_value; /* NULL: "FILE" */
	const char *output_doc;	  /* NULL: "write to FILE" */
	int output_group;	  /* of --help */
	unsigned *jobs;		  /* -j, --jobs: 0 to CLI_MAX_JOBS */
	const char *jobs_doc;
};

/*
 * Parses the command line with argp and adds --help, --usage, --version and the
 * options of common (NULL: none).  Prints all mistakes of the command line, one
 * line each, and then ends the program with EXIT_TROUBLE.  Ends the program at once if
 * common->output is one of the operands, under any name.
 */
void cli_parse(const struct argp *argp, int argc, char **argv, void *options,
	       const struct cli_common *common);

/*
 * Ends a program: flushes standard output; prints e as "NAME: text" if it is
 * set.  Returns the exit status.
 */
int cli_finish(const struct err *e);

/* of an option that lists something instead of the program's work: ends it */
_Noreturn void cli_show(void (*list)(struct text *t));

/* "NAME: warning: ..." (or another label) on standard error */
void cli_note(const char *label, const char *fmt, ...) PRINTF(2, 3);

/*
 * Prints "NAME: message" for one mistake of the command line.  Parsing goes on,
 * so that all mistakes are printed; then cli_parse() points to --help and ends
 * the program with EXIT_TROUBLE.  Only for parsers that cli_parse() runs.
 */
void cli_error(const char *fmt, ...) PRINTF(1, 2);

/* K of "K=REST", up to four digits, and *arg becomes REST; -1: it has no K */
int cli_index(const char **arg);
/* A whole number from min to max, the argument of an option; min after
 * cli_error(). */
int64_t cli_number(const char *option, const char *arg, int64_t min,
		   int64_t max);
/* The same for bytes; 64K and 1M mean times 1,024 and times 1,048,576. */
int64_t cli_bytes(const char *option, const char *arg, int64_t min,
		  int64_t max);

/*
 * The position of arg in a list that ends with NULL; 0 after a cli_error() that
 * names the choices, and the one that was probably meant.
 */
int cli_choice(const char *option, const char *arg, const char *const *list);

#endif
