/* SPDX-License-Identifier: Apache-2.0 */
/* Access to elements in the format of a file. */
#include "tosa/tosa.h"

#include "base/little_endian.h"
#include "base/text.h"

int64_t
tosa_elements(const struct tosa_tensor *t)
{
	int64_t n = 1;
	for (int i = 0; i < t->rank; i++)
		n *= t->dim[i];
	return n;
}

int64_t
tosa_bytes(const struct tosa_tensor *t)
{
	return (tosa_elements(t) * tosa_type_bits(t->type) + 7) / 8;
}

int64_t
tosa_load(int type, const uint8_t *p, int64_t i)
{
	int nibble;
	switch (type) {
	case TOSA_BOOL:
		return p[i] != 0;
	case TOSA_INT4:
		nibble = p[i / 2] >> (4 * (i % 2)) & 15;
		return nibble < 8 ? nibble : nibble - 16;
	case TOSA_INT8:
		return (int8_t)p[i];
	case TOSA_INT16:
		return (int16_t)load_le16(p + 2 * i);
	case TOSA_INT32:
		return (int32_t)load_le32(p + 4 * i);
	case TOSA_INT48:
		p += 6 * i;
		return (int64_t)((load_le32(p) | (uint64_t)load_le16(p + 4) << 32) << 16) /
		       65536;
	default:
		return (int64_t)load_le64(p + 8 * i);
	}
}

void
tosa_store(int type, uint8_t *p, int64_t i, int64_t v)
{
	switch (type) {
	case TOSA_INT16:
		store_le16(p + 2 * i, (uint16_t)v);
		break;
	case TOSA_INT32:
		store_le32(p + 4 * i, (uint32_t)v);
		break;
	case TOSA_INT48:
		store_le32(p + 6 * i, (uint32_t)v);
		store_le16(p + 6 * i + 4, (uint16_t)((uint64_t)v >> 32));
		break;
	case TOSA_SHAPE:
		store_le64(p + 8 * i, (uint64_t)v);
		break;
	default:
		p[i] = (uint8_t)v;
	}
}

int64_t
tosa_value(const struct tosa_tensor *t, int64_t i)
{
	return tosa_load(t->type, t->data.p, i);
}

const char *
tosa_text(struct arena *a, const struct tosa_tensor *t)
{
	struct text s = { 0 };
	text_printf(&s, "%s[", tosa_type_name(t->type));
	for (int i = 0; i < t->rank; i++)
		text_printf(&s, i ? ",%d" : "%d", t->dim[i]);
	text_putc(&s, ']');
	const char *r = arena_strdup(a, text_str(&s));
	text_free(&s);
	return r;
}
