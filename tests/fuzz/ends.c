/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metadata of a compiled file about its inputs and outputs: metadata that can be read
 * is written and read again with the same content, and values written to memory can
 * be read back.
 */
#include "fuzz.h"

#include "borders/borders.h"
#include "tflite/write.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 96 }; /* of each tensor, in any of its shapes */

static struct tflw_tensor
tensor(const char *name, int rank, const int32_t *dim)
{
	struct tflw_tensor t = { .buffer = 0 };
	t.t.name = name;
	t.t.type = TFL_INT8;
	t.t.rank = rank;
	t.t.has_shape = true;
	memcpy(t.t.dim, dim, (size_t)rank * sizeof(*dim));
	return t;
}

/* a model of three tensors and this metadata */
static bool
make_model(struct arena *a, struct bytes text, struct tfl_model **out, struct err *e)
{
	static const int32_t bricks[] = { 1, 2, 1, 3, 16 }, run[] = { 1, BYTES },
			     planes[] = { 2, 3, 4, 4 };
	static const int in[] = { 0, 1 }, results[] = { 2 };
	struct tflw_opcode code = { .code = TFL_CUSTOM, .custom = "any", .version = 1 };
	struct tflw_op op = { .in = in, .n_in = 2, .out = results, .n_out = 1 };
	struct tflw_tensor t[] = { tensor("bricks", 5, bricks), tensor("run", 2, run),
				   tensor("planes", 4, planes) };
	struct tflw_subgraph g = { .name = "main", .tensor = t, .n_tensors = 3,
				   .op = &op, .n_ops = 1,
				   .in = in, .n_in = 2, .out = results, .n_out = 1 };
	struct bytes buffer[] = { { .n = 0 }, text };
	struct tflw_metadata md = { .name = BORDERS_METADATA, .buffer = 1 };
	struct tflw_model w = { .description = "", .opcode = &code, .n_opcodes = 1,
				 .buffer = buffer, .n_buffers = 2,
				.subgraph = &g, .n_subgraphs = 1, .metadata = &md,
				.n_metadata = 1 };
	struct bytes file;
	return tfl_write(a, &w, &file, e) && tfl_read(a, file, "fuzz", out, e);
}

static void
there_and_back(const struct border_tensor *x)
{
	uint8_t memory[BYTES], values[BYTES], back[BYTES];
	size_t n = (size_t)tfl_type_bytes(x->type);
	for (int i = 0; i < x->rank; i++)
		n *= (size_t)x->dim[i];
	if (border_bytes(x) != BYTES || n > BYTES)
		abort();
	memset(memory, 0, sizeof(memory));
	for (size_t i = 0; i < n; i++)
		values[i] = (uint8_t)(i + 1);
	border_pack(x, values, memory);
	border_unpack(x, memory, back);
	if (memcmp(values, back, n) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct bytes text = { .p = data, .n = size };
	struct tfl_model *m, *again;
	struct border_tensors x, y;
	struct err e = { 0 };
	if (size && make_model(a, text, &m, &e) && borders_read(a, m, &x, &e)) {
		for (int k = 0; k < x.n_in; k++)
			there_and_back(&x.in[k]);
		there_and_back(&x.out[0]);
		struct bytes said = borders_print(a, &x), same;
		if (said.p && (!make_model(a, said, &again, &e) || !borders_read(a, again, &y, &e)))
			abort();
		if (said.p) {
			same = borders_print(a, &y);
			if (same.n != said.n || memcmp(same.p, said.p, said.n) != 0)
				abort();
		}
		(void)borders_value_model(a, m, &x);
	}
	arena_close(a);
	return 0;
}
