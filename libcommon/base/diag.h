/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How failures travel.  Libraries never print and never exit: they fill a
 * struct err and return false; the tool prints one line and exits with the
 * status found there.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

enum {
	EXIT_YES = 0,	  /* done, or the answer is yes */
	EXIT_NO = 1,	  /* the answer is no: outputs differ, rule broken */
	EXIT_TROUBLE = 2, /* input, usage or system at fault */
};

/* All zero is "no error".  text is one line, lower case, no full stop. */
struct err {
	int status; /* EXIT_NO or EXIT_TROUBLE once set */
	char text[1000];
};

/*
 * Each records the first failure only, and returns false so that a caller can
 * write `return cond || err_set(e, ...)`.  err_at prefixes "FILE:LINE: error: "
 * (line 0: "FILE: error: "); err_no marks the failure as an answer (exit 1).
 */
bool err_set(struct err *e, const char *fmt, ...) PRINTF(2, 3);
bool err_no(struct err *e, const char *fmt, ...) PRINTF(2, 3);
bool err_at(struct err *e, const char *file, unsigned line, const char *fmt, ...)
    PRINTF(4, 5);

/* no memory is nobody's answer: says so and ends the program */
_Noreturn void out_of_memory(void);

#endif
