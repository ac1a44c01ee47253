/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arrays as a C header, .npy or raw bytes. */
#include "base/little_endian.h"
#include "base/npy.h"
#include "mkinput.h"

#include <ctype.h>
#include <string.h>

static const struct kind {
	int type;
	const char *name; /* the C type */
	char npy;
	int per_line;
} kinds[] = {
	{ TFL_INT8, "int8_t", 'i', 16 },
	{ TFL_UINT8, "uint8_t", 'u', 16 },
	{ TFL_INT16, "int16_t", 'i', 10 },
	{ TFL_INT32, "int32_t", 'i', 6 },
	{ TFL_INT64, "int64_t", 'i', 3 },
	{ TFL_BOOL, "uint8_t", 'b', 32 },
	{ TFL_FLOAT32, "float", 'f', 5 },
};

/* The table has all types that fill_tensor() and the simulator support. */
static const struct kind *
kind_of(int type)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static void
put_element(struct text *t, int type, const uint8_t *p)
{
	size_t at = t->n;
	switch (type) {
	case TFL_INT8: text_i64(t, (int8_t)*p); break;
	case TFL_INT16: text_i64(t, (int16_t)load_le16(p)); break;
	case TFL_INT32:
		/* in C, -2147483648 is an expression of type long */
		if (load_le32(p) == 0x80000000u)
			text_puts(t, "-2147483647 - 1");
		else
			text_i64(t, (int32_t)load_le32(p));
		break;
	case TFL_INT64: text_printf(t, "INT64_C(%lld)",
				    (long long)load_le64(p)); break;
	case TFL_FLOAT32:
		text_float(t, load_f32(p));
		if (!memchr(t->p + at, '.', t->n - at) &&
		    !memchr(t->p + at, 'e', t->n - at))
			text_puts(t, ".0");
		text_putc(t, 'f');
		break;
	default: text_i64(t, *p); break;
	}
}

const char *
element_type(int type)
{
	const struct kind *k = kind_of(type);
	return k ? k->name : NULL;
}

void
put_elements(struct text *t, const struct array *x, int per_line)
{
	size_t size = (size_t)tfl_type_bytes(x->t->type);
	int64_t n = tfl_elements(x->t);
	for (int64_t i = 0; i < n; i++) {
		bool first = i % per_line == 0;
		bool last = i + 1 == n || (i + 1) % per_line == 0;
		text_puts(t, first ? "  " : " ");
		put_element(t, x->t->type, x->bytes + (size_t)i * size);
		text_puts(t, i + 1 < n ? "," : "");
		text_puts(t, last ? "\n" : "");
	}
}

enum { HEX_PER_LINE = 12 };

/* "used": code outside the compiler's view reads the section, so the array must stay */
static void
put_attribute(struct text *t, const char *section)
{
	if (section)
		text_printf(t, " __attribute__((section(\"%s\"), aligned(16), "
			       "used))", section);
}

/* "input_data" for a single array, else "input_data_1" and so on */
static void
put_name(struct text *t, const char *name, int i, int n)
{
	text_puts(t, name);
	if (n > 1)
		text_printf(t, "_%d", i);
}

static void
put_array(struct text *t, const struct sheet *s, int i)
{
	const struct array *x = &s->array[i];
	text_puts(t, "\nstatic const int ");
	put_name(t, s->name, i, s->n);
	text_printf(t, "_len = %lld;\n",
		    (long long)(s->hex ? tfl_bytes(x->t) : tfl_elements(x->t)));
	text_printf(t, "static %s%s ", s->writable ? "" : "const ",
		    s->hex ? "uint8_t" : kind_of(x->t->type)->name);
	put_name(t, s->name, i, s->n);
	text_puts(t, "[]");
	put_attribute(t, s->section);
	text_puts(t, " = {\n");
	if (!s->hex)
		put_elements(t, x, kind_of(x->t->type)->per_line);
	size_t n = s->hex ? (size_t)tfl_bytes(x->t) : 0;
	for (size_t k = 0; k < n; k++) {
		bool last = k + 1 == n || (k + 1) % HEX_PER_LINE == 0;
		text_printf(t, "%s0x%02x%s%s", k % HEX_PER_LINE ? " " : "  ",
			    x->bytes[k], k + 1 < n ? "," : "", last ? "\n" : "");
	}
	text_puts(t, "};\n");
}

/* the array into which the firmware writes the model's outputs */
static void
put_buffer(struct text *t, const struct sheet *s, int i)
{
	const struct tfl_tensor *x = s->outputs[i].t;
	text_puts(t, "\nstatic const int ");
	put_name(t, s->buffer, i, s->n_outputs);
	text_printf(t, "_len = %lld;\nstatic %s ", (long long)tfl_elements(x),
		    kind_of(x->type)->name);
	put_name(t, s->buffer, i, s->n_outputs);
	text_printf(t, "[%lld]", (long long)tfl_elements(x));
	put_attribute(t, s->buffer_section);
	text_puts(t, ";\n");
}

static void
put_guard(struct text *t, const struct sheet *s)
{
	if (s->guard) {
		text_puts(t, s->guard);
		return;
	}
	for (const char *p = s->name; *p; p++)
		text_putc(t, (char)toupper((unsigned char)*p));
	text_puts(t, "_H");
}

bool
check_kinds(const struct array *x, int n, struct err *e)
{
	for (int i = 0; i < n; i++)
		if (!kind_of(x[i].t->type))
			return err_set(e, "tensor %s is of type %s, which is not "
					  "supported", x[i].t->name,
				       tfl_type_name(x[i].t->type));
	return true;
}

bool
write_header(struct file_set *to, const char *path, const struct sheet *s,
	     struct err *e)
{
	struct text t = { 0 };
	if (!check_kinds(s->array, s->n, e) ||
	    !check_kinds(s->outputs, s->n_outputs, e))
		return false;
	text_puts(&t, "#ifndef ");
	put_guard(&t, s);
	text_puts(&t, "\n#define ");
	put_guard(&t, s);
	text_puts(&t, "\n\n#include <stdint.h>\n");
	for (int i = 0; i < s->n; i++)
		put_array(&t, s, i);
	for (int i = 0; i < s->n_outputs; i++)
		put_buffer(&t, s, i);
	text_puts(&t, "\n#endif /* ");
	put_guard(&t, s);
	text_puts(&t, " */\n");
	bool ok = file_set_add(to, path, t.p, t.n, false, e);
	text_free(&t);
	return ok;
}

bool
write_binary(struct arena *a, struct file_set *to, const char *path,
	     const struct sheet *s,
	     enum output format, struct err *e)
{
	if (s->n > 1 && (!path || !strcmp(path, "-")))
		return err_set(e, "the result is %d files: name them with -o FILE",
			       s->n);
	bool ok = check_kinds(s->array, s->n, e);
	for (int i = 0; ok && i < s->n; i++) {
		const struct tfl_tensor *x = s->array[i].t;
		struct bytes b = { .p = s->array[i].bytes,
				   .n = (size_t)tfl_bytes(x) };
		struct npy n = { .kind = kind_of(x->type)->npy,
				 .item_bytes = tfl_type_bytes(x->type),
				 .rank = x->rank, .data = b };
		for (int k = 0; k < x->rank; k++)
			n.dim[k] = x->dim[k];
		struct text t = { 0 };
		if (format == AS_NPY)
			npy_print(&t, &n);
		else
			text_put(&t, b.p, b.n);
		const char *own = path; /* NAME.npy for a single array, else NAME_i.npy */
		if (s->n > 1) {
			const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
			if (!dot || (slash && dot < slash))
				dot = path + strlen(path);
			own = arena_printf(a, "%.*s_%d%s", (int)(dot - path), path, i, dot);
		}
		ok = file_set_add(to, own, t.p, t.n, true, e);
		text_free(&t);
	}
	return ok;
}

bool
write_stack(struct file_set *to, const char *path, const struct tfl_tensor *t, size_t n,
	    const struct spool *values, enum output format, struct err *e)
{
	struct array one = { .t = t };
	struct text head = { 0 };
	if (!check_kinds(&one, 1, e))
		return false;
	struct npy x = { .kind = kind_of(t->type)->npy,
			 .item_bytes = tfl_type_bytes(t->type), .rank = 1,
			 .dim = { (int64_t)n } };
	/* at the maximal rank, the new dimension replaces a leading dimension of 1 */
	int skip = t->rank == NPY_MAX_RANK && t->dim[0] == 1;
	if (t->rank - skip + 1 > NPY_MAX_RANK)
		return err_at(e, t->name, 0, "the input has %d dimensions, a .npy file can't "
			      "hold one more", t->rank);
	for (int k = skip; k < t->rank; k++)
		x.dim[x.rank++] = t->dim[k];
	if (format == AS_NPY)
		npy_print_head(&head, &x);
	bool ok = file_set_spool(to, path, head.p, head.n, values, e);
	text_free(&head);
	return ok;
}
