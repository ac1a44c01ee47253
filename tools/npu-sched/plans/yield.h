/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of --yield-every: yield.c chooses the borders, pieces.c divides the graph. */
#ifndef NPU_SCHED_YIELD_H
#define NPU_SCHED_YIELD_H

#include "../sched.h"

struct border {
	size_t step;  /* the first step behind it */
	double at;    /* cycles of the undivided stream before it */
	double extra; /* cycles that a piece from here takes more than its part of the stream */
	int64_t kept; /* live bytes */
	bool cut;
	/* the best choice of cuts up to this border, which is one of them */
	int64_t pieces, sum; /* sum: of the live bytes; pieces 0: no choice yet */
	size_t before;	     /* border where the last piece begins */
};

struct piece {
	size_t step;	     /* its first step */
	struct g_node *of;   /* the undivided node */
	bool first;	     /* of that node */
	struct g_node *node; /* the piece's own; the first piece has the undivided node's */
};

struct yield {
	struct sched *s;
	/* the graph as it was; steps are in the order of execution */
	size_t n, n_nodes;
	struct g_step **step;
	struct g_node **node;  /* of each step */
	int64_t *moment;       /* of each step: when the first kernel at or behind it runs */
	struct g_node **nodes, *was; /* was: the records */
	int next_nodes;
	struct g_node **node_of; /* of each operation */
	struct g_range *live;	 /* of each buffer */
	struct g_tensor *tensor; /* the records of the tensors */
	int64_t arena;		 /* bytes of the arena */
	/* of each buffer: first and last step that computes with it; lo is n: none */
	struct g_range *users;
	size_t *fetched; /* of each buffer: its first fetch; n: none */

	int64_t *kept;	/* live bytes before each moment */
	int *fixed;	/* weights in use in the NPU's own SRAM before and after it */
	struct border *border; /* of each node, from its first step to behind its last */
	size_t n_borders, cap;
	struct piece *piece;
	size_t n_pieces;
	size_t *piece_of; /* of each step */
};

/* pieces.c: lists the pieces between the cuts, and divides the original graph into them */
void yield_divide(struct yield *y);
/* True if a fetch is moved behind a border between it and the first kernel that uses it. */
bool yield_moves(const struct yield *y, const struct g_buffer *b);
/* True if a tensor has an address and a live range. */
bool yield_is_live(const struct g_tensor *t);

#endif
