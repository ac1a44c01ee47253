/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a raw network to a TFLite model: ethosu-commands(7) 13. */
#include "raw/raw.h"

#include "base/file.h"
#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "tflite/write.h"

enum {
	STREAM, FLASH, SCRATCH, FAST, SPECIAL,
	/* size of the fast scratch memory if unknown: the packed stream does not have it */
	DEFAULT_FAST_BYTES = 1 << 21,
};

struct build {
	struct arena *a;
	struct tflw_tensor *tensor;
	int32_t *plan; /* offset in scratch memory; -1: none */
	int n;
};

static void
add_bytes(struct build *b, const char *name, int64_t n, uint32_t buffer, int32_t at)
{
	struct tflw_tensor *t = &b->tensor[b->n];
	t->t.name = name;
	t->t.type = TFL_UINT8;
	t->t.rank = 1;
	t->t.dim[0] = (int32_t)n;
	t->buffer = buffer;
	b->plan[b->n++] = at;
}

/* Leading dimensions of 1 are padding and are removed. */
static bool
add_io(struct build *b, const struct raw_io *d, const char *name, int i,
	int64_t scratch)
{
	struct tflw_tensor *t = &b->tensor[b->n];
	int skip = 0;
	int64_t n = d->elem_bytes;
	while (skip < RAW_RANK - 1 && d->dim[skip] == 1)
		skip++;
	t->t.name = arena_printf(b->a, "%s_%d", name, i);
	t->t.type = d->elem_bytes == 1   ? TFL_INT8
		    : d->elem_bytes == 2 ? TFL_INT16
		    : d->elem_bytes == 4 ? TFL_INT32
					 : TFL_INT64;
	t->t.rank = RAW_RANK - skip;
	t->t.has_shape = true;
	for (int k = skip; k < RAW_RANK; k++) {
		t->t.dim[k - skip] = d->dim[k];
		if (__builtin_mul_overflow(n, d->dim[k], &n))
			return false;
	}
	b->plan[b->n++] = (int32_t)d->offset;
	return n > 0 && d->offset >= 0 && d->offset <= scratch && n <= scratch - d->offset &&
	       tfl_type_bytes(t->t.type) == d->elem_bytes;
}

/*
 * Writes the model; its tensors are those of b in their order: the four special ones,
 * inputs, outputs.
 */
static bool
write_model(struct build *b, const struct raw *r, struct bytes *out, struct err *e)
{
	static const uint8_t options[] = { 0x01, 0x04, 0x01 };
	int *index = anew(b->a, int, (size_t)b->n + 1);
	for (int i = 0; i < b->n; i++)
		index[i] = i;
	struct bytes plan = { .n = 4 * ((size_t)b->n + 3) };
	uint8_t *p = arena_alloc(b->a, plan.n, 1);
	store_le32(p + 4, 1);
	store_le32(p + 8, (uint32_t)b->n);
	for (int i = 0; i < b->n; i++)
		store_le32(p + 12 + 4 * i, (uint32_t)b->plan[i]);
	plan.p = p;
	struct bytes buffers[] = { { .n = 0 }, r->cmd, r->weights, plan };
	struct tflw_opcode code = { .code = TFL_CUSTOM, .custom = "ethos-u", .version = 1 };
	struct tflw_op op = { .n_in = SPECIAL + r->n_in, .in = index, .n_out = r->n_out,
			      .out = index + SPECIAL + r->n_in,
			      .custom_options = { .p = options, .n = sizeof(options) } };
	struct tflw_metadata md = { .name = "OfflineMemoryAllocation", .buffer = 3 };
	struct tflw_subgraph sg = { .name = "main", .tensor = b->tensor, .n_tensors = b->n,
				    .op = &op, .n_ops = 1, .in = index + SPECIAL,
				    .n_in = r->n_in, .out = op.out, .n_out = r->n_out };
	struct tflw_model m = { .description = "raw", .opcode = &code, .n_opcodes = 1,
				.buffer = buffers, .n_buffers = 4, .subgraph = &sg,
				.n_subgraphs = 1, .metadata = &md, .n_metadata = 1 };
	return tfl_write(b->a, &m, out, e);
}

bool
raw_model(struct arena *a, struct bytes file, const char *name, struct bytes *out,
	  struct err *e)
{
	struct raw r;
	bool npz = raw_is_npz(file);
	*out = file;
	if (!npz && !raw_is_packed(file))
		return true;
	if (!(npz ? raw_read_npz : raw_read_packed)(a, file, name, &r, e))
		return false;
	size_t n = (size_t)r.n_in + (size_t)r.n_out + SPECIAL;
	struct build b = { .a = a, .tensor = anew(a, struct tflw_tensor, n),
			   .plan = anew(a, int32_t, n) };
	int64_t fast = r.fast > 0 ? r.fast : r.fast < 0 ? DEFAULT_FAST_BYTES : r.scratch;
	add_bytes(&b, "npu_command_stream", (int64_t)r.cmd.n, 1, -1);
	add_bytes(&b, "npu_flash", (int64_t)r.weights.n, r.weights.n ? 2 : 0, -1);
	add_bytes(&b, "npu_scratch", r.scratch, 0, 0);
	add_bytes(&b, "npu_scratch_fast", fast, 0, 0);
	for (int i = 0; i < r.n_in; i++)
		if (!add_io(&b, &r.in[i], "input", i, r.scratch))
			return err_at(e, name, 0, "input %d is not inside of scratch", i);
	for (int i = 0; i < r.n_out; i++)
		if (!add_io(&b, &r.out[i], "output", i, r.scratch))
			return err_at(e, name, 0, "output %d is not inside of scratch",
						  i);
	struct err bare = { 0 };
	return write_model(&b, &r, out, &bare) || err_at(e, name, 0, "%s", bare.text);
}

bool
raw_read_file(struct arena *a, const char *path, struct tfl_model **out, struct err *e)
{
	struct bytes file;
	const char *name = file_name(path);
	return file_read(a, path, TFL_MAX_BYTES, &file, e) &&
	       raw_model(a, file, name, &file, e) && model_read(a, file, name, out, e);
}
