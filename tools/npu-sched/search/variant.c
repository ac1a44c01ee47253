/* SPDX-License-Identifier: Apache-2.0 */
/* A variant: a copy of the network with the decisions that all plans of one kind share. */
#include "../network/copies.h"
#include "search.h"

#include <string.h>

/* Drops cached costs, whose tables belong to another variant. */
static void
forget_costs(struct op_info *f)
{
	f->choice = NULL;
	f->chained = NULL;
	f->memo = NULL;
	f->in_stripes = NULL;
	f->n_choices = f->cap_choices = 0;
	f->n_stripes = f->cap_stripes = f->n_cost_slots = 0;
}

/* The same operations, without cached costs. */
static struct op_info *
copy_info(struct arena *a, const struct sched *s, const struct graph *g)
{
	struct op_info *info = anew(a, struct op_info, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		info[i] = s->info[i];
		info[i].op = g->ops[info[i].op->rec.index];
		forget_costs(&info[i]);
	}
	return info;
}

struct variant *
variant_open(const struct sched *s, const int *order)
{
	struct arena *a = arena_open();
	struct variant *x = anew(a, struct variant, 1);
	x->a = a;
	x->s = anew(a, struct sched, 1);
	*x->s = *s;
	x->s->a = a;
	x->s->costs = arena_open();
	x->s->g = graph_copy_maps(a, s->g);
	x->s->info = copy_info(a, s, x->s->g);
	x->reordered = order != NULL;
	if (order)
		change_order(x->s, order);
	forget_blocks(x->s);
	return x;
}

/* Closes the cascades and no longer counts them among those at rest. */
static void
forget_cascades(struct variant *x)
{
	cascades_close(x->cascades);
	x->cascades = NULL;
	x->is_complete = false;
	*x->s->at_rest -= x->at_rest;
	x->at_rest = 0;
}

bool
variant_begin(struct variant *x)
{
	forget_blocks(x->s);
	forget_cascades(x);
	x->cascades = cascades_list(x->s);
	return cascades_least(x->s, x->cascades) < INT64_MAX;
}

bool
variant_wake(struct variant *x)
{
	if (x->is_complete)
		return true;
	if (!x->cascades && !variant_begin(x))
		return false;
	cascades_add(x->s, x->cascades);
	return x->is_complete = true;
}

/* Are the cascades kept until the variant is woken?  Listing them again takes a fifth of the
 * time in which large networks are explored.  Each takes some 400 bytes. */
static bool
keeps_cascades(struct variant *x)
{
	enum { MOST = 1 << 15 };
	if (x->is_complete && !x->at_rest && *x->s->at_rest + x->cascades->n <= MOST) {
		x->at_rest = x->cascades->n;
		*x->s->at_rest += x->at_rest;
	}
	return x->at_rest > 0;
}

void
variant_rest(struct variant *x)
{
	drop_candidates(x);
	const bool keeps = keeps_cascades(x);
	if (!keeps)
		forget_cascades(x);
	if (!keeps || x->s->n_ops >= MANY_OPS)
		drop_cached_costs(x->s);
}

void
variant_close(struct variant *x)
{
	if (!x)
		return;
	drop_candidates(x);
	forget_cascades(x);
	arena_close(x->s->costs);
	arena_close(x->a);
}

/* Keeps the blocks with which a plan was made: searched in another order they could differ. */
static void
keep_choices(struct sched *s, struct op_info *f, const struct op_info *from)
{
	if (from->chained) {
		f->chained = anew(s->a, struct chain_choice, CHAIN_LENGTH);
		memcpy(f->chained, from->chained, CHAIN_LENGTH * sizeof(*f->chained));
	}
	if (!from->n_choices)
		return;
	f->choice = anew(s->a, struct block_choice, from->n_choices);
	memcpy(f->choice, from->choice, from->n_choices * sizeof(*f->choice));
	f->n_choices = f->cap_choices = from->n_choices;
}

void
variant_adopt(struct sched *s, const struct variant *x, struct plan *p)
{
	struct graph *g = s->g;
	if (s->copies) {
		use_copies(s, x->copies);
		study_ops(s);
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		g->tensors[i]->layout = x->s->g->tensors[i]->layout;
		g->tensors[i]->area = x->s->g->tensors[i]->area;
	}
	s->objective = x->s->objective;
	memcpy(s->use, x->s->use, g->n_tensors * sizeof(*s->use));
	s->info = anew(s->a, struct op_info, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		s->info[i] = x->s->info[i];
		s->info[i].op = g->ops[s->info[i].op->rec.index];
		forget_costs(&s->info[i]);
		keep_choices(s, &s->info[i], &x->s->info[i]);
		if (p->over[i])
			p->over[i] = g->tensors[p->over[i]->rec.index];
	}
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		r->t = r->t ? g->tensors[r->t->rec.index] : NULL;
		r->over = r->over ? g->tensors[r->over->rec.index] : NULL;
	}
	find_bounds(p);
	s->plan = p;
}
