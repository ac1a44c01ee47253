/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a cascade keeps between its stripes, found once: it follows from the operations,
 * their rows and the layouts of maps.  Variants that differ in areas or blocks share it.
 */
#include "cascades.h"

#include "base/hash.h"
#include "base/hash_table.h"

#include <string.h>

void
begin_kept(struct sched *s)
{
	s->kept = anew(s->a, struct hash_table, 1);
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

static uint64_t
key_of(const struct sched *s, const struct cascade *c)
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

void **
kept_at(const struct sched *s, const struct cascade *c)
{
	return hash_table_at(s->kept, key_of(s, c));
}

struct kept *
copy_kept(const struct sched *s, const struct kept *from)
{
	struct arena *a = s->kept->a;
	struct kept *k = anew(a, struct kept, 1);
	const size_t ops = (size_t)from->n_ops, endings = (size_t)from->n_endings;
	*k = *from;
	k->rolling = anew(a, int32_t, ops);
	k->ending = anew(a, struct ending, endings);
	memcpy(k->rolling, from->rolling, ops * sizeof(*k->rolling));
	memcpy(k->ending, from->ending, endings * sizeof(*k->ending));
	return k;
}
