/* SPDX-License-Identifier: Apache-2.0 */
/* Runs programs as processes. */
#include "base/child.h"

#ifndef __wasi__

#include "base/file.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped; /* number of the signal that arrived last; 0: none */
static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
static sigset_t usual; /* signal mask before children_begin() */

/* ---- one program --------------------------------------------------------------------- */

bool
child_pipe(int end[2], struct err *e)
{
	return !pipe2(end, O_CLOEXEC) || err_set(e, "pipe: %s", strerror(errno));
}

void
child_close_pipe(const int end[2])
{
	for (int i = 0; i < 2; i++)
		if (end[i] >= 0)
			(void)close(end[i]);
}

bool
child_input(struct bytes b, int *fd, struct err *e)
{
	*fd = memfd_create("input", MFD_CLOEXEC);
	return (*fd >= 0 && file_put(*fd, b.p, b.n) && !lseek(*fd, 0, SEEK_SET)) ||
	       err_at(e, "file in memory", 0, "%s", strerror(errno));
}

/* Makes a pipe from a child.  A read from the pipe never waits. */
static bool
open_pipe(int end[2], struct err *e)
{
	return child_pipe(end, e) && (!fcntl(end[0], F_SETFL, O_NONBLOCK) ||
				      err_set(e, "pipe: %s", strerror(errno)));
}

bool
child_start(struct child *c, const char *path, char **argv, int in, int out, struct err *e)
{
	int said[2], made[2] = { -1, -1 };
	*c = (struct child){ .name = argv[0], .out = -1, .says = -1 };
	if (!open_pipe(said, e))
		return false;
	c->says = said[0];
	bool ok = out >= 0 || open_pipe(made, e);
	c->out = made[0];
	const struct spawn program = {
		.path = path, .argv = argv, .in = in >= 0 ? in : SPAWN_NULL,
		.out = out >= 0 ? out : made[1], .err = said[1],
	};
	int bad = ok ? spawn_program(&program, &c->pid) : 0;
	(void)close(said[1]);
	if (made[1] >= 0)
		(void)close(made[1]);
	c->running = ok && !bad;
	return c->running || err_at(e, path, 0, "%s", strerror(bad));
}

static void
stop_reading(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* Reads new data from *fd.  Returns true if there may be more. */
static bool
read_some(struct child *c, int *fd, struct text *t)
{
	enum { STEP = 1 << 16 };
	if (*fd < 0)
		return false;
	ssize_t n = read(*fd, text_reserve(t, STEP), STEP);
	if (n > 0)
		t->n += (size_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		c->lost = errno;
	if (n == 0 || c->lost)
		stop_reading(fd);
	return n > 0;
}

/* If the program has ended, reads all remaining data and closes the pipes.  It does not wait for
 * the end of the pipes, because programs that c started may keep them open. */
static void
reap(struct child *c)
{
	if (!c->running || waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	c->running = false;
	while (read_some(c, &c->out, &c->written))
		;
	while (read_some(c, &c->says, &c->said))
		;
	stop_reading(&c->out);
	stop_reading(&c->says);
}

void
child_kill(const struct child *c, int number)
{
	if (c->running)
		(void)kill(-c->pid, number);
}

void
child_free(struct child *c)
{
	stop_reading(&c->out);
	stop_reading(&c->says);
	text_free(&c->written);
	text_free(&c->said);
}

bool
child_failed(const struct child *c)
{
	return c->status && !(WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGPIPE);
}

/* ---- all programs -------------------------------------------------------------------- */

static void
on_signal(int number)
{
	if (number != SIGCHLD)
		stopped = number;
}

void
children_begin(void)
{
	struct sigaction old, own = { .sa_handler = on_signal };
	sigset_t held;
	(void)sigemptyset(&held);
	(void)sigaddset(&held, SIGCHLD);
	(void)sigaction(SIGCHLD, &own, NULL);
	for (size_t i = 0; i < ARRAY_LEN(caught); i++)
		if (!sigaction(caught[i], NULL, &old) && old.sa_handler != SIG_IGN) {
			(void)sigaction(caught[i], &own, NULL);
			(void)sigaddset(&held, caught[i]);
		}
	(void)sigprocmask(SIG_BLOCK, &held, &usual);
}

void
children_end(void)
{
	(void)sigprocmask(SIG_SETMASK, &usual, NULL);
}

void
children_wait(struct child *const *c, size_t n, double seconds)
{
	const double longest = 60, nano = 1e9, time = seconds < longest ? seconds : longest;
	struct pollfd *f = calloc(2 * n + 1, sizeof(*f));
	if (!f)
		out_of_memory();
	struct timespec left = {
		.tv_sec = (time_t)time,
		.tv_nsec = (long)((time - (double)(time_t)time) * nano),
	};
	for (size_t i = 0; i < n; i++) {
		f[2 * i] = (struct pollfd){ .fd = c[i]->out, .events = POLLIN };
		f[2 * i + 1] = (struct pollfd){ .fd = c[i]->says, .events = POLLIN };
	}
	bool any = ppoll(f, 2 * n, &left, &usual) > 0;
	for (size_t i = 0; any && i < n; i++) {
		if (f[2 * i].revents)
			(void)read_some(c[i], &c[i]->out, &c[i]->written);
		if (f[2 * i + 1].revents)
			(void)read_some(c[i], &c[i]->says, &c[i]->said);
	}
	free(f);
	for (size_t i = 0; i < n; i++)
		reap(c[i]);
}

int
children_signal(void)
{
	return stopped;
}

_Noreturn void
children_raise(void)
{
	(void)signal(stopped, SIG_DFL);
	(void)raise(stopped);
	exit(EXIT_TROUBLE);
}

size_t
children_at_a_time(unsigned wanted)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 0 : CPU_COUNT(&set);
	return wanted ? wanted : n > 0 ? (size_t)n : 1;
}

#endif
