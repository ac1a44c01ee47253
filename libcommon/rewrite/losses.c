/* SPDX-License-Identifier: Apache-2.0 */
/* The rule "channels": records of what is removed. */
#include "rewrite/prune.h"

#include "base/text.h"

/* What goes with the channels of a group of tensors. */
struct loss {
	const struct g_op *op;	/* the first convolution that loses channels, or any operation */
	int more;		/* number of other convolutions that do */
	int32_t constant, unread, of; /* channels of these convolutions */
	int64_t weights, bytes;
	struct g_list channels; /* of the OFM of op: removed */
};

/* Counts the channels of an OFM that go. */
static void
count_ofm(struct pruner *p, const struct g_op *op, struct loss *l)
{
	struct lanes m;
	int32_t n;
	bool first = !l->op, product = op->kind == OP_CONV || op->kind == OP_FC;
	(void)prune_kept(p, &op->ofm, &n);
	if (!lanes_of(&op->ofm, &m) || n == op->ofm.shape.c || (l->op && !product))
		return;
	if (first || (l->op->kind != OP_CONV && l->op->kind != OP_FC)) {
		*l = (struct loss){ .op = op, .weights = l->weights, .bytes = l->bytes };
		l->channels.v = anew(p->a, int64_t, (size_t)op->ofm.shape.c);
		first = true;
	} else {
		l->more++;
	}
	l->of += op->ofm.shape.c;
	for (int32_t k = 0; k < op->ofm.shape.c; k++) {
		struct interval v = p->values.of[op->ofm.t->rec.index][m.first + k % m.n];
		if (prune_keeps(p, prune_channel(p, &op->ofm, m, k)))
			continue;
		l->constant += v.lo == v.hi;
		l->unread += v.lo != v.hi;
		if (first)
			l->channels.v[l->channels.n++] = k;
	}
}

int
prune_note(struct pruner *p)
{
	enum { SCALE_BYTES = 10 };
	struct graph *g = p->g;
	struct loss *losses = anew(p->a, struct loss, g->n_tensors + 1);
	int n = 0;
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		struct loss *rows = &losses[prune_group(p, op->ofm.t)];
		count_ofm(p, op, rows);
		if (!op->weights)
			continue;
		/* the weights that go: rows for the OFM's group, columns for the IFM's group */
		struct loss *columns = &losses[prune_group(p, op->ifm.t)];
		int32_t n_ifm, n_ofm, depth = op->weights->shape.dim[3];
		(void)prune_kept(p, &op->ifm, &n_ifm);
		(void)prune_kept(p, &op->ofm, &n_ofm);
		int64_t taps = (int64_t)op->kernel.y * op->kernel.x, gone = op->ofm.shape.c - n_ofm;
		rows->weights += gone * taps * depth;
		rows->bytes += gone * taps * depth + gone * SCALE_BYTES;
		if (op->kind == OP_DEPTHWISE)
			continue;
		gone = (op->ifm.shape.c - n_ifm) * taps * n_ofm;
		columns->weights += gone;
		columns->bytes += gone;
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct loss *l = &losses[i];
		const int group = (int)i;
		if (!l->op)
			continue;
		struct text t = { 0 };
		struct cycles before = { 0 }, after = { 0 };
		const int32_t grain = p->grain[group];
		exact_number(&t, l->constant + l->unread);
		text_puts(&t, " of ");
		exact_number(&t, l->of);
		const struct g_op *op = l->op;
		const char *label = op->name && *op->name ? op->name : op_names[op->kind];
		if (!(op->name && *op->name) && op->tfl.n)
			label = arena_printf(p->a, "operator %d", op->tfl.v[0].index);
		text_printf(&t, " channels of %s", label);
		if (l->more)
			text_printf(&t, " and %d other%s", l->more, l->more == 1 ? "" : "s");
		text_printf(&t, " are %s: ", !l->unread	    ? "constant"
					     : !l->constant ? "not read"
							    : "constant or not read");
		exact_number(&t, l->weights);
		text_puts(&t, " weights removed");
		bool ok = p->x->estimate && prune_cycles(p, group, INT32_MAX, &before) &&
			     prune_cycles(p, group, grain, &after);
		struct g_rewrite *r = exact_note(p->x, l->op, l->bytes,
						 ok ? cycles_saved(&after, &before) : 0, "%s",
						 text_str(&t));
		G_PUT(r, REWRITE, text, arena_strdup(p->a, text_str(&t)));
		G_PUT(r, REWRITE, channels, l->channels);
		text_free(&t);
		n++;
	}
	return n;
}
