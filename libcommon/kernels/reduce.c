/* SPDX-License-Identifier: Apache-2.0 */
/* MEAN, SUM, REDUCE_*, ARG_*: nputools-lowering(7) 3.3. */
#include "kernels/view.h"

struct reduce {
	const struct tfl_tensor *in, *out;
	bool drop[TFL_MAX_RANK]; /* this dimension is reduced */
	int64_t count;		 /* input elements per output */
	int64_t n_out;
	int64_t *at; /* output element of each input element */
};

static bool
load_axes(struct call *c, struct reduce *r)
{
	int64_t n;
	const int64_t *axes = call_indices(c, 1, "axes", &n);
	if (!axes)
		return false;
	for (int64_t i = 0; i < n; i++) {
		int d;
		if (!call_axis(c, axes[i], r->in->rank, &d))
			return false;
		r->drop[d] = true;
	}
	r->count = 1;
	r->n_out = 1;
	for (int d = 0; d < r->in->rank; d++)
		*(r->drop[d] ? &r->count : &r->n_out) *= r->in->dim[d];
	if (r->n_out != tfl_elements(r->out))
		return call_mismatch(
		    c, "output has %lld elements, %lld are computed",
		    (long long)tfl_elements(r->out), (long long)r->n_out);
	return r->count > 0 || call_err(c, "nothing to reduce");
}

static void
map_outputs(struct call *c, struct reduce *r)
{
	int64_t stride[TFL_MAX_RANK] = { 0 }, s = 1, o = 0;
	int32_t at[TFL_MAX_RANK] = { 0 };
	for (int d = r->in->rank - 1; d >= 0; d--) {
		stride[d] = r->drop[d] ? 0 : s;
		s *= r->drop[d] ? 1 : r->in->dim[d];
	}
	r->at = anew(c->a, int64_t, (size_t)tfl_elements(r->in));
	for (int64_t i = 0; i < tfl_elements(r->in); i++) {
		r->at[i] = o;
		for (int d = r->in->rank - 1; d >= 0; d--) {
			o += stride[d];
			if (++at[d] < r->in->dim[d])
				break;
			o -= stride[d] * r->in->dim[d];
			at[d] = 0;
		}
	}
}

static bool
reduce_prepare(struct call *c, unsigned types, struct reduce *r)
{
	*r = (struct reduce){ .in = call_in(c, 0), .out = call_out(c, 0) };
	if (!call_type(c, r->in, "input", types) ||
	    !call_same_type(c, r->in, r->out) || !load_axes(c, r))
		return false;
	if (!c->check)
		map_outputs(c, r);
	return true;
}

static int64_t *
sums(struct call *c, const struct reduce *r)
{
	const int32_t *x = call_widen(c, 0);
	int64_t *sum = anew(c->a, int64_t, (size_t)r->n_out);
	for (int64_t i = 0; i < tfl_elements(r->in); i++)
		sum[r->at[i]] += x[i];
	return sum;
}

/* Includes the division by count in the multiplier, with additional bits of precision. */
static struct fixed_mult
divided(struct fixed_mult m, int64_t count)
{
	int shift = 63 - __builtin_clzll((uint64_t)count);
	shift = shift < 32 ? shift : 32;
	shift = shift < 31 + m.exp ? shift : 31 + m.exp;
	return (struct fixed_mult){
		.mult = (int32_t)(((int64_t)m.mult << shift) / count),
		.exp = m.exp - shift
	};
}

/* SUM of INT32 as in TFLite; TFLite Micro does not have it. */
static bool
sum_words(struct call *c)
{
	struct reduce r;
	if (!reduce_prepare(c, T_I32, &r))
		return false;
	if (c->check)
		return true;
	const int64_t *sum = sums(c, &r);
	int32_t *y = anew(c->a, int32_t, (size_t)r.n_out);
	for (int64_t i = 0; i < r.n_out; i++)
		y[i] = (int32_t)(uint32_t)sum[i];
	call_narrow(c, 0, y);
	return true;
}

bool
kernel_mean_sum(struct call *c)
{
	struct reduce r;
	struct affine q, q_out;
	struct fixed_mult m;
	if (c->op->code == TFL_SUM && call_in(c, 0) &&
	    call_in(c, 0)->type == TFL_INT32)
		return sum_words(c);
	if (!reduce_prepare(c, T_QUANT, &r) || !call_affine(c, r.in, "input", &q) ||
	    !call_affine(c, r.out, "output", &q_out) ||
	    !call_mult_of(c, (double)q.scale / (double)q_out.scale,
			  (c->op->code == TFL_MEAN ? 2 : r.count) *
			      type_width(r.in->type), &m))
		return false;
	if (c->check)
		return true;
	if (c->op->code == TFL_MEAN)
		m = divided(m, r.count);
	const int64_t *sum = sums(c, &r);
	int32_t *y = anew(c->a, int32_t, (size_t)r.n_out);
	for (int64_t i = 0; i < r.n_out; i++)
		y[i] = clamp_i32((int64_t)fixed_mbqm(
				     (int32_t)(sum[i] - r.count * q.zero), m) +
				     q_out.zero,
				 type_min(r.out->type), type_max(r.out->type));
	call_narrow(c, 0, y);
	return true;
}

bool
kernel_reduce_min_max(struct call *c)
{
	int code = c->op->code;
	bool max = code == TFL_REDUCE_MAX || code == TFL_REDUCE_ANY;
	bool logic = code == TFL_REDUCE_ANY || code == TFL_REDUCE_ALL;
	struct reduce r;
	if (!reduce_prepare(c, logic ? T_BOOL : T_QUANT | T_I32, &r) ||
	    (!logic && !call_same_quant(c, r.in, r.out)))
		return false;
	if (c->check)
		return true;
	const int32_t *x = call_widen(c, 0);
	int32_t *y = anew(c->a, int32_t, (size_t)r.n_out);
	for (int64_t i = 0; i < r.n_out; i++)
		y[i] = max ? INT32_MIN : INT32_MAX;
	for (int64_t i = 0; i < tfl_elements(r.in); i++)
		if ((x[i] > y[r.at[i]]) == max)
			y[r.at[i]] = x[i];
	call_narrow(c, 0, y);
	return true;
}

/* The lowest index wins a tie. */
bool
kernel_arg_min_max(struct call *c)
{
	bool max = c->op->code == TFL_ARG_MAX;
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	int64_t n;
	int axis;
	const int64_t *v = call_indices(c, 1, "axis", &n);
	if (!v || !call_type(c, in, "input", T_QUANT | T_I32) ||
	    !call_type(c, out, "output", T_I32 | T_I64))
		return false;
	if (n != 1)
		return call_err(c, "axis has %lld elements", (long long)n);
	if (!call_axis(c, v[0], in->rank, &axis))
		return false;
	struct around a = around_axis(in, axis);
	int64_t n_out = a.outer * a.inner;
	if (a.n < 1 || n_out != tfl_elements(out))
		return call_mismatch(
		    c, "output has %lld elements, %lld are computed",
		    (long long)tfl_elements(out), (long long)n_out);
	if (c->check)
		return true;
	const int32_t *x = call_widen(c, 0);
	for (int64_t i = 0; i < n_out; i++) {
		const int32_t *p =
		    x + i / a.inner * a.n * a.inner + i % a.inner;
		int64_t best = 0;
		for (int64_t k = 1; k < a.n; k++)
			if (max ? p[k * a.inner] > p[best * a.inner]
				: p[k * a.inner] < p[best * a.inner])
				best = k;
		if (out->type == TFL_INT64)
			((int64_t *)c->io->out[0])[i] = best;
		else
			((int32_t *)c->io->out[0])[i] = (int32_t)best;
	}
	return true;
}
