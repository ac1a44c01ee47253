/* SPDX-License-Identifier: Apache-2.0 */
/* A variant: a copy of the network with the decisions that all plans of one kind share. */
#include "../network/copies.h"
#include "graph/build.h"
#include "search.h"

#include <string.h>

/* The same operations, in another graph. */
static struct op_info *
copy_info(struct arena *a, const struct op_info *from, int n, const struct graph *g)
{
	struct op_info *info = anew(a, struct op_info, (size_t)n + 1);
	for (int i = 0; i < n; i++) {
		info[i] = from[i];
		info[i].op = g->ops[info[i].op->rec.index];
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
	x->s->g = graph_copy_maps(a, s->g);
	x->s->info = copy_info(a, s->info, s->n_ops, x->s->g);
	if (order)
		change_order(x->s, order);
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
	find_works(x->s);
	forget_cascades(x);
	x->cascades = cascades_open(x->s);
	cascades_list(x->s, x->cascades, false);
	return cascades_least(x->s, x->cascades) < INT64_MAX;
}

bool
variant_wake(struct variant *x)
{
	if (x->is_complete)
		return true;
	if ((!x->cascades || !x->cascades->first_of) && !variant_begin(x))
		return false;
	cascades_list(x->s, x->cascades, true);
	return x->is_complete = true;
}

/* Cascades are kept until the variant is woken, if there is capacity: listing them again takes a
 * fifth of the time in which large networks are explored. */
void
variant_rest(struct variant *x)
{
	size_t *at_rest = x->s->at_rest;
	drop_candidates(x);
	if (x->is_complete && !x->at_rest && *at_rest + x->cascades->n_all <= MOST_CASCADES) {
		x->at_rest = x->cascades->n_all;
		*at_rest += x->at_rest;
	}
	if (!x->at_rest)
		forget_cascades(x);
}

void
variant_close(struct variant *x)
{
	if (!x)
		return;
	drop_candidates(x);
	forget_cascades(x);
	arena_close(x->a);
}

void
variant_adopt(struct sched *s, const struct variant *x, struct plan *p)
{
	struct graph *g = s->g;
	if (s->copies) {
		use_copies(s, x->setting.copies);
		study_ops(s);
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		g->tensors[i]->layout = x->s->g->tensors[i]->layout;
		g->tensors[i]->area = x->s->g->tensors[i]->area;
	}
	memcpy(s->use, x->s->use, g->n_tensors * sizeof(*s->use));
	s->info = copy_info(s->a, x->s->info, s->n_ops, g);
	for (int i = 0; i < s->n_ops; i++)
		if (p->over[i])
			p->over[i] = g->tensors[p->over[i]->rec.index];
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		r->t = r->t ? g->tensors[r->t->rec.index] : NULL;
		r->over = r->over ? g->tensors[r->over->rec.index] : NULL;
	}
	find_bounds(p);
	s->plan = p;
}
