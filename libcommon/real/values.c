/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors and their values in real numbers, for the files of functions. */
#include "real/real.h"

#include "base/little_endian.h"
#include "tflite/tflite.h"

#include <math.h>

bool
is_real(const struct tfl_tensor *t)
{
	bool type = t->type == TFL_INT4 || t->type == TFL_INT8 || t->type == TFL_UINT8 ||
		    t->type == TFL_INT16 || t->type == TFL_INT32 || t->type == TFL_INT64;
	return t->type == TFL_FLOAT32 || (type && t->quant.n_scale > 0);
}

void
real_from_elements(const struct tfl_tensor *t, const void *p, double *out)
{
	const struct tfl_quant *q = &t->quant;
	int64_t n = tfl_elements(t), inner = 1;
	for (int64_t i = 0; t->type == TFL_FLOAT32 && i < n; i++)
		out[i] = (double)load_f32((const uint8_t *)p + i * 4);
	if (t->type == TFL_FLOAT32)
		return;
	for (int d = q->axis + 1; d < t->rank; d++)
		inner *= t->dim[d];
	for (int64_t i = 0; i < n; i++) {
		int64_t c = i / inner;
		int64_t zero = q->n_zero ? q->zero[q->n_zero > 1 ? c % q->n_zero : 0] : 0;
		double scale = (double)q->scale[q->n_scale > 1 ? c % q->n_scale : 0];
		out[i] = scale * (double)(tfl_integer(t->type, p, i) - zero);
	}
}

const struct tfl_tensor *
real_in(const struct real_op *o, int k)
{
	return tfl_input(o->r->g, o->op, k);
}

const struct tfl_tensor *
real_out(const struct real_op *o, int k)
{
	return &o->r->g->tensor[o->op->out[k]];
}

double *
real_x(const struct real_op *o, int k)
{
	return k < o->op->n_in && o->op->in[k] >= 0 ? o->r->value[o->op->in[k]] : NULL;
}

double *
real_y(const struct real_op *o, int k)
{
	return o->r->value[o->op->out[k]];
}

double
real_clamp(double v, int64_t activation)
{
	switch (activation) {
	case TFL_ACT_RELU:
		return fmax(v, 0);
	case TFL_ACT_RELU6:
		return fmin(fmax(v, 0), 6);
	case TFL_ACT_RELU_N1_TO_1:
		return fmin(fmax(v, -1), 1);
	case TFL_ACT_TANH:
		return real_tanh(v);
	default:
		return v;
	}
}

int32_t
real_depth(const struct tfl_tensor *t)
{
	return t->rank ? t->dim[t->rank - 1] : 1;
}

int64_t
real_rows(const struct tfl_tensor *t)
{
	int32_t depth = real_depth(t);
	return depth ? tfl_elements(t) / depth : 0;
}

int64_t
real_broadcast(const struct tfl_tensor *t, const struct tfl_tensor *out, int64_t i, int inner)
{
	int64_t at = 0, step = 1;
	for (int k = t->rank - inner; k < t->rank; k++)
		step *= t->dim[k];
	for (int d = out->rank - 1 - inner, k = t->rank - 1 - inner; d >= 0; d--, k--) {
		if (k >= 0 && t->dim[k] > 1)
			at += i % out->dim[d] * step;
		step *= k >= 0 ? t->dim[k] : 1;
		i /= out->dim[d];
	}
	return at;
}

bool
real_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n)
{
	if (!t || !t->data.p || (t->type != TFL_INT32 && t->type != TFL_INT64) ||
	    tfl_elements(t) > max)
		return false;
	*n = (int)tfl_elements(t);
	for (int i = 0; i < *n; i++)
		out[i] = tfl_integer(t->type, t->data.p, i);
	return true;
}
