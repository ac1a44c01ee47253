/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spawn.h"

#ifndef __wasi__

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

extern char **environ;

static int
set_attributes(posix_spawnattr_t *attr, pid_t group)
{
	sigset_t none, usual;
	int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
		    (group == SPAWN_OWN ? 0 : POSIX_SPAWN_SETPGROUP);
	(void)sigemptyset(&none);
	(void)sigemptyset(&usual);
	(void)sigaddset(&usual, SIGPIPE); /* ends a program whose reader has ended */
	(void)sigaddset(&usual, SIGXFSZ);
	int bad = group == SPAWN_OWN ? 0 : posix_spawnattr_setpgroup(attr, group);
	if (!bad)
		bad = posix_spawnattr_setsigmask(attr, &none);
	if (!bad)
		bad = posix_spawnattr_setsigdefault(attr, &usual);
	return bad ? bad : posix_spawnattr_setflags(attr, (short)flags);
}

static int
add_stream(posix_spawn_file_actions_t *f, int from, int stream)
{
	if (from == SPAWN_OWN)
		return 0;
	if (from != SPAWN_NULL)
		return posix_spawn_file_actions_adddup2(f, from, stream);
	return posix_spawn_file_actions_addopen(
	    f, stream, "/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY, 0);
}

static int
add_streams(posix_spawn_file_actions_t *f, const struct spawn *s)
{
	int bad = s->from ? posix_spawn_file_actions_addopen(f, STDIN_FILENO, s->from,
							     O_RDONLY, 0)
			  : add_stream(f, s->in, STDIN_FILENO);
	if (!bad)
		bad = add_stream(f, s->out, STDOUT_FILENO);
	return bad ? bad : add_stream(f, s->err, STDERR_FILENO);
}

int
spawn_program(const struct spawn *s, pid_t *pid)
{
	posix_spawnattr_t attr;
	posix_spawn_file_actions_t files;
	int bad = posix_spawnattr_init(&attr);
	if (bad)
		return bad;
	bad = posix_spawn_file_actions_init(&files);
	if (!bad) {
		bad = set_attributes(&attr, s->group);
		if (!bad)
			bad = add_streams(&files, s);
		if (!bad)
			bad = posix_spawn(pid, s->path, &files, &attr, s->argv, environ);
		(void)posix_spawn_file_actions_destroy(&files);
	}
	(void)posix_spawnattr_destroy(&attr);
	return bad;
}

#endif
