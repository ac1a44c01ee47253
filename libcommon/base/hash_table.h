/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of earlier results with a 64-bit key.  The key is a hash (base/hash.h) of
 * everything that the result depends on; equal keys are taken as equal inputs.
 */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include "base/arena.h"

#include <stdint.h>

/* An empty table is all zero except for the arena. */
struct hash_table {
	struct arena *a;
	struct hash_entry {
		uint64_t key;
		void *value; /* NULL: the entry is free */
	} *v;
	size_t n, size;
};

/*
 * Returns the address of a key's value.  The value is NULL until the caller sets it,
 * which must happen before the next call.  The address is valid until the next call.
 */
void **hash_table_at(struct hash_table *t, uint64_t key);

#endif
