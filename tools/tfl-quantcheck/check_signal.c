/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about values without a scale.  In an audio front end such values are plain
 * integers, and its operators run on the CPU.  Anywhere else the quantization was
 * lost.
 */
#include "quantcheck.h"

#include <string.h>

static bool
has_no_scale(const struct review *r, struct place at)
{
	const struct tfl_tensor *t = place_tensor(r, at);
	unsigned use = r->use[at.subgraph][at.tensor].what;
	return type_is_quantized(t->type) && !t->quant.n_scale &&
	       !(use & (USE_BLOB | USE_INDEX | USE_MID));
}

void
find_signals(struct review *r)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	bool has_signal_operator = false;
	for (int i = 0; i < g->n_ops; i++)
		has_signal_operator |= g->op[i].code == TFL_CUSTOM &&
				       !strncmp(g->op[i].custom, "Signal", strlen("Signal"));
	if (!has_signal_operator)
		return;
	for (int i = g->n_tensors; i-- > 0;) {
		struct place at = { 0, -1, i };
		if (r->use[0][i].what && has_no_scale(r, at) && !g->tensor[i].data.p) {
			r->n_signals++;
			r->first_signal = i;
		}
	}
}

void
check_missing(struct review *r, const struct check *c, struct place at)
{
	if (!has_no_scale(r, at))
		return;
	const struct tfl_tensor *t = place_tensor(r, at);
	const char *type = tfl_type_name(t->type);
	if (at.subgraph || !r->n_signals || t->data.p)
		review_add(r, c, at, "%s %s without a scale", type,
			   t->data.p ? "constant" : "values");
	else if (at.tensor == r->first_signal)
		review_warn(r, c, at, "%d tensors of an audio front end have no scale: "
			    "its operators run on the CPU", r->n_signals);
	else
		review_follow(r, c, at, "%s values without a scale", type);
}
