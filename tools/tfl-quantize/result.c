/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an integer version of the float network. */
#include "quantize.h"

#include "kernels/kernels.h"

/* Every operator of the result that is not allowed to be float must have an integer kernel. */
static bool
check_result(const struct net *n, const struct tfl_model *m, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int i = 0, at = 0; i < n->n_ops; i++) {
		struct err bare = { 0 };
		if (n->op[i].removed)
			continue;
		if (n->op[i].width != WIDTH_FLOAT && !kernel_check(g, &g->op[at], &bare))
			return err_at(e, m->name, 0, "no integer version: %s", bare.text);
		at++;
	}
	return true;
}

bool
make_result(struct arena *a, const struct options *o, const struct tfl_model *m,
	    const struct op_plan *plan, const struct ranges *ranges, const bool *wide,
	    struct result *out, struct err *e)
{
	struct net *n = net_open(a, m);
	bool all_wide = o->type == ACTIVATIONS_INT16;
	for (int i = 0; i < n->n_ops; i++)
		n->op[i].width = plan[i].keeps_float		    ? WIDTH_FLOAT
				 : all_wide || (wide && wide[i]) ? WIDTH_16
								 : WIDTH_8;
	*out = (struct result){ .n = n, .p = choose_parameters(n, ranges, o) };
	return convert(n, out->p, ranges, o, e) && net_write(n, &out->file, e) &&
	       model_read(a, out->file, m->name, &out->m, e) && check_result(n, out->m, e);
}
