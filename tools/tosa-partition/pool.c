/* SPDX-License-Identifier: Apache-2.0 */
/* AVG_POOL2D, MAX_POOL2D. */
#include "part.h"

#include "lower/pool.h"

enum { MAX_OPS = 2048, MAX_EXTENT = 65536 };

struct pool {
	struct low_axis axis[2];
	struct nd in, out;
	bool average;
};

static bool
run_spans(struct part *p, const struct pool *q, const struct nd *in, const struct nd *out,
	  const struct low_span *y, const struct low_span *x, const struct tail *t, int32_t zero)
{
	struct nd from = *in, to = *out;
	struct g_operand ifm, ofm;
	nd_slice(&from, 1, y->in, y->length, 1);
	nd_slice(&from, 2, x->in, x->length, 1);
	nd_slice(&to, 1, y->out, y->n, 1);
	nd_slice(&to, 2, x->out, x->n, 1);
	if (!nd_operand(&from, &ifm) || !nd_operand(&to, &ofm))
		return false;
	struct g_op *op = low_pool(p->l, q->average, y, x, ifm, ofm);
	tail_finish(p, t, op);
	op_zeros(op, zero, (int32_t)t->zero);
	return true;
}

static const char *
run(struct part *p, const struct pool *q, const struct tail *t, int32_t zero)
{
	struct low_span *y = anew(p->a, struct low_span, (size_t)q->out.dim[1]);
	struct low_span *x = anew(p->a, struct low_span, (size_t)q->out.dim[2]);
	bool plain = low_pool_is_plain(q->axis, q->average);
	int ny = low_pool_spans(&q->axis[0], plain, y);
	int nx = low_pool_spans(&q->axis[1], plain, x);
	if (ny * nx * q->in.dim[0] > MAX_OPS)
		return say(p, "it would take %lld operations",
			   (long long)(ny * nx * q->in.dim[0]));
	for (int64_t b = 0; b < q->in.dim[0]; b++) {
		struct nd from = q->in, to = q->out;
		nd_slice(&from, 0, b, 1, 1);
		nd_slice(&to, 0, b, 1, 1);
		for (int i = 0; i < ny; i++)
			for (int k = 0; k < nx; k++)
				if (!run_spans(p, q, &from, &to, &y[i], &x[k], t, zero))
					return "its tensors are parts of others";
	}
	return NULL;
}

static const char *
lower_pool(struct part *p, const struct tosa_op *op, bool average)
{
	struct tosa_window k = tosa_window_of(p->t, op);
	struct pool q = { .average = average };
	struct nd v = value_of(p, op->in[0]);
	struct tail t = tail_of(p, op->out[0], 0);
	struct nd out = result_place(p, t.out);
	int32_t zero = average ? (int32_t)tosa_zero_of(p->t, op, 1) : 0;
	if (average)
		t.zero = tosa_zero_of(p->t, op, 2);
	if (k.kernel[0] > LOW_POOL_ROWS ||
	    (int64_t)k.kernel[0] * k.kernel[1] > LOW_POOL_WINDOW)
		return say(p, "a window of %dx%d, the NPU takes 256 rows and 65536 "
			   "elements", k.kernel[0], k.kernel[1]);
	for (int i = 0; i < 4; i++)
		if (v.dim[i] > MAX_EXTENT)
			return "a dimension of more than 65536";
	q.in = readable_map(p, &v);
	q.out = room_map(p, &out);
	for (int i = 0; i < 2; i++)
		q.axis[i] = (struct low_axis){
			.in = (int32_t)q.in.dim[1 + i], .out = (int32_t)q.out.dim[1 + i],
			.kernel = k.kernel[i], .stride = k.stride[i],
			.before = k.before[i], .after = k.after[i] };
	const char *why = run(p, &q, &t, zero);
	deliver_map(p, &q.out, &out);
	return why;
}

const char *
lower_avg_pool(struct part *p, const struct tosa_op *op)
{
	return lower_pool(p, op, true);
}

const char *
lower_max_pool(struct part *p, const struct tosa_op *op)
{
	return lower_pool(p, op, false);
}
