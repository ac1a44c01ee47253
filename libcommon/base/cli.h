/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the main() of every program shares: argp with our exit status and version,
 * the check of the last flush, and the one-line error message.
 */
#ifndef BASE_CLI_H
#define BASE_CLI_H

#include "base/diag.h"
#include "base/text.h"

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
 * One of the program's own options: its text in --help, and the member of the struct of
 * options that it sets.  The list ends with an all-zero row.  The macros below fill in a
 * row, which may go on with .key (a letter), .flags and .group of argp, and .seen:
 *
 *	{ CLI_TEXT("name", "NAME", name, "C name of the array"), .key = 'n' },
 *
 * A member of another type does not compile.
 */
/* The rows of schema/options.def. */
enum shared_option {
	SHARED_NO_OPTION,
#define OPTION(id, letter, long_name, value, programs, text) SHARED_##id,
#include "options.def"
};

enum cli_kind { CLI_IS_HEADING, CLI_IS_VALUE, CLI_IS_TEXT, CLI_IS_NUMBER, CLI_IS_BYTES,
		CLI_IS_REAL, CLI_IS_CHOICE, CLI_IS_TAKEN, CLI_IS_LIST };
struct cli_option {
	enum shared_option shared;
	const char *name, *arg, *doc; /* NULL: that of the shared option */
	int key, flags, group;
	enum cli_kind kind;
	size_t at, bytes; /* place and size of the member in the struct of options */
	size_t seen;	  /* CLI_SEEN(member): a bool that the option sets, too; 0: none */
	/* of CLI_NUMBER, CLI_BYTES, CLI_REAL; min is the value of an option without argument */
	int64_t min, max;
	const char *const *choices;
	void (*take)(void *at, const char *arg); /* at: the struct of options, or the member */
	void (*list)(struct text *t);
};

#ifndef CLI_OPTIONS /* the type of the struct of options */
#define CLI_OPTIONS struct options
#endif
#define CLI_BYTES(member) sizeof(((CLI_OPTIONS *)0)->member)
#define CLI_MEMBER(member, ...)                                                         \
	.at = offsetof(CLI_OPTIONS, member) +                                           \
	      0 * sizeof(_Generic(((CLI_OPTIONS *)0)->member, __VA_ARGS__)),            \
	.bytes = CLI_BYTES(member)
#define CLI_INTEGER(member)                                                             \
	CLI_MEMBER(member, bool: 0, int: 0, unsigned: 0, int64_t: 0, uint64_t: 0)
#define CLI_SEEN(member) (1 + offsetof(CLI_OPTIONS, member) + 0 / (CLI_BYTES(member) == 1))
#define CLI_ROW(name_, arg_, kind_, doc_)                                               \
	.name = (name_), .arg = (arg_), .doc = (doc_), .kind = CLI_IS_##kind_

/* sets a bool, number or enumeration to a value */
#define CLI_VALUE(name, member, value, doc)                                             \
	CLI_ROW(name, NULL, VALUE, doc), CLI_INTEGER(member), .min = (value)
#define CLI_FLAG(name, member, doc) CLI_VALUE(name, member, true, doc)
/* sets a const char * to the argument, or to NULL without one */
#define CLI_TEXT(name, arg, member, doc)                                                \
	CLI_ROW(name, arg, TEXT, doc), CLI_MEMBER(member, const char *: 0)
#define CLI_NUMBER(name, arg, member, least, most, doc)                                 \
	CLI_ROW(name, arg, NUMBER, doc), CLI_INTEGER(member), .min = (least), .max = (most)
/* the same for bytes, as cli_bytes() reads them, and for a double */
#define CLI_SIZE(name, arg, member, least, most, doc)                                   \
	CLI_ROW(name, arg, BYTES, doc), CLI_MEMBER(member, int64_t: 0),                 \
	.min = (least), .max = (most)
#define CLI_REAL(name, arg, member, least, most, doc)                                   \
	CLI_ROW(name, arg, REAL, doc), CLI_MEMBER(member, double: 0),                   \
	.min = (least), .max = (most)
/* sets an enumeration to the position in a list that ends with NULL */
#define CLI_CHOICE(name, arg, member, list, doc)                                        \
	CLI_ROW(name, arg, CHOICE, doc), CLI_INTEGER(member), .choices = (list)
/* calls a function with the struct of options, or with the address of a member */
#define CLI_TAKE(name, arg, function, doc)                                              \
	CLI_ROW(name, arg, TAKEN, doc), .take = (function)
#define CLI_TAKE_INTO(name, arg, member, function, doc)                                 \
	CLI_TAKE(name, arg, function, doc), .at = offsetof(CLI_OPTIONS, member)
/* prints a list, and ends the program */
#define CLI_LIST(name, function, doc) CLI_ROW(name, NULL, LIST, doc), .list = (function)
#define CLI_HEADING(doc) CLI_ROW(NULL, NULL, HEADING, doc)

/*
 * The same for an option of schema/options.def, by its id there.  The row may go on with .doc
 * and .arg, words that only this program needs:
 *
 *	{ SHARED_TEXT(CONFIG, config) },
 */
#define SHARED_ROW(id, kind_) .shared = SHARED_##id, .kind = CLI_IS_##kind_
#define SHARED_FLAG(id, member) SHARED_ROW(id, VALUE), CLI_INTEGER(member), .min = true
#define SHARED_TEXT(id, member) SHARED_ROW(id, TEXT), CLI_MEMBER(member, const char *: 0)
#define SHARED_NUMBER(id, member, least, most)                                           \
	SHARED_ROW(id, NUMBER), CLI_INTEGER(member), .min = (least), .max = (most)
#define SHARED_SIZE(id, member, least, most)                                             \
	SHARED_ROW(id, BYTES), CLI_MEMBER(member, int64_t: 0), .min = (least), .max = (most)
#define SHARED_REAL(id, member, least, most)                                             \
	SHARED_ROW(id, REAL), CLI_MEMBER(member, double: 0), .min = (least), .max = (most)
#define SHARED_CHOICE(id, member, list)                                                  \
	SHARED_ROW(id, CHOICE), CLI_INTEGER(member), .choices = (list)
#define SHARED_TAKE(id, function) SHARED_ROW(id, TAKEN), .take = (function)
#define SHARED_TAKE_INTO(id, member, function)                                           \
	SHARED_TAKE(id, function), .at = offsetof(CLI_OPTIONS, member)
#define SHARED_LIST(id, function) SHARED_ROW(id, LIST), .list = (function)

/*
 * The rows as argp's table, for argp_parse(); the caller frees the table.  The key of row i
 * is its letter, or CLI_FIRST_KEY + i.
 */
enum { CLI_FIRST_KEY = 256 };
struct argp_option *cli_table(const struct cli_option *rows);
/* Carries out the option with this key.  Returns false if no row has the key. */
bool cli_take(const struct cli_option *rows, int key, const char *arg, void *options);

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
 * The last call of a main(): flushes standard output, and prints e as "NAME: text" if e
 * is set.  Returns the exit status: that of e, or EXIT_TROUBLE if the flush failed.
 */
int cli_finish(const struct err *e);

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
