/* SPDX-License-Identifier: Apache-2.0 */
/* Values weight slices before the walk, and leaves those in place that no walk could use. */
#include "../costs/costs.h"
#include "transfers.h"

double
slice_worth(const struct plan *p, int i)
{
	const struct weight_slice *u = &p->slice[i];
	double saved = 0, held = 1;
	for (int k = u->first; k <= u->last; k++) {
		const double *cost = p->kernel[k].cost;
		if (p->kernel[k].slice == i)
			saved += cost[IN_PLACE] - cost[FETCHED];
		held += cost[FETCHED];
	}
	return saved / ((double)(u->stream_bytes + u->scale_bytes) * held);
}

void
leave_useless(const struct sched *s, struct plan *p)
{
	struct decisions *d = &p->decided;
	if (!d->in_place)
		d->in_place = anew(p->a, bool, p->n_slices + 1);
	d->n_slices = p->n_slices;
	for (int i = 0; i < (int)p->n_slices; i++) {
		/* fetching may save cycles, or time of the memory of constants */
		const struct weight_slice *u = &p->slice[i];
		const bool saves = slice_worth(p, i) > 0;
		double flash = 0;
		for (int k = u->first; !saves && k <= u->last; k++)
			flash += p->kernel[k].slice == i
					 ? constants_busy(s, &p->kernel[k], IN_PLACE) : 0;
		decide_slice(p, (size_t)i, !saves && flash <= weights_transfer(s, slice_bytes(u)) *
							      transfer_share(s));
	}
}
