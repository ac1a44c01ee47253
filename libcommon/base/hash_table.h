/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was found before, by a key of 64 bits: a hash of all that it depends on, which
 * stands for that (base/hash.h).
 */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include "base/arena.h"

#include <stdint.h>

/* all zero but for the arena: an empty one */
struct hash_table {
	struct arena *a;
	struct hash_entry {
		uint64_t key;
		void *value; /* NULL: a free place */
	} *v;
	size_t n, size;
};

/* where the value of a key stands, or is to: NULL until it is written.  True until the
 * next call. */
void **hash_table_at(struct hash_table *t, uint64_t key);

#endif
