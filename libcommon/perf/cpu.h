/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates the cycles of operators that stay on the CPU.  The figures are rough:
 * schema/cpu.def has their sources and their possible error.
 */
#ifndef PERF_CPU_H
#define PERF_CPU_H

#include "tflite/tflite.h"

struct text;

#define CPU_NAME "Cortex-M55"

/*
 * Returns the cycles of one call of an operator of g, from its kind, type and shapes.
 * Returns 0 if no figure exists: custom operators, bodies of loops, operators that the
 * table lacks.  Any operator that tfl_read accepts is allowed.
 */
double cpu_cycles(const struct tfl_subgraph *g, const struct tfl_op *op);

/* Rounds to two digits: more would suggest an accuracy that the estimate lacks. */
double cpu_cycles_rounded(double cycles);

/* Appends, for example, "about 12,000 cycles of a Cortex-M55", rounded to two digits. */
void cpu_cycles_text(struct text *t, double cycles);

#endif
