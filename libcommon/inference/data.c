/* SPDX-License-Identifier: Apache-2.0 */
/* Reads inputs and expected outputs from files, and writes outputs into files. */
#include "base/file.h"
#include "base/foreign.h"
#include "inference/inference.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* compares the dimensions of frames x t, ignoring those of 1 */
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

/* fits: the number of frames that the file has; 1: not known */
static bool
does_not_fit(const char *path, const char *what, const struct tfl_tensor *t,
	     int frames, int64_t fits, struct err *e)
{
	struct text x = { 0 };
	text_printf(&x, "%s[", tfl_type_name(t->type));
	for (int i = 0; i < t->rank; i++)
		text_printf(&x, i ? ",%d" : "%d", t->dim[i]);
	text_putc(&x, ']');
	if (frames > 1)
		text_printf(&x, ", %d frames of it", frames);
	if (fits > 1)
		text_printf(&x, "; --frames=%lld takes the whole file", (long long)fits);
	(void)err_at(e, file_name(path), 0, "%s, tensor %s is %s", what,
		     t->name, text_str(&x));
	text_free(&x);
	return false;
}

static bool
shape_differs(const char *path, const struct npy *n, const struct tfl_tensor *t, int frames,
	      struct err *e)
{
	struct text what = { 0 };
	text_puts(&what, "the shape is [");
	for (int i = 0; i < n->rank; i++)
		text_printf(&what, i ? ",%lld" : "%lld", (long long)n->dim[i]);
	text_putc(&what, ']');
	int64_t first = n->rank ? n->dim[0] : 1;
	bool fits = first > 1 && first <= INT_MAX && same_dims(n, t, (int)first);
	(void)does_not_fit(path, text_str(&what), t, frames, fits ? first : 1, e);
	text_free(&what);
	return false;
}

/* A file of bytes other than frames x bytes: another format, or other values. */
static bool
size_differs(const char *path, struct bytes head, uint64_t n, size_t bytes,
	     const struct tfl_tensor *t, int frames, struct err *e)
{
	char what[64];
	const char *is = foreign_file(head, path);
	if (is)
		return err_at(e, file_name(path), 0, "not the values of tensor %s but %s", t->name, is);
	(void)snprintf(what, sizeof(what), "%llu bytes instead of %llu", (unsigned long long)n,
		       (unsigned long long)bytes * (unsigned)frames);
	return does_not_fit(path, what, t, frames, n % bytes ? 1 : (int64_t)(n / bytes), e);
}

/* Sets the type and position of the values in a file of n bytes that begins with head. */
static bool
find_values(struct bytes head, uint64_t n, const struct tfl_tensor *t, int frames,
	    struct values *v, struct err *e)
{
	v->value_tensor = *t;
	v->at = 0;
	if (npy_is(head)) {
		struct npy npy;
		if (!npy_parse_head(head, n, file_name(v->path), &npy, &v->at, e))
			return false;
		/* the elements have the type of the tensor, or are float32 */
		struct tfl_tensor *as = &v->value_tensor, real = as_float32(t);
		if (npy.kind == 'f' && npy.item_bytes == tfl_type_bytes(TFL_FLOAT32) &&
		    float_and_quantized(t, &real))
			*as = real;
		bool truth = npy.kind == 'b' && as->type == TFL_INT8;
		if ((npy.kind != npy_kind(as->type) && !truth) ||
		    npy.item_bytes != tfl_type_bytes(as->type))
			return does_not_fit(v->path, "elements have another type", t, frames, 1,
					    e);
		if (!same_dims(&npy, t, frames))
			return shape_differs(v->path, &npy, t, frames, e);
		v->memory = NULL;
	}
	v->bytes = (size_t)(v->memory ? border_bytes(v->memory) : tfl_bytes(&v->value_tensor));
	uint64_t bytes = n - v->at;
	if (bytes / (uint64_t)frames == v->bytes && !(bytes % (uint64_t)frames))
		return true;
	return size_differs(v->path, head, bytes, v->bytes, t, frames, e);
}

static bool
read_at(const struct values *v, uint64_t at, uint8_t *to, size_t n, struct err *e)
{
	while (n) {
		ssize_t k = pread(v->fd, to, n, (off_t)at);
		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return err_at(e, v->path, 0, "%s",
				      k ? strerror(errno) : "the file became shorter while it was read");
		to += k;
		at += (uint64_t)k;
		n -= (size_t)k;
	}
	return true;
}

/* If the path is a regular file, opens it, reads only its head, and sets *done. */
static bool
open_values(struct values *v, const struct tfl_tensor *t, int frames, bool *done,
	    struct err *e)
{
	struct stat st;
	*done = false;
	v->fd = strcmp(v->path, "-") != 0 ? open(v->path, O_RDONLY | O_CLOEXEC) : -1;
	if (v->fd < 0 || fstat(v->fd, &st) || !S_ISREG(st.st_mode)) {
		if (v->fd >= 0)
			(void)close(v->fd);
		v->fd = -1;
		return true;
	}
	*done = true;
	file_note_input(v->path, &st);
	uint8_t head[NPY_MAX_HEAD];
	size_t n = st.st_size < NPY_MAX_HEAD ? (size_t)st.st_size : NPY_MAX_HEAD;
	return read_at(v, 0, head, n, e) &&
	       find_values((struct bytes){ .p = head, .n = n }, (uint64_t)st.st_size, t,
			   frames, v, e);
}

bool
read_values(struct arena *a, const char *path, const struct tfl_tensor *t,
	    const struct border_tensor *x, int frames, struct values *out, struct err *e)
{
	struct bytes file;
	bool done = false;
	*out = (struct values){ .path = path, .fd = -1,
				.memory = x && x->has_record ? x : NULL };
	if (frames > 1 && !open_values(out, t, frames, &done, e))
		return false;
	if (done)
		return true;
	if (!file_read(a, path, SIM_MAX_BYTES, &file, e) ||
	    !find_values(file, file.n, t, frames, out, e))
		return false;
	out->p = file.p + out->at;
	return true;
}

bool
take_values(struct bytes file, const char *name, const struct tfl_tensor *t, struct values *out,
	    struct err *e)
{
	*out = (struct values){ .path = name, .fd = -1 };
	if (!find_values(file, file.n, t, 1, out, e))
		return false;
	out->p = file.p + out->at;
	return true;
}

bool
frame_values(const struct values *v, int frame, void *to, struct err *e)
{
	if (v->memory) { /* convert from the memory layout */
		struct arena *a = arena_open();
		struct values bytes = *v;
		void *p = arena_alloc(a, v->bytes, 1);
		bytes.memory = NULL;
		bool ok = frame_values(&bytes, frame, p, e);
		if (ok)
			border_unpack(v->memory, p, to);
		arena_close(a);
		return ok;
	}
	uint64_t at = (uint64_t)frame * v->bytes;
	if (!v->p)
		return read_at(v, v->at + at, to, v->bytes, e);
	memcpy(to, v->p + at, v->bytes);
	return true;
}

/*
 * The plain model also tells which inputs are indices, as a compiled model hides the
 * operators that read them.
 */
static int64_t *
find_indices(struct arena *a, const struct tfl_model *m, const struct tfl_model *with)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	int64_t *all = sim_indices(a, g), *n = anew(a, int64_t, (size_t)g->n_in);
	for (int k = 0; k < g->n_in; k++)
		n[k] = all[g->in[k]];
	if (!with || with->subgraph[0].n_in != g->n_in)
		return n;
	g = &with->subgraph[0];
	all = sim_indices(a, g);
	for (int k = 0; k < g->n_in; k++)
		n[k] = n[k] ? n[k] : all[g->in[k]];
	return n;
}

bool
open_inputs(struct arena *a, struct inputs *in, const struct tfl_model *m,
	    const struct tfl_model *with, const struct border_tensors *x, const struct options *o,
	    struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	*in = (struct inputs){ .o = o, .random = o->seed };
	if (!o->input.n) {
		in->n_indices = find_indices(a, m, with);
		return true;
	}
	if (o->input.n != g->n_in)
		return err_at(e, m->name, 0,
			      "the model has %d input%s, but %d file%s given with "
			      "--input: give one for each", g->n_in,
			      g->n_in == 1 ? "" : "s", o->input.n,
			      o->input.n == 1 ? " is" : "s are");
	in->file = anew(a, struct values, (size_t)g->n_in);
	for (int k = 0; k < g->n_in; k++)
		if (!read_values(a, o->input.path[k], &g->tensor[g->in[k]],
				 k < x->n_in ? &x->in[k] : NULL, o->frames, &in->file[k],
				 e))
			return false;
	return true;
}

bool
put_values(const struct values *v, int frame, const struct tfl_tensor *t, void *to,
	   struct err *e)
{
	if (v->value_tensor.type == t->type)
		return frame_values(v, frame, to, e);
	struct arena *a = arena_open();
	void *aligned = arena_alloc(a, v->bytes, 1);
	bool ok = frame_values(v, frame, aligned, e) &&
		  convert_type(&v->value_tensor, aligned, t, to, e);
	arena_close(a);
	return ok;
}

/*
 * Makes integers.  For a float input of QUANTIZE, makes integers for QUANTIZE's output
 * and converts them to float.
 */
static bool
put_made(const struct tfl_subgraph *g, int k, struct inputs *in, uint8_t *to,
	 struct err *e)
{
	const struct options *o = in->o;
	int tensor = g->in[k];
	enum sim_values kind =
	    o->n_kinds ? o->kind[in->frame % o->n_kinds] : SIM_RANDOM;
	const struct tfl_tensor *t = &g->tensor[tensor];
	const struct tfl_tensor *q = behind_quantize(g, tensor);
	if (!q) {
		sim_make_indices(kind, &in->random, t, in->n_indices[k], to);
		return true;
	}
	struct arena *a = arena_open();
	void *v = arena_alloc(a, (size_t)tfl_bytes(q), 1);
	sim_make_values(kind, &in->random, q, v);
	bool ok = convert_type(q, v, t, to, e);
	arena_close(a);
	return ok;
}

bool
next_inputs(const struct tfl_subgraph *g, struct inputs *in, uint8_t *const *to,
	    struct err *e)
{
	for (int k = 0; k < g->n_in; k++) {
		int i = g->in[k];
		if (!(in->file ? put_values(&in->file[k], in->frame, &g->tensor[i],
					    to[k], e)
			       : put_made(g, k, in, to[k], e)))
			return false;
	}
	in->frame++;
	return true;
}

bool
copy_inputs(struct sim *from, struct sim *to, int i, int n, struct err *e)
{
	const struct tfl_subgraph *f = &sim_model(from)->subgraph[0];
	const struct tfl_subgraph *g = &sim_model(to)->subgraph[0];
	if (f->n_in != g->n_in || f->n_out != g->n_out)
		return err_at(e, sim_model(to)->name, 0,
			      "has %d input%s and %d output%s, %s has %d and %d",
			      g->n_in, g->n_in == 1 ? "" : "s", g->n_out,
			      g->n_out == 1 ? "" : "s", sim_model(from)->name, f->n_in,
			      f->n_out);
	for (int k = 0; k < f->n_in; k++) {
		/* the tensor of one of n inputs in a batch */
		struct tfl_tensor one = f->tensor[f->in[k]];
		const struct tfl_tensor *x = &one;
		if (n > 1)
			one.dim[0] /= n;
		const struct tfl_tensor *y = &g->tensor[g->in[k]];
		const uint8_t *p = sim_tensor(from, f->in[k]);
		p += (int64_t)i * tfl_bytes(x);
		void *q = sim_tensor(to, g->in[k]);
		if (float_and_quantized(x, y)) {
			if (!convert_type(x, p, y, q, e))
				return false;
		} else if (!same_type(x, y) || tfl_bytes(x) != tfl_bytes(y)) {
			return err_at(e, sim_model(to)->name, 0,
				      "input %d differs in type or size from that of "
				      "%s",
				      k, sim_model(from)->name);
		} else {
			memcpy(q, p, (size_t)tfl_bytes(x));
		}
	}
	return true;
}

/* Fails if the array has more dimensions than a .npy file can have. */
static bool
npy_of(const struct tfl_tensor *t, int frames, struct npy *n, struct err *e)
{
	*n = (struct npy){ .kind = npy_kind(t->type),
			   .item_bytes = tfl_type_bytes(t->type) };
	/* at the maximal rank, the frames replace a leading dimension of 1 */
	int skip = frames > 1 && t->rank == NPY_MAX_RANK && t->dim[0] == 1;
	if (t->rank - skip + (frames > 1) > NPY_MAX_RANK)
		return err_at(e, t->name, 0, "%d frames of %d dimensions have more dimensions "
			      "than a .npy file can hold", frames, t->rank);
	if (frames > 1)
		n->dim[n->rank++] = frames;
	for (int i = skip; i < t->rank; i++)
		n->dim[n->rank++] = t->dim[i];
	return true;
}

bool
save_npy(struct file_set *to, const struct tfl_tensor *t, const void *data,
	 const char *dir, const char *stem, int index, struct err *e)
{
	struct npy n;
	if (!npy_of(t, 1, &n, e))
		return false;
	n.data = (struct bytes){ .p = data, .n = (size_t)tfl_bytes(t) };
	struct text file = { 0 }, path = { 0 };
	npy_print(&file, &n);
	text_printf(&path, "%s/%s_%d.npy", dir, stem, index);
	bool ok = file_set_add(to, text_str(&path), file.p, file.n, true, e);
	text_free(&file);
	text_free(&path);
	return ok;
}

bool
save_stack(struct file_set *to, const struct tfl_tensor *t, const struct spool *data,
	   int frames, const char *dir, const char *stem, int index, struct err *e)
{
	struct npy n;
	if (!npy_of(t, frames, &n, e))
		return false;
	struct text head = { 0 }, path = { 0 };
	npy_print_head(&head, &n);
	text_printf(&path, "%s/%s_%d.npy", dir, stem, index);
	bool ok = file_set_spool(to, text_str(&path), head.p, head.n, data, e);
	text_free(&head);
	text_free(&path);
	return ok;
}
