/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the progress and the estimated time left on standard error, if it is a
 * terminal.  The first output comes after one second.  The line is removed at the end,
 * also if the user stops the program with Ctrl-C.
 *
 * A program that reads the standard error of the programs it starts lends its terminal to
 * them, by the environment variable NPUTOOLS_PROGRESS: the number of an open file, the
 * second at which the user began to wait, and what to show.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

#include <stdbool.h>

struct progress {
	const char *what;     /* the unit of work, for example "frames" */
	/* times in seconds: begin of the work; begin of the user's wait; the latest output,
	 * 0: none */
	double begin, since, shown;
	int terminal; /* the terminal's file descriptor; -1: none */
	bool lent;    /* by another program, which may have more to do: no time left is shown */
};

void progress_begin(struct progress *p, const char *what);
/* Shows done of all.  The line is updated at most five times a second. */
void progress_show(struct progress *p, double done, double all);
void progress_end(struct progress *p);
/*
 * Lends standard error to the programs that this process starts, if it is a terminal.
 * what replaces theirs; "": each shows its own.
 */
void progress_lend(const char *what);
/*
 * Removes the line of programs that were ended by force.  A signal handler may call this
 * function.
 */
void progress_take_back(void);

#endif
