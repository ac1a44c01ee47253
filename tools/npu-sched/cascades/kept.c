/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cascade keeps between its stripes, found once: it follows from the operations,
 * their rows and the layouts of maps.  Variants that differ in areas or blocks share it.
 */
#include "cascades.h"

#include "base/hash.h"

#include <string.h>

/* an open hash table; a key stands for itself, as it has 64 bits */
struct kept_list {
	struct arena *a;
	struct kept_entry {
		uint64_t key;
		const struct kept *kept; /* NULL: a free place */
	} *v;
	size_t n, size;
};

void
begin_kept(struct sched *s)
{
	s->kept = anew(s->a, struct kept_list, 1);
	s->kept->a = s->a;
	s->at_rest = anew(s->a, size_t, 1);
}

/* what decides which of a cascade's rows are read and written when */
struct op_key {
	int op, producer[2], tensor[3], layout[3], height, stride;
};

static void
put_operand(struct op_key *k, int at, const struct g_operand *o)
{
	k->tensor[at] = o->t ? (int)o->t->rec.index + 1 : 0;
	k->layout[at] = o->t ? (int)o->t->layout : 0;
}

uint64_t
kept_key(const struct sched *s, const struct cascade *c)
{
	struct op_key v[MAX_LENGTH];
	int n = c->last - c->first + 1;
	memset(v, 0, sizeof(v));
	for (int i = 0; i < n; i++) {
		const struct op_info *f = &s->info[c->first + i];
		v[i].op = f->op->rec.id;
		for (int k = 0; k < 2; k++)
			v[i].producer[k] = f->producer[k] < c->first
						   ? -1 : f->producer[k] - c->first;
		put_operand(&v[i], 0, &f->op->ifm);
		put_operand(&v[i], 1, &f->op->ifm2);
		put_operand(&v[i], 2, &f->op->ofm);
		v[i].height = f->op->ofm.shape.h;
		v[i].stride = f->op->stride.y;
	}
	return hash_xxh3_seeded(v, (size_t)n * sizeof(*v), (uint64_t)c->rows);
}

static struct kept_entry *
find_entry(const struct kept_list *l, uint64_t key)
{
	size_t at = (size_t)(key % l->size);
	while (l->v[at].kept && l->v[at].key != key)
		at = (at + 1) % l->size;
	return &l->v[at];
}

static void
make_room(struct kept_list *l)
{
	enum { FIRST = 256 };
	if (2 * l->n < l->size)
		return;
	struct kept_list more = { .a = l->a, .n = l->n,
				  .size = l->size ? 4 * l->size : FIRST };
	more.v = anew(l->a, struct kept_entry, more.size);
	for (size_t i = 0; i < l->size; i++)
		if (l->v[i].kept)
			*find_entry(&more, l->v[i].key) = l->v[i];
	*l = more;
}

const struct kept *
find_kept(const struct sched *s, uint64_t key)
{
	return s->kept->size ? find_entry(s->kept, key)->kept : NULL;
}

void
add_kept(const struct sched *s, uint64_t key, const struct kept *kept)
{
	struct kept_list *l = s->kept;
	struct kept *k = anew(l->a, struct kept, 1);
	make_room(l);
	*k = *kept;
	*find_entry(l, key) = (struct kept_entry){ .key = key, .kept = k };
	l->n++;
}
