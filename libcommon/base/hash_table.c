/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_table.h"

/*
 * open addressing: the entry is the first one from key % size on that is free or has
 * the key
 */
static struct hash_entry *
find_entry(const struct hash_table *t, uint64_t key)
{
	size_t at = (size_t)(key % t->size);
	while (t->v[at].value && t->v[at].key != key)
		at = (at + 1) % t->size;
	return &t->v[at];
}

/* keeps at least half of the entries free */
static void
grow_table(struct hash_table *t)
{
	enum { FIRST = 256 };
	if (2 * t->n < t->size)
		return;
	struct hash_table more = { .a = t->a, .size = t->size ? 4 * t->size : FIRST };
	more.v = anew(t->a, struct hash_entry, more.size);
	for (size_t i = 0; i < t->size; i++)
		if (t->v[i].value) {
			*find_entry(&more, t->v[i].key) = t->v[i];
			more.n++;
		}
	*t = more;
}

void **
hash_table_at(struct hash_table *t, uint64_t key)
{
	grow_table(t);
	struct hash_entry *e = find_entry(t, key);
	if (!e->value) {
		e->key = key;
		t->n++;
	}
	return &e->value;
}
