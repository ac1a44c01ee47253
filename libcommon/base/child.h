/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that run, with their outputs in memory.  child.c runs them as processes at the
 * same time.  child_wasi.c runs them one after the other, on a system without processes.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/bytes.h"
#include "base/diag.h"
#include "base/text.h"

#include <sys/types.h>

struct child {
	const char *name;
	pid_t pid;
	int status;	/* as from waitpid(); valid if not running */
	bool running;
	int out, says;	/* pipes from its standard output and error; -1: closed */
	int lost;	/* errno of a read that failed; 0: all output was read */
	struct text written, said; /* standard output and error so far */
};

/*
 * Starts the program at path; argv[0] is its name.  in is its standard input; -1: an
 * empty file.  out is its standard output; -1: c->written.  Each program leads a process
 * group of its own: Ctrl-C in a terminal does not reach it, and child_kill() also ends
 * the programs that it has started.  Without processes, the program has ended when this
 * function returns.
 */
bool child_start(struct child *c, const char *path, char **argv, int in, int out,
		 struct err *e);
/* Sends a signal to a program that runs, and to those that the program has started. */
void child_kill(const struct child *c, int number);
/* Closes pipes and frees outputs. */
void child_free(struct child *c);
/* Returns true if the program failed, but not because the reader of its output ended. */
bool child_failed(const struct child *c);

/*
 * Makes a pipe between two programs: end[0] is read, end[1] is written.  Without
 * processes the pipe keeps all data until the second program starts.
 */
bool child_pipe(int end[2], struct err *e);
void child_close_pipe(const int end[2]);
/* Makes *fd a file in memory with these bytes, for the standard input of a program. */
bool child_input(struct bytes b, int *fd, struct err *e);

/*
 * From children_begin() to children_end(), signals that end this program (SIGINT, SIGTERM
 * and SIGHUP, unless ignored) wait for children_wait(), and then are only noted.
 */
void children_begin(void);
void children_end(void);
/*
 * Waits until one of n programs has written or ended, a signal has come, or the time is
 * over; then reads what was written and notes which programs have ended.
 */
void children_wait(struct child *const *c, size_t n, double seconds);
/* Returns the number of the signal that shall end this program; 0: none has come. */
int children_signal(void);
/* Ends this program as the noted signal would have ended it. */
_Noreturn void children_raise(void);
/* The number of programs to run at a time; wanted 0: one for each processor. */
size_t children_at_a_time(unsigned wanted);

#endif
