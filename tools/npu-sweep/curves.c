/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fronts of a model's targets.  Targets with the same accelerator and rows share a curve:
 * for example parts that differ in memory that the model does not need.
 */
#include "sweep.h"

#include <string.h>

/* True if the messages of two targets differ at most in the names of their systems. */
static bool
same_message(const char *x, const char *of_x, const char *y, const char *of_y)
{
	size_t n = strlen(of_x), m = strlen(of_y);
	if (!x || !y)
		return x == y;
	while (*x && *y)
		if (!strncmp(x, of_x, n) && !strncmp(y, of_y, m)) {
			x += n;
			y += m;
		} else {
			if (*x != *y)
				return false;
			x++;
			y++;
		}
	return *x == *y;
}

static bool
equal(double x, double y)
{
	return x >= y && x <= y;
}

static bool
same_curve(const struct rows *r, const struct curve *x, const struct curve *y)
{
	if (strcmp(x->of->accel, y->of->accel) != 0 || x->n != y->n)
		return false;
	for (size_t i = 0; i < x->n; i++) {
		const struct row *v = &r->v[x->first + i], *w = &r->v[y->first + i];
		bool same = v->goal == w->goal && v->limit == w->limit && v->status == w->status &&
			    equal(v->sram, w->sram) && equal(v->flash, w->flash) &&
			    equal(v->cycles, w->cycles) && equal(v->ms, w->ms) &&
			    same_message(v->message, v->target->system, w->message,
					 w->target->system);
		if (!same)
			return false;
	}
	return true;
}

size_t
find_curves(const struct plan *p, const struct rows *r, size_t i, struct curve *v, size_t *n,
	    size_t *number)
{
	const struct model *model = r->v[i].target->model;
	int n_drawn = 0;
	for (*n = 0; i < r->n && r->v[i].target->model == model;) {
		const struct target *of = r->v[i].target;
		struct curve k = { .of = of, .names = of->system, .first = i };
		for (; i < r->n && r->v[i].target == of; i++)
			k.n++;
		struct curve *same = v;
		while (same < v + *n && !same_curve(r, same, &k))
			same++;
		if (same < v + *n) {
			same->names = arena_printf(p->a, "%s, %s", same->names, of->system);
			continue;
		}
		k.arena = target_arena(p->a, of);
		k.pick = pick_knee(p, of);
		k.front = front_candidates(p, of);
		k.number = (*number)++;
		k.label = k.pick.any ? ++n_drawn : 0;
		v[(*n)++] = k;
	}
	for (size_t k = 0; k < *n; k++)
		v[k].hue = n_drawn ? 360 * v[k].label / n_drawn : 0;
	return i;
}
