/* SPDX-License-Identifier: Apache-2.0 */
/* WHILE_LOOP of TOSA: repeats the body while the condition is true. */
#include "sim/tosa.h"

#include <string.h>

/* Limits for loops that do not end: turns, and elements that operators read and write. */
enum { MAX_TURNS = 1 << 16, MAX_ELEMENTS = 1 << 26 };

struct part { /* the condition or the body of the loop */
	const struct tosa_graph *g;
	uint8_t **data; /* memory of every tensor */
	int64_t elements; /* elements that its operators read and write in one turn */
	const char *warning; /* the first warning; NULL: none */
};

static struct part
open_part(struct arena *a, const struct tosa_graph *g)
{
	struct part p = { .g = g, .data = anew(a, uint8_t *, (size_t)g->n_tensors) };
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tosa_tensor *t = &g->tensor[i];
		p.data[i] = anew(a, uint8_t, sim_tosa_bytes(t) + 1);
		if (t->data.p)
			memcpy(p.data[i], sim_tosa_constant(a, t).p, sim_tosa_bytes(t));
	}
	for (int i = 0; i < g->n_ops; i++) {
		const struct tosa_op *op = &g->op[i];
		p.elements += tosa_elements(tosa_out(g, op));
		for (int k = 0; k < op->n_in; k++)
			p.elements += tosa_elements(tosa_in(g, op, k));
	}
	return p;
}

/* Copies the tensors `list` of `from` to the part's inputs, and runs the part. */
static void
run_part(struct part *p, struct arena *keep, uint8_t *const *from, const int *list)
{
	const struct tosa_graph *g = p->g;
	for (int i = 0; i < g->n_in; i++)
		memcpy(p->data[g->in[i]], from[list[i]], sim_tosa_bytes(&g->tensor[g->in[i]]));
	for (int i = 0; i < g->n_ops; i++) {
		const char *w = sim_run_tosa_op(keep, g, i, p->data);
		p->warning = p->warning ? p->warning : w;
	}
}

const char *
sim_run_tosa_loop(struct arena *keep, const struct tosa_graph *g, const struct tosa_op *op,
		  uint8_t *const *data)
{
	struct arena *a = arena_open();
	struct part cond = open_part(a, op->loop->cond), body = open_part(a, op->loop->body);
	const struct tosa_graph *b = body.g;
	int64_t turns = 0, elements = 0;
	const char *warning = NULL;
	for (int i = 0; i < op->n_in; i++)
		memcpy(data[op->out[i]], data[op->in[i]],
		       sim_tosa_bytes(tosa_in(g, op, i)));
	for (;;) {
		run_part(&cond, keep, data, op->out);
		if (!*cond.data[cond.g->out[0]])
			break;
		elements += cond.elements + body.elements;
		if (turns++ == MAX_TURNS || elements > MAX_ELEMENTS) {
			warning = arena_printf(keep, "%s: operator %d (%s, %s): its "
						     "condition is still true after "
						     "%lld iterations", g->name,
					       op->number, op->name, tosa_out(g, op)->name,
					       (long long)turns - 1);
			break;
		}
		run_part(&body, keep, data, op->out);
		for (int i = 0; i < op->n_out; i++)
			memcpy(data[op->out[i]], body.data[b->out[i]],
			       sim_tosa_bytes(&b->tensor[b->out[i]]));
	}
	arena_close(a);
	return warning ? warning : cond.warning ? cond.warning : body.warning;
}
