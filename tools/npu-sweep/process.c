/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs as processes.  Each is first of a process group of its own: a terminal's
 * Ctrl-C reaches npu-sweep alone, and to end a program ends what it has started.
 */
#include "sweep.h"

#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* a pipe of which reading never waits */
static bool
open_pipe(int end[2], struct err *e)
{
	return (!pipe2(end, O_CLOEXEC) && !fcntl(end[0], F_SETFL, O_NONBLOCK)) ||
	       err_set(e, "pipe: %s", strerror(errno));
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
	return c->running || err_set(e, "%s: %s", path, strerror(bad));
}

/* ---- until it has ended -------------------------------------------------------------- */

static void
stop_hearing(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}

/* what came on *fd since; true: there may be more */
static bool
hear(struct child *c, int *fd, struct text *t)
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
		stop_hearing(fd);
	return n > 0;
}

bool
child_hear(struct child *c, int fd)
{
	return fd == c->out ? hear(c, &c->out, &c->written) : hear(c, &c->says, &c->said);
}

/* of one that has ended, all that is there: what it started may keep the pipe open */
void
child_reap(struct child *c)
{
	if (!c->running || waitpid(c->pid, &c->status, WNOHANG) != c->pid)
		return;
	c->running = false;
	while (hear(c, &c->out, &c->written))
		;
	while (hear(c, &c->says, &c->said))
		;
	stop_hearing(&c->out);
	stop_hearing(&c->says);
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
	stop_hearing(&c->out);
	stop_hearing(&c->says);
	text_free(&c->written);
	text_free(&c->said);
}

bool
child_failed(const struct child *c)
{
	return c->status && !(WIFSIGNALED(c->status) && WTERMSIG(c->status) == SIGPIPE);
}
