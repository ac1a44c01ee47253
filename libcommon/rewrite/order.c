/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the operations into a new order.  The operations that compute a piece wait until another
 * operation uses the piece.  Then all of them run.  If they read other pieces, the operations of
 * those pieces run first.  Therefore the live range of a piece begins just before its first use,
 * and its bytes are free for the next piece after its last use.
 *
 * All operations read the same values as in the old order:
 * - Only its waiting operations write a piece, and they do so in the old order.
 * - A waiting operation runs before another operation overwrites bytes that it reads.
 * - All other tensors are written in the old order.
 */
#include "rewrite/split.h"

struct piece *
order_add(struct order *x, struct g_tensor *t)
{
	struct piece *q = anew(x->a, struct piece, 1);
	q->t = t;
	while (x->n_tensors <= (size_t)t->rec.index) {
		agrow(x->a, x->piece, x->n_tensors, &x->cap_tensors);
		x->piece[x->n_tensors++] = NULL;
	}
	x->piece[t->rec.index] = q;
	return q;
}

static void
append(struct order *x, struct ops *l, struct g_op *op)
{
	agrow(x->a, l->v, l->n, &l->cap);
	l->v[l->n++] = op;
}

static struct piece *
piece_of(const struct order *x, const struct g_operand *o)
{
	bool added = o->t && (size_t)o->t->rec.index < x->n_tensors;
	return added ? x->piece[o->t->rec.index] : NULL;
}

void
order_wait(struct order *x, struct piece *p, struct g_op *op)
{
	if (!p->waiting.n) {
		agrow(x->a, x->waits, x->n_waits, &x->cap_waits);
		x->waits[x->n_waits++] = p;
	}
	append(x, &p->waiting, op);
}

static void run_waiting(struct order *x, struct piece *p);

/* Runs op, after the operations of other pieces that op reads.  p: the piece of op, or NULL. */
static void
run_op(struct order *x, const struct piece *p, struct g_op *op)
{
	struct piece *q[] = { piece_of(x, &op->ifm), piece_of(x, &op->ifm2) };
	for (int k = 0; k < 2; k++)
		if (q[k] && q[k] != p)
			run_waiting(x, q[k]);
	append(x, &x->out, op);
}

/* Removes piece p from the list of waiting pieces, and runs its operations. */
static void
run_waiting(struct order *x, struct piece *p)
{
	struct ops l = p->waiting;
	size_t n = 0;
	p->waiting = (struct ops){ .n = 0 };
	for (size_t i = 0; i < x->n_waits; i++)
		if (x->waits[i] != p)
			x->waits[n++] = x->waits[i];
	x->n_waits = n;
	for (size_t i = 0; i < l.n; i++)
		run_op(x, p, l.v[i]);
}

/* Returns a piece other than p with a waiting operation that reads bytes of o; NULL: none. */
static struct piece *
reader_of(const struct order *x, const struct piece *p, const struct g_operand *o)
{
	for (size_t i = 0; i < x->n_waits; i++) {
		const struct ops *l = &x->waits[i]->waiting;
		for (size_t k = 0; x->waits[i] != p && k < l->n; k++)
			if (may_overlap(&l->v[k]->ifm, o) || may_overlap(&l->v[k]->ifm2, o))
				return x->waits[i];
	}
	return NULL;
}

void
order_append(struct order *x, struct g_op *op)
{
	struct piece *to = piece_of(x, &op->ofm), *reader;
	while ((reader = reader_of(x, to, &op->ofm)))
		run_waiting(x, reader);
	if (to)
		order_wait(x, to, op);
	else
		run_op(x, NULL, op);
}

void
order_end(struct order *x)
{
	while (x->n_waits > 0)
		run_waiting(x, x->waits[0]);
}
