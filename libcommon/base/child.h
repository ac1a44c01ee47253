/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs, and collects their outputs in memory.  child.c runs several programs at the
 * same time, as processes.  child_wasi.c, for a system without processes, runs one program
 * after the other.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

#include "base/bytes.h"
#include "base/diag.h"
#include "base/text.h"

#include <sys/types.h>

struct child {
	const char *name; /* argv[0] */
	pid_t pid; /* valid if running */
	int status;	/* as waitpid() sets it; valid if not running */
	bool running;
	int out, says;	/* pipes from its standard output and standard error; -1: closed */
	int lost;	/* errno of a read that failed; 0: all output was read */
	struct text written, said; /* its standard output and standard error so far */
};

/*
 * Starts the program at path; argv[0] is its name.  in is its standard input; -1: an
 * empty file.  out is its standard output; -1: c->written collects the output.  The program
 * leads a process group of its own.  Therefore Ctrl-C in a terminal does not reach the
 * program, and child_kill() also reaches the programs that the program has started.  On a
 * system without processes, the program has ended when this function returns.
 */
bool child_start(struct child *c, const char *path, char **argv, int in, int out,
		 struct err *e);
/* Sends a signal to a running program, and to all programs that it has started. */
void child_kill(const struct child *c, int number);
/* Closes pipes and frees outputs. */
void child_free(struct child *c);
/* True if the program failed for a reason other than SIGPIPE, the end of its reader. */
bool child_failed(const struct child *c);

/*
 * Makes a pipe between two programs: one reads from end[0], the other writes to end[1].  On a
 * system without processes, the pipe keeps all data until the second program starts.
 */
bool child_pipe(int end[2], struct err *e);
void child_close_pipe(const int end[2]);
/* Makes *fd a file in memory with these bytes, for the standard input of a program. */
bool child_input(struct bytes b, int *fd, struct err *e);

/*
 * Between children_begin() and children_end(), SIGINT, SIGTERM and SIGHUP do not end this
 * program.  They are blocked, except in children_wait(), which records the signal for
 * children_signal().  Ignored signals stay ignored.
 */
void children_begin(void);
void children_end(void);
/*
 * Waits until one of n programs writes or ends, a signal arrives, or the time is over (at
 * most 60 seconds).  Then reads the outputs, and updates the member running.
 */
void children_wait(struct child *const *c, size_t n, double seconds);
/* Returns the number of the recorded signal; 0: none has arrived. */
int children_signal(void);
/* Ends this program by the recorded signal. */
_Noreturn void children_raise(void);
/* Returns how many programs to run at a time: `wanted`; 0: one for each processor. */
size_t children_at_a_time(unsigned wanted);

#endif
