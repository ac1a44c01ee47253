/* SPDX-License-Identifier: Apache-2.0 */
#include "sched.h"

bool
make_steps(struct sched *s)
{
	if (s->g->n_steps)
		return true;
	for (size_t n = 0; n < s->g->n_nodes; n++)
		for (size_t i = 0; i < s->g->n_ops; i++) {
			if (s->g->ops[i]->node != s->g->nodes[n])
				continue;
			struct g_step *p = graph_add_g_step(s->g);
			G_PUT(p, STEP, op, s->g->ops[i]);
		}
	return true;
}
