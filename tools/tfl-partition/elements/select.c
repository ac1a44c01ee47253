/* SPDX-License-Identifier: Apache-2.0 */
/* SELECT, SELECT_V2: lower/choose.h. */
#include "../moves/move.h"

#include "lower/choose.h"

static const char *
read_select(const struct part *p, struct lop *lop)
{
	const struct tfl_op *op = lop->op;
	const struct tfl_tensor *o = lop->ofm;
	const char *why = check_fm(p, lop->ifm, "the condition", TYPE_BOOL) ?:
			  check_fm(p, o, "OFM", family_types(op));
	for (int k = 1; k < 3 && !why; k++) {
		why = check_fm(p, part_in(p, op, k), "IFM", family_types(op));
		if (!why && part_in(p, op, k)->type != o->type)
			why = "IFM and OFM differ in type";
		if (!why)
			why = check_broadcast(p, part_in(p, op, k), lop->ifm, o);
	}
	if (why)
		return why;
	const struct tfl_tensor *which = lop->ifm;
	if (which->data.p)
		return "the condition is constant";
	bool rows = op->code == TFL_SELECT && which->rank == 1 && o->rank > 1 &&
		    which->dim[0] > 1;
	return rows ? "a condition that selects whole rows" : NULL;
}

static const char *
lower_select(struct part *p, const struct lop *lop)
{
	const struct tfl_tensor *o = lop->ofm;
	struct side side[3];
	struct nd v[3], out = nd_ofm(p, lop->op->out[0]);
	for (int k = 0; k < 3; k++) {
		side[k] = side_of(p, lop->op->in[k]);
		v[k] = side_operand(p, &side[k], o);
	}
	low_select(p->l, &v[0], &v[1], &v[2], &out);
	return NULL;
}

const struct family family_select = {
	.read = read_select, .lower = lower_select,
};
