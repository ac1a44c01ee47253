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

/* Does fetching slice i save neither cycles nor time of the memory of constants? */
static bool
is_useless(const struct sched *s, const struct plan *p, int i)
{
	const struct weight_slice *u = &p->slice[i];
	double flash = 0;
	if (slice_worth(p, i) > 0)
		return false;
	for (int k = u->first; k <= u->last; k++)
		flash += p->kernel[k].slice == i ? constants_busy(s, &p->kernel[k], IN_PLACE) : 0;
	return flash <= weights_transfer(s, slice_bytes(u)) * transfer_share(s);
}

void
leave_useless(const struct sched *s, struct plan *p)
{
	struct decisions *d = &p->decided;
	if (!d->in_place)
		d->in_place = anew(p->a, bool, p->n_slices + 1);
	d->n_slices = p->n_slices;
	for (size_t i = 0; i < p->n_slices; i++)
		decide_slice(p, i, is_useless(s, p, (int)i));
}
