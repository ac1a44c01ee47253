/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the operands of an operator: common rules, elementwise, reductions. */
#include "tosa/check.h"

#include <stdarg.h>
#include <stdio.h>

bool
check_bad(const struct check *c, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_at(c->e, c->g->name, 0, "operator %d (%s, %s): %s", c->op->number,
		      c->op->name, tosa_out(c->g, c->op)->name, text);
}

bool
check_in(const struct check *c, int k, unsigned types)
{
	int type = tosa_in(c->g, c->op, k)->type;
	return (type < 32 && types >> type & 1) ||
	       check_bad(c, "input %d has type %s, which the operator does not support",
			    k,
			 tosa_type_name(type));
}

bool
check_out(const struct check *c, int type)
{
	int got = tosa_out(c->g, c->op)->type;
	return got == type || check_bad(c, "the result is %s, the operands give %s",
					tosa_type_name(got), tosa_type_name(type));
}

bool
check_rank(const struct check *c, const struct tosa_tensor *t, int rank)
{
	return t->rank == rank || check_bad(c, "%s has %d dimensions, %d are needed",
					    t->name, t->rank, rank);
}

bool
check_shape(const struct check *c, int rank, const int64_t *dim)
{
	const struct tosa_tensor *o = tosa_out(c->g, c->op);
	if (!check_rank(c, o, rank))
		return false;
	for (int i = 0; i < rank; i++)
		if (o->dim[i] != dim[i])
			return check_bad(c, "dimension %d of the result is %d, the "
					 "operands give %lld", i, o->dim[i],
					 (long long)dim[i]);
	return true;
}

bool
check_like(const struct check *c, const struct tosa_tensor *t)
{
	int64_t dim[TOSA_MAX_RANK];
	for (int i = 0; i < t->rank; i++)
		dim[i] = t->dim[i];
	return check_shape(c, t->rank, dim);
}

bool
check_zero(const struct check *c, int k, const struct tosa_tensor *t)
{
	const struct tosa_tensor *z = tosa_in(c->g, c->op, k);
	bool weights = t->type == TOSA_INT4 && z->type == TOSA_INT8;
	if (tosa_elements(z) != 1 || z->rank > 1 || (z->type != t->type && !weights))
		return check_bad(c, "zero point %s is not one element of type %s",
				 z->name, tosa_type_name(t->type));
	int64_t v = tosa_value(z, 0);
	return !v || t->type == TOSA_INT8 ||
	       check_bad(c, "zero point %lld of type %s: only i8 can have one other "
			    "than 0",
			 (long long)v, tosa_type_name(t->type));
}

bool
check_list(const struct check *c, int slot, uint32_t n)
{
	struct fb_ref a = c->op->attribute;
	uint32_t got = fb_vector(a, slot).n;
	return got == n || check_bad(c, "attribute %s has %u numbers, %u are needed",
				     a.table->slot[slot].name, got, n);
}

bool
check_axis(const struct check *c)
{
	int64_t axis = tosa_axis_of(c->op);
	int rank = tosa_in(c->g, c->op, 0)->rank;
	return (axis >= 0 && axis < rank) ||
	       check_bad(c, "axis %lld of a tensor of %d dimensions", (long long)axis,
			 rank);
}

/* ---- elementwise --------------------------------------------------------------- */

/*
 * Operands have equal rank; dimensions of 1 are broadcast.  The result has the
 * broadcast shape.
 */
static bool
check_broadcast(const struct check *c, int first, int n)
{
	const struct tosa_tensor *a = tosa_in(c->g, c->op, first);
	int64_t dim[TOSA_MAX_RANK];
	for (int i = 0; i < a->rank; i++)
		dim[i] = a->dim[i];
	for (int k = first + 1; k < first + n; k++) {
		const struct tosa_tensor *b = tosa_in(c->g, c->op, k);
		if (b->rank != a->rank)
			return check_bad(c, "operands have %d and %d dimensions", a->rank,
					 b->rank);
		for (int i = 0; i < a->rank; i++) {
			if (b->dim[i] != dim[i] && b->dim[i] != 1 && dim[i] != 1)
				return check_bad(c, "dimension %d of the operands is "
						 "%lld and %d", i, (long long)dim[i],
						 b->dim[i]);
			dim[i] = dim[i] == 1 ? b->dim[i] : dim[i];
		}
	}
	return check_shape(c, a->rank, dim);
}

static bool
check_equal_types(const struct check *c, int a, int b)
{
	int x = tosa_in(c->g, c->op, a)->type, y = tosa_in(c->g, c->op, b)->type;
	return x == y || check_bad(c, "operands are %s and %s", tosa_type_name(x),
				   tosa_type_name(y));
}

static bool
check_binary(const struct check *c, unsigned types, int out)
{
	int type = tosa_in(c->g, c->op, 0)->type;
	return check_in(c, 0, types) && check_equal_types(c, 0, 1) &&
	       check_out(c, out ? out : type) && check_broadcast(c, 0, 2);
}

static bool
check_unary(const struct check *c, unsigned types, int out)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	return check_in(c, 0, types) && check_out(c, out ? out : x->type) &&
	       check_like(c, x);
}

#define CHECK(name, value)			\
	static bool name(const struct check *c)	\
	{					\
		return value;			\
	}

CHECK(check_word_binary, check_binary(c, T(INT32), 0))
CHECK(check_bits_binary, check_binary(c, T_WORDS, 0))
CHECK(check_bool_binary, check_binary(c, T(BOOL), 0))
CHECK(check_compare, check_binary(c, T(INT32), TOSA_BOOL))

static bool
check_mul(const struct check *c)
{
	const struct tosa_tensor *s = tosa_in(c->g, c->op, 2);
	if (!check_binary(c, T_WORDS, TOSA_INT32) || !check_in(c, 2, T(INT8)))
		return false;
	if (tosa_elements(s) != 1)
		return check_bad(c, "the shift has %lld elements, one is needed",
				 (long long)tosa_elements(s));
	int64_t v = tosa_value(s, 0), most = tosa_in(c->g, c->op, 0)->type == TOSA_INT32
						 ? 63 : 0;
	return (v >= 0 && v <= most) ||
	       check_bad(c, "shift %lld, 0 to %lld are allowed", (long long)v,
			 (long long)most);
}

CHECK(check_word_unary, check_unary(c, T(INT32), 0))
CHECK(check_bits_unary, check_unary(c, T_WORDS, 0))
CHECK(check_bool_unary, check_unary(c, T(BOOL), 0))
CHECK(check_any_unary, check_unary(c, T_ALL | T(INT48) | T(INT4), 0))

static bool
check_negate(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	return check_unary(c, T_WORDS, 0) && check_zero(c, 1, x) &&
	       check_zero(c, 2, tosa_out(c->g, c->op));
}

static bool
check_cast(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int out = tosa_out(c->g, c->op)->type;
	if (!check_in(c, 0, T_ALL) || !check_like(c, x))
		return false;
	return (out < 32 && (uint64_t)T_ALL >> out & 1 && out != x->type) ||
	       check_bad(c, "there is no cast from %s to %s", tosa_type_name(x->type),
			 tosa_type_name(out));
}

static bool
check_select(const struct check *c)
{
	int type = tosa_in(c->g, c->op, 1)->type;
	return check_in(c, 0, T(BOOL)) && check_in(c, 1, T_ALL) &&
	       check_equal_types(c, 1, 2) && check_out(c, type) &&
	       check_broadcast(c, 0, 3);
}

static bool
check_clamp(const struct check *c)
{
	int64_t lo, hi;
	if (!check_unary(c, T_FEATURE_MAPS | T(INT32), 0))
		return false;
	uint32_t bytes = (uint32_t)tosa_type_bits(tosa_in(c->g, c->op, 0)->type) / 8;
	if (!check_list(c, FB_TosaClamp_min_val, bytes) ||
	    !check_list(c, FB_TosaClamp_max_val, bytes))
		return false;
	tosa_clamp_of(c->g, c->op, &lo, &hi);
	return lo <= hi || check_bad(c, "the least value %lld is above the greatest, %lld",
				     (long long)lo, (long long)hi);
}

static bool
check_table(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *t = tosa_in(c->g, c->op, 1);
	bool bytes = x->type == TOSA_INT8;
	if (!check_unary(c, T_FEATURE_MAPS, bytes ? TOSA_INT8 : TOSA_INT32))
		return false;
	if (t->type != x->type || t->rank != 1 || t->dim[0] != (bytes ? 256 : 513))
		return check_bad(c, "the table has %lld entries of type %s, %d of type "
				 "%s are needed", (long long)tosa_elements(t),
				 tosa_type_name(t->type), bytes ? 256 : 513,
				 tosa_type_name(x->type));
	return true;
}

/* ---- reductions ------------------------------------------------------------------ */

static bool
check_reduction(const struct check *c, unsigned types)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK];
	if (!check_in(c, 0, types) || !check_out(c, x->type) || !check_axis(c))
		return false;
	for (int i = 0; i < x->rank; i++)
		dim[i] = i == tosa_axis_of(c->op) ? 1 : x->dim[i];
	return check_shape(c, x->rank, dim);
}

CHECK(check_reduce_bool, check_reduction(c, T(BOOL)))
CHECK(check_reduce_word, check_reduction(c, T(INT32)))
CHECK(check_reduce_any, check_reduction(c, T_WORDS))

static bool
check_argmax(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int64_t dim[TOSA_MAX_RANK], n = 0;
	if (!check_in(c, 0, T_FEATURE_MAPS) || !check_out(c, TOSA_INT32) || !check_axis(c))
		return false;
	for (int i = 0; i < x->rank; i++)
		if (i != tosa_axis_of(c->op))
			dim[n++] = x->dim[i];
	return check_shape(c, (int)n, dim);
}

CHECK(check_reverse, check_any_unary(c) && check_axis(c))

static const struct {
	bool (*run)(const struct check *);
} rules[TOSA_OP_LIMIT] = {
	[TOSA_ARGMAX] = { check_argmax },
	[TOSA_AVG_POOL2D] = { check_pool },
	[TOSA_CONV2D] = { check_conv },
	[TOSA_DEPTHWISE_CONV2D] = { check_conv },
	[TOSA_MATMUL] = { check_matmul },
	[TOSA_MAX_POOL2D] = { check_pool },
	[TOSA_TRANSPOSE_CONV2D] = { check_transpose_conv },
	[TOSA_CLAMP] = { check_clamp },
	[TOSA_ADD] = { check_word_binary },
	[TOSA_ARITHMETIC_RIGHT_SHIFT] = { check_bits_binary },
	[TOSA_BITWISE_AND] = { check_bits_binary },
	[TOSA_BITWISE_OR] = { check_bits_binary },
	[TOSA_BITWISE_XOR] = { check_bits_binary },
	[TOSA_INTDIV] = { check_word_binary },
	[TOSA_LOGICAL_AND] = { check_bool_binary },
	[TOSA_LOGICAL_LEFT_SHIFT] = { check_bits_binary },
	[TOSA_LOGICAL_RIGHT_SHIFT] = { check_bits_binary },
	[TOSA_LOGICAL_OR] = { check_bool_binary },
	[TOSA_LOGICAL_XOR] = { check_bool_binary },
	[TOSA_MAXIMUM] = { check_word_binary },
	[TOSA_MINIMUM] = { check_word_binary },
	[TOSA_MUL] = { check_mul },
	[TOSA_SUB] = { check_word_binary },
	[TOSA_TABLE] = { check_table },
	[TOSA_ABS] = { check_word_unary },
	[TOSA_BITWISE_NOT] = { check_bits_unary },
	[TOSA_CLZ] = { check_word_unary },
	[TOSA_LOGICAL_NOT] = { check_bool_unary },
	[TOSA_NEGATE] = { check_negate },
	[TOSA_SELECT] = { check_select },
	[TOSA_EQUAL] = { check_compare },
	[TOSA_GREATER] = { check_compare },
	[TOSA_GREATER_EQUAL] = { check_compare },
	[TOSA_REDUCE_ALL] = { check_reduce_bool },
	[TOSA_REDUCE_ANY] = { check_reduce_bool },
	[TOSA_REDUCE_MAX] = { check_reduce_any },
	[TOSA_REDUCE_MIN] = { check_reduce_any },
	[TOSA_REDUCE_SUM] = { check_reduce_word },
	[TOSA_CONCAT] = { check_concat },
	[TOSA_PAD] = { check_pad },
	[TOSA_RESHAPE] = { check_reshape },
	[TOSA_REVERSE] = { check_reverse },
	[TOSA_SLICE] = { check_slice },
	[TOSA_TILE] = { check_tile },
	[TOSA_TRANSPOSE] = { check_transpose },
	[TOSA_GATHER] = { check_gather },
	[TOSA_SCATTER] = { check_scatter },
	[TOSA_RESIZE] = { check_resize },
	[TOSA_CAST] = { check_cast },
	[TOSA_RESCALE] = { check_rescale },
	[TOSA_IDENTITY] = { check_any_unary },
};

bool
tosa_check_op(const struct tosa_graph *g, const struct tosa_op *op, struct err *e)
{
	struct check c = { .g = g, .op = op, .e = e };
	return rules[op->code].run(&c);
}
