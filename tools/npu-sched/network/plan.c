/* SPDX-License-Identifier: Apache-2.0 */
/* An empty plan: no kernels, and operations run whole; the decisions of a plan. */
#include "plan.h"

#include <string.h>

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->effort = s->effort_step > 0 ? s->effort_step : 0;
	p->rolling = anew(a, int32_t, n);
	p->stripe = anew(a, int32_t, n);
	p->decided.op = anew(a, struct decision, n);
	p->decided.n_ops = s->n_ops;
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

/* Copies a list; NULL stays NULL. */
static void *
copy_list(struct arena *a, const void *from, size_t bytes)
{
	void *to = from ? arena_alloc(a, bytes + 1, 1) : NULL;
	if (bytes && to)
		memcpy(to, from, bytes);
	return to;
}

struct decisions
decisions_copy(struct arena *a, const struct decisions *from)
{
	struct decisions d = *from;
	d.op = copy_list(a, from->op, (size_t)from->n_ops * sizeof(*from->op));
	d.in_place = copy_list(a, from->in_place, from->n_slices * sizeof(*from->in_place));
	return d;
}
