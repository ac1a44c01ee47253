/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "npu-sim.h"

#include <string.h>

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

struct dims {
	int n;
	int64_t v[TFL_MAX_RANK + 1];
};

static void
add_dim(struct dims *d, int64_t v)
{
	if (v != 1)
		d->v[d->n++] = v;
}

/* the tensor's dimensions behind the number of frames, those of 1 left out */
static bool
same_dims(const struct npy *n, const struct tfl_tensor *t, int frames)
{
	struct dims have = { 0 }, want = { 0 };
	add_dim(&want, frames);
	for (int i = 0; i < t->rank; i++)
		add_dim(&want, t->dim[i]);
	for (int i = 0; i < n->rank; i++)
		add_dim(&have, n->dim[i]);
	return have.n == want.n &&
	       !memcmp(have.v, want.v, (size_t)have.n * sizeof(have.v[0]));
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
	     int frames, struct err *e)
{
	struct text x = { 0 };
	put_shape(&x, t);
	if (frames > 1)
		text_printf(&x, ", %d frames of it", frames);
	(void)err_at(e, file_name(path), 0, "%s, tensor %s is %s", what,
		     t->name, text_str(&x));
	text_free(&x);
	return false;
}

bool
read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
	    int frames, struct values *out, struct err *e)
{
	struct bytes file;
	struct tfl_tensor as = *t, real = float_form(t);
	if (!file_read(a, path, SIM_MAX_BYTES, &file, e))
		return false;
	if (npy_is(file)) {
		struct npy n;
		if (!npy_parse(file, file_name(path), &n, e))
			return false;
		if (n.kind == 'f' && n.item_bytes == tfl_type_bytes(TFL_FLOAT32) &&
		    are_forms(t, &real))
			as = real;
		if (n.kind != npy_kind(as.type) ||
		    n.item_bytes != tfl_type_bytes(as.type))
			return does_not_fit(path, "elements are of another type",
					    t, frames, e);
		if (!same_dims(&n, t, frames))
			return does_not_fit(path, "shape is another", t, frames, e);
		file = n.data;
	}
	size_t bytes = (size_t)tfl_bytes(&as);
	if (file.n / (size_t)frames != bytes || file.n % (size_t)frames)
		return does_not_fit(path, "has another number of bytes", t, frames,
				    e);
	*out = (struct values){ .form = as, .p = file.p, .bytes = bytes };
	return true;
}

bool
open_inputs(struct arena *a, struct inputs *in, const struct tfl_model *m,
	    const struct options *o, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	*in = (struct inputs){ .o = o, .random = o->seed };
	if (!o->n_input)
		return true;
	if (o->n_input != g->n_in)
		return err_at(e, m->name, 0,
			      "the model has %d input%s, %d file%s given", g->n_in,
			      g->n_in == 1 ? "" : "s", o->n_input,
			      o->n_input == 1 ? " is" : "s are");
	in->file = anew(a, struct values, (size_t)g->n_in);
	for (int k = 0; k < g->n_in; k++)
		if (!read_values(a, o->input[k], &g->tensor[g->in[k]], o->frames,
				 &in->file[k], e))
			return false;
	return true;
}

/* the values of one frame where the tensor keeps them, in its own form */
static bool
put_values(const struct values *v, int frame, const struct tfl_tensor *t, void *to,
	   struct err *e)
{
	const uint8_t *from = v->p + (size_t)frame * v->bytes;
	if (v->form.type != t->type) {
		struct arena *a = arena_open();
		void *aligned = memcpy(arena_alloc(a, v->bytes, 1), from, v->bytes);
		bool ok = convert_form(&v->form, aligned, t, to, e);
		arena_close(a);
		return ok;
	}
	memcpy(to, from, v->bytes);
	return true;
}

/* integers, or the floats that are such to the QUANTIZE behind them */
static bool
put_made(struct sim *s, int tensor, struct inputs *in, struct err *e)
{
	const struct options *o = in->o;
	enum sim_values kind =
	    o->n_kinds ? o->kind[in->frame % o->n_kinds] : SIM_RANDOM;
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[tensor];
	const struct tfl_tensor *q = behind_quantize(g, tensor);
	if (!q) {
		sim_make_values(kind, &in->random, t, sim_tensor(s, tensor));
		return true;
	}
	struct arena *a = arena_open();
	void *v = arena_alloc(a, (size_t)tfl_bytes(q), 1);
	sim_make_values(kind, &in->random, q, v);
	bool ok = convert_form(q, v, t, sim_tensor(s, tensor), e);
	arena_close(a);
	return ok;
}

bool
next_inputs(struct sim *s, struct inputs *in, struct err *e)
{
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	for (int k = 0; k < g->n_in; k++) {
		int i = g->in[k];
		if (!(in->file ? put_values(&in->file[k], in->frame, &g->tensor[i],
					    sim_tensor(s, i), e)
			       : put_made(s, i, in, e)))
			return false;
	}
	in->frame++;
	return true;
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
		const void *p = sim_tensor(from, f->in[k]);
		void *q = sim_tensor(to, g->in[k]);
		if (are_forms(x, y)) {
			if (!convert_form(x, p, y, q, e))
				return false;
		} else if (x->type != y->type || tfl_bytes(x) != tfl_bytes(y)) {
			return err_at(e, sim_model(to)->name, 0,
				      "input %d has "
				      "another type or size than in %s",
				      k, sim_model(from)->name);
		} else {
			memcpy(q, p, (size_t)tfl_bytes(x));
		}
	}
	return true;
}

bool
save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	 int frames, const char *dir, const char *stem, int index, struct err *e)
{
	struct npy n = { .kind = npy_kind(t->type),
			 .item_bytes = tfl_type_bytes(t->type),
			 .data = { .p = data,
				   .n = (size_t)tfl_bytes(t) * (size_t)frames } };
	/* the frames take the place of a batch of 1 where there is no room */
	int skip = frames > 1 && t->rank == NPY_MAX_RANK && t->dim[0] == 1;
	if (t->rank - skip + (frames > 1) > NPY_MAX_RANK)
		return err_set(e, "%s: error: %d frames of %d dimensions are more than "
				  "a .npy file has", t->name, frames, t->rank);
	if (frames > 1)
		n.dim[n.rank++] = frames;
	for (int i = skip; i < t->rank; i++)
		n.dim[n.rank++] = t->dim[i];
	struct text file = { 0 }, path = { 0 };
	npy_print(&file, &n);
	text_printf(&path, "%s/%s_%d.npy", dir, stem, index);
	bool ok = file_set_add(to, text_str(&path), file.p, file.n, true, e);
	text_free(&file);
	text_free(&path);
	return ok;
}
