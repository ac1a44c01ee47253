/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From when to when a tensor's bytes matter, counted in moments: one for every
 * step, one for every CPU operator, in order of execution.
 */
#include "sched.h"

struct clock {
	struct sched *s;
	int64_t now;
};

static void
touch(struct clock *c, struct g_tensor *t)
{
	if (!t || tensor_is_const(t))
		return;
	if (!G_HAS(t, G_TENSOR_live))
		G_PUT(t, TENSOR, live, (struct g_range){ .lo = c->now, .hi = c->now });
	t->live.hi = c->now > t->live.hi ? c->now : t->live.hi;
}

static void
touch_list(struct clock *c, const struct g_tensors *l)
{
	for (size_t i = 0; i < l->n; i++)
		touch(c, l->v[i]);
}

static void
run_node(struct clock *c, const struct g_node *n)
{
	if (n->kind == NODE_CPU) {
		touch_list(c, &n->in);
		touch_list(c, &n->out);
		c->now++;
		return;
	}
	for (size_t i = 0; i < c->s->g->n_steps; i++) {
		const struct g_op *op = c->s->g->steps[i]->op;
		if (!op || op->node != n)
			continue;
		touch(c, op->ifm.t);
		touch(c, op->ifm2.t);
		touch(c, op->ofm.t);
		c->now++;
	}
	/* results stay until the operator that holds the node is done */
	c->now--;
	touch_list(c, &n->out);
	c->now++;
}

bool
find_lives(struct sched *s)
{
	struct clock c = { .s = s };
	struct graph *g = s->g;
	for (size_t i = 0; i < g->n_tensors; i++) {
		G_CLEAR(g->tensors[i], G_TENSOR_live);
		if (g->tensors[i]->io == IO_IN)
			touch(&c, g->tensors[i]);
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		/* a node's inputs exist when it begins */
		touch_list(&c, &g->nodes[i]->in);
		run_node(&c, g->nodes[i]);
	}
	/* results stay to the end; inputs may be overwritten once read */
	c.now = c.now > 0 ? c.now - 1 : 0;
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		if (t->io == IO_OUT || t->variable)
			touch(&c, t);
		if (t->variable && G_HAS(t, G_TENSOR_live))
			t->live.lo = 0;
	}
	return true;
}
