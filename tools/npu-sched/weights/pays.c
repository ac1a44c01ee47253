/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which part of a weight slice is worth fetching, by the clocks of the walk. */
#include "walk.h"

#include <math.h>

bool
may_be_apart(const struct walk *w, int slice)
{
	const struct plan *p = w->p;
	return has_long_queue(w->s) &&
	       isfinite(p->kernel[p->slice[slice].first].cost[SCALES_FETCHED]);
}

/* The time at which a transfer can begin to move bytes, if the front end starts it at t. */
static double
transfer_start(const struct walk *w, double t)
{
	return max_f64(t, w->td);
}

/*
 * The time at which all uses of a slice have ended, for each enum held.  The memory of constants
 * has then been busy for the transfer, or for the reads in place: the time is no earlier.
 */
static void
end_times_of_uses(const struct walk *w, int slice, double t, double begin, double end[HELDS])
{
	const struct weight_slice *u = &w->p->slice[slice];
	double start = transfer_start(w, t), busy[HELDS] = { 0 };
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		if (h != IN_PLACE)
			busy[h] = weights_transfer(w->s, held_bytes(u, h)) * transfer_share(w->s);
		double arrival = h == IN_PLACE ? begin
				 : start + weights_transfer(w->s, held_bytes(u, h));
		end[h] = max_f64(begin, arrival);
	}
	for (int i = u->first; i <= u->last; i++) {
		const struct kernel *k = &w->p->kernel[i];
		for (enum held h = IN_PLACE; h < HELDS && k->slice == slice; h++) {
			end[h] += k->cost[h];
			busy[h] += constants_busy(w->s, k, h);
		}
	}
	for (enum held h = IN_PLACE; h < HELDS; h++)
		end[h] = max_f64(end[h], w->flash + busy[h]);
}

enum held
goal_of(const struct walk *w, int slice, double t, double begin)
{
	double end[HELDS];
	if (!may_be_apart(w, slice))
		return FETCHED;
	end_times_of_uses(w, slice, t, begin, end);
	return end[SCALES_FETCHED] > end[FETCHED] ? FETCHED : SCALES_FETCHED;
}

/* The time at which the first use of the slice behind `slice` ends, if all uses of that end at
 * `end` and the DMA engine is free at `dma`. */
static double
end_of_next(const struct walk *w, int slice, double end, double dma)
{
	const struct plan *p = w->p;
	const struct weight_slice *u = &p->slice[slice], *next = u + 1;
	const double *cost = p->kernel[next->first].cost;
	end += w->begin[next->first] - w->begin[u->last + 1];
	dma += weights_transfer(w->s, slice_bytes(next));
	return fmin(end + cost[IN_PLACE], max_f64(end, dma) + cost[FETCHED]);
}

/*
 * Is the slice behind `slice` used sooner if `slice` stays in place, because its transfer keeps
 * the DMA engine for longer than it saves?
 */
static bool
delays_next(const struct walk *w, int slice, enum held held, double t, const double end[HELDS])
{
	const struct plan *p = w->p;
	const struct weight_slice *u = &p->slice[slice];
	if (slice + 1 == (int)p->n_slices || p->decided.in_place[slice + 1] || u[1].first <= u->last ||
	    u[1].first >= w->node_end)
		return false;
	const double dma = transfer_start(w, t);
	const double after = dma + weights_transfer(w->s, held_bytes(u, held));
	return end_of_next(w, slice, end[IN_PLACE], dma) < end_of_next(w, slice, end[held], after);
}

bool
fetching_pays(const struct walk *w, int slice, enum held held, double t, double begin)
{
	double end[HELDS];
	end_times_of_uses(w, slice, t, begin, end);
	return end[held] < end[IN_PLACE] && !delays_next(w, slice, held, t, end);
}

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
