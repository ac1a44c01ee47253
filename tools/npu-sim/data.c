/* SPDX-License-Identifier: Apache-2.0 */
#include "npu-sim.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static char
npy_kind(int type)
{
	switch (type) {
	case TFL_BOOL:
		return 'b';
	case TFL_FLOAT32:
	case TFL_FLOAT16:
	case TFL_FLOAT64:
		return 'f';
	case TFL_UINT8:
	case TFL_UINT16:
	case TFL_UINT32:
		return 'u';
	default:
		return 'i';
	}
}

/* the same dimensions, those of 1 left out */
static bool
same_dims(const struct npy *n, const struct tfl_tensor *t)
{
	int i = 0, k = 0;
	for (;;) {
		while (i < n->rank && n->dim[i] == 1)
			i++;
		while (k < t->rank && t->dim[k] == 1)
			k++;
		if (i == n->rank || k == t->rank)
			return i == n->rank && k == t->rank;
		if (n->dim[i] != t->dim[k])
			return false;
		i++;
		k++;
	}
}

static void
put_shape(struct text *x, const struct tfl_tensor *t)
{
	text_puts(x, tfl_type_name(t->type));
	text_putc(x, '[');
	for (int i = 0; i < t->rank; i++)
		text_printf(x, i ? ",%d" : "%d", t->dim[i]);
	text_putc(x, ']');
}

static bool
does_not_fit(const char *path, const char *what, const struct tfl_tensor *t,
	     struct err *e)
{
	struct text x = { 0 };
	put_shape(&x, t);
	(void)err_at(e, file_name(path), 0, "%s, tensor %s is %s", what,
		     t->name, text_str(&x));
	text_free(&x);
	return false;
}

bool
read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
	    struct bytes *out, struct err *e)
{
	struct bytes file;
	size_t want = (size_t)tfl_bytes(t);
	if (!file_read(a, path, SIM_MAX_BYTES, &file, e))
		return false;
	if (npy_is(file)) {
		struct npy n;
		if (!npy_parse(file, file_name(path), &n, e))
			return false;
		if (n.kind != npy_kind(t->type) ||
		    n.item_bytes != tfl_type_bytes(t->type))
			return does_not_fit(
			    path, "elements are of another type", t, e);
		if (!same_dims(&n, t))
			return does_not_fit(path, "shape is another", t, e);
		file = n.data;
	}
	if (file.n != want)
		return does_not_fit(path, "has another number of bytes", t, e);
	*out = file;
	return true;
}

bool
load_inputs(struct sim *s, const struct options *o, struct err *e)
{
	const struct tfl_model *m = sim_model(s);
	const struct tfl_subgraph *g = &m->subgraph[0];
	uint64_t state = o->seed;
	if (o->n_input && o->n_input != g->n_in)
		return err_at(e, m->name, 0,
			      "the model has %d inputs, %d files are "
			      "given",
			      g->n_in, o->n_input);
	struct arena *a = arena_open();
	bool ok = true;
	for (int k = 0; ok && k < g->n_in; k++) {
		const struct tfl_tensor *t = &g->tensor[g->in[k]];
		struct bytes v;
		if (!o->n_input)
			sim_random(&state, t, sim_tensor(s, g->in[k]));
		else if ((ok = read_values(a, o->input[k], t, &v, e)))
			memcpy(sim_tensor(s, g->in[k]), v.p, v.n);
	}
	arena_close(a);
	return ok;
}

bool
copy_inputs(struct sim *from, struct sim *to, struct err *e)
{
	const struct tfl_subgraph *f = &sim_model(from)->subgraph[0];
	const struct tfl_subgraph *g = &sim_model(to)->subgraph[0];
	if (f->n_in != g->n_in || f->n_out != g->n_out)
		return err_at(e, sim_model(to)->name, 0,
			      "has %d inputs and %d "
			      "outputs, %s has %d and %d",
			      g->n_in, g->n_out, sim_model(from)->name, f->n_in,
			      f->n_out);
	for (int k = 0; k < f->n_in; k++) {
		const struct tfl_tensor *x = &f->tensor[f->in[k]];
		const struct tfl_tensor *y = &g->tensor[g->in[k]];
		if (x->type != y->type || tfl_bytes(x) != tfl_bytes(y))
			return err_at(e, sim_model(to)->name, 0,
				      "input %d has "
				      "another type or size than in %s",
				      k, sim_model(from)->name);
		memcpy(sim_tensor(to, g->in[k]), sim_tensor(from, f->in[k]),
		       (size_t)tfl_bytes(x));
	}
	return true;
}

bool
make_directory(const char *path, bool *made, struct err *e)
{
	*made = path && mkdir(path, 0777) == 0;
	return !path || *made || errno == EEXIST ||
	       err_set(e, "%s: %s", path, strerror(errno));
}

bool
save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	 const char *dir, const char *stem, int index, struct err *e)
{
	struct npy n = { .kind = npy_kind(t->type),
			 .item_bytes = tfl_type_bytes(t->type),
			 .rank = t->rank,
			 .data = { .p = data, .n = (size_t)tfl_bytes(t) } };
	for (int i = 0; i < t->rank; i++)
		n.dim[i] = t->dim[i];
	struct text file = { 0 }, path = { 0 };
	npy_print(&file, &n);
	text_printf(&path, "%s/%s_%d.npy", dir, stem, index);
	bool ok = file_set_add(to, text_str(&path), file.p, file.n, true, e);
	text_free(&file);
	text_free(&path);
	return ok;
}
