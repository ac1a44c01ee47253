/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays out the constants: weights, tables, constant tensors.  Equal ones are stored
 * once.
 */
#include "wenc.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <string.h>

enum { ALIGN = 16 };

struct item {
	int64_t at, bytes;
	bool fixed;
	uint64_t hash;
	const uint8_t *data;		/* of tables and tensors */
	const struct coded *coded;	/* of weights */
	struct g_rec *rec;
	int64_t *at_field;
	uint64_t at_bit;
};

struct layout {
	struct wenc *w;
	struct item *item;
	size_t n, cap;
	int64_t used;
};

static struct item *
add_item(struct layout *l, struct g_rec *rec, int64_t *at, int key, int64_t bytes)
{
	agrow(l->w->a, l->item, l->n, &l->cap);
	struct item *i = &l->item[l->n++];
	*i = (struct item){ .bytes = bytes, .rec = rec, .at_field = at,
			    .at_bit = (uint64_t)1 << key };
	i->fixed = (rec->has & i->at_bit) != 0;
	i->at = i->fixed ? *at : 0;
	return i;
}

static void
add_data(struct layout *l, struct g_rec *rec, int64_t *at, int key,
	 struct bytes b)
{
	struct item *i = add_item(l, rec, at, key, round_up_i64((int64_t)b.n, ALIGN));
	uint8_t *p = arena_alloc(l->w->a, (size_t)i->bytes, 1);
	memcpy(p, b.p, b.n);
	i->data = p;
	i->hash = hash_xxh3(p, (size_t)i->bytes);
}

static bool
collect_constants(struct layout *l)
{
	struct graph *g = l->w->g;
	for (size_t i = 0; i < l->w->n_coded; i++) {
		struct coded *c = &l->w->coded[i];
		struct item *it = add_item(l, &c->w->rec, &c->w->at, G_WEIGHTS_at,
					   c->bytes);
		it->coded = c;
		it->hash = c->hash;
	}
	for (size_t i = 0; i < g->n_luts; i++) {
		struct g_lut *lut = g->luts[i];
		size_t size = lut->bits == 8 ? 1 : 4;
		uint8_t *p = arena_alloc(l->w->a, lut->values.n, size);
		for (size_t k = 0; k < lut->values.n; k++) {
			if (size == 1)
				p[k] = (uint8_t)lut->values.v[k];
			else
				store_le32(p + 4 * k, (uint32_t)lut->values.v[k]);
		}
		add_data(l, &lut->rec, &lut->at, G_LUT_at,
			 (struct bytes){ .p = p, .n = lut->values.n * size });
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		struct bytes b;
		if (!tensor_is_const(t))
			continue;
		if (!graph_source(g, &t->rec, &t->source, &b, l->w->e))
			return false;
		if ((int64_t)b.n < tensor_bytes(t))
			return graph_err(g, t, l->w->e, "t%d: its source has %zu "
					 "bytes, not %" PRId64, t->rec.id, b.n,
					 tensor_bytes(t));
		add_data(l, &t->rec, &t->at, G_TENSOR_at, b);
	}
	return true;
}

static bool
overlap(const struct item *a, const struct item *b)
{
	return spans_overlap(a->at, a->bytes, b->at, b->bytes);
}

/*
 * First fit: the lowest address at which item i overlaps no item before it and no fixed
 * item.
 */
static void
first_fit(struct layout *l, size_t i)
{
	struct item *it = &l->item[i];
	bool moved = true;
	it->at = 0;
	while (moved) {
		moved = false;
		for (size_t k = 0; k < l->n; k++) {
			const struct item *x = &l->item[k];
			if (k == i || (k > i && !x->fixed) || !overlap(it, x))
				continue;
			it->at = x->at + x->bytes;
			moved = true;
		}
	}
}

static bool
assign_addresses(struct layout *l)
{
	bool any_fixed = false;
	for (size_t i = 0; i < l->n; i++) {
		any_fixed |= l->item[i].fixed;
		if (!l->item[i].fixed)
			continue;
		for (size_t k = 0; k < i; k++)
			if (l->item[k].fixed && overlap(&l->item[i], &l->item[k]))
				return err_at(l->w->e, l->w->g->file,
					      l->item[i].rec->line,
					      "at=0x%" PRIx64 " overlaps the constants "
					      "of line %u", (uint64_t)l->item[i].at,
					      l->item[k].rec->line);
	}
	for (size_t i = 0; i < l->n; i++) {
		struct item *it = &l->item[i];
		const struct item *duplicate = NULL;
		for (size_t k = 0; !it->fixed && !duplicate && k < i; k++)
			if (l->item[k].hash == it->hash && l->item[k].bytes == it->bytes)
				duplicate = &l->item[k];
		if (duplicate)
			it->at = duplicate->at;
		else if (!it->fixed && any_fixed)
			first_fit(l, i);
		else if (!it->fixed)
			it->at = l->used;
		if (it->at + it->bytes > l->used)
			l->used = it->at + it->bytes;
		*it->at_field = it->at;
		it->rec->has |= it->at_bit;
	}
	return l->used < TFL_MAX_BYTES ||
	       err_set(l->w->e, "the constants are larger than 2 GB");
}

/* writes one record's pieces and adds code records with their addresses */
static void
write_coded(struct layout *l, const struct item *it, uint8_t *image)
{
	const struct coded *c = it->coded;
	int64_t at = it->at;
	for (int i = 0; i < c->slices * c->cores; i++) {
		const struct piece *p = &c->piece[i];
		if (!p->stream.n)
			continue;
		struct weights_order ord = emit_weights_order(l->w->accel, c->op,
						      i / c->cores, i % c->cores);
		struct g_code *r = graph_add_g_code(l->w->g);
		G_PUT(r, CODE, weights, c->w);
		G_PUT(r, CODE, slice, i / c->cores);
		G_PUT(r, CODE, core, i % c->cores);
		G_PUT(r, CODE, depth, (struct g_range){ .lo = ord.begin, .hi = ord.end });
		G_PUT(r, CODE, scale_bytes,
		      (struct g_span){ .at = at, .bytes = (int64_t)p->scales.n });
		memcpy(image + at, p->scales.p, p->scales.n);
		at += (int64_t)p->scales.n;
		G_PUT(r, CODE, weight_bytes,
		      (struct g_span){ .at = at, .bytes = (int64_t)p->stream.n });
		memcpy(image + at, p->stream.p, p->stream.n);
		at += (int64_t)p->stream.n;
	}
}

bool
lay_out(struct wenc *w, const struct options *o)
{
	struct layout l = { .w = w };
	if (!collect_constants(&l) || !assign_addresses(&l))
		return false;
	uint8_t *image = arena_alloc(w->a, (size_t)l.used, 1);
	w->g->n_codes = 0;
	w->g->next_codes = 0;
	for (size_t i = 0; i < l.n; i++) {
		if (l.item[i].coded)
			write_coded(&l, &l.item[i], image);
		else
			memcpy(image + l.item[i].at, l.item[i].data,
			       (size_t)l.item[i].bytes);
	}
	struct g_area *area = NULL;
	for (size_t i = 0; i < w->g->n_areas; i++)
		if (!strcmp(w->g->areas[i]->rec.word, place_names[PLACE_FLASH]))
			area = w->g->areas[i];
	if (!area)
		area = graph_add_g_area(w->g);
	area->rec.word = place_names[PLACE_FLASH];
	G_PUT(area, AREA, region, PLACE_FLASH);
	G_PUT(area, AREA, used, l.used);
	struct bytes b = { .p = image, .n = (size_t)l.used };
	struct g_blob *blob = graph_find_blob(w->g, "flash");
	if (blob)
		return graph_err(w->g, blob, w->e, "the graph is encoded already: it "
						   "has a blob 'flash'");
	blob = graph_add_blob(w->g, "flash", b);
	if (!o->blob)
		return true;
	blob->path = o->blob;
	return file_set_lend(w->files, o->blob, b, true, w->e);
}
