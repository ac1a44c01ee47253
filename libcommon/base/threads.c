/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct job {
	void (*run)(void *ctx, size_t i);
	void *ctx;
	size_t n;
	atomic_size_t next;
};

static void *
worker(void *arg)
{
	struct job *j = arg;
	for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;)
		j->run(j->ctx, i);
	return NULL;
}

void
threads_for(unsigned n_threads, size_t n, void (*run)(void *ctx, size_t i),
	    void *ctx)
{
	if (!n_threads) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		n_threads = cpus > 0 ? (unsigned)cpus : 1;
	}
	if (n_threads > MAX_THREADS)
		n_threads = MAX_THREADS;
	if (n_threads > n)
		n_threads = (unsigned)n;

	struct job j = { .run = run, .ctx = ctx, .n = n };
	pthread_t t[MAX_THREADS];
	unsigned started = 0;
	/* this thread works too; a thread that can't start is done without */
	while (started + 1 < n_threads &&
	       !pthread_create(&t[started], NULL, worker, &j))
		started++;
	(void)worker(&j);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(t[i], NULL);
}
