/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAD: nothing, if the operators behind it pad instead (nputools-lowering(7) 6.3).  Else the
 * operator in front writes between the borders, or its result is copied there; then each side
 * is written.
 */
#include "part.h"

#include "lower/padding.h"

struct low_borders
borders_of(const struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *sizes = tosa_in(p->t, op, 1);
	struct low_borders b = { .value = tosa_zero_of(p->t, op, 2) };
	for (int k = 0; k < tosa_in(p->t, op, 0)->rank; k++) {
		b.before[k] = tosa_value(sizes, 2 * k);
		b.after[k] = tosa_value(sizes, 2 * k + 1);
	}
	return b;
}

/* can all readers pad instead? */
static bool
pad_folds(const struct part *p, const struct tosa_op *op)
{
	enum { NEAR = 256 /* operators to search for readers */ };
	const struct tosa_graph *g = p->t;
	const int uses = tosa_out(g, op)->uses, only = p->reader[op->out[0]];
	const int first = only >= 0 ? only : (int)(op - g->op) + 1;
	int takers = 0;
	if (tosa_in(g, op, 0)->data.p)
		return false;
	const struct low_borders b = borders_of(p, op);
	/* the least value that an element of the PAD's input can have */
	int64_t least = tosa_least(tosa_in(g, op, 0)->type, false), most;
	const int maker = p->maker[op->in[0]];
	if (maker >= 0 && g->op[maker].code == TOSA_CLAMP)
		tosa_clamp_of(g, &g->op[maker], &least, &most);
	for (int i = first; takers < uses && i < g->n_ops && i < first + NEAR; i++) {
		const struct tosa_op *to = &g->op[i];
		if (!to->n_in || to->in[0] != op->out[0])
			continue;
		bool taken = false;
		if (to->code == TOSA_CONV2D || to->code == TOSA_DEPTHWISE_CONV2D) {
			struct low_conv c = conv_window(p, to);
			taken = tosa_in(g, to, 1)->data.p && tosa_in(g, to, 2)->data.p &&
				low_conv_takes_pad(&c, &b);
		} else if (to->code == TOSA_MAX_POOL2D) {
			struct low_pool q = pool_window(p, to);
			taken = low_pool_takes_pad(&q, &b, least);
		}
		if (!taken)
			return false;
		takers++;
	}
	return uses && takers == uses; /* an output is used by the application, too */
}

const struct tosa_op *
folded_pad(const struct part *p, int tensor)
{
	int i = p->maker[tensor];
	return p->value[tensor].t || p->t->tensor[tensor].data.p || i < 0 ||
			       p->t->op[i].code != TOSA_PAD
		   ? NULL
		   : &p->t->op[i];
}

bool
pads_around(const struct part *p, const struct tosa_op *op, const struct nd *in,
	    struct low_borders *b)
{
	const struct tosa_tensor *y = tosa_out(p->t, op);
	const struct nd out = nd_dense(in->type, y->rank, y->dim);
	*b = borders_of(p, op);
	return !pad_folds(p, op) && nd_pads_around(in, b->before, (int32_t)b->value, &out);
}

const char *
lower_pad(struct part *p, const struct tosa_op *op)
{
	if (pad_folds(p, op))
		return NULL;
	struct nd v = value_of(p, op->in[0]), out = result_view(p, op->out[0]);
	const struct low_borders b = borders_of(p, op);
	nd_pad(p->l, &v, b.before, (int32_t)b.value, &out);
	return NULL;
}
