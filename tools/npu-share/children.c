/* SPDX-License-Identifier: Apache-2.0 */
/* Runs other programs of the kit, several at a time, and collects their outputs. */
#include "share.h"

#include "base/child.h"
#include "base/program.h"

#include <signal.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void
add_word(struct job *j, const char *word)
{
	if (j->n < MAX_WORDS - 1)
		j->word[j->n++] = word;
}

static void
add_option(const struct share *s, struct job *j, const char *option, const char *value)
{
	if (value)
		add_word(j, arena_printf(s->a, "--%s=%s", option, value));
}

void
add_input_model(const struct share *s, struct job *j, int net)
{
	const struct network *n = &s->net[net];
	j->in = n->integer;
	if (n->integer.p)
		return;
	add_word(j, "--");
	add_word(j, n->path);
}

void
add_target(const struct share *s, struct job *j, bool compiles)
{
	const struct options *o = s->o;
	if (compiles) {
		add_option(s, j, "accelerator-config", o->accel);
		add_option(s, j, "effort", o->effort);
	}
	add_option(s, j, "part", o->part);
	add_option(s, j, "system-config", o->system);
	add_option(s, j, "memory-mode", o->mode);
	add_option(s, j, "config", o->config);
	if (o->any_accelerator)
		add_word(j, "--any-accelerator");
}

/* Takes the output of a program that has ended. */
static bool
finish(struct share *s, struct job *j, struct child *c)
{
	bool ok = !child_failed(c) && !c->lost;
	if (ok) {
		uint8_t *p = arena_alloc(s->a, c->written.n + 1, 1);
		if (c->written.n)
			memcpy(p, c->written.p, c->written.n);
		j->out = (struct bytes){ .p = p, .n = c->written.n };
	} else { /* the last line of a program's messages is its error */
		struct text said = c->said;
		char *end = arena_strndup(s->a, text_str(&said), said.n);
		for (size_t n = strlen(end); n && end[n - 1] == '\n';)
			end[--n] = '\0';
		char *line = strrchr(end, '\n');
		const char *text = text_plain(s->a, line ? line + 1 : end);
		bool no = !WIFSIGNALED(c->status) && WEXITSTATUS(c->status) == EXIT_NO;
		if (*text)
			(void)err_quote(s->e, no ? EXIT_NO : EXIT_TROUBLE, text);
		else
			(void)err_set(s->e, "%s ended without a message", c->name);
	}
	child_free(c);
	return ok;
}

bool
run_jobs(struct share *s, struct job *job, int n)
{
	size_t slots = children_at_a_time(s->o->jobs);
	struct child *child = anew(s->a, struct child, (size_t)n + 1);
	struct child **running = anew(s->a, struct child *, (size_t)n + 1);
	int next = 0, done = 0;
	bool ok = true;
	const double long_time = 60;
	children_begin();
	while (ok && done < n) {
		size_t live = 0;
		for (int i = done; i < next; i++)
			live += child[i].running;
		for (; ok && next < n && live < slots; live++) {
			struct job *j = &job[next];
			int in = -1;
			child[next] = (struct child){ .out = -1, .says = -1 };
			j->word[j->n] = NULL;
			ok = (!j->in.p || child_input(j->in, &in, s->e)) &&
			     child_start(&child[next], j->path, program_words(j->word), in, -1, s->e);
			if (in >= 0)
				(void)close(in);
			next += ok;
		}
		live = 0;
		for (int i = done; i < next; i++)
			if (child[i].running)
				running[live++] = &child[i];
		if (live)
			children_wait(running, live, long_time);
		if (children_signal())
			break;
		for (; ok && done < next && !child[done].running; done++)
			ok = finish(s, &job[done], &child[done]);
	}
	for (int i = done; i < next; i++) {
		child_kill(&child[i], SIGTERM);
		while (child[i].running) {
			struct child *one = &child[i];
			children_wait(&one, 1, long_time);
		}
		child_free(&child[i]);
	}
	children_end();
	if (children_signal())
		children_raise();
	return ok;
}
