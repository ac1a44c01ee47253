/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a command line, checked before argp takes the options. */
#ifndef BASE_CLI_WORDS_H
#define BASE_CLI_WORDS_H

#include <argp.h>

struct cli_elsewhere;

/* Options of one argp table; ended by an all-zero row.  NULL: no table. */
enum { CLI_TABLES = 3 };

struct cli_words {
	int argc;
	char **argv; /* the program's name, well-formed options, "--", operands; NULL */
};

/*
 * Prints one line for every misspelt option of argv, with the option that was probably
 * meant, and for every option without its argument.  argp ends a program at the first
 * of them; a person wants to see all.  The other words go to w->argv, whose memory is
 * the caller's (free()).  argv is permuted as getopt_long() does.  elsewhere: as in struct
 * cli_common.
 */
void cli_check_words(struct cli_words *w, const struct argp_option *const table[CLI_TABLES],
		     const struct cli_elsewhere *elsewhere, int argc, char **argv);

/* Returns the number of mistakes that cli_error() printed. */
int cli_mistakes(void);

#endif
