/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Caches the rows that a cascade keeps between its stripes.  These follow from the shapes of
 * its operations, their rows and the layouts of feature maps.  Cascades of the same shapes
 * share an entry, in all variants.
 */
#include "cascades.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "graph/facts.h"

#include <string.h>

void
begin_kept(struct sched *s)
{
	s->kept = anew(s->a, struct hash_table, 1);
	s->kept->a = s->a;
	s->at_rest = anew(s->a, size_t, 1);
}

/*
 * All that decides when an operation of a cascade reads and writes rows (emit_ifm_rows), and how
 * far one feature map must begin before another.  It names no operation: a network repeats its
 * parts, and so its cascades.
 */
struct shape_key {
	int64_t kind, ifm_height, height, stride, kernel, dilation, pad_top, pad_bottom;
	int64_t upscale, sampled;
	struct map_key {
		int64_t view, height, row_bytes; /* all 0: no operand */
	} map[OPERANDS];
};

static const struct g_operand *
operand_ofm_last(const struct g_op *op, int k)
{
	return k == 0 ? &op->ifm : k == 1 ? &op->ifm2 : &op->ofm;
}

static uint64_t
shape_key_of(const struct g_op *op)
{
	struct shape_key v = {
		.kind = op->kind, .ifm_height = op->ifm.shape.h,
		.height = op->ofm.shape.h, .stride = op->stride.y,
		.kernel = op->kernel.y, .dilation = op->dilation.y,
		.pad_top = op->pad.top, .pad_bottom = op->pad.bottom,
		.upscale = op->upscale,
		.sampled = op->kind == OP_RESIZE ? op_sampled(op).y : 0 };
	for (int k = 0; k < OPERANDS; k++) {
		const struct g_operand *o = operand_ofm_last(op, k);
		if (o->t)
			v.map[k] = (struct map_key){
				.view = o->view, .height = o->t->hwc.h,
				.row_bytes = tensor_bytes(o->t) / max_i64(o->t->hwc.h, 1) };
	}
	return hash_xxh3(&v, sizeof(v));
}

void
find_kept_keys(struct sched *s)
{
	struct arena *a = arena_open();
	/* of each tensor: the last operand so far, counted from 1 */
	int *last = anew(a, int, s->g->n_tensors + 1);
	for (int i = 0; i < s->n_ops; i++) {
		struct kept_key *key = &s->info[i].kept;
		key->shape = shape_key_of(s->info[i].op);
		for (int k = 0; k < OPERANDS; k++) {
			const struct g_tensor *t = operand_ofm_last(s->info[i].op, k)->t;
			if (!t)
				continue;
			key->before[k] = last[t->rec.index];
			last[t->rec.index] = OPERANDS * i + k + 1;
		}
	}
	arena_close(a);
}

/* The key: the shapes of all operations, and which operands are the same tensor. */
void **
kept_at(const struct sched *s, const struct cascade *c)
{
	struct {
		uint64_t shape;
		int32_t producer[2], before[OPERANDS], none;
	} v[MAX_LENGTH] = { { .none = 0 } };
	int n = c->last - c->first + 1;
	for (int i = 0; i < n; i++) {
		const struct op_info *f = &s->info[c->first + i];
		v[i].shape = f->kept.shape;
		for (int k = 0; k < 2; k++)
			v[i].producer[k] = f->producer[k] < c->first
						   ? -1 : f->producer[k] - c->first;
		for (int k = 0; k < OPERANDS; k++)
			v[i].before[k] = max_i32(f->kept.before[k] - OPERANDS * c->first, 0);
	}
	return hash_table_at(s->kept,
			     hash_xxh3_seeded(v, (size_t)n * sizeof(*v), (uint64_t)c->rows));
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
