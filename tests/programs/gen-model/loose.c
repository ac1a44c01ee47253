/* SPDX-License-Identifier: Apache-2.0 */
/* Properties that converters rarely write: any scale and zero point, biases and sums
 * of any type. */
#include "gen.h"

#include "base/little_endian.h"
#include "tflite/fields.h"

#include <string.h>

static void
loosen_quant(struct gen *g, struct tfl_tensor *t)
{
	static const int32_t least[] = {
	    [TFL_INT16] = INT16_MIN, [TFL_INT8] = INT8_MIN};
	static const int32_t most[] = {[TFL_INT16] = INT16_MAX,
				       [TFL_INT8] = INT8_MAX,
				       [TFL_UINT8] = UINT8_MAX};
	size_t n = (size_t)t->quant.n_scale, n_zero = (size_t)t->quant.n_zero;
	bool map =
	    t->type == TFL_INT8 || t->type == TFL_UINT8 || t->type == TFL_INT16;
	if (!n || !map)
		return;
	if (gen_chance(g, 25)) {
		float *scale = anew(g->a, float, n);
		float by = (float)gen_real(g, 1e-3, 1e3);
		for (size_t i = 0; i < n; i++)
			scale[i] = t->quant.scale[i] * by;
		t->quant.scale = scale;
	}
	if (gen_chance(g, 20)) {
		int64_t *zero = anew(g->a, int64_t, n_zero);
		int64_t z = gen_range(g, least[t->type], most[t->type]);
		for (size_t i = 0; i < n_zero; i++)
			zero[i] = z;
		t->quant.zero = zero;
	}
}

static struct bytes *
data_of(struct gen *g, int i)
{
	return &g->buffer[g->tensor[i].buffer];
}

/* a bias of 64 bits becomes 32 bits, sometimes with very large values */
static void
loosen_bias(struct gen *g, int i)
{
	struct bytes *b = data_of(g, i);
	size_t n = b->n / 8;
	uint8_t *v = arena_alloc(g->a, n, 4);
	bool large = gen_chance(g, 20);
	for (size_t k = 0; k < n; k++) {
		int64_t x = (int64_t)load_le64(b->p + 8 * k);
		store_le32(v + 4 * k, (uint32_t)(large ? x * 50000 : x));
	}
	*b = (struct bytes){ .p = v, .n = 4 * n };
	gen_t(g, i)->type = TFL_INT32;
}

/* slopes of 16 bits become 8 bits, as in TensorFlow Lite Micro */
static void
loosen_slopes(struct gen *g, int i)
{
	struct bytes *b = data_of(g, i);
	struct tfl_tensor *t = gen_t(g, i);
	size_t n = b->n / 2;
	uint8_t *v = arena_alloc(g->a, n, 1);
	for (size_t k = 0; k < n; k++)
		v[k] = b->p[2 * k + 1];
	*b = (struct bytes){ .p = v, .n = n };
	t->type = TFL_INT8;
	gen_quant(g, i, t->quant.scale[0] * 256, (int)gen_range(g, -60, 60));
	if (gen_chance(g, 40)) { /* one slope for all channels */
		b->n = 1;
		memset(t->dim, 0, sizeof(t->dim));
		t->dim[0] = t->rank = 1;
	}
}

/* sums of 32 bits: given in the options if there is no bias */
static void
loosen_sums(struct gen *g, struct tflw_op *op, int slot, int n)
{
	int64_t *v = anew(g->a, int64_t, (size_t)n);
	memcpy(v, op->option, (size_t)n * sizeof(*v));
	v[slot] = TFL_INT32;
	op->option = v;
}

void
gen_loosen(struct gen *g)
{
	for (int i = 0; i < g->n_ops; i++) {
		struct tflw_op *op = &g->op_at[i];
		int code = g->code[i].code, last = op->in[op->n_in - 1];
		const struct tfl_tensor *t = last < 0 ? NULL : gen_t(g, last);
		bool constant = last >= 0 && g->is_const[last];
		if (code == TFL_PRELU && constant && t->type == TFL_INT16 &&
		    gen_chance(g, 60))
			loosen_slopes(g, last);
		else if (constant && t->type == TFL_INT64 && op->n_in > 2 &&
			 gen_chance(g, 60))
			loosen_bias(g, last);
		else if (code == TFL_CONV_2D && gen_chance(g, 50))
			loosen_sums(g, op, FB_Conv2DOptions_quantized_bias_type,
				    7);
		else if (code == TFL_FULLY_CONNECTED && gen_chance(g, 50))
			loosen_sums(
			    g, op, FB_FullyConnectedOptions_quantized_bias_type,
			    5);
	}
	for (int i = 0; i < g->n_tensors; i++)
		loosen_quant(g, gen_t(g, i));
}
