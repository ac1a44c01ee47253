/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a program as rows, some of them by their id in schema/options.def. */
#ifndef BASE_CLI_OPTIONS_H
#define BASE_CLI_OPTIONS_H

#include "base/cli.h"

/* The rows of schema/options.def. */
enum shared_option {
	SHARED_NO_OPTION,
#define OPTION(id, letter, long_name, value, programs, text) SHARED_##id,
#include "options.def"
};

enum cli_kind { CLI_IS_HEADING, CLI_IS_VALUE, CLI_IS_TEXT, CLI_IS_NUMBER, CLI_IS_BYTES,
		CLI_IS_REAL, CLI_IS_CHOICE, CLI_IS_TAKEN, CLI_IS_LIST };

/*
 * One of the program's own options: its text in --help, and the member of the struct of
 * options that it sets.  The list ends with an all-zero row.  The macros below fill in a
 * row, which may go on with .key (a letter), .flags and .group of argp, and .seen:
 *
 *	{ CLI_TEXT("name", "NAME", name, "C name of the array"), .key = 'n' },
 *
 * A member of another type does not compile.
 */
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

#endif
