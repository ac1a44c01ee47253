/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two outputs: on which items their answers agree. */
#include "npu-eval.h"

#include <math.h>

struct agreement
find_agreement(struct arena *a, const struct answers *all, int first, int second)
{
	const struct answers *x = &all[first], *y = &all[second];
	size_t n = x->v->n;
	struct agreement r = { .first = first, .second = second,
			       .parted = anew(a, size_t, n) };
	for (size_t i = 0; i < n; i++) {
		if (x->answer[i] == y->answer[i])
			r.equal++;
		else
			r.parted[r.n_parted++] = i;
		for (size_t k = 0; k < x->v->each && k < y->v->each; k++)
			r.largest = fmax(r.largest, fabs(value_at(x->v, i, k) -
							 value_at(y->v, i, k)));
	}
	return r;
}
