/* SPDX-License-Identifier: Apache-2.0 */
/* Builds one operator in memory and runs its reference kernel. */
#ifndef UNIT_BENCH_H
#define UNIT_BENCH_H

#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "tflite/write.h"

#include <string.h>

/* an LSTM has 24 inputs */
enum { MAX_TENSORS = 25, MAX_BYTES = 4096, MAX_CHANNELS = 16 };

struct bench {
	struct tfl_tensor t[MAX_TENSORS];
	union {
		uint8_t bytes[MAX_BYTES];
		int8_t i8[MAX_BYTES];
		int16_t i16[MAX_BYTES / 2];
		int32_t i32[MAX_BYTES / 4];
		int64_t i64[MAX_BYTES / 8];
		float f32[MAX_BYTES / 4];
	} data[MAX_TENSORS];
	float scale[MAX_TENSORS][MAX_CHANNELS];
	int64_t zero[MAX_TENSORS][MAX_CHANNELS];
	int index[MAX_TENSORS];
	int n;
	struct tfl_op op;
	uint8_t options[256];
};

/* a tensor of up to four dimensions, the last of which is not 0; scale 0: no
 * quantization */
static inline int
bench_add(struct bench *b, int type, const int32_t dim[4], float scale, int64_t zero)
{
	int i = b->n++;
	struct tfl_tensor *t = &b->t[i];
	*t = (struct tfl_tensor){ .name = "t", .type = type };
	for (int d = 0; d < 4 && dim[d]; d++)
		t->dim[t->rank++] = dim[d];
	b->index[i] = i;
	b->scale[i][0] = scale;
	b->zero[i][0] = zero;
	if (scale > 0)
		t->quant = (struct tfl_quant){ .n_scale = 1, .n_zero = 1,
					       .scale = b->scale[i],
					       .zero = b->zero[i] };
	return i;
}

/* an optional input that is absent */
static inline int
bench_add_none(struct bench *b)
{
	int i = b->n++;
	b->t[i] = (struct tfl_tensor){ .name = "none" };
	b->index[i] = -1;
	return i;
}

struct bench_option {
	int slot;
	double v;
	bool is_float;
};

/* sets the options of the operator's table */
static inline void
bench_options(struct bench *b, const struct fb_table *t, const struct bench_option *o,
	      int n)
{
	struct fbw *w = fbw_open();
	struct bytes out;
	struct err e = { 0 };
	fbw_table(w, t);
	for (int i = 0; i < n; i++)
		if (o[i].is_float)
			fbw_float(w, o[i].slot, o[i].v);
		else
			fbw_int(w, o[i].slot, (int64_t)o[i].v);
	fbw_off root = fbw_end(w);
	if (fbw_finish(w, root, &out, &e) && out.n <= sizeof(b->options)) {
		memcpy(b->options, out.p, out.n);
		b->op.options = (struct fb_ref){ .buf = b->options, .table = t,
						 .pos = load_le32(b->options) };
	}
	fbw_close(w);
}

/* converts elements between host order and the kernels' little-endian order */
static inline void
bench_swap(struct bench *b)
{
	for (int i = 0; i < b->n; i++) {
		int n = tfl_type_bytes(b->t[i].type);
		if (n == 2)
			for (int k = 0; k < MAX_BYTES / 2; k++) {
				int16_t v = b->data[i].i16[k];
				store_le16(&b->data[i].i16[k], (uint16_t)v);
			}
		if (n == 4)
			for (int k = 0; k < MAX_BYTES / 4; k++) {
				int32_t v = b->data[i].i32[k];
				store_le32(&b->data[i].i32[k], (uint32_t)v);
			}
		if (n == 8)
			for (int k = 0; k < MAX_BYTES / 8; k++) {
				int64_t v = b->data[i].i64[k];
				store_le64(&b->data[i].i64[k], (uint64_t)v);
			}
	}
}

/* all tensors except the last are inputs; true if the kernel accepts the operator and
 * runs */
static inline bool
bench_run(struct bench *b, int code, struct err *e)
{
	void *data[MAX_TENSORS];
	struct tfl_subgraph g = { .tensor = b->t, .n_tensors = b->n,
				  .op = &b->op, .n_ops = 1 };
	for (int i = 0; i < b->n; i++)
		data[i] = b->index[i] < 0 ? NULL : b->data[i].bytes;
	b->op.code = code;
	b->op.n_in = b->n - 1;
	b->op.n_out = 1;
	b->op.in = b->index;
	b->op.out = b->index + b->n - 1;
	bench_swap(b);
	bool ok = kernel_eval(&g, &b->op,
			      &(struct kernel_io){ .in = data,
						   .out = data + b->n - 1 }, e);
	bench_swap(b);
	return ok;
}

#endif
