/* SPDX-License-Identifier: Apache-2.0 */
/* The rule "channels": functions of channels.c, grains.c, shrink.c and losses.c. */
#ifndef REWRITE_PRUNE_H
#define REWRITE_PRUNE_H

#include "rewrite/channels.h"
#include "rewrite/rules.h"

struct pruner {
	struct exact *x;
	struct arena *a;
	struct graph *g;
	struct intervals values;
	int *users; /* for each weights record: number of operations */
	/* for each tensor: another tensor whose channels are tied to its channels; the root: itself */
	int *group;
	int32_t *grain; /* for each tensor that is a root: segments keep a multiple of it */
	bool *bricks;	/* for each tensor: NHCWB16 is possible */
	/* for each tensor: the number of its first channel.  The arrays below are indexed so. */
	int32_t *base;
	int32_t n;
	int32_t *tied; /* union-find: another channel of the same set; the root: itself */
	bool *needed;  /* of a root: the set stays */
	bool *cut;     /* an operand begins at the channel, or ends before it */
};
/* Without an accelerator, segments keep a multiple of this number. */
enum { GRAIN_OF_ALL = 8 };

/* ---- channels.c: sets of channels, and which sets operations need ---------------- */

/* True if channel c stays; prune_need() keeps the channel and those that are tied to it. */
bool prune_keeps(struct pruner *p, int32_t c);
void prune_need(struct pruner *p, int32_t c);
/* The number of channel k of an operand. */
int32_t prune_channel(const struct pruner *p, const struct g_operand *o, struct lanes l, int32_t k);
/* The index of the tensor that is the root of t's group. */
int prune_group(const struct pruner *p, const struct g_tensor *t);
/* How many of n channels from `first` on stay, or of all channels of a tensor. */
int32_t prune_count(struct pruner *p, int32_t first, int32_t n);
int32_t prune_count_tensor(struct pruner *p, const struct g_tensor *t);
/* Returns which channels of an operand stay, and their number. */
bool *prune_kept(struct pruner *p, const struct g_operand *o, int32_t *n);
/* Changes an operand's view to the channels of its tensor that stay. */
void prune_view(struct pruner *p, struct g_operand *o);

/* ---- grains.c: how many channels stay ---------------------------------------------- */

/* Keeps whole grains of a tensor's segments.  True: more channels stay than before. */
bool prune_fill(struct pruner *p, const struct g_tensor *t);
/* Chooses the grain of each group that loses channels.  Needs: an accelerator. */
void prune_choose(struct pruner *p);
/*
 * The cycles of all operations on the tensors of a group, if the segments keep whole grains;
 * INT32_MAX: all channels.  Leaves the grain in p.
 */
bool prune_cycles(struct pruner *p, int group, int32_t grain, struct cycles *c);

/* ---- shrink.c, losses.c ------------------------------------------------------------- */

/* Removes the channels that do not stay. */
bool prune_graph(struct pruner *p);
/* Adds a record for each group that loses channels.  Returns the number of records. */
int prune_note(struct pruner *p);

#endif
