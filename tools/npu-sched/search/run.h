/* SPDX-License-Identifier: Apache-2.0 */
/* One search (search.c): its variants and its results. */
#ifndef NPU_SCHED_RUN_H
#define NPU_SCHED_RUN_H

#include "search.h"

#include "base/progress.h"

/* Copies of points, whose places in a front others will take. */
struct points {
	struct point *v;
	size_t n;
};

struct search {
	struct sched *s;
	/* Copies by the DMA engine: some pay; they are in the graph now.  order: with and
	 * without copies, an order that needs less memory than the graph's; NULL: none. */
	bool may_copy, copies;
	int *order[2];
	struct variant **variant;
	size_t n, cap;
	/* variants with lists of candidates that are not explored yet */
	struct variant **listed;
	size_t n_listed, cap_listed;
	bool unfit; /* some operation has no block */
	struct points results; /* of the last question: those of each step of effort */
	struct points fastest; /* the same of the question without a limit */
	struct front front; /* plans that answer the question, or lead to its answer */
	struct progress progress;
	/* time of the rounds, as multiples of the first: those before, all */
	double done, all;
};

/* order.c: an order in which whole feature maps need less memory than now; NULL: none found. */
int *find_order(struct sched *s);
/* The first position of an order whose operation may not run there; -1: none. */
int order_obstacle(struct sched *s, const int *order);
/* replay.c: makes the plan of s->plan_input.  Result: s->plan.  False: an error. */
bool replay_plan(struct sched *s);

/* variants.c.  Switches the graph, from which variants are made, to copies or to none. */
void set_copies(struct search *x, bool copies);
/* Adds the points of a front to l. */
void take_points(struct points *l, struct arena *a, const struct front *f);
/* Asks a question.  Result: x->front.  False: an error.  near: NULL, or a variant with whose order
 * alone feature maps leave the SRAM; then x->results stay, and there are no steps of effort. */
bool explore(struct search *x, const struct variant *near, struct question q);

/* answer.c.  Result: s->front if it is asked for, else s->plan.  False: an error, or no plan is
 * small or fast enough. */
bool answer(struct search *x);

#endif
