/* SPDX-License-Identifier: Apache-2.0 */
#include "base/threads.h"

#include "base/arena.h"
#include "base/attempt.h"
#include "base/block.h"
#include "base/diag.h"

#ifdef __wasi__ /* WASI has no threads, so the order of the calls does not matter */

void
threads_for(unsigned n_threads, size_t n, const int64_t *cost,
	    void (*run)(void *ctx, size_t i), void *ctx)
{
	(void)n_threads, (void)cost;
	for (size_t i = 0; i < n; i++)
		run(ctx, i);
}

struct threads *
threads_open(void)
{
	return NULL;
}

void
threads_close(struct threads *p)
{
	(void)p;
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_THREADS = 64 };

/*
 * The least cost that a thread is worth: about 0.4 ms of encoding.  Waking a thread
 * takes a tenth of that, and once there are threads, each allocation takes longer.
 * ThreadSanitizer shall see threads for any cost.
 */
#ifdef __SANITIZE_THREAD__
enum { THREAD_WORTH = 1 };
#else
enum { THREAD_WORTH = 1 << 15 };
#endif

struct job {
	void (*run)(void *ctx, size_t i);
	void *ctx;
	const struct turn *turn; /* NULL: in the order of their numbers */
	size_t n;
	atomic_size_t next;
	atomic_bool abandoned;
};

struct turn {
	int64_t cost;
	size_t i;
};

/* Between jobs the threads of a pool wait, and keep the memory that they have touched. */
struct threads {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	pthread_t thread[MAX_THREADS];
	unsigned n;
	struct job *job;  /* NULL: no job */
	unsigned wanted;  /* number of threads that may still join the job */
	unsigned working; /* number of threads that have joined it */
	bool over;
	void *call; /* attempt_call() of the thread that opened the pool */
};
#define NO_THREADS                                                                      \
	{ .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER,          \
	  .idle = PTHREAD_COND_INITIALIZER }

/* the threads of a program, which live until the program exits */
static struct threads of_program = NO_THREADS;
/* the pool that this thread uses or belongs to; NULL: that of the program */
static _Thread_local struct threads *own;

static void
work(struct job *j)
{
	for (size_t i; !atomic_load(&j->abandoned) && (i = atomic_fetch_add(&j->next, 1)) < j->n;)
		if (!attempt(j->run, j->ctx, j->turn ? j->turn[i].i : i))
			atomic_store(&j->abandoned, true);
}

static void *
worker(void *arg)
{
	struct threads *p = own = arg;
	attempt_join(p->call);
	(void)pthread_mutex_lock(&p->lock);
	while (!p->over) {
		if (!p->wanted) {
			(void)pthread_cond_wait(&p->work, &p->lock);
			continue;
		}
		struct job *j = p->job;
		p->wanted--;
		p->working++;
		(void)pthread_mutex_unlock(&p->lock);
		work(j);
		(void)pthread_mutex_lock(&p->lock);
		if (!--p->working)
			(void)pthread_cond_signal(&p->idle);
	}
	(void)pthread_mutex_unlock(&p->lock);
	arena_forget_spare();
	return NULL;
}

static void
end_threads(struct threads *p)
{
	(void)pthread_mutex_lock(&p->lock);
	p->over = true;
	(void)pthread_cond_broadcast(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
	while (p->n)
		(void)pthread_join(p->thread[--p->n], NULL);
}

static void
end_program(void)
{
	end_threads(&of_program);
}

struct threads *
threads_open(void)
{
	static const struct threads none = NO_THREADS;
	struct threads *p = own ? NULL : block_alloc(sizeof(*p));
	if (!p)
		return NULL;
	*p = none;
	p->call = attempt_call();
	return own = p;
}

void
threads_close(struct threads *p)
{
	if (!p)
		return;
	end_threads(p);
	own = NULL;
	block_free(p, sizeof(*p));
}

/* Waits for the threads that have joined the job; meanwhile the call's caller may cancel it. */
static void
wait_for_idle(struct threads *p)
{
	enum { INTERVAL = 50 * 1000 * 1000, SECOND = 1000 * 1000 * 1000 }; /* ns */
	while (p->working) {
		struct timespec t;
		(void)clock_gettime(CLOCK_REALTIME, &t);
		t.tv_nsec += INTERVAL;
		t.tv_sec += t.tv_nsec / SECOND;
		t.tv_nsec %= SECOND;
		(void)pthread_cond_timedwait(&p->idle, &p->lock, &t);
		(void)attempt_is_over();
	}
}

/*
 * Runs a job on this thread and up to n others.  If the pool already has a job, this
 * function was called from that job, and this thread does all the work alone.
 */
static void
share(struct job *j, unsigned n)
{
	struct threads *p = own ? own : &of_program;
	(void)pthread_mutex_lock(&p->lock);
	bool shared = !p->job && n;
	if (shared) {
		if (p == &of_program && !p->n)
			(void)atexit(end_program);
		/* if a thread can't start, the pool stays smaller */
		while (p->n < n && !pthread_create(&p->thread[p->n], NULL, worker, p))
			p->n++;
		p->job = j;
		p->wanted = n;
		(void)pthread_cond_broadcast(&p->work);
	}
	(void)pthread_mutex_unlock(&p->lock);
	work(j);
	if (shared) {
		(void)pthread_mutex_lock(&p->lock);
		p->wanted = 0;
		wait_for_idle(p);
		p->job = NULL;
		(void)pthread_mutex_unlock(&p->lock);
	}
	if (atomic_load(&j->abandoned))
		abandon();
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

/* Returns the number of threads that have enough work. */
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
	unsigned most = worth(cost, n);
	if (most > n)
		most = (unsigned)n;
	if (!n_threads && most > 1) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);
		n_threads = cpus > 0 ? (unsigned)cpus : 1;
	}
	if (n_threads > most)
		n_threads = most;

	struct arena *a = arena_open();
	struct job j = { .run = run, .ctx = ctx, .n = n,
			 .turn = cost && n_threads > 1 ? make_turns(a, cost, n) : NULL };
	share(&j, n_threads > 1 ? n_threads - 1 : 0);
	arena_close(a);
}

#endif
