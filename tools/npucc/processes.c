/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as processes: starts all at once, and reads their messages until the
 * last has ended.
 */
#include "processes.h"

#ifndef __wasi__

#include "base/progress.h"
#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* the rest of the first program's input */
struct feed {
	int fd; /* -1: the program has read all, or reads no more */
	struct bytes left;
};

/* ---- starting --------------------------------------------------------------- */

static bool
spawn(struct npucc *c, struct process *p, int in, int out)
{
	int said[2];
	int printed = open_printed(c, p->job);
	if (c->e->status)
		return false;
	if (pipe2(said, O_CLOEXEC) || fcntl(said[0], F_SETFL, O_NONBLOCK))
		return err_set(c->e, "pipe: %s", strerror(errno));
	const struct job *j = p->job;
	const struct spawn program = {
		.path = c->path[j->program], .argv = process_arguments(c, j), .from = j->from,
		.in = in >= 0 ? in : SPAWN_OWN,
		.out = j->mute ? SPAWN_NULL : printed >= 0 ? printed : out >= 0 ? out : SPAWN_OWN,
		.err = said[1], .group = guard_group(),
	};
	if (!c->o->errors_only)
		progress_lend(j->shown ? j->shown : "");
	int bad = spawn_program(&program, &p->pid);
	(void)close(said[1]);
	if (printed >= 0)
		(void)close(printed);
	p->says = said[0];
	p->ended = bad != 0;
	return !bad || err_at(c->e, program.path, 0, "%s", strerror(bad));
}

static bool
start_all(struct npucc *c, struct process *p, size_t n, struct feed *f)
{
	int in = -1, pipe_to_first[2];
	bool ok = true;
	*f = (struct feed){ .fd = -1, .left = p[0].job->fed };
	if (p[0].job->fed.p) { /* the end of the pipe to write to never blocks */
		ok = !pipe2(pipe_to_first, O_CLOEXEC);
		if (ok) {
			f->fd = pipe_to_first[1];
			in = pipe_to_first[0];
			ok = !fcntl(f->fd, F_SETFL, O_NONBLOCK);
		}
		if (!ok)
			(void)err_set(c->e, "pipe: %s", strerror(errno));
	}
	for (size_t i = 0; ok && i < n; i++) {
		int end[2] = { -1, -1 };
		if (i + 1 < n && !p[i].job->aside && pipe2(end, O_CLOEXEC))
			ok = err_set(c->e, "pipe: %s", strerror(errno));
		ok = ok && spawn(c, &p[i], in, end[1]);
		if (in >= 0)
			(void)close(in);
		if (end[1] >= 0)
			(void)close(end[1]);
		in = end[0];
	}
	if (in >= 0)
		(void)close(in);
	return ok;
}

/* ---- wait for the end ---------------------------------------------------------- */

/* Ends the first n processes, whose output no process reads any more. */
static void
end_first(const struct process *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!p[i].ended)
			(void)kill(p[i].pid, SIGPIPE);
}

static void
close_messages(struct process *p)
{
	if (p->says >= 0)
		(void)close(p->says);
	p->says = -1;
}

/* Reads new messages of p.  Returns true if there may be more. */
static bool
read_messages(struct process *p)
{
	enum { STEP = 1 << 14 };
	ssize_t n = read(p->says, text_reserve(&p->notes, STEP), STEP);
	if (n > 0)
		p->notes.n += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_messages(p);
	return n > 0;
}

/*
 * Notes the end of a process.  If a signal ended it, the processes before it in the
 * pipe are ended, too.  After an ordinary failure they go on, because they may fail
 * themselves: the first failure in the pipe's order is reported, whichever came first
 * in time.  If a job with .aside fails, all others are ended, because they rely on it.
 */
static void
reap(struct process *p, size_t i, size_t n)
{
	if (p[i].ended || !waitpid(p[i].pid, &p[i].status, WNOHANG))
		return;
	p[i].ended = true;
	/* all messages so far; a child of the process may keep the pipe open */
	while (p[i].says >= 0 && read_messages(&p[i]))
		;
	close_messages(&p[i]);
	if (process_failed(&p[i]) && p[i].job->aside)
		end_first(p, n);
	else if (WIFSIGNALED(p[i].status) && process_failed(&p[i]))
		end_first(p, i);
}

static void
do_nothing(int number)
{
	(void)number; /* the signal only interrupts ppoll() */
}

static void
wait_all(struct npucc *c, struct process *p, size_t n, struct feed *feed)
{
	struct pollfd *f = anew(c->a, struct pollfd, n + 1);
	sigset_t child, usual;
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &usual);
	for (bool going = true; going;) {
		going = false;
		for (size_t i = 0; i < n; i++) {
			reap(p, i, n);
			f[i] = (struct pollfd){ .fd = p[i].says, .events = POLLIN };
			going = going || !p[i].ended;
		}
		f[n] = (struct pollfd){ .fd = feed->fd, .events = POLLOUT };
		if (!going || ppoll(f, n + 1, NULL, &usual) <= 0)
			continue;
		if (f[n].revents) {
			/* SIGPIPE is ignored: a program that stops reading reports the reason itself */
			ssize_t fed = write(feed->fd, feed->left.p, feed->left.n);
			if (fed > 0) {
				feed->left.p += fed;
				feed->left.n -= (size_t)fed;
			}
			if (!feed->left.n || (fed < 0 && errno != EAGAIN && errno != EINTR)) {
				(void)close(feed->fd);
				feed->fd = -1;
			}
		}
		for (size_t i = 0; i < n; i++)
			if (f[i].revents)
				(void)read_messages(&p[i]);
	}
	(void)sigprocmask(SIG_SETMASK, &usual, NULL);
}

bool
processes_run(struct npucc *c, struct process *p, size_t n)
{
	(void)signal(SIGCHLD, do_nothing); /* if SIGCHLD is ignored, statuses are lost */
	struct feed feed;
	void (*on_pipe)(int) = signal(SIGPIPE, SIG_IGN);
	bool ok = start_all(c, p, n, &feed);
	if (!ok)
		end_first(p, n);
	wait_all(c, p, n, &feed);
	if (feed.fd >= 0)
		(void)close(feed.fd);
	(void)signal(SIGPIPE, on_pipe);
	return ok;
}

#endif
