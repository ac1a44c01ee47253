/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a pipe as processes: processes.c, and processes_wasi.c where there are none. */
#ifndef PROCESSES_H
#define PROCESSES_H

#include "npucc.h"

struct process {
	const struct job *job;
	pid_t pid;
	int says; /* its standard error; -1: it has closed it */
	int status; /* as waitpid has it */
	bool ended;
	struct text notes; /* what it has said */
};

/*
 * Runs jobs that are one behind the other, and leaves their statuses and notes.
 * False: one could not be started, and c->e says why.
 */
bool processes_run(struct npucc *c, struct process *p, size_t n);

/* run.c: argv of a job, for both */
char **process_arguments(struct npucc *c, const struct job *j);
/* of itself, not because of another one */
bool process_failed(const struct process *p);

#endif
