/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up a rate by operator class and type in schema/cpu.def and multiplies it by the
 * work.
 */
#include "perf/cpu.h"

#include "base/text.h"
#include "target/part.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum unit { MACS_FIRST, MACS_LAST, MACS_INNER, MACS_INPUT, MACS_COMMON, STEPS,
	    TAPS, OUTPUTS, INPUTS, CALLS };

enum column { BITS_8, BITS_16, BITS_32, FLOATS, COLUMNS };

enum counted { NONE, BYTES, ALL };

enum class { CLASS_none,
#define CPU_CORE(...)
#define CPU_CLASS(class, ...) CLASS_##class,
#include "cpu.def"
};

#define CPU_CORE(...)
static const struct class_info {
	enum unit unit;
	double rate[COLUMNS];
	double call;
	enum counted counted;
} classes[] = {
#define CPU_CLASS(class, u, i8, i16, i32, f32, c, k)                          \
	[CLASS_##class] = { .unit = (u), .rate = { i8, i16, i32, f32 },       \
			    .call = (c), .counted = (k) },
#include "cpu.def"
};

static const struct cpu_core cores[] = {
#define CPU_CLASS(...)
#define CPU_CORE(n, f, s, source) { .name = n, .factor = f, .error = s },
#include "cpu.def"
};

static const unsigned char class_of[TFL_BUILTIN_LIMIT] = {
#define OPERATOR(name, kernel, real, adder, cpu, ...) [TFL_##name] = CLASS_##cpu,
#include "operators.def"
#undef OPERATOR
};

/* ---- shapes --------------------------------------------------------------- */

static double
elements(const struct tfl_tensor *t)
{
	return t ? (double)tfl_elements(t) : 0;
}

/*
 * Counts from the last dimension, which is back = 0; returns 1 if the dimension is
 * absent.
 */
static double
dimension(const struct tfl_tensor *t, int back)
{
	int i = t ? t->rank - 1 - back : -1;
	return i >= 0 && t->dim[i] > 0 ? t->dim[i] : 1;
}

/* ---- units of work ---------------------------------------------------------- */

static double
work(enum unit u, const struct tfl_subgraph *g, const struct tfl_op *op)
{
	const struct tfl_tensor *a = tfl_input(g, op, 0), *b = tfl_input(g, op, 1);
	double out = 0;
	for (int i = 0; i < op->n_out; i++)
		out += elements(&g->tensor[op->out[i]]);
	switch (u) {
	case MACS_FIRST:
		return out * elements(b) / dimension(b, b ? b->rank - 1 : 0);
	case MACS_LAST:
		return out * elements(b) / dimension(b, 0);
	case MACS_INNER:
		return out * dimension(b, 0);
	case MACS_INPUT:
		return elements(tfl_input(g, op, 2)) * elements(b) / dimension(b, 0);
	case MACS_COMMON:
		return out * dimension(a, TFL_OPT(op, BatchMatMulOptions, adj_x) != 0);
	case STEPS: {
		/* elements of all weight matrices, each read once per step and sequence */
		double weights = 0;
		for (int k = 1; k < op->n_in; k++) {
			const struct tfl_tensor *t = tfl_input(g, op, k);
			if (t && t->data.p && t->rank >= 2)
				weights += elements(t);
		}
		return elements(a) / dimension(a, 0) * weights;
	}
	case TAPS: {
		double h = (double)TFL_OPT(op, Pool2DOptions, filter_height);
		double w = (double)TFL_OPT(op, Pool2DOptions, filter_width);
		return h > 0 && w > 0 ? out * (h * w) : out;
	}
	case OUTPUTS:
		return out;
	case INPUTS:
		return elements(a);
	case CALLS:
		return 0;
	}
	return 0;
}

/* ---- the type ------------------------------------------------------------------ */

static enum column
column_of(const struct tfl_tensor *t)
{
	switch (t ? t->type : TFL_INT32) {
	case TFL_INT4:
	case TFL_INT8:
	case TFL_UINT8:
	case TFL_BOOL:
		return BITS_8;
	case TFL_INT16:
	case TFL_UINT16:
		return BITS_16;
	case TFL_FLOAT16:
	case TFL_FLOAT32:
	case TFL_FLOAT64:
		return FLOATS;
	default:
		return BITS_32;
	}
}

/* ---- public ---------------------------------------------------------------------- */

struct cpu_cost
cpu_cost(const struct cpu_core *core, const struct tfl_subgraph *g, const struct tfl_op *op)
{
	const double error_counted = 3, error_inferred = 10;
	if (op->code < 0 || op->code >= TFL_BUILTIN_LIMIT ||
	    class_of[op->code] == CLASS_none)
		return (struct cpu_cost){ 0 };
	const struct class_info *c = &classes[class_of[op->code]];
	/*
	 * the first input of a transposed convolution is a shape, that of a split may be an axis
	 */
	const struct tfl_tensor *data = tfl_input(g, op, c->unit == MACS_INPUT ? 2 : 0);
	if (c->unit == OUTPUTS && op->n_out)
		data = &g->tensor[op->out[0]];
	enum column column = column_of(data);
	bool counted = c->counted == ALL || (c->counted == BYTES && column == BITS_8);
	return (struct cpu_cost){
		.cycles = core->factor * (c->call + c->rate[column] * work(c->unit, g, op)),
		.error = fmax(counted ? error_counted : error_inferred, core->error),
	};
}

struct cpu_core
cpu_core_of(const struct target_part *p)
{
	struct cpu_core core = cores[0];
	for (size_t i = 0; p && i < ARRAY_LEN(cores); i++)
		if (!strcmp(cores[i].name, p->cpu))
			core = cores[i];
	core.clock = p ? p->cpu_clock : 0;
	return core;
}

double
cpu_cycles_rounded(double v)
{
	double unit = 1;
	while (v / unit >= 100)
		unit *= 10;
	return round(v / unit) * unit;
}

void
cpu_cycles_text(struct text *t, double cycles, const struct cpu_core *core)
{
	char digits[64];
	(void)snprintf(digits, sizeof(digits), "%.0f", cpu_cycles_rounded(cycles));
	size_t n = strlen(digits);
	text_puts(t, "about ");
	for (size_t i = 0; i < n; i++) {
		text_putc(t, digits[i]);
		if (i + 1 < n && (n - 1 - i) % 3 == 0)
			text_putc(t, ',');
	}
	text_printf(t, " cycles of a %s", core->name);
}
