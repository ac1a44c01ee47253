/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VARIABLE "NPUTOOLS_PROGRESS"

static const char clear[] = "\r\033[K";
static int line_at = STDERR_FILENO; /* global, because the signal handler needs it */

static double
now(void)
{
	struct timespec t;
	const double nano = 1e-9;
	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0
						  : (double)t.tv_sec + nano * (double)t.tv_nsec;
}

/* Takes the terminal that another program has lent. */
static void
borrow(struct progress *p)
{
	const char *value = getenv(VARIABLE);
	char *end;
	if (!value)
		return;
	long fd = strtol(value, &end, 10);
	double since = *end == ' ' ? strtod(end + 1, &end) : 0;
	if (*end != ' ' || fd <= STDERR_FILENO || fd > INT16_MAX || !isatty((int)fd))
		return;
	p->terminal = (int)fd;
	p->lent = true;
	p->since = since;
	p->what = end[1] ? end + 1 : p->what;
#ifdef SIGTTOU
	(void)signal(SIGTTOU, SIG_IGN); /* this process may be in the background */
#endif
}

void
progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what, .terminal = -1 };
	if (isatty(STDERR_FILENO))
		p->terminal = STDERR_FILENO;
	else
		borrow(p);
	if (p->terminal < 0)
		return;
	p->begin = now();
	p->since = p->since > 0 ? p->since : p->begin;
	line_at = p->terminal;
}

/* Removes the line; then the default action of the signal ends the program. */
static void
on_interrupt(int number)
{
	/* a signal handler may call write(), but not all of file_put() */
	ssize_t ignored = write(line_at, clear, sizeof(clear) - 1);
	(void)ignored;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

void
progress_show(struct progress *p, double done, double all)
{
	const double first = 1, often = 0.2;
	/* part of the work, and seconds, that say nothing about the rest */
	const double early = 0.02, soon = 2;
	char left[64] = "";
	if (p->terminal < 0 || !(done > 0))
		return;
	double t = now();
	if (t < p->since + first || t < p->shown + often)
		return;
	if (!(p->shown > 0)) { /* the handler is only for the default action of the signal */
		void (*old)(int) = signal(SIGINT, on_interrupt);
		if (old != SIG_DFL)
			(void)signal(SIGINT, old);
	}
	p->shown = t;
	if (!p->lent && (done >= early * all || t >= p->begin + soon)) {
		/* from `most` seconds or minutes on, the next larger unit is printed */
		const double unit = 60, most = 100;
		double seconds = (t - p->begin) * (all - done) / done;
		double minutes = seconds / unit, hours = minutes / unit;
		bool short_time = seconds < most, medium = minutes < most;
		(void)snprintf(left, sizeof(left), ", about %.0f %s left",
			       short_time ? seconds : medium ? minutes : hours,
			       short_time ? "s" : medium ? "min" : "h");
	}
	(void)dprintf(p->terminal, "%s%s: %s: %.0f %%%s", clear,
		      program_invocation_short_name, p->what, 100 * done / all, left);
}

void
progress_end(struct progress *p)
{
	if (p->shown > 0)
		(void)dprintf(p->terminal, "%s", clear);
	p->shown = 0;
}

#ifdef __wasi__

void
progress_lend(const char *what)
{
	(void)what;
}

#else

static int lent = -1; /* global, because a signal handler calls progress_take_back() */

void
progress_lend(const char *what)
{
	enum { LOWEST = 10 };
	static double since;
	char value[256];
	if (lent < 0 && isatty(STDERR_FILENO)) {
		/* without FD_CLOEXEC, as the programs inherit this number */
		lent = fcntl(STDERR_FILENO, F_DUPFD, LOWEST);
		since = now();
	}
	(void)snprintf(value, sizeof(value), "%d %.3f %s", lent, since, what);
	if (lent >= 0)
		(void)setenv(VARIABLE, value, 1);
}

void
progress_take_back(void)
{
	ssize_t ignored = lent < 0 ? 0 : write(lent, clear, sizeof(clear) - 1);
	(void)ignored;
}

#endif
