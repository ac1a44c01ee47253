/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empty functions in place of base/progress.c, which writes to the terminal and catches Ctrl-C: a
 * library must do neither.  The linker finds these functions first, as it searches libcommon
 * last.
 */
#include "base/progress.h"

void
progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what, .terminal = -1 };
}

void
progress_show(struct progress *p, double done, double all)
{
	(void)p, (void)done, (void)all;
}

void
progress_end(struct progress *p)
{
	(void)p;
}
