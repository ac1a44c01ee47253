/* SPDX-License-Identifier: Apache-2.0 */
/* AVG_POOL2D, MAX_POOL2D. */
#include "part.h"

#include "lower/padding.h"

enum { MAX_EXTENT = 65536 };

struct low_pool
pool_window(const struct part *p, const struct tosa_op *op)
{
	const struct tosa_tensor *x = tosa_in(p->t, op, 0), *y = tosa_out(p->t, op);
	struct tosa_window k = tosa_window_of(p->t, op);
	bool average = op->code == TOSA_AVG_POOL2D;
	struct low_pool q = { .average = average,
			      .zero = average ? (int32_t)tosa_zero_of(p->t, op, 1) : 0 };
	for (int i = 0; i < 2; i++)
		q.axis[i] = (struct low_axis){
			.in = x->dim[1 + i], .out = y->dim[1 + i], .kernel = k.kernel[i],
			.stride = k.stride[i], .before = k.before[i], .after = k.after[i] };
	return q;
}

const char *
lower_pool(struct part *p, const struct tosa_op *op)
{
	struct low_pool q = pool_window(p, op);
	const struct tosa_op *pad = folded_pad(p, op->in[0]);
	if (pad) {
		const struct low_borders b = borders_of(p, pad);
		(void)low_pool_takes_pad(&q, &b, INT64_MAX); /* it was compared before */
	}
	struct nd v = value_of(p, (pad ? pad : op)->in[0]);
	struct tail t = tail_of(p, op->out[0], 0);
	struct nd out = result_view(p, t.out);
	if (q.average)
		t.zero = tosa_zero_of(p->t, op, 2);
	for (int i = 0; i < 4; i++)
		if (v.dim[i] > MAX_EXTENT)
			return "a dimension of more than 65536";
	const char *why = low_pool_check(p->a, &q, v.dim[0]);
	if (why)
		return why;
	struct nd in = readable_fm(p, &v), dest = writable_fm(p, &out);
	struct low_end end = tail_end(p, &t);
	low_pool(p->l, &q, &in, &dest, &end);
	nd_deliver(p->l, &dest, &out);
	return NULL;
}
