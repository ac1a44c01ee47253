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
 * argp_parse with EXIT_TROUBLE for wrong usage, --version and our bug address.  Ends
 * the program if common->output is one of the operands, by any name.
 * common: the options that many have; NULL: none of them.
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

/* K of "K=REST", up to four digits, and *arg becomes REST; -1: it has no K */
int cli_index(const char **arg);
/* a whole number between min and max out of an option's argument, or usage error */
int64_t cli_number(struct argp_state *state, const char *option,
		   const char *arg, int64_t min, int64_t max);
/* the same of bytes: 64K and 1M are times 1,024 */
int64_t cli_bytes(struct argp_state *state, const char *option, const char *arg,
		  int64_t min, int64_t max);

/*
 * The position of arg in a list that ends with NULL, or a usage error that names
 * the choices, and the one that was probably meant.
 */
int cli_choice(struct argp_state *state, const char *option, const char *arg,
	       const char *const *list);

#endif
