/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --fit: fits the speed of the constants' memory and the cycles of an operation, such
 * that the calibrated estimate comes nearest to the measurements on a board.  The
 * result is a profile that --config reads.  Nearest means the least sum of |ln(estimate
 * / measured)|: a single outlier then does not distort the fit.
 */
#include "report.h"

#include "base/fixed.h"
#include "base/sandbox.h"
#include "target/accel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The fitted parameters.  With fewer measurements than parameters only the first ones
 * are fitted.
 */
enum parameter { SCALE, OPERATION, LATENCY, PARAMETERS };

struct point {
	struct network net;
	double measured;
};

struct fit {
	struct arena *a;
	struct point *point;
	size_t n, without; /* without: index of the point to leave out; n: none */
	struct err *e;
};

/* the memory system of a point with these parameters */
static struct memory_system
system_of(const struct point *p, const double v[PARAMETERS])
{
	enum { ACCESS = 16, MAX_LATENCY = 100000, MAX_BURST = 4096 };
	struct memory_system m = p->net.memory;
	struct mem_props *c = &m.mem[m.const_area];
	m.fit.measured = 1;
	c->clock_scale = v[SCALE];
	c->read_latency = (int)lrint(clamp_f64(v[LATENCY], 0, MAX_LATENCY));
	m.fit.operation_cycles = round(v[OPERATION]);
	/*
	 * The burst length makes the timeline charge a read of 16 bytes for the time
	 * that this latency costs.
	 */
	double worth = ACCESS + c->read_latency *
			memory_bytes_per_cycle(&m, p->net.accel, m.const_area);
	c->burst_bytes = (int)clamp_f64(floor(worth / ACCESS) * ACCESS, ACCESS,
				      MAX_BURST);
	return m;
}

/* cycles of a network; 0 and an error if its stream can't be costed */
static double
cycles_of(struct fit *f, const struct point *p, const double v[PARAMETERS])
{
	struct memory_system s = system_of(p, v);
	struct perf_machine m = perf_machine_calibrated(p->net.accel, &s);
	double sum = 0;
	for (size_t i = 0; i < p->net.n; i++) {
		struct arena *a = arena_open();
		struct err inner = { 0 };
		struct perf_run run;
		bool ok = perf_stream(a, &m, &p->net.op[i].stream, &run, &inner);
		sum += ok ? run.cycles : 0;
		if (!ok)
			(void)err_at(f->e, p->net.file, 0, "%s: %s",
				     p->net.op[i].name, inner.text);
		arena_close(a);
	}
	return sum;
}

static double
fit_error(struct fit *f, const double v[PARAMETERS])
{
	double sum = 0;
	for (size_t i = 0; i < f->n; i++) {
		double c = i == f->without ? 1 : cycles_of(f, &f->point[i], v);
		if (i != f->without && c > 0)
			sum += fabs(log(c / f->point[i].measured));
	}
	return sum;
}

/*
 * Multiplies or divides several parameters by a factor.  Keeps the result and returns
 * true if it is nearer.  The base-3 digits of direction say what happens to each
 * parameter: 0 keep, 1 up, 2 down.
 */
static bool
try_direction(struct fit *f, double v[PARAMETERS], int direction, double factor, double *best)
{
	static const double most[PARAMETERS] = { 100, 1e6, 1e5 };
	double w[PARAMETERS];
	memcpy(w, v, sizeof(w));
	for (int p = 0; direction; p++, direction /= 3) {
		double by = direction % 3 == 1 ? factor : 1 / factor;
		if (direction % 3)
			w[p] = clamp_f64(w[p] * by, 1e-6, most[p]);
	}
	double d = fit_error(f, w);
	if (d >= *best - 1e-9)
		return false;
	*best = d;
	memcpy(v, w, sizeof(w));
	return true;
}

/*
 * Descends with steps that become smaller.  Directions move several parameters at once:
 * a sum of absolute values has creases, along which no single parameter leads further
 * down.
 */
static double
descend(struct fit *f, double v[PARAMETERS], int n)
{
	static const double factor[] = { 2, 1.3, 1.1, 1.03, 1.01 };
	/* a factor of 2 needs a few rounds; the limit stops an endless cycle */
	enum { ROUNDS = 20 };
	static const int directions[PARAMETERS + 1] = { 1, 3, 9, 27 };
	double best = fit_error(f, v);
	for (size_t i = 0; i < ARRAY_LEN(factor) && !f->e->status; i++)
		for (int round = 0, moved = 1; moved && round < ROUNDS; round++) {
			moved = 0;
			for (int d = 1; d < directions[n]; d++)
				moved |= try_direction(f, v, d, factor[i], &best);
		}
	return best;
}

/* Starts from several points, because bandwidth and latency can replace each other. */
static void
find_parameters(struct fit *f, double v[PARAMETERS])
{
	static const double scale[] = { 0.5, 1, 2 };
	static const int latency[] = { 16, 128 };
	enum { FIRST_OPERATION = 100 }; /* cycles; not 0, because steps are factors */
	const struct memory_system *m = &f->point[0].net.memory;
	size_t used = f->n - (f->without < f->n);
	int n = used < PARAMETERS ? (int)used : PARAMETERS;
	double best = INFINITY;
	for (size_t i = 0; i < ARRAY_LEN(scale); i++)
		for (size_t j = 0; j < ARRAY_LEN(latency); j++) {
			double w[PARAMETERS] = {
				[SCALE] = m->mem[m->const_area].clock_scale * scale[i],
				[LATENCY] = n > LATENCY
						? latency[j]
						: m->mem[m->const_area].read_latency,
				[OPERATION] = n > OPERATION ? FIRST_OPERATION
							    : m->fit.operation_cycles,
			};
			double d = descend(f, w, n);
			if (d < best - 1e-9) {
				best = d;
				memcpy(v, w, sizeof(w));
			}
		}
}

/* ---- accuracy of the fit ------------------------------------------------------------ */

static int
by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Sets measured / estimated of each network, by a fit without this network.  Returns the
 * narrowest interval that contains 1 and 8 of 10 of these ratios.
 */
static struct perf_interval
leave_one_out(struct fit *f, double *ratio)
{
	struct perf_interval best = { 0, INFINITY };
	size_t n = f->n, k = (8 * n + 9) / 10;
	double *r = anew(f->a, double, n);
	for (size_t i = 0; i < n; i++) {
		double v[PARAMETERS];
		f->without = i;
		find_parameters(f, v);
		double c = cycles_of(f, &f->point[i], v);
		ratio[i] = r[i] = c > 0 ? f->point[i].measured / c : 1;
	}
	f->without = n;
	qsort(r, n, sizeof(*r), by_size);
	for (size_t i = 0; i + k <= n; i++)
		if (log(r[i + k - 1] / r[i]) < log(best.high / best.low))
			best = (struct perf_interval){ r[i], r[i + k - 1] };
	best.low = best.low < 1 ? best.low : 1;
	best.high = best.high > 1 ? best.high : 1;
	return best;
}

/* ---- the profile ------------------------------------------------------------------ */

static const char *
port_of(const struct memory_system *m, enum mem_area area)
{
	return m->axi[0] == area ? "Axi0" : "Axi1";
}

static void
put_number(struct text *t, const char *area, const char *key, double v)
{
	text_printf(t, "%s%s=", area, key);
	text_number(t, v);
	text_putc(t, '\n');
}

static void
put_memory(struct text *t, const struct memory_system *m, enum mem_area area)
{
	const struct mem_props *p = &m->mem[area];
	const char *name = memory_area_name(area);
	put_number(t, name, "_clock_scale", p->clock_scale);
	put_number(t, name, "_burst_length", p->burst_bytes);
	put_number(t, name, "_read_latency", p->read_latency);
	put_number(t, name, "_write_latency", p->write_latency);
	if (p->ports != 1)
		put_number(t, name, "_ports_used", p->ports);
}

static double
hundredths(double v)
{
	return round(v * 100) / 100;
}

static void
put_fit(struct text *t, struct fit *f, const char *name, const double v[PARAMETERS])
{
	double *left_out = anew(f->a, double, f->n);
	const struct point *first = &f->point[0];
	struct memory_system m = system_of(first, v);
	/* the interval of memories without measurements */
	struct perf_interval i = { 0.68, 1.59 };
	text_printf(t, "; fitted by npu-perf to %zu measurement%s on %s, from %s\n",
		    f->n, f->n == 1 ? "" : "s", first->net.accel->name,
		    m.system ? m.system : "?");
	if (f->n >= PARAMETERS)
		i = leave_one_out(f, left_out);
	for (size_t k = 0; k < f->n; k++) {
		double c = cycles_of(f, &f->point[k], v);
		text_printf(t, "; %s: measured %.0f, estimated %.0f, ratio %.2f",
			    text_plain(f->a, f->point[k].net.name),
			    f->point[k].measured, c, f->point[k].measured / c);
		if (f->n >= PARAMETERS)
			text_printf(t, "; left out: %.2f", left_out[k]);
		text_putc(t, '\n');
	}
	m.fit = (struct calibration){
		.measured = (int)f->n, .low = hundredths(i.low),
		.high = hundredths(i.high),
		.operation_cycles = m.fit.operation_cycles };
	text_printf(t, "[System_Config.%s]\n", name);
	put_number(t, "core_clock", "", m.clock);
	text_printf(t, "axi0_port=%s\naxi1_port=%s\n", memory_area_name(m.axi[0]),
		    memory_area_name(m.axi[1]));
	put_memory(t, &m, m.axi[0]);
	if (m.axi[1] != m.axi[0])
		put_memory(t, &m, m.axi[1]);
	text_printf(t, "fit_accelerator=%s\n", first->net.accel->name);
	put_number(t, "fit_measurements", "", m.fit.measured);
	put_number(t, "fit_operation_cycles", "", m.fit.operation_cycles);
	put_number(t, "fit_low", "", m.fit.low);
	put_number(t, "fit_high", "", m.fit.high);
	text_printf(t, "\n[Memory_Mode.%s]\nconst_mem_area=%s\narena_mem_area=%s\n"
		       "cache_mem_area=%s\n",
		    m.mode, port_of(&m, m.const_area), port_of(&m, m.arena_area),
		    port_of(&m, m.cache_area));
	if (m.cache_bytes)
		put_number(t, "arena_cache_size", "", (double)m.cache_bytes);
}

/* ---- the networks and their logs ---------------------------------------------------- */

void
fit_allow(const struct sandbox *s, const char *pair)
{
	const char *eq = strrchr(pair, '=');
	char *model = eq ? strndup(pair, (size_t)(eq - pair)) : NULL;
	if (model) {
		sandbox_read(s, model);
		sandbox_read(s, eq + 1);
	}
	free(model);
}

bool
fit_profile(struct arena *a, const struct options *o, struct text *t, struct err *e)
{
	struct fit f = { .a = a, .n = o->n_operands, .without = o->n_operands, .e = e };
	double v[PARAMETERS];
	f.point = anew(a, struct point, f.n);
	for (size_t i = 0; i < f.n; i++) {
		struct point *p = &f.point[i], *first = &f.point[0];
		struct options one = *o;
		struct measured m;
		const char *pair = o->operand[i], *eq = strrchr(pair, '=');
		if (!eq)
			return err_set(e, "--fit needs operands MODEL=LOG, not '%s'", pair);
		one.file = arena_strndup(a, pair, (size_t)(eq - pair));
		if (!read_network(a, &one, &p->net, e) ||
		    !read_measured(a, eq + 1, one.file, &m, e))
			return false;
		if (!m.inferences)
			return err_at(e, eq + 1, 0, "the log has no cycles of an inference");
		p->measured = measured_cycles(&m);
		if (p->net.accel != first->net.accel)
			return err_at(e, p->net.file, 0,
				      "is compiled for %s, but %s for %s: --fit needs one "
				      "accelerator", p->net.accel->name, first->net.file,
				      first->net.accel->name);
	}
	find_parameters(&f, v);
	put_fit(t, &f, o->fit, v);
	return !e->status;
}
