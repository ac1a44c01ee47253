/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No progress: base/progress.c writes to the terminal and catches Ctrl-C.  The linker takes
 * these functions before it searches libcommon.
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
