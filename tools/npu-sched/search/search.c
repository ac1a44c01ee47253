/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search asks a question of all plans: of every variant of the network, every division
 * into cascades, every cut of weights and every budget for transfers (npu-sched-search(7)).
 */
#include "../passes.h"
#include "run.h"

static bool
find_copies(struct search *x)
{
	x->may_copy = x->s->copies && weigh_copies(x->s);
	x->copies = true; /* use_copies() uses only those that pay from its next call on */
	return !x->s->e->status;
}

/* Finds orders of the graph with the copies that pay, and without any. */
static bool
find_orders(struct search *x)
{
	for (int copies = 0; copies < (x->may_copy ? 2 : 1); copies++) {
		set_copies(x, copies);
		x->order[copies] = find_order(x->s);
	}
	return !x->s->e->status;
}

static bool
keep_chosen(struct sched *s)
{
	if (s->o->keep_plan && s->plan)
		keep_plan(s);
	return true;
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e,
		    "the graph is scheduled already; give npu-sched the output of "
		    "tfl-partition");
	if (s->plan_input)
		return measure_whole(s) && replay_plan(s) && keep_chosen(s);
	struct search x = { .s = s, .copies = s->copies != NULL, .front.a = s->a };
	progress_begin(&x.progress, "search");
	bool ok = measure_whole(s) && find_copies(&x) && find_orders(&x) && answer(&x);
	progress_end(&x.progress);
	while (x.n > 0)
		variant_close(x.variant[--x.n]);
	return ok && keep_chosen(s);
}
