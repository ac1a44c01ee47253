/* SPDX-License-Identifier: Apache-2.0 */
/* What would help: other plans of the curve, and other accelerators. */
#include "report.h"

#include <math.h>
#include <string.h>

struct gains {
	const struct report *r;
	struct gain *v;
	size_t n, cap;
};

static const double SMALLER = 0.9;
#define HARDLY 1.1
#define SLOWER 1.7

/*
 * A change is worth a line if it saves 3 % of the time; an option also if it saves 10 % of the
 * memory at less than 1.7 times the time.  Nobody takes another NPU to save SRAM.
 */
static bool
is_worth(const struct report *r, const struct gain *g)
{
	const double time = 0.97;
	return g->cycles < time * r->whole ||
	       (!g->is_other && g->sram < SMALLER * r->sram && g->cycles < SLOWER * r->whole);
}

/* Adds a change; false: it is not worth a line. */
static bool
add(struct gains *g, struct gain x)
{
	const struct target_part *p = g->r->part;
	if (!is_worth(g->r, &x))
		return false;
	/* the driver hands out the SRAM of the NPU's node, which is less than the chip has */
	if (g->r->for_linux && p && x.sram > (double)p->linux_bytes)
		x.needs = arena_printf(g->r->a, "needs a device tree with more than %lld KiB "
				       "(nputools-linux(7))", (long long)p->linux_bytes / 1024);
	agrow(g->r->a, g->v, g->n, &g->cap);
	g->v[g->n++] = x;
	return true;
}

const char *
more_text(struct arena *a, double cycles, double than)
{
	double percent = 100 * (cycles / than - 1);
	return arena_printf(a, "%.0f %% %s", fabs(percent), percent < 0 ? "less" : "more");
}

/*
 * npu-sched chooses plans by the mean of two estimates (npu-sched-search(7), mean_text).  The reader sees
 * the calibrated one, and wonders why a plan of hardly more time was not chosen, or of much less,
 * if the mean is not near.
 */
static const char *
objective_text(const struct report *r, const struct point *p)
{
	const double near = 0.02; /* the resolution of the calibrated estimate */
	double own = json_number(r->root, "objective_cycles", 0) + r->cpu_time;
	double objective = p->objective + r->cpu_time, cycles = p->cycles + r->cpu_time;
	if (cycles >= HARDLY * r->whole || !json_get(r->root, "objective_cycles") || !(p->objective > 0) ||
	    fabs(objective / own - cycles / r->whole) < near)
		return NULL;
	return arena_printf(r->a, "%s time by the mean with Arm's formulas",
			    more_text(r->a, objective, own));
}

const char mean_text[] = "plans are chosen by the mean of the calibrated estimate (shown) and Arm's "
			 "published formulas";

static bool
add_point(struct gains *g, const char *what, const struct point *p)
{
	return add(g, (struct gain){
		.what = what, .cycles = p->cycles + g->r->cpu_time, .sram = p->sram,
		.memory = fast_text(g->r),
		.objective = objective_text(g->r, p),
		.how = arena_printf(g->r->a, "--arena-cache-size=%.0f", p->sram) });
}

/* the plan of the least SRAM, less than now, that takes less than so many times the time */
static const struct point *
smallest(const struct report *r, double times)
{
	const struct point *least = NULL;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram < SMALLER * r->sram && p->cycles + r->cpu_time < times * r->whole &&
		    (!least || p->sram < least->sram))
			least = p;
	}
	return least;
}

/* the fastest plan with more SRAM; of equal ones the first, which has the least */
static const struct point *
fastest(const struct report *r)
{
	const struct point *least = NULL;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram > r->sram && p->cycles < (least ? least->cycles : r->cycles))
			least = p;
	}
	return least;
}

/* the plan of the least SRAM, but more than now, that takes at most so many cycles */
static const struct point *
least_within(const struct report *r, double cycles)
{
	const struct point *least = NULL;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram > r->sram && p->cycles <= cycles && (!least || p->sram < least->sram))
			least = p;
	}
	return least;
}

/*
 * Proposes plans with more SRAM.  The end of a curve is flat: the fastest plan may need many times
 * the SRAM of one that is hardly slower.  Therefore the plan of the least SRAM is proposed that
 * saves MOST of what the fastest saves, and the fastest beside it only if it saves a further
 * FURTHER of the time.
 */
static void
add_faster(struct gains *g)
{
	const double MOST = 0.75, FURTHER = 0.01;
	const struct report *r = g->r;
	const char *memory = fast_text(r);
	const struct point *fast = fastest(r);
	if (!fast)
		return;
	double saved = r->cycles - fast->cycles;
	const struct point *most = least_within(r, r->cycles - MOST * saved);
	bool is_further = most->cycles - fast->cycles >= FURTHER * r->whole;
	/* where that saves too little for a line, the fastest may be worth one */
	if (most != fast && add_point(g, arena_printf(r->a, "more %s, at least %.0f %% of the possible "
						      "gain", memory, 100 * MOST), most) && !is_further)
		return;
	add_point(g, arena_printf(r->a, "more %s, the fastest plan", memory), fast);
}

/* Of the curve: plans with more SRAM, and the smallest at each price, by the time that is shown. */
static void
add_curve(struct gains *g)
{
	static const double price[] = { 1.02, HARDLY, SLOWER };
	const struct report *r = g->r;
	const struct point *last = NULL;
	add_faster(g);
	/* The application has no use for SRAM that only the NPU's copies are in. */
	if (!arena_is_in_sram(r))
		return;
	for (size_t i = 0; i < ARRAY_LEN(price); i++) {
		const struct point *p = smallest(r, price[i]);
		if (p && p != last)
			add_point(g, arena_printf(r->a, "less %s, up to %.0f %% more time", fast_text(r),
						  100 * price[i] - 100), p);
		last = p;
	}
}

/* cycles of this accelerator's fastest plan in so much SRAM */
static double
fastest_in(const struct report *r, double sram)
{
	double cycles = r->cycles;
	for (size_t i = 0; i < r->n_points; i++)
		if (r->point[i].sram <= sram)
			cycles = fmin(cycles, r->point[i].cycles);
	return cycles;
}

/* such as "alif-e7-hp, on this chip"; an accelerator that no known part has is on no chip yet */
static const char *
other_text(const struct report *r, const struct other *x)
{
	if (x->same_chip)
		return arena_printf(r->a, "%s, on this chip", x->name);
	if (x->part || !json_string(r->root, "part", NULL))
		return x->name;
	return arena_printf(r->a, "another chip with %s at %s", x->name, human_clock(r->a, x->clock));
}

/* Another accelerator, where this one has no plan as fast. */
static void
add_other(struct gains *g, const struct other *x)
{
	const struct report *r = g->r;
	const char *name = other_text(r, x);
	const char *memory = strcmp(x->memory, fast_text(r)) != 0 ? "SRAM" : x->memory;
	const struct {
		const struct point *p;
		const char *what;
	} plans[] = {
		{ &x->here, arena_printf(r->a, "%s, in no more %s", name, memory) },
		{ &x->any, name },
	};
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		const struct point *p = plans[i].p;
		double cycles = p->cycles + x->cpu_time;
		if (p->cycles > 0 && (!i || p->sram != x->here.sram) &&
		    cycles < fastest_in(r, p->sram) + r->cpu_time)
			add(g, (struct gain){
				.what = plans[i].what, .is_other = true,
				.same_chip = x->same_chip, .cycles = cycles,
				.sram = p->sram, .memory = x->memory,
				.how = x->part ? arena_printf(r->a, "--part=%s --arena-cache-size=%.0f",
							      x->part, p->sram) : "" });
	}
}

size_t
list_gains(const struct report *r, struct gain **out)
{
	struct gains g = { .r = r };
	add_curve(&g);
	for (size_t i = 0; i < r->n_others; i++)
		add_other(&g, &r->other[i]);
	*out = g.v;
	return g.n;
}
