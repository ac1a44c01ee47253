/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_THREADS_H
#define BASE_THREADS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls run(ctx, i) for every i below n on up to n_threads threads (0: one for every
 * processor).  Each call must write only slot i of an array that was allocated before,
 * so that the result does not depend on the number of threads.
 *
 * cost[i] is the work of call i in weights to encode (about 30 ns each); cost may be
 * NULL.  The most expensive calls run first; otherwise one thread could be left with
 * them at the end.  If all the work costs less than starting a thread, no thread is
 * started.
 */
void threads_for(unsigned n_threads, size_t n, const int64_t *cost,
		 void (*run)(void *ctx, size_t i), void *ctx);

/*
 * Until threads_close(), threads_for() uses threads of its own when this thread calls it.
 * Without this pair, all threads of the program share the threads that help them, and the
 * first one that calls gets them.  threads_close() waits for the threads to end.
 */
struct threads *threads_open(void);
void threads_close(struct threads *p);

#endif
