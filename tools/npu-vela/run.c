/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one program of the kit, and ends it if a signal ends npu-vela. */
#include "vela.h"

#include "base/child.h"
#include "base/program.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct bytes
copy_of(struct arena *a, const struct text *t)
{
	return (struct bytes){ .p = (const uint8_t *)arena_strndup(a, t->n ? t->p : "", t->n),
			       .n = t->n };
}

bool
run_program(struct vela *v, struct run *r)
{
	const double long_time = 60;
	struct child c = { .out = -1, .says = -1 };
	const char *path;
	int in = -1;
	if (!program_find(v->a, r->words.v[0], &path, v->e) ||
	    (r->in.p && !child_input(r->in, &in, v->e)))
		return false;
	words_add(v->a, &r->words, NULL);
	children_begin();
	bool ok = child_start(&c, path, program_words(r->words.v), in, -1, v->e);
	if (in >= 0)
		(void)close(in);
	/* a signal that ends npu-vela ends the program */
	struct child *running = &c;
	bool stopped = false;
	while (ok && c.running) {
		children_wait(&running, 1, long_time);
		if (children_signal() && !stopped)
			child_kill(&c, SIGTERM);
		stopped = children_signal() != 0;
	}
	children_end();
	if (ok && c.lost)
		ok = err_at(v->e, c.name, 0, "its output cannot be read: %s", strerror(c.lost));
	r->out = copy_of(v->a, &c.written);
	r->said = copy_of(v->a, &c.said);
	r->status = c.status;
	child_free(&c);
	return ok && !stopped;
}
