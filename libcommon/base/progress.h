/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a program is and how long it will take, on the terminal that its standard error
 * is, from a second on; elsewhere nothing.  The line is removed in the end, also where the
 * user stops the program with Ctrl-C.
 */
#ifndef BASE_PROGRESS_H
#define BASE_PROGRESS_H

struct progress {
	const char *what;     /* "frames" */
	double begin, shown;  /* seconds; shown 0: never */
	int terminal;	      /* 0: none */
};

void progress_begin(struct progress *p, const char *what);
/* done of all; nothing is shown more often than five times a second */
void progress_show(struct progress *p, double done, double all);
void progress_end(struct progress *p);

#endif
