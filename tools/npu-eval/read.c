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

bool
read_values(struct arena *a, const char *path, size_t n, struct values *v,
	    struct err *e)
{
	struct bytes file;
	if (!file_read(a, path, MAX_BYTES, &file, e))
		return false;
	*v = (struct values){ .file = file_name(path), .scale = 1 };
	const struct npy *x = &v->npy;
	if (!npy_parse(file, v->file, &v->npy, e))
		return false;
	if (x->kind == 'f' && x->item_bytes < 4)
		return err_at(e, v->file, 0, "floats of %d bytes are not supported",
			      x->item_bytes);
	size_t all = x->data.n / (size_t)x->item_bytes;
	/*
	 * The items are along the first dimension.  Outputs of a batch have them along the
	 * first two dimensions, if there are as many labels.
	 */
	size_t items = x->rank ? (size_t)x->dim[0] : 1;
	bool batch = x->rank > 2 && items && n / items == (size_t)x->dim[1] && n % items == 0;
	v->n = batch ? n : items;
	if (n && v->n != n)
		return err_at(e, v->file, 0, "has %zu items, but there are %zu labels",
					     v->n,
			      n);
	if (!all)
		return err_at(e, v->file, 0, "has no values");
	v->each = all / v->n;
	for (size_t i = 0; x->kind == 'f' && i < v->n * v->each; i++)
		if (!isfinite(npy_number(x, i)))
			return err_at(e, file_name(v->file), 0,
			    "item %zu has a value that is not a finite number",
			    i / v->each);
	return true;
}
