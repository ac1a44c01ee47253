/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a buffer is safe to read: nputools-tflite(5) 2.  One walk visits
 * everything that is reachable.  Shared tables are counted on each visit, so that a
 * small file can't expand without limit.
 */
#include "tflite/wire.h"

#include "base/file.h"
#include "base/foreign.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "tflite/fields.h"

#include <string.h>

enum { MAX_DEPTH = 64, MAX_TABLES = 1000000 };

struct walk {
	const uint8_t *buf;
	size_t n;
	const char *name;
	unsigned n_tables;
	struct err *e;
};

static bool
bad(struct walk *w, size_t at, const char *what, const char *rule)
{
	return err_at(w->e, w->name, 0, "FlatBuffer %s at byte %zu %s", what, at, rule);
}

/* Returns the target of the offset at pos; at least 4 bytes follow the target. */
static bool
follow(struct walk *w, size_t pos, const char *what, size_t *target)
{
	uint32_t off = load_le32(w->buf + pos);
	if (off == 0 || off > INT32_MAX)
		return bad(w, pos, what, "has an offset of 0 or above 2^31");
	if (off > w->n - pos || w->n - pos - off < 4)
		return bad(w, pos, what, "points beyond the end of the file; if the file is cut short, "
				      "download it again");
	*target = pos + off;
	return true;
}

static bool
check_vector(struct walk *w, size_t pos, unsigned item_bytes, const char *what,
	     size_t *first, uint32_t *count)
{
	size_t v;
	if (!follow(w, pos, what, &v))
		return false;
	uint32_t n = load_le32(w->buf + v);
	if (n > (w->n - v - 4) / item_bytes)
		return bad(w, v, what, "has more elements than the file bytes");
	*first = v + 4;
	*count = n;
	return true;
}

static bool
check_string(struct walk *w, size_t pos, const char *what)
{
	size_t first;
	uint32_t n;
	if (!check_vector(w, pos, 1, what, &first, &n))
		return false;
	if (first + n >= w->n || w->buf[first + n])
		return bad(w, first, what, "does not end with a NUL byte");
	return true;
}

static bool check_table(struct walk *w, size_t pos, const struct fb_table *t,
			int depth);

static bool
check_tables(struct walk *w, size_t pos, const struct fb_field *f, int depth)
{
	size_t first, target;
	uint32_t n;
	if (!check_vector(w, pos, 4, f->name, &first, &n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!follow(w, first + 4 * (size_t)i, f->name, &target) ||
		    !check_table(w, target, f->child, depth + 1))
			return false;
	return true;
}

static bool
check_strings(struct walk *w, size_t pos, const struct fb_field *f)
{
	size_t first;
	uint32_t n;
	if (!check_vector(w, pos, 4, f->name, &first, &n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!check_string(w, first + 4 * (size_t)i, f->name))
			return false;
	return true;
}

static bool
check_union(struct walk *w, struct fb_ref t, int slot, int depth)
{
	const struct fb_field *f = &t.table->slot[slot];
	size_t tag_at = fb_field_pos(t, slot - 1), at = fb_field_pos(t, slot);
	unsigned tag = tag_at ? w->buf[tag_at] : 0;
	if ((tag != 0) != (at != 0))
		return bad(w, t.pos, f->name, "has a tag without a value or a "
					      "value without a tag");
	const struct fb_table *member =
	    tag < (unsigned)f->members->n ? f->members->member[tag] : NULL;
	size_t target;
	if (!member) /* an unknown tag: the value remains opaque, and is not followed */
		return true;
	return follow(w, at, f->name, &target) &&
	       check_table(w, target, member, depth + 1);
}

static bool
check_field(struct walk *w, struct fb_ref t, int slot, int depth)
{
	const struct fb_field *f = &t.table->slot[slot];
	size_t at = fb_field_pos(t, slot), target, first;
	uint32_t n;
	if (f->kind == FB_UNION_VALUE)
		return check_union(w, t, slot, depth);
	if (!at || fb_scalar_bytes(f->kind))
		return true;
	if (f->kind == FB_STRING)
		return check_string(w, at, f->name);
	if (f->kind == FB_CHILD_TABLE)
		return follow(w, at, f->name, &target) &&
		       check_table(w, target, f->child, depth + 1);
	if (f->kind == FB_VEC_TABLE)
		return check_tables(w, at, f, depth);
	if (f->kind == FB_VEC_STRING)
		return check_strings(w, at, f);
	unsigned size = fb_scalar_bytes(f->kind - FB_VEC);
	return check_vector(w, at, size, f->name, &first, &n);
}

/* Checks the vtable, and that every stored field is inside the table. */
static bool
check_layout(struct walk *w, size_t pos, const struct fb_table *t)
{
	int64_t vt = (int64_t)pos - (int32_t)load_le32(w->buf + pos);
	if (vt < 0 || (uint64_t)vt > w->n - 4)
		return bad(w, pos, t->name, "has its vtable outside the file");
	unsigned vtable_bytes = load_le16(w->buf + vt);
	unsigned table_bytes = load_le16(w->buf + vt + 2);
	if (vtable_bytes < 4 || vtable_bytes % 2 ||
	    vtable_bytes > w->n - (size_t)vt)
		return bad(w, pos, t->name, "has a malformed vtable");
	if (table_bytes < 4 || table_bytes > w->n - pos)
		return bad(w, pos, t->name, "ends beyond the end of the file");
	for (int i = 0; i < t->n_slots && 4 + 2 * (unsigned)i < vtable_bytes; i++) {
		unsigned at = load_le16(w->buf + vt + 4 + 2 * i);
		unsigned size = fb_inline_bytes(t->slot[i].kind);
		if (!at || !t->slot[i].name)
			continue;
		if (at < 4 || at + size > table_bytes)
			return bad(w, pos, t->name, "has a field outside of it");
	}
	return true;
}

static bool
check_table(struct walk *w, size_t pos, const struct fb_table *t, int depth)
{
	if (depth > MAX_DEPTH)
		return bad(w, pos, t->name, "is nested too deeply");
	if (++w->n_tables > MAX_TABLES)
		return bad(w, pos, t->name, "is one of more than 1000000 tables");
	if (!check_layout(w, pos, t))
		return false;
	struct fb_ref ref = { .buf = w->buf, .pos = pos, .table = t };
	for (int i = 0; i < t->n_slots; i++)
		if (!check_field(w, ref, i, depth))
			return false;
	return true;
}

const char *
fb_identify(struct bytes file)
{
	if (file.n < 8)
		return NULL;
	if (!memcmp(file.p + 4, "TOSA", 4))
		return "a TOSA graph (TOSA at byte 4), which tosa-partition lowers "
		       "and npu-sim runs";
	if (!memcmp(file.p + 4, "TFL3", 4))
		return "a TFLite model (TFL3 at byte 4), which tfl-partition lowers "
		       "and npu-sim runs";
	return NULL;
}

/* a file without the format's identifier: says what the file is, if that is known */
static bool
refuse(const struct fb_format *f, struct bytes file, const char *name, struct err *e)
{
	/* the name says what the file was to be */
	bool tosa = text_has_suffix(name, ".tosa");
	const char *what = tosa ? "a TOSA graph" : f->what;
	bool own = file.n >= 8 && !memcmp(file.p + 4, f->id, 4); /* but too short */
	const char *is = own ? NULL : fb_identify(file);
	is = is || own ? is : foreign_file(file, name);
	if (is)
		return err_at(e, name, 0, "not %s but %s", f->what, is);
	if (!file.n)
		return err_at(e, name, 0, "empty, not %s; %s", what,
			      strcmp(name, file_name(NULL)) != 0 ?
			      "export or download it again" :
			      "name a file, or look at the program before the pipe");
	if (file.n < 12)
		return err_at(e, name, 0, "%zu byte%s too few for %s; export or download it "
			      "again", file.n, file.n == 1 ? " is" : "s are", what);
	return err_at(e, name, 0, "not %s (no %s at byte 4); export or download it again",
		      what, tosa ? "TOSA" : f->id);
}

bool
fb_verify_as(const struct fb_format *f, struct bytes file, const char *name,
	     struct fb_ref *root, struct err *e)
{
	struct walk w = { .buf = file.p, .n = file.n, .name = name, .e = e };
	if (file.n < 12 || memcmp(file.p + 4, f->id, 4) != 0)
		return refuse(f, file, name, e);
	size_t pos;
	if (!follow(&w, 0, "root", &pos))
		return false;
	*root = (struct fb_ref){ .buf = file.p, .pos = pos, .table = f->root };
	return check_table(&w, pos, f->root, 0);
}

bool
fb_verify(struct bytes file, const char *name, struct fb_ref *root,
	  struct err *e)
{
	static const struct fb_format model = {
		.id = "TFL3", .what = "a TFLite model", .root = &fb_Model };
	return fb_verify_as(&model, file, name, root, e);
}
