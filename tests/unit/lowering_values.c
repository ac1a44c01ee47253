/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the output of tfl-partition's lowerings operation by operation
 * (graph_run.h) and compares with the operator's definition: integers divided by
 * constants (quotient.c), all quotients of two bytes through floats (ratio.c),
 * bilinear resizing with few weights (libcommon/lower/phases.c).
 */
#include "../../tools/tfl-partition/part.h"
#include "tflite/fields.h"

#include "graph_run.h"
#include "rules.h"
#include "tflite/write.h"

#include <assert.h>

enum { MOST_TENSORS = 8, MOST_OPS = 4, FLOATS = TFL_FLOAT32 };

struct net {
	struct arena *a;
	struct tflw_tensor t[MOST_TENSORS];
	struct bytes buffer[MOST_TENSORS + 1];
	struct tflw_op op[MOST_OPS];
	struct tflw_opcode code[MOST_OPS];
	float scale[MOST_TENSORS];
	int64_t zero[MOST_TENSORS];
	int operand[MOST_OPS][3]; /* two inputs, the output */
	int n, n_ops, n_buffers;
};

static void
begin(struct net *m, struct arena *a)
{
	*m = (struct net){ .a = a, .n_buffers = 1 };
}

static int
add_tensor(struct net *m, int type, const int32_t dim[4], float scale, int64_t zero)
{
	int i = m->n++;
	struct tfl_tensor *t = &m->t[i].t;
	*t = (struct tfl_tensor){ .name = "t", .type = type, .has_shape = true };
	for (int d = 0; d < 4 && dim[d]; d++)
		t->dim[t->rank++] = dim[d];
	m->scale[i] = scale;
	m->zero[i] = zero;
	if (scale > 0)
		t->quant = (struct tfl_quant){ .n_scale = 1, .n_zero = 1,
					       .scale = &m->scale[i], .zero = &m->zero[i] };
	return i;
}

static int
add_words(struct net *m, const int32_t *v, int32_t n)
{
	int i = add_tensor(m, TFL_INT32, (int32_t[4]){ n }, 0, 0);
	uint8_t *b = anew(m->a, uint8_t, 4 * (size_t)n);
	for (int32_t k = 0; k < n; k++)
		store_le32(b + 4 * k, (uint32_t)v[k]);
	m->buffer[m->n_buffers] = (struct bytes){ .p = b, .n = 4 * (size_t)n };
	m->t[i].buffer = (uint32_t)m->n_buffers++;
	return i;
}

static struct tflw_op *
add_op(struct net *m, int code, int x, int y, int out)
{
	struct tflw_op *op = &m->op[m->n_ops];
	int *k = m->operand[m->n_ops];
	m->code[m->n_ops] = (struct tflw_opcode){ .code = code, .version = 1 };
	k[0] = x;
	k[1] = y;
	k[2] = out;
	*op = (struct tflw_op){ .opcode = (uint32_t)m->n_ops++, .in = k, .n_in = y < 0 ? 1 : 2,
				.out = k + 2, .n_out = 1 };
	return op;
}

/* the network as a graph; all its operators must run on the NPU */
static struct graph *
lower(struct net *m, const int *in, int n_in, int out)
{
	struct tflw_subgraph sg = { .name = "main", .tensor = m->t, .n_tensors = m->n,
				    .op = m->op, .n_ops = m->n_ops, .in = in, .n_in = n_in,
				    .out = &out, .n_out = 1 };
	struct tflw_model w = { .description = "unit", .opcode = m->code,
				.n_opcodes = m->n_ops, .buffer = m->buffer,
				.n_buffers = m->n_buffers, .subgraph = &sg, .n_subgraphs = 1 };
	struct bytes file;
	struct err e = { 0 };
	struct lower l = { .a = m->a };
	struct part p = { .a = m->a, .l = &l, .e = &e };
	static const struct options none;
	if (!tfl_write(m->a, &w, &file, &e) || !tfl_read(m->a, file, "unit", &p.m, &e)) {
		printf("%s\n", e.text);
		return NULL;
	}
	p.sg = &p.m->subgraph[0];
	p.g = l.g = graph_new(m->a, "unit");
	p.g->model = p.m;
	size_t n = (size_t)p.sg->n_tensors;
	p.n_original = p.sg->n_tensors;
	p.op = anew(m->a, struct placement, (size_t)p.sg->n_ops);
	p.value = anew(m->a, struct g_operand, n);
	p.uses = anew(m->a, int, n);
	p.operands = anew(m->a, int, n);
	p.crosses = anew(m->a, bool, n);
	p.is_model_input = anew(m->a, bool, n);
	p.channels = anew(m->a, struct channels, n);
	for (int i = 0; i < n_in; i++)
		p.is_model_input[in[i]] = true;
	decide_all(&p, &none);
	make_nodes(&p);
	for (int i = 0; i < p.sg->n_ops; i++)
		if (!p.op[i].npu) {
			printf("operator %d stays on the CPU: %s\n", i, p.op[i].why);
			return NULL;
		}
	return lower_all(&p) ? p.g : NULL;
}

/* ---- quotient.c ------------------------------------------------------------------ */

static int64_t
quotient(int code, int64_t x, int64_t by)
{
	int64_t towards_zero = x / by;
	bool below = x % by && (x < 0) != (by < 0);
	return code == TFL_FLOOR_DIV && below ? towards_zero - 1 : towards_zero;
}

/* dividends near multiples of the divisor and at the limits of the range, and random
 * ones */
static int32_t
dividend(int64_t by, int i)
{
	static const int32_t ends[] = { 0, 1, -1, INT32_MAX, INT32_MIN, INT32_MIN + 1 };
	if (i < (int)ARRAY_LEN(ends))
		return ends[i];
	if (i % 2)
		return (int32_t)draw();
	int64_t v = by * draw_in(-1000, 1000) + draw_in(-1, 1);
	return v < INT32_MIN || v > INT32_MAX ? (int32_t)by : (int32_t)v;
}

static void
by_constants(int code, int32_t divisors)
{
	enum { COLUMNS = 40 };
	struct arena *a = arena_open();
	struct net m;
	struct graph_run r;
	int32_t by[COLUMNS], n = divisors == 1 ? 1 : COLUMNS;
	const int32_t dim[4] = { 1, 3, COLUMNS };
	for (int i = 0; i < n; i++) {
		by[i] = (int32_t)draw() >> draw_in(0, 30);
		by[i] = by[i] >= -1 && by[i] <= 1 ? 641 : by[i] == INT32_MIN ? -3 : by[i];
	}
	begin(&m, a);
	int x = add_tensor(&m, TFL_INT32, dim, 0, 0);
	int y = add_tensor(&m, TFL_INT32, dim, 0, 0);
	add_op(&m, code, x, add_words(&m, by, n), y)->options = NULL;
	struct graph *g = lower(&m, &x, 1, y);
	if (!g || !run_open(&r, a, g)) {
		n_failed++;
		arena_close(a);
		return;
	}
	int64_t *in = run_tensor(&r, x), *out = run_tensor(&r, y);
	for (int i = 0; i < 3 * COLUMNS; i++)
		in[i] = dividend(by[i % n], i);
	n_failed += !run_graph(&r);
	for (int i = 0; i < 3 * COLUMNS; i++) {
		int64_t want = quotient(code, in[i], by[i % n]);
		if (out[i] == want)
			continue;
		n_failed++;
		printf("%s of %" PRId64 " by %d: %" PRId64 ", want %" PRId64 "\n",
		       tfl_op_name(code), in[i], by[i % n], out[i], want);
		break;
	}
	arena_close(a);
}

/* ---- ratio.c --------------------------------------------------------------------- */

enum { BYTES = 256 };

/* DEQUANTIZE, DIV and QUANTIZE, in float32 */
static int64_t
float_quotient(const struct net *m, const int t[3], int64_t a, int64_t b)
{
	float x = m->scale[t[0]] * (float)(a - m->zero[t[0]]);
	float y = m->scale[t[1]] * (float)(b - m->zero[t[1]]);
	float q = roundf(x / y / m->scale[t[2]]);
	float v = q + (float)m->zero[t[2]];
	float lo = (float)rule_least(m->t[t[2]].t.type), hi = (float)rule_most(m->t[t[2]].t.type);
	return (int64_t)(v < lo ? lo : v > hi ? hi : v);
}

static void
all_ratios(const int type[3], const float scale[3], const int64_t zero[3])
{
	struct arena *a = arena_open();
	struct net m;
	struct graph_run r;
	const int32_t dim[4] = { 1, BYTES, BYTES, 1 };
	int t[3], f[3];
	begin(&m, a);
	for (int k = 0; k < 3; k++)
		t[k] = add_tensor(&m, type[k], dim, scale[k], zero[k]);
	for (int k = 0; k < 3; k++)
		f[k] = add_tensor(&m, FLOATS, dim, 0, 0);
	add_op(&m, TFL_DEQUANTIZE, t[0], -1, f[0]);
	add_op(&m, TFL_DEQUANTIZE, t[1], -1, f[1]);
	add_op(&m, TFL_DIV, f[0], f[1], f[2]);
	add_op(&m, TFL_QUANTIZE, f[2], -1, t[2]);
	struct graph *g = lower(&m, t, 2, t[2]);
	if (!g || !run_open(&r, a, g)) {
		n_failed++;
		arena_close(a);
		return;
	}
	int64_t *x = run_tensor(&r, t[0]), *y = run_tensor(&r, t[1]), *o = run_tensor(&r, t[2]);
	for (int i = 0; i < BYTES * BYTES; i++) {
		x[i] = rule_least(type[0]) + i % BYTES;
		y[i] = rule_least(type[1]) + i / BYTES;
	}
	n_failed += !run_graph(&r);
	for (int i = 0; i < BYTES * BYTES; i++) {
		if (x[i] == zero[0] && y[i] == zero[1])
			continue; /* not a number: the result of a cast is undefined */
		int64_t want = float_quotient(&m, t, x[i], y[i]);
		if (o[i] == want)
			continue;
		n_failed++;
		printf("%" PRId64 " / %" PRId64 ": %" PRId64 ", want %" PRId64 "\n", x[i], y[i],
		       o[i], want);
		break;
	}
	arena_close(a);
}

static void
ratios(void)
{
	static const struct {
		int type[3];
		float scale[3];
		int64_t zero[3];
	} v[] = {
		{ { TFL_INT8, TFL_INT8, TFL_INT8 }, { 0.00390625f, 0.2495866f, 0.0019915f },
		  { -128, -128, -128 } },
		{ { TFL_INT8, TFL_INT8, TFL_INT8 }, { 0.0213f, 0.0117f, 0.0651f }, { 3, -5, 7 } },
		{ { TFL_UINT8, TFL_UINT8, TFL_UINT8 }, { 0.0313f, 0.3071f, 0.00113f },
		  { 10, 20, 0 } },
		{ { TFL_UINT8, TFL_INT8, TFL_INT8 }, { 0.011f, 0.037f, 0.0173f }, { 128, 0, -9 } },
	};
	for (size_t i = 0; i < ARRAY_LEN(v); i++)
		all_ratios(v[i].type, v[i].scale, v[i].zero);
}

/* ---- lower/phases.c ----------------------------------------------------------------- */

/* the kernel that kernels_resize.c compares with its rule */
static bool
reference(struct bench *b, int type, const int32_t in[4], const int32_t out[4])
{
	struct err e = { 0 };
	drawn_map(b, type, in, 0.5f, 3);
	int size = bench_add(b, TFL_INT32, (int32_t[4]){ 2 }, 0, 0);
	put(b, size, 0, out[1]);
	put(b, size, 1, out[2]);
	bench_add(b, type, out, 0.5f, 3);
	bench_options(b, &fb_ResizeBilinearOptions,
		      &(struct bench_option){
			  .slot = FB_ResizeBilinearOptions_half_pixel_centers, .v = 1 }, 1);
	return bench_run(b, TFL_RESIZE_BILINEAR, &e);
}

static void
bilinear(int type, int32_t h, int32_t w, int32_t out_h, int32_t out_w)
{
	static const int64_t half_pixel[] = { 0, 0, 0, 1 };
	struct arena *a = arena_open();
	struct net m;
	struct graph_run r;
	struct bench b = { .n = 0 };
	const int32_t in[4] = { 2, h, w, 3 }, out[4] = { 2, out_h, out_w, 3 };
	static_assert(FB_ResizeBilinearOptions_half_pixel_centers == 3, "the option's slot");
	begin(&m, a);
	int x = add_tensor(&m, type, in, 0.5f, 3), y = add_tensor(&m, type, out, 0.5f, 3);
	struct tflw_op *op = add_op(&m, TFL_RESIZE_BILINEAR, x,
				    add_words(&m, (int32_t[]){ out_h, out_w }, 2), y);
	op->options = &fb_ResizeBilinearOptions;
	op->options_tag = 15;
	op->option = half_pixel;
	struct graph *g = lower(&m, &x, 1, y);
	if (!g || !reference(&b, type, in, out) || !run_open(&r, a, g)) {
		n_failed++;
		arena_close(a);
		return;
	}
	for (int64_t i = 0; i < count_of(&b, 0); i++)
		run_tensor(&r, x)[i] = get(&b, 0, i);
	n_failed += !run_graph(&r);
	for (size_t i = 0; i < g->n_ops; i++) /* phases, not words */
		n_failed += g->ops[i]->kind != OP_DEPTHWISE && g->ops[i]->kind != OP_AVGPOOL;
	for (int64_t i = 0; i < count_of(&b, 2); i++) {
		int64_t got = run_tensor(&r, y)[i], want = get(&b, 2, i);
		if (got == want)
			continue;
		n_failed++;
		printf("%dx%d to %dx%d, element %" PRId64 ": %" PRId64 ", want %" PRId64 "\n", h, w,
		       out_h, out_w, i, got, want);
		break;
	}
	arena_close(a);
}

int
main(void)
{
	for (int i = 0; i < 60; i++) {
		by_constants(i % 2 ? TFL_DIV : TFL_FLOOR_DIV, 1);
		by_constants(i % 2 ? TFL_DIV : TFL_FLOOR_DIV, 2);
	}
	ratios();
	for (int i = 0; i < 2; i++) {
		int type = i ? TFL_UINT8 : TFL_INT8;
		bilinear(type, 4, 5, 8, 10);
		bilinear(type, 3, 3, 12, 12);
		bilinear(type, 6, 4, 3, 8);
		bilinear(type, 2, 6, 8, 12);
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
