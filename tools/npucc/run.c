/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs programs as a pipe.  Their messages are held back until all have ended.  After a
 * failure only the messages of the first program that failed for its own reason are
 * shown.
 */
#include "processes.h"

#include "base/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

char **
process_arguments(struct npucc *c, const struct job *j)
{
	const struct words *w = &c->o->to[j->program];
	size_t n_bodies = j->program == CMDGEN ? c->bodies.n : 0;
	const char **v = anew(c->a, const char *, w->n + ARRAY_LEN(j->option) + n_bodies + 7);
	size_t n = 0;
	v[n++] = program_name(j->program);
	for (size_t i = 0; i < ARRAY_LEN(j->option) && j->option[i]; i++)
		v[n++] = j->option[i];
	for (size_t i = 0; i < w->n; i++)
		v[n++] = w->v[i];
	for (size_t i = 0; i < n_bodies; i++)
		v[n++] = c->bodies.v[i];
	if (j->decided)
		v[n++] = j->decided;
	if (j->output) {
		v[n++] = "-o";
		v[n++] = j->output;
	}
	if (j->input) {
		v[n++] = "--";
		v[n++] = j->input;
	}
	return program_words(v);
}

bool
process_failed(const struct process *p)
{
	bool died_of_pipe = WIFSIGNALED(p->status) && WTERMSIG(p->status) == SIGPIPE;
	return p->status && !died_of_pipe;
}

int
open_printed(struct npucc *c, const struct job *j)
{
	int fd = j->printed ? open(j->printed, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
	if (j->printed && fd < 0)
		(void)err_at(c->e, j->printed, 0, "%s", strerror(errno));
	return fd;
}

/* ---- the result of a pipe -------------------------------------------------------- */

/* replaces every `from` in t */
static void
replace(struct text *t, const char *from, const char *to)
{
	struct text out = { 0 };
	size_t n = strlen(from);
	const char *at = text_str(t), *next;
	for (; (next = strstr(at, from)); at = next + n) {
		text_put(&out, at, (size_t)(next - at));
		text_puts(&out, to);
	}
	text_puts(&out, at);
	text_free(t);
	*t = out;
}

/*
 * Names the user's file in messages on standard input.  The user has no text behind a
 * stage without --keep: then the line's number is removed, too.
 */
static void
name_input(struct npucc *c, const struct job *j, struct text *notes)
{
	static const char piped[] = ": standard input:";
	const char *name = text_plain(c->a, j->unseen ? file_name(c->o->in) : j->called);
	struct text out = { 0 };
	const char *at = text_str(notes), *next;
	for (; (next = strstr(at, piped)); at = next) {
		text_printf(&out, "%.*s: %s:", (int)(next - at), at, name);
		next += strlen(piped);
		size_t digits = j->unseen ? strspn(next, "0123456789") : 0;
		next += digits && next[digits] == ':' ? digits + 1 : 0;
	}
	text_puts(&out, at);
	text_free(notes);
	*notes = out;
}

/* removes the lines of warnings and notes */
static void
keep_errors(struct arena *a, struct text *notes)
{
	struct text out = { 0 };
	const char *at = text_str(notes);
	while (*at) {
		size_t n = strcspn(at, "\n");
		n += at[n] == '\n';
		const char *line = arena_strndup(a, at, n);
		if (!strstr(line, ": warning: ") && !strstr(line, ": note: "))
			text_put(&out, at, n);
		at += n;
	}
	text_free(notes);
	*notes = out;
}

/* the text of a message in the line at: behind the names of program and file */
static const char *
message_text(const char *at)
{
	static const char *const kinds[] = { ": error: ", ": warning: ", ": note: " };
	const char *end = at + strcspn(at, "\n");
	for (; at < end; at++)
		for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
			if (!strncmp(at, kinds[i], strlen(kinds[i])))
				return at + strlen(kinds[i]);
	return end;
}

/*
 * Names options as npucc takes them.  tfl-quantize needs this: most of the options that its
 * messages propose have no option of npucc of the same name.
 */
static void
name_options(struct arena *a, enum program p, struct text *notes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	struct text out = { 0 };
	for (const char *at = text_str(notes); *at;) {
		const char *from = message_text(at), *end = from + strcspn(from, "\n");
		text_put(&out, at, (size_t)(from - at));
		for (at = from; at < end;) {
			bool begins = !strncmp(at, "--", 2) && strchr(" (", at[-1]);
			size_t n = begins ? strspn(at + 2, letters) : 0;
			if (n)
				text_puts(&out, option_for(a, p, at + 2, n));
			else
				text_putc(&out, *at);
			at += n ? n + 2 : 1;
		}
		if (*at)
			text_putc(&out, *at++);
	}
	text_free(notes);
	*notes = out;
}

/* shows messages with the user's names instead of private paths */
static void
show_notes(struct npucc *c, struct process *p)
{
	static const char hint[] = "Try `%s --help' or `%s --usage'";
	if (!p->notes.n)
		return;
	/* the job's own output, for example on a full disk, is in --keep; inputs have bare names */
	const char *out = p->job->output;
	size_t n = c->in_keep ? strlen(c->in_keep) : 0;
	if (n && out && !strncmp(out, c->in_keep, n) && out[n] == '/')
		replace(&p->notes, out, text_plain(c->a, arena_printf(c->a, "%s%s", c->o->keep,
								      out + n)));
	for (int i = 0; i < c->n_alias; i++)
		replace(&p->notes, c->alias[i].from,
			text_plain(c->a, c->alias[i].to));
	if (p->job->called)
		name_input(c, p->job, &p->notes);
	/* point to the --help of npucc, which has the options that the user gave to the stage */
	const char *stage = program_name(p->job->program);
	if (!c->o->has_passed[p->job->program])
		replace(&p->notes, arena_printf(c->a, hint, stage, stage),
			arena_printf(c->a, hint, "npucc", "npucc"));
	if (p->job->program == QUANTIZE)
		name_options(c->a, QUANTIZE, &p->notes);
	if (c->o->errors_only)
		keep_errors(c->a, &p->notes);
	text_show(&p->notes, stderr);
}

/* names of signals that end a program; others are shown by number */
static const char *
signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
		{ SIGHUP, "SIGHUP" },	{ SIGINT, "SIGINT" },	{ SIGQUIT, "SIGQUIT" },
		{ SIGILL, "SIGILL" },	{ SIGABRT, "SIGABRT" }, { SIGBUS, "SIGBUS" },
		{ SIGFPE, "SIGFPE" },	{ SIGKILL, "SIGKILL" }, { SIGSEGV, "SIGSEGV" },
		{ SIGPIPE, "SIGPIPE" }, { SIGALRM, "SIGALRM" }, { SIGTERM, "SIGTERM" },
		{ SIGUSR1, "SIGUSR1" }, { SIGUSR2, "SIGUSR2" }, { SIGSYS, "SIGSYS" },
		{ SIGTRAP, "SIGTRAP" }, { SIGXCPU, "SIGXCPU" }, { SIGXFSZ, "SIGXFSZ" },
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].number == number)
			return names[i].name;
	return "another";
}

/* reports why p failed, unless p has printed the reason itself */
static void
report_failure(struct npucc *c, const struct process *p)
{
	const char *name = program_name(p->job->program);
	c->status = EXIT_TROUBLE;
	if (WIFSIGNALED(p->status)) {
		int s = WTERMSIG(p->status);
		(void)err_set(c->e, "%s was killed by signal %d (%s, %s)", name, s,
			      signal_name(s), strsignal(s));
		return;
	}
	int status = WEXITSTATUS(p->status);
	if (status == EXIT_NO || status == EXIT_TROUBLE)
		c->status = status;
	if (!p->notes.n || c->status != status)
		(void)err_set(c->e, "%s ended with status %d%s", name, status,
			      p->notes.n ? "" : " without a message");
	c->e->status = c->e->status ? c->status : 0;
	c->not_integer = p->job->program == QUANTCHECK && status == EXIT_NO;
	c->too_large = p->job->program == TFL2C && status == EXIT_NO;
}

static bool
report_result(struct npucc *c, struct process *p, size_t n)
{
	/*
	 * The first process that failed for its own reason.  Those after it found truncated
	 * input, those before it lost their reader.  If there is none, a process that died of
	 * SIGPIPE has failed: no failure closed its pipe (for the last process, standard output
	 * was closed).
	 */
	struct process *bad = NULL;
	for (size_t i = 0; i < n && !bad; i++)
		if (process_failed(&p[i]))
			bad = &p[i];
	for (size_t i = n; i-- > 0 && !bad;)
		if (p[i].status)
			bad = &p[i];
	if (bad && bad->job->silent) {
		c->status = WIFSIGNALED(bad->status) ? EXIT_TROUBLE : WEXITSTATUS(bad->status);
		c->unshown = arena_strdup(c->a, text_str(&bad->notes));
		return false;
	}
	if (bad) {
		report_failure(c, bad);
		show_notes(c, bad);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		if (!p[i].job->repeats && !p[i].job->silent && !c->o->errors_only)
			show_notes(c, &p[i]);
	return true;
}

bool
run_jobs(struct npucc *c, const struct job *job, size_t n)
{
	struct process *p = anew(c->a, struct process, n);
	for (size_t i = 0; i < n; i++)
		p[i] = (struct process){ .job = &job[i], .says = -1, .ended = true };
	bool ok = processes_run(c, p, n) && report_result(c, p, n);
	for (size_t i = 0; i < n; i++)
		text_free(&p[i].notes);
	return ok;
}
