/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the cost of operators on the CPU: work counted by hand, and measurements
 * (schema/cpu.def, [A]) within the factor that the table promises.
 */
#include "perf/cpu.h"
#include "tflite/tflite.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static int failed;

static void
expect(const char *what, double got, double least, double most)
{
	if (got >= least && got <= most)
		return;
	printf("%s: %.2f, not %.2f to %.2f\n", what, got, least, most);
	failed++;
}

/* one operator; its inputs are tensors 0 to 2, its output is tensor 3 */
struct case_of {
	const char *name;
	int code, type;
	int32_t in[3][4]; /* zero: rank 0 */
	int32_t out[4];
	double least, most;
	double error; /* 0: not checked */
};

static struct tfl_tensor
tensor(int type, const int32_t dim[4])
{
	struct tfl_tensor t = { .type = type };
	while (t.rank < 4 && dim[t.rank]) {
		t.dim[t.rank] = dim[t.rank];
		t.rank++;
	}
	return t;
}

static void
check(const struct case_of *c)
{
	static const int in[] = { 0, 1, 2 }, out[] = { 3 };
	struct tfl_tensor t[4];
	for (int i = 0; i < 3; i++)
		t[i] = tensor(c->type, c->in[i]);
	t[3] = tensor(c->type, c->out);
	struct tfl_op op = { .code = c->code, .in = in, .n_in = 3, .out = out,
			     .n_out = 1 };
	struct tfl_subgraph g = { .tensor = t, .n_tensors = 4, .op = &op,
				  .n_ops = 1 };
	struct cpu_core m55 = cpu_core_of(NULL), a55 = cpu_core_of(target_part_find("nxp-imx93", NULL));
	expect(c->name, cpu_cost(&m55, &g, &op).cycles, c->least, c->most);
	if (c->error > 0) {
		expect("error", cpu_cost(&m55, &g, &op).error, c->error, c->error);
		expect("error of a Cortex-A55", cpu_cost(&a55, &g, &op).error, c->error < 5 ? 5 : c->error,
		       c->error < 5 ? 5 : c->error);
	}
	expect("of a Cortex-A55", cpu_cost(&a55, &g, &op).cycles, c->least / 2, c->most / 2);
}

#define EXACT(v) .least = (v), .most = (v)
#define MEASURED(v) .least = (v) / 3.0, .most = (v) * 3.0, .error = 3

static const struct case_of cases[] = {
	{ "first conv", TFL_CONV_2D, TFL_INT8,
	  { { 1, 224, 224, 3 }, { 32, 3, 3, 3 } }, { 1, 112, 112, 32 },
	  MEASURED(13754047) },
	{ "depthwise 32", TFL_DEPTHWISE_CONV_2D, TFL_INT8,
	  { { 1, 112, 112, 32 }, { 1, 3, 3, 32 } }, { 1, 112, 112, 32 },
	  MEASURED(13715766) },
	{ "32 to 16", TFL_CONV_2D, TFL_INT8,
	  { { 1, 112, 112, 32 }, { 16, 1, 1, 32 } }, { 1, 112, 112, 16 },
	  MEASURED(4915937) },
	{ "16 to 96", TFL_CONV_2D, TFL_INT8,
	  { { 1, 112, 112, 16 }, { 96, 1, 1, 16 } }, { 1, 112, 112, 96 },
	  MEASURED(24249462) },
	{ "depthwise 96", TFL_DEPTHWISE_CONV_2D, TFL_INT8,
	  { { 1, 112, 112, 96 }, { 1, 3, 3, 96 } }, { 1, 56, 56, 96 },
	  MEASURED(10286711) },
	{ "96 to 24", TFL_CONV_2D, TFL_INT8,
	  { { 1, 56, 56, 96 }, { 24, 1, 1, 96 } }, { 1, 56, 56, 24 },
	  MEASURED(2791555) },
	{ "24 to 144", TFL_CONV_2D, TFL_INT8,
	  { { 1, 56, 56, 24 }, { 144, 1, 1, 24 } }, { 1, 56, 56, 144 },
	  MEASURED(10329014) },
	{ "quantize", TFL_QUANTIZE, TFL_FLOAT32, { { 1, 224, 224, 3 } },
	  { 1, 224, 224, 3 }, MEASURED(1365831) },
	/* one call, and MACs: 6 * 5 * 8 of each */
	{ "16 bits", TFL_CONV_2D, TFL_INT16, { { 1, 1, 6, 8 }, { 5, 1, 1, 8 } },
	  { 1, 1, 6, 5 }, EXACT(2000 + 1.8 * 240), .error = 10 },
	{ "dense", TFL_FULLY_CONNECTED, TFL_FLOAT32, { { 6, 8 }, { 5, 8 } },
	  { 6, 5 }, EXACT(1000 + 10 * 240), .error = 10 },
	{ "matrices", TFL_BATCH_MATMUL, TFL_FLOAT32, { { 6, 8 }, { 8, 5 } },
	  { 6, 5 }, EXACT(2000 + 10 * 240) },
	{ "transposed", TFL_TRANSPOSE_CONV, TFL_UINT8,
	  { { 4 }, { 5, 1, 1, 8 }, { 1, 1, 6, 8 } }, { 1, 1, 6, 5 },
	  EXACT(2000 + 2 * 240) },
	{ "mean", TFL_MEAN, TFL_INT8, { { 4, 3 } }, { 4 }, EXACT(1000 + 120), .error = 10 },
	{ "dequantize", TFL_DEQUANTIZE, TFL_FLOAT32, { { 4, 3 } }, { 4, 3 },
	  EXACT(500 + 9 * 12), .error = 3 },
	{ "softmax", TFL_SOFTMAX, TFL_INT8, { { 4, 3 } }, { 4, 3 }, EXACT(1000 + 25 * 12), .error = 10 },
	{ "shape", TFL_SHAPE, TFL_INT32, { { 4, 3 } }, { 2 }, EXACT(400) },
	{ "no inputs' shapes", TFL_CONV_2D, TFL_INT8, .out = { 7 },
	  EXACT(2000 + 0.9 * 7) },
	{ "a call", TFL_WHILE, TFL_INT8, { { 4 } }, { 4 }, EXACT(400) },
	{ "custom", TFL_CUSTOM, TFL_INT8, { { 4 } }, { 4 }, EXACT(0) },
	{ "from the future", 9999, TFL_INT8, { { 4 } }, { 4 }, EXACT(0) },
};

static void
expect_text(double cycles, const char *part, const char *want)
{
	struct text t = { 0 };
	struct err e = { 0 };
	struct cpu_core core = cpu_core_of(part ? target_part_find(part, &e) : NULL);
	cpu_cycles_text(&t, cycles, &core);
	if (strcmp(text_str(&t), want)) {
		printf("%.0f: \"%s\", not \"%s\"\n", cycles, text_str(&t), want);
		failed++;
	}
	text_free(&t);
}

int
main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check(&cases[i]);
	expect_text(7, NULL, "about 7 cycles of a Cortex-M55");
	expect_text(99.6, NULL, "about 100 cycles of a Cortex-M55");
	expect_text(449, NULL, "about 450 cycles of a Cortex-M55");
	expect_text(12345, NULL, "about 12,000 cycles of a Cortex-M55");
	expect_text(9876543210, NULL, "about 9,900,000,000 cycles of a Cortex-M55");
	expect_text(5000, "nxp-imx93", "about 5,000 cycles of a Cortex-A55");
	expect_text(8000, "renesas-ra8p1", "about 8,000 cycles of a Cortex-M85");
	printf("cpu prices: %d failed\n", failed);
	return failed != 0;
}
