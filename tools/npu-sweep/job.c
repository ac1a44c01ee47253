/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs one job, and makes the record of its result.  For a single plan, npucc compiles and
 * npu-perf measures the output.  For a front, npucc --front is enough.
 */
#include "sweep.h"

#include "base/json.h"
#include "base/program.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- commands ------------------------------------------------------------------------ */

enum { MAX_WORDS = 16 };
struct command {
	const char *v[MAX_WORDS];
	size_t n;
};

static void
add(struct command *c, const char *word)
{
	c->v[c->n++] = word;
}

static void
add_named(struct arena *a, struct command *c, const char *option, const char *value)
{
	if (*value)
		add(c, arena_printf(a, "--%s=%s", option, value));
}

static void
add_memory(struct arena *a, struct command *c, const struct target *t)
{
	if (target_is_part(t)) {
		add_named(a, c, "part", t->system);
		return;
	}
	add_named(a, c, "system-config", t->system);
	add_named(a, c, "memory-mode", t->setup->mode);
	add_named(a, c, "config", t->setup->config);
}

bool
job_start(struct arena *a, const struct programs *p, const struct target *t,
	  enum goal goal, struct child child[JOB_CHILDREN], struct err *e)
{
	struct command compile = { 0 }, measure = { 0 };
	int between[2];
	child[0] = child[1] = (struct child){ .out = -1, .says = -1 };
	add(&compile, "npucc");
	if (!target_is_part(t)) {
		add_named(a, &compile, "accelerator-config", t->accel);
		add(&compile, "--any-accelerator");
	}
	add_memory(a, &compile, t);
	add_named(a, &compile, "effort", t->setup->effort);
	if (goal == FRONT)
		add(&compile, "--front");
	else
		add_named(a, &compile, "optimise", goal_names[goal]);
	add(&compile, "-o");
	add(&compile, "-");
	add(&compile, "--");
	add(&compile, t->model->path);
	add(&compile, NULL);
	if (goal == FRONT)
		return child_start(&child[0], p->npucc, program_words(compile.v), -1, -1, e);
	add(&measure, "npu-perf");
	add_memory(a, &measure, t);
	add(&measure, "--json");
	add(&measure, NULL);
	if (!child_pipe(between, e))
		return false;
	bool ok = child_start(&child[0], p->npucc, program_words(compile.v), -1, between[1], e) &&
		  child_start(&child[1], p->perf, program_words(measure.v), between[0], -1, e);
	child_close_pipe(between);
	return ok;
}

/* ---- messages of failures ------------------------------------------------------------- */

/* Returns s with every `from` replaced by `to`: a result must not depend on a model's name. */
static const char *
replaced(struct arena *a, const char *s, const char *from, const char *to)
{
	struct text t = { 0 };
	size_t n = strlen(from);
	const char *next;
	for (; (next = strstr(s, from)); s = next + n) {
		text_put(&t, s, (size_t)(next - s));
		text_puts(&t, to);
	}
	text_puts(&t, s);
	const char *out = arena_strndup(a, t.p, t.n);
	text_free(&t);
	return out;
}

/*
 * Returns the first line that contains "error:", else the last one, other than a note if there
 * is another; NULL: no line.
 */
static const char *
error_line(struct arena *a, const struct text *said)
{
	enum { LONGEST = 500 };
	const char *line = NULL, *this;
	bool found = false;
	for (size_t at = 0; at < said->n && !found;) {
		const char *p = said->p + at;
		const char *end = memchr(p, '\n', said->n - at);
		size_t n = end ? (size_t)(end - p) : said->n - at;
		this = arena_strndup(a, p, n < LONGEST ? n : LONGEST);
		found = strstr(this, "error:");
		if (n && (!line || found || !strstr(this, ": note: ")))
			line = this;
		at += n + 1;
	}
	return line ? text_plain(a, line) : NULL;
}

/* True if the system lacked a resource: the job may succeed later, so it has no result. */
static bool
is_trouble(const char *message)
{
	static const int numbers[] = { ENOSPC, EFBIG, EDQUOT, ENOMEM, EMFILE, ENFILE,
				       EAGAIN, EIO, ESTALE };
	if (strstr(message, ": out of memory"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (strstr(message, strerror(numbers[i])))
			return true;
	return false;
}

/* ---- results ------------------------------------------------------------------------- */

static bool
fail(struct record *r, const char *message)
{
	*r = (struct record){ .status = FAILED, .message = message };
	return true;
}

static bool
read_report(struct arena *a, const struct text *written, struct record *r)
{
	struct json o;
	struct err e = { 0 };
	struct bytes b = { .p = (const uint8_t *)written->p, .n = written->n };
	if (!json_parse(a, b, "npu-perf", &o, &e) || json_number(&o, "sram_bytes", -1) < 0)
		return fail(r, "npu-perf succeeded, but printed no report");
	*r = (struct record){
#define FIGURE(member, key, source, factor) .member = (factor) * json_number(&o, source, 0),
#include "figures.def"
	};
	return true;
}

/* Returns the number in column k of a line, from 0; -1: none.  Tabs divide columns. */
static double
column(const char *line, int k)
{
	for (; k > 0 && *line && *line != '\n'; line++)
		k -= *line == '\t';
	return k > 0 || !strchr("0123456789", *line) || !*line ? -1 : strtod(line, NULL);
}

/*
 * Reads the lines of --front after its heading.  A plan that is not faster than one with less
 * SRAM is left out: the lines are a front of the objective, and records have one of cycles.
 */
static bool
read_front(struct arena *a, struct text *written, struct record *r)
{
	enum { FLASH = 4, STREAMS = 5 }; /* after sram, cycles, objective and change */
	struct point *v = NULL;
	size_t n = 0, cap = 0;
	const char *line = strchr(text_str(written), '\n');
	for (; line && line[1]; line = strchr(line + 1, '\n')) {
		char *end;
		agrow(a, v, n, &cap);
		v[n] = (struct point){ .sram = strtod(line + 1, &end),
				       .flash = column(line + 1, FLASH),
				       .streams = column(line + 1, STREAMS) };
		v[n].cycles = strtod(end, NULL);
		if (v[n].sram > 0 && v[n].cycles > 0 && (!n || v[n].cycles < v[n - 1].cycles))
			n++;
	}
	*r = (struct record){ .point = v, .n_points = n };
	return n ? true : fail(r, "npucc succeeded, but printed no front");
}

bool
job_result(struct arena *a, const struct target *t, enum goal goal,
	   const struct child child[JOB_CHILDREN], struct record *r, struct err *e)
{
	const struct child *bad = NULL;
	for (int i = 0; i < JOB_CHILDREN; i++)
		if (child[i].lost)
			return err_at(e, child[i].name, 0, "its output cannot be read: %s",
				      strerror(child[i].lost));
	for (int i = JOB_CHILDREN; i-- > 0;)
		if (child[i].status && (!bad || child_failed(&child[i])))
			bad = &child[i];
	if (bad) {
		const char *message = error_line(a, &bad->said);
		int how = bad->status;
		if (WIFSIGNALED(how))
			message = arena_printf(a, "%s was ended by signal %d (%s)", bad->name,
					       WTERMSIG(how), strsignal(WTERMSIG(how)));
		else if (!message)
			message = arena_printf(a, "%s ended with status %d and without a message",
					       bad->name, WEXITSTATUS(how));
		else
			message = replaced(a, message, text_plain(a, t->model->path), MODEL_MARK);
		bool crashed = WIFSIGNALED(how) || strstr(message, "was ended by signal");
		*r = (struct record){ .status = crashed			       ? CRASHED
						: WEXITSTATUS(how) == EXIT_NO ? REFUSED
									      : FAILED,
				      .message = message };
		return !is_trouble(message) ||
		       err_quote(e, EXIT_TROUBLE,
				 replaced(a, message, MODEL_MARK, t->model->path));
	}
	struct text written = child[goal == FRONT ? 0 : 1].written;
	return goal == FRONT ? read_front(a, &written, r) : read_report(a, &written, r);
}
