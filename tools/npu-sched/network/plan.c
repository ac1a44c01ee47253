/* SPDX-License-Identifier: Apache-2.0 */
/* An empty plan: no kernels, and operations run whole. */
#include "plan.h"

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->rolling = anew(a, int32_t, n);
	p->stripe = anew(a, int32_t, n);
	p->objective = anew(a, enum block_objective, n);
	p->over = anew(a, struct g_tensor *, n);
	p->lead = anew(a, int64_t, n);
	p->cut_points = anew(a, struct g_list, n);
	return p;
}

void
plan_close(struct plan *p)
{
	if (p)
		arena_close(p->a);
}
