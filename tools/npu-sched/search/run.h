/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of one search share (search.c): its variants, and what was found. */
#ifndef NPU_SCHED_RUN_H
#define NPU_SCHED_RUN_H

#include "search.h"

#include "base/progress.h"

struct search {
	struct sched *s;
	/* the graph with copies by the DMA engine, and without; and for each the order
	 * that needs less memory than its own, or NULL */
	bool may_copy, copies;
	int *order[2];
	struct variant **variant;
	size_t n, cap;
	/* those that were explored this time */
	struct variant **explored;
	size_t n_explored, cap_explored;
	bool unfit; /* an operation has no block */
	double whole; /* cycles of whole maps in an order's first setting */
	struct found found;
	int64_t spill; /* that of found.within */
	double estimate; /* the least for the profile's own limit */
	struct progress progress;
	int round, rounds; /* through all settings, of as many at most */
};

/* what plans may share, but for the areas of maps */
struct setting {
	bool copies, reordered;
	int layout; /* as pack_shallow_maps takes it */
	int objective;
};

/* all that there are, those with copies first */
struct settings {
	struct setting v[2 * 2 * 2 * BLOCK_OBJECTIVES];
	int n;
};

/* settings.c */
struct settings list_settings(const struct search *x);
/* a variant of it: the search keeps it */
struct variant *open_setting(struct search *x, struct setting t);
/* to be explored: where it was before, that one */
struct variant *explored_setting(struct search *x, struct setting t);
struct variant *explored_spill(struct search *x, const struct variant *v,
			       const struct spills *l, size_t spill);
/* a variant of v with what a spill lets leave the SRAM, and all spills; these leave all
 * cascades of v */
const struct spills *list_spills(struct variant *v, struct arena *a, int steps);
struct variant *open_spill(struct search *x, const struct variant *v,
			   const struct spills *l, size_t spill);
/* the last one that was opened, if nothing came of it */
void drop_variant(struct search *x, const struct variant *v);
/* the graph with copies or without: variants are made of it as it is */
void set_copies(struct search *x, bool copies);

/* anchors.c: can it be faster than another form's plan?  as far as bounds of its divisions
 * tell, in the graph's order: to look for another one takes longer, and changes few of them */
bool may_beat(struct search *x);
/* leaves x->found.fastest and, if that is beyond the profile's own limit, within */
void search_anchors(struct search *x);
/* another form's plan is faster than any that was found */
bool is_hopeless(const struct search *x);

/*
 * variants.c.  Leaves x->found.front: first the plan of the least memory, which is all
 * that Size asks for; then, from an empty front, all plans whatever the limit is, beside
 * that one.  A limit below the smallest plan ends the search there.
 */
bool explore_all(struct search *x, int64_t limit);

#endif
