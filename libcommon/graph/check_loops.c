/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks loops of U85: four nodes in one command stream.  Each turn first runs the
 * condition and the test.  If the test is true, the body runs, and the next turn
 * begins; otherwise the end node continues behind the loop.
 *
 * The schedule counts the time steps of a loop once.  Therefore a tensor that is also
 * used in a later turn, or before or behind the loop, must be live as long as the loop.
 */
#include "graph/check.h"

#include "graph/facts.h"
#include "target/accel.h"
#include "target/generation.h"
#include "target/memory.h"

#include <inttypes.h>

/* the part of a loop that must precede each part */
static const int before[] = {
	[LOOP_CONDITION] = LOOP_NONE, [LOOP_TEST] = LOOP_CONDITION,
	[LOOP_BODY] = LOOP_TEST, [LOOP_END] = LOOP_BODY,
};

static const char *const before_names[] = {
	[LOOP_CONDITION] = "a node of the NPU", [LOOP_TEST] = "a loop's condition",
	[LOOP_BODY] = "a loop's test", [LOOP_END] = "a loop's body",
};

/* The branch uses the result of the last kernel: a single kernel, with one element. */
static bool
check_test(struct check *c, const struct g_node *n)
{
	const struct g_op *op = NULL;
	int ops = 0;
	for (size_t i = 0; i < c->g->n_ops; i++)
		if (c->g->ops[i]->node == n) {
			op = c->g->ops[i];
			ops++;
		}
	bool ok = ops == 1 && !op_is_transfer(op->kind) && n->out.n == 1 &&
		  op->ofm.t == n->out.v[0] && hwc_elements(op->ofm.shape) == 1 &&
		  tfl_type_bytes(op->ofm.type) == 1;
	return ok || BAD(c, n, "n%d is a loop's test: it must have one kernel, whose "
			       "result is one byte and the node's output", n->rec.id);
}

/* ---- live ranges -------------------------------------------------------------------- */

/* First and last time step of each node, as check_schedule.c counts; a chain has one. */
static struct g_range *
find_times(const struct check *c)
{
	const struct graph *g = c->g;
	struct g_range *time = anew(c->a, struct g_range, g->n_nodes + 1);
	int64_t now = 1;
	for (size_t i = 0; i < g->n_steps; i++) {
		const struct g_step *s = g->steps[i];
		if (s->op && !s->op->chain)
			time[step_node(s)->rec.index].hi += 2;
	}
	for (size_t i = 0; i < g->n_nodes; i++) {
		time[i].lo = now;
		now += g->nodes[i]->kind == NODE_CPU ? 2 : time[i].hi;
		time[i].hi = now - 2;
	}
	return time;
}

/* Checks the live range of a tensor that an operation of a loop accesses. */
static bool
check_life(struct check *c, const struct g_range *time, const struct g_op *op,
	   const struct g_tensor *t)
{
	int loop = op->node->rec.index; /* the loop's condition */
	if (!t || tensor_is_const(t) || !G_HAS(t, G_TENSOR_live))
		return true;
	while (c->g->nodes[loop]->loop != LOOP_CONDITION)
		loop--;
	struct g_range turn = { .lo = time[loop].lo, .hi = time[loop + 2].hi };
	if ((t->live.lo >= turn.lo && t->live.hi <= turn.hi) ||
	    (t->live.lo <= turn.lo && t->live.hi >= turn.hi))
		return true;
	return BAD(c, t, "t%d, live %" PRId64 ":%" PRId64 ", is also used outside of "
			 "the loop of n%d, but is not live during the whole loop, %"
			 PRId64 ":%" PRId64, t->rec.id,
		   t->live.lo, t->live.hi, c->g->nodes[loop]->rec.id, turn.lo, turn.hi);
}

/* weights fetched by another node may be overwritten before the next turn */
static bool
check_buffers(struct check *c)
{
	const struct graph *g = c->g;
	const struct g_node **user = anew(c->a, const struct g_node *, g->n_buffers + 1);
	for (size_t i = 0; i < g->n_steps; i++) {
		const struct g_step *s = g->steps[i];
		const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
		const struct g_node *n = step_node(s);
		if (!b)
			continue;
		const struct g_node **u = &user[b->rec.index];
		if (*u && *u != n && (node_repeats(*u) || node_repeats(n)))
			return BAD(c, s, "p%d: b%d belongs to n%d: in a loop, each "
					 "node needs its own buffers",
					 s->rec.id, b->rec.id, (*u)->rec.id);
		*u = n;
	}
	return true;
}

bool
check_loops(struct check *c)
{
	const struct graph *g = c->g;
	if (!graph_has_loops(g))
		return true;
	for (size_t i = 0; i < g->n_nodes; i++) {
		const struct g_node *n = g->nodes[i];
		const struct accel *a;
		struct memory_system m;
		const struct g_node *prev = i ? g->nodes[i - 1] : NULL;
		const struct g_node *next = i + 1 < g->n_nodes ? g->nodes[i + 1] : NULL;
		bool follows = n->kind == NODE_NPU && prev && prev->kind == NODE_NPU &&
			       (prev->loop == before[n->loop] ||
				(n->loop == LOOP_CONDITION && prev->loop == LOOP_END));
		if (node_continues(n) && !follows)
			return BAD(c, n, "n%d is a loop's %s: it must follow %s", n->rec.id,
				   loop_names[n->loop], before_names[n->loop]);
		if (node_continues(n) && node_repeats(n) && (!next || next->loop != n->loop + 1))
			return BAD(c, n, "n%d is a loop's %s: its %s must follow", n->rec.id,
				   loop_names[n->loop], loop_names[n->loop + 1]);
		if (node_continues(n) && g->n_targets) {
			if (!graph_target(g, &a, &m, c->e))
				return false;
			if (accel_lacks(a, LACK_BRANCHES))
				return BAD(c, n, "n%d is a loop's %s: %s has no branches",
					   n->rec.id, loop_names[n->loop], a->name);
		}
		if (n->loop == LOOP_TEST && !check_test(c, n))
			return false;
	}
	if (g->stage < STAGE_SCHED)
		return true;
	const struct g_range *time = find_times(c);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		if (node_repeats(op->node) &&
		    (!check_life(c, time, op, op->ifm.t) ||
		     !check_life(c, time, op, op->ifm2.t) ||
		     !check_life(c, time, op, op->ofm.t)))
			return false;
	}
	return check_buffers(c);
}
