/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the text of "nputools.ends", and reads it from files that anybody may have made. */
#include "borders/borders.h"

#include "base/text.h"
#include "tflite/tflite.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char first_line[] = "nputools-ends 1\n";

const char *const border_layout_names[] = {
	[BORDER_NHWC] = "nhwc", [BORDER_NHCWB16] = "nhcwb16", [BORDER_NCHW] = "nchw",
};
static_assert(ARRAY_LEN(border_layout_names) == BORDER_LAYOUTS, "every layout has a name");

/* ---- writing ------------------------------------------------------------------- */

static bool
put_border(struct text *t, const char *what, int k, const struct border_tensor *x)
{
	if (!x->has_record)
		return false;
	text_printf(t, "%s %d layout=%s shape=", what, k, border_layout_names[x->layout]);
	for (int i = 0; i < x->rank; i++)
		text_printf(t, i ? ",%d" : "%d", x->dim[i]);
	if (x->row_stride)
		text_printf(t, " row-stride=%" PRId64, x->row_stride);
	if (x->pixel_stride)
		text_printf(t, " pixel-stride=%" PRId64, x->pixel_stride);
	text_putc(t, '\n');
	return true;
}

struct bytes
borders_print(struct arena *a, const struct border_tensors *x)
{
	struct text t = { 0 };
	bool any = x->desired > 0;
	text_puts(&t, first_line);
	if (any)
		text_printf(&t, "batch desired_batch_size=%d actual_batch_size=%d\n",
			    x->desired, x->actual);
	for (int k = 0; k < x->n_in; k++)
		any |= put_border(&t, "input", k, &x->in[k]);
	for (int k = 0; k < x->n_out; k++)
		any |= put_border(&t, "output", k, &x->out[k]);
	struct bytes b = { .p = arena_alloc(a, t.n, 1), .n = t.n };
	memcpy((uint8_t *)(uintptr_t)b.p, t.p, t.n);
	text_free(&t);
	return any ? b : (struct bytes){ .p = NULL };
}

/* ---- reading ------------------------------------------------------------------- */

struct reading {
	const char *p, *end; /* text not read yet */
	struct border_tensors *out;
	const struct tfl_subgraph *g;
};

static bool
accept_word(struct reading *r, const char *word)
{
	size_t n = strlen(word);
	if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n) != 0)
		return false;
	r->p += n;
	return true;
}

/* Reads a whole number from 0 to 2^30, as it is printed. */
static bool
take_number(struct reading *r, int64_t *v)
{
	enum { MOST = 1 << 30 };
	const char *first = r->p;
	for (*v = 0; r->p < r->end && *r->p >= '0' && *r->p <= '9' && *v <= MOST; r->p++)
		*v = *v * 10 + (*r->p - '0');
	return r->p > first && *v <= MOST && (*first != '0' || r->p == first + 1);
}

static bool
take_i32(struct reading *r, int32_t *v)
{
	int64_t n;
	bool ok = take_number(r, &n);
	*v = ok ? (int32_t)n : 0;
	return ok;
}

/* Reads a shape of at most 2^30 elements, so that products with strides fit 64 bits. */
static bool
take_shape(struct reading *r, struct border_tensor *x)
{
	enum { MOST = 1 << 30 };
	int64_t elements = 1;
	x->rank = 0;
	do {
		if (x->rank == TFL_MAX_RANK || !take_i32(r, &x->dim[x->rank]) ||
		    !x->dim[x->rank])
			return false;
		elements *= x->dim[x->rank];
		if (elements > MOST)
			return false;
		x->rank++;
	} while (accept_word(r, ","));
	return true;
}

static bool
take_layout(struct reading *r, enum border_layout *out)
{
	for (int i = 0; i < BORDER_LAYOUTS; i++) {
		*out = (enum border_layout)i;
		if (accept_word(r, border_layout_names[i]))
			return true;
	}
	return false;
}

/*
 * True if rows hold their pixels, pixels hold their channels, and strides are whole
 * elements.
 */
static bool
strides_hold(const struct border_tensor *x)
{
	struct border_shape s = border_shape(x);
	int64_t e = tfl_type_bytes(x->type), pixel = x->pixel_stride;
	if (!e || ((x->row_stride || pixel) && x->layout != BORDER_NHWC))
		return false;
	int64_t least = (pixel ? pixel : s.c * e) * (s.w - 1) + s.c * e;
	return x->row_stride % e == 0 && pixel % e == 0 && (!pixel || pixel >= s.c * e) &&
	       (!x->row_stride || x->row_stride >= least);
}

static bool
take_border(struct reading *r, struct border_tensor *v, const int *tensor, int n)
{
	int64_t k;
	if (!take_number(r, &k) || k >= n || v[k].has_record)
		return false;
	struct border_tensor *x = &v[k];
	x->has_record = true;
	if (!accept_word(r, " layout=") || !take_layout(r, &x->layout) || !accept_word(r, " shape=") ||
	    !take_shape(r, x) ||
	    (accept_word(r, " row-stride=") && (!take_number(r, &x->row_stride) || !x->row_stride)) ||
	    (accept_word(r, " pixel-stride=") &&
	     (!take_number(r, &x->pixel_stride) || !x->pixel_stride)))
		return false;
	return strides_hold(x) && border_bytes(x) == tfl_bytes(&r->g->tensor[tensor[k]]);
}

static bool
take_line(struct reading *r)
{
	struct border_tensors *x = r->out;
	if (accept_word(r, "batch desired_batch_size="))
		return !x->desired && take_i32(r, &x->desired) &&
		       accept_word(r, " actual_batch_size=") && take_i32(r, &x->actual) &&
		       x->actual && x->actual <= x->desired && accept_word(r, "\n");
	bool ok = accept_word(r, "input ")	? take_border(r, x->in, r->g->in, r->g->n_in)
		  : accept_word(r, "output ")	? take_border(r, x->out, r->g->out, r->g->n_out)
					: false;
	return ok && accept_word(r, "\n");
}

/* The border tensors as the model's own shapes say. */
static struct border_tensor *
borders_of_shapes(struct arena *a, const struct tfl_subgraph *g, const int *v, int n)
{
	struct border_tensor *x = anew(a, struct border_tensor, (size_t)n + 1);
	for (int k = 0; k < n; k++) {
		const struct tfl_tensor *t = &g->tensor[v[k]];
		x[k] = (struct border_tensor){ .type = t->type, .rank = t->rank };
		memcpy(x[k].dim, t->dim, sizeof(t->dim));
	}
	return x;
}

/* True if the first dimension of each tensor is the number of inputs of one run. */
static bool
holds_batch(const struct border_tensor *x, int n, int32_t batch)
{
	bool ok = true;
	for (int k = 0; k < n; k++)
		ok &= x[k].rank > 0 && x[k].dim[0] == batch;
	return ok;
}

bool
borders_read(struct arena *a, const struct tfl_model *m, struct border_tensors *out, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct bytes b = tfl_metadata(m, BORDERS_METADATA);
	*out = (struct border_tensors){ .actual = 1, .n_in = g->n_in, .n_out = g->n_out };
	out->in = borders_of_shapes(a, g, g->in, g->n_in);
	out->out = borders_of_shapes(a, g, g->out, g->n_out);
	if (!b.p)
		return true;
	struct reading r = { .p = (const char *)b.p, .end = (const char *)b.p + b.n,
			     .out = out, .g = g };
	bool ok = accept_word(&r, first_line);
	int line = 1;
	for (; ok && r.p < r.end; line++)
		ok = take_line(&r);
	if (!ok)
		return err_at(e, m->name, 0, "its metadata " BORDERS_METADATA
		    " can't be read, or describes other tensors: line %d", line);
	if (out->actual > 1 && (!holds_batch(out->in, out->n_in, out->actual) ||
				!holds_batch(out->out, out->n_out, out->actual)))
		return err_at(e, m->name, 0, "its metadata " BORDERS_METADATA
		    " says that a run takes %d inputs, but its shapes do not",
		    out->actual);
	return true;
}
