/* SPDX-License-Identifier: Apache-2.0 */
/* Reads fields of a buffer that fb_verify() has accepted. */
#include "tflite/wire.h"

#include "base/little_endian.h"

#include <assert.h>
#include <string.h>

size_t
fb_field_pos(struct fb_ref t, int slot)
{
	if (!t.buf)
		return 0;
	int64_t vt = (int64_t)t.pos - (int32_t)load_le32(t.buf + t.pos);
	const uint8_t *vtable = t.buf + vt;
	if (4 + 2 * slot + 2 > load_le16(vtable))
		return 0;
	uint16_t at = load_le16(vtable + 4 + 2 * slot);
	return at ? t.pos + at : 0;
}

static size_t
follow(const uint8_t *buf, size_t pos)
{
	return pos + load_le32(buf + pos);
}

bool
fb_has(struct fb_ref t, int slot)
{
	return fb_field_pos(t, slot) != 0;
}

static double
scalar_default(struct fb_ref t, int slot)
{
	return t.table->slot[slot].def;
}

int64_t
fb_int(struct fb_ref t, int slot)
{
	assert(slot < t.table->n_slots);
	size_t at = fb_field_pos(t, slot);
	if (!at)
		return (int64_t)scalar_default(t, slot);
	const uint8_t *p = t.buf + at;
	switch (t.table->slot[slot].kind) {
	case FB_BOOL:
		return *p != 0;
	case FB_I8:
		return (int8_t)*p;
	case FB_U8:
		return *p;
	case FB_I16:
		return (int16_t)load_le16(p);
	case FB_U16:
		return load_le16(p);
	case FB_I32:
		return (int32_t)load_le32(p);
	case FB_U32:
		return load_le32(p);
	default:
		return (int64_t)load_le64(p);
	}
}

double
fb_float(struct fb_ref t, int slot)
{
	assert(slot < t.table->n_slots);
	size_t at = fb_field_pos(t, slot);
	if (!at)
		return scalar_default(t, slot);
	if (t.table->slot[slot].kind == FB_F32)
		return (double)load_f32(t.buf + at);
	uint64_t u = load_le64(t.buf + at);
	double d;
	memcpy(&d, &u, sizeof(d));
	return d;
}

struct fb_ref
fb_child(struct fb_ref t, int slot)
{
	assert(slot < t.table->n_slots);
	const struct fb_field *f = &t.table->slot[slot];
	const struct fb_table *child = f->child;
	size_t at = fb_field_pos(t, slot);
	if (f->kind == FB_UNION_VALUE) {
		size_t tag_at = fb_field_pos(t, slot - 1);
		unsigned tag = tag_at ? t.buf[tag_at] : 0;
		child = tag < (unsigned)f->members->n ? f->members->member[tag]
						      : NULL;
		if (!child)
			at = 0;
	}
	if (!at)
		return (struct fb_ref){ .table = child };
	return (struct fb_ref){ .buf = t.buf,
				.pos = follow(t.buf, at),
				.table = child };
}

struct fb_vec
fb_vector(struct fb_ref t, int slot)
{
	size_t at = fb_field_pos(t, slot);
	if (!at)
		return (struct fb_vec){ 0 };
	size_t v = follow(t.buf, at);
	return (struct fb_vec){ .p = t.buf + v + 4, .n = load_le32(t.buf + v) };
}

struct fb_ref
fb_item(struct fb_ref t, int slot, uint32_t i)
{
	struct fb_vec v = fb_vector(t, slot);
	assert(i < v.n);
	size_t at = (size_t)(v.p - t.buf) + 4 * (size_t)i;
	return (struct fb_ref){ .buf = t.buf,
				.pos = follow(t.buf, at),
				.table = t.table->slot[slot].child };
}

const char *
fb_string(struct fb_ref t, int slot, size_t *len)
{
	struct fb_vec v = fb_vector(t, slot);
	if (len)
		*len = v.n;
	return v.p ? (const char *)v.p : "";
}

const char *
fb_text(struct fb_ref t, int slot, uint32_t i, size_t *len)
{
	struct fb_vec v = fb_vector(t, slot);
	assert(i < v.n);
	size_t at = follow(t.buf, (size_t)(v.p - t.buf) + 4 * (size_t)i);
	if (len)
		*len = load_le32(t.buf + at);
	return (const char *)t.buf + at + 4;
}
