/* SPDX-License-Identifier: Apache-2.0 */
/* The plan to take of each front (base/knee.h), within the limits, and the sentences about it. */
#include "sweep.h"

#include "base/knee.h"

#include <math.h>

double
pick_ms(const struct pick *k, const struct point *v)
{
	return v->cycles / k->clock * 1e3 + k->cpu_ms;
}

/* the time of an inference, in a unit of this front */
static double
time_of(const struct pick *k, const struct point *v)
{
	return k->clock > 0 ? pick_ms(k, v) : v->cycles;
}

/* bytes of SRAM with those of the model, if they are there */
static double
pick_sram(const struct pick *k, const struct point *v)
{
	return v->sram + (k->has_model && v->flash >= 0 && v->streams >= 0 ? v->flash + v->streams : 0);
}

static bool
is_small_enough(const struct plan *p, const struct pick *k, const struct point *v)
{
	return !(p->max_sram > 0) || pick_sram(k, v) <= p->max_sram;
}

static bool
is_fast_enough(const struct plan *p, const struct pick *k, const struct point *v)
{
	return !(p->max_ms > 0) || (k->clock > 0 && pick_ms(k, v) <= p->max_ms);
}

/* The plan to take of all points, whatever the limits. */
static void
take_knee(const struct plan *p, const struct record *front, struct pick *k)
{
	struct knee_point *v = anew(p->a, struct knee_point, front->n_points);
	for (size_t i = 0; i < front->n_points; i++)
		v[i] = (struct knee_point){ .sram = front->point[i].sram,
					    .time = time_of(k, &front->point[i]) };
	const struct knee knee = knee_find(v, front->n_points);
	k->knee = k->unlimited = front->point[knee.take];
	k->bend = front->point[knee.bend];
}

/* Keeps the points of a front that are within the limits. */
static void
keep_within(const struct plan *p, const struct pick *k, struct record *front)
{
	const struct record all = *front;
	front->point = anew(p->a, struct point, all.n_points);
	front->n_points = 0;
	for (size_t i = 0; i < all.n_points; i++)
		if (is_small_enough(p, k, &all.point[i]) && is_fast_enough(p, k, &all.point[i]))
			front->point[front->n_points++] = all.point[i];
}

/*
 * Returns a pick with any == false if the target has no front (--limits=0, or a failure), or no plan
 * within the limits.  The limits do not move the knee, as the ends that they cut off would: if the
 * plan to take is too large or too slow, the plan that goes no farther than necessary is taken.
 */
struct pick
pick_knee(const struct plan *p, const struct target *t)
{
	struct record candidates = front_candidates(p, t), *front = &candidates;
	const struct record *end = record_of_end(p, t);
	struct pick k = { .has_model = target_arena(p->a, t).has_model };
	if (!front->n_points)
		return k;
	k.clock = end ? end->clock : 0;
	k.cpu_ms = k.clock > 0 ? end->ms - end->cycles / k.clock * 1e3 : 0;
	k.smallest = front->point[0];
	k.fastest = front->point[front->n_points - 1];
	take_knee(p, front, &k);
	keep_within(p, &k, front);
	k.beyond = !front->n_points;
	if (k.beyond)
		return k;
	k.any = true;
	k.smallest = k.least = front->point[0];
	k.fastest = front->point[front->n_points - 1];
	for (size_t i = 1; i < front->n_points; i++)
		if (pick_sram(&k, &front->point[i]) < pick_sram(&k, &k.least))
			k.least = front->point[i];
	k.is_too_large = !is_small_enough(p, &k, &k.unlimited);
	k.is_too_slow = !k.is_too_large && !is_fast_enough(p, &k, &k.unlimited);
	if (k.is_too_large || k.is_too_slow)
		k.knee = k.bend = k.is_too_large ? k.fastest : k.least;
	return k;
}

/* a difference in whole percent; 0 would be none */
static const char *
whole_percent(struct arena *a, double v)
{
	return v > 0 && v < 1 ? "less than 1" : arena_printf(a, "%.0f", v);
}

static double
percent(double now, double before)
{
	return before > 0 ? 100 * fabs(now - before) / before : 0;
}

/* "10 ms and 65536 bytes of SRAM" */
static void
put_limits(struct text *t, const struct plan *p)
{
	if (p->max_ms > 0)
		text_printf(t, "%.10g ms", p->max_ms);
	text_puts(t, p->max_ms > 0 && p->max_sram > 0 ? " and " : "");
	if (p->max_sram > 0)
		text_printf(t, "%.0f bytes of SRAM", p->max_sram);
}

/* bytes of SRAM, and what else the reader needs to compare them */
static void
put_sram(struct text *t, const struct curve *k, const struct point *v)
{
	const double model = pick_sram(&k->pick, v) - v->sram;
	text_printf(t, "%.0f bytes of SRAM", v->sram);
	if (k->arena.is_not_sram)
		text_printf(t, " (the arena is in %s)", k->arena.name);
	else if (model > 0)
		text_printf(t, " (and about %.0f for the model there)", model);
}

/* the end of a front, if no plan is within the limits */
static void
put_end(struct text *t, const struct curve *k, const char *which, const struct point *v)
{
	text_printf(t, "%s takes ", which);
	put_sram(t, k, v);
	if (k->pick.clock > 0)
		text_printf(t, " and %.3f ms", pick_ms(&k->pick, v));
}

void
pick_sentence(struct text *t, const struct plan *p, const struct curve *of)
{
	const struct target *target = of->of;
	const struct pick *k = &of->pick;
	const struct record *size = record_of(p, target, SIZE);
	text_printf(t, "%s, %s, %s: ", target->model->name, of->names, target->accel);
	if (k->beyond) {
		text_puts(t, "no plan stays within ");
		put_limits(t, p);
		put_end(t, of, ": the smallest", &k->smallest);
		put_end(t, of, ", the fastest", &k->fastest);
		return;
	}
	if (!k->any) {
		const char *message = target_message(p, target);
		if (message && size && size->status == REFUSED && target_is_part(target))
			text_printf(t, "does not fit: %s", reason_text(p->a, message));
		else
			text_printf(t, "there is no front to choose from: %s",
				    message ? message : "it has no plan, or was not computed");
		return;
	}
	text_printf(t, "take --arena-cache-size=%.0f with ", k->knee.sram);
	put_sram(t, of, &k->knee);
	text_printf(t, " and %.0f cycles", k->knee.cycles);
	if (k->clock > 0)
		text_printf(t, " (%.3f ms)", pick_ms(k, &k->knee));
	bool small = k->knee.sram <= k->smallest.sram;
	bool fast = k->knee.sram >= k->fastest.sram;
	const char *within = p->max_ms > 0 || p->max_sram > 0 ? " within the limits" : "";
	if (k->is_too_large || k->is_too_slow) {
		text_printf(t, ", the %s plan within the limits, as the plan without limits takes ",
			    k->is_too_large ? "fastest" : "smallest");
		put_sram(t, of, &k->unlimited);
		if (k->clock > 0)
			text_printf(t, " and %.3f ms", pick_ms(k, &k->unlimited));
	}
	if (small && fast) {
		text_printf(t, ": the smallest plan%s is also the fastest.", within);
		return;
	}
	if (k->is_too_large || k->is_too_slow)
		text_puts(t, ":");
	else if (k->knee.sram < k->bend.sram)
		text_printf(t, ", which saves %.0f %% of the SRAM of the knee of the front and takes "
			       "%.1f %% more time:", percent(k->knee.sram, k->bend.sram),
			    percent(time_of(k, &k->knee), time_of(k, &k->bend)));
	else
		text_puts(t, ", the knee of the front:");
	if (!small)
		text_printf(t, " the smallest plan%s takes %.0f bytes and %s %% more cycles%s",
			    within, k->smallest.sram,
			    whole_percent(p->a, percent(k->smallest.cycles, k->knee.cycles)),
			    fast ? "." : ";");
	if (!fast)
		text_printf(t, " the fastest plan%s takes %.0f bytes and %s %% fewer cycles.",
			    within, k->fastest.sram,
			    whole_percent(p->a, percent(k->fastest.cycles, k->knee.cycles)));
}

/* Lists the targets with plans within the limits, or those without. */
static void
put_targets(struct text *t, const char *before, const struct curve *v, size_t n, bool beyond)
{
	for (size_t k = 0; k < n; k++) {
		if (beyond ? !v[k].pick.beyond : !v[k].pick.any)
			continue;
		text_printf(t, "%s%s", before, v[k].names);
		before = ", ";
	}
}

/* SRAM that has copies of tensors, beside an arena elsewhere, is not compared. */
void
pick_best(struct text *t, const struct plan *p, const struct curve *v, size_t n)
{
	const struct curve *fast = NULL, *small = NULL;
	const bool is_limited = p->max_ms > 0 || p->max_sram > 0;
	bool all_ms = true;
	size_t n_any = 0, n_beyond = 0;
	for (size_t k = 0; k < n; k++) {
		n_any += v[k].pick.any;
		n_beyond += v[k].pick.beyond;
		all_ms &= !v[k].pick.any || v[k].pick.clock > 0;
	}
	for (size_t k = 0; k < n; k++) {
		const struct pick *x = &v[k].pick, *y = small ? &small->pick : NULL;
		if (!x->any)
			continue;
		if (all_ms && (!fast || time_of(x, &x->fastest) <
						time_of(&fast->pick, &fast->pick.fastest)))
			fast = &v[k];
		const double least = y ? pick_sram(y, &y->least) : INFINITY;
		const double own = pick_sram(x, &x->least);
		if (!v[k].arena.is_not_sram &&
		    (own < least || (own <= least && all_ms &&
				     pick_ms(x, &x->least) < pick_ms(y, &y->least))))
			small = &v[k];
	}
	if (is_limited ? !(n_any + n_beyond) : n_any < 2)
		return;
	text_printf(t, "%s: ", v[0].of->model->name);
	if (is_limited) {
		text_puts(t, "within ");
		put_limits(t, p);
		put_targets(t, ": ", v, n, false);
		put_targets(t, n_any ? "; not: " : ": none; not: ", v, n, true);
	}
	if (fast) {
		text_printf(t, "%sfastest: %s, %s, %.3f ms with ", is_limited ? "; " : "",
			    fast->names, fast->of->accel, pick_ms(&fast->pick, &fast->pick.fastest));
		put_sram(t, fast, &fast->pick.fastest);
	}
	if (small) {
		text_printf(t, "%sleast SRAM: %s, %s, ", is_limited || fast ? "; " : "", small->names,
			    small->of->accel);
		put_sram(t, small, &small->pick.least);
	}
	if (small && small->pick.clock > 0)
		text_printf(t, " and %.3f ms", pick_ms(&small->pick, &small->pick.least));
}

void
print_picks(struct text *t, const struct plan *p, const struct rows *r)
{
	size_t n, number = 0;
	struct curve *v = anew(p->a, struct curve, r->n + 1);
	for (size_t i = 0; i < r->n;) {
		i = find_curves(p, r, i, v, &n, &number);
		for (size_t k = 0; k < n; k++) {
			pick_sentence(t, p, &v[k]);
			text_putc(t, '\n');
		}
		const size_t before = t->n;
		pick_best(t, p, v, n);
		text_puts(t, t->n > before ? "\n" : "");
	}
}
