/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the options into questions, and takes the plans that answer them. */
#include "run.h"

#include "../plans/clock.h"
#include "target/accel.h"

#include "base/text.h"
#include "target/part.h"

#include <inttypes.h>
#include <math.h>

static enum ask
asked(const struct options *o)
{
	static const enum ask of_goal[] = {
		[GOAL_PERFORMANCE] = ASK_FASTEST, [GOAL_SIZE] = ASK_SMALLEST,
		[GOAL_BALANCED] = ASK_FASTEST,
	};
	return o->max_cycles ? ASK_FAST_ENOUGH : of_goal[o->goal];
}

static struct question
question_of(const struct sched *s, enum ask ask)
{
	return (struct question){ .ask = ask, .within = limit_of(s->memory.cache_bytes),
				  .total_within = INT64_MAX,
				  .cycles = (double)s->o->max_cycles };
}

/* The same question without any limit. */
static struct question
open_question(const struct sched *s, enum ask ask)
{
	struct question q = question_of(s, ask);
	q.within = NO_LIMIT_BYTES;
	return q;
}

/* Asks a question; the fastest plans of all may be its answer. */
static bool
ask(struct search *x, struct question q)
{
	struct front *f = &x->front;
	if (!explore_all(x, q))
		return false;
	add_points(f, &x->fastest);
	return true;
}

/* Finds the fastest plan of all, which no other request may beat. */
static bool
find_fastest(struct search *x)
{
	if (!explore_all(x, open_question(x->s, ASK_FASTEST)))
		return false;
	const struct point *p = front_answer(&x->front);
	if (p)
		front_set_fastest(&x->front, p);
	x->fastest = x->results;
	return true;
}

/* Bytes of the constants that are no weights: tables, and tensors of elementwise operations. */
static int64_t
other_constants(const struct graph *g)
{
	int64_t n = 0;
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_const(g->tensors[i]))
			n += round_up_i64(tensor_bytes(g->tensors[i]), ALIGN);
	for (size_t i = 0; i < g->n_luts; i++)
		n += round_up_i64((int64_t)g->luts[i]->values.n * (g->luts[i]->bits == 8 ? 1 : 4),
				  ALIGN);
	return n;
}

/* Fills in the row of a point: cycles by the calibrated estimate, and bytes.  False: an error. */
static bool
estimate_point(const struct point *p, struct sched_row *r)
{
	struct variant *x = p->variant;
	struct plan *plan = make_plan(x, &p->decisions);
	r->cycles = plan ? plan_estimate(x->s, plan) : NAN;
	r->flash = other_constants(x->s->g);
	for (size_t i = 0; plan && i < plan->n_slices; i++)
		r->flash += slice_bytes(&plan->slice[i]);
	if (plan) {
		r->streams = KERNEL_BYTES * (int64_t)plan->n_kernels +
			     FETCH_BYTES * (int64_t)plan->n_fetches;
		r->dram = x->s->memory.spilling ? plan->peak[PLACE_ARENA] : 0;
	}
	plan_close(plan);
	variant_rest(x);
	return !isnan(r->cycles);
}

/* Finds the fastest plan within a limit.  Result: a point, NULL if there is none. */
static bool
find_within(struct search *x, int64_t limit, const struct point **found)
{
	struct front *f = &x->front;
	struct question q = open_question(x->s, ASK_FASTEST);
	q.within = limit_of(limit);
	*found = &f->fastest;
	if (f->fastest.is_set && f->fastest.sram <= q.within)
		return true;
	if (!ask(x, q))
		return false;
	*found = front_answer(f);
	return true;
}

/* The number of weights in the graph. */
static int64_t
count_weights(const struct graph *g)
{
	int64_t sum = 0;
	for (size_t i = 0; i < g->n_weights; i++) {
		const int32_t *d = g->weights[i]->shape.dim;
		sum += (int64_t)d[0] * d[1] * d[2] * d[3];
	}
	return sum;
}

/*
 * Turns the points of a front into its rows: each row is the plan that its bytes give as a limit.  A
 * limit is answered with few candidates, the front with all, so that the plans of one in fifty
 * points differ.  From the most bytes to the fewest, each limit is asked for until a plan has as
 * many bytes as its limit.  Networks of many weights keep the points: mbv2_int8 would take ten times
 * the time.  *l: points by rising bytes.
 */
static bool
settle_rows(struct search *x, struct points *l)
{
	enum { MANY = 256 * 1024 };
	const double printed = 0.001;
	struct point *v = anew(x->s->a, struct point, l->n + 1);
	size_t n = 0;
	if (count_weights(x->s->g) > MANY)
		return true;
	for (size_t i = l->n; i-- > 0;) {
		int64_t limit = max_i64(l->v[i].sram, ALIGN);
		const struct point *p = NULL;
		for (bool settled = n && limit >= v[n - 1].sram; !settled;) {
			if (!find_within(x, limit, &p))
				return false;
			settled = !p || p->sram == limit || limit == ALIGN;
			limit = p ? max_i64(p->sram, ALIGN) : limit;
		}
		/* more bytes for no cycles, or for fewer than are printed, are no row */
		while (p && n && p->cycles < v[n - 1].cycles + printed)
			n--;
		if (p)
			v[n++] = *p;
	}
	for (size_t i = 0; i < n; i++)
		l->v[i] = v[n - 1 - i];
	l->n = n;
	return true;
}

/* Leaves: s->front. */
static bool
list_front(struct search *x)
{
	struct sched *s = x->s;
	struct points f = { .n = 0 };
	if (!ask(x, open_question(s, ASK_ALL)))
		return false;
	take_points(&f, s->a, &x->front);
	if (!settle_rows(x, &f))
		return false;
	s->front.v = anew(s->a, struct sched_row, f.n + 1);
	/* skip the first point if the smallest limit already allows the second */
	size_t first = f.n > 1 && f.v[1].sram <= ALIGN;
	for (size_t i = first; i < f.n; i++) {
		const struct point *p = &f.v[i], *before = i > first ? p - 1 : NULL;
		struct sched_row *r = &s->front.v[s->front.n++];
		struct text t = { 0 };
		put_change(&t, before, p);
		/* a plan that needs nothing is listed with the smallest limit */
		*r = (struct sched_row){ .sram = p->sram ? p->sram : ALIGN,
					 .objective = p->cycles,
					 .change = arena_strdup(s->a, text_str(&t)), .back = "" };
		text_free(&t);
		if (!estimate_point(p, r))
			return false;
		if (!before)
			continue;
		put_change(&t, p, before);
		r->back = arena_strdup(s->a, text_str(&t));
		text_free(&t);
	}
	return true;
}

static int64_t
whole_cycles(const struct point *p)
{
	const double n = p ? ceil(p->cycles) : INFINITY;
	return n < (double)INT64_MAX ? (int64_t)n : INT64_MAX;
}

/* With both limits: plans within the bytes exist, but all take more cycles. */
static bool
too_slow_within(struct search *x, int64_t bytes)
{
	struct sched *s = x->s;
	if (!ask(x, question_of(s, ASK_FASTEST)))
		return false;
	s->least = whole_cycles(front_answer(&x->front));
	s->fits = true;
	return err_no(s->e, s->g->file, 0,
		      "no plan within %" PRId64 " bytes of SRAM stays within %" PRId64 " cycles; "
		      "the fastest one takes %" PRId64,
		      bytes, s->o->max_cycles, s->least);
}

/* "; parts with as much: ..." if the limit is that of a part */
static const char *
larger_parts(const struct sched *s)
{
	const struct target_part *own = target_part_find(s->o->part, &(struct err){ 0 });
	if (!own || s->memory.cache_bytes != (own->cache_bytes ? own->cache_bytes
							       : own->arena_bytes))
		return "";
	struct part_needs n = { .arena = s->least, .cache = own->cache_bytes ? s->least : 0 };
	struct text t = { 0 };
	target_part_list_fitting(&t, NULL, &n);
	const char *names = arena_printf(s->a, "; parts with as much: %s", text_str(&t));
	text_free(&t);
	return names;
}

/* No plan is within the limit.  Finds the least limit that has a plan, for the message. */
static bool
too_small(struct search *x)
{
	struct sched *s = x->s;
	if (!ask(x, open_question(s, ASK_LEAST_SRAM)))
		return false;
	if (x->unfit && !x->front.n)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
			      "fits the SHRAM of %s", s->accel->name);
	const int64_t limit = limit_of(s->memory.cache_bytes);
	s->least = x->front.n ? x->front.v[0].sram : INT64_MAX;
	if (s->o->max_cycles && s->least <= limit)
		return too_slow_within(x, limit);
	if (s->least >= NO_LIMIT_BYTES)
		return err_no(s->e, s->g->file, 0, "the network needs %d bytes of SRAM or more, "
			      "which is more than npu-sched supports", (int)NO_LIMIT_BYTES);
	return err_no(s->e, s->g->file, 0,
		      "the network needs %" PRId64 " bytes of SRAM, more than the limit of "
		      "%" PRId64 "; the smallest that works is %" PRId64 "%s",
		      s->least, limit, s->least, larger_parts(s));
}

static bool
too_slow(struct search *x, const struct point *fastest)
{
	struct sched *s = x->s;
	const int64_t limit = limit_of(s->memory.cache_bytes);
	if (x->front.fastest.is_set && x->front.fastest.sram > limit)
		return too_slow_within(x, limit);
	s->least = whole_cycles(fastest);
	s->fits = true;
	return err_no(s->e, s->g->file, 0,
		      "no plan stays within %" PRId64 " cycles; the fastest plan takes %" PRId64,
		      s->o->max_cycles, s->least);
}

static bool
refuse(struct search *x)
{
	const struct point *p = front_fastest(&x->front);
	return p ? too_slow(x, p) : too_small(x);
}

/*
 * Finds a plan of less SRAM that takes at most --within percent more
 * cycles than *fastest.  It is sought on few rungs, as any such plan will do.  Needs: *fastest is no
 * point of x->front.
 */
static bool
find_smaller(struct search *x, struct point *fastest)
{
	struct sched *s = x->s;
	struct question q = question_of(s, ASK_FAST_ENOUGH);
	const double within = sched_within(s->o);
	if (within == 0 || !fastest->sram)
		return true;
	q.cycles = (1 + within / 100) * fastest->cycles;
	s->effort_step = COARSE_STEP;
	if (!explore_near(x, fastest->variant, q))
		return false;
	const struct point *p = front_answer(&x->front);
	if (p && p->sram < fastest->sram)
		*fastest = *p;
	return true;
}

/*
 * With Size: the plan of the fewest bytes that is fast enough for --within; of all plans within the
 * limit if none is.  Leaves: s->smaller.
 */
static bool
find_smallest(struct search *x, struct question q, const struct point **answer)
{
	struct sched *s = x->s;
	const double fastest = x->front.fastest.cycles;
	q.cycles = INFINITY;
	if (!ask(x, q))
		return false;
	*answer = front_answer(&x->front);
	q.cycles = (1 + sched_within(s->o) / 100) * fastest;
	if (!*answer || (*answer)->cycles <= q.cycles)
		return true;
	struct point *least = anew(s->a, struct point, 1);
	*least = **answer;
	if (!ask(x, q))
		return false;
	const struct point *p = front_answer(&x->front);
	*answer = p ? p : least;
	if (p && p->total > least->total)
		s->smaller = (struct smaller){
			.bytes = p->total - least->total, .times = least->cycles / p->cycles,
			.within = (int64_t)ceil(100 * (least->cycles / fastest - 1)),
		};
	return true;
}

/* Finds the answer to the request; NULL: there is none.  False: an error. */
static bool
find_answer(struct search *x, const struct point **answer)
{
	struct front *f = &x->front;
	const struct question q = question_of(x->s, asked(x->s->o));
	*answer = &f->fastest;
	if (q.ask == ASK_FASTEST && f->fastest.is_set && f->fastest.sram <= q.within)
		return true;
	if (q.within == NO_LIMIT_BYTES && q.ask == ASK_FASTEST)
		return *answer = NULL, true;
	if (q.ask == ASK_SMALLEST)
		return find_smallest(x, q, answer);
	if (!ask(x, q))
		return false;
	*answer = front_answer(f);
	return true;
}

bool
answer(struct search *x)
{
	struct sched *s = x->s;
	const struct point *found;
	if (!find_fastest(x))
		return false;
	if ((s->o->front || s->o->explain) && !list_front(x))
		return false;
	if (s->o->front)
		return true;
	if (!find_answer(x, &found))
		return false;
	if (!found)
		return refuse(x);
	struct point p = *found;
	if (asked(s->o) == ASK_FASTEST && !find_smaller(x, &p))
		return false;
	struct plan *plan = make_plan(p.variant, &p.decisions);
	if (plan)
		variant_adopt(s, p.variant, plan);
	return plan;
}
