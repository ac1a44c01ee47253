/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What operators cost that stay on the CPU.  Rough: schema/cpu.def says where
 * the numbers come from, and how far off they can be.
 */
#ifndef PERF_CPU_H
#define PERF_CPU_H

#include "tflite/tflite.h"

#define CPU_NAME "Cortex-M55"

/*
 * Cycles of one call of an operator of g by its kind, type and shapes: above 0,
 * or 0 where nothing is known of them (custom operators, bodies of loops,
 * operators outside of the table).  Total: any operator that tfl_read accepts.
 */
double cpu_cycles(const struct tfl_subgraph *g, const struct tfl_op *op);

/* "about 12,000 cycles of a Cortex-M55", two digits of which count */
void cpu_cycles_text(struct text *t, double cycles);

#endif
