/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the text of a graph.  Every error names file, line and rule. */
#include "graph/parse.h"

#include "base/nearest.h"
#include "base/text.h"
#include "graph/facts.h"
#include "tflite/tflite.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Returns the index of a key in the record's table, or -1.  Texts that a stage printed
 * have the keys in the table's order.  Therefore the search begins at *at, the key
 * after the last one.
 */
static int
find_key(const struct record_desc *d, int *at, const char *name, size_t name_len)
{
	for (int k = 0; k < d->n_keys; k++) {
		int i = *at + k < d->n_keys ? *at + k : *at + k - d->n_keys;
		const char *text = d->key[i].text;
		if (!strncmp(text, name, name_len) && !text[name_len]) {
			*at = i + 1 < d->n_keys ? i + 1 : 0;
			return i;
		}
	}
	return -1;
}

static bool
parse_key(struct parse *s, const struct record_desc *d, struct g_rec *r,
	  int i, struct cur value)
{
	const struct key_desc *k = &d->key[i];
	if (r->has >> i & 1)
		return BAD(s, "%s: key %s occurs twice", d->keyword, k->text);
	r->has |= (uint64_t)1 << i;
	s->key = k->text;
	bool quoted = value.p < value.end && *value.p == '"', word = k->kind == KIND_WORD;
	void *to = (char *)r + k->offset;
	if (!word && quoted != (k->kind == KIND_STR))
		return value_is_bad(s, quoted ? "no quotes" : "a quoted string");
	if (quoted) {
		value.p++;
		value.end--;
	}
	if (quoted && word ? !parse_string(s, &value, to) : !parse_value(s, k, &value, to))
		return false;
	int rest = (int)(value.end - value.p < 20 ? value.end - value.p : 20);
	return !rest || BAD(s, "%s has '%.*s' after its value", k->text, rest, value.p);
}

/* Returns the end of a value: a blank, or behind the closing quote; NULL: no quote. */
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

/* An unknown key of n bytes: proposes a similar one, or else lists those of the record. */
static bool
refuse_key(struct parse *s, const struct record_desc *d, const char *key, size_t n)
{
	struct text keys = { 0 };
	const char **all = anew(s->a, const char *, (size_t)d->n_keys);
	for (int i = 0; i < d->n_keys; i++) {
		all[i] = d->key[i].text;
		text_printf(&keys, i ? ", %s" : "it has %s", all[i]);
	}
	const char *meant = nearest_word(arena_strndup(s->a, key, n), all, (size_t)d->n_keys);
	if (meant) {
		text_free(&keys);
		text_printf(&keys, "did you mean %s?", meant);
	}
	(void)BAD(s, "%s has no key '%.*s'; %s (keys that begin with x- are free)", d->keyword, (int)n,
		  key, text_str(&keys));
	text_free(&keys);
	return false;
}

static bool
parse_keys(struct parse *s, const struct record_desc *d, struct g_rec *r,
	   const char *p, const char *end)
{
	int at = 0;
	while (p < end) {
		if (*p == ' ' || *p == '\t') {
			p++;
			continue;
		}
		if (*p == '#') {
			r->after = arena_strndup(s->a, p, (size_t)(end - p));
			return true;
		}
		const char *eq = p;
		while (eq < end && *eq != '=' && *eq != ' ' && *eq != '\t')
			eq++;
		const char *stop = eq < end && *eq == '=' ? value_end(eq + 1, end) : NULL;
		if (!stop)
			return BAD(s, "'%.*s' is not key=value",
				   (int)(end - p < 30 ? end - p : 30), p);
		if (eq - p > 2 && p[0] == 'x' && p[1] == '-') {
			r->extra = arena_printf(s->a, "%s%s%.*s", r->extra ? r->extra : "",
						r->extra ? " " : "", (int)(stop - p), p);
			p = stop;
			continue;
		}
		int i = find_key(d, &at, p, (size_t)(eq - p));
		if (i < 0)
			return refuse_key(s, d, p, (size_t)(eq - p));
		if (!parse_key(s, d, r, i, (struct cur){ .p = eq + 1, .end = stop }))
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
	       BAD(s, "%s needs an identifier like %s0, not '%.*s'", d->keyword,
		   d->prefix, (int)(*p - start), start);
}

int
parse_keyword(struct parse *s, const struct record_desc *d, int n, const char **p,
	      const char *end)
{
	const char *word = *p, *stop = value_end(word, end);
	const size_t length = (size_t)((stop ? stop : end) - word);
	*p += length;
	for (int k = 0; k < n; k++)
		if (strlen(d[k].keyword) == length && !memcmp(d[k].keyword, word, length))
			return k;
	(void)BAD(s, "'%.*s' is not a record of this format",
		  (int)(length < 30 ? length : 30), word);
	return -1;
}

bool
parse_fields(struct parse *s, const struct record_desc *d, struct g_rec *r, const char *p,
	     const char *end)
{
	r->line = s->line;
	return parse_id(s, d, r, &p, end) && parse_keys(s, d, r, p, end);
}

const char *
parse_next_line(struct parse *s, const char **end)
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

/*
 * Skips the lines that a blob of this size must have in the format of text_base64().
 * The end of the blob is behind them, as they hold at most the digits that the blob
 * needs.  Only the first line is searched for a newline, to detect text of another
 * width, whose lines must be counted one by one.
 */
static void
skip_full_lines(struct parse *s, int64_t bytes)
{
	const ptrdiff_t line = BASE64_LINE + 1;
	int64_t n = bytes / (BASE64_LINE / 4 * 3);
	if (n <= 0 || s->end - s->p < line ||
	    memchr(s->p, '\n', (size_t)line) != s->p + line - 1)
		return;
	for (; n > 0 && s->end - s->p >= line && s->p[line - 1] == '\n'; n--) {
		s->p += line;
		s->line++;
	}
}

/* blob NAME bytes=N xxh3=HASH [from="PATH"], and the lines of its text */
static bool
parse_blob(struct parse *s, const char *p, const char *end)
{
	static const struct key_desc key[] = {
		{ "bytes", KIND_I64, offsetof(struct g_blob, bytes), NULL },
		{ "xxh3", KIND_WORD, offsetof(struct g_blob, text), NULL },
		{ "from", KIND_STR, offsetof(struct g_blob, path), NULL },
	};
	static const struct record_desc d = { .keyword = "blob", .prefix = "",
					      .n_keys = ARRAY_LEN(key), .key = key };
	struct g_blob *b = anew(s->a, struct g_blob, 1);
	struct g_rec *r = &b->rec;
	r->line = s->line;
	r->before = pending_comments(s);
	if (!parse_id(s, &d, r, &p, end))
		return false;
	b->name = r->word;
	if (graph_find_blob(s->g, b->name))
		return BAD(s, "there are two blobs %s", b->name);
	if (!parse_keys(s, &d, r, p, end))
		return false;
	if ((r->has & 3) != 3 || b->bytes < 0)
		return BAD(s, "blob %s needs bytes= and xxh3=", b->name);
	char *stop;
	errno = 0;
	b->xxh3 = strtoull(b->text, &stop, 16);
	if (*stop || errno || strlen(b->text) != 16)
		return BAD(s, "xxh3 needs 16 hexadecimal digits");
	b->text = NULL;
	agrow(s->a, s->g->blobs, s->g->n_blobs, &s->g->cap_blobs);
	s->g->blobs[s->g->n_blobs++] = b;
	if (b->path)
		return true;
	b->text = s->p;
	skip_full_lines(s, b->bytes);
	/* a line "end" can't be base64, whose lines have at least 4 characters */
	for (const char *q; (q = parse_next_line(s, &end));)
		if (end - q == 3 && !memcmp(q, "end", 3)) {
			b->text_len = (size_t)(q - b->text);
			return true;
		}
	return BAD(s, "blob %s has no end line", b->name);
}

static bool
parse_header(struct parse *s)
{
	static const char magic[] = "nputools-graph 1 stage=";
	static const char *const stages[] = { "none", "part", "sched", "wenc", NULL };
	struct bytes all = { .p = (const uint8_t *)s->p, .n = (size_t)(s->end - s->p) };
	const char *end, *p = parse_next_line(s, &end);
	size_t n = sizeof(magic) - 1;
	s->line = 1; /* in an empty file the error is in line 1, too */
	if (!p || (size_t)(end - p) < n || memcmp(p, magic, n) != 0) {
		const char *is = fb_identify(all);
		return is ? BAD(s, "not an NPU graph but %s", is)
			  : BAD(s, "not an NPU graph, which tfl-partition or tosa-partition "
				   "makes of a model (no 'nputools-graph 1 stage=...' in the "
				   "first line)");
	}
	s->key = "stage";
	struct cur c = { .p = p + n, .end = end };
	return parse_enum(s, &c, stages, &s->g->stage);
}

static bool
parse_lines(struct parse *s)
{
	const char *end, *p;
	while ((p = parse_next_line(s, &end))) {
		if (p == end)
			continue;
		/* comments are kept as strings; a blob's text must be base64 anyway */
		if (memchr(p, '\0', (size_t)(end - p)))
			return BAD(s, "a NUL byte in a text file");
		if (*p == '#') {
			if (!s->comments)
				s->comments = p;
			s->comments_len = (size_t)(s->p - s->comments);
			continue;
		}
		if (end - p == 3 && !memcmp(p, "eof", 3)) {
			s->g->last = pending_comments(s);
			return s->p == s->end ||
			       (s->line++, BAD(s, "text after eof"));
		}
		if (end - p > 5 && !memcmp(p, "blob ", 5)) {
			if (!parse_blob(s, p + 5, end))
				return false;
			continue;
		}
		const int k = parse_keyword(s, record_descs, RECORDS, &p, end);
		if (k < 0)
			return false;
		struct g_rec *r = record_add(s->g, (enum record_kind)k);
		r->before = pending_comments(s);
		if (!parse_fields(s, &record_descs[k], r, p, end))
			return false;
	}
	s->line++;
	return BAD(s, "the last line is not eof: the program that wrote this "
		      "did not finish");
}

/* One pass for each kind of record; numbers may have gaps and any order. */
static bool
resolve_kind(struct parse *s, enum record_kind kind)
{
	size_t n;
	void **rec = record_array(s->g, kind, &n);
	int max = -1;
	record_number(s->g, kind);
	for (size_t i = 0; i < n; i++) {
		const struct g_rec *r = rec[i];
		max = r->id > max ? r->id : max;
	}
	if (!*record_descs[kind].prefix)
		return true;
	if ((size_t)max > 16 * n + 1024 && max > 0)
		return BAD(s, "%s numbers go up to %d, which is too far for %zu "
			      "records",
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

/* Fills in what an operand inherits from its tensor. */
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

bool
graph_read(struct arena *a, struct bytes text, const char *file,
	   enum g_stage need, struct graph **out, struct err *e)
{
	static const char *const tool[] = { "", "tfl-partition", "npu-sched", "npu-wenc" };
	struct graph *g = graph_new(a, file);
	struct parse s = { .g = g, .a = a, .file = file, .e = e,
			   .p = (const char *)text.p,
			   .end = (const char *)text.p + text.n };
	if (!parse_header(&s))
		return false;
	if (!parse_lines(&s))
		return false;
	for (int k = 0; k < RECORDS; k++)
		if (!resolve_kind(&s, (enum record_kind)k))
			return false;
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
	*out = g;
	if (g->stage < (int)need)
		return err_at(e, file, 1, "%s has not run on this graph", tool[g->stage + 1]);
	return graph_check(g, e) && graph_check_sources(g, e);
}
