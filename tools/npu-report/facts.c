/* SPDX-License-Identifier: Apache-2.0 */
/* The facts that a reader wants first: what limits the network, and what would help. */
#include "report.h"

#include <math.h>
#include <string.h>

double
batch_of(const struct report *r)
{
	double batch = json_number(r->root, "batch_size", 1);
	return batch >= 1 ? batch : 1;
}

double
cycles_ms(const struct report *r, double cycles)
{
	return cycles / r->clock * 1e3 / batch_of(r);
}

struct time_ms
inference_ms(const struct report *r)
{
	double cpu = cycles_ms(r, r->cpu_time);
	struct time_ms x = { .ms = cycles_ms(r, r->whole) };
	x.low = cycles_ms(r, json_number(r->root, "calibrated_low", 0)) + cpu / r->cpu_error;
	x.high = cycles_ms(r, json_number(r->root, "calibrated_high", 0)) + cpu * r->cpu_error;
	return x;
}

bool
cpu_makes_range(const struct report *r)
{
	struct time_ms x = inference_ms(r);
	double cpu = cycles_ms(r, r->cpu_time) * (r->cpu_error - 1 / r->cpu_error);
	return 2 * cpu > x.high - x.low;
}

double
cpu_cycles_of(const struct report *r)
{
	double all = json_number(r->root, "cpu_cycles", 0) / batch_of(r);
	return json_number(r->root, "inference_cpu_cycles", all);
}

bool
arena_is_in_sram(const struct report *r)
{
	return !strcmp(json_string(r->root, "arena_in", "sram"), "sram");
}

struct shares
limit_shares(const struct report *r)
{
	struct shares s = { .most = LIMIT_COMPUTE };
	double all = 0;
	for (size_t i = 0; i < r->n_layers; i++)
		for (int k = 0; k < LIMITS; k++) {
			s.of[k] += r->layer[i].cycles[k];
			all += r->layer[i].cycles[k];
		}
	s.cpu = r->whole > 0 ? r->cpu_time / r->whole : 0;
	for (int k = 0; k < LIMITS; k++) {
		s.of[k] = all > 0 ? s.of[k] / all * (1 - s.cpu) : 0;
		if (s.of[k] > s.of[s.most])
			s.most = (enum limit)k;
	}
	return s;
}

/* name of a memory by its key in the report, such as "off_chip_flash" */
static const char *
memory_text(const char *key)
{
	static const struct {
		const char *key, *text;
	} names[] = {
		{ "sram", "SRAM" }, { "dram", "DRAM" },
		{ "on_chip_flash", "on-chip flash" },
		{ "off_chip_flash", "flash" },
	};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!strcmp(names[i].key, key))
			return names[i].text;
	return key;
}

const char *
limit_text(const struct report *r, enum limit l)
{
	switch (l) {
	case LIMIT_COMPUTE: return "computing";
	case LIMIT_SRAM: return "moving data in SRAM";
	case LIMIT_CONSTANTS:
		return arena_printf(r->a, "reading constants from %s",
				    memory_text(json_string(r->root, "constants_in",
							    "flash")));
	default: return "waiting for transfers";
	}
}

enum limit
layer_limit(const struct layer *l)
{
	enum limit most = LIMIT_COMPUTE;
	for (int k = 0; k < LIMITS; k++)
		if (l->cycles[k] > l->cycles[most])
			most = (enum limit)k;
	return most;
}

static double
key(const struct layer *l, size_t at)
{
	return *(const double *)(const void *)((const char *)l + at);
}

size_t
largest_layers(const struct report *r, size_t at_key, size_t most, const struct layer **out)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		size_t at = n;
		while (at > 0 && key(out[at - 1], at_key) < key(l, at_key))
			at--;
		if (at == most)
			continue;
		n += n < most;
		for (size_t k = n - 1; k > at; k--)
			out[k] = out[k - 1];
		out[at] = l;
	}
	return n;
}

/* ---- gains ------------------------------------------------------------------------ */

struct gains {
	const struct report *r;
	struct gain *v;
	size_t n, cap;
};

/* x.cycles: of the NPU */
static void
add(struct gains *g, struct gain x)
{
	x.cycles += g->r->cpu_time;
	agrow(g->r->a, g->v, g->n, &g->cap);
	g->v[g->n++] = x;
}

static void
add_point(struct gains *g, const char *what, const struct point *p)
{
	add(g, (struct gain){
		.what = what, .cycles = p->cycles, .sram = p->sram,
		.how = arena_printf(g->r->a, "--arena-cache-size=%.0f", p->sram) });
}

/*
 * Of the curve: the fastest plan with more SRAM, the smallest plan that is at most 10%
 * slower, and the smallest plan.
 */
static void
add_curve(struct gains *g)
{
	const double faster = 0.99, slower = 1.1, smaller = 0.9;
	const struct report *r = g->r;
	const struct point *more = NULL, *less = NULL, *least = NULL;
	for (size_t i = 0; i < r->n_points; i++) {
		const struct point *p = &r->point[i];
		if (p->sram > r->sram && p->cycles < faster * r->cycles &&
		    (!more || p->cycles < more->cycles))
			more = p;
		if (p->sram > smaller * r->sram)
			continue;
		if (p->cycles <= slower * r->cycles && (!less || p->sram < less->sram))
			less = p;
		if (!least || p->sram < least->sram)
			least = p;
	}
	if (more)
		add_point(g, "more SRAM", more);
	/* The application has no use for SRAM that only the NPU's copies are in. */
	if (!arena_is_in_sram(r))
		return;
	if (less)
		add_point(g, "less SRAM, hardly slower", less);
	if (least && least != less)
		add_point(g, "the least SRAM", least);
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

/* Other accelerators, where this one has no plan as fast. */
static void
add_others(struct gains *g)
{
	const struct report *r = g->r;
	for (size_t i = 0; i < r->n_others; i++) {
		const struct other *x = &r->other[i];
		bool same = x->here.cycles > 0 && x->here.sram == x->any.sram;
		if (x->here.cycles > 0 && x->here.cycles < fastest_in(r, r->sram))
			add(g, (struct gain){
				.what = arena_printf(r->a, "%s, in this SRAM", x->name),
				.how = "", .cycles = x->here.cycles,
				.sram = x->here.sram });
		if (x->any.cycles > 0 && !same && x->any.cycles < fastest_in(r, x->any.sram))
			add(g, (struct gain){ .what = x->name, .how = "",
					      .cycles = x->any.cycles,
					      .sram = x->any.sram });
	}
}

static void
add_memories(struct gains *g)
{
	const double least = 0.005; /* of the time; less is no help */
	const struct json *m = json_get(g->r->root, "twice_as_fast_cycles");
	for (size_t i = 0; m && i < m->n; i++) {
		if (m->item[i].kind != JSON_NUMBER ||
		    m->item[i].number > (1 - least) * g->r->cycles)
			continue;
		add(g, (struct gain){
			.what = arena_printf(g->r->a, "%s twice as fast",
					     memory_text(m->item[i].key)),
			.how = "", .cycles = m->item[i].number, .sram = g->r->sram,
			.is_memory = true });
	}
}

size_t
list_gains(const struct report *r, struct gain **out)
{
	struct gains g = { .r = r };
	add_curve(&g);
	add_others(&g);
	add_memories(&g);
	*out = g.v;
	return g.n;
}
