/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls run(ctx, i) for every i below n on up to n_threads threads (0: one for
 * every processor).  Each call fills slot i of something sized beforehand, so
 * the number of threads can't show in the result.  cost[i], in weights to encode (some
 * 30 ns each), or NULL: the costliest come first, lest one thread is left with them at
 * the end, and what costs less than to start a thread is done without.
 */
void threads_for(unsigned n_threads, size_t n, const int64_t *cost,
		 void (*run)(void *ctx, size_t i), void *ctx);

#endif
