/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of weights, and their sizes. */
#ifndef NPU_SCHED_SLICES_H
#define NPU_SCHED_SLICES_H

#include "../costs/costs.h"

/*
 * slices.c: make_slices() cuts weights into slices of estimated size, as the plan decides;
 * measure_slices() replaces these sizes by exact ones.  False: an error.
 */
void make_slices(struct sched *s, struct plan *p);
bool measure_slices(struct sched *s, struct plan *p);
/* Coding of a measured slice (GRAPH_CODING); empty: not measured, or of the fast decoder. */
struct bytes slice_coding(struct sched *s, const struct plan *p, size_t slice);
/* Measures all weights records; later estimates are in proportion to them.  False: an error. */
bool measure_whole(struct sched *s);
/* Lower bound of an operation's cycles when it runs whole, wherever its weights are.  Needs:
 * a block fits. */
double whole_lower_bound(struct sched *s, int op, enum block_objective objective, enum cut cut);

#endif
