/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests plans of tfl2c for random networks: tensors that live at the same time do not
 * overlap (plan.c); copied rows of bytes implement CONCATENATION, SPLIT and PACK
 * (call_plan.c); floats become C constants of the same value (interface.c).
 */
#include "../../tools/tfl2c/tfl2c.h"
#include "tflite/fields.h"

#include "base/text.h"
#include "rules.h"

#include <stdlib.h>

enum { MOST_TENSORS = 40, MOST_OPS = 30, MOST_IN = 3 };

struct net {
	struct tfl_tensor t[MOST_TENSORS];
	struct tfl_op op[MOST_OPS];
	int operand[MOST_OPS][MOST_IN + 1];
	int32_t offset[MOST_TENSORS];
	int in, out;
	struct tfl_subgraph g;
};

/* ---- plan.c ---------------------------------------------------------------------- */

/* each operator reads one to three earlier tensors and makes the next one */
static void
draw_net(struct net *m)
{
	int n_ops = (int)draw_in(1, MOST_OPS);
	memset(m, 0, sizeof(*m));
	for (int i = 0; i <= n_ops; i++) {
		m->t[i] = (struct tfl_tensor){ .name = "t", .type = TFL_INT8, .rank = 1,
					       .dim = { (int32_t)draw_in(1, 200) },
					       .producer = i - 1, .has_shape = true };
		m->offset[i] = -1;
	}
	for (int i = 0; i < n_ops; i++) {
		struct tfl_op *op = &m->op[i];
		*op = (struct tfl_op){ .code = TFL_ADD, .in = m->operand[i],
				       .out = m->operand[i] + MOST_IN, .n_out = 1,
				       .n_in = (int)draw_in(1, MOST_IN) };
		for (int k = 0; k < op->n_in; k++) /* mostly recent tensors */
			m->operand[i][k] = (int)draw_in(k && i > 4 ? i - 4 : k ? 0 : i, i);
		m->operand[i][MOST_IN] = i + 1;
	}
	m->t[0].is_variable = n_ops > 2 && draw() % 4 == 0;
	m->out = n_ops;
	m->g = (struct tfl_subgraph){ .tensor = m->t, .n_tensors = n_ops + 1, .op = m->op,
				      .n_ops = n_ops, .in = &m->in, .n_in = 1, .out = &m->out,
				      .n_out = 1 };
}

/* from the operator that makes a tensor to the last one that reads it */
static void
life(const struct net *m, int t, int *first, int *last)
{
	*first = t - 1;
	*last = t == m->out ? m->g.n_ops : t - 1;
	for (int i = 0; i < m->g.n_ops; i++)
		for (int k = 0; k < m->op[i].n_in; k++)
			if (m->operand[i][k] == t && i > *last)
				*last = i;
	if (m->t[t].is_variable) {
		*first = -1;
		*last = m->g.n_ops;
	}
}

static void
places(void)
{
	static struct net m;
	int64_t at[MOST_TENSORS], end, live;
	struct arena *a = arena_open();
	draw_net(&m);
	end = plan_tensors(a, &m.g, m.offset, at);
	for (int t = 0; t < m.g.n_tensors; t++) {
		int first, last, from, to;
		life(&m, t, &first, &last);
		n_failed += at[t] < 0 || at[t] + m.t[t].dim[0] > end;
		for (int u = 0; u < t; u++) {
			life(&m, u, &from, &to);
			if (from > last || to < first || at[u] >= at[t] + m.t[t].dim[0] ||
			    at[t] >= at[u] + m.t[u].dim[0])
				continue;
			n_failed++;
			printf("tensors %d and %d meet at %" PRId64 "\n", u, t, at[t]);
		}
	}
	/* at most all tensors, each rounded up to 16; at least the bytes that are
	 * live at once */
	for (int i = 0; i < m.g.n_ops; i++, n_failed += live > end) {
		live = 0;
		for (int t = 0; t < m.g.n_tensors; t++) {
			int first, last;
			life(&m, t, &first, &last);
			live += first <= i && last >= i ? m.t[t].dim[0] : 0;
		}
	}
	live = 0;
	for (int t = 0; t < m.g.n_tensors; t++)
		live += (m.t[t].dim[0] + 15) / 16 * 16;
	n_failed += end > live;
	arena_close(a);
}

/* ---- call_plan.c ----------------------------------------------------------------- */

enum { PARTS = 3 };

/* PARTS tensors and the tensor of which they are parts, along an axis; PACK: a new
 * axis */
struct cut {
	struct bench b; /* the bench has the parts, then the whole */
	int axis, index[PARTS + 2];
	bool packs;
};

static void
draw_cut(struct cut *c, int code)
{
	int32_t dim[4] = { (int32_t)draw_in(1, 4), (int32_t)draw_in(1, 4), (int32_t)draw_in(1, 4) };
	int32_t whole[4] = { dim[0], dim[1], dim[2] }, sum = 0;
	memset(c, 0, sizeof(*c));
	c->packs = code == TFL_PACK;
	c->axis = (int)draw_in(0, 2);
	int32_t each = (int32_t)draw_in(1, 4);
	for (int k = 0; k < PARTS; k++) {
		dim[c->axis] = code == TFL_CONCATENATION ? (int32_t)draw_in(1, 4) : each;
		sum += dim[c->axis];
		(void)drawn(&c->b, TFL_INT8, dim, 1.0f, 0, -128, 127);
	}
	whole[c->axis] = sum;
	if (c->packs) { /* [.., PARTS, ..] before the axis */
		for (int d = 3; d > c->axis; d--)
			whole[d] = c->b.t[0].dim[d - 1];
		whole[c->axis] = PARTS;
	}
	(void)drawn(&c->b, TFL_INT8, whole, 1.0f, 0, -128, 127);
}

/* element `at` of a part, as an element of the whole */
static int64_t
in_whole(const struct cut *c, int part, int64_t at)
{
	const struct tfl_tensor *t = &c->b.t[part];
	int64_t inner = 1, along = c->packs ? 1 : t->dim[c->axis], before = part, all = PARTS;
	for (int d = c->axis + !c->packs; d < t->rank; d++)
		inner *= t->dim[d];
	for (int k = 0; !c->packs && k < PARTS; k++) {
		before = k ? before : 0;
		all = k ? all : 0;
		before += k < part ? c->b.t[k].dim[c->axis] : 0;
		all += c->b.t[k].dim[c->axis];
	}
	int64_t outer = at / (along * inner), mid = at / inner % along;
	return (outer * all + before + mid) * inner + at % inner;
}

static void
copy(int code)
{
	static struct cut c;
	draw_cut(&c, code);
	struct bench *b = &c.b;
	bool cuts = code == TFL_SPLIT;
	int in[PARTS + 1] = { 0, 1, 2 }, out[PARTS] = { 0, 1, 2 }, whole = PARTS;
	if (cuts) { /* axis, whole */
		in[0] = bench_add(b, TFL_INT32, (int32_t[4]){ 1 }, 0, 0);
		in[1] = whole;
		put(b, in[0], 0, c.axis);
		b->t[in[0]].data = (struct bytes){ .p = b->data[in[0]].bytes, .n = 4 };
	} else {
		out[0] = whole;
	}
	if (code == TFL_CONCATENATION)
		bench_options(b, &fb_ConcatenationOptions,
			      &(struct bench_option){ .slot = FB_ConcatenationOptions_axis,
						      .v = c.axis }, 1);
	if (c.packs)
		bench_options(b, &fb_PackOptions,
			      &(struct bench_option){ .slot = FB_PackOptions_axis,
						      .v = c.axis }, 1);
	struct tfl_op op = { .code = code, .in = in, .out = out, .n_in = cuts ? 2 : PARTS,
			     .n_out = cuts ? PARTS : 1, .options = b->op.options };
	struct tfl_subgraph g = { .tensor = b->t, .n_tensors = b->n, .op = &op, .n_ops = 1 };
	bench_swap(b);
	int64_t at = 0;
	n_failed += copy_parts(&op) != PARTS;
	for (int k = 0; k < PARTS; k++) {
		struct rows r = copy_rows(&g, &op, k, at);
		for (int64_t i = 0; i < r.n; i++)
			memcpy(b->data[r.out].bytes + r.out_at + i * r.out_step,
			       b->data[r.in].bytes + r.in_at + i * r.in_step, (size_t)r.bytes);
		at += r.bytes;
		for (int64_t i = 0; i < count_of(b, k); i++)
			if (get(b, k, i) != get(b, whole, in_whole(&c, k, i))) {
				n_failed++;
				printf("%s: part %d, element %" PRId64 "\n", tfl_op_name(code), k, i);
				break;
			}
	}
}

/* ---- interface.c ----------------------------------------------------------------- */

static void
floats(void)
{
	static const float v[] = { 0, 1, -128, 0.5f, 0.1f, 1e-20f, 3.4e38f, 16777216, 1.0f / 3 };
	for (int i = 0; i < 200; i++) {
		struct text t = { 0 };
		float f = i < (int)ARRAY_LEN(v) ? v[i] : draw_scale((int)draw_in(-60, 60));
		char *end;
		put_float(&t, f);
		const char *s = text_str(&t);
		bool same = strtof(s, &end) == f && end[0] == 'f' && !end[1];
		if (!same || !strpbrk(s, ".e")) { /* 1f is not a constant of C */
			n_failed++;
			printf("%a is written %s\n", (double)f, s);
		}
		text_free(&t);
	}
}

int
main(void)
{
	for (int i = 0; i < 300; i++) {
		places();
		copy(TFL_CONCATENATION);
		copy(TFL_SPLIT);
		copy(TFL_PACK);
	}
	floats();
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
