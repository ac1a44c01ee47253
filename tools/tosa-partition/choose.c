/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons and SELECT: lower/choose.h. */
#include "part.h"

#include "lower/choose.h"

const char *
lower_compare(struct part *p, const struct tosa_op *op)
{
	struct low_compare c = { .order = op->code == TOSA_EQUAL	   ? LOW_EQUAL
					  : op->code == TOSA_GREATER ? LOW_GREATER
								     : LOW_NOT_LESS };
	c.a = value_of(p, op->in[0]);
	c.b = value_of(p, op->in[1]);
	struct nd out = result_view(p, op->out[0]);
	low_compare(p->l, &c, &out);
	return NULL;
}

const char *
lower_select(struct part *p, const struct tosa_op *op)
{
	struct nd c = value_of(p, op->in[0]), a = value_of(p, op->in[1]);
	struct nd b = value_of(p, op->in[2]), out = result_view(p, op->out[0]);
	low_select(p->l, &c, &a, &b, &out);
	return NULL;
}
