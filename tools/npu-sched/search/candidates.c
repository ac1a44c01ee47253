/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists candidates for plans, which differ in the bytes of feature maps and in how finely
 * weights are cut.  All are costed with estimated sizes.  Those of low estimates are worked out
 * with the exact sizes of the encoder.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/hash.h"
#include "base/hash_table.h"
#include "base/threads.h"

#include <math.h>
#include <stdlib.h>

/* The plan of a candidate, with weight slices of estimated sizes and no rectangles. */
static struct plan *
make_candidate(struct variant *x, const struct candidate *c)
{
	struct arena *a = arena_open();
	struct decision *d = anew(a, struct decision, (size_t)x->s->n_ops + 1);
	division_decide(x->cascades, &c->division, c->cut, d);
	struct plan *p = cascades_take(x->s, x->cascades, d, c->division.slide);
	arena_close(a);
	return p;
}

void
candidate_close(struct candidate *c)
{
	plan_close(c->plan);
	c->plan = NULL;
}

void
drop_candidates(struct variant *x)
{
	for (size_t i = 0; i < x->n; i++)
		candidate_close(&x->v[i]);
	if (x->list)
		arena_close(x->list);
	x->list = NULL;
	x->listed = (struct hash_table){ .a = NULL };
	x->v = NULL;
	x->n = x->cap = 0;
}

static void
open_list(struct variant *x)
{
	x->list = arena_open();
	x->listed.a = x->list;
}

/*
 * Sizes of feature maps in bytes, rising: the least, and parts of a step more, as divisions
 * differ most there; then from the peak of whole feature maps down to the least, and up to the
 * size from which on nothing changes, 1/steps at a time.
 */
struct sizes {
	int64_t *v;
	size_t n, cap;
};

static void
add_size(struct arena *a, struct sizes *l, int64_t size)
{
	agrow(a, l->v, l->n, &l->cap);
	l->v[l->n++] = size;
}

/* for qsort */
static int
compare_sizes(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

static void
add_sizes(struct variant *x, struct arena *a, int steps, struct sizes *l)
{
	struct sizes down = { .n = 0 };
	int64_t least = cascades_least(x->s, x->cascades), most = cascades_most(x->cascades);
	int64_t whole = x->cascades->whole_peak;
	if (least == INT64_MAX)
		return;
	for (int64_t m = whole; m > least; m -= m / (steps + 1) + 16)
		add_size(a, &down, m);
	add_size(a, l, least);
	for (int part = 8; down.n && part > 0; part /= 2)
		if (least + least / (part * steps) < down.v[down.n - 1])
			add_size(a, l, least + least / (part * steps));
	while (down.n)
		add_size(a, l, down.v[--down.n]);
	for (int64_t m = whole; m < most;) {
		m += m / steps + 16;
		add_size(a, l, m < most ? m : most);
	}
}

/* A candidate whose estimates are to be found by a plan with estimated sizes. */
struct trial {
	struct plan *p;
	struct candidate candidate;
	bool is_wanted;
};
enum { TRIALS = 8 }; /* largest number estimated at a time */

/* A list under construction: divisions that were seen, and trials that are not estimated yet. */
struct enumeration {
	struct variant *x;
	const struct front *front; /* lists candidates that it may want */
	double most; /* cycles: the highest estimate that is wanted */
	struct hash_table seen;
	struct trial trial[TRIALS];
	size_t n, kernels; /* kernels of all trials: limits their memory */
};

static bool
is_wanted(const struct enumeration *l, const struct candidate *c, double cycles)
{
	return cycles <= l->most &&
	       front_wants(l->front, c->least, c->least + c->beside, cycles);
}

/*
 * Estimates the cycles of a candidate within the limit of the question.  An estimate only reads the
 * network and changes no plan but its own, so that threads can share the network.
 */
static void
estimate_trial(void *ctx, size_t i)
{
	struct enumeration *l = ctx;
	struct sched *s = l->x->s;
	struct trial *t = &l->trial[i];
	struct candidate *c = &t->candidate;
	const int64_t limit = front_within(&l->front->question);
	if (!is_wanted(l, c, c->lower_bound))
		return;
	find_maps(s, t->p);
	c->least = 0;
	for (size_t k = 0; k < t->p->n_kernels; k++)
		c->least = max_i64(c->least, t->p->map_bytes[k]);
	decide_memory(t->p, (struct memory_decision){ .limit = limit });
	c->estimate = plan_fetches(s, t->p);
	c->need = t->p->need;
	if (decide_jointly(s, t->p, limit))
		c->estimate = fmin(c->estimate, plan_fetches(s, t->p));
	t->is_wanted = is_wanted(l, c, c->estimate);
}

/* Estimates all trials, and lists candidates in their order, so that threads do not show. */
static void
flush(struct enumeration *l)
{
	/* the walks of a kernel take as long as the encoding of a hundred weights */
	enum { WEIGHTS = 100 };
	/* without a limit, only candidates are wanted whose estimate is near the least one so far */
	const double apart = 1.02;
	struct variant *x = l->x;
	int64_t cost[TRIALS];
	for (size_t i = 0; i < l->n; i++)
		cost[i] = WEIGHTS * (int64_t)l->trial[i].p->n_kernels;
	threads_for(x->s->o->jobs, l->n, cost, estimate_trial, l);
	for (size_t i = 0; i < l->n; i++) {
		const struct trial *t = &l->trial[i];
		plan_close(t->p);
		if (!t->is_wanted)
			continue;
		agrow(x->list, x->v, x->n, &x->cap);
		x->v[x->n++] = t->candidate;
		if (is_unlimited(l->front))
			l->most = fmin(l->most, apart * t->candidate.estimate);
	}
	l->n = l->kernels = 0;
}

/* Adds the division for `maps` bytes of feature maps with all cuts, unless it was seen: more bytes
 * may give the same division, and variants the same plans.  If the uncut one is no news, nor are
 * the others.  Returns the bytes of its feature maps; `maps`: there is none. */
static int64_t
add_candidates(struct enumeration *l, int64_t maps, bool slide, bool in_place)
{
	enum { MOST_KERNELS = 1 << 16 };
	static char yes;
	struct variant *x = l->x;
	struct candidate c = { .division = cascades_choose(x->s, x->list, x->cascades, maps, slide,
							   in_place) };
	const struct division *d = &c.division;
	if (!d->n && x->s->n_ops)
		return maps;
	c.least = d->bytes[LIMITED];
	c.beside = d->bytes[BESIDE];
	if (!front_wants(l->front, c.least, c.least + c.beside, 0))
		return c.least;
	void **at = hash_table_at(&l->seen, 2 * hash_xxh3(d->picked, (size_t)d->n * sizeof(int)) +
						    d->slide);
	bool news = !*at;
	*at = &yes;
	for (c.cut = UNCUT; news && c.cut < CUTS; c.cut++) {
		c.lower_bound = division_lower_bound(x->s, x->cascades, d, c.cut);
		if (c.lower_bound > front_fewest(l->front))
			continue;
		struct plan *p = make_candidate(x, &c);
		if (is_duplicate(l->front->seen, x->s, p)) {
			news = c.cut != UNCUT;
			plan_close(p);
			continue;
		}
		l->kernels += p->n_kernels;
		l->trial[l->n++] = (struct trial){ .p = p, .candidate = c };
		if (l->n == TRIALS || l->kernels > MOST_KERNELS)
			flush(l);
	}
	return c.least;
}

void
list_candidates(struct variant *x, int steps, const struct front *f)
{
	drop_candidates(x);
	open_list(x);
	struct enumeration *l = anew(x->list, struct enumeration, 1);
	l->x = x;
	l->front = f;
	l->most = front_nearest(f);
	l->seen.a = x->list;
	struct sizes sizes = { .n = 0 };
	const struct question *q = &f->question;
	if (steps)
		add_sizes(x, x->list, steps, &sizes);
	else
		add_size(x->list, &sizes, q->within);
	/* The division of a size may not be that of a near one: with the sizes by which the default
	 * plan of a large network was found, 4 of 38 limits of this plan's bytes give a slower plan,
	 * without them 7. */
	if (steps && q->ask == ASK_FASTEST && q->within < NO_LIMIT_BYTES && is_large(x->s)) {
		add_sizes(x, x->list, COARSE_STEPS, &sizes);
		if (sizes.n)
			qsort(sizes.v, sizes.n, sizeof(*sizes.v), compare_sizes);
	}
	for (size_t i = sizes.n; i-- > 0;)
		add_candidates(l, sizes.v[i], false, false);
	/* small memories: results slide over operands, and few weights fit */
	int64_t peak = x->cascades->whole_peak + 1; /* of the last division in place */
	for (size_t i = sizes.n; i-- > 0;) {
		add_candidates(l, sizes.v[i], true, false);
		/* with all weights in place, sizes down to the peak give the same division */
		if (weights_move(x->s) && sizes.v[i] < peak)
			peak = add_candidates(l, sizes.v[i], true, true);
	}
	flush(l);
}

bool
work_out(struct variant *x, struct candidate *c)
{
	struct plan *p = c->plan = make_candidate(x, c);
	find_maps(x->s, p);
	if (!measure_slices(x->s, p))
		return false;
	c->beside += p->stored;
	return true;
}

/*
 * Packs the feature maps of a plan without buffers.  These are packed while all weights are whole,
 * however they are cut, so that all plans of the same cascades share one packing, which is cached.
 * Returns the peak.
 */
static int64_t
place_maps_of(struct variant *x, struct plan *p)
{
	const struct decisions *decided = &p->decided;
	const size_t n = (size_t)decided->n_ops;
	struct arena *a = arena_open();
	if (!x->list)
		open_list(x);
	/* the decisions on which the packing depends */
	int32_t *key = anew(a, int32_t, n + 2);
	key[0] = x->s->effort_step;
	key[1] = decided->slide;
	for (size_t i = 0; i < n; i++)
		key[i + 2] = 2 * decided->op[i].rows + decided->op[i].joins;
	void **at = hash_table_at(&x->listed, hash_xxh3(key, (n + 2) * sizeof(*key)));
	struct packed_maps *m = *at;
	if (!m) {
		m = *at = anew(x->list, struct packed_maps, 1);
		struct decision *d = anew(a, struct decision, n + 1);
		for (size_t i = 0; i < n; i++) {
			d[i] = decided->op[i];
			d[i].cut = UNCUT;
		}
		struct plan *uncut = cascades_take(x->s, x->cascades, d, p->decided.slide);
		find_maps(x->s, uncut);
		*m = pack_maps(x->s, x->list, uncut);
		plan_close(uncut);
	}
	arena_close(a);
	place_maps(x->s, p, m);
	return m->peak;
}

void
pack_candidate(struct variant *x, struct candidate *c)
{
	c->packed = place_maps_of(x, c->plan);
}

struct plan *
plan_kernels(struct variant *x, const struct decisions *d)
{
	if (!x->cascades)
		x->cascades = cascades_open(x->s);
	struct plan *p = cascades_take(x->s, x->cascades, d->op, d->slide);
	find_maps(x->s, p);
	if (measure_slices(x->s, p))
		return p;
	plan_close(p);
	return NULL;
}

void
fit_kernels(struct variant *x, struct plan *p, struct memory_decision m)
{
	(void)place_maps_of(x, p);
	decide_memory(p, m);
	(void)evaluate(x->s, p, NULL);
}

struct plan *
make_plan(struct variant *x, const struct decisions *d)
{
	struct plan *p = plan_kernels(x, d);
	for (size_t i = 0; p && i < d->n_slices; i++)
		decide_slice(p, i, d->in_place[i]);
	if (p)
		fit_kernels(x, p, d->memory);
	return p;
}
