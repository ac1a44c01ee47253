/* SPDX-License-Identifier: Apache-2.0 */
/* AVG_POOL2D, MAX_POOL2D. */
#include "part.h"

#include "lower/pool.h"

enum { MAX_EXTENT = 65536 };

const char *
lower_pool(struct part *p, const struct tosa_op *op)
{
	bool average = op->code == TOSA_AVG_POOL2D;
	struct tosa_window k = tosa_window_of(p->t, op);
	struct low_pool q = { .average = average,
			      .zero = average ? (int32_t)tosa_zero_of(p->t, op, 1) : 0 };
	struct nd v = value_of(p, op->in[0]);
	struct tail t = tail_of(p, op->out[0], 0);
	struct nd out = result_view(p, t.out);
	if (average)
		t.zero = tosa_zero_of(p->t, op, 2);
	for (int i = 0; i < 4; i++)
		if (v.dim[i] > MAX_EXTENT)
			return "a dimension of more than 65536";
	for (int i = 0; i < 2; i++)
		q.axis[i] = (struct low_axis){
			.in = (int32_t)v.dim[1 + i], .out = (int32_t)out.dim[1 + i],
			.kernel = k.kernel[i], .stride = k.stride[i],
			.before = k.before[i], .after = k.after[i] };
	const char *why = low_pool_check(p->a, &q, v.dim[0]);
	if (why)
		return why;
	struct nd in = readable_fm(p, &v), dest = writable_fm(p, &out);
	struct low_end end = tail_end(p, &t);
	low_pool(p->l, &q, &in, &dest, &end);
	nd_deliver(p->l, &dest, &out);
	return NULL;
}
