/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reflection tables of one schema, for the file that includes this header:
 * FB_SCHEMA names its tables, FB_UNIONS the members of its unions.
 */
#ifndef TFLITE_REFLECT_H
#define TFLITE_REFLECT_H

#define FB_TABLE(t) static const struct fb_field t##_field[] = {
#define FB_END(t) { .name = NULL } };
#define FB_SCALAR(t, s, f, k, d) [s] = { .name = #f, .kind = FB_##k, .def = d },
#define FB_VECTOR(t, s, f, k, a) [s] = { .name = #f, .kind = FB_VEC + FB_##k, .align = a },
#define FB_TEXT(t, s, f) [s] = { .name = #f, .kind = FB_STRING },
#define FB_TEXTS(t, s, f) [s] = { .name = #f, .kind = FB_VEC_STRING },
#define FB_CHILD(t, s, f, c) [s] = { .name = #f, .kind = FB_CHILD_TABLE, .child = &fb_##c },
#define FB_TABLES(t, s, f, c) [s] = { .name = #f, .kind = FB_VEC_TABLE, .child = &fb_##c },
#define FB_UNION(t, s, f, u) [s] = { .name = #f, .kind = FB_UNION_VALUE, .members = &fb_##u },
#include FB_SCHEMA

/* one element more than the slots: the terminator keeps empty tables legal */
#define FB_TABLE(t) const struct fb_table fb_##t = { .name = #t, \
	.n_slots = (int)ARRAY_LEN(t##_field) - 1, .slot = t##_field };
#define FB_END(t)
#define FB_SCALAR(t, s, f, k, d)
#define FB_VECTOR(t, s, f, k, a)
#define FB_TEXT(t, s, f)
#define FB_TEXTS(t, s, f)
#define FB_CHILD(t, s, f, c)
#define FB_TABLES(t, s, f, c)
#define FB_UNION(t, s, f, u)
#include FB_SCHEMA

#define FB_MEMBERS(u) static const struct fb_table *const u##_member[] = {
#define FB_MEMBER(tag, table) [tag] = &fb_##table,
#define FB_MEMBERS_END(u) };
#include FB_UNIONS

#define FB_MEMBERS(u) const struct fb_union fb_##u = { .name = #u, \
	.n = (int)ARRAY_LEN(u##_member), .member = u##_member };
#define FB_MEMBER(tag, table)
#define FB_MEMBERS_END(u)
#include FB_UNIONS

#endif
