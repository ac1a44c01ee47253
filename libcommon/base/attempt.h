/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that may end early.  In a program, work runs to its end, or the process exits.  In
 * libnputools, memory may be exhausted or the caller may cancel; then all threads of the call
 * abandon their work, and the call frees its memory (tools/libnputools/attempt.c, which the
 * linker takes in place of attempt.c).
 */
#ifndef BASE_ATTEMPT_H
#define BASE_ATTEMPT_H

#include <stdbool.h>
#include <stddef.h>

/* Calls run(ctx, i).  Returns false if the work was abandoned. */
bool attempt(void (*run)(void *ctx, size_t i), void *ctx, size_t i);

/* Returns to the innermost attempt() of this thread. */
_Noreturn void abandon(void);

/*
 * Abandons the work if the call shall end.  Long work calls this function at least every
 * 20 ms, and not while it holds a lock.  It takes about 30 ns.
 */
void checkpoint(void);

/* Like checkpoint(), but returns: true if the call shall end. */
bool attempt_is_over(void);

/* The call to which this thread belongs, NULL in a program, and how another thread joins it. */
void *attempt_call(void);
void attempt_join(void *call);

#endif
