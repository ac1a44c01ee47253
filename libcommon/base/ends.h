/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What options say of a network's inputs and outputs one by one: the layouts in
 * which an application has them, as [K=]LAYOUT.
 */
#ifndef BASE_ENDS_H
#define BASE_ENDS_H

#include "base/cli.h"

enum { MAX_END_LAYOUTS = 64 };

struct end_layout {
	int index;  /* of an input or output; -1: all */
	int layout; /* place in the program's list of names */
	int64_t row_stride, pixel_stride; /* bytes; 0: dense */
};

struct end_layouts {
	struct end_layout v[MAX_END_LAYOUTS];
	int n;
};

/*
 * One more, out of an option's argument: one of names, which NULL ends, behind K= or
 * for all; or a usage error that lists them.  *rest is what stands from a comma on
 * behind the name; without rest nothing may stand there.
 */
struct end_layout *ends_add(struct end_layouts *l, const char *arg,
			    const char *const *names, const char **rest);
/* what end k is to have: the last that names it, or all; NULL: nothing is said */
const struct end_layout *ends_find(const struct end_layouts *l, int k);
/* is each that is named one of n?  what: "input"; file is the network's */
bool ends_exist(const struct end_layouts *l, int n, const char *what,
		const char *file, struct err *e);

#endif
