/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory system that a file was compiled for, in the file itself: the target and
 * memory records of its graph, as text, in the metadata "nputools.target", described in
 * nputools-map(5).  Who estimates the file's time or writes its header needs no options.
 */
#ifndef STREAM_PROFILE_H
#define STREAM_PROFILE_H

#include "graph/graph.h"

#define PROFILE_METADATA "nputools.target"

struct profile {
	const struct accel *accel; /* NULL: the file has none, and the rest is zero */
	struct memory_system memory;
};

struct bytes profile_print(struct arena *a, const struct accel *accel,
			   const struct memory_system *m);
/* fails on metadata of that name that nobody of us wrote */
bool profile_read(struct arena *a, const struct tfl_model *m, struct profile *out,
		  struct err *e);

#endif
