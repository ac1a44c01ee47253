/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variants often give the same plans, where a layout or an order changes nothing.
 * Duplicates are no candidates.
 */
#include "search.h"

#include "base/hash.h"
#include "graph/facts.h"

/* The numbers that transfers, addresses and the clock depend on.  The first one of a full list
 * becomes the hash of the list. */
struct numbers {
	int64_t v[256];
	size_t n;
};

static uint64_t
hash_numbers(const struct numbers *l)
{
	return hash_xxh3(l->v, l->n * sizeof(*l->v));
}

static void
put(struct numbers *l, int64_t v)
{
	if (l->n == ARRAY_LEN(l->v)) {
		l->v[0] = (int64_t)hash_numbers(l);
		l->n = 1;
	}
	l->v[l->n++] = v;
}

static void
put_cycles(struct numbers *l, double cycles)
{
	union { double cycles; int64_t bits; } u = { .cycles = cycles };
	put(l, u.bits);
}

bool
is_duplicate(struct hash_table *t, const struct sched *s, const struct plan *p)
{
	static char yes;
	struct numbers l;
	l.n = 0;
	for (size_t i = 0; i < p->n_kernels; i++) {
		const struct kernel *k = &p->kernel[i];
		put(&l, (int64_t)k->op << 32 | k->links);
		put(&l, (int64_t)k->rows.lo << 32 | k->rows.hi);
		put(&l, (int64_t)k->depth.lo << 32 | k->depth.hi);
		put(&l, k->slice);
		for (int held = 0; held < HELDS; held++) {
			put_cycles(&l, k->cost[held]);
			for (int port = 0; port < AXI_PORTS; port++)
				put_cycles(&l, k->busy[held][port]);
		}
		put_cycles(&l, k->transfer);
	}
	for (size_t i = 0; i < p->n_slices; i++)
		put(&l, slice_bytes(&p->slice[i]));
	for (int i = 0; i < s->n_ops; i++) {
		put(&l, s->info[i].op->rec.index);
		put(&l, p->rolling[i]);
		put(&l, p->over[i] ? p->over[i]->rec.index : -1);
		put(&l, p->lead[i]);
	}
	for (size_t i = 0; i < s->g->n_tensors; i++) {
		put(&l, s->g->tensors[i]->area);
		put(&l, tensor_bytes(s->g->tensors[i]));
	}
	void **at = hash_table_at(t, hash_numbers(&l));
	const bool seen = *at;
	*at = &yes;
	return seen;
}
