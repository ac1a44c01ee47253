/* SPDX-License-Identifier: Apache-2.0 */
/* Picks the requested plan from the results of the search. */
#include "search.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>

static bool
too_small(const struct found *x, int64_t limit)
{
	struct sched *s = x->s;
	int64_t least = x->fastest ? peak_of(s, x->fastest) : INT64_MAX;
	if (x->front.n)
		least = min_i64(least, x->front.v[0].sram);
	s->least = least;
	if (least >= NO_LIMIT_BYTES)
		return err_no(s->e, "%s: error: the network needs %d bytes of SRAM or "
				    "more, which is more than npu-sched supports",
			      s->g->file, (int)NO_LIMIT_BYTES);
	return err_no(s->e, "%s: error: the network needs %" PRId64 " bytes of SRAM, "
		      "more than the limit of %" PRId64 "; the smallest that works "
		      "is %" PRId64, s->g->file, least, limit, least);
}

int
asked_goal(const struct sched *s)
{
	const struct options *o = s->o;
	return o->front || o->explain || o->max_cycles ? GOAL_OTHER : (int)o->goal;
}

bool
is_limit_asked(const struct sched *s, int64_t limit)
{
	return asked_goal(s) == GOAL_PERFORMANCE && limit_of(s->memory.cache_bytes) == limit;
}

bool
is_anchor_asked(const struct found *x, int64_t limit)
{
	const struct sched *s = x->s;
	return asked_goal(s) == GOAL_PERFORMANCE && ((x->fastest && peak_of(s, x->fastest) <= limit) ||
				       (x->within && limit == profile_limit(s)));
}

/* The faster of the anchors that fit, or NULL. */
static struct plan **
best_anchor(struct found *x, int64_t limit, struct variant **of)
{
	if (x->fastest && peak_of(x->s, x->fastest) <= limit) {
		*of = x->fastest_of;
		return &x->fastest;
	}
	*of = x->within_of;
	return x->within && peak_of(x->s, x->within) <= limit ? &x->within : NULL;
}

static bool
too_slow(struct found *x, int64_t limit)
{
	struct sched *s = x->s;
	const struct point *p = front_fastest(&x->front, limit);
	struct variant *of;
	struct plan **a = best_anchor(x, limit, &of);
	double least = a ? (*a)->cycles : p ? p->cycles : INFINITY;
	least = ceil(p ? fmin(least, p->cycles) : least);
	s->least = least < (double)INT64_MAX ? (int64_t)least : INT64_MAX;
	return err_no(s->e, "%s: error: no plan stays within %" PRId64 " cycles; the "
			    "fastest plan takes %.0f",
			    s->g->file, s->o->max_cycles, least);
}

static struct point
anchor_point(const struct variant *v, const struct plan *p)
{
	return (struct point){ .sram = peak_of(v->s, p), .total = total_of(p),
			       .cycles = p->cycles, .traits = plan_traits(v, p) };
}

/* The front together with the anchors, where they are no worse. */
static struct front
whole_front(struct found *x)
{
	struct front f = { .a = x->s->a };
	for (size_t i = 0; i < x->front.n; i++)
		front_add(&f, &x->front.v[i]);
	if (x->within) {
		struct point p = anchor_point(x->within_of, x->within);
		front_add(&f, &p);
	}
	if (x->fastest) {
		struct point p = anchor_point(x->fastest_of, x->fastest);
		front_add(&f, &p);
	}
	return f;
}

void
list_front(struct found *x)
{
	struct sched *s = x->s;
	struct front f = whole_front(x);
	s->front.v = anew(s->a, struct sched_row, f.n + 1);
	/* skip the first point if the smallest limit already allows the second */
	size_t first = f.n > 1 && f.v[1].sram <= ALIGN;
	for (size_t i = first; i < f.n; i++) {
		const struct point *p = &f.v[i], *before = i > first ? p - 1 : NULL;
		struct sched_row *r = &s->front.v[s->front.n++];
		struct text t = { 0 };
		put_change(&t, before, p);
		/* a plan that needs nothing is listed with the smallest limit */
		*r = (struct sched_row){ .sram = p->sram ? p->sram : ALIGN, .cycles = p->cycles, .back = "",
					 .change = arena_strdup(s->a, text_str(&t)) };
		text_free(&t);
		if (!before)
			continue;
		put_change(&t, p, before);
		r->back = arena_strdup(s->a, text_str(&t));
		text_free(&t);
	}
}

/* The requested point of the front; NULL: none. */
static const struct point *
pick(const struct found *x, int64_t limit)
{
	const struct options *o = x->s->o;
	if (o->max_cycles) {
		const struct point *p = front_smallest(&x->front, (double)o->max_cycles);
		return p && p->sram <= limit ? p : NULL;
	}
	return o->goal == GOAL_SIZE	  ? front_least(&x->front, limit)
	       : o->goal == GOAL_BALANCED ? front_lightest(&x->front, limit)
					  : front_fastest(&x->front, limit);
}

/* Is an anchor better than a point of the front, by the requested goal? */
static bool
is_anchor_better(const struct found *x, const struct plan *a, const struct point *p)
{
	const struct options *o = x->s->o;
	if (o->max_cycles)
		return !p && a->cycles <= (double)o->max_cycles;
	if (!p || o->goal == GOAL_PERFORMANCE)
		return !p || a->cycles < p->cycles;
	if (o->goal == GOAL_SIZE)
		return total_of(a) < p->total ||
		       (total_of(a) == p->total && a->cycles < p->cycles);
	return point_weight(total_of(a), a->cycles) < point_weight(p->total, p->cycles);
}

bool
take_found(struct found *x, int64_t limit)
{
	struct sched *s = x->s;
	struct variant *of;
	const struct point *p = pick(x, limit);
	struct plan **a = best_anchor(x, limit, &of);
	if (a && is_anchor_better(x, *a, p)) {
		variant_adopt(s, of, *a);
		*a = NULL;
		return true;
	}
	if (!p)
		return s->o->max_cycles ? too_slow(x, limit) : too_small(x, limit);
	struct plan *q = make_again(&p->recipe);
	if (q)
		variant_adopt(s, p->recipe.variant, q);
	return q;
}
