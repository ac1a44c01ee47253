/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory system that a file was compiled for, stored in the file itself.  The profile
 * has the target and memory records of the graph, as text, in the metadata
 * "nputools.target", described in nputools-map(5).  Programs that estimate the file's time
 * or write its header need no options then.
 */
#ifndef MAP_PROFILE_H
#define MAP_PROFILE_H

#include "target/memory.h"

struct tfl_model;

#define PROFILE_METADATA "nputools.target"

struct profile {
	const struct accel *accel; /* NULL: the file has no profile; memory is zero */
	struct memory_system memory;
};

/* The text of a profile, allocated in a. */
struct bytes profile_print(struct arena *a, const struct accel *accel,
			   const struct memory_system *m);
/* Fails on metadata of this name that is not a profile. */
bool profile_read(struct arena *a, const struct tfl_model *m, struct profile *out,
		  struct err *e);

#endif
