/* SPDX-License-Identifier: Apache-2.0 */
/* Movements of INT64: the models of other draws, with their values in 64 bits; other
 * operators of types that older draws lack. */
#include "gen.h"

#include "base/little_endian.h"

/* 64 bits of each element; a padding value is often 0 or -1 */
static void
widen_constant(struct gen *g, int i, bool padding)
{
	struct bytes *b = &g->buffer[g->tensor[i].buffer];
	int type = gen_t(g, i)->type;
	size_t n = b->n / (size_t)tfl_type_bytes(type);
	uint8_t *v = arena_alloc(g->a, n, 8);
	for (size_t k = 0; k < n; k++) {
		int64_t x = tfl_integer(type, b->p, (int64_t)k);
		store_le64(v + 8 * k, (uint64_t)(padding && x & 2 ? -(x & 1) : x * (INT64_C(1) << 30)));
	}
	*b = (struct bytes){ .p = v, .n = 8 * n };
}

static void
widen(struct gen *g, int i, bool padding)
{
	if (g->is_const[i])
		widen_constant(g, i, padding);
	gen_t(g, i)->type = TFL_INT64;
	gen_t(g, i)->quant = (struct tfl_quant){ .n_scale = 0 };
}

static const struct draw *
draw_of(int code, bool computed)
{
	const struct draw *const lists[] = { indexed_draws, move_draws, later_move_draws,
					     logic_draws };
	for (size_t i = computed ? 0 : 1; i < ARRAY_LEN(lists); i++)
		for (const struct draw *d = lists[i]; d->name; d++)
			if (d->code == code)
				return d;
	return NULL;
}

static void
draw_widened(struct gen *g, int code, bool computed)
{
	const struct draw *d = draw_of(code, computed);
	d->run(g, code);
	const struct tflw_op *op = &g->op_at[g->n_ops - 1];
	widen(g, op->in[code == TFL_SCATTER_ND], false);
	if (code == TFL_PADV2)
		widen(g, op->in[2], true);
	widen(g, op->out[0], false);
}

static void
draw_wide(struct gen *g, int code)
{
	draw_widened(g, code, false);
}

static void
draw_wide_computed(struct gen *g, int code)
{
	draw_widened(g, code, true);
}

/* BOOL from an integer, or an integer or BOOL from BOOL */
static void
draw_cast_bool(struct gen *g, int code)
{
	static const int from[] = { TFL_INT8, TFL_UINT8, TFL_INT16, TFL_INT32, TFL_BOOL };
	static const int to[] = { TFL_INT8, TFL_UINT8, TFL_INT16, TFL_INT32, TFL_INT64 };
	bool back = gen_chance(g, 60);
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), (int32_t)gen_range(g, 1, 2));
	int type = back ? TFL_BOOL : from[gen_range(g, 0, 4)];
	int in = gen_tensor(g, type, s, 0, 0);
	type = back ? to[gen_range(g, 0, 4)] : TFL_BOOL;
	gen_op1(g, code, 1, &in, gen_tensor(g, type, s, 0, 0), 0, NULL, NULL);
}

static void
draw_abs_words(struct gen *g, int code)
{
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), (int32_t)gen_range(g, 1, 2));
	int in = gen_tensor(g, TFL_INT32, s, 0, 0);
	gen_op1(g, code, 1, &in, gen_tensor(g, TFL_INT32, s, 0, 0), 0, NULL, NULL);
}

/* INT16 of one quantization, one operand broadcast, or a constant */
static void
draw_compare_words(struct gen *g, int code)
{
	static const int codes[] = { TFL_EQUAL, TFL_NOT_EQUAL, TFL_GREATER, TFL_GREATER_EQUAL,
				     TFL_LESS, TFL_LESS_EQUAL };
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1), small = s;
	for (int i = 0; i < s.rank; i++)
		if (gen_chance(g, 25))
			small.dim[i] = 1;
	int a = gen_random(g, TFL_INT16, s);
	struct tfl_quant q = gen_t(g, a)->quant;
	int b = gen_chance(g, 30) ? gen_noise(g, TFL_INT16, small, q.scale[0], (int)q.zero[0])
				  : gen_like(g, a, small);
	bool turned = gen_chance(g, 30);
	code = codes[gen_range(g, 0, 5)];
	gen_op1(g, code, 2, (int[]){ turned ? b : a, turned ? a : b },
		gen_tensor(g, TFL_BOOL, s, 0, 0), 0, NULL, NULL);
}

const struct draw wide_draws[] = {
	{ "ABS_INT32", draw_abs_words, TFL_ABS },
	{ "COMPARE_INT16", draw_compare_words, TFL_EQUAL },
	{ "CAST_BOOL", draw_cast_bool, TFL_CAST },
	{ "SLICE_INT64", draw_wide, TFL_SLICE },
	{ "STRIDED_SLICE_INT64", draw_wide, TFL_STRIDED_SLICE },
	{ "TRANSPOSE_INT64", draw_wide, TFL_TRANSPOSE },
	{ "REVERSE_V2_INT64", draw_wide, TFL_REVERSE_V2 },
	{ "PAD_INT64", draw_wide, TFL_PAD },
	{ "PADV2_INT64", draw_wide, TFL_PADV2 },
	{ "MIRROR_PAD_INT64", draw_wide, TFL_MIRROR_PAD },
	{ "TILE_INT64", draw_wide, TFL_TILE },
	{ "GATHER_INT64", draw_wide, TFL_GATHER },
	{ "GATHER_ND_INT64", draw_wide, TFL_GATHER_ND },
	{ "SCATTER_ND_INT64", draw_wide, TFL_SCATTER_ND },
	{ "GATHER_COMPUTED_INT64", draw_wide_computed, TFL_GATHER },
	{ "GATHER_ND_COMPUTED_INT64", draw_wide_computed, TFL_GATHER_ND },
	{ 0 },
};
