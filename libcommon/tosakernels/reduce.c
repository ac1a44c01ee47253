/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of one axis, and ARGMAX. */
#include "tosakernels/tosakernels.h"

/* number of elements before, along and after the axis */
struct axes {
	int64_t outer, n, inner;
};

static struct axes
axes_of(const struct tosa_run *r)
{
	const struct tosa_tensor *x = tosa_in(r->g, r->op, 0);
	int64_t axis = tosa_axis_of(r->op);
	struct axes a = { .outer = 1, .n = x->dim[axis], .inner = 1 };
	for (int64_t k = 0; k < x->rank; k++)
		if (k != axis)
			*(k < axis ? &a.outer : &a.inner) *= x->dim[k];
	return a;
}

static int64_t
reduce_two(struct tosa_run *r, int64_t a, int64_t b)
{
	switch (r->op->code) {
	case TOSA_REDUCE_ALL:
		return a && b;
	case TOSA_REDUCE_ANY:
		return a || b;
	case TOSA_REDUCE_MAX:
		return a > b ? a : b;
	case TOSA_REDUCE_MIN:
		return a < b ? a : b;
	default:
		break;
	}
	if (a + b < INT32_MIN || a + b > INT32_MAX)
		tosa_warn(r, "the sum %lld does not fit i32", (long long)(a + b));
	return a + b;
}

void
tosa_run_reduce(struct tosa_run *r)
{
	struct axes x = axes_of(r);
	for (int64_t i = 0; i < x.outer * x.inner; i++) {
		const int64_t *p = r->in[0] + i / x.inner * x.n * x.inner + i % x.inner;
		int64_t v = p[0];
		for (int64_t k = 1; k < x.n; k++)
			v = reduce_two(r, v, p[k * x.inner]);
		r->out[i] = v;
	}
}

/* The first maximum wins a tie. */
void
tosa_run_argmax(struct tosa_run *r)
{
	struct axes x = axes_of(r);
	for (int64_t i = 0; i < x.outer * x.inner; i++) {
		const int64_t *p = r->in[0] + i / x.inner * x.n * x.inner + i % x.inner;
		int64_t best = 0;
		for (int64_t k = 1; k < x.n; k++)
			if (p[k * x.inner] > p[best * x.inner])
				best = k;
		r->out[i] = best;
	}
}
