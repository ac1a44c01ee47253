/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/call.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool
call_err(struct call *c, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(c->e, "operator %d (%s): %s", (int)(c->op - c->g->op),
		       tfl_op_label(c->op), text);
}

bool
call_mismatch(struct call *c, const char *fmt, ...)
{
	char text[600];
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->mismatch = true;
	int out = c->op->n_out ? c->op->out[0] : -1;
	if (out < 0)
		return call_err(c, "%s", text);
	return err_set(c->e, "operator %d (%s), tensor %d (%s): %s",
		       (int)(c->op - c->g->op), tfl_op_label(c->op), out,
		       c->g->tensor[out].name, text);
}

const struct tfl_tensor *
call_in(const struct call *c, int k)
{
	return k < c->op->n_in && c->op->in[k] >= 0
		   ? &c->g->tensor[c->op->in[k]]
		   : NULL;
}

const struct tfl_tensor *
call_out(const struct call *c, int k)
{
	return &c->g->tensor[c->op->out[k]];
}

static unsigned
type_bit(int type)
{
	switch (type) {
	case TFL_INT8:
		return T_I8;
	case TFL_UINT8:
		return T_U8;
	case TFL_INT16:
		return T_I16;
	case TFL_INT32:
		return T_I32;
	case TFL_INT64:
		return T_I64;
	case TFL_FLOAT32:
		return T_F32;
	case TFL_BOOL:
		return T_BOOL;
	case TFL_INT4:
		return T_I4;
	default:
		return 0;
	}
}

bool
call_type(struct call *c, const struct tfl_tensor *t, const char *role,
	  unsigned mask)
{
	return (type_bit(t->type) & mask) ||
	       call_err(c, "%s (%s) has type %s, which is not supported here",
			role, t->name, tfl_type_name(t->type));
}

bool
call_same_type(struct call *c, const struct tfl_tensor *a,
	       const struct tfl_tensor *b)
{
	return a->type == b->type ||
	       call_err(c, "types of %s and %s differ: %s, %s", a->name,
			b->name, tfl_type_name(a->type),
			tfl_type_name(b->type));
}

bool
call_same_shape(struct call *c, const struct tfl_tensor *a,
		const struct tfl_tensor *b)
{
	bool same = a->rank == b->rank;
	for (int i = 0; same && i < a->rank; i++)
		same = a->dim[i] == b->dim[i];
	return same || call_mismatch(c, "shapes of %s and %s differ", a->name, b->name);
}

bool
call_same_count(struct call *c, const struct tfl_tensor *a,
		const struct tfl_tensor *b)
{
	return tfl_elements(a) == tfl_elements(b) ||
	       call_mismatch(c, "%s has %lld elements, %s has %lld", a->name,
			     (long long)tfl_elements(a), b->name,
			     (long long)tfl_elements(b));
}

int32_t
type_min(int type)
{
	switch (type) {
	case TFL_INT4:
		return -8;
	case TFL_INT8:
		return INT8_MIN;
	case TFL_INT16:
		return INT16_MIN;
	case TFL_INT32:
		return INT32_MIN;
	default:
		return 0;
	}
}

int32_t
type_max(int type)
{
	switch (type) {
	case TFL_INT4:
		return 7;
	case TFL_INT8:
		return INT8_MAX;
	case TFL_UINT8:
		return UINT8_MAX;
	case TFL_INT16:
		return INT16_MAX;
	case TFL_INT32:
		return INT32_MAX;
	default:
		return 1;
	}
}

bool
call_nhwc(struct call *c, const struct tfl_tensor *t, const char *role,
	  struct nhwc *out)
{
	if (t->rank != 4)
		return call_mismatch(c, "%s (%s) has rank %d, not 4", role,
				     t->name, t->rank);
	*out = (struct nhwc){
		.n = t->dim[0], .h = t->dim[1], .w = t->dim[2], .c = t->dim[3]
	};
	return true;
}

bool
call_work(struct call *c, int64_t outputs, int64_t each)
{
	int64_t work;
	if (__builtin_mul_overflow(outputs, each, &work) || work > (int64_t)1
								       << 36)
		return call_err(c,
				"%lld outputs of %lld steps each are too much "
				"work",
				(long long)outputs, (long long)each);
	c->work += work;
	return true;
}

struct around
around_axis(const struct tfl_tensor *t, int axis)
{
	struct around r = { .outer = 1, .n = t->dim[axis], .inner = 1 };
	for (int i = 0; i < axis; i++)
		r.outer *= t->dim[i];
	for (int i = axis + 1; i < t->rank; i++)
		r.inner *= t->dim[i];
	return r;
}

bool
call_axis(struct call *c, int64_t axis, int rank, int *out)
{
	if (axis < -rank || axis >= rank)
		return call_err(c, "axis %lld of a tensor of rank %d",
				(long long)axis, rank);
	*out = (int)(axis < 0 ? axis + rank : axis);
	return true;
}

void
narrow(const struct tfl_tensor *t, void *data, const int32_t *v)
{
	size_t n = (size_t)tfl_elements(t);
	switch (t->type) {
	case TFL_INT8:
		for (size_t i = 0; i < n; i++)
			((int8_t *)data)[i] = (int8_t)v[i];
		break;
	case TFL_UINT8:
	case TFL_BOOL:
		for (size_t i = 0; i < n; i++)
			((uint8_t *)data)[i] = (uint8_t)v[i];
		break;
	case TFL_INT16:
		for (size_t i = 0; i < n; i++)
			((int16_t *)data)[i] = (int16_t)v[i];
		break;
	default:
		memcpy(data, v, n * sizeof(*v));
	}
}

int32_t *
call_widen(struct call *c, int k)
{
	if (c->check)
		return anew(c->a, int32_t, 1);
	const struct tfl_tensor *t = call_in(c, k);
	const void *data = c->io->in[k];
	size_t n = (size_t)tfl_elements(t);
	int32_t *v = anew(c->a, int32_t, n);
	switch (t->type) {
	case TFL_INT8:
		for (size_t i = 0; i < n; i++)
			v[i] = ((const int8_t *)data)[i]; /* int8 is a number here, no character: NOLINT */
		break;
	case TFL_UINT8:
	case TFL_BOOL:
		for (size_t i = 0; i < n; i++)
			v[i] = ((const uint8_t *)data)[i];
		break;
	case TFL_INT16:
		for (size_t i = 0; i < n; i++) {
			int16_t x; /* a constant may have any address */
			memcpy(&x, (const uint8_t *)data + 2 * i, sizeof(x));
			v[i] = x;
		}
		break;
	default:
		memcpy(v, data, n * sizeof(*v));
	}
	return v;
}

void
call_narrow(struct call *c, int k, const int32_t *v)
{
	if (!c->check)
		narrow(call_out(c, k), c->io->out[k], v);
}

const int64_t *
call_indices(struct call *c, int k, const char *role, int64_t *n)
{
	const struct tfl_tensor *t = call_in(c, k);
	if (!call_type(c, t, role, T_I32 | T_I64))
		return NULL;
	if (!c->io->in[k]) {
		(void)call_err(c, "%s are not constant", role);
		return NULL;
	}
	*n = tfl_elements(t);
	int64_t *v = anew(c->a, int64_t, (size_t)*n);
	const uint8_t *from = c->io->in[k]; /* any alignment */
	if (t->type == TFL_INT64)
		memcpy(v, from, (size_t)*n * sizeof(*v));
	else
		for (int64_t i = 0; i < *n; i++) {
			int32_t x;
			memcpy(&x, from + 4 * i, sizeof(x));
			v[i] = x;
		}
	return v;
}

bool
call_affine(struct call *c, const struct tfl_tensor *t, const char *role,
	    struct affine *out)
{
	const struct tfl_quant *q = &t->quant;
	if (q->n_scale != 1 || q->n_zero > 1 || q->other)
		return call_err(c,
				"%s (%s) has %d scales and %d zero points, "
				"needs one of each",
				role, t->name, q->n_scale, q->n_zero);
	int64_t zero = q->n_zero ? q->zero[0] : 0;
	if (!isfinite(q->scale[0]) || q->scale[0] <= 0)
		return call_err(c, "%s (%s) has the scale %g", role, t->name,
				(double)q->scale[0]);
	if (zero < type_min(t->type) || zero > type_max(t->type))
		return call_err(c, "%s (%s) has the zero point %lld", role,
				t->name, (long long)zero);
	*out = (struct affine){ .scale = q->scale[0], .zero = (int32_t)zero };
	return true;
}

bool
call_same_quant(struct call *c, const struct tfl_tensor *a,
		const struct tfl_tensor *b)
{
	const struct tfl_quant *p = &a->quant, *q = &b->quant;
	if (!p->n_scale && !q->n_scale)
		return true;
	struct affine x, y;
	if (!call_affine(c, a, "input", &x) || !call_affine(c, b, "output", &y))
		return false;
	return (x.scale == y.scale && x.zero == y.zero) ||
	       call_err(c, "quantizations of %s and %s differ", a->name,
			b->name);
}

bool
call_mult(struct call *c, double m, struct fixed_mult *out)
{
	*out = fixed_quantize(m);
	return (isfinite(m) && out->exp <= 30) ||
	       call_err(c, "scales give the multiplier %g, which is too large",
			m);
}

int64_t
type_width(int type)
{
	return (int64_t)type_max(type) - type_min(type);
}

bool
call_mult_of(struct call *c, double m, int64_t most, struct fixed_mult *out)
{
	if (!call_mult(c, m, out))
		return false;
	return out->exp <= 0 || most <= INT32_MAX >> out->exp ||
	       call_err(c, "scales give the multiplier %g, which values of %lld "
			"overflow", m, (long long)most);
}

int32_t
wide_mbqm(int64_t acc, struct fixed_mult m)
{
	const int64_t limit = (int64_t)1 << 47;
	return fixed_mbqm64(acc > limit	   ? limit
			    : acc < -limit ? -limit
					   : acc,
			    m);
}

bool
call_range(struct call *c, int64_t activation, const struct tfl_tensor *t,
	   struct affine q, struct range *out)
{
	static const float lo[] = { [TFL_ACT_RELU] = 0,
				    [TFL_ACT_RELU6] = 0,
				    [TFL_ACT_RELU_N1_TO_1] = -1 };
	static const float hi[] = {
		[TFL_ACT_RELU6] = 6, [TFL_ACT_RELU_N1_TO_1] = 1
	};
	*out =
	    (struct range){ .lo = type_min(t->type), .hi = type_max(t->type) };
	if (activation == TFL_ACT_NONE)
		return true;
	c->mismatch |= activation < 0 || activation > TFL_ACT_SIGN_BIT;
	if (activation < 0 || activation > TFL_ACT_RELU6)
		return call_err(c, "fused activation %lld is not supported",
				(long long)activation);
	double low = roundf(lo[activation] / q.scale) + (double)q.zero;
	out->lo = (int32_t)fmin(fmax(low, out->lo), out->hi);
	if (activation == TFL_ACT_RELU)
		return true;
	double high = roundf(hi[activation] / q.scale) + (double)q.zero;
	out->hi = (int32_t)fmin(fmax(high, out->lo), out->hi);
	return true;
}
