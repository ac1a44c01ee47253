/* SPDX-License-Identifier: Apache-2.0 */
/* Layouts of a compiled model's border tensors in memory: nputools-ends(5). */
#include "stream/ends.h"

#include "target/target.h"

#include <string.h>

struct end_shape
end_shape(const struct end *x)
{
	struct end_shape s = { 1, 1, 1, 1 };
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
steps_of(const struct end *x)
{
	struct end_shape s = end_shape(x);
	int64_t e = tfl_type_bytes(x->type);
	int64_t c = x->layout == END_NHCWB16 ? round_up_i64(s.c, BRICK) : s.c;
	struct steps r = { .y = e * s.w * c, .x = e * s.c };
	if (x->layout == END_NHCWB16)
		r.x = e * BRICK;
	if (x->layout == END_NCHW)
		r = (struct steps){ .y = e * s.w, .x = e };
	if (x->pixel_stride)
		r.x = x->pixel_stride;
	if (x->row_stride || x->pixel_stride)
		r.y = x->row_stride ? x->row_stride : s.w * r.x;
	r.n = r.y * s.h * (x->layout == END_NCHW ? s.c : 1);
	return r;
}

int64_t
end_offset(const struct end *x, int32_t n, int32_t y, int32_t col, int32_t c)
{
	struct end_shape s = end_shape(x);
	struct steps r = steps_of(x);
	int64_t e = tfl_type_bytes(x->type), at = n * r.n + y * r.y + col * r.x;
	if (x->layout == END_NHCWB16)
		return at + (int64_t)(c / BRICK) * s.w * BRICK * e + c % BRICK * e;
	return at + (x->layout == END_NCHW ? (int64_t)c * s.h * r.y : c * e);
}

int64_t
end_input_step(const struct end *x)
{
	return steps_of(x).n;
}

int64_t
end_bytes(const struct end *x)
{
	enum { MOST = 1 << 30 };
	struct end_shape s = end_shape(x);
	struct steps r = steps_of(x);
	if (s.n < 1 || s.h < 1 || s.w < 1 || s.c < 1)
		return 0;
	/* keeps the products below far from overflow */
	if (r.n > MOST || s.n > MOST / (r.n ? r.n : 1))
		return INT64_MAX;
	if (x->layout == END_NHCWB16)
		return s.n * r.n;
	return end_offset(x, s.n - 1, s.h - 1, s.w - 1, s.c - 1) + tfl_type_bytes(x->type);
}

int
end_memory_shape(const struct end *x, int32_t dim[TFL_MAX_RANK])
{
	struct end_shape s = end_shape(x);
	const int32_t bricks[] = { s.n, s.h, (s.c + BRICK - 1) / BRICK, s.w, BRICK };
	const int32_t planes[] = { s.n, s.c, s.h, s.w };
	const int32_t run[] = { 1, (int32_t)(end_bytes(x) / tfl_type_bytes(x->type)) };
	memcpy(dim, x->dim, sizeof(x->dim));
	if (!x->given)
		return x->rank;
	if (x->layout == END_NHCWB16)
		return memcpy(dim, bricks, sizeof(bricks)), ARRAY_LEN(bricks);
	if (x->layout == END_NCHW)
		return memcpy(dim, planes, sizeof(planes)), ARRAY_LEN(planes);
	return memcpy(dim, run, sizeof(run)), ARRAY_LEN(run);
}

/* Copies element by element, or pixel by pixel where the channels of a pixel are adjacent. */
static void
copy(const struct end *x, uint8_t *values, uint8_t *memory, bool pack)
{
	struct end_shape s = end_shape(x);
	int32_t run = x->layout == END_NHWC ? s.c : 1;
	size_t bytes = (size_t)run * (size_t)tfl_type_bytes(x->type);
	for (int32_t n = 0; n < s.n; n++)
		for (int32_t y = 0; y < s.h; y++)
			for (int32_t i = 0; i < s.w; i++)
				for (int32_t c = 0; c < s.c; c += run, values += bytes) {
					uint8_t *at = memory + end_offset(x, n, y, i, c);
					memcpy(pack ? at : values, pack ? values : at, bytes);
				}
}

void
end_pack(const struct end *x, const void *values, void *memory)
{
	if (x->given)
		copy(x, (uint8_t *)(uintptr_t)values, memory, true);
	else
		memcpy(memory, values, (size_t)end_bytes(x));
}

void
end_unpack(const struct end *x, const void *memory, void *values)
{
	if (x->given)
		copy(x, values, (uint8_t *)(uintptr_t)memory, false);
	else
		memcpy(values, memory, (size_t)end_bytes(x));
}

static bool
any_given(const struct ends *x)
{
	bool any = false;
	for (int k = 0; k < x->n_in; k++)
		any |= x->in[k].given;
	for (int k = 0; k < x->n_out; k++)
		any |= x->out[k].given;
	return any;
}

static void
set_shapes(struct tfl_tensor *t, const int *v, const struct end *x, int n)
{
	for (int k = 0; k < n; k++)
		if (x[k].given) {
			t[v[k]].rank = x[k].rank;
			memcpy(t[v[k]].dim, x[k].dim, sizeof(x[k].dim));
		}
}

const struct tfl_model *
ends_values(struct arena *a, const struct tfl_model *m, const struct ends *x)
{
	if (!any_given(x))
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
