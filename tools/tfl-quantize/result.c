/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an integer version of the float network; and all steps from a model to that version. */
#include "quantize.h"

#include "kernels/kernels.h"
#include "tflite/fields.h"

bool
make_result(struct arena *a, const struct options *o, const struct tfl_model *m,
	    const struct op_plan *plan, const struct ranges *ranges, const bool *wide,
	    struct result *out, struct err *e)
{
	struct net *n = net_open(a, m);
	bool all_wide = o->type == ACTIVATIONS_INT16;
	if (!net_find_variables(n, e))
		return false;
	for (int i = 0; i < n->n_ops; i++)
		n->op[i].width = plan[i].keeps_float		    ? WIDTH_FLOAT
				 : all_wide || (wide && wide[i]) ? WIDTH_16
								 : WIDTH_8;
	*out = (struct result){ .n = n, .p = choose_parameters(n, ranges, o) };
	if (!convert(n, out->p, ranges, o, e) || !net_write(n, &out->file, e) ||
	    !model_read(a, out->file, m->name, &out->m, e))
		return false;
	/* every operator that is not allowed to be float must have an integer kernel */
	const struct tfl_subgraph *g = &out->m->subgraph[0];
	for (int i = 0, at = n->n_variables ? n->n_variables + 1 : 0; i < n->n_ops; i++) {
		struct err bare = { 0 };
		if (n->op[i].removed)
			continue;
		bool variable = rule_of(n->op[i].op.code)->kind == RULE_VARIABLE;
		if (n->op[i].width != WIDTH_FLOAT && !variable && !kernel_check(g, &g->op[at], &bare))
			return err_at(e, out->m->name, 0, "no integer version: %s", bare.text);
		at++;
	}
	return true;
}

/* true if CALL_ONCE runs the subgraph */
static bool
begins_variables(const struct tfl_subgraph *g, int subgraph)
{
	for (int i = 0; i < g->n_ops; i++)
		if (g->op[i].code == TFL_CALL_ONCE &&
		    TFL_OPT(&g->op[i], CallOnceOptions, init_subgraph_index) == subgraph)
			return true;
	return false;
}

static bool
check_model(const struct tfl_model *m, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int i = 0; i < g->n_ops; i++)
		if (g->op[i].code == TFL_IF || g->op[i].code == TFL_WHILE)
			return tfl_refuse(m, &g->op[i], i, "control flow is not supported", e);
	for (int s = 1; s < m->n_subgraphs; s++)
		if (!begins_variables(g, s))
			return err_at(e, m->name, 0, "subgraph %d (%s): a second network, or the body of "
				      "an operator other than CALL_ONCE, is not supported; convert one "
				      "signature alone", s, m->subgraph[s].name);
	bool has_floats = false;
	for (int i = 0; i < g->n_tensors; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		has_floats |= t->type == TFL_FLOAT32;
		/*
		 * The shape may depend on more than the batch: LSTMs put the batch second.  The
		 * file has the shape for a batch of 1.  rules_check() finds whether an operator
		 * with an integer version computes this shape.
		 */
		int code = t->producer < 0 ? -1 : g->op[t->producer].code;
		bool is_checked = rule_of(code)->kind != RULE_NONE || code == TFL_QUANTIZE ||
				  code == TFL_DEQUANTIZE;
		if (t->is_dynamic && (t->producer < 0 || !is_checked))
			return err_at(e, m->name, 0, "subgraph 0: tensor %d (%s): dynamic shapes are not "
				      "supported", i, t->name);
	}
	for (int k = 0; k < g->n_in; k++) {
		const struct tfl_tensor *t = &g->tensor[g->in[k]];
		bool integer = t->quant.n_scale == 1 && has_floats &&
			       (t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16);
		if (t->type != TFL_FLOAT32 && !integer && !t->data.p)
			return err_at(e, m->name, 0, "subgraph 0: input %d (%s) is %s, not FLOAT32%s",
				      k, t->name, tfl_type_name(t->type),
				      has_floats ? "" : ": the model is quantized already");
	}
	return true;
}

bool
quantize_model(struct arena *a, const struct options *o, const struct tfl_model *m,
	       struct report *out, struct err *e)
{
	struct tfl_model *decoded;
	struct op_plan *plan;
	struct ranges *ranges = anew(a, struct ranges, 1);
	struct result *result = anew(a, struct result, 1);
	bool *wide;
	if (!tfl_check_plain(m, e) || !check_model(m, e) || !decode_model(a, m, o, &decoded, e) ||
	    !rules_check(a, decoded, o, &plan, e) || !calibrate(a, o, decoded, plan, ranges, e) ||
	    !choose_wide(a, o, decoded, plan, ranges, &wide, e) ||
	    !make_result(a, o, decoded, plan, ranges, wide, result, e))
		return false;
	*out = (struct report){ .o = o, .m = decoded, .plan = plan, .ranges = ranges, .r = result };
	return true;
}
