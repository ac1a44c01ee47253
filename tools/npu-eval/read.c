/* SPDX-License-Identifier: Apache-2.0 */
/* Reads outputs and targets, and checks that they match the labels. */
#include "npu-eval.h"

#include <math.h>

enum { MAX_BYTES = 1 << 30 };

double
value_at(const struct values *v, size_t item, size_t k)
{
	return (npy_number(&v->npy, item * v->each + k) - v->zero) * v->scale;
}

static bool
check_numbers(const struct values *v, struct err *e)
{
	for (size_t i = 0; v->npy.kind == 'f' && i < v->n * v->each; i++)
		if (!isfinite(npy_number(&v->npy, i)))
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
