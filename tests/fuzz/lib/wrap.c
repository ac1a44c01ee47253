/* SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include "base/little_endian.h"
#include "sim/sim.h"
#include "tflite/tflite.h"

#include <math.h>
#include <stdlib.h>

struct frame {
	const struct tfl_subgraph *g;
	struct sim *s;
};

static int64_t
value(const struct frame *f, int tensor, int64_t i)
{
	return (int32_t)load_le32((const uint8_t *)sim_tensor(f->s, tensor) + 4 * i);
}

static bool
fits(int64_t v)
{
	return v >= INT32_MIN && v <= INT32_MAX;
}

/* the operand's element for element i of the result, with NumPy's broadcasting */
static int64_t
broadcast_index(const struct tfl_tensor *from, const struct tfl_tensor *to, int64_t i)
{
	int64_t at = 0, step = 1;
	for (int k = 1; k <= to->rank; k++) {
		int32_t n = to->dim[to->rank - k];
		int32_t m = k <= from->rank ? from->dim[from->rank - k] : 1;
		at += m == 1 ? 0 : i % n * step;
		step *= m;
		i /= n;
	}
	return at;
}

static int64_t
exact(int code, int64_t a, int64_t b)
{
	int64_t d = a - b;
	switch (code) {
	case TFL_ADD:
		return a + b;
	case TFL_MUL:
		return a * b;
	case TFL_SQUARED_DIFFERENCE:
		return fits(d) ? d * d : d;
	default:
		return d;
	}
}

static bool
binary_wraps(const struct frame *f, const struct tfl_op *op)
{
	const struct tfl_tensor *t = f->g->tensor, *out = &t[op->out[0]];
	for (int64_t i = 0; i < tfl_elements(out); i++) {
		int64_t v[2];
		for (int k = 0; k < 2; k++)
			v[k] = value(f, op->in[k],
				     broadcast_index(&t[op->in[k]], out, i));
		if (!fits(exact(op->code, v[0], v[1])))
			return true;
	}
	return false;
}

/* all elements count, over any axes: partial sums may be any */
static bool
sum_wraps(const struct frame *f, const struct tfl_op *op)
{
	int64_t sum = 0, n = tfl_elements(&f->g->tensor[op->in[0]]);
	for (int64_t i = 0; i < n; i++)
		sum += llabs(value(f, op->in[0], i));
	return !fits(sum);
}

/* scaled values are shifted up before they saturate */
static bool
rescaling_wraps(const struct frame *f, const struct tfl_op *op)
{
	const struct tfl_tensor *in = &f->g->tensor[op->in[0]];
	const struct tfl_tensor *out = &f->g->tensor[op->out[0]];
	double ratio = (double)in->quant.scale[0] / (double)out->quant.scale[0];
	int64_t zero = in->quant.n_zero ? in->quant.zero[0] : 0;
	for (int64_t i = 0; i < tfl_elements(in); i++) {
		int64_t v = value(f, op->in[0], i) - zero;
		/* twice: the multiplier is a power of two times 1/2 to 1 */
		if (!fits(v) || fabs((double)v) * fmax(1, 2 * ratio) > INT32_MAX)
			return true;
	}
	return false;
}

static bool
op_wraps(const struct frame *f, const struct tfl_op *op)
{
	if (!op->n_in || op->in[0] < 0 || f->g->tensor[op->in[0]].type != TFL_INT32)
		return false;
	switch (op->code) {
	case TFL_ADD: case TFL_SUB: case TFL_MUL: case TFL_SQUARED_DIFFERENCE:
		return binary_wraps(f, op);
	case TFL_SUM: case TFL_NEG:
		return sum_wraps(f, op);
	case TFL_QUANTIZE:
		return rescaling_wraps(f, op);
	default:
		return false;
	}
}

bool
model_wraps(struct arena *a, const struct tfl_model *m, const enum sim_values *kinds,
	    size_t n_kinds)
{
	struct err e = { 0 };
	struct frame f = { .g = &m->subgraph[0] };
	uint64_t state = 0;
	if (!sim_open(a, m, &f.s, &e))
		return false;
	for (size_t k = 0; k < n_kinds; k++) {
		for (int i = 0; i < f.g->n_in; i++)
			sim_make_values(kinds[k], &state, &f.g->tensor[f.g->in[i]],
					sim_tensor(f.s, f.g->in[i]));
		if (!sim_invoke(f.s, NULL, &e))
			return false;
		for (int i = 0; i < f.g->n_ops; i++)
			if (op_wraps(&f, &f.g->op[i]))
				return true;
	}
	return false;
}
