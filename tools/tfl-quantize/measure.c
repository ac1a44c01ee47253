/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the float network and the integer network on the same samples and compares them.
 * A second float network takes the integer network's values as the inputs of each operator:
 * its difference is the noise of this operator alone, from its weights and its output.
 */
#include "quantize.h"

#include "base/functions.h"
#include "real/real.h"
#include "sim/sim.h"

#include <math.h>
#include <string.h>

struct worker { /* results of one sequence */
	struct arena *a;
	struct real *real, *alone; /* alone NULL: only answers are compared */
	struct sim *sim;
	struct tensor_figures *tensor; /* one per tensor */
	int *answer, *integer_answer;  /* one per sample */
	struct err e;
};

struct bench {
	const struct options *o;
	const struct tfl_subgraph *g, *integer; /* of both networks */
	const struct op_plan *plan;
	const int *index; /* integer tensor of each float tensor; -1: none */
	struct worker *worker;
	struct figures *out;
	bool has_answers; /* output 0 of both networks has the values of an answer */
	bool has_floats;  /* out->answer has the float network's answers */
	bool has_figures; /* of the outputs */
	bool is_measured; /* figures of all tensors are wanted */
};

double
noise_ratio_db(double signal, double noise)
{
	if (noise == 0)
		return INFINITY;
	const double per_ln = 4.342944819032518; /* 10 / ln 10 */
	return signal > 0 && isfinite(noise) ? per_ln * real_log(signal / noise) : -INFINITY;
}

/* ---- values ------------------------------------------------------------------------- */

/* the integer network's values of tensor t of the float network */
static void
take_values(const struct bench *b, struct worker *w, int t, double *to)
{
	int k = b->index[t];
	if (k >= 0 && is_real(&b->integer->tensor[k]))
		real_from_elements(&b->integer->tensor[k], sim_tensor(w->sim, k), to);
}

static void
add_values(struct tensor_figures *f, const struct tfl_tensor *t, const double *real,
	   const double *alone, const double *got, int64_t n)
{
	bool narrow = t->type == TFL_INT8, integer = narrow || t->type == TFL_INT16;
	double scale = integer ? (double)t->quant.scale[0] : 1;
	double zero = integer ? (double)t->quant.zero[0] : 0;
	double lo = narrow ? INT8_MIN : INT16_MIN, hi = narrow ? INT8_MAX : INT16_MAX;
	for (int64_t i = 0; i < n; i++) {
		double q = real[i] / scale + zero;
		f->signal += real[i] * real[i];
		f->noise += (real[i] - got[i]) * (real[i] - got[i]);
		f->own_signal += alone[i] * alone[i];
		f->own_noise += (alone[i] - got[i]) * (alone[i] - got[i]);
		/* fixed scales have no integer for 1.0, which is one step beyond the greatest one */
		f->clipped += integer && (q < lo - 1 || q > hi + 1);
	}
	f->n += (uint64_t)n;
}

/* ---- a sequence --------------------------------------------------------------------- */

static void
compare_operator(const struct bench *b, struct worker *w, int i)
{
	const struct tfl_op *op = &b->g->op[i];
	struct arena *a = arena_open();
	real_run(w->alone, i);
	for (int k = 0; k < op->n_out; k++) {
		int t = op->out[k];
		double *own = w->alone->value[t];
		int64_t n = tfl_elements(&b->g->tensor[t]);
		if (!own || b->index[t] < 0)
			continue;
		double *got = anew(a, double, (size_t)n);
		take_values(b, w, t, got);
		add_values(&w->tensor[t], &b->integer->tensor[b->index[t]], w->real->value[t], own,
			   got, n);
		memcpy(own, got, (size_t)n * sizeof(*got));
	}
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0 && b->g->tensor[op->in[k]].is_variable)
			take_values(b, w, op->in[k], w->alone->value[op->in[k]]);
	arena_close(a);
}

static void
compare_inputs(const struct bench *b, struct worker *w, float *const *input)
{
	for (int k = 0; k < b->g->n_in; k++) {
		int t = b->g->in[k];
		int64_t n = tfl_elements(&b->g->tensor[t]);
		for (int64_t i = 0; i < n && !b->has_floats; i++)
			w->real->value[t][i] = (double)input[k][i];
		const struct tfl_tensor *x = &b->integer->tensor[b->integer->in[k]];
		uint8_t *to = sim_tensor(w->sim, b->integer->in[k]);
		bool narrow = x->type == TFL_INT8;
		float scale = x->quant.n_scale ? x->quant.scale[0] : 1;
		float zero = x->quant.n_zero ? (float)x->quant.zero[0] : 0;
		float lo = narrow ? INT8_MIN : INT16_MIN, hi = narrow ? INT8_MAX : INT16_MAX;
		for (int64_t i = 0; i < tfl_elements(x); i++) {
			float q = fminf(fmaxf(roundf(input[k][i] / scale) + zero, lo), hi);
			if (x->type == TFL_FLOAT32)
				store_f32(to + 4 * i, input[k][i]);
			else if (narrow)
				to[i] = (uint8_t)(int8_t)q;
			else
				store_le16(to + 2 * i, (uint16_t)(int16_t)q);
		}
		if (!b->is_measured)
			continue;
		/* QUANTIZE of a float interface has not run yet */
		real_from_elements(x, to, w->alone->value[t]);
		add_values(&w->tensor[t], x, w->real->value[t], w->real->value[t],
			   w->alone->value[t], n);
	}
}

static void
run_sequence(void *ctx, size_t worker, const struct sequence *s)
{
	const struct bench *b = ctx;
	struct worker *w = &b->worker[worker];
	if (b->has_figures)
		memset(w->tensor, 0, (size_t)b->g->n_tensors * sizeof(*w->tensor));
	if (!b->has_floats)
		real_reset(w->real);
	if (w->alone)
		real_reset(w->alone);
	sim_reset(w->sim);
	for (size_t at = 0; at < s->n; at++) {
		compare_inputs(b, w, s->input + at * (size_t)b->g->n_in);
		if (!sim_invoke(w->sim, NULL, &w->e))
			return;
		for (int i = 0; i < b->g->n_ops && !b->has_floats; i++)
			if (b->plan[i].computed)
				real_run(w->real, i);
		for (int i = 0; i < b->g->n_ops && b->is_measured; i++)
			if (b->plan[i].computed)
				compare_operator(b, w, i);
		struct arena *a = arena_open();
		for (int k = 0; k < b->g->n_out && b->has_figures && !b->is_measured; k++) {
			int t = b->g->out[k], i = b->index[t];
			const double *real = w->real->value[t];
			int64_t n = tfl_elements(&b->g->tensor[t]);
			if (!real || i < 0 || !is_real(&b->integer->tensor[i]))
				continue;
			double *got = anew(a, double, (size_t)n);
			take_values(b, w, t, got);
			add_values(&w->tensor[t], &b->integer->tensor[i], real, real, got, n);
		}
		if (b->has_answers) {
			int out = b->integer->out[0];
			int64_t n = tfl_elements(&b->integer->tensor[out]);
			double *v = anew(a, double, (size_t)n);
			real_from_elements(&b->integer->tensor[out], sim_tensor(w->sim, out), v);
			w->integer_answer[at] = answer_of(v, n);
			if (!b->has_floats)
				w->answer[at] = answer_of(w->real->value[b->g->out[0]], n);
		}
		arena_close(a);
	}
}

/* ---- all samples -------------------------------------------------------------------- */

static bool
join_sequence(void *ctx, size_t worker, const struct sequence *s, struct err *e)
{
	struct bench *b = ctx;
	struct worker *w = &b->worker[worker];
	struct figures *f = b->out;
	if (w->e.status)
		return err_at(e, w->e.place, 0, "%s", w->e.text);
	for (int t = 0; t < b->g->n_tensors && b->has_figures; t++) {
		struct tensor_figures *to = &f->tensor[t], *by = &w->tensor[t];
		to->signal += by->signal;
		to->noise += by->noise;
		to->own_signal += by->own_signal;
		to->own_noise += by->own_noise;
		to->n += by->n;
		to->clipped += by->clipped;
	}
	for (size_t i = 0; i < s->n && b->has_answers; i++) {
		size_t sample = s->first + i;
		int64_t classes = tfl_elements(&b->integer->tensor[b->integer->out[0]]);
		double label = s->label[i];
		if (!b->has_floats && sample == f->capacity) {
			int *more = anew(f->a, int, 2 * f->capacity + 64);
			if (f->capacity)
				memcpy(more, f->answer, f->capacity * sizeof(*more));
			f->answer = more;
			f->capacity = 2 * f->capacity + 64;
		}
		if (!b->has_floats)
			f->answer[sample] = w->answer[i];
		f->equal += f->answer[sample] == w->integer_answer[i];
		if (isnan(label))
			continue;
		if (label >= (double)(classes == 1 ? 2 : classes))
			return err_at(e, file_name(b->o->model), 0, "label %.0f of sample %zu, but output 0 "
				      "has %lld values", label, sample, (long long)classes);
		f->labelled++;
		f->right_float += f->answer[sample] == (int)label;
		f->right_integer += w->integer_answer[i] == (int)label;
	}
	return true;
}

static bool
open_workers(struct arena *a, struct bench *b, const struct tfl_model *m, const struct result *r,
	     struct err *e)
{
	size_t n = sequence_workers(b->o), n_tensors = (size_t)b->g->n_tensors;
	struct real *real = open_real(a, m);
	b->worker = anew(a, struct worker, n);
	for (size_t i = 0; i < n; i++) {
		struct worker *w = &b->worker[i];
		/* compare_operator() reads all values of the first network */
		*w = (struct worker){ .real = real_share(a, real, b->is_measured ? REAL_ALL
										: REAL_NEEDED),
				      .answer = anew(a, int, b->o->frames),
				      .integer_answer = anew(a, int, b->o->frames) };
		if (b->is_measured)
			w->alone = real_share(a, real, REAL_NEEDED);
		if (b->has_figures)
			w->tensor = anew(a, struct tensor_figures, n_tensors + 1);
		if (!sim_open_to_compare(a, r->m, &w->sim, e))
			return false;
	}
	return true;
}

bool
compare_networks(const struct options *o, const struct tfl_model *m,
		 const struct op_plan *plan, const struct result *r, enum compared what,
		 size_t most, size_t of, struct figures *f, struct err *e)
{
	struct arena *a = arena_open();
	struct bench b = { .o = o, .g = &m->subgraph[0], .integer = &r->m->subgraph[0],
			   .plan = plan, .index = r->n->index, .out = f,
			   .has_floats = f->capacity > 0 && what == COMPARE_ANSWERS,
			   .has_figures = what >= COMPARE_OUTPUTS,
			   .is_measured = what == COMPARE_TENSORS };
	const struct sequence_job job = { &b, run_sequence, join_sequence, most, of };
	f->equal = f->labelled = f->right_float = f->right_integer = 0;
	if (b.has_figures)
		f->tensor = anew(f->a, struct tensor_figures, (size_t)b.g->n_tensors + 1);
	enum answers answers = answers_of(m, plan);
	b.has_answers = answers >= ANSWERS_OF_LABELLED && b.integer->n_out &&
			is_real(&b.integer->tensor[b.integer->out[0]]);
	bool ok = !o->labels || answers != ANSWERS_NONE ||
		  err_at(e, file_name(o->labels), 0, "the labels are classes, but output 0 of shape "
			 "%s is not one vector of classes", output_shape(a, m));
	ok = ok && open_workers(a, &b, m, r, e) && run_sequences(o, b.g, &job, &f->n, e);
	f->has_answers = b.has_answers && (answers == ANSWERS_OF_ALL || f->labelled);
	arena_close(a);
	return ok;
}
