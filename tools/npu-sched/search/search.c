/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search asks a question of all plans: of every variant of the network, every division
 * into cascades, every cut of weights and every budget for transfers (npu-sched-search(7)).
 */
#include "../passes.h"
#include "run.h"

bool
search_plan(struct sched *s)
{
	bool ok;
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e,
		    "the graph is scheduled already; give npu-sched the output of "
		    "tfl-partition");
	if (s->plan_input) {
		ok = measure_whole(s) && replay_plan(s);
	} else {
		struct search x = { .s = s, .copies = s->copies != NULL, .front.a = s->a };
		progress_begin(&x.progress, "search");
		ok = measure_whole(s);
		if (ok && s->copies)
			x.may_copy = weigh_copies(s);
		x.copies = true; /* use_copies() uses only those that pay from its next call on */
		ok = ok && !s->e->status;
		/* orders of the graph with the copies that pay, and without any */
		for (int copies = 0; ok && copies < (x.may_copy ? 2 : 1); copies++) {
			set_copies(&x, copies);
			x.order[copies] = find_order(s);
		}
		ok = ok && !s->e->status && answer(&x);
		progress_end(&x.progress);
		while (x.n > 0)
			variant_close(x.variant[--x.n]);
	}
	if (ok && s->o->keep_plan && s->plan)
		keep_plan(s);
	return ok;
}
