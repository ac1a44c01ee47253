/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares gaps.c (tools/npu-sched/memory/gaps.c) with a brute-force first fit: the
 * lowest free address between the placed feature maps, found byte by byte.  The buffers are
 * those of transfers.  Each buffer is requested for later and later time steps until
 * it fits, and keeps the result of the earlier request.
 */
#include "base/arena.h"
#include "base/fixed.h"

#include "../../tools/npu-sched/memory/memory.h"
#include "drawn.h"

#include <inttypes.h>
#include <stdio.h>

enum { MAPS = 12, BUFFERS = 40, STEPS = 60, LIMIT = 24, CASES = 2000, BYTES = 6 };
/* in one of FEW cases, so many buffers are live that they are in several chunks of gaps.c */
enum { FEW = 100, MANY = 400, WIDE = 600 };

struct lying {
	struct g_range life;
	int64_t at, end;
};

struct memory {
	struct lying v[MAPS + MANY];
	int n;
	int64_t limit;
};

static bool
is_barred(const struct memory *m, struct g_range life, int64_t at, int64_t bytes)
{
	for (int i = 0; i < m->n; i++) {
		const struct lying *x = &m->v[i];
		if (x->life.lo <= life.hi && x->life.hi >= life.lo && x->at < at + bytes &&
		    x->end > at)
			return true;
	}
	return false;
}

/* -1: no address */
static int64_t
lowest(const struct memory *m, struct g_range life, int64_t bytes)
{
	for (int64_t at = 0; at + bytes <= m->limit; at++)
		if (!is_barred(m, life, at, bytes))
			return at;
	return -1;
}

/* maps have any addresses: gaps.c does not check whether they overlap */
static void
draw_maps(struct arena *a, struct plan *p, struct memory *m)
{
	p->rect = anew(a, struct rect, MAPS + 1);
	p->map_at = anew(a, int64_t, MAPS + 1);
	p->n_maps = (size_t)draw(MAPS + 1);
	p->n_slices = MANY;
	for (size_t i = 0; i < p->n_maps; i++) {
		int64_t lo = draw(STEPS);
		struct rect *r = &p->rect[i];
		*r = (struct rect){ .slice = -1, .lo = lo, .hi = lo + draw(STEPS / 4),
				    .place = draw(8) ? PLACE_ARENA : PLACE_CACHE,
				    .bytes = draw(BYTES) };
		p->map_at[i] = draw(m->limit);
		if (r->place == PLACE_ARENA && r->bytes)
			m->v[m->n++] = (struct lying){ { .lo = r->lo, .hi = r->hi },
						       p->map_at[i], p->map_at[i] + r->bytes };
	}
}

/* requests one buffer from `now` on and then for later time steps, as the planner
 * does */
static bool
check_buffer(struct gaps *h, struct memory *m, int64_t now, int number)
{
	const int64_t bytes = 1 + draw(BYTES), last = now + draw(m->limit == WIDE ? 3 * STEPS : STEPS / 4);
	for (int64_t lo = now; lo <= last; lo += 1 + draw(3)) {
		struct g_range life = { .lo = lo, .hi = last };
		int64_t at = -1, want = lowest(m, life, bytes);
		bool found = gaps_find(h, life, bytes, &at);
		if (found != (want >= 0) || (found && at != want)) {
			printf("case %d: %" PRId64 " bytes, steps %" PRId64 " to %" PRId64
			       ": %" PRId64 ", not %" PRId64 "\n", number, bytes, lo, last,
			       found ? at : -1, want);
			return false;
		}
		if (!found || draw(3) == 0)
			continue;
		gaps_put(h, life, bytes, at);
		m->v[m->n++] = (struct lying){ life, at, at + bytes };
		return true;
	}
	return true;
}

static bool
check(int number)
{
	struct arena *a = arena_open();
	struct plan p = { .a = a };
	const bool many = number % FEW == 0;
	struct memory m = { .limit = many ? WIDE : LIMIT };
	draw_maps(a, &p, &m);
	struct gaps *h = gaps_open(a, &p, PLACE_ARENA, m.limit);
	bool ok = true;
	int64_t now = 0;
	for (int i = 0; ok && i < (many ? MANY : BUFFERS); i++) {
		gaps_pass(h, now);
		ok = check_buffer(h, &m, now, number);
		now += draw(many ? 2 : 4);
	}
	arena_close(a);
	return ok;
}

int
main(void)
{
	int wrong = 0;
	for (int i = 0; i < CASES; i++)
		wrong += !check(i);
	return wrong != 0;
}
