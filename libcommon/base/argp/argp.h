/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subset of glibc's argp that the programs use, for a libc without argp.  Option
 * parsing, messages, --help and --usage are those of glibc, so that the same command
 * line has the same output in every build.  Not supported: clusters, help filters,
 * OPTION_DOC, ARGP_HELP_FMT.
 */
#ifndef BASE_WASI_ARGP_H
#define BASE_WASI_ARGP_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

typedef int error_t;

enum { OPTION_ARG_OPTIONAL = 1, OPTION_HIDDEN = 2, OPTION_ALIAS = 4 };

struct argp_option {
	const char *name; /* NULL: the option has a letter only, or is a heading */
	int key;	  /* a printable character is the option's letter */
	const char *arg;  /* NULL: the option takes no argument */
	int flags;
	const char *doc;
	int group; /* 0: the group of the option before; -1 is listed last */
};

struct argp_state;
typedef error_t (*argp_parser_t)(int key, char *arg, struct argp_state *state);

struct argp {
	const struct argp_option *options; /* an all-zero row is the last */
	argp_parser_t parser;
	const char *args_doc; /* alternatives are separated by '\n' */
	const char *doc;      /* the text behind '\v' is printed after the options */
	const struct argp_child *children;
	char *(*help_filter)(int key, const char *text, void *input); /* must be NULL */
	const char *argp_domain;
};

struct argp_child {
	const struct argp *argp;
	int flags;
	const char *header;
	int group;
};

struct argp_state {
	const struct argp *root_argp;
	int argc;
	char **argv;
	unsigned arg_num; /* number of operands that this parser has taken */
	void *input;
	void **child_inputs; /* for a parser to set at ARGP_KEY_INIT */
	const char *name;    /* of the program, without directories */
};

enum {
	ARGP_KEY_ARG = 0,
	ARGP_KEY_END = 0x1000001,
	ARGP_KEY_NO_ARGS = 0x1000002,
	ARGP_KEY_INIT = 0x1000003,
	ARGP_KEY_SUCCESS = 0x1000004,
};
#define ARGP_ERR_UNKNOWN E2BIG

extern const char *argp_program_bug_address;
extern int argp_err_exit_status;

/* for argp_parse(): the program has --help, --usage and --version of its own */
enum { ARGP_NO_HELP = 8 };

/*
 * Takes the words that base/cli_words.h leaves of a command line: every option
 * is one of the tables, and has its argument.  flags: ARGP_NO_HELP.  index:
 * NULL.
 */
error_t argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags,
		   int *index, void *input);

/* for argp_state_help(): a short usage message, or the whole list; then exit(0)
 */
enum {
	ARGP_HELP_USAGE = 1,
	ARGP_HELP_LONG = 8,
	ARGP_HELP_EXIT_OK = 0x200,
	ARGP_HELP_STD_HELP = ARGP_HELP_LONG | ARGP_HELP_EXIT_OK
};
void argp_state_help(const struct argp_state *state, FILE *f, unsigned flags);

/* help.c: print --help and --usage of all tables together */
enum { ARGP_MAX_TABLES = 8 };
struct argp_tables {
	const struct argp *v[ARGP_MAX_TABLES];
	int n;
};
void argp_print_help(const struct argp_tables *t, const char *name, FILE *f);
void argp_print_usage(const struct argp_tables *t, const char *name, FILE *f);

#endif
