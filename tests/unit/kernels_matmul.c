/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares random BATCH_MATMUL operators with the sum of nputools-lowering(7) 3.2:
 * transposed operands, batches that one operand repeats, 8 and 16 bits.
 */
#include "rules.h"

#include "tflite/fields.h"

enum { MOST_OUT = 2048 };

struct matrices {
	int32_t outer, inner; /* batches of an operand; 1: the same for all */
	int32_t rows, cols;   /* before it is transposed */
	bool turned;
	int tensor;
};

static int64_t
at(const struct bench *b, const struct matrices *m, int32_t i, int32_t k, int32_t row,
   int32_t col)
{
	int32_t n = (m->outer > 1 ? i : 0) * m->inner + (m->inner > 1 ? k : 0);
	int64_t own = m->turned ? (int64_t)col * m->cols + row : (int64_t)row * m->cols + col;
	return get(b, m->tensor, (int64_t)n * m->rows * m->cols + own) -
	       b->zero[m->tensor][0];
}

static void
draw_matrices(struct bench *b, int type, struct matrices *m, int32_t rows, int32_t cols)
{
	m->turned = draw() % 2;
	m->rows = m->turned ? cols : rows;
	m->cols = m->turned ? rows : cols;
	m->tensor = drawn_map(b, type, (int32_t[4]){ m->outer, m->inner, m->rows, m->cols },
			      draw_scale(-5), draw_zero(type));
}

static void
multiply(void)
{
	static const int types[] = { TFL_INT8, TFL_INT8, TFL_INT16 };
	struct bench b = { .n = 0 };
	int type = types[draw() % 3];
	bool words = type == TFL_INT16; /* accumulators of 64 bits */
	int32_t outer = (int32_t)draw_in(1, 3), inner = (int32_t)draw_in(1, 3);
	int32_t rows = (int32_t)draw_in(1, 6), depth = (int32_t)draw_in(1, 24);
	int32_t cols = (int32_t)draw_in(1, 6);
	uint32_t repeats = draw() % 4; /* 0: both have all batches */
	struct matrices x = { .outer = repeats == 1 ? 1 : outer, .inner = inner };
	struct matrices y = { .outer = outer, .inner = repeats == 2 ? 1 : inner };
	int64_t want[MOST_OUT], n = 0;
	draw_matrices(&b, type, &x, rows, depth);
	draw_matrices(&b, type, &y, depth, cols);
	/* a scale of the sums' size */
	float so = draw_scale((words ? -3 : -4) + (depth > 8));
	int out = bench_add(&b, type, (int32_t[4]){ outer, inner, rows, cols }, so,
			    draw_zero(type));
	double r = (double)(b.scale[x.tensor][0] * b.scale[y.tensor][0]) / (double)so;
	for (int32_t i = 0; i < outer; i++)
		for (int32_t k = 0; k < inner; k++)
			for (int32_t row = 0; row < rows; row++)
				for (int32_t col = 0; col < cols; col++) {
					int64_t sum = 0;
					for (int32_t d = 0; d < depth; d++)
						sum += at(&b, &x, i, k, row, d) *
						       at(&b, &y, i, k, d, col);
					sum = words ? rule_mbqm64(sum, r) : rule_mbqm(sum, r);
					want[n++] = rule_clamp(sum + b.zero[out][0], type,
							       TFL_ACT_NONE, so, 0);
				}
	struct bench_option o[] = {
		{ .slot = FB_BatchMatMulOptions_adj_x, .v = x.turned },
		{ .slot = FB_BatchMatMulOptions_adj_y, .v = y.turned },
	};
	bench_options(&b, &fb_BatchMatMulOptions, o, 2);
	hold(&b, TFL_BATCH_MATMUL, "drawn", want);
}

/* [1 2; 3 4] [5 6; 7 8], scales 1, zero points 0; then the first one transposed */
static void
by_hand(void)
{
	for (int turned = 0; turned < 2; turned++) {
		struct bench b = { .n = 0 };
		const int64_t want[2][4] = { { 19, 22, 43, 50 }, { 26, 30, 38, 44 } };
		for (int k = 0; k < 3; k++)
			bench_add(&b, TFL_INT8, (int32_t[4]){ 2, 2 }, 1.0f, 0);
		for (int k = 0; k < 4; k++) {
			put(&b, 0, k, 1 + k);
			put(&b, 1, k, 5 + k);
		}
		bench_options(&b, &fb_BatchMatMulOptions,
			      &(struct bench_option){ .slot = FB_BatchMatMulOptions_adj_x,
						      .v = turned }, 1);
		hold(&b, TFL_BATCH_MATMUL, turned ? "by hand, turned" : "by hand",
		     want[turned]);
	}
}

int
main(void)
{
	by_hand();
	for (int i = 0; i < 400; i++)
		multiply();
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
