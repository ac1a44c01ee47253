/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the float network on the calibration data and measures the range of each tensor.
 * Each worker has values of its own; the ranges are joined in the order of the samples.
 */
#include "quantize.h"

#include "base/attempt.h"
#include "base/cli.h"
#include "kernels/kernels.h"
#include "real/real.h"

#include <math.h>
#include <string.h>

struct worker {
	struct real *real;
	struct range *range; /* one per tensor, of this sequence */
	struct channel_sums *sums; /* one per tensor, of this sequence; NULL: none are wanted */
	struct histogram *histogram; /* one per tensor; NULL: ranges are measured */
};

struct pool {
	const struct tfl_subgraph *g;
	const struct op_plan *plan;
	struct worker *worker;
	size_t n_workers;
	enum method method;
	struct range *range; /* one per tensor, of all sequences so far */
	struct channel_sums *sums; /* the same of sums */
	size_t n_sequences;
};

static void
widen(struct range *r, float lo, float hi)
{
	r->lo = fminf(r->lo, lo);
	r->hi = fmaxf(r->hi, hi);
}

static void
note(struct worker *w, const struct tfl_subgraph *g, int tensor)
{
	const double *v = w->real->value[tensor];
	const struct tfl_tensor *t = &g->tensor[tensor];
	double lo = INFINITY, hi = -INFINITY;
	if (!v || t->type != TFL_FLOAT32 || t->data.p)
		return;
	if (w->histogram) {
		struct histogram *h = &w->histogram[tensor];
		double least = (double)h->range.lo, width = (double)h->range.hi - least;
		for (int64_t i = 0; i < tfl_elements(t) && width > 0; i++) {
			double at = (v[i] - least) / width * HISTOGRAM_BINS;
			h->bin[at < 0 ? 0 : at >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : (int)at]++;
		}
		return;
	}
	for (int64_t i = 0; i < tfl_elements(t); i++) {
		lo = v[i] < lo ? v[i] : isnan(v[i]) ? -INFINITY : lo;
		hi = v[i] > hi ? v[i] : hi;
	}
	widen(&w->range[tensor], (float)lo, (float)hi);
	struct channel_sums *s = w->sums ? &w->sums[tensor] : NULL;
	for (int64_t i = 0; s && s->n && i < tfl_elements(t); i++)
		s->sum[i % s->n] += v[i];
	if (s && s->n)
		s->count += (double)(tfl_elements(t) / s->n);
}

/* Sets the variables to their initial values, and runs the samples. */
static void
run_sequence(void *ctx, size_t worker, const struct sequence *s)
{
	const struct pool *p = ctx;
	const struct tfl_subgraph *g = p->g;
	struct worker *w = &p->worker[worker];
	real_reset(w->real);
	for (int k = 0; k < g->n_tensors; k++)
		w->range[k] = (struct range){ .lo = INFINITY, .hi = -INFINITY };
	for (int k = 0; w->sums && k < g->n_tensors; k++) {
		w->sums[k].count = 0;
		if (w->sums[k].n)
			memset(w->sums[k].sum, 0, (size_t)w->sums[k].n * sizeof(double));
	}
	for (size_t sample = 0; sample < s->n; sample++) {
		float *const *input = s->input + sample * (size_t)g->n_in;
		for (int k = 0; k < g->n_in; k++) {
			double *v = w->real->value[g->in[k]];
			for (int64_t i = 0; i < tfl_elements(&g->tensor[g->in[k]]); i++)
				v[i] = (double)input[k][i];
			note(w, g, g->in[k]);
		}
		for (int i = 0; i < g->n_ops; i++) {
			const struct tfl_op *op = &g->op[i];
			if (!p->plan[i].computed)
				continue; /* rules_check(): nobody reads these values */
			checkpoint();
			real_run(w->real, i);
			/* the cell state of an LSTM changes at each step of a run */
			if (rule_of(op->code)->kind == RULE_LSTM)
				widen(&w->range[op->in[LSTM_CELL]], (float)w->real->inside[i].lo,
				      (float)w->real->inside[i].hi);
			for (int k = 0; k < op->n_out; k++)
				note(w, g, op->out[k]);
			for (int k = 0; k < op->n_in; k++)
				if (op->in[k] >= 0 && g->tensor[op->in[k]].is_variable)
					note(w, g, op->in[k]);
		}
	}
}

/* Sums for the inputs of layers with weights. */
static struct channel_sums *
open_sums(struct arena *a, const struct tfl_subgraph *g)
{
	struct channel_sums *sums = anew(a, struct channel_sums, (size_t)g->n_tensors + 1);
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		const struct rule *r = rule_of(op->code);
		if (r->kind != RULE_WEIGHTS || op->in[r->input] < 0)
			continue;
		const struct tfl_tensor *t = &g->tensor[op->in[r->input]];
		const struct tfl_tensor *w = &g->tensor[op->in[r->weights]];
		if (op->code == TFL_FULLY_CONNECTED)
			t = w;
		struct channel_sums *s = &sums[op->in[r->input]];
		int32_t n = t->rank ? t->dim[t->rank - 1] : 0;
		/* layers that see other channels in the same tensor go without a correction */
		s->n = s->sum && s->n != n ? 0 : n;
		s->sum = anew(a, double, (size_t)n + 1);
	}
	return sums;
}

/*
 * Adds the ranges of a sequence.  The moving average is the mean of the first 100
 * sequences, and then decays by 1/100.
 */
static bool
join_ranges(void *ctx, size_t worker, const struct sequence *s, struct err *e)
{
	enum { MEMORY = 100 };
	struct pool *p = ctx;
	const struct worker *w = &p->worker[worker];
	(void)s;
	(void)e;
	size_t n = ++p->n_sequences;
	for (int k = 0; w->sums && !w->histogram && k < p->g->n_tensors; k++) {
		for (int32_t c = 0; c < w->sums[k].n; c++)
			p->sums[k].sum[c] += w->sums[k].sum[c];
		p->sums[k].count += w->sums[k].count;
	}
	for (int k = 0; k < p->g->n_tensors; k++) {
		struct range *r = &p->range[k], by = w->range[k];
		bool finite = isfinite(by.lo) && isfinite(by.hi) && isfinite(r->lo);
		if (p->method != RANGES_MOVING_AVERAGE || !finite) {
			widen(r, by.lo, by.hi);
			continue;
		}
		float part = 1 / (float)(n < MEMORY ? n : MEMORY);
		r->lo += (by.lo - r->lo) * part;
		r->hi += (by.hi - r->hi) * part;
	}
	return true;
}

/* Runs all samples once more, and chooses the ranges by the values' histograms. */
static bool
choose_ranges(struct arena *a, const struct options *o, struct pool *p, struct range *out,
	      struct err *e)
{
	size_t n = 0, n_tensors = (size_t)p->g->n_tensors;
	for (size_t i = 0; i < p->n_workers; i++) {
		p->worker[i].histogram = anew(a, struct histogram, n_tensors + 1);
		for (size_t k = 0; k < n_tensors; k++)
			p->worker[i].histogram[k] = (struct histogram){
				.range = out[k], .bin = anew(a, uint64_t, HISTOGRAM_BINS) };
	}
	bool ok = run_sequences(o, p->g, &(struct sequence_job){ p, run_sequence, join_ranges, 0, 0 },
				&n, e);
	for (size_t k = 0; ok && k < n_tensors; k++) {
		checkpoint();
		struct histogram *all = &p->worker[0].histogram[k];
		for (size_t i = 1; i < p->n_workers; i++)
			for (int b = 0; b < HISTOGRAM_BINS; b++)
				all->bin[b] += p->worker[i].histogram[k].bin[b];
		if (!p->g->tensor[k].is_variable)
			out[k] = range_of_histogram(all, o->ranges);
	}
	return ok;
}

/* Warns of samples that cannot give ranges of any use. */
static void
warn_of_samples(const struct options *o, const struct tfl_model *m, const struct ranges *r,
		const struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	bool all_constant = g->n_in > 0;
	if (o->random || o->quiet)
		return;
	for (int k = 0; k < g->n_in; k++)
		all_constant = all_constant && r->range[g->in[k]].lo == r->range[g->in[k]].hi;
	if (all_constant)
		cli_note_to(e, "warning", "%s: input %s is %g in all samples: the ranges are of no "
			    "use; use samples of real inputs", m->name, g->tensor[g->in[0]].name,
			    (double)r->range[g->in[0]].lo);
	else if (r->n == 1)
		cli_note_to(e, "warning", "%s: the ranges are those of one sample: the integers "
			    "clip larger values of others; use about 100 samples, of all classes",
			    m->name);
}

bool
calibrate(struct arena *a, const struct options *o, const struct tfl_model *m,
	  const struct op_plan *plan, struct ranges *out, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	size_t n = (size_t)g->n_tensors;
	struct arena *scratch = arena_open();
	*out = (struct ranges){ .range = anew(a, struct range, n + 1),
				.clipped = anew(a, struct range, n + 1),
				.sums = o->correct_bias ? open_sums(a, g) : NULL };
	struct real *real = open_real(scratch, m);
	struct pool p = { .g = g, .plan = plan, .n_workers = sequence_workers(o),
			  .method = o->ranges, .sums = out->sums };
	p.range = anew(scratch, struct range, n + 1);
	for (size_t k = 0; k < n; k++)
		p.range[k] = (struct range){ .lo = INFINITY, .hi = -INFINITY };
	p.worker = anew(scratch, struct worker, p.n_workers);
	for (size_t i = 0; i < p.n_workers; i++) {
		struct worker *w = &p.worker[i];
		w->real = real_share(scratch, real, REAL_NEEDED);
		w->range = anew(scratch, struct range, n + 1);
		w->sums = o->correct_bias ? open_sums(scratch, g) : NULL;
	}
	bool ok = run_sequences(o, g, &(struct sequence_job){ &p, run_sequence, join_ranges, 0, 0 },
				&out->n, e);
	if (ok && n) {
		memcpy(out->range, p.range, n * sizeof(*out->range));
		memcpy(out->clipped, p.range, n * sizeof(*out->range));
	}
	for (size_t i = 0; i < n && ok; i++) {
		const struct range *r = &out->range[i];
		if (r->lo <= r->hi && !(isfinite(r->lo) && isfinite(r->hi)))
			ok = err_at(e, m->name, 0, "subgraph 0: tensor %zu (%s): the network "
				    "computes values that are not finite", i, g->tensor[i].name);
	}
	if (ok)
		warn_of_samples(o, m, out, e);
	if (ok && o->ranges >= RANGES_PERCENTILE && o->type == ACTIVATIONS_INT8)
		ok = choose_ranges(scratch, o, &p, out->clipped, e);
	/* the feature maps of a partly quantized model keep their scales */
	for (size_t i = 0; i < n; i++) {
		const struct tfl_tensor *t = &g->tensor[i];
		const struct tfl_quant *q = &t->quant;
		if (t->type != TFL_FLOAT32 || t->data.p || q->n_scale != 1 || q->n_zero != 1 ||
		    t->is_variable)
			continue;
		float zero = (float)q->zero[0];
		out->clipped[i] = (struct range){ .lo = (INT8_MIN - zero) * q->scale[0],
						  .hi = (INT8_MAX - zero) * q->scale[0] };
	}
	arena_close(scratch);
	return ok;
}
