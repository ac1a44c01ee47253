/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGKILL can't be caught, and a stage that computes for a minute does not notice that
 * its pipe has closed.  So this program starts a child, the guard, which reads from a
 * pipe that only this program writes to.  The guard has a process group to which all
 * other programs belong.  When this program ends for any reason, the pipe ends.  The
 * guard then ends the group and removes the private directories, with all files that
 * programs were writing.  SIGTERM, SIGHUP and SIGINT are passed on the same route:
 * their number is written to the pipe.  A WebAssembly module has no guard: if it is
 * ended early, the private directories stay.
 */
#include "npucc.h"

#include "base/progress.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <time.h>
#include <unistd.h>

/* ---- removal of files ------------------------------------------------------- */

static void
remove_tree(int at, const char *name)
{
	if (!unlinkat(at, name, 0) || errno == ENOENT)
		return;
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *f;
	while (d && (f = readdir(d)))
		if (strcmp(f->d_name, ".") != 0 && strcmp(f->d_name, "..") != 0)
			remove_tree(dirfd(d), f->d_name);
	if (d)
		(void)closedir(d);
	(void)unlinkat(at, name, AT_REMOVEDIR);
}

/* Repeats, because programs that are ending may still add files. */
static void
remove_all(const struct guarded *g)
{
	enum { TRIES = 2000 };
	const struct timespec pause = { .tv_nsec = 1000000 };
	for (size_t i = 0; i < g->n_trees; i++)
		for (int k = 0; k < TRIES && !access(g->trees[i], F_OK); k++) {
			if (k)
				(void)nanosleep(&pause, NULL);
			remove_tree(AT_FDCWD, g->trees[i]);
		}
	for (size_t i = g->n_made; i-- > 0;)
		(void)rmdir(g->made[i]);
}

#ifndef __wasi__

#include <sys/wait.h>

static pid_t guard; /* global, because the signal handler needs both */
static int leash = -1;

static const int caught[] = { SIGTERM, SIGHUP, SIGINT };

/* ---- the guard -------------------------------------------------------------- */

/* The guard belongs to the group and ends with it. */
static _Noreturn void
run_guard(int fd, const struct guarded *g)
{
	unsigned char number = SIGTERM;
	(void)setpgid(0, 0);
#ifdef PR_SET_NAME
	/* a user who ends all processes called npucc spares the guard, which cleans up */
	(void)prctl(PR_SET_NAME, "nputools-guard");
#endif
	for (int s = 1; s < NSIG; s++)
		if (s != SIGCHLD)
			(void)signal(s, SIG_IGN);
	for (int i = 0; i <= STDERR_FILENO; i++)
		/* so that a reader of these pipes does not wait for the guard */
		(void)close(i);
	/* only the end of the pipe ends the group; a failed read is repeated */
	while (read(fd, &number, 1) < 0 && errno != EBADF)
		;
	(void)kill(0, number);
	(void)kill(0, SIGCONT); /* a stopped program does not end */
	remove_all(g);
	(void)kill(0, SIGKILL);
	_exit(0);
}

/* ---- npucc ------------------------------------------------------------------ */

/* Returns when all programs have ended and their files are removed. */
static void
end_guard(void)
{
	(void)close(leash);
	leash = -1;
	while (waitpid(guard, NULL, 0) < 0 && errno == EINTR)
		;
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void
on_signal(int number)
{
	unsigned char n = (unsigned char)number;
	(void)signal(SIGPIPE, SIG_IGN); /* the guard may have been killed */
	if (leash >= 0 && write(leash, &n, 1) != 1)
		n = 0;
	end_guard();
	progress_take_back();
	(void)signal(number, SIG_DFL);
	(void)raise(number); /* blocked until the handler returns */
}

static void
set_of_caught(sigset_t *set)
{
	(void)sigemptyset(set);
	for (size_t i = 0; i < ARRAY_LEN(caught); i++)
		(void)sigaddset(set, caught[i]);
}

void
guard_hold_signals(bool hold)
{
	sigset_t set;
	set_of_caught(&set);
	(void)sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

bool
guard_start(const struct guarded *g, struct err *e)
{
	int end[2];
	/* a program that runs out of memory ends without returning to main() */
	if (atexit(guard_end) || pipe2(end, O_CLOEXEC))
		return err_set(e, "pipe: %s", strerror(errno));
	guard_hold_signals(true);
	guard = fork();
	if (guard == 0) {
		(void)close(end[1]);
		run_guard(end[0], g);
	}
	int saved = errno;
	(void)close(end[0]);
	leash = end[1];
	if (guard > 0) {
		/* in parent and child, because either may be first */
		(void)setpgid(guard, guard);
		/* signals that are ignored, as with nohup, stay ignored, here and in the programs */
		struct sigaction old, new = { .sa_handler = on_signal };
		set_of_caught(&new.sa_mask);
		for (size_t i = 0; i < ARRAY_LEN(caught); i++)
			if (!sigaction(caught[i], NULL, &old) && old.sa_handler != SIG_IGN)
				(void)sigaction(caught[i], &new, NULL);
	}
	guard_hold_signals(false);
	return guard > 0 || err_set(e, "fork: %s", strerror(saved));
}

pid_t
guard_group(void)
{
	return guard;
}

void
guard_end(void)
{
	guard_hold_signals(true);
	if (guard > 0)
		end_guard();
	guard = 0;
}

#else /* no signals and no processes: npucc itself removes the files at its end */

static struct guarded guarded;

bool
guard_start(const struct guarded *g, struct err *e)
{
	guarded = *g;
	return !atexit(guard_end) || err_set(e, "out of memory");
}

void
guard_hold_signals(bool hold)
{
	(void)hold;
}

void
guard_end(void)
{
	remove_all(&guarded);
	guarded = (struct guarded){ 0 };
}

#endif
