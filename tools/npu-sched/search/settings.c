/* SPDX-License-Identifier: Apache-2.0 */
/* Enumerates the settings that plans can share, and opens variants of the network for them. */
#include "../network/copies.h"
#include "run.h"

static struct variant *
keep_variant(struct search *x, struct variant *v)
{
	agrow(x->s->a, x->variant, x->n, &x->cap);
	x->variant[x->n++] = v;
	return v;
}

void
drop_variant(struct search *x, const struct variant *v)
{
	if (v->may_have_points)
		return;
	if (x->n && x->variant[x->n - 1] == v)
		variant_close(x->variant[--x->n]);
}

void
set_copies(struct search *x, bool copies)
{
	if (!x->s->copies || x->copies == copies)
		return;
	use_copies(x->s, copies);
	study_ops(x->s);
	x->copies = copies;
}

/* Opens a variant of a setting, which the search owns. */
static struct variant *
open_setting(struct search *x, struct setting t)
{
	set_copies(x, t.copies);
	struct variant *v = variant_open(x->s, t.reordered ? x->order[t.copies] : NULL);
	v->setting = t;
	pack_shallow_maps(v->s, t.dense);
	return keep_variant(x, v);
}

struct settings
list_settings(const struct search *x)
{
	struct settings l = { .n = 0 };
	for (int without = !x->may_copy; without < 2; without++)
		for (int order = 0; order < (x->order[!without] ? 2 : 1); order++)
			for (int all = 0; all < (x->s->n_shallow > 0 ? 2 : 1); all++)
				l.v[l.n++] = (struct setting){
					!without, order, all ? DENSE_ALL : DENSE_NO_SLOWER
				};
	return l;
}

/* Opens a variant of v in which the feature maps of one spill have left the SRAM. */
static struct variant *
open_spill(struct search *x, const struct variant *v, const struct spills *l, size_t spill)
{
	struct variant *w = keep_variant(x, variant_open(v->s, NULL));
	w->setting = v->setting;
	spills_apply(w->s, l, spill);
	pack_left_maps(w->s);
	return w;
}

struct variant *
variant_of_setting(struct search *x, struct setting t)
{
	set_copies(x, t.copies); /* all variants share the state of copies */
	for (size_t i = 0; i < x->n; i++) {
		struct variant *v = x->variant[i];
		const struct setting u = v->setting;
		if (!v->of && u.copies == t.copies && u.reordered == t.reordered &&
		    u.dense == t.dense)
			return v;
	}
	return open_setting(x, t);
}

struct variant *
variant_of_spill(struct search *x, const struct variant *v, const struct spills *l, size_t spill)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->variant[i]->of == v && x->variant[i]->spill == l->v[spill].set)
			return x->variant[i];
	struct variant *w = open_spill(x, v, l, spill);
	w->of = v;
	w->spill = l->v[spill].set;
	return w;
}
