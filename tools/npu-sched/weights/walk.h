/* SPDX-License-Identifier: Apache-2.0 */
/* The walk over kernels and transfers, and what it asks on the way. */
#ifndef SCHED_WALK_H
#define SCHED_WALK_H

#include "../memory/memory.h"
#include "transfers.h"

#include "stream/emit.h"

struct walk {
	struct sched *s;
	struct plan *p;
	enum strategy strategy;
	double saves[STRATEGIES]; /* cycles that other strategies may save */
	int64_t limit;
	struct usage *used; /* at each kernel: maps and buffers so far */
	struct gaps *gaps; /* or NULL: the sum of bytes decides alone */
	double t, tk, td; /* front end, kernels free, transfers free */
	double end[2];	  /* of the kernels issued last, older first */
	double dma_end[DMA_QUEUE]; /* of the transfers alike */
	double flash; /* until when kernels read flash in place */
	double *begin; /* of each kernel: cycles of those before it, with weights fetched */
	const bool *left; /* of each slice: it stays in place */
	double *copied; /* of each kernel that is a copy: when it ends */
	struct known_room {
		int slice; /* -1: none */
		int64_t bytes; /* of its buffer */
		int from;    /* there is room from this kernel on; -1: unknown */
		int none_at; /* there is none at this one; -1: unknown */
		int64_t most; /* bytes used where there is room */
	} room;
	struct lut_slots tables;
	int next;	  /* first slice that may have to be fetched */
	int64_t sent;	  /* of its bytes */
	int node_start, node_end; /* kernels of this node */
};

/* pays.c: may scales alone be fetched, by this strategy? */
bool may_be_apart(const struct walk *w, int slice);
/* what to fetch of a slice from time t on, if anything, where the first kernel that
 * wants it could begin at `begin` */
enum held goal_of(const struct walk *w, int slice, double t, double begin);
/* do all uses of the slice end earlier than in place if that is fetched from t on? */
bool fetching_pays(struct walk *w, int slice, enum held held, double t, double begin);
/* what becomes of a slice is decided: what scales alone might save */
void note_savings(struct walk *w, int slice);

#endif
