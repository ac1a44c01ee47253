/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include "base/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

/*
 * A thread's least part, of cost: some 3 ms of encoding.  Its start, stack and first
 * memory take 0.1 to 0.2, and once there is one, whatever the others allocate takes
 * longer.  TSan is to see threads whatever they are worth.
 */
#ifdef __SANITIZE_THREAD__
enum { THREAD_WORTH = 1 };
#else
enum { THREAD_WORTH = 1 << 18 };
#endif

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

/* how many threads have enough to do */
static unsigned
worth(const int64_t *cost, size_t n)
{
	int64_t sum = 0;
	for (size_t i = 0; cost && i < n && sum < (int64_t)MAX_THREADS * THREAD_WORTH; i++)
		sum += cost[i];
	int64_t most = cost ? sum / THREAD_WORTH : MAX_THREADS;
	return most < 1 ? 1 : most < MAX_THREADS ? (unsigned)most : MAX_THREADS;
}

void
threads_for(unsigned n_threads, size_t n, const int64_t *cost,
	    void (*run)(void *ctx, size_t i), void *ctx)
{
	if (!n_threads) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		n_threads = cpus > 0 ? (unsigned)cpus : 1;
	}
	unsigned most = worth(cost, n);
	if (n_threads > most)
		n_threads = most;
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
