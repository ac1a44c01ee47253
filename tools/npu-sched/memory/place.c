/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns addresses to the rectangles of a plan, with a budget of work. */
#include "pack.h"

#include <string.h>

/*
 * Budgets in comparisons of two rectangles, to be multiplied by effort: while many plans are
 * compared, while few are, for the chosen plan, and for the feature maps of a plan alone.
 * `each` and MAPS_EACH are for each group.
 */
static const uint64_t budgets[] = { [QUICK] = 20000, [TRY] = 100000, [LAST] = 1000000 };
static const uint64_t each[] = { [QUICK] = 200, [TRY] = 2000, [LAST] = 2000 };
enum { MAPS_EACH = 1000, MAPS_BUDGET = 100000 };

/* The budget grows with the number of groups up to `most`, as few groups have few orders. */
static uint64_t
budget_of(const struct sched *s, const struct packing *k, uint64_t share, uint64_t most)
{
	uint64_t b = share * k->n;
	const unsigned step = s->effort_step == COARSE_STEP ? 0 : (unsigned)s->effort_step;
	return (b < most ? b : most) * (EFFORTS * (1 + step));
}

static bool
any_placed(const struct plan *p, int place)
{
	for (size_t i = 0; i < p->n_rects; i++)
		if (is_placed(&p->rect[i], place))
			return true;
	return false;
}

static void
place(struct sched *s, struct plan *p, int place, enum care care, int64_t most)
{
	p->peak[place] = p->bound[place] = 0;
	if (!any_placed(p, place))
		return;
	struct packing k = packing_of(p, p->n_rects, place);
	pack(&k, budget_of(s, &k, each[care], budgets[care]), care != LAST, most);
	p->peak[place] = k.best;
	p->bound[place] = k.bound;
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		if (is_placed(r, place))
			r->at = k.best_at[k.of[r->group]] + r->offset;
	}
	arena_close(k.a);
}

static void
copy_addresses(const struct packing *k, int place, int64_t *at)
{
	for (size_t i = 0; i < k->n_rects; i++) {
		const struct rect *r = &k->p->rect[i];
		if (is_placed(r, place))
			at[i] = k->best_at[k->of[r->group]] + r->offset;
	}
}

/* The memory area that is not limited. */
static int
other_place(const struct sched *s)
{
	return limited_place(s) == PLACE_ARENA ? PLACE_CACHE : PLACE_ARENA;
}

struct packed_maps
pack_maps(struct sched *s, struct arena *a, struct plan *p)
{
	struct packed_maps m = { .peak = 0 };
	m.rank = anew(a, int, p->n_maps + 1);
	m.at = anew(a, int64_t, p->n_maps + 1);
	struct packing k = packing_of(p, p->n_maps, limited_place(s));
	pack(&k, budget_of(s, &k, MAPS_EACH, MAPS_BUDGET), false, INT64_MAX);
	m.peak = k.best;
	for (size_t i = 0; i < p->n_maps; i++)
		m.rank[i] = (int)p->n_maps;
	for (size_t i = 0; i < k.n; i++)
		m.rank[k.group[k.best_order[i]].first] = (int)i;
	copy_addresses(&k, limited_place(s), m.at);
	arena_close(k.a);
	if (!any_placed(p, other_place(s)))
		return m;
	k = packing_of(p, p->n_maps, other_place(s));
	pack(&k, budget_of(s, &k, each[TRY], budgets[TRY]), true, INT64_MAX);
	m.beside = k.best;
	m.beside_bound = k.bound;
	copy_addresses(&k, other_place(s), m.at);
	arena_close(k.a);
	return m;
}

void
place_maps(const struct sched *s, struct plan *p, const struct packed_maps *m)
{
	size_t n = p->n_maps;
	int other = other_place(s);
	p->map_rank = anew(p->a, int, n + p->n_slices + 1);
	p->map_at = anew(p->a, int64_t, n + 1);
	memcpy(p->map_rank, m->rank, n * sizeof(*m->rank));
	memcpy(p->map_at, m->at, n * sizeof(*m->at));
	for (size_t i = n; i < n + p->n_slices; i++)
		p->map_rank[i] = (int)n;
	for (size_t i = 0; i < n; i++)
		if (is_placed(&p->rect[i], other))
			p->rect[i].at = m->at[i];
	p->peak[other] = m->beside;
	p->bound[other] = m->beside_bound;
	p->beside_placed = true;
	p->beside = TRY;
}

/* The other area holds only feature maps, which transfers do not change. */
void
place_beside(struct sched *s, struct plan *p, enum care care)
{
	if (!p->beside_placed || care != p->beside)
		place(s, p, other_place(s), care, INT64_MAX);
	p->beside_placed = true;
	p->beside = care;
}

void
find_address_peak(struct sched *s, struct plan *p)
{
	int limited_area = limited_place(s);
	p->bound[limited_area] = 0;
	p->peak[limited_area] = 0;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		if (is_placed(r, limited_area) && r->at + r->bytes > p->peak[limited_area])
			p->peak[limited_area] = r->at + r->bytes;
	}
}

void
find_bounds(struct plan *p)
{
	for (int place = 0; place < PLACES; place++) {
		if (p->bound[place] || !any_placed(p, place))
			continue;
		struct packing k = packing_of(p, p->n_rects, place);
		p->bound[place] = k.bound;
		arena_close(k.a);
	}
}

void
place_rects(struct sched *s, struct plan *p, enum care care, int64_t most)
{
	place(s, p, limited_place(s), care, most);
}
