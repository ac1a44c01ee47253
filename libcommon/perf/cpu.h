/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the cycles of operators that stay on the CPU.  The figures are rough:
 * schema/cpu.def has their sources and their possible error.
 */
#ifndef PERF_CPU_H
#define PERF_CPU_H

#include "target/part.h"

struct text;
struct tfl_op;
struct tfl_subgraph;

/* the core that runs the operators that the NPU does not run */
struct cpu_core {
	const char *name;
	double factor; /* its cycles in proportion to those of a Cortex-M55 */
	double error;  /* the least of cpu_cost */
	double clock;  /* in Hz; 0: the clock of the NPU */
};

/* Returns the core of a part; if p is NULL, a Cortex-M55 at the NPU's clock. */
struct cpu_core cpu_core_of(const struct target_part *p);

struct cpu_cost {
	double cycles; /* 0: no figure exists, and error is 0, too */
	double error;  /* the true cycles are between cycles / error and cycles * error */
};

/*
 * Returns the cycles that a core needs for one call of an operator of g, from its kind, type and shapes.
 * No figure exists for custom operators, bodies of loops, and operators that the
 * table lacks.  Any operator that tfl_read accepts is allowed.
 */
struct cpu_cost cpu_cost(const struct cpu_core *core, const struct tfl_subgraph *g,
			 const struct tfl_op *op);

/* Rounds to two digits: more would suggest an accuracy that the estimate lacks. */
double cpu_cycles_rounded(double cycles);

/* Appends, for example, "about 12,000 cycles of a Cortex-M55", rounded to two digits. */
void cpu_cycles_text(struct text *t, double cycles, const struct cpu_core *core);

#endif
