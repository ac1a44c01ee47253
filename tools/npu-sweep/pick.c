/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the knee of a front: the point that is farthest below the straight line between the
 * smallest and the fastest point, with both axes scaled to 0 ... 1.  Left of the knee, a byte
 * of SRAM saves more time than on the average of the front; right of the knee, less.  If a
 * plan with at most half of the knee's SRAM takes at most 2 % more time, this plan is taken.
 * If no point is below the line, the end with the smaller product of SRAM and time is taken.
 */
#include "sweep.h"

#include <math.h>

/* Returns the distance of v below the line from (0, 1) to (1, 0), times a constant. */
static double
below(const struct pick *k, const struct point *v)
{
	double sram = k->fastest.sram - k->smallest.sram;
	double cycles = k->smallest.cycles - k->fastest.cycles;
	return 1 - (sram > 0 ? (v->sram - k->smallest.sram) / sram : 0) -
	       (cycles > 0 ? (v->cycles - k->fastest.cycles) / cycles : 0);
}

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

/* Returns a pick with any == false if the target has no front (--limits=0, or a failure). */
struct pick
pick_knee(const struct plan *p, const struct target *t)
{
	const double more_time = 0.02, part_of_sram = 0.5;
	struct pick k = { 0 };
	const struct record candidates = front_candidates(p, t), *front = &candidates;
	const struct record *end = record_of_end(p, t);
	if (!front->n_points)
		return k;
	k.any = true;
	k.clock = end ? end->clock : 0;
	k.cpu_ms = k.clock > 0 ? end->ms - end->cycles / k.clock * 1e3 : 0;
	k.smallest = k.knee = front->point[0];
	k.fastest = front->point[front->n_points - 1];
	for (size_t i = 1; i < front->n_points; i++)
		if (below(&k, &front->point[i]) > below(&k, &k.knee))
			k.knee = front->point[i];
	/* without a point below the line, for example of two points */
	if (!(below(&k, &k.knee) > 0) && k.fastest.sram * time_of(&k, &k.fastest) <
						 k.smallest.sram * time_of(&k, &k.smallest))
		k.knee = k.fastest;
	/* the smallest plan that is little slower than the knee, if it has half of its SRAM */
	k.bend = k.knee;
	for (size_t i = 0; i < front->n_points; i++) {
		const struct point *v = &front->point[i];
		if (v->sram > part_of_sram * k.bend.sram)
			break;
		if (time_of(&k, v) <= (1 + more_time) * time_of(&k, &k.bend)) {
			k.knee = *v;
			break;
		}
	}
	return k;
}

static double
percent(double now, double before)
{
	return before > 0 ? 100 * fabs(now - before) / before : 0;
}

/* says behind bytes of SRAM that the arena is not among them */
static void
put_arena(struct text *t, const struct curve *k)
{
	if (k->arena.is_not_sram)
		text_printf(t, " (the arena is in %s)", k->arena.name);
}

void
pick_sentence(struct text *t, const struct plan *p, const struct curve *of)
{
	const struct target *target = of->of;
	const struct pick *k = &of->pick;
	const struct record *size = record_of(p, target, SIZE);
	text_printf(t, "%s, %s, %s: ", target->model->name, of->names, target->accel);
	if (!k->any) {
		const char *message = target_message(p, target);
		text_puts(t, size && size->status == REFUSED && target_is_part(target)
				     ? "does not fit: " : "there is no front to choose from: ");
		text_puts(t, message ? message : "it has no plan, or was not computed");
		return;
	}
	text_printf(t, "take --arena-cache-size=%.0f with %.0f bytes of SRAM",
		    k->knee.sram, k->knee.sram);
	put_arena(t, of);
	text_printf(t, " and %.0f cycles", k->knee.cycles);
	if (k->clock > 0)
		text_printf(t, " (%.3f ms)", pick_ms(k, &k->knee));
	bool small = k->knee.sram <= k->smallest.sram;
	bool fast = k->knee.sram >= k->fastest.sram;
	if (small && fast) {
		text_puts(t, ": the smallest plan is also the fastest.");
		return;
	}
	if (k->knee.sram < k->bend.sram)
		text_printf(t, ", which saves %.0f %% of the SRAM of the knee of the front and takes "
			       "%.1f %% more time:", percent(k->knee.sram, k->bend.sram),
			    percent(time_of(k, &k->knee), time_of(k, &k->bend)));
	else
		text_puts(t, ", the knee of the front:");
	if (!small)
		text_printf(t, " the smallest plan takes %.0f bytes and %.0f %% more cycles%s",
			    k->smallest.sram, percent(k->smallest.cycles, k->knee.cycles),
			    fast ? "." : ";");
	if (!fast)
		text_printf(t, " the fastest plan takes %.0f bytes and %.0f %% fewer cycles.",
			    k->fastest.sram, percent(k->fastest.cycles, k->knee.cycles));
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
		/*
		 * The targets with the fastest of all plans and with the plan of least SRAM.
		 * SRAM that has copies of tensors, beside an arena elsewhere, is not compared.
		 */
		const struct curve *fast = NULL, *small = NULL;
		bool all_ms = true;
		size_t n_any = 0;
		for (size_t k = 0; k < n; k++) {
			n_any += v[k].pick.any;
			all_ms &= !v[k].pick.any || v[k].pick.clock > 0;
		}
		for (size_t k = 0; k < n; k++) {
			const struct pick *x = &v[k].pick;
			if (!x->any)
				continue;
			if (all_ms && (!fast || time_of(x, &x->fastest) <
						    time_of(&fast->pick, &fast->pick.fastest)))
				fast = &v[k];
			const struct pick *y = small ? &small->pick : NULL;
			if (!v[k].arena.is_not_sram &&
			    (!y || x->smallest.sram < y->smallest.sram ||
			     (x->smallest.sram <= y->smallest.sram && all_ms &&
			      pick_ms(x, &x->smallest) < pick_ms(y, &y->smallest))))
				small = &v[k];
		}
		if (n_any < 2)
			continue;
		text_printf(t, "%s: ", v[0].of->model->name);
		if (fast) {
			text_printf(t, "fastest: %s, %s, %.3f ms with %.0f bytes of SRAM",
				    fast->names, fast->of->accel,
				    pick_ms(&fast->pick, &fast->pick.fastest),
				    fast->pick.fastest.sram);
			put_arena(t, fast);
			text_puts(t, small ? "; " : "");
		}
		if (small)
			text_printf(t, "least SRAM: %s, %s, %.0f bytes", small->names,
				    small->of->accel, small->pick.smallest.sram);
		if (small && small->pick.clock > 0)
			text_printf(t, " and %.3f ms", pick_ms(&small->pick, &small->pick.smallest));
		text_putc(t, '\n');
	}
}
