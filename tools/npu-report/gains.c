/* SPDX-License-Identifier: Apache-2.0 */
/* What would help: other plans of the curve, and other accelerators. */
#include "report.h"

#include "base/knee.h"

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
 * Adds a change; false: it is not worth a line.  It is if it saves 3 % of the time; an option also
 * if it saves 10 % of the memory at less than 1.7 times the time.  Nobody takes another NPU to save
 * SRAM.
 */
static bool
add(struct gains *g, struct gain x)
{
	const double time = 0.97;
	const struct target_part *p = g->r->part;
	bool saves_memory = x.sram < SMALLER * g->r->sram && x.cycles < SLOWER * g->r->whole;
	if (!(x.cycles < time * g->r->whole) && (x.is_other || !saves_memory))
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

const char mean_text[] = "plans are chosen by each kernel's mean of the calibrated estimate (shown) "
			 "and Arm's published formulas";

/*
 * npu-sched chooses plans by the mean of two estimates (npu-sched-search(7), mean_text).  The reader sees
 * the calibrated one, and wonders why a plan of hardly more time was not chosen, or of much less,
 * if the mean is not near.
 */
static bool
add_point(struct gains *g, const char *what, const struct point *p)
{
	const double near = 0.02; /* the resolution of the calibrated estimate */
	const struct report *r = g->r;
	double own = json_number(r->root, "objective_cycles", 0) + r->cpu_time;
	double objective = p->objective + r->cpu_time, cycles = p->cycles + r->cpu_time;
	bool is_clear = cycles >= HARDLY * r->whole || !json_get(r->root, "objective_cycles") ||
			!(p->objective > 0) || fabs(objective / own - cycles / r->whole) < near;
	return add(g, (struct gain){
		.what = what, .cycles = cycles, .sram = p->sram, .memory = fast_text(r),
		.objective = is_clear ? NULL
				      : arena_printf(r->a, "%s time by the mean with Arm's formulas",
						     more_text(r->a, objective, own)),
		.how = arena_printf(r->a, "--arena-cache-size=%.0f", p->sram) });
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
	const struct point *fast = NULL, *most = NULL;
	/* of equal ones the first, which has the least SRAM */
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram > r->sram && p->cycles < (fast ? fast->cycles : r->cycles))
			fast = p;
	}
	if (!fast)
		return;
	double within = r->cycles - MOST * (r->cycles - fast->cycles);
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram > r->sram && p->cycles <= within && (!most || p->sram < most->sram))
			most = p;
	}
	bool is_further = most->cycles - fast->cycles >= FURTHER * r->whole;
	/* where that saves too little for a line, the fastest may be worth one */
	if (most != fast && add_point(g, arena_printf(r->a, "more %s, at least %.0f %% of the possible "
						      "gain", memory, 100 * MOST), most) && !is_further)
		return;
	add_point(g, arena_printf(r->a, "more %s, the fastest plan", memory), fast);
}

/* Another accelerator, where this one has no plan as fast. */
static void
add_other(struct gains *g, const struct other *x)
{
	const struct report *r = g->r;
	const char *name = x->name; /* an accelerator that no known part has is on no chip yet */
	if (x->same_chip) {
		name = arena_printf(r->a, "%s, on this chip", x->name);
	} else if (!x->part && json_string(r->root, "part", NULL)) {
		const struct target_part *p = NULL;
		size_t n = 0;
		while ((p = target_part_at(n)) && strcmp(p->accel, x->name) != 0)
			n++;
		name = arena_printf(r->a, "another chip with %s at %s%s", x->name,
				    human_clock(r->a, x->clock), p ? "" : ", which no known part has");
	}
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
		double own = r->cycles; /* of this accelerator's fastest plan in so much SRAM */
		for (size_t k = 0; k < r->n_points; k++)
			if (r->point[k].sram <= p->sram)
				own = fmin(own, r->point[k].cycles);
		if (p->cycles > 0 && (!i || p->sram != x->here.sram) && cycles < own + r->cpu_time)
			add(g, (struct gain){
				.what = plans[i].what, .is_other = true,
				.same_chip = x->same_chip, .cycles = cycles,
				.sram = p->sram, .memory = x->memory,
				.npu = !(r->cpu_time > 0) ? NULL
				       : arena_printf(r->a, "of the NPU alone %s",
						      more_text(r->a, p->cycles, r->cycles)),
				.how = x->part ? arena_printf(r->a, "--part=%s --arena-cache-size=%.0f",
							      x->part, p->sram) : "" });
	}
}

/* Changes beside the size of the arena: integers at the ends, and constants in SRAM, which is worth
 * a line where it saves a tenth of the time, as it takes SRAM and a change of the application. */
static void
add_options(struct gains *g)
{
	const double worth = 0.9;
	const struct report *r = g->r;
	const double much = 0.5; /* of the SRAM */
	double conversions = 0, least = 0; /* least: bytes of the largest float end and its integers */
	for (size_t i = 0; i < r->n_nodes; i++)
		if (r->node[i].layer < 0 && r->node[i].reason &&
		    is_left_out_by_integer_io(r->node[i].reason))
			conversions += r->node[i].cpu_time;
	for (size_t i = 0; i < r->n_spans; i++)
		if (is_float_end(&r->span[i]))
			least = fmax(least, r->span[i].bytes * 5 / 4);
	add(g, (struct gain){ .what = "integer inputs and outputs: no conversion on the CPU",
			      .cycles = r->whole - conversions, .sram = r->sram,
			      .needs = least < much * r->sram || !arena_is_in_sram(r) ? NULL
				  : arena_printf(r->a, "with float ones, no plan takes less than %s of %s",
						 human_bytes(r->a, least), fast_text(r)),
			      .memory = fast_text(r), .how = "--integer-io" });
	for (size_t i = 0; i < r->n_others; i++) {
		const struct other *x = &r->other[i];
		if (x->mode && x->any.cycles > 0 && x->any.cycles + r->cpu_time < worth * r->whole)
			add(g, (struct gain){
				.what = arena_printf(r->a, "constants in %s, too", fast_text(r)),
				.cycles = x->any.cycles + r->cpu_time,
				.sram = x->any.sram + x->any.stored,
				.memory = fast_text(r),
				.needs = "this counts the constants, which the application copies there",
				/* without the limit, a smaller plan of hardly more time is chosen */
				.how = arena_printf(r->a, "--memory-mode=%s --arena-cache-size=%.0f",
						    x->mode, x->any.sram) });
	}
}

/* The plan that npu-sweep --pick takes of the curve; NULL: there is no curve. */
static const struct point *
take_of_curve(const struct report *r)
{
	struct knee_point *v = anew(r->a, struct knee_point, r->n_points + 1);
	const struct point **of = anew(r->a, const struct point *, r->n_points + 1);
	size_t n = 0;
	for (size_t i = 0; i < r->n_points; i++) {
		if (r->point[i].is_beaten)
			continue;
		v[n] = (struct knee_point){ .sram = r->point[i].sram,
					    .time = r->point[i].cycles + r->cpu_time };
		of[n++] = &r->point[i];
	}
	return n ? of[knee_find(v, n).take] : NULL;
}

size_t
list_gains(const struct report *r, struct gain **out)
{
	static const double price[] = { 1.02, HARDLY, SLOWER };
	struct gains g = { .r = r };
	const struct point *last = NULL, *take = take_of_curve(r);
	add_options(&g);
	/* of the curve: plans with more SRAM, and the smallest at each price, by the time that is shown */
	add_faster(&g);
	/* The application has no use for SRAM that only the NPU's copies are in. */
	const size_t n_prices = arena_is_in_sram(r) ? ARRAY_LEN(price) : 0;
	for (size_t i = 0; i < n_prices; i++) {
		const struct point *least = NULL;
		for (size_t k = 0; k < r->n_points; k++) {
			const struct point *p = &r->point[k];
			if (p->sram < SMALLER * r->sram &&
			    p->cycles + r->cpu_time < price[i] * r->whole &&
			    (!least || p->sram < least->sram))
				least = p;
		}
		/* the last price is high: below the knee, a byte costs more time than on the average */
		const double time = take ? take->cycles + r->cpu_time : 0;
		if (i == n_prices - 1 && time >= HARDLY * r->whole && time < SLOWER * r->whole &&
		    take->sram < SMALLER * r->sram)
			least = take;
		if (least && least != last)
			add_point(&g, arena_printf(r->a, "less %s", fast_text(r)), least);
		last = least;
	}
	for (size_t i = 0; i < r->n_others; i++)
		if (!r->other[i].mode)
			add_other(&g, &r->other[i]);
	*out = g.v;
	return g.n;
}
