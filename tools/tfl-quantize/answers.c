/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of a network that classifies: which samples have one, and what it is. */
#include "quantize.h"

enum answers
answers_of(const struct tfl_model *m, const struct op_plan *plan)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_tensor *t = g->n_out ? &g->tensor[g->out[0]] : NULL;
	if (!t || t->type != TFL_FLOAT32 || (t->producer >= 0 && !plan[t->producer].computed))
		return ANSWERS_UNKNOWN;
	int64_t n = tfl_elements(t);
	int n_long = 0;
	for (int i = 0; i < t->rank; i++)
		n_long += t->dim[i] > 1;
	if (n_long > 1)
		return ANSWERS_NONE;
	bool is_probability = t->producer >= 0 && g->op[t->producer].code == TFL_LOGISTIC;
	bool is_vector = n > 1 && t->dim[t->rank - 1] == n;
	return is_vector || (n == 1 && is_probability) ? ANSWERS_OF_ALL : ANSWERS_OF_LABELLED;
}

int
answer_of(const double *v, int64_t n)
{
	int64_t best = 0;
	for (int64_t i = 1; i < n; i++)
		if (v[i] > v[best])
			best = i;
	return n == 1 ? v[0] > 0.5 : (int)best;
}

const char *
output_shape(struct arena *a, const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	const struct tfl_tensor *t = &g->tensor[g->out[0]];
	const char *s = "";
	for (int i = 0; i < t->rank; i++)
		s = arena_printf(a, "%s%s%d", s, i ? "," : "", t->dim[i]);
	return arena_printf(a, "[%s]", s);
}
