/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress for the caller's function, in place of base/progress.c, which writes to the terminal
 * and catches Ctrl-C: a library must do neither.  The linker finds these functions first, as it
 * searches libcommon last.
 */
#include "lib.h"

#include "base/attempt.h"
#include "base/progress.h"

void
progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what, .terminal = -1 };
}

void
progress_show(struct progress *p, double done, double all)
{
	struct call *c = attempt_call();
	(void)p;
	if (!c || !(all > 0) || !pthread_equal(c->thread, pthread_self()))
		return;
	const double part = done < all ? done / all : 1; /* of the stage */
	const double now = c->begin + (c->end_of_stage - c->begin) * part;
	c->done = now > c->done ? now : c->done;
}

void
progress_end(struct progress *p)
{
	(void)p;
}

void
call_stage(struct call *c, double end, enum nputools_code no, enum nputools_code trouble)
{
	c->begin = c->end_of_stage;
	c->end_of_stage = end;
	c->done = c->begin > c->done ? c->begin : c->done;
	c->no = no;
	c->trouble = trouble;
	checkpoint();
}
