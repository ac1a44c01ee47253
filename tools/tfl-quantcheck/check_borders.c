/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about float inputs and outputs.  A converter keeps float inputs and outputs by
 * default, and puts QUANTIZE and DEQUANTIZE between them and the integer network.  All
 * these tensors and operators have one cause, so they give one finding.
 */
#include "quantcheck.h"

static bool
is_float_border(const struct review *r, int tensor, unsigned side)
{
	return tensor >= 0 && r->use[0][tensor].what & side &&
	       type_is_float(r->m->subgraph[0].tensor[tensor].type);
}

bool
is_border_operator(const struct review *r, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	if (at.subgraph || op->n_in < 1 || op->n_out < 1)
		return false;
	return (op->code == TFL_QUANTIZE &&
		is_float_border(r, op->in[0], USE_INPUT)) ||
	       (op->code == TFL_DEQUANTIZE &&
		is_float_border(r, op->out[0], USE_OUTPUT));
}

void
find_float_borders(struct review *r)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	for (int i = g->n_tensors; i-- > 0;) {
		if (is_float_border(r, i, USE_INPUT)) {
			r->float_in.n++;
			r->float_in.first = i;
		} else if (is_float_border(r, i, USE_OUTPUT)) {
			r->float_out.n++;
			r->float_out.first = i;
		}
	}
	for (int i = 0; i < g->n_ops; i++)
		if (is_border_operator(r, (struct place){ 0, i, -1 }))
			*(g->op[i].code == TFL_QUANTIZE ? &r->float_in.border
							: &r->float_out.border) = true;
}

void
check_float_border(struct review *r, const struct check *c, struct place at)
{
	bool in = at.subgraph == 0 && is_float_border(r, at.tensor, USE_INPUT);
	if (at.subgraph || (!in && !is_float_border(r, at.tensor, USE_OUTPUT)))
		return;
	const struct float_borders *f = in ? &r->float_in : &r->float_out;
	const char *type = tfl_type_name(place_tensor(r, at)->type);
	const char *side = in ? "input" : "output";
	const char *remedy = !f->border ? ""
			     : in ? "; --integer-io of npucc or tfl-partition, or inference_input_type "
				    "of the converter, leaves QUANTIZE out"
				  : "; --integer-io of npucc or tfl-partition, or inference_output_type "
				    "of the converter, leaves DEQUANTIZE out";
	if (f->first != at.tensor)
		review_follow(r, c, at, "the model's %s is %s", side, type);
	else if (f->n == 1)
		review_add(r, c, at, "the model's %s is %s%s", side, type, remedy);
	else
		review_add(r, c, at, "%d of the model's %ss are %s%s", f->n, side, type, remedy);
}
