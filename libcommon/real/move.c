/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that only move elements.  Their reference kernel runs once, on element
 * numbers in place of elements.  Its output tells the source of each output element for
 * all later values.
 */
#include "real/real.h"

#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "tflite/tflite.h"

#include <string.h>

struct trial { /* a copy of the operator whose data tensors are INT32 */
	struct tfl_subgraph g;
	void **in, **out;
	int64_t n_in, n_out; /* number of elements of all inputs, of all outputs */
};

/* Data tensors have the output's type; positions and shapes have another type. */
static bool
is_moved_tensor(const struct tfl_subgraph *g, const struct tfl_op *op, const struct tfl_tensor *t)
{
	return is_real(t) && t->type == g->tensor[op->out[0]].type;
}

static void
make_words(struct tfl_tensor *t)
{
	t->type = TFL_INT32;
	t->data = (struct bytes){ 0 };
	t->quant = (struct tfl_quant){ 0 };
}

/* Returns false if the network computes an input that determines the moves. */
static bool
number_elements(struct arena *a, const struct tfl_subgraph *g, const struct tfl_op *op,
		struct trial *t)
{
	t->g = *g;
	t->g.tensor = anew(a, struct tfl_tensor, (size_t)g->n_tensors);
	memcpy(t->g.tensor, g->tensor, (size_t)g->n_tensors * sizeof(*g->tensor));
	t->in = anew(a, void *, (size_t)op->n_in + 1);
	t->out = anew(a, void *, (size_t)op->n_out + 1);
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *s = op->in[k] < 0 ? NULL : &g->tensor[op->in[k]];
		if (!s)
			continue;
		if (!is_moved_tensor(g, op, s)) {
			if (!s->data.p)
				return false;
			t->in[k] = (void *)(uintptr_t)s->data.p;
			continue;
		}
		int64_t n = tfl_elements(s);
		uint8_t *v = arena_alloc(a, (size_t)n * 4 + 4, 4);
		for (int64_t i = 0; i < n; i++)
			store_le32(v + i * 4, (uint32_t)(t->n_in + i + 1));
		t->n_in += n;
		t->in[k] = v;
		make_words(&t->g.tensor[op->in[k]]);
	}
	for (int k = 0; k < op->n_out; k++) {
		int64_t n = tfl_elements(&g->tensor[op->out[k]]);
		t->out[k] = arena_alloc(a, (size_t)n * 4 + 4, 4);
		t->n_out += n;
		make_words(&t->g.tensor[op->out[k]]);
	}
	return t->n_in < INT32_MAX;
}

int32_t *
real_sources(struct arena *a, const struct tfl_subgraph *g, int op)
{
	const struct tfl_op *o = &g->op[op];
	struct arena *scratch = arena_open();
	struct trial t = { 0 };
	struct err e = { 0 };
	int32_t *sources = NULL, *at;
	if (number_elements(scratch, g, o, &t)) {
		const struct kernel_io io = { .in = t.in, .out = t.out };
		if (kernel_eval(&t.g, o, &io, &e))
			sources = anew(a, int32_t, (size_t)t.n_out + 1);
	}
	at = sources;
	for (int k = 0; sources && k < o->n_out; k++) {
		int64_t n = tfl_elements(&g->tensor[o->out[k]]);
		for (int64_t i = 0; i < n; i++)
			*at++ = (int32_t)load_le32((uint8_t *)t.out[k] + i * 4);
	}
	arena_close(scratch);
	return sources;
}

/* Source 0 means no element: padding writes 0 there. */
void
real_move(const struct real_op *o)
{
	const int32_t *sources = o->r->sources[o->index];
	const struct tfl_subgraph *g = o->r->g;
	for (int k = 0; k < o->op->n_out; k++) {
		double *y = real_y(o, k);
		int64_t n = tfl_elements(real_out(o, k));
		for (int64_t i = 0; i < n; i++) {
			int64_t from = *sources++ - (int64_t)1;
			double v = 0;
			for (int j = 0; from >= 0 && j < o->op->n_in; j++) {
				const struct tfl_tensor *t = real_in(o, j);
				if (!t || !is_moved_tensor(g, o->op, t))
					continue;
				if (from < tfl_elements(t)) {
					v = real_x(o, j)[from];
					break;
				}
				from -= tfl_elements(t);
			}
			if (y)
				y[i] = v;
		}
	}
}
