/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options that set a layout for each input or output of a network: [K=]LAYOUT, where
 * LAYOUT is the layout of the application's data.
 */
#ifndef BASE_IO_LAYOUT_H
#define BASE_IO_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

struct err;

enum { MAX_IO_LAYOUTS = 64 };

struct io_layout {
	int index;  /* of the input or output; -1: all */
	int layout; /* index into the program's list of names */
	int64_t row_stride, pixel_stride; /* bytes; 0: dense */
};

struct io_layouts {
	struct io_layout v[MAX_IO_LAYOUTS];
	int n;
};

/*
 * Parses an option's argument, [K=]NAME, and appends its layout to l.  NAME must be one
 * of names, which a NULL ends; without K= the layout is for all tensors.  Anything else
 * is a usage error that lists the names.
 *
 * If rest is not NULL, a comma and more text may follow NAME, and *rest points to the
 * comma.  If rest is NULL, nothing may follow NAME.
 */
struct io_layout *io_layout_add(struct io_layouts *l, const char *arg,
			    const char *const *names, const char **rest);
/*
 * Returns the layout of tensor k: the last one of l that is for k or for all tensors.
 * NULL: l has none.
 */
const struct io_layout *io_layout_find(const struct io_layouts *l, int k);
/*
 * Checks that every index in l is below n, the number of tensors.  what is "input" or
 * "output", and file is the network's file; both are for the error message.
 */
bool io_layouts_check(const struct io_layouts *l, int n, const char *what,
		const char *file, struct err *e);

#endif
