/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays for the values of a network.  In real numbers, all feature maps together can have
 * hundreds of times the memory of the model.  If values are needed only until the last
 * operator that reads them, arrays go from tensor to tensor.
 */
#include "real/real.h"

#include "base/arena.h"
#include "tflite/tflite.h"

enum { NO_ARRAY = -1 };

struct array {
	double *v;
	size_t n;
	int next; /* in the list of free arrays */
};

struct sharing {
	struct real *own;
	struct array *array; /* one per tensor at most */
	int n_arrays, free;
	int *of;   /* one per tensor: its array */
	int *last; /* one per tensor: the last operator that reads it; n_ops: it stays */
};

static size_t
size_of(const struct tfl_tensor *t)
{
	return (size_t)tfl_elements(t) + 1;
}

/* The tensors that no operator writes, or that are read after the run, stay. */
static void
find_lives(struct sharing *s, const struct tfl_subgraph *g)
{
	for (int t = 0; t < g->n_tensors; t++)
		s->last[t] = g->n_ops;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_out; k++)
			if (!g->tensor[g->op[i].out[k]].is_variable)
				s->last[g->op[i].out[k]] = i;
	for (int k = 0; k < g->n_in; k++)
		if (!g->tensor[g->in[k]].is_variable)
			s->last[g->in[k]] = 0;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++) {
			int t = g->op[i].in[k];
			if (t >= 0 && s->last[t] < i)
				s->last[t] = i;
		}
	for (int k = 0; k < g->n_out; k++)
		s->last[g->out[k]] = g->n_ops;
}

/* Takes the smallest free array that is large enough, or a new one. */
static void
take(struct sharing *s, int tensor)
{
	const struct tfl_tensor *t = &s->own->g->tensor[tensor];
	int *best = NULL;
	if (!is_real(t) || s->own->value[tensor])
		return;
	for (int *at = &s->free; *at != NO_ARRAY; at = &s->array[*at].next)
		if (s->array[*at].n >= size_of(t) &&
		    (!best || s->array[*at].n < s->array[*best].n))
			best = at;
	int i = best ? *best : s->n_arrays;
	if (best) {
		*best = s->array[i].next;
	} else {
		s->array[i] = (struct array){ .n = size_of(t),
					      .v = anew(s->own->a, double, size_of(t)) };
		s->n_arrays++;
	}
	s->of[tensor] = i;
	s->own->value[tensor] = s->array[i].v;
}

static void
give_back(struct sharing *s, int tensor, int op)
{
	if (tensor < 0 || s->last[tensor] != op || s->of[tensor] == NO_ARRAY)
		return;
	s->array[s->of[tensor]].next = s->free;
	s->free = s->of[tensor];
	s->of[tensor] = NO_ARRAY; /* an operator may read a tensor twice */
}

static void
share_arrays(struct real *own)
{
	const struct tfl_subgraph *g = own->g;
	size_t n = (size_t)g->n_tensors + 1;
	struct arena *a = arena_open();
	struct sharing s = { .own = own, .array = anew(a, struct array, n), .free = NO_ARRAY,
			     .of = anew(a, int, n), .last = anew(a, int, n) };
	for (int t = 0; t < g->n_tensors; t++)
		s.of[t] = NO_ARRAY;
	find_lives(&s, g);
	for (int k = 0; k < g->n_in; k++)
		take(&s, g->in[k]);
	for (int i = 0; i < g->n_ops; i++) {
		for (int k = 0; k < g->op[i].n_out; k++)
			take(&s, g->op[i].out[k]);
		for (int k = 0; k < g->op[i].n_out; k++)
			give_back(&s, g->op[i].out[k], i);
		for (int k = 0; k < g->op[i].n_in; k++)
			give_back(&s, g->op[i].in[k], i);
	}
	arena_close(a);
}

struct real *
real_share(struct arena *a, const struct real *r, enum real_life life)
{
	const struct tfl_subgraph *g = r->g;
	struct real *own = anew(a, struct real, 1);
	*own = *r;
	own->a = a;
	own->value = anew(a, double *, (size_t)g->n_tensors + 1);
	own->inside = anew(a, struct real_span, (size_t)g->n_ops + 1);
	for (int i = 0; i < g->n_tensors; i++)
		own->value[i] = r->value[i];
	if (life == REAL_NEEDED)
		share_arrays(own);
	for (int i = 0; i < g->n_tensors; i++)
		if (is_real(&g->tensor[i]) && !own->value[i])
			own->value[i] = anew(a, double, size_of(&g->tensor[i]));
	for (size_t i = 0; i < r->n_states; i++)
		own->value[r->state[i].handle] = anew(a, double, r->state[i].n + 1);
	return own;
}
