/* SPDX-License-Identifier: Apache-2.0 */
#include "base/progress.h"

#include "base/file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char clear[] = "\r\033[K";

static double
now(void)
{
	struct timespec t;
	const double nano = 1e-9;
	return clock_gettime(CLOCK_MONOTONIC, &t) ? 0
						  : (double)t.tv_sec + nano * (double)t.tv_nsec;
}

void
progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what };
	p->terminal = isatty(STDERR_FILENO);
	if (p->terminal)
		p->begin = now();
}

/* Removes the line; then the default action of the signal ends the program. */
static void
on_interrupt(int number)
{
	/* a signal handler may call write(), but not all of file_put() */
	ssize_t ignored = write(STDERR_FILENO, clear, sizeof(clear) - 1);
	(void)ignored;
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

/* Installs the handler only if the signal has its default action. */
static void
catch_interrupt(void)
{
	void (*old)(int) = signal(SIGINT, on_interrupt);
	if (old != SIG_DFL)
		(void)signal(SIGINT, old);
}

static void
print_left(double seconds)
{
	const double unit = 60, most = 100; /* of a unit, before the next larger one */
	double minutes = seconds / unit, hours = minutes / unit;
	if (seconds < most)
		fprintf(stderr, ", about %.0f s left", seconds);
	else if (minutes < most)
		fprintf(stderr, ", about %.0f min left", minutes);
	else
		fprintf(stderr, ", about %.0f h left", hours);
}

void
progress_show(struct progress *p, double done, double all)
{
	const double first = 1, often = 0.2;
	/* part of the work, and seconds, that say nothing about the rest */
	const double early = 0.02, soon = 2;
	if (!p->terminal || !(done > 0))
		return;
	double t = now();
	if (t < p->begin + first || t < p->shown + often)
		return;
	if (!(p->shown > 0))
		catch_interrupt();
	p->shown = t;
	fprintf(stderr, "%s%s: %s: %.0f %%", clear, program_invocation_short_name, p->what,
		100 * done / all);
	if (done >= early * all || t >= p->begin + soon)
		print_left((t - p->begin) * (all - done) / done);
	(void)fflush(stderr);
}

void
progress_end(struct progress *p)
{
	if (p->shown > 0)
		fputs(clear, stderr);
	p->shown = 0;
}
