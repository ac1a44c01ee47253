/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One operator with any tensors and options: kernels check whether a model is
 * meaningful.  The input is a recipe, byte by byte.
 */
#include "fuzz.h"

#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tflite/write.h"

#include <string.h>

enum { MAX_IN = 24, MAX_OUT = 4, N_TENSORS = MAX_IN + MAX_OUT };

static const struct {
	int code, options_tag;
} operators[] = {
#define TFL_OP(code, name, tag) [TFL_##name] = { code, tag },
#include "tflite_ops.def"
};

static const int known[] = {
#define OPERATOR(name, ...) TFL_##name,
#include "operators.def"
#undef OPERATOR
};

static const int types[] = { TFL_INT8,	TFL_INT16, TFL_UINT8, TFL_INT32,
			     TFL_INT64, TFL_BOOL,  TFL_FLOAT32 };

struct recipe {
	struct reader r;
	struct arena *a;
	struct tfl_tensor t[N_TENSORS];
	void *data[N_TENSORS];
};

static unsigned
pick(struct recipe *p, unsigned n)
{
	return reader_u8(&p->r) % n;
}

static int
pick_kernel(struct recipe *p)
{
	int code[ARRAY_LEN(known)];
	unsigned n = 0;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (kernel_exists(known[i]))
			code[n++] = known[i];
	return code[pick(p, n)];
}

/* mostly like the previous tensor, so that shapes and types can agree */
static void
make_shape(struct recipe *p, int i)
{
	struct tfl_tensor *t = &p->t[i];
	unsigned how = pick(p, 4);
	if (i > 0 && how < 2) {
		t->rank = t[-1].rank;
		memcpy(t->dim, t[-1].dim, sizeof(t->dim));
		if (how && t->rank)
			t->dim[pick(p, (unsigned)t->rank)] = (int32_t)pick(p, 9);
		return;
	}
	t->rank = how == 2 ? 4 : (int)pick(p, 6);
	for (int d = 0; d < t->rank; d++)
		t->dim[d] = (int32_t)pick(p, 9);
}

static void
make_quant(struct recipe *p, struct tfl_tensor *t)
{
	static const float scales[] = { 0.1f,  0.007f, 1,    0x1p-12f,
					0.25f, 3e-7f,  1e6f, 0 };
	unsigned how = pick(p, 8);
	int n = how == 1 && t->rank ? t->dim[0]
		: how == 2 && t->rank ? t->dim[t->rank - 1] : how > 0;
	float *s = anew(p->a, float, (size_t)n);
	int64_t *z = anew(p->a, int64_t, 1);
	for (int i = 0; i < n; i++)
		s[i] = scales[pick(p, ARRAY_LEN(scales))];
	z[0] = pick(p, 2) ? (int8_t)pick(p, 256) : 0;
	t->quant = (struct tfl_quant){ .n_scale = n, .scale = s, .n_zero = 1,
				       .zero = z,
				       .axis = how == 2 ? t->rank - 1 : 0 };
}

static void
make_data(struct recipe *p, int i)
{
	const struct tfl_tensor *t = &p->t[i];
	int64_t n = tfl_elements(t);
	int bytes = tfl_type_bytes(t->type);
	uint8_t *v = anew(p->a, uint8_t, (size_t)(n * bytes));
	for (int64_t k = 0; k < n; k++) {
		/* small signed numbers: axes, sizes, positions */
		int64_t small = (int8_t)reader_u8(&p->r);
		float f = (float)small / 8;
		if (t->type == TFL_FLOAT32)
			memcpy(v + k * bytes, &f, sizeof(f));
		else if (t->type == TFL_BOOL)
			v[k] = small & 1;
		else
			memcpy(v + k * bytes, &small, (size_t)bytes);
	}
	p->data[i] = v;
}

static void
make_tensor(struct recipe *p, int i)
{
	struct tfl_tensor *t = &p->t[i];
	t->name = "t";
	unsigned how = pick(p, 12);
	t->type = how < ARRAY_LEN(types) ? types[how] : p->t[0].type;
	if (!t->type && how >= ARRAY_LEN(types))
		t->type = TFL_INT8;
	t->is_variable = i == 4 || i == 18 || i == 19; /* SVDF, LSTM */
	make_shape(p, i);
	make_quant(p, t);
	make_data(p, i);
}

/* a table of options with any value in every scalar slot */
static bool
make_options(struct recipe *p, struct fbw *w, int tag, struct fb_ref *out)
{
	const struct fb_table *t = fb_BuiltinOptions.n > tag
				       ? fb_BuiltinOptions.member[tag] : NULL;
	struct bytes b;
	struct err e = { 0 };
	if (!tag || !t)
		return true;
	fbw_table(w, t);
	for (int s = 0; s < t->n_slots; s++) {
		int kind = t->slot[s].kind;
		if (kind == FB_F32)
			fbw_float(w, s, pick(p, 8) / 4.0 - 0.5);
		else if (kind > FB_NONE && kind < FB_F32)
			fbw_int(w, s, kind == FB_I32 && pick(p, 8) == 0
					  ? INT32_MAX - pick(p, 3)
					  : kind == FB_BOOL ? pick(p, 2)
							    : pick(p, 5));
	}
	if (!fbw_finish(w, fbw_end(w), &b, &e))
		return false;
	uint8_t *copy = anew(p->a, uint8_t, b.n);
	memcpy(copy, b.p, b.n);
	*out = (struct fb_ref){ .buf = copy, .pos = load_le32(copy), .table = t };
	return true;
}

static void
run(struct recipe *p)
{
	int in[MAX_IN], out[MAX_OUT];
	void *in_data[MAX_IN], *out_data[MAX_OUT];
	struct err e = { 0 };
	int code = pick_kernel(p);
	struct tfl_op op = { .code = code, .in = in, .out = out,
			     .n_in = code == TFL_UNIDIRECTIONAL_SEQUENCE_LSTM
					 ? MAX_IN : (int)pick(p, 7),
			     .n_out = 1 + (int)(pick(p, 8) == 0 ? pick(p, MAX_OUT)
								: 0) };
	struct tfl_subgraph g = { .n_tensors = N_TENSORS, .tensor = p->t,
				  .n_ops = 1, .op = &op };
	struct fbw *w = fbw_open();
	bool ok = make_options(p, w, operators[code].options_tag, &op.options);
	fbw_close(w);
	for (int i = 0; ok && i < op.n_in + op.n_out; i++)
		make_tensor(p, i);
	for (int k = 0; ok && k < op.n_in; k++) {
		in[k] = pick(p, 16) == 15 || (k >= 9 && k < 12) ||
			k == 16 || k == 17 || k >= 20 ? -1 : k;
		in_data[k] = in[k] < 0 ? NULL : p->data[k];
	}
	for (int k = 0; ok && k < op.n_out; k++) {
		out[k] = op.n_in + k;
		out_data[k] = p->data[out[k]];
	}
	if (ok)
		(void)kernel_eval(&g, &op, &(struct kernel_io){ .in = in_data,
							        .out = out_data },
				  &e);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_open();
	struct recipe *p = anew(a, struct recipe, 1);
	p->r = reader_init(data, size);
	p->a = a;
	run(p);
	arena_close(a);
	return 0;
}
