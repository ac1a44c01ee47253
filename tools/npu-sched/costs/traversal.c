/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the order in which a convolution takes its weights: part of the kernel first, or the
 * depth of the IFM first.  Either pads what it cuts unevenly, and padding costs cycles as well
 * as bytes (ethosu-weights(7) 2.5).  Where neither pads much more, both are tried: time and
 * encoded size decide.
 */
#include "../passes.h"
#include "costs.h"
#include "graph/facts.h"

#include "base/fixed.h"
#include "base/threads.h"
#include "emit/emit.h"

#include <math.h>

int64_t
padded_weights(const struct g_op *op, int t)
{
	bool bytes = op_ifm_bits(op) == 8;
	int64_t elements = (int64_t)op->kernel.y * op->kernel.x, c = op->ifm.shape.c;
	if (t == DEPTH_FIRST)
		return elements * round_up_i64(c, bytes ? 32 : 16);
	return round_up_i64(elements, bytes ? 4 : 2) * round_up_i64(c, 8);
}

struct trial {
	int op;
	struct weights_view view;
	int64_t bytes[2]; /* by traversal */
	double cycles[2]; /* weights in place: the slower of reading and computing counts */
};

struct trials {
	struct sched *s;
	struct trial *v;
	size_t n, cap;
	int64_t *count; /* of each trial: number of weights */
	int now; /* enum g_traversal, being tried */
};

static struct g_op *
op_of(const struct trials *l, size_t i)
{
	return l->s->info[l->v[i].op].op;
}

/*
 * Takes the choice of the reference, which is for utilization.  Lists operations for which neither
 * traversal is clearly better: no other difference outweighs 1.5 times the weights, padding
 * included.
 */
static void
choose_clear(struct trials *l)
{
	struct sched *s = l->s;
	for (int i = 0; i < s->n_ops; i++) {
		struct g_op *op = s->info[i].op;
		if (G_HAS(op, G_OP_traversal) || op->kind != OP_CONV)
			continue;
		bool part = block_part_kernel(s->accel, op->ifm.shape.c,
					      op->kernel.y * op->kernel.x,
					      op_ifm_bits(op), op->sparse);
		G_PUT(op, OP, traversal, part ? PART_KERNEL : DEPTH_FIRST);
		const int64_t depth = padded_weights(op, DEPTH_FIRST);
		const int64_t kernel = padded_weights(op, PART_KERNEL);
		if (2 * depth >= 3 * kernel || 2 * kernel >= 3 * depth || s->info[i].shared ||
		    G_HAS(op->weights, G_WEIGHTS_at))
			continue;
		agrow(s->a, l->v, l->n, &l->cap);
		l->v[l->n++] = (struct trial){ .op = i };
	}
}

/* Measures exact bytes, for the fastest block. */
static void
measure_traversal(void *ctx, size_t i)
{
	struct trials *l = ctx;
	struct trial *t = &l->v[i];
	struct g_op op = *op_of(l, i);
	/* cached before the threads began */
	const struct block_choice *b = whole_block(l->s, t->op);
	t->bytes[l->now] = 0;
	if (!b)
		return;
	op.block = b->block;
	for (int core = 0; core < emit_streams(l->s->accel, &op); core++) {
		struct weights_order o = emit_weights_order(l->s->accel, &op, 0, core);
		if (weights_order_channels(&o))
			t->bytes[l->now] += (int64_t)stream_cost(l->s, &op, &t->view, &o);
	}
}

/* Tries one traversal for all listed operations; without exact sizes each weight counts a
 * byte. */
static void
try_traversal(struct trials *l, int t, bool exact)
{
	struct sched *s = l->s;
	l->now = t;
	for (size_t i = 0; i < l->n; i++)
		op_of(l, i)->traversal = t;
	find_works(s);
	for (size_t i = 0; i < l->n; i++) {
		const struct g_op *op = op_of(l, i);
		(void)whole_block(s, l->v[i].op);
		l->v[i].bytes[t] = padded_weights(op, t) * op->ofm.shape.c;
	}
	if (exact)
		threads_for(s->o->jobs, l->n, l->count, measure_traversal, l);
	for (size_t i = 0; i < l->n; i++) {
		const struct g_op *op = op_of(l, i);
		struct kernel k = { .op = l->v[i].op,
				    .rows = { .hi = op->ofm.shape.h },
				    .depth = { .hi = op->ofm.shape.c } };
		const struct block_choice *b = whole_block(s, k.op);
		int64_t scales = emit_scale_bytes(s->accel, op, op->ofm.shape.c);
		l->v[i].cycles[t] = INFINITY;
		if (!b)
			continue;
		struct perf_op p = kernel_op(s, &k, &b->fold, l->v[i].bytes[t], scales,
					     IN_PLACE);
		l->v[i].cycles[t] = cost_on(&s->machine, &p, b).total;
	}
}

/* Chooses the traversal that pads less, by an eighth or more, and takes no more cycles.  Keeps
 * other operations in the list. */
static void
choose_by_padding(struct trials *l)
{
	size_t n = 0;
	try_traversal(l, DEPTH_FIRST, false);
	try_traversal(l, PART_KERNEL, false);
	for (size_t i = 0; i < l->n; i++) {
		const struct trial *t = &l->v[i];
		int less = t->bytes[PART_KERNEL] < t->bytes[DEPTH_FIRST] ? PART_KERNEL
									 : DEPTH_FIRST;
		op_of(l, i)->traversal = less;
		if (t->cycles[less] > t->cycles[!less] ||
		    9 * t->bytes[less] > 8 * t->bytes[!less])
			l->v[n++] = *t;
	}
	l->n = n;
}

bool
choose_traversals(struct sched *s)
{
	struct trials l = { .s = s };
	choose_clear(&l);
	if (l.n)
		choose_by_padding(&l);
	for (size_t i = 0; i < l.n; i++)
		if (!emit_weights_view(s->a, s->g, op_of(&l, i)->weights,
				       &l.v[i].view, s->e))
			return false;
	if (!l.n)
		return true;
	l.count = anew(s->a, int64_t, l.n);
	for (size_t i = 0; i < l.n; i++)
		l.count[i] = weight_count(op_of(&l, i));
	try_traversal(&l, DEPTH_FIRST, true);
	try_traversal(&l, PART_KERNEL, true);
	for (size_t i = 0; i < l.n; i++) { /* the better one by cycles, then by bytes */
		const struct trial *t = &l.v[i];
		const int a = DEPTH_FIRST, b = PART_KERNEL;
		const bool first = t->cycles[a] != t->cycles[b] ? t->cycles[a] < t->cycles[b]
								: t->bytes[a] <= t->bytes[b];
		op_of(&l, i)->traversal = first ? a : b;
	}
	return true;
}
