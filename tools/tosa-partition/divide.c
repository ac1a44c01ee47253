/* SPDX-License-Identifier: Apache-2.0 */
/* INTDIV: lower/divide.c. */
#include "part.h"

const char *
lower_divide(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd out = result_view(p, op->out[0]);
	const char *why = nd_divide_check(p->l, &out);
	if (!why)
		nd_divide(p->l, &a, &b, &out);
	return why;
}
