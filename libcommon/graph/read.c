/* SPDX-License-Identifier: Apache-2.0 */
/* Text to graph.  Every error names file, line and rule. */
#include "graph/fields.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MAX_LIST = 1 << 24 };

/* a reference waits until all records are known */
struct fixup {
	void **at;
	enum record_kind kind;
	int id;
	unsigned line;
};

struct parse {
	struct graph *g;
	struct arena *a;
	const char *file;
	const char *p, *end; /* the rest of the text */
	unsigned line;
	struct fixup *fixup;
	size_t n_fixups, cap_fixups;
	const char *comments; /* waiting for the record below them */
	size_t comments_len;
	struct err *e;
	const char *key; /* being parsed, for diagnostics */
};

/* a cursor inside one value */
struct cur {
	const char *p, *end;
	bool bad;
};

#define BAD(s, ...) err_at((s)->e, (s)->file, (s)->line, __VA_ARGS__)

static bool
value_is_bad(struct parse *s, const char *what)
{
	return BAD(s, "%s wants %s", s->key, what);
}

static int64_t
take_int(struct cur *c, int64_t min, int64_t max)
{
	bool neg = c->p < c->end && *c->p == '-';
	c->p += neg;
	int base = 10;
	if (c->end - c->p > 2 && c->p[0] == '0' && c->p[1] == 'x') {
		base = 16;
		c->p += 2;
	}
	uint64_t v = 0;
	const char *start = c->p;
	for (; c->p < c->end; c->p++) {
		int d = *c->p >= '0' && *c->p <= '9'   ? *c->p - '0'
			: *c->p >= 'a' && *c->p <= 'f' ? *c->p - 'a' + 10
						       : 99;
		if (d >= base)
			break;
		if (v > (uint64_t)INT64_MAX / 16)
			c->bad = true;
		v = v * (uint64_t)base + (uint64_t)d;
	}
	if (c->p == start)
		c->bad = true;
	int64_t r = neg ? -(int64_t)v : (int64_t)v;
	if (c->bad || r < min || r > max) {
		c->bad = true;
		return 0;
	}
	return r;
}

static int32_t
take_i32(struct cur *c)
{
	return (int32_t)take_int(c, INT32_MIN, INT32_MAX);
}

static bool
take_char(struct cur *c, char want)
{
	if (c->p < c->end && *c->p == want) {
		c->p++;
		return true;
	}
	return false;
}

static void
want_char(struct cur *c, char want)
{
	if (!take_char(c, want))
		c->bad = true;
}

/* into *f if it is not NULL, else into *d: each rounds once */
static bool
parse_float(struct parse *s, struct cur *c, float *f, double *d)
{
	char buf[64], *end;
	size_t n = (size_t)(c->end - c->p);
	if (n == 0 || n >= sizeof(buf))
		return value_is_bad(s, "a number");
	memcpy(buf, c->p, n);
	buf[n] = '\0';
	if (f)
		*f = strtof(buf, &end);
	else
		*d = strtod(buf, &end);
	c->p = c->end;
	return !*end || value_is_bad(s, "a number");
}

static bool
parse_list(struct parse *s, struct cur *c, struct g_list *l)
{
	size_t cap = 0;
	do {
		int64_t v = take_int(c, INT64_MIN, INT64_MAX);
		int64_t run = take_char(c, '*') ? take_int(c, 1, MAX_LIST) : 1;
		if (c->bad || l->n + (size_t)run > MAX_LIST)
			return value_is_bad(s, "numbers like 1,2,3*10");
		if (l->n + (size_t)run > cap) {
			cap = 2 * (l->n + (size_t)run);
			int64_t *more = anew(s->a, int64_t, cap);
			if (l->n)
				memcpy(more, l->v, l->n * sizeof(*more));
			l->v = more;
		}
		while (run--)
			l->v[l->n++] = v;
	} while (take_char(c, ','));
	return true;
}

static int
take_type(struct cur *c)
{
	const char *start = c->p;
	while (c->p < c->end && *c->p != '[' && *c->p != ',' && *c->p != '@' &&
	       *c->p != '+')
		c->p++;
	int type = graph_type_parse(start, (size_t)(c->p - start));
	if (type < 0)
		c->bad = true;
	return type;
}

static bool
parse_shape(struct parse *s, struct cur *c, struct g_shape *out)
{
	out->type = take_type(c);
	want_char(c, '[');
	if (!take_char(c, ']')) {
		do {
			if (out->rank == TFL_MAX_RANK)
				return value_is_bad(s, "at most 8 dimensions");
			out->dim[out->rank++] =
			    (int32_t)take_int(c, 0, INT32_MAX);
		} while (take_char(c, ','));
		want_char(c, ']');
	}
	return !c->bad || value_is_bad(s, "a type and shape like i8[1,2,3,4]");
}

static void
add_fixup(struct parse *s, void **at, enum record_kind kind, int id)
{
	agrow(s->a, s->fixup, s->n_fixups, &s->cap_fixups);
	s->fixup[s->n_fixups++] = (struct fixup){ at, kind, id, s->line };
}

static bool
parse_ref(struct parse *s, struct cur *c, enum record_kind kind, void *at)
{
	want_char(c, *record_descs[kind].prefix);
	int id = (int)take_int(c, 0, INT32_MAX);
	add_fixup(s, at, kind, id);
	return !c->bad || value_is_bad(s, "a reference like t3");
}

static bool
parse_tensors(struct parse *s, struct cur *c, struct g_tensors *l)
{
	size_t n = 1;
	for (const char *p = c->p; p < c->end; p++)
		n += *p == ',';
	l->v = anew(s->a, struct g_tensor *, n);
	do {
		if (!parse_ref(s, c, REC_TENSOR, &l->v[l->n++]))
			return false;
	} while (take_char(c, ','));
	return true;
}

static struct hwc
take_hwc(struct cur *c, char separator)
{
	struct hwc s;
	s.h = (int32_t)take_int(c, 0, INT32_MAX);
	want_char(c, separator);
	s.w = (int32_t)take_int(c, 0, INT32_MAX);
	want_char(c, separator);
	s.c = (int32_t)take_int(c, 0, INT32_MAX);
	return s;
}

/* type and shape of a whole tensor are filled in when it is known */
static bool
parse_operand(struct parse *s, struct cur *c, struct g_operand *o)
{
	if (!parse_ref(s, c, REC_TENSOR, &o->t))
		return false;
	o->type = take_char(c, '.') ? take_type(c) : -1;
	if (take_char(c, '[')) {
		o->view = VIEW_RESHAPE;
		o->shape = take_hwc(c, ',');
		want_char(c, ']');
	}
	if (take_char(c, '@')) {
		o->view = VIEW_BOX;
		o->start = take_hwc(c, ',');
	} else if (take_char(c, '+')) {
		o->view = VIEW_STRIDED;
		o->offset = take_int(c, INT64_MIN, INT64_MAX);
		for (int i = 0; i < 3; i++) {
			want_char(c, i ? ',' : ':');
			o->stride[i] = take_int(c, INT64_MIN, INT64_MAX);
		}
	}
	return !c->bad || value_is_bad(s, "a tensor like t3, t3[h,w,c], "
					  "t3[h,w,c]@y,x,c or "
					  "t3[h,w,c]+offset:y,x,c");
}

static bool
parse_source(struct parse *s, struct cur *c, struct g_source *out)
{
	size_t n = (size_t)(c->end - c->p);
	if (n > 5 && !memcmp(c->p, "blob.", 5)) {
		out->blob = arena_strndup(s->a, c->p + 5, n - 5);
		c->p = c->end;
		return true;
	}
	if (n <= 7 || memcmp(c->p, "buffer.", 7) != 0)
		return value_is_bad(s, "buffer.N or blob.NAME");
	c->p += 7;
	out->buffer = (uint32_t)take_int(c, 0, UINT32_MAX);
	return !c->bad || value_is_bad(s, "buffer.N or blob.NAME");
}

static bool
parse_tfls(struct parse *s, struct cur *c, struct g_tfls *out)
{
	size_t n = 1;
	for (const char *p = c->p; p < c->end; p++)
		n += *p == ',';
	out->v = anew(s->a, struct g_tfl, n);
	do {
		struct g_tfl *v = &out->v[out->n++];
		v->subgraph = (int)take_int(c, 0, INT32_MAX);
		want_char(c, '.');
		v->index = (int)take_int(c, 0, INT32_MAX);
		if (c->bad)
			return value_is_bad(s, "SUBGRAPH.INDEX,...");
	} while (take_char(c, ','));
	return true;
}

/* undoes text_quoted; the quotes are already gone */
static bool
parse_string(struct parse *s, struct cur *c, const char **out)
{
	char *o = arena_alloc(s->a, (size_t)(c->end - c->p) + 1, 1);
	*out = o;
	while (c->p < c->end) {
		if (*c->p != '\\') {
			*o++ = *c->p++;
			continue;
		}
		c->p++;
		if (c->p < c->end && *c->p == 'u' && c->end - c->p >= 5) {
			char hex[5] = { c->p[1], c->p[2], c->p[3], c->p[4], 0 };
			char *stop;
			unsigned long v = strtoul(hex, &stop, 16);
			if (*stop || v == 0 || v > 0x7f)
				return value_is_bad(s, "\\u0001 to \\u007f");
			*o++ = (char)v;
			c->p += 5;
		} else if (c->p < c->end) {
			*o++ = *c->p++;
		}
	}
	return true;
}

static bool
parse_enum(struct parse *s, struct cur *c, const char *const *names, int *out)
{
	size_t n = (size_t)(c->end - c->p);
	for (int i = 0; names[i]; i++)
		if (strlen(names[i]) == n && !memcmp(names[i], c->p, n)) {
			*out = i;
			c->p = c->end;
			return true;
		}
	struct text t = { 0 };
	for (int i = 0; names[i]; i++)
		text_printf(&t, "%s%s", i ? ", " : "one of ", names[i]);
	(void)value_is_bad(s, text_str(&t));
	text_free(&t);
	return false;
}

static bool
parse_numbers(struct parse *s, struct cur *c, enum field_kind kind, void *p)
{
	struct g_pad *pad = p;
	struct g_range *r = p;
	struct g_span *span = p;
	struct npu_scale *scale = p;
	struct yx *k = p;
	switch (kind) {
	case KIND_HWC:
		*(struct hwc *)p = take_hwc(c, 'x');
		return !c->bad || value_is_bad(s, "HEIGHTxWIDTHxDEPTH");
	case KIND_YX:
		k->y = take_i32(c);
		want_char(c, 'x');
		k->x = take_i32(c);
		return !c->bad || value_is_bad(s, "HEIGHTxWIDTH");
	case KIND_PAD:
		pad->top = take_i32(c);
		want_char(c, ',');
		pad->left = take_i32(c);
		want_char(c, ',');
		pad->bottom = take_i32(c);
		want_char(c, ',');
		pad->right = take_i32(c);
		return !c->bad || value_is_bad(s, "TOP,LEFT,BOTTOM,RIGHT");
	case KIND_RANGE:
		r->lo = take_int(c, INT64_MIN, INT64_MAX);
		want_char(c, ':');
		r->hi = take_int(c, INT64_MIN, INT64_MAX);
		return !c->bad || value_is_bad(s, "LOW:HIGH");
	case KIND_SPAN:
		span->at = take_int(c, 0, INT64_MAX);
		want_char(c, ':');
		span->bytes = take_int(c, 0, INT64_MAX);
		return !c->bad || value_is_bad(s, "ADDRESS:BYTES");
	default:
		scale->mult = (uint32_t)take_int(c, 0, UINT32_MAX);
		want_char(c, ':');
		scale->shift = (int)take_int(c, 0, 63);
		return !c->bad || value_is_bad(s, "MULTIPLIER:SHIFT, shift 0 to 63");
	}
}

static const enum record_kind ref_record[] = { REC_WEIGHTS, REC_SCALES, REC_LUT,
					       REC_BUFFER, REC_NODE, REC_OP };

static bool
parse_value(struct parse *s, const struct key_desc *k, struct cur *c, void *p)
{
	switch (k->kind) {
	case KIND_I32:
		*(int32_t *)p = take_i32(c);
		return !c->bad || value_is_bad(s, "a whole number of 32 bits");
	case KIND_I64: case KIND_HEX:
		*(int64_t *)p = take_int(c, INT64_MIN, INT64_MAX);
		return !c->bad || value_is_bad(s, "a whole number");
	case KIND_F32:
		return parse_float(s, c, p, NULL);
	case KIND_F64:
		return parse_float(s, c, NULL, p);
	case KIND_STR:
		return parse_string(s, c, p);
	case KIND_WORD:
		*(const char **)p =
		    arena_strndup(s->a, c->p, (size_t)(c->end - c->p));
		c->p = c->end;
		return true;
	case KIND_ENUM:
		return parse_enum(s, c, k->names, p);
	case KIND_SHAPE:
		return parse_shape(s, c, p);
	case KIND_LIST:
		return parse_list(s, c, p);
	case KIND_SOURCE:
		return parse_source(s, c, p);
	case KIND_TFLS:
		return parse_tfls(s, c, p);
	case KIND_TENSORS:
		return parse_tensors(s, c, p);
	case KIND_OPERAND:
		return parse_operand(s, c, p);
	case KIND_WEIGHTS: case KIND_SCALES: case KIND_LUT: case KIND_BUFFER:
	case KIND_NODE: case KIND_OP:
		return parse_ref(s, c, ref_record[k->kind - KIND_WEIGHTS], p);
	default:
		return parse_numbers(s, c, k->kind, p);
	}
}

/* one key=value; false at a bad one */
static bool
parse_key(struct parse *s, const struct record_desc *d, struct g_rec *r,
	  const char *name, size_t name_len, struct cur value)
{
	for (int i = 0; i < d->n_keys; i++) {
		const struct key_desc *k = &d->key[i];
		if (strlen(k->text) != name_len || memcmp(k->text, name, name_len))
			continue;
		if (r->has >> i & 1)
			return BAD(s, "%s: key %s stands twice", d->keyword, k->text);
		r->has |= (uint64_t)1 << i;
		s->key = k->text;
		bool is_string = k->kind == KIND_STR;
		if (is_string != (value.p < value.end && *value.p == '"'))
			return value_is_bad(s, is_string ? "a quoted string"
							 : "no quotes");
		if (is_string) {
			value.p++;
			value.end--;
		}
		if (!parse_value(s, k, &value, (char *)r + k->offset))
			return false;
		return value.p == value.end ||
		       BAD(s, "%s has '%.20s' behind its value", k->text, value.p);
	}
	return BAD(s, "%s has no key '%.*s' (keys that begin with x- are free)",
		   d->keyword, (int)name_len, name);
}

/* the end of a value: a blank, or behind the closing quote */
static const char *
value_end(const char *p, const char *end)
{
	if (p < end && *p == '"') {
		for (p++; p < end && *p != '"'; p++)
			if (*p == '\\' && p + 1 < end)
				p++;
		return p < end ? p + 1 : NULL;
	}
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	return p;
}

static void
keep_extra(struct parse *s, struct g_rec *r, const char *p, const char *end)
{
	r->extra = r->extra
		       ? arena_printf(s->a, "%s %.*s", r->extra, (int)(end - p), p)
		       : arena_strndup(s->a, p, (size_t)(end - p));
}

static bool
parse_keys(struct parse *s, const struct record_desc *d, struct g_rec *r,
	   const char *p, const char *end)
{
	while (p < end) {
		if (*p == ' ' || *p == '\t') {
			p++;
			continue;
		}
		if (*p == '#') {
			r->after = arena_strndup(s->a, p, (size_t)(end - p));
			return true;
		}
		const char *eq = memchr(p, '=', (size_t)(end - p));
		const char *stop = eq ? value_end(eq + 1, end) : NULL;
		if (!eq || !stop || value_end(p, end) < eq)
			return BAD(s, "'%.*s' is not key=value",
				   (int)(end - p < 30 ? end - p : 30), p);
		if (eq - p > 2 && p[0] == 'x' && p[1] == '-')
			keep_extra(s, r, p, stop);
		else if (!parse_key(s, d, r, p, (size_t)(eq - p),
				    (struct cur){ .p = eq + 1, .end = stop }))
			return false;
		p = stop;
	}
	return true;
}

static const char *
pending_comments(struct parse *s)
{
	if (!s->comments)
		return NULL;
	const char *c = arena_strndup(s->a, s->comments, s->comments_len);
	s->comments = NULL;
	return c;
}

static bool
parse_id(struct parse *s, const struct record_desc *d, struct g_rec *r,
	 const char **p, const char *end)
{
	while (*p < end && **p == ' ')
		++*p;
	const char *start = *p;
	*p = value_end(start, end);
	if (!*p)
		return BAD(s, "the quote of an identifier is not closed");
	struct cur c = { .p = start, .end = *p };
	if (!*d->prefix) {
		r->word = arena_strndup(s->a, start, (size_t)(*p - start));
		return *p > start || BAD(s, "%s without a name", d->keyword);
	}
	want_char(&c, *d->prefix);
	r->id = (int)take_int(&c, 0, INT32_MAX - 1);
	return (!c.bad && c.p == c.end) ||
	       BAD(s, "%s wants an identifier like %s0, not '%.*s'", d->keyword,
		   d->prefix, (int)(*p - start), start);
}

static bool
parse_record(struct parse *s, const char *p, const char *end)
{
	const char *stop = value_end(p, end);
	size_t n = (size_t)((stop ? stop : end) - p);
	for (int k = 0; k < RECORDS; k++) {
		const struct record_desc *d = &record_descs[k];
		if (strlen(d->keyword) != n || memcmp(d->keyword, p, n))
			continue;
		struct g_rec *r = record_add(s->g, (enum record_kind)k);
		r->line = s->line;
		r->before = pending_comments(s);
		return parse_id(s, d, r, &stop, end) &&
		       parse_keys(s, d, r, stop, end);
	}
	return BAD(s, "'%.*s' is no record of this format",
		   (int)(n < 30 ? n : 30), p);
}

/* the next line without its newline; NULL at the end */
static const char *
next_line(struct parse *s, const char **end)
{
	if (s->p == s->end)
		return NULL;
	const char *p = s->p;
	const char *nl = memchr(p, '\n', (size_t)(s->end - p));
	*end = nl ? nl : s->end;
	s->p = nl ? nl + 1 : s->end;
	s->line++;
	return p;
}

static bool
parse_blob_keys(struct parse *s, struct g_blob *b, const char *p, const char *end)
{
	/* blob NAME bytes=N xxh3=HASH [from="PATH"] */
	static const struct key_desc key[] = {
		{ "bytes", KIND_I64, offsetof(struct g_blob, bytes), NULL },
		{ "xxh3", KIND_WORD, offsetof(struct g_blob, text), NULL },
		{ "from", KIND_STR, offsetof(struct g_blob, path), NULL },
	};
	static const struct record_desc d = { .keyword = "blob",
					      .n_keys = ARRAY_LEN(key),
					      .key = key };
	if (!parse_keys(s, &d, &b->rec, p, end))
		return false;
	if ((b->rec.has & 3) != 3 || b->bytes < 0)
		return BAD(s, "blob %s needs bytes= and xxh3=", b->name);
	char *stop;
	errno = 0;
	b->xxh3 = strtoull(b->text, &stop, 16);
	if (*stop || errno || strlen(b->text) != 16)
		return BAD(s, "xxh3 wants 16 hexadecimal digits");
	b->text = NULL;
	return true;
}

static bool
parse_blob(struct parse *s, const char *p, const char *end)
{
	struct g_blob *b = anew(s->a, struct g_blob, 1);
	struct g_rec *r = &b->rec;
	static const struct record_desc d = { .keyword = "blob", .prefix = "" };
	r->line = s->line;
	r->before = pending_comments(s);
	if (!parse_id(s, &d, r, &p, end))
		return false;
	b->name = r->word;
	if (graph_find_blob(s->g, b->name))
		return BAD(s, "there are two blobs %s", b->name);
	if (!parse_blob_keys(s, b, p, end))
		return false;
	agrow(s->a, s->g->blobs, s->g->n_blobs, &s->g->cap_blobs);
	s->g->blobs[s->g->n_blobs++] = b;
	if (b->path)
		return true;
	b->text = s->p;
	/* base64 has no letters "end\n" at a line's start: lines are 4 or more */
	for (const char *q; (q = next_line(s, &end));)
		if (end - q == 3 && !memcmp(q, "end", 3)) {
			b->text_len = (size_t)(q - b->text);
			return true;
		}
	return BAD(s, "blob %s has no end", b->name);
}

static bool
parse_header(struct parse *s)
{
	static const char magic[] = "nputools-graph 1 stage=";
	static const char *const stages[] = { "none", "part", "sched", "wenc", NULL };
	const char *end, *p = next_line(s, &end);
	size_t n = sizeof(magic) - 1;
	if (!p || (size_t)(end - p) < n || memcmp(p, magic, n) != 0)
		return BAD(s, "not an NPU graph (the first line is "
			      "'nputools-graph 1 stage=...')");
	s->key = "stage";
	struct cur c = { .p = p + n, .end = end };
	return parse_enum(s, &c, stages, &s->g->stage);
}

static bool
parse_lines(struct parse *s)
{
	const char *end, *p;
	while ((p = next_line(s, &end))) {
		if (p == end)
			continue;
		if (*p == '#') {
			if (!s->comments)
				s->comments = p;
			s->comments_len = (size_t)(s->p - s->comments);
			continue;
		}
		if (end - p == 3 && !memcmp(p, "eof", 3)) {
			s->g->last = pending_comments(s);
			return s->p == s->end ||
			       (s->line++, BAD(s, "text behind eof"));
		}
		bool blob = end - p > 5 && !memcmp(p, "blob ", 5);
		if (!(blob ? parse_blob(s, p + 5, end) : parse_record(s, p, end)))
			return false;
	}
	s->line++;
	return BAD(s, "the last line is not eof: the program that wrote this "
		      "did not finish");
}

/* one pass per kind of record: numbers need not be dense or in order */
static bool
resolve_kind(struct parse *s, enum record_kind kind)
{
	size_t n;
	void **rec = record_array(s->g, kind, &n);
	int max = -1;
	for (size_t i = 0; i < n; i++) {
		const struct g_rec *r = rec[i];
		max = r->id > max ? r->id : max;
	}
	if (!*record_descs[kind].prefix)
		return true;
	if ((size_t)max > 16 * n + 1024 && max > 0)
		return BAD(s, "%s numbers go up to %d for %zu records",
			   record_descs[kind].keyword, max, n);
	void **by_id = anew(s->a, void *, (size_t)max + 1);
	for (size_t i = 0; i < n; i++) {
		const struct g_rec *r = rec[i];
		s->line = r->line;
		if (by_id[r->id])
			return BAD(s, "there are two %s %s%d",
				   record_descs[kind].keyword,
				   record_descs[kind].prefix, r->id);
		by_id[r->id] = rec[i];
	}
	for (size_t i = 0; i < s->n_fixups; i++) {
		const struct fixup *f = &s->fixup[i];
		if (f->kind != kind)
			continue;
		s->line = f->line;
		if (f->id > max || !by_id[f->id])
			return BAD(s, "there is no %s %s%d",
				   record_descs[kind].keyword,
				   record_descs[kind].prefix, f->id);
		*f->at = by_id[f->id];
	}
	return true;
}

/* what an operand inherits from its tensor */
static void
complete_operand(struct g_operand *o)
{
	if (!o->t)
		return;
	if (o->type < 0)
		o->type = o->t->shape.type;
	if (o->view == VIEW_WHOLE)
		o->shape = o->t->hwc;
}

static void
complete(struct graph *g)
{
	for (size_t i = 0; i < g->n_tensors; i++)
		if (!G_HAS(g->tensors[i], G_TENSOR_hwc))
			g->tensors[i]->hwc = graph_hwc(&g->tensors[i]->shape);
	for (size_t i = 0; i < g->n_ops; i++) {
		struct g_op *op = g->ops[i];
		complete_operand(&op->ifm);
		complete_operand(&op->ifm2);
		complete_operand(&op->ofm);
		if (!G_HAS(op, G_OP_kernel))
			op->kernel = (struct yx){ .y = 1, .x = 1 };
		if (!G_HAS(op, G_OP_stride))
			op->stride = (struct yx){ .y = 1, .x = 1 };
		if (!G_HAS(op, G_OP_dilation))
			op->dilation = (struct yx){ .y = 1, .x = 1 };
	}
}

static bool
check_stage(const struct graph *g, enum g_stage need, struct err *e)
{
	static const char *const tool[] = { "", "tfl-partition", "npu-sched",
					    "npu-wenc" };
	return g->stage >= (int)need ||
	       err_at(e, g->file, 1, "%s has not run on this graph",
		      tool[g->stage + 1]);
}

bool
graph_read(struct arena *a, struct bytes text, const char *file,
	   enum g_stage need, struct graph **out, struct err *e)
{
	struct graph *g = graph_new(a, file);
	struct parse s = { .g = g, .a = a, .file = file, .e = e,
			   .p = (const char *)text.p,
			   .end = (const char *)text.p + text.n };
	if (!parse_header(&s))
		return false;
	if (memchr(text.p, '\0', text.n)) /* comments are kept as strings */
		return err_at(e, file, 0, "a NUL byte in a text file");
	if (!parse_lines(&s))
		return false;
	for (int k = 0; k < RECORDS; k++)
		if (!resolve_kind(&s, (enum record_kind)k))
			return false;
	complete(g);
	*out = g;
	return check_stage(g, need, e) && graph_check(g, e);
}
