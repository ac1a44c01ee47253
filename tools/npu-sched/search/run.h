/* SPDX-License-Identifier: Apache-2.0 */
/* One search (search.c): its variants and its results. */
#ifndef NPU_SCHED_RUN_H
#define NPU_SCHED_RUN_H

#include "search.h"

#include "base/progress.h"

struct search {
	struct sched *s;
	/* Copies by the DMA engine: some pay; they are in the graph now.  order: with and
	 * without copies, an order that needs less memory than the graph's; NULL: none. */
	bool may_copy, copies;
	int *order[2];
	struct variant **variant;
	size_t n, cap;
	/* variants explored in this round */
	struct variant **explored;
	size_t n_explored, cap_explored;
	bool unfit; /* some operation has no block */
	double whole; /* cycles of whole feature maps in the first setting of an order */
	struct found found;
	int64_t spill; /* the spill of found.within */
	double estimate; /* least division estimate for the profile's own limit */
	struct progress progress;
	/* passes through all settings, by round_cost(): done, this one, all */
	double done, cost, all;
};

/* The decisions of a variant, apart from the areas of feature maps. */
struct setting {
	bool copies, reordered;
	int layout; /* parameter of pack_shallow_maps() */
	int objective;
};

/* All settings, those with copies first. */
struct settings {
	struct setting v[2 * 2 * 2 * BLOCK_OBJECTIVES];
	int n;
};

/* settings.c */
struct settings list_settings(const struct search *x);
/* Opens a variant of a setting, which the search owns. */
struct variant *open_setting(struct search *x, struct setting t);
/* A variant to explore: the one explored before with the same decisions, or a new one. */
struct variant *explored_setting(struct search *x, struct setting t);
struct variant *explored_spill(struct search *x, const struct variant *v,
			       const struct spills *l, size_t spill);
/* All spills of v, for which all cascades of v are listed; NULL: an operation has no block.  A
 * variant of v in which the feature maps of one spill have left the SRAM. */
const struct spills *list_spills(struct variant *v, struct arena *a, int steps);
struct variant *open_spill(struct search *x, const struct variant *v,
			   const struct spills *l, size_t spill);
/* Closes v if it was opened last, because it gave no plan. */
void drop_variant(struct search *x, const struct variant *v);
/* Switches the graph, from which variants are made, to copies or to none. */
void set_copies(struct search *x, bool copies);

/* anchors.c: can this network be faster than the best plan of another rewrite?  By lower bounds
 * of its divisions, in the graph's order: finding another order takes longer and changes few
 * bounds. */
bool may_beat(struct search *x);
/* Result: x->found.fastest and, if that exceeds the profile's own limit, x->found.within. */
void search_anchors(struct search *x);
/* The plan of another rewrite is faster than all plans found. */
bool is_hopeless(const struct search *x);

/*
 * variants.c.  Result: x->found.front.  Finds the plan of the least memory first, which is all
 * that Size requests.  Then, from an empty front, finds plans for all limits and adds that
 * plan.  Stops early if the limit is below the smallest plan.
 */
bool explore_all(struct search *x, int64_t limit);

#endif
