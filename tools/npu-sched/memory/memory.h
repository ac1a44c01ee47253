/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a plan: bytes in use at each time, and addresses. */
#ifndef NPU_SCHED_MEMORY_H
#define NPU_SCHED_MEMORY_H

#include "../network/network.h"
#include "../network/plan.h"

/* usage.c: bytes of the limited area in use at each of n kernels, initially bytes[kernel]. */
struct usage;
struct usage *usage_open(struct arena *a, const int64_t *bytes, int n);
void usage_add(struct usage *u, int first, int last, int64_t bytes);
/* The last of the kernels first..last at which more than `bytes` are in use; -1: none, and
 * *most is then the largest number of bytes at any of them. */
int usage_last_above(const struct usage *u, int first, int last, int64_t bytes,
		     int64_t *most);

/* gaps.c: free addresses between feature maps that have addresses.  Lifetimes are in time
 * steps. */
struct gaps;
struct gaps *gaps_open(struct arena *a, const struct plan *p, int place,
			 int64_t limit);
/* The lowest free address; false: it ends above the limit. */
bool gaps_find(struct gaps *h, struct g_range life, int64_t bytes, int64_t *at);
/* Puts a buffer at an address that gaps_find() found. */
void gaps_put(struct gaps *h, struct g_range life, int64_t bytes, int64_t at);
/* Promises that no later call asks for time steps before `now`. */
void gaps_pass(struct gaps *h, int64_t now);

/* live.c, interference.c, place.c: rectangles of feature maps, once the kernels are fixed; then
 * rectangles of buffers, each time that transfers change; then addresses. */
int64_t kernel_step(const struct sched *s, const struct plan *p, int kernel);
/* The first kernel at or after a time step; n_kernels: none. */
int kernel_at(const struct sched *s, const struct plan *p, int64_t step);
void find_maps(struct sched *s, struct plan *p);
void find_buffers(struct sched *s, struct plan *p);
/*
 * Returns the index of the first of n rising time steps that is t or later; n if there
 * is none.
 */
size_t step_at(const int64_t *step, size_t n, int64_t t);
/* The live bytes of a memory area at each of some rising time steps. */
void sum_bytes(const struct rect *rect, size_t n, int place, const int64_t *step,
	      size_t n_times, int64_t *sum);
/* Feature maps packed without buffers: rank of each group in the packing order, addresses. */
struct packed_maps {
	int64_t peak;
	int *rank;
	int64_t *at; /* in its memory area */
	int64_t beside, beside_bound; /* peak of the other area, its lower bound */
};
struct packed_maps pack_maps(struct sched *s, struct arena *a, struct plan *p);
/* Result: map_rank, map_at, addresses in the other memory area. */
void place_maps(const struct sched *s, struct plan *p, const struct packed_maps *m);
/* Assigns addresses outside of the limited area, unless there are some of this care. */
void place_beside(struct sched *s, struct plan *p, enum care care);
/* The peak of rectangles in the limited area that have addresses. */
void find_address_peak(struct sched *s, struct plan *p);
/* Packs all rectangles of the limited area.  A peak above `most` is useless to the caller, so
 * packing then saves work. */
void place_rects(struct sched *s, struct plan *p, enum care care, int64_t most);
/* Computes the lower bounds of the peak that a plan with addresses still lacks. */
void find_bounds(struct plan *p);

#endif
