/* SPDX-License-Identifier: Apache-2.0 */
/* Reads outputs, labels and targets, and checks that they match. */
#include "npu-eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 1 << 30 };

static double
element(const struct npy *n, size_t i)
{
	const uint8_t *p = n->data.p + i * (size_t)n->item_bytes;
	if (n->kind == 'f') {
		if (n->item_bytes == 4)
			return (double)load_f32(p);
		uint64_t bits = load_le64(p);
		double v;
		memcpy(&v, &bits, sizeof(v));
		return v;
	}
	bool is_signed = n->kind == 'i';
	switch (n->item_bytes) {
	case 1:
		return is_signed ? (int8_t)*p : *p;
	case 2:
		return is_signed ? (int16_t)load_le16(p) : load_le16(p);
	case 4:
		return is_signed ? (double)(int32_t)load_le32(p) : (double)load_le32(p);
	default:
		return is_signed ? (double)(int64_t)load_le64(p) : (double)load_le64(p);
	}
}

double
value_at(const struct values *v, size_t item, size_t k)
{
	return (element(&v->npy, item * v->each + k) - v->zero) * v->scale;
}

static bool
check_numbers(const struct values *v, struct err *e)
{
	for (size_t i = 0; v->npy.kind == 'f' && i < v->n * v->each; i++)
		if (!isfinite(element(&v->npy, i)))
			return err_at(e, file_name(v->file), 0,
			    "item %zu has a value that is not a finite number",
			    i / v->each);
	return true;
}

/*
 * The items along the first dimension.  Outputs of a batch have them along the first
 * two dimensions, if there are as many labels.
 */
static size_t
count_items(const struct npy *x, size_t n_labels)
{
	size_t n = x->rank ? (size_t)x->dim[0] : 1;
	if (x->rank > 2 && n && n_labels / n == (size_t)x->dim[1] && n_labels % n == 0)
		return n_labels;
	return n;
}

static bool
parse_values(struct bytes file, const char *path, size_t n, struct values *v,
	     struct err *e)
{
	*v = (struct values){ .file = file_name(path), .scale = 1 };
	if (!npy_parse(file, v->file, &v->npy, e))
		return false;
	if (v->npy.kind == 'f' && v->npy.item_bytes < 4)
		return err_at(e, v->file, 0, "floats of %d bytes are not supported",
			      v->npy.item_bytes);
	size_t all = v->npy.data.n / (size_t)v->npy.item_bytes;
	v->n = count_items(&v->npy, n);
	if (n && v->n != n)
		return err_at(e, v->file, 0, "has %zu items, but there are %zu labels",
					     v->n,
			      n);
	if (!all)
		return err_at(e, v->file, 0, "has no values");
	v->each = all / v->n;
	return check_numbers(v, e);
}

bool
read_values(struct arena *a, const char *path, size_t n, struct values *v,
	    struct err *e)
{
	struct bytes file;
	return file_read(a, path, MAX_BYTES, &file, e) &&
	       parse_values(file, path, n, v, e);
}

/* ---- labels ------------------------------------------------------------------ */

static bool
is_class(double v)
{
	return v >= 0 && v < MAX_CLASSES && v == floor(v);
}

static void
name_class(struct arena *a, struct labels *l, double class, const char *name)
{
	if (!is_class(class))
		return;
	size_t i = (size_t)class;
	if (i >= l->n_names) {
		size_t n = i + 1 > 2 * l->n_names ? i + 1 : 2 * l->n_names;
		const char **more = anew(a, const char *, n);
		if (l->n_names)
			memcpy(more, l->name, l->n_names * sizeof(*more));
		l->name = more;
		l->n_names = n;
	}
	l->name[i] = name;
}

/* "3", or "3\towl" */
static bool
parse_label(struct arena *a, struct labels *l, char *line, unsigned number,
	    struct err *e)
{
	char *end;
	double v = strtod(line, &end);
	if (end == line || !isfinite(v))
		return err_at(e, l->file, number, "a label must be a number, not '%s'",
						  line);
	l->v[l->n++] = v;
	end += strspn(end, " \t,");
	if (*end)
		name_class(a, l, v, end);
	return true;
}

static bool
parse_text(struct arena *a, struct bytes file, struct labels *l, struct err *e)
{
	char *at = arena_alloc(a, file.n + 1, 1), *next;
	size_t lines = 1;
	memcpy(at, file.p, file.n);
	at[file.n] = '\0';
	if (strlen(at) != file.n)
		return err_at(e, l->file, 0, "not a text file: there is a NUL byte");
	for (size_t i = 0; i < file.n; i++)
		lines += at[i] == '\n';
	l->v = anew(a, double, lines);
	for (unsigned number = 1; at; at = next, number++) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		size_t n = strcspn(at, "\r#");
		while (n && (at[n - 1] == ' ' || at[n - 1] == '\t'))
			n--;
		at[n] = '\0';
		if (at[strspn(at, " \t")] && !parse_label(a, l, at, number, e))
			return false;
	}
	return l->n || err_at(e, l->file, 0, "the file has no labels");
}

static bool
parse_array(struct arena *a, struct bytes file, const char *path, struct labels *l,
	    struct err *e)
{
	struct values v;
	if (!parse_values(file, path, 0, &v, e))
		return false;
	if (v.each != 1)
		return err_at(e, l->file, 0, "labels must be one number per item, not "
					     "%zu", v.each);
	l->n = v.n;
	l->v = anew(a, double, v.n);
	for (size_t i = 0; i < v.n; i++)
		l->v[i] = value_at(&v, i, 0);
	return true;
}

bool
read_labels(struct arena *a, const char *path, struct labels *l, struct err *e)
{
	struct bytes file;
	*l = (struct labels){ .file = file_name(path), .whole = true };
	if (!file_read(a, path, MAX_BYTES, &file, e) ||
	    !(npy_is(file) ? parse_array(a, file, path, l, e)
			   : parse_text(a, file, l, e)))
		return false;
	for (size_t i = 0; i < l->n; i++)
		l->whole &= is_class(l->v[i]);
	return true;
}
