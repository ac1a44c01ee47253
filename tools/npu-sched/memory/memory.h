/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a plan: how many are in use when, and where they lie. */
#ifndef NPU_SCHED_MEMORY_H
#define NPU_SCHED_MEMORY_H

#include "../sched.h"

/* usage.c: bytes in use at each of n kernels; to begin with, those given */
struct usage;
struct usage *usage_open(struct arena *a, const int64_t *bytes, int n);
void usage_add(struct usage *u, int first, int last, int64_t bytes);
/* the last of first..last where more bytes are in use; -1: none, and in most the most that
 * is at any of them */
int usage_last_above(const struct usage *u, int first, int last, int64_t bytes,
		     int64_t *most);

/* gaps.c: free addresses between maps that lie; life is in time steps */
struct gaps;
struct gaps *gaps_open(struct arena *a, const struct plan *p, int place,
			 int64_t limit);
bool gaps_find(struct gaps *h, struct g_range life, int64_t bytes, int64_t *at);
/* puts a buffer there */
void gaps_put(struct gaps *h, struct g_range life, int64_t bytes, int64_t at);
/* from now on nobody asks for time steps before `now` */
void gaps_pass(struct gaps *h, int64_t now);

/* live.c, interference.c, place.c: rectangles of maps once the kernels are known, then
 * of buffers, as often as transfers change; then addresses */
int64_t kernel_step(const struct sched *s, const struct plan *p, int kernel);
/* the first kernel that is not before a time step; n_kernels: none */
int kernel_at(const struct sched *s, const struct plan *p, int64_t step);
void find_maps(struct sched *s, struct plan *p);
/* bytes that they need at least in a place */
int64_t maps_least(struct sched *s, const struct plan *p, int place);
void find_buffers(struct sched *s, struct plan *p);
/* rectangle i is live together with with[first[i]] ... with[first[i + 1] - 1] */
struct interferences {
	size_t *first;
	uint32_t *with;
};
struct interferences find_interferences(struct arena *a, const struct rect *rect, size_t n);
/* the bytes of a place that are live at each of some rising time steps */
void sum_bytes(const struct rect *rect, size_t n, int place, const int64_t *step,
	      size_t n_times, int64_t *sum);
/* maps alone, packed: the order in which they were, and their addresses */
struct packed_maps {
	int64_t peak;
	int *rank;
	int64_t *at; /* in whichever place */
	int64_t beside, beside_bound; /* peak of the other place, and what it is at least */
};
struct packed_maps pack_maps(struct sched *s, struct arena *a, struct plan *p);
/* leaves map_rank, map_at, and the other place's addresses */
void place_maps(const struct sched *s, struct plan *p, const struct packed_maps *m);
/* the peak of rectangles that lie already, but for the other place */
void place_given(struct sched *s, struct plan *p);
/* a peak of the limited place above `most` is of no use, and need not be the least */
void place_rects(struct sched *s, struct plan *p, enum care care, int64_t most);
/* of a plan with addresses: the bounds that are not known yet */
void find_bounds(struct plan *p);

#endif
