/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include "base/little_endian.h"
#include "tflite/wire.h"
#include "tflite/write.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 64 };

unsigned
tree_unit(int kind)
{
	if (kind == FB_STRING)
		return 1;
	return kind > FB_VEC && kind < FB_VEC_TABLE ? fb_scalar_bytes(kind - FB_VEC)
						    : 0;
}

struct tree *
tree_new(struct arena *a, const struct fb_table *t)
{
	struct tree *n = anew(a, struct tree, 1);
	n->table = t;
	n->field = anew(a, struct field, (size_t)t->n_slots);
	for (int i = 0; i < t->n_slots; i++) {
		n->field[i].f = t->slot[i].def;
		n->field[i].i = (int64_t)t->slot[i].def;
	}
	return n;
}

static void
read_field(struct arena *a, struct fb_ref t, int slot, struct field *f)
{
	int kind = t.table->slot[slot].kind;
	unsigned unit = tree_unit(kind);
	if (kind == FB_F32 || kind == FB_F64) {
		f->f = fb_float(t, slot);
	} else if (fb_scalar_bytes(kind)) {
		f->i = fb_int(t, slot);
	} else if (unit && fb_has(t, slot)) {
		struct fb_vec v = fb_vector(t, slot);
		f->there = true;
		f->n = v.n;
		f->p = anew(a, uint8_t, v.n * unit + 1);
		memcpy(f->p, v.p, v.n * unit);
	} else if (kind == FB_VEC_TABLE && fb_has(t, slot)) {
		f->there = true;
		f->n = fb_vector(t, slot).n;
		f->item = anew(a, struct tree *, f->n + 1);
		for (uint32_t i = 0; i < f->n; i++)
			f->item[i] = tree_read(a, fb_item(t, slot, i));
	} else if (kind == FB_CHILD_TABLE || kind == FB_UNION_VALUE) {
		struct fb_ref c = fb_child(t, slot);
		f->child = c.buf ? tree_read(a, c) : NULL;
	}
}

struct tree *
tree_read(struct arena *a, struct fb_ref t)
{
	struct tree *n = tree_new(a, t.table);
	for (int i = 0; i < t.table->n_slots; i++)
		read_field(a, t, i, &n->field[i]);
	return n;
}

struct tree *
tree_copy(struct arena *a, const struct tree *t)
{
	struct tree *n = tree_new(a, t->table);
	for (int i = 0; i < t->table->n_slots; i++) {
		struct field *f = &n->field[i];
		size_t unit = tree_unit(t->table->slot[i].kind);
		*f = t->field[i];
		if (f->child)
			f->child = tree_copy(a, f->child);
		if (f->p) {
			f->p = anew(a, uint8_t, f->n * unit + 1);
			memcpy(f->p, t->field[i].p, f->n * unit);
		}
		if (f->item)
			f->item = anew(a, struct tree *, f->n + 1);
		for (size_t k = 0; f->item && k < f->n; k++)
			f->item[k] = tree_copy(a, t->field[i].item[k]);
	}
	return n;
}

static fbw_off write_tree(struct fbw *w, const struct tree *t);

static fbw_off
write_vector(struct fbw *w, const struct fb_field *s, const struct field *f)
{
	unsigned unit = tree_unit(s->kind);
	fbw_off off = 0;
	if (s->kind == FB_STRING)
		return fbw_string(w, (const char *)f->p);
	if (unit == 1)
		return fbw_bytes(w, f->p, f->n, s->align ? s->align : 1);
	int64_t *v = calloc(f->n + 1, sizeof(*v));
	int32_t *v32 = calloc(f->n + 1, sizeof(*v32));
	if (!v || !v32)
		out_of_memory();
	for (size_t i = 0; i < f->n; i++) {
		v[i] = unit == 8 ? (int64_t)load_le64(f->p + 8 * i) : 0;
		v32[i] = unit == 4 ? (int32_t)load_le32(f->p + 4 * i) : 0;
	}
	if (unit == 8)
		off = fbw_i64s(w, v, f->n);
	else if (unit == 4)
		off = fbw_i32s(w, v32, f->n);
	free(v);
	free(v32);
	return off; /* vectors of 16 bits, which only sparsity has, are left out */
}

static fbw_off
write_items(struct fbw *w, const struct field *f)
{
	fbw_off *item = calloc(f->n + 1, sizeof(*item));
	if (!item)
		out_of_memory();
	for (size_t i = 0; i < f->n; i++)
		item[i] = write_tree(w, f->item[i]);
	fbw_off off = fbw_offsets(w, item, f->n);
	free(item);
	return off;
}

static fbw_off
write_tree(struct fbw *w, const struct tree *t)
{
	fbw_off child[MAX_FIELDS] = { 0 };
	for (int i = 0; i < t->table->n_slots; i++) {
		const struct field *f = &t->field[i];
		if (f->child)
			child[i] = write_tree(w, f->child);
		else if (f->item)
			child[i] = write_items(w, f);
		else if (f->there)
			child[i] = write_vector(w, &t->table->slot[i], f);
	}
	fbw_table(w, t->table);
	for (int i = 0; i < t->table->n_slots; i++) {
		int kind = t->table->slot[i].kind;
		if (kind == FB_F32 || kind == FB_F64)
			fbw_float(w, i, t->field[i].f);
		else if (fb_scalar_bytes(kind))
			fbw_int(w, i, t->field[i].i);
		else
			fbw_ref(w, i, child[i]);
	}
	return fbw_end(w);
}

bool
tree_write(const struct tree *t, uint8_t *out, size_t max, size_t *n)
{
	struct fbw *w = fbw_open();
	struct bytes file;
	struct err e = { 0 };
	bool ok = fbw_finish(w, write_tree(w, t), &file, &e) && file.n <= max;
	if (ok) {
		memcpy(out, file.p, file.n);
		*n = file.n;
	}
	fbw_close(w);
	return ok;
}

int64_t
tree_get(const struct tree *t, int slot, size_t i)
{
	const uint8_t *p = t->field[slot].p;
	switch (tree_unit(t->table->slot[slot].kind)) {
	case 1:
		return (int8_t)p[i];
	case 4:
		return (int32_t)load_le32(p + 4 * i);
	case 8:
		return (int64_t)load_le64(p + 8 * i);
	default:
		return 0;
	}
}

void
tree_set(struct tree *t, int slot, size_t i, int64_t v)
{
	uint8_t *p = t->field[slot].p;
	switch (tree_unit(t->table->slot[slot].kind)) {
	case 1:
		p[i] = (uint8_t)v;
		break;
	case 4:
		store_le32(p + 4 * i, (uint32_t)v);
		break;
	case 8:
		store_le64(p + 8 * i, (uint64_t)v);
		break;
	default:
		break;
	}
}

void
tree_resize(struct arena *a, struct tree *t, int slot, size_t n)
{
	struct field *f = &t->field[slot];
	size_t unit = tree_unit(t->table->slot[slot].kind), was = f->n * unit;
	uint8_t *p = anew(a, uint8_t, n * unit + 1);
	for (size_t i = 0; was && i < n * unit; i++)
		p[i] = f->p[i % was];
	*f = (struct field){ .p = p, .n = n, .there = true };
}

void
tree_insert(struct arena *a, struct tree *t, int slot, size_t at,
	    struct tree *item)
{
	struct field *f = &t->field[slot];
	struct tree **v = anew(a, struct tree *, f->n + 2);
	if (f->n)
		memcpy(v, f->item, at * sizeof(struct tree *));
	if (f->n > at)
		memcpy(v + at + 1, f->item + at, (f->n - at) * sizeof(struct tree *));
	v[at] = item;
	f->item = v;
	f->n++;
	f->there = true;
}

void
tree_remove(struct tree *t, int slot, size_t at)
{
	struct field *f = &t->field[slot];
	f->n--;
	memmove(f->item + at, f->item + at + 1, (f->n - at) * sizeof(struct tree *));
}
