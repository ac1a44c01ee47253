/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

struct job {
	void (*run)(void *ctx, size_t i);
	void *ctx;
	const struct turn *turn; /* NULL: as they are numbered */
	size_t n;
	atomic_size_t next;
};

struct turn {
	int64_t cost;
	size_t i;
};

static void *
worker(void *arg)
{
	struct job *j = arg;
	for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;)
		j->run(j->ctx, j->turn ? j->turn[i].i : i);
	return NULL;
}

static void *
thread(void *arg)
{
	(void)worker(arg);
	arena_forget_spare();
	return NULL;
}

static int
compare_turns(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;
	if (a->cost != b->cost)
		return a->cost > b->cost ? -1 : 1;
	return a->i < b->i ? -1 : 1;
}

static const struct turn *
make_turns(struct arena *a, const int64_t *cost, size_t n)
{
	struct turn *t = anew(a, struct turn, n + 1);
	for (size_t i = 0; i < n; i++)
		t[i] = (struct turn){ .cost = cost[i], .i = i };
	qsort(t, n, sizeof(*t), compare_turns);
	return t;
}

void
threads_for(unsigned n_threads, size_t n, const int64_t *cost,
	    void (*run)(void *ctx, size_t i), void *ctx)
{
	if (!n_threads) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		n_threads = cpus > 0 ? (unsigned)cpus : 1;
	}
	if (n_threads > MAX_THREADS)
		n_threads = MAX_THREADS;
	if (n_threads > n)
		n_threads = (unsigned)n;

	struct arena *a = arena_open();
	struct job j = { .run = run, .ctx = ctx, .n = n,
			 .turn = cost ? make_turns(a, cost, n) : NULL };
	pthread_t t[MAX_THREADS];
	unsigned started = 0;
	/* this thread works too; a thread that can't start is done without */
	while (started + 1 < n_threads &&
	       !pthread_create(&t[started], NULL, thread, &j))
		started++;
	(void)worker(&j);
	for (unsigned i = 0; i < started; i++)
		(void)pthread_join(t[i], NULL);
	arena_close(a);
}
