/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The early end of a call: memory is exhausted, or the caller cancels.  Each thread of the
 * call returns to its innermost attempt(); the thread of the caller then frees the memory of
 * the call (memory.c).  The linker takes this file before it searches libcommon for
 * attempt() and out_of_memory().
 */
#include "lib.h"

#include "base/attempt.h"

#include <setjmp.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* the call that this thread works for; NULL: none */
static _Thread_local struct call *current;
/* where abandon() returns to; NULL: this thread is in no attempt() */
static _Thread_local jmp_buf *back;

bool
attempt(void (*run)(void *ctx, size_t i), void *ctx, size_t i)
{
	jmp_buf here, *const before = back;
	if (setjmp(here)) {
		back = before;
		return false;
	}
	back = &here;
	run(ctx, i);
	back = before;
	return true;
}

void
abandon(void)
{
	if (back)
		longjmp(*back, 1);
	abort();
}

void
out_of_memory(void)
{
	int none = NPUTOOLS_OK;
	if (current)
		(void)atomic_compare_exchange_strong(&current->end, &none,
						     NPUTOOLS_ERROR_MEMORY);
	abandon();
}

bool
attempt_is_over(void)
{
	enum { INTERVAL = 40 }; /* ms, for at least ten calls a second */
	struct call *c = current;
	if (!c)
		return false;
	/* tell the caller of the library how far the call is, if it is time to; in its thread */
	if (c->o.progress && pthread_equal(c->thread, pthread_self())) {
		struct timespec t;
		int none = NPUTOOLS_OK;
		const int64_t now = clock_gettime(CLOCK_MONOTONIC, &t)
					    ? 0
					    : t.tv_sec * (int64_t)1000 + t.tv_nsec / (1000 * 1000);
		if (now >= c->told + INTERVAL) {
			c->told = now;
			if (c->o.progress(c->o.progress_context, c->done))
				(void)atomic_compare_exchange_strong(&c->end, &none,
								     NPUTOOLS_ERROR_CANCELLED);
		}
	}
	return atomic_load(&c->end);
}

void
checkpoint(void)
{
	if (attempt_is_over())
		abandon();
}

void *
attempt_call(void)
{
	return current;
}

void
attempt_join(void *call)
{
	current = call;
}
