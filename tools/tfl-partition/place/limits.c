/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the rules of later stages which operations the accelerator can't run, once
 * the operations exist.  Their operators stay on the CPU.
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

bool
find_limits(struct part *p)
{
	const struct accel *accel = p->l->accel;
	bool any = false;
	for (size_t i = 0; accel && i < p->g->n_ops; i++) {
		const char *why = low_linux_limit(p->l, p->g->ops[i]) ?:
				  emit_limit(p->a, accel, p->g->ops[i]);
		if (why && set_limit(p, p->g->ops[i], why))
			any = true;
	}
	return any;
}
