/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan with exact sizes to transfers and addresses below a limit. */
#include "search.h"

struct plan *
plan_new(struct sched *s)
{
	struct arena *a = arena_open();
	struct plan *p = anew(a, struct plan, 1);
	size_t n = (size_t)s->n_ops + 1;
	p->a = a;
	p->rolling = anew(a, int32_t, n);
	p->band = anew(a, int32_t, n);
	p->over = anew(a, struct g_tensor *, n);
	p->lead = anew(a, int64_t, n);
	p->slices = anew(a, struct g_list, n);
	return p;
}

void
plan_close(struct plan *p)
{
	if (p)
		arena_close(p->a);
}

/*
 * Where the addresses went over the limit, weights get less room: as many bytes
 * less, while the rectangle that sticks out is live.
 */
static void
take_room(struct sched *s, struct plan *p, int64_t limit)
{
	int place = limited_place(s);
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		int64_t over = r->at + r->bytes - limit;
		if (r->place != place || over <= 0)
			continue;
		int end = kernel_at(s, p, r->hi + 1);
		for (int k = kernel_at(s, p, r->lo); k < end; k++)
			p->taken[k] = over > p->taken[k] ? over : p->taken[k];
	}
}

/*
 * Fetches and addresses below the limit.  As planned by the sum of bytes alone,
 * if that can be placed, else where maps that lie already leave room; or with
 * room taken back where it could not be placed, if that ends earlier.
 */
bool
plan_fit(struct sched *s, struct plan *p, int64_t limit)
{
	enum { TRIES = 6 };
	p->taken = anew(p->a, int64_t, p->n_kernels + 1);
	int64_t maps = pack_maps(s, p);
	double between = 0;
	for (int i = 0; i < TRIES; i++) {
		plan_fetches(s, p, limit);
		if (between > 0 && p->cycles >= between)
			break;
		place_rects(s, p, QUICK);
		if (!plan_fits(s, p, limit))
			place_rects(s, p, TRY);
		if (plan_fits(s, p, limit))
			return true;
		take_room(s, p, limit);
		if (between > 0 || maps > limit)
			continue;
		int64_t *taken = p->taken;
		p->taken = anew(p->a, int64_t, p->n_kernels + 1);
		plan_fetches_between(s, p, limit);
		between = p->cycles;
		p->taken = taken;
	}
	if (maps > limit)
		return false;
	memset(p->taken, 0, p->n_kernels * sizeof(*p->taken));
	plan_fetches_between(s, p, limit);
	place_given(s, p);
	return plan_fits(s, p, limit);
}

/*
 * Without a limit the fastest plan may hold more weights than it needs: the
 * least memory with which it stays as fast within half a percent.
 */
void
plan_trim(struct sched *s, struct plan *p)
{
	enum { HALVINGS = 12, CLOSE = 1024 };
	double cycles = p->cycles * 1.005;
	int64_t hi = p->need, lo = 0;
	for (int i = 0; i < HALVINGS && hi - lo > CLOSE; i++) {
		int64_t mid = lo + (hi - lo) / 2;
		plan_fetches(s, p, mid);
		if (p->need <= mid && p->cycles <= cycles)
			hi = p->need;
		else
			lo = mid;
	}
	plan_fetches(s, p, hi);
	pack_maps(s, p);
	place_rects(s, p, LAST);
}
