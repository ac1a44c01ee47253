/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the arithmetic of words made of NPU operations (libcommon/lower/words.c,
 * divide.c), computed operation by operation in 128 bits.  The result must be the
 * claimed one, and no intermediate result may exceed 32 bits, as U85's behaviour then
 * is unknown.
 */
#include "rules.h"

#include "graph/build.h"
#include "lower/lower.h"

#include <stdlib.h>

enum { PAIRS = 60000 };

/* a graph of words of n lanes, and the values of its tensors */
struct machine {
	struct lower l;
	int32_t n;
	int64_t **value; /* by the tensor's number */
	const char *what;
	int64_t n_beyond; /* results outside of 32 bits */
};

static struct machine *
open_machine(const char *what, int32_t n)
{
	struct arena *a = arena_open();
	struct machine *m = anew(a, struct machine, 1);
	m->l = (struct lower){ .a = a, .g = graph_new(a, "words") };
	m->l.node = graph_add_g_node(m->l.g);
	m->what = what;
	m->n = n;
	m->value = anew(a, int64_t *, 4096);
	return m;
}

static struct g_operand
input(struct machine *m, const int32_t *v)
{
	struct g_operand o = word_new(&m->l, (struct hwc){ .h = 1, .w = 1, .c = m->n });
	int64_t *x = anew(m->l.a, int64_t, (size_t)m->n);
	for (int32_t i = 0; i < m->n; i++)
		x[i] = v[i];
	m->value[o.t->rec.id] = x;
	return o;
}

/* one lane of an operand; constants are one word or n of them */
static int64_t
lane(struct machine *m, const struct g_operand *o, int32_t i)
{
	if (m->value[o->t->rec.id])
		return m->value[o->t->rec.id][i];
	const struct g_blob *b = graph_find_blob(m->l.g, o->t->source.blob);
	return (int32_t)load_le32(b->data + (b->bytes > 4 ? 4 * (size_t)i : 0));
}

/* the product as the output stage shifts it: DBL (ethosu-commands(7) 6.2) */
static wide
shifted(wide p, const struct g_op *op)
{
	int shift = op->scale.shift;
	if (!shift)
		return p;
	if (shift > 31) {
		wide first = rule_floor_div(p + rule_power(30), rule_power(31));
		wide by = rule_power(shift - 31), size = first < 0 ? -first : first;
		wide near = rule_floor_div(2 * size + by, 2 * by);
		return first < 0 ? -near : near;
	}
	return rule_floor_div(p + rule_power(shift - 1), rule_power(shift));
}

static wide
computed(const struct g_op *op, wide a, wide b)
{
	switch (op->kind) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return shifted(a * b, op);
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	case OP_SHL:
		return b < 0 || b > 31 ? INT64_MAX : a * rule_power((int)b);
	case OP_SHR: /* halves up */
		return b < 0 || b > 31 ? INT64_MAX
				       : rule_floor_div(2 * a + rule_power((int)b),
							2 * rule_power((int)b));
	case OP_CLZ:
		return a <= 0 ? (a ? 0 : 32) : __builtin_clz((uint32_t)a);
	case OP_ABS:
		return a < 0 ? -a : a;
	default:
		printf("operation %d is none of words\n", op->kind);
		abort();
	}
}

static void
run(struct machine *m)
{
	for (size_t k = 0; k < m->l.g->n_ops; k++) {
		const struct g_op *op = m->l.g->ops[k];
		int64_t *y = anew(m->l.a, int64_t, (size_t)m->n);
		bool two = G_HAS(op, G_OP_ifm2);
		for (int32_t i = 0; i < m->n; i++) {
			int64_t a = lane(m, &op->ifm, i);
			int64_t b = two ? lane(m, &op->ifm2, i) : 0;
			wide v = op->reversed ? computed(op, b, a) : computed(op, a, b);
			v += op->ofm_zero;
			m->n_beyond += v != (int32_t)v;
			y[i] = (int64_t)v;
		}
		m->value[op->ofm.t->rec.id] = y;
	}
}

/* compares the operand's lanes with want, and checks that no result exceeded 32 bits;
 * ends the machine */
static void
close_machine(struct machine *m, const struct g_operand *y, const int64_t *want,
	      const int32_t *a, const int32_t *b)
{
	for (int32_t i = 0; y && i < m->n; i++) {
		if (m->value[y->t->rec.id][i] == want[i] || n_failed++ > 20)
			continue;
		printf("%s of %d, %d: %" PRId64 ", want %" PRId64 "\n", m->what, a[i],
		       b ? b[i] : 0, m->value[y->t->rec.id][i], want[i]);
	}
	if (m->n_beyond) {
		n_failed++;
		printf("%s: %" PRId64 " results leave 32 bits\n", m->what, m->n_beyond);
	}
	arena_close(m->l.a);
}

/* words of all sizes, among them powers of two and their neighbours */
static int32_t
draw_word(void)
{
	uint32_t v = draw() >> draw() % 32;
	if (draw() % 4 == 0)
		v = (UINT32_C(1) << draw() % 32) + draw() % 3 - 1;
	return (int32_t)(draw() % 2 ? v : 0 - v);
}

/* random dividends, and dividends next to multiples of the divisor */
static void
divide(void)
{
	static int32_t a[PAIRS], b[PAIRS];
	static int64_t want[PAIRS];
	for (int i = 0; i < PAIRS; i++) {
		b[i] = draw_word();
		a[i] = draw_word();
		/* the result of a division by 0 is undefined; 2^31 is not a word */
		b[i] = b[i] ? b[i] : INT32_MIN;
		if (draw() % 2)
			a[i] = (int32_t)((int64_t)a[i] / b[i] * b[i] + draw_in(-1, 1));
		if (a[i] == INT32_MIN && b[i] == -1)
			a[i]++;
		want[i] = (int64_t)a[i] / b[i];
	}
	struct machine *m = open_machine("quotient", PAIRS);
	struct g_operand x = input(m, a), by = input(m, b);
	struct g_operand y = word_new(&m->l, x.shape);
	word_divide_to(&m->l, x, by, y);
	run(m);
	close_machine(m, &y, want, a, b);

	static const int32_t any[] = { 0, 1, -1, INT32_MAX, INT32_MIN }, none[5] = { 0 };
	m = open_machine("by 0", 5);
	x = input(m, any);
	by = input(m, none);
	word_divide_to(&m->l, x, by, word_new(&m->l, x.shape));
	run(m);
	close_machine(m, NULL, NULL, NULL, NULL);
}

/* the result minus 2^60 / H, rounded down, is -4 to 2, and the result is never more
 * than 2^30; tested for random operands and near the limits, where it is closest to
 * 2^30 */
static void
reciprocals(void)
{
	static int32_t h[PAIRS];
	for (int i = 0; i < PAIRS; i++)
		h[i] = (int32_t)(draw() % (UINT32_C(1) << 30)) + (1 << 30);
	h[0] = 1 << 30;
	h[1] = INT32_MAX;
	for (int i = 2; i < PAIRS / 2; i++)
		h[i] = (1 << 30) + i - 1;
	struct machine *m = open_machine("reciprocal", PAIRS);
	struct g_operand y = word_half_recip(&m->l, input(m, h));
	run(m);
	for (int i = 0; i < PAIRS; i++) {
		int64_t v = m->value[y.t->rec.id][i];
		int64_t d = v + (int64_t)rule_floor_div(-rule_power(60), h[i]);
		if ((d >= -4 && d <= 2 && v <= 1 << 30) || n_failed++ > 20)
			continue;
		printf("2^60 / %d: %" PRId64 " more\n", h[i], d);
	}
	close_machine(m, NULL, NULL, NULL, NULL);
}

static void
floors(int bits)
{
	enum { N = 4096 };
	static int32_t v[N];
	static int64_t high[N], low[N];
	for (int i = 0; i < N; i++) {
		v[i] = draw_word();
		if (v[i] < INT32_MIN + (1 << bits))
			v[i] = INT32_MIN + (1 << bits);
		high[i] = (int64_t)rule_floor_div(v[i], rule_power(bits));
		low[i] = v[i] - high[i] * (INT64_C(1) << bits);
	}
	struct machine *m = open_machine("floor", N);
	struct g_operand x = input(m, v), y = word_floor(&m->l, x, bits);
	struct g_operand rest = word_remainder(&m->l, x, y, bits);
	run(m);
	for (int i = 0; i < N; i++)
		if (m->value[rest.t->rec.id][i] != low[i]) {
			n_failed++;
			printf("rest of %d\n", v[i]);
		}
	close_machine(m, &y, high, v, NULL);
}

/* v * r as in MBQM, for r below and above 1, plus a zero point */
static void
scales(void)
{
	enum { N = 512 };
	static int32_t v[N];
	static int64_t want[N];
	int e = (int)draw_in(-20, 6), zero = (int)draw_in(-128, 127);
	double r = (double)draw_scale(e);
	struct rule_mult q = rule_mult(r);
	for (int i = 0; i < N; i++) {
		v[i] = (int32_t)draw() >> (q.e > 0 ? 2 * q.e + 1 : 1);
		want[i] = rule_scaled(v[i], q) + zero;
	}
	struct machine *m = open_machine("scaled", N);
	struct g_operand y = word_new(&m->l, (struct hwc){ .h = 1, .w = 1, .c = N });
	word_scale_to(&m->l, input(m, v),
		      (struct npu_scale){ .mult = (uint32_t)q.m, .shift = 31 - q.e }, zero, y);
	run(m);
	close_machine(m, &y, want, v, NULL);
}

int
main(void)
{
	divide();
	reciprocals();
	for (int bits = 1; bits < 30; bits++)
		floors(bits);
	for (int i = 0; i < 200; i++)
		scales();
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
