/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of TFLite's schema and the slots of their fields: schema/tflite*.def. */
#ifndef TFLITE_FIELDS_H
#define TFLITE_FIELDS_H

#include "tflite/flatbuffers.h"

struct tfl_op;

/* fb_Model, fb_Tensor, fb_Conv2DOptions, ... and slots FB_Model_version, ... */
#define FB_TABLE(t) extern const struct fb_table fb_##t; enum { FB_DUMMY_##t,
#define FB_END(t) };
#define FB_SCALAR(t, slot, f, kind, def) FB_##t##_##f = slot,
#define FB_VECTOR(t, slot, f, kind, align) FB_##t##_##f = slot,
#define FB_TEXT(t, slot, f) FB_##t##_##f = slot,
#define FB_CHILD(t, slot, f, c) FB_##t##_##f = slot,
#define FB_TABLES(t, slot, f, c) FB_##t##_##f = slot,
#define FB_UNION(t, slot, f, u) FB_##t##_##f = slot, FB_##t##_##f##_tag = slot - 1,
#include "tflite.def"

#define FB_MEMBERS(u) extern const struct fb_union fb_##u;
#define FB_MEMBER(tag, table)
#define FB_MEMBERS_END(u)
#include "tflite_unions.def"

struct fb_ref tfl_options(const struct tfl_op *op, const struct fb_table *t);
/* Value of an option of op; the schema's default if op has no options. */
#define TFL_OPT(op, table, field)                                            \
	fb_int(tfl_options(op, &fb_##table), FB_##table##_##field)
#define TFL_OPT_FLOAT(op, table, field)                                      \
	fb_float(tfl_options(op, &fb_##table), FB_##table##_##field)

#endif
