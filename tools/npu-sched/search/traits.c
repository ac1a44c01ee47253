/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of a plan, and how the next plan on the front differs, as text. */
#include "search.h"

#include "base/text.h"

#include <inttypes.h>

struct traits
plan_traits(const struct variant *x, const struct plan *p)
{
	struct traits t = { .variant = x };
	for (int i = 0; i < x->s->n_ops; i++) {
		t.striped += p->stripe[i] > 0;
		t.in_place += x->s->info[i].op->weights &&
			      p->decided.op[i].objective == BLOCKS_FOR_IN_PLACE;
	}
	for (size_t i = 0; i < p->n_kernels; i++)
		t.chained += p->kernel[i].links;
	for (size_t i = 0; i < p->n_slices; i++)
		t.fetched += held_bytes(&p->slice[i], p->slice[i].held);
	for (size_t i = 0; x->s->memory.spilling && i < p->n_maps; i++)
		t.left += p->rect[i].place == PLACE_ARENA && p->rect[i].bytes > 0;
	return t;
}

static void
put_count(struct text *t, const char *what, int64_t from, int64_t to)
{
	if (from == to)
		return;
	text_printf(t, "%s%s %" PRId64 " -> %" PRId64, t->n ? ", " : "", what, from, to);
}

static void
put_word(struct text *t, const char *what, bool changed)
{
	if (changed)
		text_printf(t, "%s%s", t->n ? ", " : "", what);
}

void
put_change(struct text *t, const struct traits *from, const struct traits *b)
{
	struct text own = { 0 };
	const struct traits none = { 0 }, *a = from ? from : &none;
	const struct variant *x = a->variant, *y = b->variant;
	const struct setting first = { .dense = DENSE_NO_SLOWER };
	const struct setting u = x ? x->setting : first, v = y->setting;
	put_word(&own, "operations reordered", v.reordered && !u.reordered);
	put_word(&own, "operations in the graph's order", !v.reordered && u.reordered);
	put_word(&own, "copies by DMA", v.copies && !u.copies);
	put_word(&own, "no copies by DMA", !v.copies && u.copies);
	put_word(&own, "layouts", x && layouts_differ(x->s, y->s));
	put_count(&own, "feature maps outside", a->left, b->left);
	put_count(&own, "operations in stripes", a->striped, b->striped);
	put_count(&own, "blocks for weights in place", a->in_place, b->in_place);
	put_count(&own, "operations chained", a->chained, b->chained);
	put_count(&own, "weight bytes fetched", a->fetched, b->fetched);
	if (!own.n)
		text_puts(&own, from ? "addresses and transfers" : "whole feature maps, weights in place");
	text_put(t, own.p, own.n);
	text_free(&own);
}
