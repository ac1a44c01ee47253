/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the loops of the graph with the branches of a stream: the position of each branch
 * between the steps of the nodes, and its target.  Rule 57 of the verifier checks that no
 * operation is running at a branch.
 */
#include "source/parts.h"

#include "graph/facts.h"
#include "stream/op.h"

#include <inttypes.h>
#include <string.h>

enum { BRANCH_WORDS = 2 };

/* The part of a loop that continues the stream, or NULL. */
static const struct g_node *
following(const struct source *x)
{
	size_t i = (size_t)x->node->rec.index + 1;
	return i < x->g->n_nodes && node_continues(x->g->nodes[i]) ? x->g->nodes[i] : NULL;
}

static void
enter(struct source *x, const struct g_node *n)
{
	x->node = n;
	x->step = 0;
	/* execution reaches n from two places, so that the loaded tables are not known */
	if (n->loop != LOOP_TEST)
		memset(x->lut, 0, sizeof(x->lut));
}

bool
source_continues(struct source *x)
{
	const struct g_node *n = following(x);
	if (!n || (n->loop != LOOP_CONDITION && n->loop != LOOP_TEST))
		return false;
	if (n->loop == LOOP_CONDITION) {
		x->loop.again[0] = x->loop.behind;
		x->loop.again[1] = x->at;
		x->loop.asked = false;
	}
	enter(x, n);
	return true;
}

/*
 * Checks a branch after the test.  The first branch is conditional and goes to the body, which
 * begins after both branches.  The second branch leaves the loop.
 */
static void
take_test(struct source *x, const struct npu_op *o)
{
	int64_t body = 4 * (int64_t)(x->at + 2 * BRANCH_WORDS);
	if (x->loop.asked && !(o->param & 1)) {
		x->loop.leave = o->target;
		enter(x, following(x));
		return;
	}
	if (x->loop.asked || !(o->param & 1) || o->target != body)
		source_error(x, "n%d is the test of a loop and needs a conditional branch to "
			     "the body at 0x%06" PRIx64 ", then a branch out of the loop; "
			     "this branch goes to 0x%06" PRIx64, x->node->rec.id,
			     (uint64_t)body, (uint64_t)o->target);
	x->loop.asked = true;
}

/* Checks the branch after the body: it goes to the condition, and the loop ends after it. */
static void
take_body(struct source *x, const struct npu_op *o)
{
	const size_t *again = x->loop.again;
	int64_t end = 4 * (int64_t)(x->at + BRANCH_WORDS);
	if (o->param & 1 || o->target < 4 * (int64_t)again[0] ||
	    o->target > 4 * (int64_t)again[1])
		source_error(x, "n%d is the body of a loop and needs a branch to the condition "
			     "of the loop, at 0x%06" PRIx64 " to 0x%06" PRIx64 "; this "
			     "branch goes to 0x%06" PRIx64,
			     x->node->rec.id, 4 * (uint64_t)again[0], 4 * (uint64_t)again[1],
			     (uint64_t)o->target);
	else if (x->loop.leave != end)
		source_error(x, "the loop with the body n%d branches to 0x%06" PRIx64
			     " when its test fails, but ends at 0x%06" PRIx64, x->node->rec.id,
			     (uint64_t)x->loop.leave, (uint64_t)end);
	enter(x, following(x));
}

void
source_branch(struct source *x, const struct npu_op *o)
{
	if (x->node->loop == LOOP_TEST)
		take_test(x, o);
	else if (x->node->loop == LOOP_BODY)
		take_body(x, o);
	else
		source_error(x, "the graph has no branch here");
}

void
source_end(struct source *x)
{
	const struct g_node *n = following(x);
	if (n)
		source_error(x, "the stream ends before n%d, the %s of a loop", n->rec.id,
			     loop_names[n->loop]);
}
