/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the canonical text of a graph. */
#include "base/file.h"
#include "base/text.h"
#include "graph/facts.h"
#include "graph/fields.h"

#include <inttypes.h>

static const char *const stage_names[] = { "none", "part", "sched", "wenc" };

/* prints s, then v */
static void
print_i64(struct text *t, const char *s, int64_t v)
{
	text_puts(t, s);
	text_i64(t, v);
}

/* prints n numbers with separators */
static void
print_i32s(struct text *t, const char *separator, const int32_t *v, int n)
{
	for (int i = 0; i < n; i++)
		print_i64(t, i ? separator : "", v[i]);
}

static void
print_hwc(struct text *t, const char *separator, const struct hwc *s)
{
	print_i32s(t, separator, (const int32_t[]){ s->h, s->w, s->c }, 3);
}

static void
print_operand(struct text *t, const struct g_operand *o)
{
	print_i64(t, "t", o->t->rec.id);
	if (o->type != o->t->shape.type) {
		text_putc(t, '.');
		text_puts(t, graph_type_text(o->type));
	}
	if (o->view == VIEW_WHOLE)
		return;
	text_putc(t, '[');
	print_hwc(t, ",", &o->shape);
	text_putc(t, ']');
	if (o->view == VIEW_BOX) {
		text_putc(t, '@');
		print_hwc(t, ",", &o->start);
	}
	if (o->view == VIEW_STRIDED) {
		print_i64(t, "+", o->offset);
		for (int i = 0; i < 3; i++)
			print_i64(t, i ? "," : ":", o->stride[i]);
	}
}

static void
print_value(struct text *t, const struct key_desc *k, const void *p)
{
	const struct yx *yx = p;
	const struct g_pad *pad = p;
	const struct g_range *range = p;
	const struct g_span *span = p;
	const struct npu_scale *scale = p;
	const struct g_shape *shape = p;
	const struct g_list *list = p;
	const struct g_source *source = p;
	const struct g_tfls *tfls = p;
	const struct g_tensors *tensors = p;
	switch (k->kind) {
	case KIND_I32:
		text_i64(t, *(const int32_t *)p);
		break;
	case KIND_I64:
		text_i64(t, *(const int64_t *)p);
		break;
	case KIND_HEX:
		text_hex(t, *(const uint64_t *)p);
		break;
	case KIND_F32:
		text_float(t, *(const float *)p);
		break;
	case KIND_F64:
		text_double(t, *(const double *)p);
		break;
	case KIND_STR: {
		const char *s = *(const char *const *)p;
		text_graph_string(t, s, strlen(s));
		break;
	}
	case KIND_WORD:
		text_graph_word(t, *(const char *const *)p);
		break;
	case KIND_ENUM:
		text_puts(t, k->names[*(const int *)p]);
		break;
	case KIND_SHAPE:
		/* i8, u8, i16, i32, ...: signedness, then bits */
		text_puts(t, graph_type_text(shape->type));
		text_putc(t, '[');
		print_i32s(t, ",", shape->dim, shape->rank);
		text_putc(t, ']');
		break;
	case KIND_LIST: /* a value that is repeated 10 times is written once: 3*10 */
		for (size_t i = 0, run; i < list->n; i += run) {
			for (run = 1; i + run < list->n && list->v[i + run] == list->v[i];)
				run++;
			if (i)
				text_putc(t, ',');
			text_i64(t, list->v[i]);
			if (run > 1) {
				text_putc(t, '*');
				text_i64(t, (int64_t)run);
			}
		}
		break;
	case KIND_SOURCE:
		if (source->blob)
			text_printf(t, "blob.%s", source->blob);
		else
			print_i64(t, "buffer.", source->buffer);
		break;
	case KIND_TFLS:
		for (int i = 0; i < tfls->n; i++) {
			print_i64(t, i ? "," : "", tfls->v[i].subgraph);
			print_i64(t, ".", tfls->v[i].index);
		}
		break;
	case KIND_TENSORS:
		for (size_t i = 0; i < tensors->n; i++)
			print_i64(t, i ? ",t" : "t", tensors->v[i]->rec.id);
		break;
	case KIND_OPERAND:
		print_operand(t, p);
		break;
	case KIND_WEIGHTS: case KIND_SCALES: case KIND_LUT: case KIND_BUFFER:
	case KIND_NODE: case KIND_OP: {
		static const char prefix[] = "wslbno";
		const struct g_rec *r = *(const struct g_rec *const *)p;
		text_putc(t, prefix[k->kind - KIND_WEIGHTS]);
		text_i64(t, r->id);
		break;
	}
	case KIND_HWC:
		print_hwc(t, "x", p);
		break;
	case KIND_YX:
		print_i32s(t, "x", (const int32_t[]){ yx->y, yx->x }, 2);
		break;
	case KIND_PAD:
		print_i32s(t, ",", (const int32_t[]){ pad->top, pad->left, pad->bottom,
						      pad->right }, 4);
		break;
	case KIND_RANGE:
		text_i64(t, range->lo);
		print_i64(t, ":", range->hi);
		break;
	case KIND_SPAN:
		text_hex(t, (uint64_t)span->at);
		print_i64(t, ":", span->bytes);
		break;
	default:
		text_i64(t, scale->mult);
		print_i64(t, ":", scale->shift);
	}
}

enum { KEYWORD_WIDTH = 7 };

void
graph_print_record(struct text *t, const struct record_desc *d, const struct g_rec *r, bool bare)
{
	/* values of scales and tables: their encoded data is in the blob flash */
	const bool encoded = d == &record_descs[REC_SCALES] || d == &record_descs[REC_LUT];
	/* reports of a compiled file show the strings of these records */
	const bool reported = d == &record_descs[REC_NODE] || d == &record_descs[REC_REWRITE];
	if (r->before && !bare)
		text_puts(t, r->before);
	size_t begin = t->n;
	text_puts(t, d->keyword);
	while (t->n - begin < KEYWORD_WIDTH)
		text_putc(t, ' ');
	text_putc(t, ' ');
	text_puts(t, *d->prefix ? d->prefix : r->word);
	if (*d->prefix)
		text_i64(t, r->id);
	for (int i = 0; i < d->n_keys; i++) {
		const struct key_desc *k = &d->key[i];
		const void *value = (const char *)r + k->offset;
		if (!(r->has >> i & 1) || (bare && k->kind == KIND_STR && !reported))
			continue;
		text_putc(t, ' ');
		text_puts(t, k->text);
		text_putc(t, '=');
		if (bare && encoded && k->kind == KIND_LIST) { /* as many zeros as values */
			const struct g_list *l = value;
			text_putc(t, '0');
			if (l->n > 1)
				print_i64(t, "*", (int64_t)l->n);
		} else {
			print_value(t, k, value);
		}
	}
	if (r->extra && !bare)
		text_printf(t, " %s", r->extra);
	if (r->after && !bare)
		text_printf(t, "  %s", r->after);
	text_putc(t, '\n');
}

/* base64 text of a blob that was not decoded */
struct untouched {
	size_t at; /* position in the rest of the output */
	struct bytes text;
};

/* blobs of at least this size are written from the input text, smaller ones copied */
enum { OWN_WRITE = 4096 };

static void
print_records(const struct graph *g, struct text *t, bool bare)
{
	text_printf(t, "nputools-graph 1 stage=%s\n", stage_names[g->stage]);
	for (int k = 0; k < RECORDS; k++) {
		size_t n;
		void **p = record_array(g, (enum record_kind)k, &n);
		/* the source map beside a bare graph lists them */
		if (bare && k == REC_LAYER)
			continue;
		for (size_t i = 0; i < n; i++)
			graph_print_record(t, &record_descs[k], p[i], bare);
	}
}

/* If u is not NULL, large undecoded blobs are only noted there. */
static void
print_graph(const struct graph *g, struct text *t, struct untouched *u)
{
	print_records(g, t, false);
	for (size_t i = 0; i < g->n_blobs; i++) {
		const struct g_blob *b = g->blobs[i];
		if (b->rec.before)
			text_puts(t, b->rec.before);
		text_printf(t, "%-7s %s bytes=%" PRId64 " xxh3=%016" PRIx64, "blob",
			    b->name, b->bytes, b->xxh3);
		if (b->path) {
			text_puts(t, " from=");
			text_graph_string(t, b->path, strlen(b->path));
			text_putc(t, '\n');
			continue;
		}
		text_putc(t, '\n');
		if (b->text && u && b->text_len >= OWN_WRITE)
			u[i] = (struct untouched){ .at = t->n,
						   .text = { .p = (const uint8_t *)b->text,
							     .n = b->text_len } };
		else if (b->text)
			text_put(t, b->text, b->text_len);
		else
			text_base64(t, b->data, (size_t)b->bytes);
		text_puts(t, "end\n");
	}
	if (g->last)
		text_puts(t, g->last);
	text_puts(t, "eof\n");
}

void
graph_print(const struct graph *g, struct text *t)
{
	print_graph(g, t, NULL);
}

void
graph_print_bare(const struct graph *g, struct text *t)
{
	const struct g_blob *b = graph_find_blob(g, "flash");
	print_records(g, t, true);
	if (b)
		text_printf(t, "blob flash bytes=%" PRId64 " xxh3=%016" PRIx64
			    " from=\"\"\n", b->bytes, b->xxh3);
	text_puts(t, "eof\n");
}

/* s: the set of files; NULL: write at once */
static bool
write_to(struct file_set *s, const struct graph *g, const char *path, struct err *e)
{
	struct arena *a = arena_open();
	struct untouched *u = anew(a, struct untouched, g->n_blobs);
	struct bytes *part = anew(a, struct bytes, 2 * g->n_blobs + 1);
	struct text t = { 0 };
	size_t n = 0, at = 0;

	print_graph(g, &t, u);
	for (size_t i = 0; i < g->n_blobs; i++) {
		if (!u[i].text.n)
			continue;
		part[n++] = (struct bytes){ .p = (const uint8_t *)t.p + at,
					    .n = u[i].at - at };
		part[n++] = u[i].text;
		at = u[i].at;
	}
	part[n++] = (struct bytes){ .p = (const uint8_t *)t.p + at,
				    .n = t.n - at };
	bool ok = s ? file_set_parts(s, path, part, n, false, e)
		    : file_write_parts(path, part, n, false, e);
	text_free(&t);
	arena_close(a);
	return ok;
}

bool
graph_write(const struct graph *g, const char *path, struct err *e)
{
	return write_to(NULL, g, path, e);
}

bool
graph_add_to(struct file_set *s, const struct graph *g, const char *path,
	     struct err *e)
{
	return write_to(s, g, path, e);
}
