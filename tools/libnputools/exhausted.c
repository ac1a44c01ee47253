/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that has no memory left returns to its caller with an error.  Memory of the call
 * outside of its arena is lost then.  The linker takes this file before it searches
 * libcommon for out_of_memory().
 */
#include "lib.h"

#include "base/threads.h"

#include <setjmp.h>
#include <stdlib.h>

/* where the call of this thread returns to; NULL: this thread is in no call */
static _Thread_local jmp_buf *back;

bool
call_run(struct call *c, bool (*run)(struct call *c, void *ctx), void *ctx)
{
	jmp_buf here;
	if (setjmp(here)) {
		back = NULL;
		c->e.status = 0;
		return err_set(&c->e, "error: out of memory");
	}
	back = &here;
	bool ok = run(c, ctx);
	back = NULL;
	return ok;
}

/*
 * A call cannot end the threads that work for it, and cannot return while they use its memory:
 * then the process ends.
 */
void
out_of_memory(void)
{
	if (back && !threads_busy())
		longjmp(*back, 1);
	abort();
}
