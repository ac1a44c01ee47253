/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the main() of every program shares: argp with our exit status and version,
 * the check of the last flush, and the one-line error message.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include "base/diag.h"

#include <argp.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct cli_option;
struct sandbox;

enum { CLI_MAX_JOBS = 64 };

/*
 * Options that many programs share.  They are an argp table of their own, parsed beside
 * the program's table.  A NULL pointer means that the program does not have the option,
 * or parses operands itself.
 */
/* an option that users look for and the program does not have, and what to use instead */
struct cli_elsewhere {
	const char *name, *hint;
};

struct cli_common {
	const char **file;	  /* the only operand */
	const char *what;	  /* what the operand is, for the error "more than one
				   * graph"; example: "graph" */
	const char **output;	  /* -o, --output */
	const char *output_value; /* the value's name in --help; NULL: "FILE" */
	const char *output_doc;	  /* NULL: "write to FILE" */
	int output_group;	  /* argp's option group of --output in --help */
	unsigned *jobs;		  /* -j, --jobs: 0 to CLI_MAX_JOBS */
	const char *jobs_doc;
	/* the program's own options; NULL: argp->options and argp->parser have them */
	const struct cli_option *options;
	const struct cli_elsewhere *elsewhere; /* a single one; NULL: none */
	void (*operand)(void *options, const char *arg); /* takes one of several operands */
	void (*check)(void *options); /* judges all options together; may set defaults */
	/*
	 * The program has --no-sandbox, and without it enters the sandbox when the command line
	 * is parsed.  It then opens the operands and the output, if this is a file, and what
	 * allow (NULL: nothing) adds.
	 */
	bool confined;
	void (*allow)(const struct sandbox *s, void *options);
	bool names_files; /* an input can name files: --permit lets the sandbox read them, too */
};

/*
 * Parses the command line with argp and adds --help, --usage, --version and the
 * options of common (NULL: none).  Prints all mistakes of the command line, one
 * line each, and then ends the program with EXIT_TROUBLE.  Ends the program at once if
 * common->output is one of the operands, under any name.
 *
 * argp->args_doc is "[FILE]" if it is NULL and common->file is set.  argp->parser may be
 * NULL.
 */
void cli_parse(const struct argp *argp, int argc, char **argv, void *options,
	       const struct cli_common *common);

/*
 * A whole main(): parses the command line, calls run with an arena, which is then closed,
 * and returns what cli_finish() returns.  The result of run is not used: e says all.
 */
int cli_run(const struct argp *argp, int argc, char **argv, void *options,
	    const struct cli_common *common,
	    bool (*run)(void *options, struct arena *a, struct err *e));

/*
 * The last call of a main(): flushes standard output, and prints e as "NAME: PLACE: error: TEXT"
 * if e is set.  Returns the exit status: that of e, or EXIT_TROUBLE if the flush failed.
 */
int cli_finish(const struct err *e);
void cli_print(const struct err *e); /* the line alone */

/*
 * Prints a list to standard output and exits.  For options that print a list instead of
 * running the program.
 */
_Noreturn void cli_show(void (*list)(struct text *t));

/* Prints "NAME: LABEL: message" on standard error, for example "NAME: warning: ...". */
void cli_note(const char *label, const char *fmt, ...) PRINTF(2, 3);
/* The same for code that a library calls, too: appends "LABEL: message" to e->notes if set. */
void cli_note_to(const struct err *e, const char *label, const char *fmt, ...) PRINTF(3, 4);

/*
 * Prints "NAME: error: message" for one mistake of the command line.  Parsing goes on,
 * so that all mistakes are printed; then cli_parse() points to --help and ends
 * the program with EXIT_TROUBLE.  Only for parsers that cli_parse() runs.
 */
void cli_error(const char *fmt, ...) PRINTF(1, 2);
/* The same for a mistake that a function found, with the place in a file. */
void cli_refuse(const struct err *e);

/* K of "K=REST", up to four digits, and *arg becomes REST; -1: it has no K */
int cli_index(const char **arg);
/* A whole number from min to max, the argument of an option; min after
 * cli_error(). */
int64_t cli_number(const char *option, const char *arg, int64_t min,
		   int64_t max);
/* The same for a number that need not be whole. */
double cli_real(const char *option, const char *arg, double min, double max);
/* The same for bytes; 64K and 1M mean times 1,024 and times 1,048,576. */
int64_t cli_bytes(const char *option, const char *arg, int64_t min,
		  int64_t max);

/*
 * The position of arg in a list that ends with NULL; 0 after a cli_error() that
 * names the choices, and the one that was probably meant.
 */
int cli_choice(const char *option, const char *arg, const char *const *list);

#endif
