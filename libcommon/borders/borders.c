/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of a compiled model's border tensors in memory: nputools-ends(5). */
#include "borders/borders.h"

#include "base/fixed.h"
#include "target/shape.h"
#include "target/target.h"
#include "tflite/tflite.h"

#include <string.h>

struct border_shape
border_shape(const struct border_tensor *x)
{
	struct border_shape s = { 1, 1, 1, 1 };
	int64_t h = 1;
	if (x->rank > 0)
		s.c = x->dim[x->rank - 1];
	if (x->rank > 1)
		s.n = x->dim[0];
	if (x->rank > 2)
		s.w = x->dim[x->rank - 2];
	for (int i = 1; i + 2 < x->rank && h <= INT32_MAX; i++)
		h *= x->dim[i];
	s.h = h > INT32_MAX ? INT32_MAX : (int32_t)h;
	return s;
}

struct steps { /* bytes from one input, row or column to the next */
	int64_t n, y, x;
};

static struct steps
steps_of(const struct border_tensor *x)
{
	struct border_shape s = border_shape(x);
	int64_t e = tfl_type_bytes(x->type);
	int64_t c = x->layout == BORDER_NHCWB16 ? round_up_i64(s.c, BRICK) : s.c;
	struct steps r = { .y = e * s.w * c, .x = e * s.c };
	if (x->layout == BORDER_NHCWB16)
		r.x = e * BRICK;
	if (x->layout == BORDER_NCHW)
		r = (struct steps){ .y = e * s.w, .x = e };
	if (x->pixel_stride)
		r.x = x->pixel_stride;
	if (x->row_stride || x->pixel_stride)
		r.y = x->row_stride ? x->row_stride : s.w * r.x;
	r.n = r.y * s.h * (x->layout == BORDER_NCHW ? s.c : 1);
	return r;
}

int64_t
border_offset(const struct border_tensor *x, int32_t n, int32_t y, int32_t col, int32_t c)
{
	struct border_shape s = border_shape(x);
	struct steps r = steps_of(x);
	int64_t e = tfl_type_bytes(x->type), at = n * r.n + y * r.y + col * r.x;
	if (x->layout == BORDER_NHCWB16)
		return at + (int64_t)(c / BRICK) * s.w * BRICK * e + c % BRICK * e;
	return at + (x->layout == BORDER_NCHW ? (int64_t)c * s.h * r.y : c * e);
}

int64_t
border_input_step(const struct border_tensor *x)
{
	return steps_of(x).n;
}

int64_t
border_bytes(const struct border_tensor *x)
{
	enum { MOST = 1 << 30 };
	struct border_shape s = border_shape(x);
	struct steps r = steps_of(x);
	if (s.n < 1 || s.h < 1 || s.w < 1 || s.c < 1)
		return 0;
	/* keeps the products below far from overflow */
	if (r.n > MOST || s.n > MOST / (r.n ? r.n : 1))
		return INT64_MAX;
	if (x->layout == BORDER_NHCWB16)
		return s.n * r.n;
	return border_offset(x, s.n - 1, s.h - 1, s.w - 1, s.c - 1) + tfl_type_bytes(x->type);
}

int
border_memory_shape(const struct border_tensor *x, int32_t dim[TFL_MAX_RANK])
{
	struct border_shape s = border_shape(x);
	const int32_t bricks[] = { s.n, s.h, (s.c + BRICK - 1) / BRICK, s.w, BRICK };
	const int32_t planes[] = { s.n, s.c, s.h, s.w };
	const int32_t run[] = { 1, (int32_t)(border_bytes(x) / tfl_type_bytes(x->type)) };
	memcpy(dim, x->dim, sizeof(x->dim));
	if (!x->has_record)
		return x->rank;
	if (x->layout == BORDER_NHCWB16)
		return memcpy(dim, bricks, sizeof(bricks)), ARRAY_LEN(bricks);
	if (x->layout == BORDER_NCHW)
		return memcpy(dim, planes, sizeof(planes)), ARRAY_LEN(planes);
	return memcpy(dim, run, sizeof(run)), ARRAY_LEN(run);
}

/* Copies element by element, or pixel by pixel where the channels of a pixel are adjacent. */
static void
copy(const struct border_tensor *x, uint8_t *values, uint8_t *memory, bool pack)
{
	struct border_shape s = border_shape(x);
	int32_t run = x->layout == BORDER_NHWC ? s.c : 1;
	size_t bytes = (size_t)run * (size_t)tfl_type_bytes(x->type);
	for (int32_t n = 0; n < s.n; n++)
		for (int32_t y = 0; y < s.h; y++)
			for (int32_t i = 0; i < s.w; i++)
				for (int32_t c = 0; c < s.c; c += run, values += bytes) {
					uint8_t *at = memory + border_offset(x, n, y, i, c);
					memcpy(pack ? at : values, pack ? values : at, bytes);
				}
}

void
border_pack(const struct border_tensor *x, const void *values, void *memory)
{
	if (x->has_record)
		copy(x, (uint8_t *)(uintptr_t)values, memory, true);
	else
		memcpy(memory, values, (size_t)border_bytes(x));
}

void
border_unpack(const struct border_tensor *x, const void *memory, void *values)
{
	if (x->has_record)
		copy(x, values, (uint8_t *)(uintptr_t)memory, false);
	else
		memcpy(values, memory, (size_t)border_bytes(x));
}

static void
set_shapes(struct tfl_tensor *t, const int *v, const struct border_tensor *x, int n)
{
	for (int k = 0; k < n; k++)
		if (x[k].has_record) {
			t[v[k]].rank = x[k].rank;
			memcpy(t[v[k]].dim, x[k].dim, sizeof(x[k].dim));
		}
}

const struct tfl_model *
borders_value_model(struct arena *a, const struct tfl_model *m, const struct border_tensors *x)
{
	bool any = false;
	for (int k = 0; k < x->n_in; k++)
		any |= x->in[k].has_record;
	for (int k = 0; k < x->n_out; k++)
		any |= x->out[k].has_record;
	if (!any)
		return m;
	struct tfl_model *n = anew(a, struct tfl_model, 1);
	*n = *m;
	n->subgraph = anew(a, struct tfl_subgraph, (size_t)m->n_subgraphs);
	memcpy(n->subgraph, m->subgraph, (size_t)m->n_subgraphs * sizeof(*m->subgraph));
	struct tfl_subgraph *g = &n->subgraph[0];
	struct tfl_tensor *t = anew(a, struct tfl_tensor, (size_t)g->n_tensors);
	memcpy(t, g->tensor, (size_t)g->n_tensors * sizeof(*t));
	g->tensor = t;
	set_shapes(t, g->in, x->in, x->n_in);
	set_shapes(t, g->out, x->out, x->n_out);
	return n;
}
