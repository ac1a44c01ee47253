/* SPDX-License-Identifier: Apache-2.0 */
/* The rule "channels": how many channels of a segment stay. */
#include "rewrite/prune.h"

#include "base/fixed.h"

#include <math.h>
#include <string.h>

/*
 * Numbers of channels that a segment may keep: a multiple of a grain, or all.  Which one is the
 * fastest depends on microblocks, cores and layouts; the estimate knows them.
 */
static const int32_t grains[] = { 1, 2, 4, 8, 16, INT32_MAX };

bool
prune_fill(struct pruner *p, const struct g_tensor *t)
{
	int32_t base = p->base[t->rec.index], first = 0, n;
	int32_t grain = p->grain[prune_group(p, t)];
	bool any = false;
	for (; first < t->hwc.c; first += n) {
		n = 1;
		while (first + n < t->hwc.c && !p->cut[base + first + n])
			n++;
		/*
		 * A segment behind which another one begins at a whole brick keeps whole bricks, so
		 * that NHCWB16 remains possible.
		 */
		bool whole = first + n < t->hwc.c && first % BRICK == 0 && n % BRICK == 0;
		int64_t step = whole ? max_i32(grain, BRICK) : grain;
		int32_t kept = prune_count(p, base + first, n), want = n;
		if (kept < n)
			want = (int32_t)min_i64(round_up_i64(max_i32(kept, 1), step), n);
		any |= kept < want;
		for (int32_t c = first; c < first + n && kept < want; c++) {
			if (prune_keeps(p, base + c))
				continue;
			prune_need(p, base + c); /* and others that are tied to it */
			if (want < n)
				kept = prune_count(p, base + first, n);
		}
	}
	return any;
}

/* ---- worth --------------------------------------------------------------------------- */

/* Adds the cycles of an operation with the channels that stay.  False: no block fits. */
static bool
add_cycles(struct pruner *p, const struct g_op *op, bool dense, struct cycles *c)
{
	struct g_op small = *op;
	struct g_tensor t[3];
	for (int k = 0; k < 3; k++) {
		struct g_operand *o = operand_ofm_first(&small, k);
		if (!o->t)
			continue;
		bool constant = tensor_is_const(o->t) && o->shape.c > 1;
		int32_t kept = prune_count_tensor(p, o->t);
		prune_view(p, o);
		t[k] = *o->t;
		/* channels that are not whole bricks may be NHWC, or NHCWB16 with padding */
		bool bricks = p->bricks[o->t->rec.index] && (kept % BRICK == 0 || !dense);
		t[k].layout = bricks ? LAYOUT_NHCWB16 : LAYOUT_NHWC;
		t[k].hwc.c = kept;
		if (constant && op_is_elementwise(op->kind))
			o->shape.c = t[k].hwc.c = small.ofm.shape.c;
		o->t = &t[k];
	}
	return estimate_add(p->x->estimate, &small, c);
}

bool
prune_cycles(struct pruner *p, int group, int32_t grain, struct cycles *c)
{
	struct graph *g = p->g;
	struct arena *scratch = arena_open();
	size_t bytes = (size_t)p->n * sizeof(*p->needed);
	bool *before = anew(scratch, bool, (size_t)p->n + 1);
	memcpy(before, p->needed, bytes);
	p->grain[group] = grain;
	for (bool again = true; again;) {
		again = false;
		for (size_t i = 0; i < g->n_tensors; i++)
			if (prune_group(p, g->tensors[i]) == group)
				again |= prune_fill(p, g->tensors[i]);
	}
	/* with the better layout, if the channels that stay are not whole bricks */
	struct cycles by[2] = { { 0 }, { 0 } };
	bool both = false, ok = true;
	for (size_t i = 0; i < g->n_tensors; i++)
		both |= prune_group(p, g->tensors[i]) == group &&
			prune_count_tensor(p, g->tensors[i]) % BRICK;
	for (int dense = 0; ok && dense < 1 + both; dense++)
		for (size_t i = 0; ok && i < g->n_ops; i++) {
			bool touches = false; /* a tensor of the group */
			for (int k = 0; k < 3; k++) {
				const struct g_operand *o = operand_ofm_first(g->ops[i], k);
				touches |= o->t && prune_group(p, o->t) == group;
			}
			ok = !touches || add_cycles(p, g->ops[i], dense, &by[dense]);
		}
	if (ok)
		*c = by[both && cycles_saved(&by[1], &by[0]) > 0];
	memcpy(p->needed, before, bytes);
	arena_close(scratch);
	return ok;
}

/*
 * True if a tensor of whole bricks would lose so few channels that NHWC, which it then needs, is
 * not clearly faster.  One pixel has the same bytes in both layouts.
 */
static bool
breaks_bricks(struct pruner *p, int group, int32_t grain, bool few)
{
	const int32_t share = 100;
	for (size_t i = 0; i < p->g->n_tensors && grain % BRICK && grain < INT32_MAX; i++) {
		const struct g_tensor *t = p->g->tensors[i];
		const bool one_pixel = t->hwc.h == 1 && t->hwc.w == 1;
		if (prune_group(p, t) == group && t->hwc.c % BRICK == 0 && p->bricks[i] && !one_pixel)
			return !few || (t->hwc.c - prune_count_tensor(p, t)) * share < t->hwc.c;
	}
	return false;
}

/*
 * Of grains that are almost as fast as the best one the first is taken, which keeps the fewest
 * channels: the estimate does not count what fewer weights save.
 */
void
prune_choose(struct pruner *p)
{
	const double almost = 1.001, clearly = 0.99;
	struct graph *g = p->g;
	bool *loses = anew(p->a, bool, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_tensors; i++)
		loses[prune_group(p, g->tensors[i])] |=
		    prune_count_tensor(p, g->tensors[i]) < g->tensors[i]->hwc.c;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const int group = (int)i;
		struct cycles all, c;
		double ratio[ARRAY_LEN(grains)], best = 1;
		if (!loses[i])
			continue;
		bool ok = prune_cycles(p, group, INT32_MAX, &all);
		for (size_t k = 0; k < ARRAY_LEN(grains); k++) {
			ratio[k] = INFINITY;
			if (!ok || breaks_bricks(p, group, grains[k], true))
				continue;
			if (prune_cycles(p, group, grains[k], &c)) {
				/* the mean; INFINITY: a memory system is slower than with all */
				double sum = 0;
				for (int m = 0; m < c.n; m++)
					sum += c.v[m] > all.v[m] ? INFINITY : c.v[m] / all.v[m];
				ratio[k] = c.n ? sum / c.n : 1;
			}
			if (ratio[k] > clearly && breaks_bricks(p, group, grains[k], false))
				ratio[k] = INFINITY;
			best = ratio[k] < best ? ratio[k] : best;
		}
		size_t k = 0;
		while (k + 1 < ARRAY_LEN(grains) && ratio[k] > best * almost)
			k++;
		p->grain[group] = grains[k];
	}
}
