/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as WebAssembly modules: the host runs a module (base/wasi/host.h).  A program
 * has ended when child_start() returns.
 */
#include "base/child.h"

#ifdef __wasi__

#include "base/file.h"
#include "base/wasi/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool
child_pipe(int end[2], struct err *e)
{
	end[0] = end[1] = host_buffer();
	return end[0] >= 0 || err_set(e, "pipe: %s", strerror(errno));
}

void
child_close_pipe(const int end[2])
{
	(void)close(end[0]);
}

bool
child_input(struct bytes b, int *fd, struct err *e)
{
	*fd = host_buffer();
	return file_put(*fd, b.p, b.n) ||
	       err_at(e, "file in memory", 0, "%s", strerror(errno));
}

static void
read_all(struct child *c, int fd, struct text *t)
{
	enum { STEP = 1 << 16 };
	ssize_t n;
	while ((n = read(fd, text_reserve(t, STEP), STEP)) > 0)
		t->n += (size_t)n;
	if (n < 0)
		c->lost = errno;
	(void)close(fd);
}

bool
child_start(struct child *c, const char *path, char **argv, int in, int out, struct err *e)
{
	int argc = 0, says = host_buffer(), made = out >= 0 ? -1 : host_buffer();
	*c = (struct child){ .name = argv[0], .out = -1, .says = -1 };
	while (argv[argc])
		argc++;
	c->status = host_run(argv, argc, in, out >= 0 ? out : made, says);
	read_all(c, says, &c->said);
	if (made >= 0)
		read_all(c, made, &c->written);
	return c->status >= 0 || err_at(e, path, 0, "no such program");
}

void
child_kill(const struct child *c, int number)
{
	(void)c, (void)number;
}

void
child_free(struct child *c)
{
	text_free(&c->written);
	text_free(&c->said);
}

bool
child_failed(const struct child *c)
{
	return c->status != 0;
}

void
children_begin(void)
{
}

void
children_end(void)
{
}

void
children_wait(struct child *const *c, size_t n, double seconds)
{
	(void)c, (void)n, (void)seconds;
}

int
children_signal(void)
{
	return 0;
}

_Noreturn void
children_raise(void)
{
	exit(EXIT_TROUBLE);
}

size_t
children_at_a_time(unsigned wanted)
{
	(void)wanted;
	return 1;
}

#endif
