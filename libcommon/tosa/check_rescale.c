/* SPDX-License-Identifier: Apache-2.0 */
/* Checks RESCALE: types, flags, zero points, multipliers and shifts. */
#include "tosa/check.h"

enum { LEAST_SHIFT = 2, MOST_SHIFT = 62 };

static bool
check_flags(const struct check *c, const struct tosa_rescale *r, int in, int out)
{
	if (r->rounding < TOSA_SINGLE_ROUND || r->rounding > TOSA_DOUBLE_ROUND)
		return check_bad(c, "rounding mode %d is not defined", r->rounding);
	if (r->rounding == TOSA_DOUBLE_ROUND && !r->scale32)
		return check_bad(c, "double rounding needs scale32");
	if (in == TOSA_INT48 && r->scale32)
		return check_bad(c, "scale32 of an i48 input");
	if (r->in_unsigned && r->out_unsigned)
		return check_bad(c, "input and output are both unsigned");
	if (r->in_unsigned && (in == TOSA_INT32 || in == TOSA_INT48))
		return check_bad(c, "an unsigned input of type %s", tosa_type_name(in));
	if (r->in_unsigned && out == TOSA_INT32)
		return check_bad(c, "an unsigned input and a result of type i32");
	if (r->out_unsigned && (in == TOSA_INT32 || in == TOSA_INT48 ||
				out == TOSA_INT32))
		return check_bad(c, "an unsigned result of %s, from %s",
				 tosa_type_name(out), tosa_type_name(in));
	return true;
}

/*
 * Checks zero point k of a tensor of this type.  v is its value, extended as the flag
 * says.
 */
static bool
check_point(const struct check *c, int k, int type, bool is_unsigned, int64_t v)
{
	const struct tosa_tensor *z = tosa_in(c->g, c->op, k);
	bool ok = type == TOSA_INT8 || v == 0 ||
		  (type == TOSA_INT16 && is_unsigned && v == 32768);
	if (z->type != type)
		return check_bad(c, "zero point %s is %s, %s is needed", z->name,
				 tosa_type_name(z->type), tosa_type_name(type));
	return ok || check_bad(c, "zero point %lld of type %s%s", (long long)v,
			       is_unsigned ? "unsigned " : "", tosa_type_name(type));
}

static bool
check_factors(const struct check *c, const struct tosa_rescale *r)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0);
	int type = r->scale32 ? TOSA_INT32 : TOSA_INT16;
	if (r->per_channel && x->rank < 1)
		return check_bad(c, "a factor for each channel of a scalar");
	int64_t n = r->per_channel ? x->dim[x->rank - 1] : 1;
	if (r->mult->type != type || r->shift->type != TOSA_INT8)
		return check_bad(c, "multiplier and shift are %s and %s, %s and i8 are "
				 "needed", tosa_type_name(r->mult->type),
				 tosa_type_name(r->shift->type), tosa_type_name(type));
	if (tosa_elements(r->mult) != n || tosa_elements(r->shift) != n)
		return check_bad(c, "%lld multipliers and %lld shifts, %lld are needed",
				 (long long)tosa_elements(r->mult),
				 (long long)tosa_elements(r->shift), (long long)n);
	for (int64_t i = 0; i < n; i++) {
		int64_t m = tosa_value(r->mult, i), s = tosa_value(r->shift, i);
		if (m < 0)
			return check_bad(c, "multiplier %lld is negative", (long long)m);
		if (s < LEAST_SHIFT || s > MOST_SHIFT)
			return check_bad(c, "shift %lld: %d to %d are allowed",
					 (long long)s, LEAST_SHIFT, MOST_SHIFT);
	}
	return true;
}

bool
check_rescale(const struct check *c)
{
	const struct tosa_tensor *x = tosa_in(c->g, c->op, 0), *o = tosa_out(c->g, c->op);
	if (!check_in(c, 0, T_WORDS | T(INT48)) || !check_like(c, x))
		return false;
	if (o->type >= 32 || !((uint64_t)T_WORDS >> o->type & 1))
		return check_bad(c, "the result is of type %s", tosa_type_name(o->type));
	for (int k = 1; k < 5; k++)
		if (tosa_in(c->g, c->op, k)->rank > 1 ||
		    (k > 2 && tosa_elements(tosa_in(c->g, c->op, k)) != 1))
			return check_bad(c, "input %d has %d dimensions and %lld elements", k,
					 tosa_in(c->g, c->op, k)->rank,
					 (long long)tosa_elements(tosa_in(c->g, c->op, k)));
	struct tosa_rescale r = tosa_rescale_of(c->g, c->op);
	return check_flags(c, &r, x->type, o->type) &&
	       check_point(c, 3, x->type, r.in_unsigned, r.in_zero) &&
	       check_point(c, 4, o->type, r.out_unsigned, r.out_zero) &&
	       check_factors(c, &r);
}
