/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows the progress and the estimated time left on standard error, if it is a
 * terminal.  The first output comes after one second.  The line is removed at the end,
 * also if the user stops the program with Ctrl-C.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

struct progress {
	const char *what;     /* the unit of work, for example "frames" */
	double begin, shown;  /* time in seconds; shown is 0 before the first output */
	int terminal;	      /* 0: standard error is not a terminal */
};

void progress_begin(struct progress *p, const char *what);
/* Shows done of all.  The line is updated at most five times a second. */
void progress_show(struct progress *p, double done, double all);
void progress_end(struct progress *p);

#endif
