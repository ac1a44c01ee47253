/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stddef.h>

/*
 * Calls run(ctx, i) for every i below n on up to n_threads threads (0: one for
 * every processor).  Each call fills slot i of something sized beforehand, so
 * the number of threads can't show in the result.
 */
void threads_for(unsigned n_threads, size_t n, void (*run)(void *ctx, size_t i),
		 void *ctx);

#endif
