/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons, logic and SELECT, as TFLite Micro has them.
 */
#include "kernels/view.h"

#include <string.h>

/* Returns a and b broadcast to the output, as int32. */
static bool
two_inputs(struct call *c, unsigned types, const int32_t *x[2])
{
	const struct tfl_tensor *a = call_in(c, 0), *b = call_in(c, 1);
	if (!call_type(c, a, "input", types) || !call_same_type(c, a, b) ||
	    !call_type(c, call_out(c, 0), "output", T_BOOL) ||
	    !call_broadcast(c, a, b, call_out(c, 0)))
		return false;
	x[0] = call_broadcast_input(c, 0, call_out(c, 0));
	x[1] = call_broadcast_input(c, 1, call_out(c, 0));
	return true;
}

enum { COMPARE_SHIFT = 8 }; /* the reference's extra bits for rounding */

/*
 * Converts quantized values to (x - z) * s with 8 fractional bits, so that tensors of
 * different scales can be compared.  Scales have to be below 1.
 */
static bool
real_units(struct call *c, int k, int32_t *v)
{
	const struct tfl_tensor *t = call_in(c, k);
	struct affine q;
	struct fixed_mult m;
	/* stored values of other types compare like the values that they stand for: both inputs
	 * of INT16 have the same scale, and INT32, INT64 and BOOL have none */
	if (t->type != TFL_INT8 && t->type != TFL_UINT8)
		return true;
	if (!call_affine(c, t, "input", &q) ||
	    !call_mult(c, (double)q.scale, &m))
		return false;
	if (m.exp > 0)
		return call_err(
		    c, "input (%s) has the scale %g, needs one below 1",
		    t->name, (double)q.scale);
	for (int64_t i = 0; i < tfl_elements(call_out(c, 0)); i++)
		v[i] = fixed_mbqm((v[i] - q.zero) * (1 << COMPARE_SHIFT), m);
	return true;
}

static bool
comparison_holds(int code, int32_t a, int32_t b)
{
	switch (code) {
	case TFL_EQUAL:
		return a == b;
	case TFL_NOT_EQUAL:
		return a != b;
	case TFL_GREATER:
		return a > b;
	case TFL_GREATER_EQUAL:
		return a >= b;
	case TFL_LESS:
		return a < b;
	case TFL_LESS_EQUAL:
		return a <= b;
	case TFL_LOGICAL_AND:
		return a && b;
	default: /* LOGICAL_OR */
		return a || b;
	}
}

static bool
store_comparison(struct call *c, const int32_t *a, const int32_t *b)
{
	uint8_t *y = c->io->out[0];
	for (int64_t i = 0; y && i < tfl_elements(call_out(c, 0)); i++)
		y[i] = comparison_holds(c->op->code, a[i], b[i]);
	return true;
}

bool
kernel_compare(struct call *c)
{
	const struct tfl_tensor *a = call_in(c, 0), *b = call_in(c, 1);
	const int32_t *x[2];
	struct affine q[2];
	if (!two_inputs(c, T_QUANT | T_I32 | T_BOOL, x))
		return false;
	/* no reference says how INT16 of two quantizations is compared */
	if (a->type == TFL_INT16 &&
	    (!call_affine(c, a, "input", &q[0]) || !call_affine(c, b, "input", &q[1])))
		return false;
	if (a->type == TFL_INT16 && (q[0].scale != q[1].scale || q[0].zero != q[1].zero))
		return call_err(c, "compares INT16 of different quantizations");
	if (c->check)
		return true;
	int64_t n = tfl_elements(call_out(c, 0));
	int32_t *v[2];
	for (int k = 0; k < 2; k++) {
		v[k] = anew(c->a, int32_t, (size_t)n);
		memcpy(v[k], x[k], (size_t)n * sizeof(*v[k]));
		if (!real_units(c, k, v[k]))
			return false;
	}
	return store_comparison(c, v[0], v[1]);
}

bool
kernel_logical(struct call *c)
{
	const int32_t *x[2];
	return two_inputs(c, T_BOOL, x) && store_comparison(c, x[0], x[1]);
}

bool
kernel_logical_not(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_type(c, in, "input", T_BOOL) || !call_same_type(c, in, out) ||
	    !call_same_count(c, in, out))
		return false;
	if (c->check)
		return true;
	const uint8_t *x = c->io->in[0];
	uint8_t *y = c->io->out[0];
	for (int64_t i = 0; i < tfl_elements(out); i++)
		y[i] = !x[i];
	return true;
}

/*
 * SELECT_V2 broadcasts all three inputs.  SELECT is a special case of it, except for a
 * condition that selects whole rows.
 */
bool
kernel_select(struct call *c)
{
	const struct tfl_tensor *which = call_in(c, 0), *out = call_out(c, 0);
	const int32_t *v[3];
	if (!call_type(c, which, "condition", T_BOOL))
		return false;
	if (c->op->code == TFL_SELECT && which->rank == 1 && out->rank > 1 &&
	    which->dim[0] > 1)
		return call_err(c,
				"a condition for whole rows is not supported");
	for (int k = 0; k < 3; k++) {
		const struct tfl_tensor *t = call_in(c, k);
		if (k && (!call_type(c, t, "input", T_QUANT | T_I32 | T_BOOL) ||
			  !call_same_type(c, t, out)))
			return false;
		if (!call_broadcast(c, t, out, out))
			return false;
		v[k] = call_broadcast_input(c, k, out);
	}
	if (c->check)
		return true;
	int32_t *y = anew(c->a, int32_t, (size_t)tfl_elements(out));
	for (int64_t i = 0; i < tfl_elements(out); i++)
		y[i] = v[0][i] ? v[1][i] : v[2][i];
	call_narrow(c, 0, y);
	return true;
}

bool
kernel_broadcast_to(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_type(c, in, "input", T_QUANT | T_I32 | T_BOOL) ||
	    !call_same_type(c, in, out) || !call_broadcast(c, in, out, out))
		return false;
	call_narrow(c, 0, call_broadcast_input(c, 0, out));
	return true;
}
