/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as WebAssembly modules, one after the other.  WASI can't start
 * programs.  The host does, with the two functions below (scripts/wasm/wasi.js).
 */
#include "processes.h"

#ifdef __wasi__

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/*
 * Runs the program argv[0] with three of this program's descriptors as its own.  For
 * -1, the program gets an empty file, or its output is discarded.  Returns the status
 * as from waitpid(), or -1 if there is no such program.
 */
__attribute__((import_module("nputools"), import_name("run")))
extern int host_run(char **argv, int argc, int in, int out, int err);

/*
 * Returns a descriptor of a file in memory: data that is written to it can be read from
 * it once.
 */
__attribute__((import_module("nputools"), import_name("buffer")))
extern int host_buffer(void);

static void
hear(struct process *p, int fd)
{
	enum { STEP = 1 << 14 };
	ssize_t n;
	while ((n = read(fd, text_room(&p->notes, STEP), STEP)) > 0)
		p->notes.n += (size_t)n;
}

/* in: a descriptor, which is closed; out: a descriptor, or -1 */
static bool
run(struct npucc *c, struct process *p, int in, int out)
{
	char **argv = process_arguments(c, p->job);
	int argc = 0, says = host_buffer();
	while (argv[argc])
		argc++;
	p->status = host_run(argv, argc, in, out, says);
	hear(p, says);
	(void)close(says);
	if (in > STDIN_FILENO)
		(void)close(in);
	return p->status >= 0 || err_set(c->e, "%s: no such program", argv[0]);
}

/* the input of a job: j->from, j->fed, or the output of the job before */
static int
open_input(struct npucc *c, const struct job *j, int piped)
{
	if (j->from) {
		int fd = open(j->from, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			(void)err_set(c->e, "%s: %s", j->from, strerror(errno));
		if (piped > STDIN_FILENO)
			(void)close(piped);
		return fd;
	}
	if (!j->fed.p)
		return piped;
	int fd = host_buffer();
	if (!file_put(fd, j->fed.p, j->fed.n))
		(void)err_set(c->e, "pipe: %s", strerror(errno));
	return fd;
}

bool
processes_run(struct npucc *c, struct process *p, size_t n)
{
	int in = STDIN_FILENO;
	for (size_t i = 0; i < n; i++) {
		const struct job *j = p[i].job;
		bool last = i + 1 == n;
		int out = j->mute ? -1 : last ? STDOUT_FILENO : host_buffer();
		in = open_input(c, j, in);
		if (c->e->status || !run(c, &p[i], in, out))
			return false;
		/* the jobs after it would find truncated input */
		if (process_failed(&p[i]))
			break;
		in = out;
	}
	return true;
}

#endif
