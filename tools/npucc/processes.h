/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the jobs of a pipe: processes.c, or processes_wasi.c on a system without
 * processes.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "npucc.h"

struct process {
	const struct job *job;
	pid_t pid;
	int says; /* reads its standard error; -1: closed */
	int status; /* as from waitpid() */
	bool ended;
	struct text notes; /* its messages so far */
};

/*
 * Runs jobs as a pipe, and stores their statuses and messages.  Returns false if a job
 * can't be started; c->e says why.
 */
bool processes_run(struct npucc *c, struct process *p, size_t n);

/* run.c: argv of a job, for both implementations */
char **process_arguments(struct npucc *c, const struct job *j);
/* true if p failed for a reason of its own, not because another process ended */
bool process_failed(const struct process *p);
/* Opens the file j->printed.  Returns -1 if there is none, or with c->e set. */
int open_printed(struct npucc *c, const struct job *j);

#endif
