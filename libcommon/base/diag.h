/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Error reports.  Library functions never print and never exit: they fill a struct err
 * and return false.  The program prints the error on one line and exits with its
 * status.
 */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

enum {
	EXIT_YES = 0,	  /* done, or the answer is yes */
	EXIT_NO = 1,	  /* the answer is no: outputs differ, rule broken */
	EXIT_TROUBLE = 2, /* the input, the usage or the system is at fault */
};

/*
 * All zero means "no error".  place is "FILE", "FILE:LINE" or empty.  text is one line, lower
 * case, without a full stop.  Programs print "NAME: PLACE: error: TEXT" (cli_finish()).
 */
struct text;
struct err {
	int status; /* 0: no error; else EXIT_NO or EXIT_TROUBLE */
	char place[420];
	char text[1000];
	struct text *notes; /* of cli_note_to(), a line each; NULL: standard error */
};

/*
 * These functions record the first failure only, and return false, so that a caller can
 * write `return cond || err_set(e, ...)`.  err_at() names the place "FILE:LINE" (line 0: "FILE"
 * alone).  err_no() is err_at() for a negative answer (exit status 1); file may be NULL.
 */
bool err_set(struct err *e, const char *fmt, ...) PRINTF(2, 3);
bool err_at(struct err *e, const char *file, unsigned line, const char *fmt, ...)
    PRINTF(4, 5);
bool err_no(struct err *e, const char *file, unsigned line, const char *fmt, ...)
    PRINTF(4, 5);
/* The same for the message of another program, "PLACE: error: TEXT" or a text alone. */
bool err_quote(struct err *e, int status, const char *line);

/*
 * exhausted.c: reports that memory is exhausted, and exits with EXIT_TROUBLE.  In
 * libnputools, ends the call of the library instead (tools/libnputools/attempt.c).
 */
_Noreturn void out_of_memory(void);

#endif
