/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of data for a model's input: mkinput refuses the file with one line that
 * names it, or writes as many values as the input has.  The last byte selects the
 * format; the other bytes are the file.
 */
#include "fuzz.h"

#include "lib/programs.h"
#include "tflite/tflite.h"
#include "tflite/write.h"

#include <stdlib.h>

enum { VALUES = 4 * 4 * 3 };

/* RELU of a colour picture of 4 times 4 */
static struct bytes
model(struct arena *a)
{
	static const float scale[] = { 1 / 255.0f };
	static const int64_t zero[] = { -128 };
	const struct tfl_quant q = { .n_scale = 1, .n_zero = 1, .scale = scale,
				     .zero = zero };
	const struct tfl_tensor t = { .name = "x", .type = TFL_INT8, .rank = 4,
				      .dim = { 1, 4, 4, 3 }, .has_shape = true,
				      .quant = q };
	struct tflw_tensor tensor[] = { { .t = t }, { .t = t } };
	const int in[] = { 0 }, out[] = { 1 };
	struct tflw_op op = { .n_in = 1, .n_out = 1, .in = in, .out = out };
	struct tflw_opcode code = { .code = TFL_RELU, .version = 1 };
	struct bytes buffer = { 0 }, file;
	struct tflw_subgraph g = { .tensor = tensor, .op = &op, .in = in, .out = out,
				   .n_tensors = 2, .n_ops = 1, .n_in = 1, .n_out = 1 };
	const struct tflw_model m = { .opcode = &code, .buffer = &buffer,
				      .subgraph = &g, .n_opcodes = 1,
				      .n_buffers = 1, .n_subgraphs = 1 };
	struct err e = { 0 };
	if (!tfl_write(a, &m, &file, &e))
		abort();
	return file;
}

static const struct kind {
	const char *from, *option, *file;
} kinds[] = {
	{ "--from=picture", "--resize=bilinear", "d.png" },
	{ "--from=picture", "--resize=area", "d.ppm" },
	{ "--from=picture", "--real", "d.pgm" },
	{ "--from=sound", "--fit", "d.wav" },
	{ "--from=csv", "--fit", "d.csv" },
	{ "--from=csv", "--real", "d.csv" },
	{ "--from=npy", "--real", "d.npy" },
	{ "--from=npy", "--quantized", "d.npy" },
};

static void
run(struct bench *b, struct arena *a, struct bytes input, unsigned choice)
{
	struct bytes out;
	const struct kind *k = &kinds[choice % ARRAY_LEN(kinds)];
	bench_put(b, "m.tflite", model(a));
	bench_put(b, k->file, input);
	const char *file = bench_path(b, k->file), *to = bench_path(b, "out");
	const char *of = bench_path(b, "m.tflite");
	if (RUN(b, mkinput, k->from, k->option, "--format=raw", "-o", to, of, file))
		expect_refusal(b, file, IN_DATA, 2);
	else if (!bench_get(b, a, "out", &out) || out.n != VALUES)
		finding(b, "wrote %zu bytes, not %d", out.n, VALUES);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = { .p = data, .n = size - 1 };
	return size ? bench_try(file, data[size - 1], run) : 0;
}
