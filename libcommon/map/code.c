/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source map as bytes.  In order: a version; the strings, each with the length of
 * the prefix that it shares with the string before; the records of schema/map.def, list
 * after list, each list as number of records and their keys; the graph; the digest, in
 * 8 bytes.  Numbers have 7 bits per byte, the lowest first.
 */
#include "map/map.h"

#include "base/little_endian.h"
#include "base/text.h"
#include "graph/records.h"

#include <inttypes.h>
#include <string.h>

/* version 1 had neither graph nor digest */
enum { FIRST_VERSION = 1, VERSION = 2 };
enum kind { TEXT, COUNT, DELTA };

/*
 * Bytes of a string that may come from the string before, per byte of its own.  This
 * limits how much larger a source map is in memory than in the file.
 */
enum { SHARED_MOST = 16 };

struct key {
	const char *name;
	enum kind kind;
	size_t at; /* offset in the record */
};

/* A list of records: offsets of its array and count in struct npu_map, and its keys. */
struct list {
	const char *keyword;
	size_t size, array, count;
	const struct key *key;
};

#define RECORD(n, keyword, type, array) static const struct key keys_##n[] = {
#define KEY(n, type, field, text, kind)                                      \
	{ text, kind, offsetof(struct type, field) },
#define END(n) { NULL, COUNT, 0 } };
#include "map.def"

static const struct list lists[] = {
#define RECORD(n, keyword, type, array)                                      \
	{ keyword, sizeof(struct type), offsetof(struct npu_map, array),     \
	  offsetof(struct npu_map, n_##array), keys_##n },
#include "map.def"
};

static char *
list_records(const struct npu_map *m, const struct list *l)
{
	char *p;
	memcpy(&p, (const char *)m + l->array, sizeof(p));
	return p;
}

static size_t
list_count(const struct npu_map *m, const struct list *l)
{
	size_t n;
	memcpy(&n, (const char *)m + l->count, sizeof(n));
	return n;
}

static int64_t
number_of(const char *record, const struct key *k)
{
	int64_t v;
	memcpy(&v, record + k->at, sizeof(v));
	return v;
}

static const char *
text_of(const char *record, const struct key *k)
{
	const char *s;
	memcpy(&s, record + k->at, sizeof(s));
	return s ? s : "";
}

/* ---- writing ------------------------------------------------------------------ */

struct encoder {
	struct arena *a;
	uint8_t *p;
	size_t n, cap;
	const char **string;
	size_t n_strings, cap_strings;
	size_t *slot; /* hash table of string numbers + 1; 0: free */
	size_t n_slots;
};

static void
put_byte(struct encoder *c, uint8_t b)
{
	agrow(c->a, c->p, c->n, &c->cap);
	c->p[c->n++] = b;
}

static void
put_number(struct encoder *c, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(c, (uint8_t)(v | 0x80));
	put_byte(c, (uint8_t)v);
}

/* The slot of s: the one that holds its number, or a free one. */
static size_t *
find_slot(struct encoder *c, const char *s)
{
	size_t hash = 5381;
	for (const char *p = s; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	size_t i = hash % c->n_slots;
	while (c->slot[i] && strcmp(c->string[c->slot[i] - 1], s) != 0)
		i = (i + 1) % c->n_slots;
	return &c->slot[i];
}

/* Collects every string once, in the order of first use. */
static void
collect_strings(struct encoder *c, const struct npu_map *m)
{
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const struct key *k = lists[i].key; k->name; k++)
			n += k->kind == TEXT ? list_count(m, &lists[i]) : 0;
	c->n_slots = 2 * n + 1;
	c->slot = anew(c->a, size_t, c->n_slots);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *r = list_records(m, &lists[i]);
		for (size_t j = 0; j < list_count(m, &lists[i]); j++, r += lists[i].size)
			for (const struct key *k = lists[i].key; k->name; k++) {
				const char *s = k->kind == TEXT ? text_of(r, k) : NULL;
				size_t *slot = s ? find_slot(c, s) : NULL;
				if (!s || *slot)
					continue;
				agrow(c->a, c->string, c->n_strings, &c->cap_strings);
				c->string[c->n_strings++] = s;
				*slot = c->n_strings;
			}
	}
}

static void
put_strings(struct encoder *c)
{
	const char *last = "";
	put_number(c, c->n_strings);
	for (size_t i = 0; i < c->n_strings; i++) {
		const char *s = c->string[i];
		size_t n = 0; /* length of the shared prefix */
		while (last[n] && last[n] == s[n])
			n++;
		size_t most = SHARED_MOST * (strlen(s) - n + 1);
		n = n < most ? n : most;
		put_number(c, n);
		put_number(c, strlen(s + n));
		for (const char *p = s + n; *p; p++)
			put_byte(c, (uint8_t)*p);
		last = s;
	}
}

/* Writes a record.  Differences from the record before have the sign in the lowest bit. */
static void
put_record(struct encoder *c, const struct list *l, const char *r,
	   const char *before)
{
	for (const struct key *k = l->key; k->name; k++) {
		int64_t v = k->kind == TEXT ? 0 : number_of(r, k);
		if (k->kind == TEXT) {
			put_number(c, *find_slot(c, text_of(r, k)) - 1);
		} else if (k->kind == COUNT) {
			put_number(c, (uint64_t)v);
		} else {
			/* a graph that was edited by hand may have any number: wraps around */
			v = (int64_t)((uint64_t)v -
				      (before ? (uint64_t)number_of(before, k) : 0));
			put_number(c, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
		}
	}
}

struct bytes
map_encode(struct arena *a, const struct npu_map *m)
{
	struct encoder c = { .a = a };
	put_byte(&c, VERSION);
	collect_strings(&c, m);
	put_strings(&c);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const char *r = list_records(m, &lists[i]), *before = NULL;
		size_t n = list_count(m, &lists[i]);
		put_number(&c, n);
		for (size_t j = 0; j < n; j++, before = r, r += lists[i].size)
			put_record(&c, &lists[i], r, before);
	}
	put_number(&c, (uint64_t)m->graph_bytes);
	put_number(&c, m->graph.n);
	for (size_t i = 0; i < m->graph.n; i++)
		put_byte(&c, m->graph.p[i]);
	for (int i = 0; i < MAP_DIGEST_BYTES; i++)
		put_byte(&c, (uint8_t)(m->digest >> 8 * i));
	return (struct bytes){ .p = c.p, .n = c.n };
}

/* ---- reading ------------------------------------------------------------------- */

struct decoder {
	struct arena *a;
	struct reader r;
	const char **string;
	size_t n_strings;
	struct err *e;
};

static bool
bad(struct decoder *d, const char *what)
{
	return err_set(d->e, "source map: byte %zu: %s", d->r.at, what);
}

/* Reads a number below 2^63.  An overrun yields zeros, and fails in the end. */
static bool
take_number(struct decoder *d, int64_t *out)
{
	uint64_t v = 0;
	for (int shift = 0; shift < 63; shift += 7) {
		uint8_t b = reader_u8(&d->r);
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*out = (int64_t)v;
			return !d->r.overrun || bad(d, "it ends too early");
		}
	}
	return bad(d, "a number of more than 63 bits");
}

/* Reads the count of records or strings, which take at least a byte each. */
static bool
take_count(struct decoder *d, size_t *n)
{
	int64_t v;
	if (!take_number(d, &v))
		return false;
	*n = (size_t)v;
	return (uint64_t)v <= d->r.n - d->r.at ||
	       bad(d, "a list longer than the bytes left");
}

static bool
take_strings(struct decoder *d)
{
	const char *last = "";
	size_t n_last = 0;
	if (!take_count(d, &d->n_strings))
		return false;
	d->string = anew(d->a, const char *, d->n_strings);
	for (size_t i = 0; i < d->n_strings; i++) {
		int64_t shared, own;
		if (!take_number(d, &shared) || !take_number(d, &own))
			return false;
		if ((uint64_t)own > d->r.n - d->r.at)
			return bad(d, "a string longer than the bytes left");
		if ((uint64_t)shared > n_last || shared > SHARED_MOST * (own + 1))
			return bad(d, "a string shares too much");
		const uint8_t *p = reader_take(&d->r, (size_t)own);
		size_t n = (size_t)shared + (size_t)own;
		char *s = arena_alloc(d->a, n + 1, 1);
		memcpy(s, last, (size_t)shared);
		memcpy(s + shared, p, (size_t)own);
		if (strlen(s) != n)
			return bad(d, "a string with a zero byte");
		d->string[i] = last = s;
		n_last = n;
	}
	return true;
}

static bool
take_key(struct decoder *d, const struct key *k, char *r, const char *before)
{
	/* keeps sums of sizes and addresses far from overflow */
	const int64_t most = (int64_t)1 << 48;
	int64_t v;
	if (!take_number(d, &v))
		return false;
	if (k->kind == DELTA) { /* the sign is in the lowest bit */
		int64_t from = before ? number_of(before, k) : 0, half = v >> 1;
		v = v & 1 ? from - half - 1 : from + half;
	}
	if (k->kind == TEXT) {
		if ((uint64_t)v >= d->n_strings)
			return bad(d, "no string of this number");
		memcpy(r + k->at, &d->string[v], sizeof(d->string[v]));
		return true;
	}
	memcpy(r + k->at, &v, sizeof(v));
	return (v >= 0 && v < most) || bad(d, "a number out of range");
}

static bool
take_list(struct decoder *d, const struct list *l, struct npu_map *m)
{
	size_t n;
	if (!take_count(d, &n))
		return false;
	char *r = arena_alloc(d->a, n, l->size), *before = NULL;
	memcpy((char *)m + l->array, &r, sizeof(r));
	memcpy((char *)m + l->count, &n, sizeof(n));
	for (size_t i = 0; i < n; i++, before = r, r += l->size)
		for (const struct key *k = l->key; k->name; k++)
			if (!take_key(d, k, r, before))
				return false;
	return true;
}

static bool
take_graph(struct decoder *d, struct npu_map *m)
{
	/* most bytes that deflate makes of one byte */
	enum { DEFLATE_MOST = 1032 };
	size_t n;
	if (!take_number(d, &m->graph_bytes) || !take_count(d, &n))
		return false;
	if (m->graph_bytes / DEFLATE_MOST > (int64_t)n)
		return bad(d, "a graph of more bytes than can be in it");
	m->graph = (struct bytes){ .p = reader_take(&d->r, n), .n = n };
	const uint8_t *digest = reader_take(&d->r, MAP_DIGEST_BYTES);
	if (d->r.overrun)
		return bad(d, "it ends too early");
	m->digest = load_le64(digest);
	return true;
}

bool
map_decode(struct arena *a, struct bytes b, struct npu_map *out, struct err *e)
{
	struct decoder d = { .a = a, .r = reader_init(b.p, b.n), .e = e };
	*out = (struct npu_map){ .n_sources = 0 };
	uint8_t version = reader_u8(&d.r);
	if (version < FIRST_VERSION || version > VERSION)
		return bad(&d, "the version is not supported");
	if (!take_strings(&d))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (!take_list(&d, &lists[i], out))
			return false;
	if (version > FIRST_VERSION && !take_graph(&d, out))
		return false;
	if (d.r.at != d.r.n)
		return bad(&d, "bytes after the end");
	if (out->n_sources != 1)
		return bad(&d, "it must have exactly one source model");

	/* consistency of the records */
	int64_t moments = out->sources[0].moments, left = (int64_t)out->n_commands;
	if (moments > 2 * (left + (int64_t)out->n_layers) + 2)
		return bad(&d, "more moments than its commands and layers have");
	for (size_t i = 0; i < out->n_streams; i++) {
		if (out->streams[i].commands > left)
			return bad(&d, "streams of more commands than there are");
		left -= out->streams[i].commands;
	}
	for (size_t i = 0; i < out->n_commands; i++) {
		const struct map_command *c = &out->commands[i];
		if (c->what > MAP_COPY || (uint64_t)c->layer > out->n_layers ||
		    c->moment >= moments)
			return bad(&d, "a command of no kind, layer or moment");
	}
	if (left)
		return bad(&d, "commands of no stream");
	for (size_t i = 0; i < out->n_spans; i++) {
		const struct map_span *s = &out->spans[i];
		if (s->what > MAP_VARIABLE || s->lo > s->hi || s->hi >= moments ||
		    (s->place != PLACE_ARENA && s->place != PLACE_CACHE))
			return bad(&d, "a span of no kind, place or time");
	}
	for (size_t i = 0; i < out->n_constants; i++)
		if (out->constants[i].what > MAP_VALUES ||
		    (uint64_t)out->constants[i].layer > out->n_layers)
			return bad(&d, "a constant of no kind or layer");
	return true;
}

/* ---- text ------------------------------------------------------------------------ */

void
map_print(struct text *t, const struct npu_map *m)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct list *l = &lists[i];
		const char *r = list_records(m, l);
		for (size_t j = 0; j < list_count(m, l); j++, r += l->size) {
			text_puts(t, l->keyword);
			for (const struct key *k = l->key; k->name; k++) {
				text_printf(t, " %s=", k->name);
				if (k->kind == TEXT)
					text_quoted(t, text_of(r, k),
						    strlen(text_of(r, k)));
				else
					text_i64(t, number_of(r, k));
			}
			text_putc(t, '\n');
		}
	}
	if (m->digest)
		text_printf(t, "graph bytes=%" PRId64 " deflated=%zu digest=%016" PRIx64 "\n",
			    m->graph_bytes, m->graph.n, m->digest);
}
