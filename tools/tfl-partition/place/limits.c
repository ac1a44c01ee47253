/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the rules of later stages which operations an accelerator of the graph can't run,
 * once the operations exist.  Their operators stay on the CPU.
 */
#include "../part.h"

#include "emit/emit.h"

static bool
set_limit(struct part *p, const struct g_op *op, const char *why)
{
	bool any = false;
	for (int k = 0; k < op->tfl.n; k++) {
		const char **limit = &p->limit[op->tfl.v[k].index];
		any = any || !*limit;
		*limit = why;
	}
	return any;
}

/* why op can't run on an accelerator that the graph is for; NULL: it can on all of them */
static const char *
limit_of(const struct part *p, const struct g_op *op)
{
	const struct accel *only = p->l->accel;
	const char *why = low_linux_limit(p->l, op);
	for (size_t i = 0; !why && i < ACCEL_COUNT; i++)
		if (!only || only == &accels[i])
			why = emit_limit(p->a, &accels[i], op);
	return why;
}

bool
find_limits(struct part *p)
{
	bool any = false;
	for (size_t i = 0; i < p->g->n_ops; i++) {
		const char *why = limit_of(p, p->g->ops[i]);
		if (why && set_limit(p, p->g->ops[i], why))
			any = true;
	}
	return any;
}
