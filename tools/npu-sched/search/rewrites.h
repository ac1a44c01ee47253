/* SPDX-License-Identifier: Apache-2.0 */
/* rewrites.c: rewrites of a network, which compute the same and are planned one by one. */
#ifndef NPU_SCHED_REWRITES_H
#define NPU_SCHED_REWRITES_H

#include "../sched.h"

/* Begins to plan a rewrite of the graph of s on its own; e is for its errors. */
void rewrite_open(const struct sched *s, struct graph *rewrite, struct sched *out,
		  struct err *e);
/* The plan's cycles by --model: as predicted, or of the search if passes end before the
 * prediction. */
double objective_of(const struct sched *s);
/* Words for a user behind such cycles: "by the mean of both estimates" of --model=robust. */
const char *by_objective(const struct options *o);
/* s becomes the best rewrite of its graph, but keeps its place for errors. */
void adopt_rewrite(struct sched *s, const struct sched *best);
/* Is x's plan better by the requested goal?  Where SRAM is saved for cycles (--within), by the
 * fastest plan.  False if both are equal in bytes and cycles. */
bool is_better_rewrite(const struct sched *x, const struct sched *y);

/* Texts for --front: what changes from a row of x to a row of y, and from y to x. */
struct rewrite_changes {
	const char *to, *from; /* the rewrite of y */
};
/*
 * Compares x, a rewrite with a plan, with the best so far.  *best becomes the better one, with
 * the fronts of both, and the plan of the other is closed.  No best is there while !*any.  True
 * if x is the best now.
 */
bool keep_rewrite(struct sched *best, bool *any, struct sched *x, bool is_better,
		  const struct rewrite_changes *changes);

#endif
