/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as WebAssembly modules, one after the other.  WASI can't start
 * programs.  The host does (base/wasi/host.h).
 */
#include "processes.h"

#ifdef __wasi__

#include "base/wasi/host.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void
read_messages(struct process *p, int fd)
{
	enum { STEP = 1 << 14 };
	ssize_t n;
	while ((n = read(fd, text_reserve(&p->notes, STEP), STEP)) > 0)
		p->notes.n += (size_t)n;
}

/* in: closed by this function; out: stays open; -1: output is discarded */
static bool
run(struct npucc *c, struct process *p, int in, int out)
{
	char **argv = process_arguments(c, p->job);
	int argc = 0, says = host_buffer();
	while (argv[argc])
		argc++;
	p->status = host_run(argv, argc, in, out, says);
	read_messages(p, says);
	(void)close(says);
	if (in > STDIN_FILENO)
		(void)close(in);
	return p->status >= 0 || err_at(c->e, argv[0], 0, "no such program");
}

/* the input of a job: j->from, j->fed, or the output of the job before */
static int
open_input(struct npucc *c, const struct job *j, int piped)
{
	if (j->from) {
		int fd = open(j->from, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			(void)err_at(c->e, j->from, 0, "%s", strerror(errno));
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
		int printed = open_printed(c, j);
		int out = j->mute ? -1 : printed >= 0 ? printed : last ? STDOUT_FILENO : host_buffer();
		in = open_input(c, j, in);
		bool ok = !c->e->status && run(c, &p[i], in, out);
		if (printed >= 0)
			(void)close(printed);
		if (!ok)
			return false;
		/* the jobs after it would find truncated input */
		if (process_failed(&p[i]))
			break;
		in = out;
	}
	return true;
}

#endif
