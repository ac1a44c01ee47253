/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of one variant for the front.  Every candidate that may be better than what
 * is there is worked out, and its transfers planned with ever less room: from all
 * that they ask for down to none.  No limit has any influence, so that a limit only
 * picks from what is found.
 */
#include "search.h"

#include <math.h>

/* what is above the front by less is looked at on every rung */
static const double NEAR = 1.01;

/* what can't be better than a point of the front by as much is not looked at */
static const double WORTHWHILE = 1.001;

struct exploring {
	struct variant *x;
	struct front *f;
	struct candidate *c;
	const struct knobs *knobs;
	bool fine; /* on every rung where plans are near the front */
};

/* may it be better with at least these cycles and bytes of the limited place? */
static bool
is_better(const struct exploring *e, int64_t bytes, double cycles)
{
	return front_wants(e->f, bytes, bytes + e->c->beside, cycles * WORTHWHILE);
}

/*
 * The ladder of budgets: so many to an octave, whatever the network.  The next one
 * below a number of bytes.
 */
static int64_t
rung_below(int64_t bytes, int rungs)
{
	int64_t octave = ALIGN * (int64_t)rungs;
	while (octave * 2 < bytes)
		octave *= 2;
	int64_t step = octave / rungs;
	return (bytes - 1) / step * step;
}

/* with transfers below a limit, and addresses */
static void
try_room(struct exploring *e, int64_t room, enum fit how, double bound)
{
	struct sched *s = e->x->s;
	struct plan *p = e->c->plan;
	const struct fitting fitting = { .limit = room, .how = how,
		.most = front_most(e->f, bound, e->c->beside) };
	if (!plan_fit(s, p, fitting, INFINITY))
		return;
	front_add(e->f, &(struct point){
		.sram = peak_of(s, p), .total = total_of(p), .cycles = p->cycles,
		.traits = plan_traits(e->x, p),
		.recipe = { .variant = e->x, .division = e->c->division,
			    .policy = e->c->policy, .fitting = fitting } });
}

enum { MANY_RECTS = 256 };

/*
 * Transfers below a limit, with addresses for their buffers between the maps; or by
 * the sum of bytes alone, and everything packed anew.  That takes long: it is done on
 * few rungs, and where it can bring something.  Returns the rung that follows: the
 * next one where plans are near the front, else one further down.
 */
static int64_t
try_rooms(struct exploring *e, int64_t room)
{
	struct sched *s = e->x->s;
	struct plan *p = e->c->plan;
	plan_fetches(s, p, room);
	double bound = plan_bound(s, p);
	check_bound(bound, e->c);
	int64_t asked = min_i64(p->asked, room), need = p->need;
	bool near = is_better(e, need, bound / NEAR);
	if (asked <= 0)
		return NEVER;
	int64_t next = rung_below(asked, near && e->fine ? e->knobs->rungs
						      : e->knobs->coarse_rungs);
	if (e->c->packed <= room && is_better(e, need, bound))
		try_room(e, room, BETWEEN, bound);
	if (e->fine && need <= room && p->n_rects <= MANY_RECTS && is_better(e, need, bound))
		try_room(e, room, SUMMED, bound);
	return next;
}

/* the most room up to that many bytes with which its estimates are better than what is
 * there; NEVER: none */
static int64_t
promising_room(const struct exploring *e, int64_t room)
{
	const struct candidate *c = e->c;
	for (int i = ROOMS - 1; i >= 0; i--) {
		int64_t less = i ? c->room[i - 1] : c->least;
		if (room >= less && is_better(e, less, c->cycles[i]))
			return min_i64(room, c->room[i]);
	}
	return NEVER;
}

/* from more room than is of use to none */
static void
descend(struct exploring *e)
{
	struct candidate *c = e->c;
	int64_t packed = candidate_packed(e->x, c), room = NO_LIMIT_BYTES;
	while (is_better(e, c->least, c->lower_bound)) {
		room = promising_room(e, room);
		if (room < c->least)
			break;
		int64_t next = try_rooms(e, room);
		room = room > packed && next < packed ? packed : next;
	}
	/* all weights read in place */
	try_room(e, 0, BETWEEN, c->lower_bound);
}

static bool
explore_candidate(struct exploring *e)
{
	struct candidate *c = e->c;
	if (promising_room(e, NO_LIMIT_BYTES) == NEVER)
		return true;
	if (!work_out(e->x, c))
		return false;
	if (is_better(e, c->least, c->lower_bound))
		descend(e);
	candidate_close(c);
	return true;
}

bool
explore(struct variant *x, struct front *f, const struct knobs *k, enum detail detail)
{
	struct wanted w = { .below = INFINITY, .limit = NO_LIMIT_BYTES,
			    .estimated = { INFINITY, INFINITY }, .front = f };
	bool fine = detail == FINELY;
	if (!variant_wake(x))
		return true;
	list_candidates(x, (struct sizing){ .steps = fine ? k->steps : k->coarse_steps,
					    .hi = INT64_MAX }, &w);
	bool ok = true;
	for (size_t i = 0; ok && i < x->n; i++) {
		struct exploring e = { .x = x, .f = f, .c = &x->v[i], .knobs = k,
				       .fine = fine };
		ok = explore_candidate(&e);
	}
	variant_rest(x);
	return ok;
}
