/* SPDX-License-Identifier: Apache-2.0 */
/* Which sections and slices a stream gets. */
#include "weights/stream.h"
#include "weights/weights.h"

#include <assert.h>

/*
 * Adds values[begin..end-1] to a plan as one section: a fresh slice, and more
 * of them where there are too many weights for one.
 */
static void
add_section(struct arena *a, struct plan *p, size_t caps[2],
	    const int16_t *values, size_t begin, size_t end,
	    const struct fit *f)
{
	size_t coded = 0;
	bool fresh = true;

	agrow(a, p->palettes, p->n_palettes, &caps[0]);
	p->palettes[p->n_palettes++] = f->palette;
	for (size_t i = begin; i <= end; i++) {
		bool codes = i < end && !(f->palette.runs && values[i] == 0);
		if (i < end && !(codes && coded == WEIGHTS_SLICE_SAFE)) {
			coded += codes;
			continue;
		}
		agrow(a, p->slices, p->n_slices, &caps[1]);
		p->slices[p->n_slices++] = (struct wslice){
			.end = i,
			.fresh = fresh,
			.palette = (uint32_t)p->n_palettes - 1,
			.mode = f->mode,
		};
		fresh = false;
		coded = 1;
	}
}

struct plan
plan_stream(struct arena *a, const int16_t *values, size_t n, int level)
{
	struct plan p = { 0 };
	size_t caps[2] = { 0 };
	struct stats *st = anew(a, struct stats, 1);

	(void)level;
	if (n == 0)
		return p;
	stats_of(st, values, n);
	struct fit f = fit_stats(st);
	add_section(a, &p, caps, values, 0, n, &f);
	return p;
}
