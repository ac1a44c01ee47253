/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's tensors have their channels first, the NPU's have them last: a graph
 * begins and ends with TRANSPOSEs.  An application whose data has channels last,
 * like a camera's, needs none of them.
 */
#include "part.h"

const char *const io_layout_names[] = { [CHANNELS_LAST] = "nhwc", [CHANNELS_FIRST] = "nchw", NULL };

static bool
is_transpose(const struct tosa_op *op, const int32_t perm[4])
{
	if (op->code != TOSA_TRANSPOSE || fb_vector(op->attribute, FB_TosaPerms_perms).n != 4)
		return false;
	for (int i = 0; i < 4; i++)
		if (tosa_perm_of(op, i) != perm[i])
			return false;
	return true;
}

/*
 * If all readers of an input are TRANSPOSEs to channels last, these become names of
 * the input.
 */
static bool
take_input(struct part *p, int tensor)
{
	static const int32_t to_last[4] = { 0, 2, 3, 1 };
	struct tosa_graph *g = p->t;
	int n = 0, of = -1;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++) {
			if (g->op[i].in[k] != tensor)
				continue;
			if (!is_transpose(&g->op[i], to_last) ||
			    g->tensor[g->op[i].out[0]].is_output)
				return false;
			n++;
			of = g->op[i].out[0];
		}
	if (!n || g->tensor[tensor].is_output)
		return false;
	struct tosa_tensor as = g->tensor[of];
	as.name = g->tensor[tensor].name;
	as.is_input = true;
	p->value[tensor] = own_tensor(p, &as);
	for (int i = 0; i < g->n_ops; i++)
		if (g->op[i].in && g->op[i].n_in == 1 && g->op[i].in[0] == tensor) {
			p->value[g->op[i].out[0]] = p->value[tensor];
			p->done[i] = true;
		}
	return true;
}

/* if a TRANSPOSE makes an output, the tensor that it reads becomes the output */
static bool
take_output(struct part *p, int tensor)
{
	static const int32_t to_first[4] = { 0, 3, 1, 2 };
	struct tosa_graph *g = p->t;
	int i = g->tensor[tensor].producer;
	if (i < 0 || p->done[i] || !is_transpose(&g->op[i], to_first) ||
	    p->reader[tensor] >= 0 || g->tensor[tensor].uses > 1)
		return false;
	int from = g->op[i].in[0];
	struct tosa_tensor *t = &g->tensor[from];
	if (t->is_input || t->is_output || t->data.p || p->value[from].t)
		return false;
	struct tosa_tensor as = *t;
	as.name = g->tensor[tensor].name;
	as.is_output = true;
	p->value[from] = p->value[tensor] = own_tensor(p, &as);
	t->is_output = true;
	p->reader[from] = -1;
	p->done[i] = true;
	return true;
}

/* a request for one input or output must succeed; one for all applies where possible */
static bool
take_borders(struct part *p, const struct io_layouts *l, const int *v, int n, const char *what,
     bool (*take_one)(struct part *, int))
{
	if (!io_layouts_check(l, n, what, p->t->name, p->e))
		return false;
	for (int i = 0; i < n; i++) {
		const struct io_layout *x = io_layout_find(l, i);
		if (!x || x->layout != CHANNELS_LAST || take_one(p, v[i]) || x->index < 0)
			continue;
		return err_at(p->e, p->t->name, 0, "%s %d, %s, has no TRANSPOSE that nhwc could "
			      "leave out", what, i, p->t->tensor[v[i]].name);
	}
	return true;
}

bool
take_layouts(struct part *p, const struct options *o)
{
	return take_borders(p, &o->in, p->t->in, p->t->n_in, "input", take_input) &&
	       take_borders(p, &o->out, p->t->out, p->t->n_out, "output", take_output);
}
