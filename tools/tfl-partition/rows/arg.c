/* SPDX-License-Identifier: Apache-2.0 */
/* ARG_MAX, ARG_MIN along any axis: nputools-lowering(7) 5.2, lower/arg.h. */
#include "../moves/move.h"

#include "lower/arg.h"

const char *
read_arg(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct low_arg *r = &o->arg;
	const struct tfl_tensor *ifm, *ofm;
	const char *why = check_fixed(p, o->ifm, "IFM");
	if (why)
		return why;
	ifm = o->ifm;
	ofm = o->ofm;
	if (!has_type(ifm, family_types(op)))
		return arena_printf(p->a, "IFM is %s", tfl_type_name(ifm->type));
	if (tfl_elements(ifm) < 1)
		return "IFM is empty";
	if (ofm->type != TFL_INT32 && ofm->type != TFL_INT64)
		return arena_printf(p->a, "OFM is %s", tfl_type_name(ofm->type));
	if (ifm->data.p)
		return "IFM is constant";
	*r = (struct low_arg){ .max = op->code == TFL_ARG_MAX,
			       .wide = ofm->type == TFL_INT64, .type = ifm->type };
	int64_t axis;
	int n, at;
	if (!part_ints(part_in(p, op, 1), &axis, 1, &n) || n != 1 ||
	    (at = move_axis(axis, ifm->rank)) < 0)
		return "the axis is not a constant in range";
	r->before = r->n = r->behind = 1;
	for (int i = 0; i < ifm->rank; i++)
		*(i < at ? &r->before : i > at ? &r->behind : &r->n) *= ifm->dim[i];
	why = low_arg_check(p->l, r);
	if (why)
		return why;
	return tfl_elements(ofm) == r->before * r->behind
		   ? NULL
		   : "the OFM's shape is not what the axis gives";
}

void
lower_arg(struct part *p, const struct lop *o)
{
	struct nd x = nd_ifm(p, o->op->in[0]);
	low_arg(p->l, &o->arg, &x, part_ofm(p, o->op->out[0]));
}
