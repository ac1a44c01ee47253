/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file of labels, one per item. */
#include "base/npy.h"
#include "samples/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
		if (!at[strspn(at, " \t")])
			continue;
		/* "3", or "3\towl" */
		char *end;
		double v = strtod(at, &end);
		if (end == at || !isfinite(v))
			return err_at(e, l->file, number, "a label must be a number, not '%s'", at);
		l->v[l->n++] = v;
		end += strspn(end, " \t,");
		if (*end)
			name_class(a, l, v, end);
	}
	return l->n || err_at(e, l->file, 0, "the file has no labels");
}

static bool
parse_array(struct arena *a, struct bytes file, struct labels *l, struct err *e)
{
	struct npy n;
	if (!npy_parse(file, l->file, &n, e))
		return false;
	if (n.kind == 'f' && n.item_bytes < 4)
		return err_at(e, l->file, 0, "floats of %d bytes are not supported", n.item_bytes);
	size_t all = n.data.n / (size_t)n.item_bytes;
	if (!all)
		return err_at(e, l->file, 0, "has no values");
	l->n = n.rank ? (size_t)n.dim[0] : 1;
	if (all != l->n)
		return err_at(e, l->file, 0, "labels must be one number per item, not %zu",
			      all / l->n);
	l->v = anew(a, double, l->n);
	for (size_t i = 0; i < l->n; i++) {
		l->v[i] = npy_number(&n, i);
		if (!isfinite(l->v[i]))
			return err_at(e, l->file, 0, "item %zu has a value that is not a "
						     "finite number", i);
	}
	return true;
}

bool
read_labels(struct arena *a, const char *path, struct labels *l, struct err *e)
{
	struct bytes file;
	*l = (struct labels){ .file = file_name(path), .whole = true };
	if (!file_read(a, path, MAX_LABEL_BYTES, &file, e) ||
	    !(npy_is(file) ? parse_array(a, file, l, e) : parse_text(a, file, l, e)))
		return false;
	for (size_t i = 0; i < l->n; i++)
		l->whole &= is_class(l->v[i]);
	return true;
}
