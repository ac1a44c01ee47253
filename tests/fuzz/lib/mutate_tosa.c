/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes numbers of a TOSA graph in place: an attribute, a type, a dimension, an
 * element of a constant, an operator's code.  Names and their order do not change, so
 * that most of the graph stays meaningful.  Constants get values of their type's
 * whole range.
 */
#include "mutate.h"

#include "tflite/wire.h"
#include "tosa/tosa.h"

struct spot { /* a number in the file; bytes 0: no number */
	size_t at;
	unsigned bytes;
};

/* element i of a vector of numbers, or a stored scalar */
static struct spot
number_in(struct dice *d, struct fb_ref t, int slot)
{
	int kind = t.table->slot[slot].kind;
	unsigned unit = kind > FB_VEC && kind < FB_VEC_TABLE ? fb_scalar_bytes(kind - FB_VEC)
							     : 0;
	if (!fb_has(t, slot))
		return (struct spot){ 0 };
	if (!unit)
		return (struct spot){ fb_field_pos(t, slot), fb_scalar_bytes(kind) };
	struct fb_vec v = fb_vector(t, slot);
	size_t at = (size_t)(v.p - t.buf) + unit * roll(d, v.n);
	return (struct spot){ at, v.n ? unit : 0 };
}

/* any number of a table, or of a table inside it */
static struct spot
any_number(struct dice *d, struct fb_ref t)
{
	if (!t.table->n_slots)
		return (struct spot){ 0 };
	int slot = (int)roll(d, (size_t)t.table->n_slots);
	int kind = t.table->slot[slot].kind;
	if (kind == FB_VEC_TABLE && fb_has(t, slot) && fb_vector(t, slot).n)
		return any_number(d, fb_item(t, slot, (uint32_t)roll(
						       d, fb_vector(t, slot).n)));
	if (kind == FB_CHILD_TABLE || kind == FB_UNION_VALUE) {
		struct fb_ref child = fb_child(t, slot);
		return child.buf ? any_number(d, child) : (struct spot){ 0 };
	}
	return number_in(d, t, slot);
}

/* the type's limits and their neighbours, small numbers, or any number */
static uint64_t
new_value(struct dice *d, const uint8_t *p, unsigned bytes)
{
	uint64_t was = 0;
	for (unsigned i = 0; i < bytes; i++)
		was |= (uint64_t)p[i] << 8 * i;
	switch (roll(d, 4)) {
	case 0: return dice_next(d);
	case 1: return was + (one_in(d, 2) ? 1 : UINT64_MAX);
	case 2: return ((uint64_t)1 << (8 * bytes - 1)) - roll(d, 2);
	default: return (uint64_t)odd_number(d, (int64_t)was);
	}
}

size_t
mutate_tosa(uint8_t *data, size_t n, unsigned seed)
{
	static const struct fb_format format = {
		.id = "TOSA", .what = "a TOSA graph", .root = &fb_TosaGraph };
	struct dice d = dice_init(seed);
	struct err e = { 0 };
	struct fb_ref root;
	if (!fb_verify_as(&format, (struct bytes){ .p = data, .n = n }, "m", &root, &e) ||
	    !fb_has(root, FB_TosaGraph_regions))
		return 0;
	/* most randomly selected numbers are not stored in the file: try until some
	 * are */
	int changes = 1 + (int)roll(&d, 3);
	for (int tries = 0; changes && tries < 200; tries++) {
		struct fb_vec regions = fb_vector(root, FB_TosaGraph_regions);
		if (!regions.n)
			break;
		struct spot s = any_number(&d, fb_item(root, FB_TosaGraph_regions, 0));
		if (!s.bytes)
			continue;
		uint64_t v = new_value(&d, data + s.at, s.bytes);
		for (unsigned i = 0; i < s.bytes; i++)
			data[s.at + i] = (uint8_t)(v >> 8 * i);
		changes--;
		/* another member of a union may have no such table: nothing can follow */
		if (!fb_verify_as(&format, (struct bytes){ .p = data, .n = n }, "m", &root,
				  &e))
			break;
	}
	return n;
}
