/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A work is one operation of the network with all that differs between variants and that its
 * blocks and costs follow from: layouts and areas of its feature maps, the block objective, the
 * order, decoder and size of its weights.  Variants differ in the works of few operations, and
 * share all others with what is known of them.
 */
#include "costs.h"

#include "base/hash.h"
#include "graph/facts.h"

void
begin_costs(struct sched *s)
{
	s->works = anew(s->a, struct works, 1);
	s->works->a = s->works->table.a = s->a;
}

static bool
computes_the_same(const struct g_op *a, const struct g_op *b)
{
	return a->kind == b->kind && hwc_equal(a->ifm.shape, b->ifm.shape) &&
	       hwc_equal(a->ofm.shape, b->ofm.shape) &&
	       a->kernel.y == b->kernel.y && a->kernel.x == b->kernel.x &&
	       a->stride.y == b->stride.y && a->stride.x == b->stride.x &&
	       a->dilation.y == b->dilation.y && a->dilation.x == b->dilation.x &&
	       a->ifm.t->layout == b->ifm.t->layout && a->act == b->act &&
	       a->ofm.t->layout == b->ofm.t->layout &&
	       a->ifm.t->area == b->ifm.t->area &&
	       a->ofm.t->area == b->ofm.t->area && a->ifm.type == b->ifm.type &&
	       a->ofm.type == b->ofm.type && !a->ifm2.t == !b->ifm2.t &&
	       a->sparse == b->sparse && a->fast == b->fast &&
	       a->acc40 == b->acc40 && a->pad.top == b->pad.top &&
	       a->traversal == b->traversal && a->upscale == b->upscale &&
	       a->order == b->order && a->sample == b->sample && a->reversed == b->reversed &&
	       a->up.x == b->up.x && a->down.x == b->down.x &&
	       (!a->ifm2.t || hwc_equal(a->ifm2.shape, b->ifm2.shape)) &&
	       can_fold(a) == can_fold(b) &&
	       a->clamp.lo == b->clamp.lo && a->clamp.hi == b->clamp.hi &&
	       !G_HAS(a, G_OP_block) && !G_HAS(b, G_OP_block);
}

/* The operation in the table that computes the same as i; if there is none, adds i. */
static int
find_alike(const struct sched *s, int *table, size_t size, int i)
{
	const struct g_op *op = s->info[i].op;
	const struct hwc *ifm = &op->ifm.shape, *ofm = &op->ofm.shape;
	const int64_t key[] = { op->kind, ifm->h, ifm->w, ifm->c, ofm->h, ofm->w, ofm->c,
				op->kernel.y, op->kernel.x, op->stride.y };
	size_t at = (size_t)(hash_xxh3(key, sizeof(key)) % size);
	for (; table[at]; at = (at + 1) % size)
		if (computes_the_same(s->info[table[at] - 1].op, op))
			return table[at] - 1;
	table[at] = i + 1;
	return i;
}

static int64_t
layout_key(const struct g_operand *o)
{
	enum { AREAS = 16 };
	return o->t ? 1 + o->t->layout * AREAS + o->t->area : 0;
}

/* The work of operation i for an objective.  Needs: that of the operation `alike`.  Equal hashes are
 * taken as equal works (base/hash_table.h). */
static struct work *
work_of(struct sched *s, int i, enum block_objective objective)
{
	const struct op_info *f = &s->info[i];
	const struct weights_size size = whole_size(s, i);
	const struct op_info *alike = &s->info[f->alike];
	const int64_t key[] = { f->op->rec.id, alike == f ? 0 : alike->work[objective]->id,
				f->op->weights ? objective : 0, f->op->traversal, f->op->fast,
				size.stream, size.scales, layout_key(&f->op->ifm),
				layout_key(&f->op->ifm2), layout_key(&f->op->ofm) };
	struct works *l = s->works;
	void **at = hash_table_at(&l->table, hash_xxh3(key, sizeof(key)));
	if (!*at) {
		struct work *w = *at = anew(l->a, struct work, 1);
		w->id = ++l->n;
	}
	return *at;
}

void
renew_work(struct sched *s, int i)
{
	struct op_info *f = &s->info[i];
	if (!f->op->weights || s->info[f->alike].op->weights != f->op->weights)
		f->alike = i;
	for (int k = 0; k < BLOCK_OBJECTIVES; k++)
		f->work[k] = work_of(s, i, (enum block_objective)k);
}

uint64_t
chain_key(const struct sched *s, int op, int links)
{
	int64_t key[CHAIN_LENGTH] = { 0 };
	for (int i = 1; i <= links; i++)
		key[i] = s->info[op + i].work[BLOCKS_FOR_FETCHED]->id;
	return links ? hash_xxh3(key, sizeof(key)) : 0;
}

/* Operations that share weights (batches) share the block and count as alike. */
void
find_works(struct sched *s)
{
	struct arena *a = arena_open();
	size_t size = 2 * (size_t)s->n_ops + 1;
	int *table = anew(a, int, size);
	/* of each record: its first user plus 1 */
	int *user = anew(a, int, s->g->n_weights + 1);
	for (int i = 0; i < s->n_ops; i++) {
		struct op_info *f = &s->info[i];
		int *first = f->op->weights ? &user[f->op->weights->rec.index] : NULL;
		if (G_HAS(f->op, G_OP_block))
			f->alike = i;
		else if (first && *first)
			f->alike = s->info[*first - 1].alike;
		else
			f->alike = find_alike(s, table, size, i);
		if (first && !*first)
			*first = i + 1;
		for (int k = 0; k < BLOCK_OBJECTIVES; k++)
			f->work[k] = work_of(s, i, (enum block_objective)k);
	}
	arena_close(a);
}
