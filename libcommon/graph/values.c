/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the value of a key, by its kind. */
#include "graph/parse.h"

#include "base/text.h"
#include "graph/facts.h"

#include <stdlib.h>

enum { MAX_LIST = 1 << 24 };

bool
value_is_bad(struct parse *s, const char *what)
{
	return BAD(s, "%s needs %s", s->key, what);
}

/*
 * Fast path: at most 17 decimal digits, which can't overflow.  Returns false if there
 * are none, or the number may be longer or hexadecimal.
 */
static inline bool
take_digits(struct cur *c, int64_t *v)
{
	const char *p = c->p, *end = c->end - p > 18 ? p + 18 : c->end;
	for (*v = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*v = 10 * *v + (*p - '0');
	bool hex = p == c->p + 1 && !*v && p < c->end && *p == 'x';
	if (p == c->p || p == c->p + 18 || hex)
		return false;
	c->p = p;
	return true;
}

int64_t
take_int(struct cur *c, int64_t min, int64_t max)
{
	int64_t plain;
	if (take_digits(c, &plain)) {
		c->bad |= plain < min || plain > max;
		return c->bad ? 0 : plain;
	}
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
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			c->bad = true;
	}
	if (c->p == start)
		c->bad = true;
	/* compare unsigned: INT64_MIN has no positive counterpart */
	c->bad |= v > (uint64_t)INT64_MAX + neg;
	int64_t r = (int64_t)(neg ? -v : v);
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

void
want_char(struct cur *c, char want)
{
	if (!take_char(c, want))
		c->bad = true;
}

/* Parses into *f if f is not NULL, else into *d, so that each type rounds once. */
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

static bool
parse_ref(struct parse *s, struct cur *c, enum record_kind kind, void *at)
{
	want_char(c, *record_descs[kind].prefix);
	int id = (int)take_int(c, 0, INT32_MAX);
	agrow(s->a, s->fixup, s->n_fixups, &s->cap_fixups);
	s->fixup[s->n_fixups++] = (struct fixup){ at, kind, id, s->line };
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

/* Type and shape of a whole tensor are filled in when all records are read. */
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

bool
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

bool
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

bool
parse_value(struct parse *s, const struct key_desc *k, struct cur *c, void *p)
{
	struct g_pad *pad = p;
	struct g_range *r = p;
	struct g_span *span = p;
	struct npu_scale *scale = p;
	struct yx *yx = p;
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
	case KIND_HWC:
		*(struct hwc *)p = take_hwc(c, 'x');
		return !c->bad || value_is_bad(s, "HEIGHTxWIDTHxDEPTH");
	case KIND_YX:
		yx->y = take_i32(c);
		want_char(c, 'x');
		yx->x = take_i32(c);
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
