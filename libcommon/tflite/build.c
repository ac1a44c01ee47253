/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FlatBuffers builder.  It writes from the end of the buffer towards its start, so
 * that every offset points forward in the finished file.
 */
#include "tflite/wire.h"

#include "base/block.h"
#include "base/little_endian.h"
#include "tflite/write.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SLOTS = 32, FIRST_BYTES = 1 << 16 };

struct fbw {
	uint8_t *p;
	size_t used, cap;
	size_t min_align;
	const struct fb_table *table; /* the table being built, or NULL */
	size_t table_end;	      /* `used` at the table's begin */
	size_t field[MAX_SLOTS];      /* `used` after each field; 0: absent */
};

struct fbw *
fbw_open(void)
{
	struct fbw *w = block_alloc(sizeof(*w));
	if (!w)
		out_of_memory();
	w->min_align = 4;
	return w;
}

void
fbw_close(struct fbw *w)
{
	if (w)
		block_free(w->p, w->cap);
	block_free(w, sizeof(*w));
}

static void
grow(struct fbw *w, size_t cap)
{
	uint8_t *p = block_alloc(cap);
	if (!p)
		out_of_memory();
	if (w->used)
		memcpy(p + cap - w->used, w->p + w->cap - w->used, w->used);
	block_free(w->p, w->cap);
	w->p = p;
	w->cap = cap;
}

void
fbw_reserve(struct fbw *w, size_t n)
{
	if (w->cap - w->used < n)
		grow(w, w->used + n);
}

/* Prepends n bytes, which are zero: memory in front of the used part is never written. */
static uint8_t *
push(struct fbw *w, size_t n)
{
	size_t cap = w->cap ? w->cap : FIRST_BYTES;
	while (cap - w->used < n)
		cap *= 2;
	if (cap != w->cap)
		grow(w, cap);
	w->used += n;
	return w->p + w->cap - w->used;
}

/* Pads so that the position is a multiple of align once n more bytes are written. */
static void
prepare(struct fbw *w, size_t n, size_t align)
{
	if (align > w->min_align)
		w->min_align = align;
	size_t over = (w->used + n) % align;
	if (over)
		(void)push(w, align - over);
}

static void
push_offset(struct fbw *w, fbw_off to)
{
	prepare(w, 4, 4);
	size_t from = w->used + 4;
	assert(to && to < from);
	store_le32(push(w, 4), (uint32_t)(from - to));
}

static fbw_off
vector(struct fbw *w, const void *p, size_t n, size_t size, size_t align)
{
	prepare(w, n * size, align > size ? align : size);
	prepare(w, n * size, 4);
	uint8_t *at = push(w, n * size);
	if (n)
		memcpy(at, p, n * size);
	store_le32(push(w, 4), (uint32_t)n);
	return (fbw_off)w->used;
}

fbw_off
fbw_string(struct fbw *w, const char *s)
{
	size_t n = strlen(s);
	prepare(w, n + 1, 4);
	memcpy(push(w, n + 1), s, n);
	store_le32(push(w, 4), (uint32_t)n);
	return (fbw_off)w->used;
}

fbw_off
fbw_bytes(struct fbw *w, const void *p, size_t n, int align)
{
	return vector(w, p, n, 1, (size_t)align);
}

/* numbers of 4 or 8 bytes */
static fbw_off
numbers(struct fbw *w, const void *v, size_t n, size_t size)
{
	prepare(w, size * n, size);
	uint8_t *at = push(w, size * n);
	for (size_t i = 0; i < n; i++, at += size) {
		uint32_t word;
		uint64_t pair;
		const uint8_t *from = (const uint8_t *)v + i * size;
		if (size == sizeof(word))
			store_le32(at, *(uint32_t *)memcpy(&word, from, size));
		else
			store_le64(at, *(uint64_t *)memcpy(&pair, from, size));
	}
	store_le32(push(w, 4), (uint32_t)n);
	return (fbw_off)w->used;
}

fbw_off
fbw_i32s(struct fbw *w, const int32_t *v, size_t n)
{
	return numbers(w, v, n, sizeof(*v));
}

fbw_off
fbw_i64s(struct fbw *w, const int64_t *v, size_t n)
{
	return numbers(w, v, n, sizeof(*v));
}

fbw_off
fbw_f32s(struct fbw *w, const float *v, size_t n)
{
	return numbers(w, v, n, sizeof(*v));
}

fbw_off
fbw_offsets(struct fbw *w, const fbw_off *v, size_t n)
{
	prepare(w, 4 * n, 4);
	for (size_t i = n; i-- > 0;)
		push_offset(w, v[i]);
	store_le32(push(w, 4), (uint32_t)n);
	return (fbw_off)w->used;
}

void
fbw_table(struct fbw *w, const struct fb_table *t)
{
	assert(!w->table && t->n_slots <= MAX_SLOTS);
	w->table = t;
	w->table_end = w->used;
	memset(w->field, 0, sizeof(w->field));
}

static void
put_scalar(struct fbw *w, int slot, uint64_t bits)
{
	unsigned size = fb_scalar_bytes(w->table->slot[slot].kind);
	assert(size);
	prepare(w, size, size);
	uint8_t *at = push(w, size);
	for (unsigned i = 0; i < size; i++)
		at[i] = (uint8_t)(bits >> 8 * i);
	w->field[slot] = w->used;
}

void
fbw_int(struct fbw *w, int slot, int64_t v)
{
	if ((double)v != w->table->slot[slot].def)
		put_scalar(w, slot, (uint64_t)v);
}

void
fbw_float(struct fbw *w, int slot, double v)
{
	float f = (float)v;
	uint32_t u;
	uint64_t d;
	memcpy(&u, &f, sizeof(u));
	memcpy(&d, &v, sizeof(d));
	if (v != w->table->slot[slot].def)
		put_scalar(w, slot,
			   w->table->slot[slot].kind == FB_F32 ? u : d);
}

void
fbw_ref(struct fbw *w, int slot, fbw_off child)
{
	if (!child)
		return;
	push_offset(w, child);
	w->field[slot] = w->used;
}

fbw_off
fbw_end(struct fbw *w)
{
	int n = w->table->n_slots;
	while (n && !w->field[n - 1])
		n--;
	prepare(w, 4, 4);
	(void)push(w, 4); /* offset of the vtable, filled in below */
	size_t start = w->used;

	size_t vtable_bytes = 4 + 2 * (size_t)n;
	prepare(w, vtable_bytes, 2);
	uint8_t *v = push(w, vtable_bytes);
	store_le16(v, (uint16_t)vtable_bytes);
	store_le16(v + 2, (uint16_t)(start - w->table_end));
	for (int i = 0; i < n; i++)
		if (w->field[i])
			store_le16(v + 4 + 2 * i, (uint16_t)(start - w->field[i]));
	store_le32(w->p + w->cap - start, (uint32_t)(w->used - start));
	w->table = NULL;
	return (fbw_off)start;
}

/* Returns the name of the opaque field in one slot of t, or NULL. */
static const char *
opaque_field(struct fb_ref t, int slot)
{
	const struct fb_field *f = &t.table->slot[slot];
	const char *what = NULL;
	if (!f->name || !fb_has(t, slot))
		return NULL;
	if (f->kind == FB_CHILD_TABLE || f->kind == FB_UNION_VALUE) {
		struct fb_ref c = fb_child(t, slot);
		return c.buf ? fb_opaque(c) : f->name;
	}
	if (f->kind != FB_VEC_TABLE)
		return NULL;
	uint32_t n = fb_vector(t, slot).n;
	for (uint32_t i = 0; !what && i < n; i++)
		what = fb_opaque(fb_item(t, slot, i));
	return what;
}

const char *
fb_opaque(struct fb_ref t)
{
	const char *what = NULL;
	for (int i = 0; !what && i < t.table->n_slots; i++)
		what = opaque_field(t, i);
	return what;
}

static bool copy_child(struct fbw *w, struct fb_ref t, int slot, fbw_off *out,
		       struct err *e);

/* The recursion is shallow: fb_verify() limits the nesting of tables. */
bool
fbw_copy(struct fbw *w, struct fb_ref t, fbw_off *out, struct err *e)
{
	const struct fb_table *table = t.table;
	fbw_off child[MAX_SLOTS] = { 0 };
	assert(table->n_slots <= MAX_SLOTS);
	for (int i = 0; i < table->n_slots; i++)
		if (!fb_scalar_bytes(table->slot[i].kind) && fb_has(t, i) &&
		    !copy_child(w, t, i, &child[i], e))
			return false;
	fbw_table(w, table);
	for (int i = 0; i < table->n_slots; i++) {
		if (table->slot[i].kind == FB_F32 || table->slot[i].kind == FB_F64) {
			fbw_float(w, i, fb_float(t, i));
		} else if (fb_scalar_bytes(table->slot[i].kind)) {
			if (fb_has(t, i))
				fbw_int(w, i, fb_int(t, i));
		} else {
			fbw_ref(w, i, child[i]);
		}
	}
	*out = fbw_end(w);
	return true;
}

static bool
copy_child(struct fbw *w, struct fb_ref t, int slot, fbw_off *out, struct err *e)
{
	const struct fb_field *f = &t.table->slot[slot];
	if (f->kind == FB_STRING) {
		*out = fbw_string(w, fb_string(t, slot, NULL));
		return true;
	}
	if (f->kind == FB_CHILD_TABLE || f->kind == FB_UNION_VALUE) {
		struct fb_ref c = fb_child(t, slot);
		if (!c.buf)
			return err_set(e, "%s.%s: the type of these options is unknown, so that "
					  "they can't be copied to the output", t.table->name,
				       f->name);
		return fbw_copy(w, c, out, e);
	}
	if (f->kind != FB_VEC_TABLE) {
		struct fb_vec v = fb_vector(t, slot);
		unsigned size = fb_scalar_bytes(f->kind - FB_VEC);
		*out = vector(w, v.p, v.n, size, (size_t)f->align);
		return true;
	}
	uint32_t n = fb_vector(t, slot).n;
	const size_t bytes = (n + (size_t)1) * sizeof(fbw_off);
	fbw_off *items = block_alloc(bytes);
	bool ok = items != NULL;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = fbw_copy(w, fb_item(t, slot, i), &items[i], e);
	if (ok)
		*out = fbw_offsets(w, items, n);
	block_free(items, bytes);
	return ok;
}

bool
fbw_finish(struct fbw *w, fbw_off root, struct bytes *out, struct err *e)
{
	if (w->used > TFL_MAX_BYTES - 64)
		return err_set(e, "the model would be larger than 2 GB, the limit "
				  "of the format");
	prepare(w, 8, w->min_align > 16 ? w->min_align : 16);
	memcpy(push(w, 4), "TFL3", 4);
	push_offset(w, root);
	*out = (struct bytes){ .p = w->p + w->cap - w->used, .n = w->used };
	return true;
}

void
fbw_leave(struct fbw *w, struct arena *a)
{
	(void)arena_keep(a, w->p, w->cap);
	w->p = NULL;
	fbw_close(w);
}
