/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes over the cached costs of operations from another variant.  Most feature maps
 * have the same layout and area in both, so that the costs are the same, too.  To
 * compute the costs of operations in stripes of all heights takes most of the time of a
 * variant.
 */
#include "costs.h"

#include <stdlib.h>
#include <string.h>

static bool
same_layout(const struct g_operand *a, const struct g_operand *b)
{
	return !a->t || (a->t->layout == b->t->layout && a->t->area == b->t->area);
}

static bool
same_operand_layouts(const struct g_op *a, const struct g_op *b)
{
	return same_layout(&a->ifm, &b->ifm) && same_layout(&a->ifm2, &b->ifm2) &&
	       same_layout(&a->ofm, &b->ofm);
}

static void
take_choices(struct sched *s, struct op_info *f, const struct op_info *from)
{
	f->n_choices = 0;
	for (size_t i = 0; i < from->n_choices; i++) {
		agrow(s->a, f->choice, f->n_choices, &f->cap_choices);
		f->choice[f->n_choices++] = from->choice[i];
	}
}

static void
take_stripes(struct sched *s, struct op_info *f, const struct op_info *from)
{
	f->n_stripes = 0;
	if (f->cap_stripes < from->n_stripes) {
		f->cap_stripes = from->n_stripes;
		f->in_stripes = anew(s->a, struct cached_stripe_cost, f->cap_stripes);
	}
	for (size_t i = 0; i < from->n_stripes; i++)
		f->in_stripes[f->n_stripes++] = from->in_stripes[i];
	memcpy(f->lower_bound, from->lower_bound, sizeof(f->lower_bound));
	f->has_lower_bounds = from->has_lower_bounds;
}

/* Of each operation of the graph: its position in the order. */
static int *
find_positions(const struct sched *s, struct arena *a)
{
	int *at = anew(a, int, s->g->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		at[s->info[i].op->rec.index] = i;
	return at;
}

/*
 * True if f has the costs of `from`, the same operation in another order.  False for
 * copies, whose cost depends on the order: a copy may be the first operation of its
 * node.
 */
static bool
has_same_costs(const struct op_info *f, const struct op_info *from)
{
	return !op_is_transfer(f->op->kind) && same_operand_layouts(f->op, from->op);
}

/* Builds with CHECK_BOUNDS, as those with sanitizers are, abort if costs that were taken over
 * differ from new ones. */
static void
check_costs(struct sched *s, int op)
{
#ifdef CHECK_BOUNDS
	struct op_info *f = &s->info[op], was = *f;
	f->memo = NULL;
	f->in_stripes = NULL;
	f->n_cost_slots = f->n_stripes = f->cap_stripes = 0;
	if (f->alike == op) {
		f->choice = NULL;
		f->n_choices = f->cap_choices = 0;
		for (size_t i = 0; i < was.n_choices; i++) {
			const struct block_choice *b = block_for(s, op, was.choice[i].rows);
			if (!b || !hwc_equal(b->block, was.choice[i].block))
				abort();
		}
	}
	for (size_t i = 0; i < was.n_stripes; i++) {
		const struct cached_stripe_cost *k = &was.in_stripes[i];
		const struct cached_stripe_cost *now = op_cost(s, op, k->stripe);
		if (!now != !k->fits || (now && (now->cost[0] != k->cost[0] ||
						 now->cost[1] != k->cost[1])))
			abort();
	}
	*f = was;
#else
	(void)s;
	(void)op;
#endif
}

void
take_costs(struct sched *s, const struct sched *from)
{
	struct arena *a = arena_open();
	const int *at = find_positions(from, a);
	for (int i = 0; i < s->n_ops; i++) {
		struct op_info *f = &s->info[i], *first = &s->info[f->alike];
		const struct op_info *o = &from->info[at[f->op->rec.index]];
		const struct op_info *first_of = &from->info[o->alike];
		/*
		 * operations of the same work have one block, which depends on the
		 * weights of the first of them
		 */
		if (first->op->rec.index != first_of->op->rec.index ||
		    !has_same_costs(f, o) || !has_same_costs(first, first_of))
			continue;
		if (f == first)
			take_choices(s, f, o);
		take_stripes(s, f, o);
	}
	for (int i = 0; i < s->n_ops; i++)
		if (s->info[i].n_stripes)
			check_costs(s, i);
	arena_close(a);
}
