/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TFLITE_WIRE_H
#define TFLITE_WIRE_H

#include "tflite/flatbuffers.h"

/* Bytes of a scalar of this kind; 0 for references. */
static inline unsigned
fb_scalar_bytes(int kind)
{
	switch (kind) {
	case FB_BOOL: case FB_I8: case FB_U8:
		return 1;
	case FB_I16: case FB_U16:
		return 2;
	case FB_I32: case FB_U32: case FB_F32:
		return 4;
	case FB_I64: case FB_U64: case FB_F64:
		return 8;
	default:
		return 0;
	}
}

/* Bytes of a field of this kind inside its table. */
static inline unsigned
fb_inline_bytes(int kind)
{
	unsigned n = fb_scalar_bytes(kind);
	return n ? n : 4;
}

/* Returns the position of a field in the buffer; 0 if the field is not stored. */
size_t fb_field_pos(struct fb_ref t, int slot);

#endif
