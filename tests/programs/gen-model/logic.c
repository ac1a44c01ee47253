/* SPDX-License-Identifier: Apache-2.0 */
/* Comparisons, logic and SELECT; SCATTER_ND. */
#include "gen.h"

#include "tflite/fields.h"

enum { REDUCER = 27 }; /* of the union of options */

static struct shape
smaller(struct gen *g, struct shape s)
{
	for (int i = 0; i < s.rank; i++)
		if (gen_chance(g, 40))
			s.dim[i] = 1;
	return s;
}

/* two operands; the first has the result's shape unless they are swapped */
static void
draw_pair(struct gen *g, int type, struct shape *s, int in[2])
{
	*s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	struct shape small = gen_chance(g, 40) ? smaller(g, *s) : *s;
	bool plain = type == TFL_BOOL || type == TFL_INT32;
	int32_t word = (int32_t)gen_range(g, 0, INT32_MAX);
	in[0] = plain ? gen_tensor(g, type, *s, 0, 0) : gen_random(g, type, *s);
	if (type == TFL_INT32 && gen_chance(g, 30))
		in[1] = gen_index(g, word);
	else if (plain)
		in[1] = gen_tensor(g, type, small, 0, 0);
	else
		in[1] = gen_chance(g, 50) ? gen_like(g, in[0], small)
					  : gen_random(g, type, small);
	if (gen_chance(g, 30)) {
		int t = in[0];
		in[0] = in[1];
		in[1] = t;
	}
}

static void
draw_compare(struct gen *g, int code)
{
	static const int types[] = { TFL_INT8, TFL_INT8, TFL_UINT8, TFL_INT32,
				     TFL_BOOL };
	struct shape s;
	int in[2];
	draw_pair(g, types[gen_range(g, 0, 4)], &s, in);
	gen_op1(g, code, 2, in, gen_tensor(g, TFL_BOOL, s, 0, 0), 0, NULL, NULL);
}

static void
draw_logic(struct gen *g, int code)
{
	struct shape s;
	int in[2];
	draw_pair(g, TFL_BOOL, &s, in);
	gen_op1(g, code, 2, in, gen_tensor(g, TFL_BOOL, s, 0, 0), 0, NULL, NULL);
}

static void
draw_not(struct gen *g, int code)
{
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	int in = gen_tensor(g, TFL_BOOL, s, 0, 0);
	gen_op1(g, code, 1, &in, gen_tensor(g, TFL_BOOL, s, 0, 0), 0, NULL, NULL);
}

/* one of the three operands may be smaller; SELECT has equal shapes */
static void
draw_select(struct gen *g, int code)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16, TFL_INT32,
				     TFL_BOOL };
	int type = types[gen_range(g, 0, 4)], least = -1;
	struct shape s = gen_shape(g, (int)gen_range(g, 1, 4), 1);
	if (code == TFL_SELECT_V2 && gen_chance(g, 50))
		least = (int)gen_range(g, 0, 2);
	struct shape small = least < 0 ? s : smaller(g, s);
	bool plain = type == TFL_BOOL || type == TFL_INT32;
	int in[3] = { gen_tensor(g, TFL_BOOL, least == 0 ? small : s, 0, 0) };
	for (int k = 1; k < 3; k++) {
		struct shape of = least == k ? small : s;
		in[k] = plain	 ? gen_tensor(g, type, of, 0, 0)
			: k == 1 ? gen_random(g, type, of)
				 : gen_like(g, in[1], of);
	}
	int out = plain ? gen_tensor(g, type, s, 0, 0) : gen_like(g, in[1], s);
	gen_op1(g, code, 3, in, out, 0, NULL, NULL);
}

static void
draw_any(struct gen *g, int code)
{
	struct shape s = gen_shape(g, (int)gen_range(g, 2, 4), 1), out = { .rank = 0 };
	int32_t axis = (int32_t)gen_range(g, 0, s.rank - 1);
	int64_t keep = gen_chance(g, 50);
	for (int i = 0; i < s.rank; i++)
		if (i != axis || keep)
			out.dim[out.rank++] = i == axis ? 1 : s.dim[i];
	int in[2] = { gen_tensor(g, TFL_BOOL, s, 0, 0) };
	in[1] = gen_index(g, gen_chance(g, 30) ? axis - s.rank : axis);
	gen_op1(g, code, 2, in, gen_tensor(g, TFL_BOOL, out, 0, 0), REDUCER,
		&fb_ReducerOptions, &keep);
}

/* different places in one or two dimensions, sometimes with a stride */
static void
draw_scatter(struct gen *g, int code)
{
	enum { MOST = 8 };
	int type = gen_type(g), depth = (int)gen_range(g, 1, 2);
	struct shape s = gen_shape(g, (int)gen_range(g, depth, 3), 1);
	int32_t places = depth == 1 ? s.dim[0] : s.dim[0] * s.dim[1], v[2 * MOST];
	int32_t n = (int32_t)gen_range(g, 1, places < MOST ? places : MOST);
	int32_t step = (int32_t)gen_range(g, 1, places / n);
	int32_t first = (int32_t)gen_range(g, 0, places - 1 - (n - 1) * step);
	bool back = gen_chance(g, 30);
	for (int i = 0; i < n; i++) {
		int32_t at = first + (back ? n - 1 - i : i) * step;
		if (depth == 2)
			v[2 * i] = at / s.dim[1];
		v[depth * i + depth - 1] = depth == 2 ? at % s.dim[1] : at;
	}
	struct shape from = { .rank = 1 + s.rank - depth, .dim = { n } };
	for (int i = depth; i < s.rank; i++)
		from.dim[1 + i - depth] = s.dim[i];
	int in[3];
	in[0] = gen_const(g, TFL_INT32, SHAPE(n, depth), v);
	in[1] = gen_random(g, type, from);
	in[2] = gen_ints(g, s.rank, s.dim);
	gen_op1(g, code, 3, in, gen_like(g, in[1], s), 0, NULL, NULL);
}

const struct draw logic_draws[] = {
	{ "EQUAL", draw_compare, TFL_EQUAL },
	{ "NOT_EQUAL", draw_compare, TFL_NOT_EQUAL },
	{ "GREATER", draw_compare, TFL_GREATER },
	{ "GREATER_EQUAL", draw_compare, TFL_GREATER_EQUAL },
	{ "LESS", draw_compare, TFL_LESS },
	{ "LESS_EQUAL", draw_compare, TFL_LESS_EQUAL },
	{ "LOGICAL_AND", draw_logic, TFL_LOGICAL_AND },
	{ "LOGICAL_OR", draw_logic, TFL_LOGICAL_OR },
	{ "LOGICAL_NOT", draw_not, TFL_LOGICAL_NOT },
	{ "SELECT", draw_select, TFL_SELECT },
	{ "SELECT_V2", draw_select, TFL_SELECT_V2 },
	{ "REDUCE_ANY", draw_any, TFL_REDUCE_ANY },
	{ "REDUCE_ALL", draw_any, TFL_REDUCE_ALL },
	{ "SCATTER_ND", draw_scatter, TFL_SCATTER_ND },
	{ 0 },
};
