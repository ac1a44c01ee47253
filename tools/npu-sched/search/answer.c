/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the options into questions, and takes the plans that answer them. */
#include "rewrites.h"
#include "run.h"

#include "../plans/clock.h"
#include "graph/facts.h"
#include "target/accel.h"

#include "base/text.h"
#include "target/part.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A question about plans within so many bytes of the limited area. */
static struct question
question_of(const struct sched *s, enum ask ask, int64_t within)
{
	return (struct question){ .ask = ask, .within = within, .total_within = INT64_MAX,
				  .cycles = (double)s->o->max_cycles,
				  .improvable = IMPROVABLE };
}

/*
 * Replaces each point of a front by the plan that its bytes give as a limit.  A limit is answered
 * with few candidates, the front with all, so that the plans of one in fifty points differ.  From
 * the most bytes to the fewest, each limit is asked for until a plan has as many bytes as its
 * limit.  Networks of many weights keep the points: mbv2_int8 would take ten times the time.
 * *l: points by rising bytes.
 */
static bool
settle_rows(struct search *x, struct points *l)
{
	enum { MANY = 256 * 1024 };
	const double printed = 0.001;
	struct front *f = &x->front;
	struct point *v = anew(x->s->a, struct point, l->n + 1);
	size_t n = 0;
	if (count_weights(x->s->g) > MANY)
		return true;
	for (size_t i = l->n; i-- > 0;) {
		int64_t limit = max_i64(l->v[i].sram, ALIGN);
		const struct point *p = NULL;
		for (bool settled = n && limit >= v[n - 1].sram; !settled;) {
			p = &f->fastest;
			if (!p->is_set || p->sram > limit_of(limit)) {
				if (!explore(x, NULL, question_of(x->s, ASK_FASTEST, limit_of(limit))))
					return false;
				p = front_answer(f);
			}
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

/* What the second plan changes against the first one (NULL: none). */
static const char *
change_text(struct arena *a, const struct traits *from, const struct traits *to)
{
	struct text t = { 0 };
	put_change(&t, from, to);
	const char *copy = arena_strdup(a, text_str(&t));
	text_free(&t);
	return copy;
}

/* Leaves: s->front.  Plans are made again for cycles by the calibrated estimate, and for bytes. */
static bool
list_front(struct search *x)
{
	struct sched *s = x->s;
	struct points f = { .n = 0 };
	if (!explore(x, NULL, question_of(s, ASK_ALL, NO_LIMIT_BYTES)))
		return false;
	take_points(&f, s->a, &x->front);
	if (!settle_rows(x, &f))
		return false;
	/* constants that are no weights: tables, and tensors of elementwise operations */
	const struct graph *g = s->g;
	int64_t others = 0; /* bytes */
	for (size_t i = 0; i < g->n_tensors; i++)
		if (tensor_is_const(g->tensors[i]))
			others += round_up_i64(tensor_bytes(g->tensors[i]), ALIGN);
	for (size_t i = 0; i < g->n_luts; i++)
		others += round_up_i64((int64_t)g->luts[i]->values.n *
				       (g->luts[i]->bits == 8 ? 1 : 4), ALIGN);
	s->front.v = anew(s->a, struct sched_row, f.n + 1);
	struct traits before, now = { .variant = NULL };
	/* skip the first point if the smallest limit already allows the second */
	for (size_t i = f.n > 1 && f.v[1].sram <= ALIGN; i < f.n; i++) {
		struct variant *v = f.v[i].variant;
		const bool is_first = !s->front.n;
		struct sched_row *r = &s->front.v[s->front.n++];
		struct plan *p = make_plan(v, &f.v[i].decisions);
		if (!p)
			return false;
		before = now;
		now = plan_traits(v, p);
		*r = (struct sched_row){
			/* a plan that needs nothing is listed with the smallest limit */
			.sram = f.v[i].sram ? f.v[i].sram : ALIGN, .objective = f.v[i].cycles,
			.cycles = plan_estimate(v->s, p), .flash = others,
			.streams = p->commands + FETCH_BYTES * (int64_t)p->n_fetches,
			.dram = s->memory.spilling ? p->peak[PLACE_ARENA] : 0,
			.change = change_text(s->a, is_first ? NULL : &before, &now),
			.back = is_first ? "" : change_text(s->a, &now, &before),
		};
		for (size_t k = 0; k < p->n_slices; k++)
			r->flash += slice_bytes(&p->slice[k]);
		plan_close(p);
		variant_rest(v);
	}
	return true;
}

/* if the limit is that of a part: the parts with enough, or where the limit comes from */
static const char *
larger_parts(const struct sched *s)
{
	const struct target_part *own = s->part;
	bool for_linux = graph_is_for_linux(s->g);
	if (!own || s->memory.cache_bytes != target_part_sram(own, for_linux))
		return "";
	if (for_linux && own->linux_bytes < own->cache_bytes)
		return arena_printf(s->a, "; the limit is that of the device tree that was "
				    "proposed for %s: name yours with --arena-cache-size",
				    own->name);
	struct part_needs n = { .arena = s->least, .cache = own->cache_bytes ? s->least : 0 };
	struct text t = { 0 };
	target_part_list_fitting(&t, s->accel->name, &n);
	if (!strcmp(text_str(&t), "none")) {
		text_puts(&t, "; with another NPU: ");
		target_part_list_fitting(&t, NULL, &n);
	}
	const char *names = arena_printf(s->a, "; parts whose memory for the arena is as large: %s; "
					 "--allow-overflow accepts it, for boards with external memory",
					 text_str(&t));
	text_free(&t);
	return names;
}

/* a hint behind the least SRAM of a network with float ends, which are in it; else "" */
static const char *
less_without_floats(const struct sched *s)
{
	for (size_t i = 0; i < s->g->n_nodes; i++) {
		const struct g_node *x = s->g->nodes[i];
		if (G_HAS(x, G_NODE_why) && strstr(x->why, "--integer-io"))
			return "; without its float inputs and outputs (--integer-io) it can need less";
	}
	return "";
}

/*
 * Words behind the cycles of a plan, NULL: unknown, that takes more than --max-cycles.  The user compares
 * with the estimate that programs print, which can be much less than the mean that counts.
 */
static const char *
by_which_estimate(const struct sched *s, const struct point *x)
{
	struct plan *p = x && s->o->model == MODEL_ROBUST ? make_plan(x->variant, &x->decisions) : NULL;
	if (!p)
		return by_objective(s->o);
	const double printed = plan_estimate(x->variant->s, p);
	plan_close(p);
	return arena_printf(s->a, "%s, and %.0f by the calibrated one, which is printed: --model=calibrated "
			    "counts that one", by_objective(s->o), ceil(printed));
}

/*
 * No plan is within the limits.  For the message, finds the least limit that has a plan, or the
 * fastest plan.  fastest: of those within the bytes, by the question without an answer; NULL: none
 * is known.
 */
static bool
refuse(struct search *x, const struct point *fastest)
{
	struct sched *s = x->s;
	const int64_t limit = limit_of(s->memory.cache_bytes);
	/* plans within the bytes exist, but all take more cycles */
	bool too_slow = fastest && x->front.fastest.is_set && x->front.fastest.sram > limit;
	if (!fastest) {
		if (!explore(x, NULL, question_of(s, ASK_LEAST_SRAM, NO_LIMIT_BYTES)))
			return false;
		if (x->unfit && !x->front.n)
			return err_at(s->e, s->g->file, 0, "an operation has no block that "
				      "fits the SHRAM of %s", s->accel->name);
		s->least = x->front.n ? x->front.v[0].sram : INT64_MAX;
		too_slow = s->o->max_cycles && s->least <= limit;
		if (!too_slow && s->least >= NO_LIMIT_BYTES)
			return err_no(s->e, s->g->file, 0, "the network needs %d bytes of %s or "
				      "more, which is more than npu-sched supports",
				      (int)NO_LIMIT_BYTES, limited_memory(s));
		if (!too_slow)
			return err_no(s->e, s->g->file, 0, "the network needs %" PRId64 " bytes of "
				      "%s, more than the limit of %" PRId64 "; the smallest that "
				      "works is %" PRId64 "%s%s", s->least, limited_memory(s), limit,
				      s->least, less_without_floats(s), larger_parts(s));
	}
	if (too_slow && !explore(x, NULL, question_of(s, ASK_FASTEST, limit)))
		return false;
	const struct point *p = too_slow ? front_answer(&x->front) : fastest;
	const double cycles = p ? ceil(p->cycles) : INFINITY;
	s->least = cycles < (double)INT64_MAX ? (int64_t)cycles : INT64_MAX;
	s->fits = true;
	if (too_slow)
		return err_no(s->e, s->g->file, 0, "no plan within %" PRId64 " bytes of %s stays "
			      "within %" PRId64 " cycles; the fastest one takes %" PRId64 " cycles %s",
			      limit, limited_memory(s), s->o->max_cycles, s->least,
			      by_which_estimate(s, p));
	return err_no(s->e, s->g->file, 0, "no plan stays within %" PRId64 " cycles; the fastest "
		      "plan takes %" PRId64 " cycles %s", s->o->max_cycles, s->least,
		      by_which_estimate(s, p));
}

/*
 * Finds a plan of less SRAM that takes at most --within percent more cycles than *fastest; then the
 * fastest one in as much SRAM, which a limit of these bytes would find, too.  In large networks
 * less SRAM is sought on fewer rungs (knobs.c), which takes two thirds of the time.
 * Needs: *fastest is no point of x->front.
 */
static bool
find_smaller(struct search *x, struct point *fastest)
{
	struct sched *s = x->s;
	/* 5 to 14 % fewer instructions for mbv2_int8, kws_pacman, person_detect and movenet; without an
	 * SRAM of the NPU's own, 6 of 180 plans differ, by nothing in the mean */
	const double less = 1.06;
	struct question q = question_of(s, ASK_FAST_ENOUGH, limit_of(s->memory.cache_bytes));
	const double within = sched_within(s->o);
	const int step = s->effort_step;
	if (within == 0 || !fastest->sram)
		return true;
	q.cycles = (1 + within / 100) * fastest->cycles;
	if (is_large(s)) {
		s->effort_step = COARSE_STEP;
		if (!s->memory.spilling)
			q.improvable = less;
	}
	bool ok = explore(x, fastest->variant, q);
	s->effort_step = step;
	const struct point *p = ok ? front_answer(&x->front) : NULL;
	if (!p || p->sram >= fastest->sram)
		return ok;
	*fastest = *p;
	q = question_of(s, ASK_FASTEST, fastest->sram);
	ok = explore(x, fastest->variant, q);
	p = ok ? front_answer(&x->front) : NULL;
	if (p && p->cycles <= fastest->cycles)
		*fastest = *p;
	return ok;
}

/*
 * With Size: the fastest of the plans that take hardly more than the fewest bytes, of those that
 * are fast enough for --within; of all within the limit if none is.  A hundredth of the bytes was
 * the price of up to 84 % more time.  Leaves: s->smaller.
 */
static bool
find_smallest(struct search *x, struct question q, struct point *answer)
{
	struct sched *s = x->s;
	const double fastest = x->front.fastest.cycles, hardly = 1.01;
	q.cycles = INFINITY;
	if (!explore(x, NULL, q))
		return false;
	const struct point *p = front_answer(&x->front);
	if (!p)
		return true;
	const struct point least = *p;
	*answer = least;
	const double most = (1 + sched_within(s->o) / 100) * fastest;
	if (p->cycles > most) {
		q.cycles = most;
		if (!explore(x, NULL, q))
			return false;
		p = front_answer(&x->front);
		*answer = p ? *p : least;
	}
	const bool is_larger = answer->total > least.total;
	q.ask = ASK_FASTEST;
	q.cycles = 0;
	q.within = answer->sram;
	q.total_within = (int64_t)(hardly * (double)answer->total);
	if (!explore(x, NULL, q))
		return false;
	p = front_answer(&x->front);
	if (p && p->cycles < answer->cycles)
		*answer = *p;
	if (is_larger) /* by the limit of cycles, not only by the hundredth */
		s->smaller = (struct smaller){
			.bytes = answer->total - least.total, .times = least.cycles / answer->cycles,
			.within = (int64_t)ceil(100 * (least.cycles / fastest - 1)),
		};
	return true;
}

bool
answer(struct search *x)
{
	struct sched *s = x->s;
	const struct options *o = s->o;
	struct front *f = &x->front;
	if (s->best_cycles > 0) {
		/* Has this form of the network a plan that is as fast as those of the forms before?
		 * It is asked within the limit only where the limit made those slower.  Without
		 * one, a bit slower plans are searched, too, so that improvement can make them as
		 * fast. */
		const double slower = 1.03;
		struct question other = question_of(s, ASK_FASTEST, s->best_within);
		other.slowest = (other.within < NO_LIMIT_BYTES ? 1 : slower) * s->best_cycles;
		if (!explore(x, NULL, other))
			return false;
		if (!front_answer(f) || front_answer(f)->cycles > s->best_cycles)
			return err_no(s->e, s->g->file, 0, "another form of the network is faster");
	}
	/* No request may give a faster plan than the fastest of all. */
	if (!explore(x, NULL, question_of(s, ASK_FASTEST, NO_LIMIT_BYTES)))
		return false;
	if (front_answer(f))
		front_set_fastest(f, front_answer(f));
	x->fastest = x->results;
	if ((o->front || o->explain) && !list_front(x))
		return false;
	if (o->front)
		return true;

	const enum ask ask = o->max_cycles	     ? ASK_FAST_ENOUGH
			     : o->goal == GOAL_SIZE ? ASK_SMALLEST
						    : ASK_FASTEST;
	const struct question q = question_of(s, ask, limit_of(s->memory.cache_bytes));
	const struct point *found = NULL;
	if (ask == ASK_FASTEST && f->fastest.is_set && f->fastest.sram <= q.within) {
		found = &f->fastest;
	} else if (ask == ASK_SMALLEST) {
		struct point *smallest = anew(s->a, struct point, 1);
		if (!find_smallest(x, q, smallest))
			return false;
		found = smallest->is_set ? smallest : NULL;
	} else if (ask != ASK_FASTEST || q.within < NO_LIMIT_BYTES) {
		if (!explore(x, NULL, q))
			return false;
		found = front_answer(f);
	}
	if (!found)
		return refuse(x, front_fastest(f));
	struct point p = *found;
	if (ask == ASK_FASTEST) {
		s->fastest = p.cycles;
		s->fastest_within = found == &f->fastest ? NO_LIMIT_BYTES : q.within;
		if (!find_smaller(x, &p))
			return false;
	}
	struct plan *plan = make_plan(p.variant, &p.decisions);
	if (plan)
		variant_adopt(s, p.variant, plan);
	return plan;
}
