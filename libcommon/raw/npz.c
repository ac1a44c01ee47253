/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads .npz files: ZIP archives with one .npy file for each key.  They are
 * written without compression, time stamps and pickled objects.  The reader uses the
 * central directory.  It refuses compressed or pickled entries only if they are needed.
 */
#include "raw/raw.h"

#include "base/foreign.h"
#include "base/little_endian.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- CRC-32 ------------------------------------------------------------------------ */

static uint32_t
crc32_of(const uint8_t *p, size_t n)
{
	uint32_t c = UINT32_MAX;
	for (size_t i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (UINT32_C(0xedb88320) & (0 - (c & 1)));
	}
	return ~c;
}

/* ---- writing ------------------------------------------------------------------------- */

enum { LOCAL = 0x04034b50, CENTRAL = 0x02014b50, END = 0x06054b50,
       LOCAL_BYTES = 30, CENTRAL_BYTES = 46, END_BYTES = 22,
       FIRST_DAY = 0x21 /* 1980-01-01 */, VERSION = 20 };

struct archive {
	struct text *t;
	struct text directory;
	unsigned n;
};

static void
put16(struct text *t, uint32_t v)
{
	uint8_t b[2];
	store_le16(b, (uint16_t)v);
	text_put(t, b, sizeof(b));
}

/* the fields that the local header and the directory share */
static void
put_common(struct text *t, uint32_t crc, size_t bytes, size_t name)
{
	put16(t, VERSION);
	put16(t, 0); /* flags */
	put16(t, 0); /* method: stored */
	put16(t, 0);
	put16(t, FIRST_DAY);
	text_put_le32(t, crc);
	text_put_le32(t, (uint32_t)bytes);
	text_put_le32(t, (uint32_t)bytes);
	put16(t, (uint32_t)name);
	put16(t, 0); /* extra field */
}

/* Writes an array; shape is in Python's syntax, and p has n bytes of data. */
static void
put_array(struct archive *z, const char *key, const char *descr, const char *shape,
	  const void *p, size_t n)
{
	struct text h = { 0 }, f = { 0 };
	text_printf(&h, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr,
		    shape);
	while ((10 + h.n + 1) % 64)
		text_putc(&h, ' ');
	text_putc(&h, '\n');
	text_put(&f, "\x93NUMPY\x01\x00", 8);
	put16(&f, (uint32_t)h.n);
	text_put(&f, h.p, h.n);
	text_put(&f, p, n);

	/* the entry and its copy in the directory */
	char name[64];
	size_t n_name = (size_t)snprintf(name, sizeof(name), "%s.npy", key);
	uint32_t crc = crc32_of((const uint8_t *)f.p, f.n);
	uint32_t at = (uint32_t)z->t->n;
	text_put_le32(z->t, LOCAL);
	put_common(z->t, crc, f.n, n_name);
	text_put(z->t, name, n_name);
	text_put(z->t, f.p, f.n);
	text_put_le32(&z->directory, CENTRAL);
	put16(&z->directory, VERSION);
	put_common(&z->directory, crc, f.n, n_name);
	put16(&z->directory, 0); /* comment */
	put16(&z->directory, 0); /* disk */
	put16(&z->directory, 0); /* attributes */
	text_put_le32(&z->directory, 0);
	text_put_le32(&z->directory, at);
	text_put(&z->directory, name, n_name);
	z->n++;
	text_free(&h);
	text_free(&f);
}

static void
put_bytes(struct archive *z, const char *key, struct bytes b)
{
	char descr[32];
	b = raw_as_string(b);
	(void)snprintf(descr, sizeof(descr), "|S%zu", b.n);
	put_array(z, key, descr, "()", b.p, b.n);
}

/* rank 0: one number; rank 1: rows; rank 2: rows and columns */
static void
put_numbers(struct archive *z, const char *key, int rank, int rows, int cols,
	    const int64_t *v)
{
	char shape[40] = "()";
	size_t n = (size_t)rows * (size_t)cols;
	uint8_t *b = calloc(n + 1, 8);
	if (!b)
		out_of_memory();
	for (size_t i = 0; i < n; i++)
		store_le64(b + 8 * i, (uint64_t)v[i]);
	if (rank == 1)
		(void)snprintf(shape, sizeof(shape), "(%d,)", rows);
	if (rank == 2)
		(void)snprintf(shape, sizeof(shape), "(%d, %d)", rows, cols);
	put_array(z, key, "<i8", shape, b, n * 8);
	free(b);
}

static void
put_number(struct archive *z, const char *key, int64_t v)
{
	put_numbers(z, key, 0, 1, 1, &v);
}

/* Writes the keys NAME_shape, NAME_elem_size, NAME_region, NAME_offset. */
static void
put_io_list(struct archive *z, const char *name, const struct raw_io *v, int n)
{
	enum { SHAPE, ELEM, REGION, OFFSET, KEYS };
	static const char *const keys[KEYS] = { "shape", "elem_size", "region", "offset" };
	for (int k = 0; k < KEYS; k++) {
		int cols = k == SHAPE ? RAW_RANK : 1;
		char key[40];
		int64_t *w = calloc((size_t)n * (size_t)cols + 1, sizeof(*w));
		if (!w)
			out_of_memory();
		for (int i = 0; v && i < n * cols; i++)
			w[i] = k == SHAPE  ? v[i / cols].dim[i % cols]
			       : k == ELEM ? v[i].elem_bytes
			       : k == REGION ? 1
					     : v[i].offset;
		(void)snprintf(key, sizeof(key), "%s_%s", name, keys[k]);
		if (v)
			put_numbers(z, key, k == SHAPE ? 2 : 1, n, cols, w);
		else /* in NumPy, an empty list has type float64 */
			put_array(z, key, "<f8", "(0,)", "", 0);
		free(w);
	}
}

static void
put_memory(struct archive *z, const char *name, int64_t bytes, int64_t region)
{
	char key[40];
	(void)snprintf(key, sizeof(key), "%s_shape", name);
	put_numbers(z, key, 1, 1, 1, &bytes);
	(void)snprintf(key, sizeof(key), "%s_region", name);
	put_number(z, key, region);
	(void)snprintf(key, sizeof(key), "%s_size", name);
	put_number(z, key, bytes);
}

void
raw_print_npz(const struct raw *r, struct text *t)
{
	struct archive z = { .t = t };
	int64_t fast = r->fast > 0 ? r->fast : 0;
	put_bytes(&z, "cmd_data", r->cmd);
	put_bytes(&z, "weight_data", r->weights);
	put_number(&z, "weight_region", 0);
	put_memory(&z, "scratch", r->scratch, 1);
	put_memory(&z, "scratch_fast", fast, fast ? 2 : 0);
	put_io_list(&z, "input", r->n_in ? r->in : NULL, r->n_in);
	put_io_list(&z, "output", r->n_out ? r->out : NULL, r->n_out);
	put_io_list(&z, "variable", NULL, 0);
	uint32_t at = (uint32_t)t->n;
	text_put(t, z.directory.p, z.directory.n);
	text_put_le32(t, END);
	put16(t, 0);
	put16(t, 0);
	put16(t, z.n);
	put16(t, z.n);
	text_put_le32(t, (uint32_t)z.directory.n);
	text_put_le32(t, at);
	put16(t, 0);
	text_free(&z.directory);
}

/* ---- reading ------------------------------------------------------------------------- */

struct load {
	struct arena *a;
	struct bytes file;
	const char *name;
	struct err *e;
};

#define BAD(l, ...) err_at((l)->e, (l)->name, 0, __VA_ARGS__)

struct array {
	char kind; /* NumPy's kind: 'S', 'i', 'u', 'f', 'O' */
	int64_t item, n;
	int rank;
	struct bytes data;
};

bool
raw_is_npz(struct bytes file)
{
	return file.n >= END_BYTES && load_le32(file.p) == LOCAL;
}

/* Finds a key in the directory and returns its file. */
static bool
find_entry(const struct load *l, const char *key, struct bytes *out)
{
	const uint8_t *p = l->file.p, *end = p + l->file.n - END_BYTES;
	if (load_le32(end) != END)
		return BAD(l, "no end of a ZIP archive in the last 22 bytes");
	size_t at = load_le32(end + 16), n = load_le16(end + 10), length = strlen(key);
	for (size_t i = 0; i < n; i++) {
		if (at > l->file.n - END_BYTES ||
		    l->file.n - END_BYTES - at < CENTRAL_BYTES ||
		    load_le32(p + at) != CENTRAL)
			return BAD(l, "the archive's directory is malformed");
		size_t name = load_le16(p + at + 28);
		size_t next = CENTRAL_BYTES + name + load_le16(p + at + 30) +
			      load_le16(p + at + 32);
		if (name > l->file.n - at - CENTRAL_BYTES)
			return BAD(l, "the archive's directory is malformed");
		bool found = name == length + 4 &&
			     !memcmp(p + at + CENTRAL_BYTES, key, length);
		size_t size = load_le32(p + at + 24), local = load_le32(p + at + 42);
		if (!found) {
			at += next;
			continue;
		}
		if (load_le16(p + at + 10))
			return BAD(l, "%s is compressed", key);
		if (local > l->file.n || l->file.n - local < LOCAL_BYTES ||
		    load_le32(p + local) != LOCAL)
			return BAD(l, "%s is outside of the archive", key);
		size_t from = local + LOCAL_BYTES + load_le16(p + local + 26) +
			      load_le16(p + local + 28);
		if (from > l->file.n || size > l->file.n - from)
			return BAD(l, "%s is outside of the archive", key);
		*out = (struct bytes){ .p = p + from, .n = size };
		return true;
	}
	return BAD(l, "there is no %s", key);
}

/* Parses "(2, 6)", "(3,)" or "()". */
static bool
parse_shape(const char *s, struct array *v)
{
	v->n = 1;
	for (s++; *s && *s != ')';) {
		char *after;
		long long d = strtoll(s, &after, 10);
		if (after == s || d < 0 || d > INT32_MAX || v->rank == 2)
			return false;
		v->n *= d;
		v->rank++;
		s = after + strspn(after, ", ");
	}
	return *s == ')';
}

static bool
parse_array(const struct load *l, const char *key, struct array *v)
{
	struct bytes f = { 0 };
	*v = (struct array){ .kind = 0 };
	if (!find_entry(l, key, &f))
		return false;
	if (f.n < 10 || memcmp(f.p, "\x93NUMPY\x01", 7) != 0 ||
	    load_le16(f.p + 8) > f.n - 10)
		return BAD(l, "%s is not a .npy file of format 1.0", key);
	size_t n = load_le16(f.p + 8);
	const char *h = arena_strndup(l->a, (const char *)f.p + 10, n);
	const char *d = strstr(h, "'descr': '"), *s = strstr(h, "'shape': (");
	if (!d || !s || strstr(h, "'fortran_order': True"))
		return BAD(l, "%s has no type or shape in C order", key);
	d += 10;
	v->kind = d[*d != 0];
	v->item = *d ? strtoll(d + 2 - !d[1], NULL, 10) : 0;
	v->data = (struct bytes){ .p = f.p + 10 + n, .n = f.n - 10 - n };
	if (!parse_shape(s + 9, v) || v->item < 0 || v->item > INT32_MAX ||
	    (uint64_t)v->item * (uint64_t)v->n > v->data.n)
		return BAD(l, "%s has less data than its shape says", key);
	return true;
}

/* Loads a string's bytes, or a vector of bytes. */
static bool
load_bytes(const struct load *l, const char *key, struct bytes *out)
{
	struct array v;
	if (!parse_array(l, key, &v))
		return false;
	if ((v.kind != 'S' && v.kind != 'u') || (v.kind == 'u' && v.item != 1))
		return BAD(l, "%s is not of bytes", key);
	*out = (struct bytes){ .p = v.data.p, .n = (size_t)(v.item * v.n) };
	if (v.kind == 'S')
		*out = raw_of_string(*out);
	return true;
}

/* Loads 64-bit integers; an empty array may have any type. */
static bool
load_numbers(const struct load *l, const char *key, int64_t **out, int64_t *n)
{
	struct array v;
	if (!parse_array(l, key, &v))
		return false;
	if (v.n && (v.kind != 'i' || v.item != 8))
		return BAD(l, "%s is not of 64-bit integers", key);
	*out = anew(l->a, int64_t, (size_t)v.n);
	for (int64_t i = 0; i < v.n; i++)
		(*out)[i] = (int64_t)load_le64(v.data.p + 8 * i);
	*n = v.n;
	return true;
}

static bool
load_number(const struct load *l, const char *key, int64_t *out)
{
	int64_t *v, n;
	if (!load_numbers(l, key, &v, &n))
		return false;
	if (n != 1 || v[0] < 0 || v[0] > INT32_MAX)
		return BAD(l, "%s is not a number of bytes", key);
	*out = v[0];
	return true;
}

static bool
load_io_list(const struct load *l, const char *name, struct raw_io **out, int *n_out)
{
	enum { SHAPE, ELEM, REGION, OFFSET, KEYS };
	static const char *const keys[KEYS] = { "shape", "elem_size", "region", "offset" };
	int64_t *v[KEYS], n[KEYS];
	for (int k = 0; k < KEYS; k++)
		if (!load_numbers(l, arena_printf(l->a, "%s_%s", name, keys[k]), &v[k],
				  &n[k]))
			return false;
	int64_t count = n[ELEM];
	if (n[SHAPE] != count * RAW_RANK || n[REGION] != count || n[OFFSET] != count)
		return BAD(l, "%s_shape, _elem_size, _region and _offset differ in length",
			   name);
	*out = anew(l->a, struct raw_io, (size_t)count);
	*n_out = (int)count;
	for (int64_t i = 0; i < count; i++) {
		struct raw_io *d = &(*out)[i];
		if (v[REGION][i] != 1)
			return BAD(l, "%s %" PRId64 " is in region %" PRId64 ", not in 1",
				   name, i, v[REGION][i]);
		d->elem_bytes = v[ELEM][i] > 0 && v[ELEM][i] <= 8 ? (int32_t)v[ELEM][i] : 0;
		d->offset = v[OFFSET][i];
		for (int k = 0; k < RAW_RANK; k++) {
			int64_t dim = v[SHAPE][i * RAW_RANK + k];
			d->dim[k] = dim > 0 && dim <= INT32_MAX ? (int32_t)dim : 0;
		}
	}
	return true;
}

bool
raw_read_npz(struct arena *a, struct bytes file, const char *name, struct raw *out,
	     struct err *e)
{
	struct load l = { .a = a, .file = file, .name = name, .e = e }, trial = l;
	struct bytes entry;
	struct err unsaid = { 0 }; /* that the entry is missing is no error of its own */
	trial.e = &unsaid;
	*out = (struct raw){ .fast = 0 };
	/* A ZIP archive without command stream is another program's file, such as one of PyTorch, unless
	 * its name says that it is a network. */
	if (!text_has_suffix(name, ".npz") && !find_entry(&trial, "cmd_data", &entry))
		return BAD(&l, "not a TFLite model but %s", foreign_file(file, name));
	return load_bytes(&l, "cmd_data", &out->cmd) &&
	       load_bytes(&l, "weight_data", &out->weights) &&
	       load_number(&l, "scratch_shape", &out->scratch) &&
	       load_number(&l, "scratch_fast_shape", &out->fast) &&
	       load_io_list(&l, "input", &out->in, &out->n_in) &&
	       load_io_list(&l, "output", &out->out, &out->n_out);
}
