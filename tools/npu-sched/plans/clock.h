/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of plans, and lower bounds of them. */
#ifndef NPU_SCHED_CLOCK_H
#define NPU_SCHED_CLOCK_H

#include "../network/plan.h"

/* clock.c: cycles of the stream that will be emitted, by the objective; their lower bound for any
 * addresses; the same cycles by the calibrated estimate. */
double plan_clock(struct sched *s, struct plan *p);
double plan_bound(struct sched *s, struct plan *p);
double plan_estimate(struct sched *s, struct plan *p);

#endif
