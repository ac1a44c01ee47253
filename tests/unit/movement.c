/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests views of any rank and the copies between them (libcommon/lower/nd.c, copy.c),
 * also with the orders of U85's output stage.  The operations of a copy are executed
 * element by element, from operand to operand.  Every element must arrive at the
 * position of the destination view, and no other byte may change.
 */
#include "rules.h"

#include "graph/build.h"
#include "lower/nd.h"
#include "target/accel.h"

#include <stdlib.h>

enum { MOST = 1 << 15, MOST_RANK = 5 }; /* bytes of a tensor */

struct memory {
	struct lower l;
	uint8_t *of[64]; /* by the tensor's number */
	const char *what;
	int number;
};

static uint8_t *
bytes_of(struct memory *m, const struct g_tensor *t)
{
	uint8_t **p = &m->of[t->rec.id];
	if (!*p)
		*p = anew(m->l.a, uint8_t, MOST);
	return *p;
}

/* the position of element [h][w][c] of an operand, in its own elements */
static int64_t
place_in(const struct g_operand *o, struct hwc at)
{
	struct hwc in = o->view == VIEW_BOX ? o->t->hwc : o->shape;
	struct hwc from = o->view == VIEW_BOX ? o->start : (struct hwc){ .h = 0 };
	if (o->view == VIEW_STRIDED)
		return o->offset + at.h * o->stride[0] + at.w * o->stride[1] +
		       at.c * o->stride[2];
	return (((int64_t)from.h + at.h) * in.w + from.w + at.w) * in.c + from.c + at.c;
}

static void
move(struct memory *m, const struct g_op *op, struct hwc at)
{
	struct hwc to = at;
	if (op->kind == OP_REORDER && op->order == ORDER_HCW)
		to = (struct hwc){ .h = at.h, .w = at.c, .c = at.w };
	if (op->kind == OP_REORDER && op->order == ORDER_REVERSE_C)
		to.c = op->ifm.shape.c - 1 - at.c;
	size_t n = (size_t)tfl_type_bytes(op->ifm.type);
	int64_t from = place_in(&op->ifm, at) * (int64_t)n;
	int64_t into = place_in(&op->ofm, to) * (int64_t)n;
	if (from < 0 || into < 0 || from + (int64_t)n > MOST || into + (int64_t)n > MOST) {
		n_failed++;
		printf("%s %d: outside of the tensor\n", m->what, m->number);
		return;
	}
	uint8_t *x = bytes_of(m, op->ifm.t), *y = bytes_of(m, op->ofm.t);
	memcpy(y + into, x + from, n);
}

static void
run(struct memory *m)
{
	for (size_t k = 0; k < m->l.g->n_ops; k++) {
		const struct g_op *op = m->l.g->ops[k];
		struct hwc s = op->ifm.shape, at;
		for (at.h = 0; at.h < s.h; at.h++)
			for (at.w = 0; at.w < s.w; at.w++)
				for (at.c = 0; at.c < s.c; at.c++)
					move(m, op, at);
	}
}

/* the position of element i (in C order) of a view */
static int64_t
place(const struct nd *v, int64_t i)
{
	int64_t at = v->offset;
	for (int d = v->rank; d-- > 0; i /= v->dim[d])
		at += i % v->dim[d] * v->stride[d];
	return at;
}

/* a view of n[] elements somewhere in a tensor of its own, with its axes in any order */
static struct nd
draw_view(struct memory *m, int type, int rank, const int64_t *n)
{
	int64_t base[ND_MAX], start[ND_MAX], step[ND_MAX];
	int order[ND_MAX], at[ND_MAX];
	bool plain = draw() % 3 == 0;
	for (int i = 0; i < rank; i++)
		order[i] = i;
	for (int i = rank - 1; i > 0 && !plain; i--) {
		int k = (int)draw_in(0, i), t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	for (int i = 0; i < rank; i++)
		at[order[i]] = i;
	for (int i = 0; i < rank; i++) {
		int64_t k = n[at[i]];
		step[i] = plain || draw() % 2 ? 1 : draw() % 2 ? -1 : 2;
		start[i] = plain ? 0 : draw_in(0, 1);
		base[i] = plain ? k : start[i] + (k - 1) * (step[i] == 2 ? 2 : 1) + 1 + draw_in(0, 1);
		if (step[i] < 0)
			start[i] += k - 1;
	}
	struct nd v = nd_new(&m->l, type, rank, base);
	for (int i = 0; i < rank; i++)
		nd_slice(&v, i, start[i], n[at[i]], step[i]);
	nd_permute(&v, order);
	return v;
}

static void
open_memory(struct memory *m, const char *what, int number, const char *accel)
{
	struct arena *a = arena_open();
	*m = (struct memory){ .what = what, .number = number };
	m->l = (struct lower){ .a = a, .g = graph_new(a, what),
			       .accel = accel ? accel_find(accel) : NULL };
	m->l.node = graph_add_g_node(m->l.g);
}

static int
draw_type(void)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16, TFL_INT32, TFL_INT64 };
	return types[draw() % ARRAY_LEN(types)];
}

static void
complain(const struct memory *m, const char *rule)
{
	n_failed++;
	printf("%s %d: %s\n", m->what, m->number, rule);
}

/* copies random bytes from one view to another of the same dimensions */
static void
copies(int number, const char *accel)
{
	struct memory m;
	open_memory(&m, accel ? "copy of U85" : "copy", number, accel);
	int type = draw_type(), rank = (int)draw_in(1, MOST_RANK);
	size_t size = (size_t)tfl_type_bytes(type);
	int64_t n[ND_MAX];
	for (int i = 0; i < rank; i++) /* with steps of 2 it must fit into MOST */
		n[i] = draw_in(1, rank < 4 ? 5 : rank < 5 ? 3 : 2);
	struct nd from = draw_view(&m, type, rank, n), to = draw_view(&m, type, rank, n);
	uint8_t *x = bytes_of(&m, from.t), *y = bytes_of(&m, to.t), *want;
	for (int i = 0; i < MOST; i++) {
		x[i] = (uint8_t)draw();
		y[i] = (uint8_t)draw();
	}
	want = anew(m.l.a, uint8_t, MOST);
	memcpy(want, y, MOST);
	for (int64_t i = 0; i < nd_elements(&from); i++)
		memcpy(want + (size_t)place(&to, i) * size, x + (size_t)place(&from, i) * size,
		       size);
	int64_t promised = nd_copies(&m.l, &from, &to);
	nd_copy(&m.l, &from, &to);
	run(&m);
	if (memcmp(want, y, MOST) != 0)
		complain(&m, "elements are elsewhere");
	if (promised != (int64_t)m.l.g->n_ops)
		complain(&m, "nd_copies() counts others");
	arena_close(m.l.a);
}

/* other dimensions for the same elements in the same order, if possible */
static bool
reshaped(int number)
{
	struct memory m;
	open_memory(&m, "reshape", number, NULL);
	int rank = (int)draw_in(1, 4), other = 0;
	int64_t n[ND_MAX], dim[ND_MAX], left = 1;
	for (int i = 0; i < rank; i++) {
		n[i] = draw_in(1, 5);
		left *= n[i];
	}
	struct nd v = draw_view(&m, TFL_INT8, rank, n), r = v;
	dim[0] = 1;
	for (int64_t k = 2; left > 1; k++)
		for (; left % k == 0; left /= k)
			if (other < 5 && draw() % 2)
				dim[++other] = k;
			else
				dim[other] *= k;
	other++;
	bool done = nd_reshape(&r, dim, other);
	for (int64_t i = 0; done && i < nd_elements(&v); i++)
		if (place(&v, i) != place(&r, i)) {
			complain(&m, "another order");
			break;
		}
	if (nd_is_dense(&v) && !done)
		complain(&m, "dense, and refused");
	/* an operand describes the same elements, if three dimensions suffice */
	struct g_operand o;
	bool three = nd_operand(&v, &o);
	for (int64_t i = 0; three && i < nd_elements(&v); i++) {
		struct hwc at = { .h = (int32_t)(i / o.shape.c / o.shape.w),
				  .w = (int32_t)(i / o.shape.c % o.shape.w),
				  .c = (int32_t)(i % o.shape.c) };
		if (place_in(&o, at) != place(&v, i)) {
			complain(&m, "the operand has another order");
			break;
		}
	}
	arena_close(m.l.a);
	return done;
}

int
main(void)
{
	int n_reshaped = 0;
	for (int i = 0; i < 1500; i++) {
		copies(i, NULL);
		copies(i, "ethos-u85-256");
		n_reshaped += reshaped(i);
	}
	if (n_reshaped < 300) {
		printf("only %d views had other dimensions\n", n_reshaped);
		n_failed++;
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
