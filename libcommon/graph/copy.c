/* SPDX-License-Identifier: Apache-2.0 */
/* Copies graphs and their records, drops records, and replaces operations. */
#include "graph/fields.h"

static void *
record_copy(struct graph *g, enum record_kind kind, const void *of)
{
	struct g_rec *r = record_add(g, kind), own = *r;
	memcpy(r, of, record_descs[kind].size);
	r->id = own.id;
	r->index = own.index;
	r->before = r->after = NULL;
	return r;
}

#define RECORD(r, k, p, type, arr)                                           \
	struct type *graph_copy_##type(struct graph *g, const struct type *of) \
	{                                                                    \
		return record_copy(g, REC_##r, of);                          \
	}
#include "graph.def"

static void
record_keep(struct graph *g, enum record_kind kind, const bool *keep)
{
	size_t n, kept = 0;
	void **p = record_array(g, kind, &n);
	for (size_t i = 0; i < n; i++) {
		if (!keep[i])
			continue;
		((struct g_rec *)p[i])->index = (int)kept;
		p[kept++] = p[i];
	}
	memcpy((char *)g + record_descs[kind].n, &kept, sizeof(kept));
	record_number(g, kind);
}

#define RECORD(r, k, p, type, arr)                                           \
	void graph_keep_##type(struct graph *g, const bool *keep)            \
	{                                                                    \
		record_keep(g, REC_##r, keep);                               \
	}
#include "graph.def"

struct g_tensor *
graph_add_feature_map(struct graph *g, int type, struct hwc shape)
{
	struct g_tensor *t = graph_add_g_tensor(g);
	G_PUT(t, TENSOR, shape,
	      (struct g_shape){ .type = type, .rank = 4,
				.dim = { 1, shape.h, shape.w, shape.c } });
	t->hwc = shape;
	return t;
}

void
tfls_insert(struct graph *g, struct g_tfls *l, int at, struct g_tfl v)
{
	struct g_tfl *all = anew(g->a, struct g_tfl, (size_t)l->n + 1);
	for (int i = 0; i <= l->n; i++)
		all[i] = i == at ? v : l->v[i < at ? i : i - 1];
	l->v = all;
	l->n++;
}

/* The record of g at the position that *at has in the original graph. */
static void
map_record(const struct graph *g, enum record_kind kind, void *at)
{
	struct g_rec *r;
	size_t n;
	memcpy(&r, at, sizeof(r));
	if (r)
		memcpy(at, &record_array(g, kind, &n)[r->index], sizeof(r));
}

/* Makes the members of records refer to records of g, if these were copied. */
static void
map_records(const struct graph *g, const bool *copied, enum record_kind kind)
{
	const struct record_desc *d = &record_descs[kind];
	size_t n;
	void **p = record_array(g, kind, &n);
	for (int k = 0; k < d->n_keys; k++)
		for (size_t i = 0; i < n && d->key[k].kind >= KIND_TENSORS; i++) {
			void *at = (char *)p[i] + d->key[k].offset;
			if (d->key[k].kind == KIND_TENSORS) {
				struct g_tensors *l = at;
				const struct g_tensors from = *l;
				l->v = anew(g->a, struct g_tensor *, from.n + 1);
				for (size_t j = 0; j < from.n; j++)
					l->v[j] = g->tensors[from.v[j]->rec.index];
			} else if (d->key[k].kind == KIND_OPERAND) {
				map_record(g, REC_TENSOR, &((struct g_operand *)at)->t);
			} else if (copied[ref_record[d->key[k].kind - KIND_WEIGHTS]]) {
				map_record(g, ref_record[d->key[k].kind - KIND_WEIGHTS], at);
			}
		}
}

/* Copies the records of some kinds, among them tensors. */
static struct graph *
copy_kinds(struct arena *a, const struct graph *from, const bool *copied)
{
	struct graph *g = anew(a, struct graph, 1);
	*g = *from;
	g->a = a;
	for (int k = 0; k < RECORDS; k++) {
		if (!copied[k])
			continue;
		const struct record_desc *d = &record_descs[k];
		char *base = (char *)g;
		size_t n;
		void **of = record_array(g, (enum record_kind)k, &n), **p = anew(a, void *, n + 1);
		char *all = arena_alloc(a, n + 1, d->size);
		for (size_t i = 0; i < n; i++) {
			p[i] = all + i * d->size;
			memcpy(p[i], of[i], d->size);
		}
		memcpy(base + d->array, &p, sizeof(p));
		memcpy(base + d->cap, &n, sizeof(n));
	}
	for (int k = 0; k < RECORDS; k++)
		if (copied[k])
			map_records(g, copied, (enum record_kind)k);
	return g;
}

struct graph *
graph_copy(struct arena *a, const struct graph *from)
{
	bool all[RECORDS];
	memset(all, true, sizeof(all));
	struct graph *g = copy_kinds(a, from, all);
	g->blobs = anew(a, struct g_blob *, from->n_blobs + 1);
	if (from->n_blobs)
		memcpy(g->blobs, from->blobs, from->n_blobs * sizeof(*g->blobs));
	g->cap_blobs = from->n_blobs;
	return g;
}

struct graph *
graph_copy_maps(struct arena *a, const struct graph *from)
{
	const bool maps[RECORDS] = { [REC_TENSOR] = true, [REC_NODE] = true, [REC_OP] = true };
	return copy_kinds(a, from, maps);
}

void
graph_set_ops(struct graph *g, struct g_op **op, size_t n)
{
	g->ops = op;
	g->n_ops = g->cap_ops = n;
	for (size_t i = 0; i < n; i++)
		op[i]->rec.index = (int)i;
	record_number(g, REC_OP);
}
