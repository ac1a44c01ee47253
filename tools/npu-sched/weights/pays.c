/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which part of a weight slice is worth fetching, by the clocks of the walk. */
#include "walk.h"

#include <math.h>

/* Can it help to fetch the scales alone?  Their cost is finite only if it can. */
static bool
is_separable(const struct walk *w, int slice)
{
	return isfinite(w->p->kernel[w->p->slice[slice].first].cost[SCALES_FETCHED]);
}

bool
may_be_apart(const struct walk *w, int slice)
{
	return w->strategy >= SCALES_ELSE && is_separable(w, slice);
}

/* The time at which all uses of a slice have ended, for each enum held. */
static void
end_times_of_uses(const struct walk *w, int slice, double t, double begin, double end[HELDS])
{
	const struct weight_slice *u = &w->p->slice[slice];
	double start = max_f64(max_f64(t, w->td), w->flash);
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		double arrival = h == IN_PLACE ? begin
				 : start + weights_transfer(w->s, held_bytes(u, h));
		end[h] = max_f64(begin, arrival);
	}
	for (int i = u->first; i <= u->last; i++) {
		const struct kernel *k = &w->p->kernel[i];
		for (enum held h = IN_PLACE; h < HELDS && k->slice == slice; h++)
			end[h] += k->cost[h];
	}
}

enum held
goal_of(const struct walk *w, int slice, double t, double begin)
{
	double end[HELDS];
	if (w->strategy != SCALES_FIRST || !is_separable(w, slice))
		return FETCHED;
	end_times_of_uses(w, slice, t, begin, end);
	return end[SCALES_FETCHED] <= end[FETCHED] ? SCALES_FETCHED : FETCHED;
}

bool
fetching_pays(struct walk *w, int slice, enum held held, double t, double begin)
{
	double end[HELDS];
	end_times_of_uses(w, slice, t, begin, end);
	if (end[held] >= end[IN_PLACE])
		return false;
	if (held == SCALES_FETCHED)
		return true;
	double arrival = max_f64(max_f64(t, w->td), w->flash) +
			 weights_transfer(w->s, slice_bytes(&w->p->slice[slice]));
	double wait = max_f64(arrival - begin, 0);
	w->saves[NO_WAITS] += has_long_queue(w->s) ? wait : 0;
	return w->strategy != NO_WAITS || wait == 0;
}

void
note_savings(struct walk *w, int slice)
{
	const struct weight_slice *u = &w->p->slice[slice];
	if (u->held == SCALES_FETCHED || !is_separable(w, slice))
		return;
	double cycles = 0;
	if (u->held == FETCHED)
		cycles = weights_transfer(w->s, slice_bytes(u)) -
			 weights_transfer(w->s, held_bytes(u, SCALES_FETCHED));
	for (int i = u->first; i <= u->last && u->held == IN_PLACE; i++) {
		const struct kernel *k = &w->p->kernel[i];
		if (k->slice == slice)
			cycles += k->cost[IN_PLACE] - k->cost[SCALES_FETCHED];
	}
	w->saves[SCALES_FIRST] += cycles;
	w->saves[SCALES_ELSE] += cycles;
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
