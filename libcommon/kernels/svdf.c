/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SVDF: each filter is a dot product over the input's features, kept for some steps,
 * followed by a dot product over these steps.  Groups of `rank` filters are summed.
 */
#include "kernels/call.h"

#include <string.h>

enum { INPUT, FEATURE, TIME, BIAS, STATE };

struct svdf {
	const struct tfl_tensor *in, *feature, *time, *bias, *state, *out;
	struct affine q_in, q_state, q_out;
	struct fixed_mult to_state, to_out;
	int64_t batch, inputs, filters, memory, rank, units;
};

static bool
matrix(struct call *c, const struct tfl_tensor *t, const char *role,
       int64_t rows, int64_t cols)
{
	return (t->rank == 2 && t->dim[0] == rows && t->dim[1] == cols) ||
	       call_mismatch(c, "%s (%s) is not %lld by %lld", role, t->name,
			     (long long)rows, (long long)cols);
}

static bool
check_svdf_shapes(struct call *c, struct svdf *s)
{
	s->rank = TFL_OPT(c->op, SVDFOptions, rank);
	if (s->in->rank != 2 || s->feature->rank != 2 || s->time->rank != 2)
		return call_mismatch(c, "input and weights are not matrices");
	s->batch = s->in->dim[0];
	s->inputs = s->in->dim[1];
	s->filters = s->feature->dim[0];
	s->memory = s->time->dim[1];
	if (s->rank < 1 || s->filters % s->rank || s->memory < 1)
		return call_mismatch(c,
				     "%lld filters are no multiple of rank %lld, or the "
				     "memory of %lld steps is empty",
				     (long long)s->filters, (long long)s->rank,
				     (long long)s->memory);
	s->units = s->filters / s->rank;
	return matrix(c, s->feature, "feature weights", s->filters,
		      s->inputs) &&
	       matrix(c, s->time, "time weights", s->filters, s->memory) &&
	       matrix(c, s->state, "state", s->batch, s->filters * s->memory) &&
	       matrix(c, s->out, "output", s->batch, s->units) &&
	       (!s->bias || tfl_elements(s->bias) == s->units ||
		call_mismatch(c, "bias has %lld elements",
			      (long long)tfl_elements(s->bias))) &&
	       call_work(c, s->batch * s->filters, s->inputs);
}

static bool
svdf_prepare(struct call *c, struct svdf *s)
{
	if (!call_in(c, STATE))
		return call_err(c, "input %d is absent", STATE);
	*s = (struct svdf){ .in = call_in(c, INPUT),
			    .feature = call_in(c, FEATURE),
			    .time = call_in(c, TIME),
			    .bias = call_in(c, BIAS),
			    .state = call_in(c, STATE),
			    .out = call_out(c, 0) };
	if (!call_type(c, s->in, "input", T_I8) ||
	    !call_type(c, s->out, "output", T_I8) ||
	    !call_type(c, s->feature, "feature weights", T_I8) ||
	    !call_type(c, s->time, "time weights", T_I8 | T_I16) ||
	    (s->bias && !call_type(c, s->bias, "bias", T_I32)) ||
	    !call_same_type(c, s->time, s->state))
		return false;
	if (!s->state->is_variable)
		return call_err(c, "state (%s) is not a variable",
				s->state->name);
	/* the scales are multiplied in float32, as in TFLite Micro */
	struct affine f, t;
	return check_svdf_shapes(c, s) && call_affine(c, s->in, "input", &s->q_in) &&
	       call_affine(c, s->feature, "feature weights", &f) &&
	       call_affine(c, s->time, "time weights", &t) &&
	       call_affine(c, s->state, "state", &s->q_state) &&
	       call_affine(c, s->out, "output", &s->q_out) &&
	       call_mult(c,
			 (double)(s->q_in.scale * f.scale / s->q_state.scale),
			 &s->to_state) &&
	       call_mult(c,
			 (double)(s->q_state.scale * t.scale / s->q_out.scale),
			 &s->to_out);
}

/* Computes the newest state of every filter; sums wrap at 32 bits. */
static void
run_feature(struct call *c, const struct svdf *s, int32_t *state)
{
	const int32_t *x = call_widen(c, INPUT), *w = call_widen(c, FEATURE);
	int32_t lo = type_min(s->state->type), hi = type_max(s->state->type);
	for (int64_t b = 0; b < s->batch; b++)
		for (int64_t f = 0; f < s->filters; f++) {
			uint32_t sum = 0;
			for (int64_t k = 0; k < s->inputs; k++)
				sum += (uint32_t)(w[f * s->inputs + k] *
						  (x[b * s->inputs + k] -
						   s->q_in.zero));
			int64_t v =
			    (int64_t)fixed_mbqm((int32_t)sum, s->to_state) +
			    s->q_state.zero;
			state[(b * s->filters + f + 1) * s->memory - 1] =
			    clamp_i32(v, lo, hi);
		}
}

static int32_t
run_time(const struct svdf *s, const int32_t *state, const int32_t *w,
	 int64_t unit, int32_t bias)
{
	uint32_t sum = (uint32_t)bias;
	int64_t n = s->rank * s->memory;
	for (int64_t k = 0; k < n; k++)
		sum += (uint32_t)w[unit * n + k] *
		       (uint32_t)(state[unit * n + k] - s->q_state.zero);
	return clamp_i32((int64_t)fixed_mbqm((int32_t)sum, s->to_out) +
			     s->q_out.zero,
			 INT8_MIN, INT8_MAX);
}

bool
kernel_svdf(struct call *c)
{
	struct svdf s;
	if (!svdf_prepare(c, &s))
		return false;
	if (c->check)
		return true;
	int32_t *state = call_widen(c, STATE);
	int64_t n = tfl_elements(s.state);
	if (n > 1)
		memmove(state, state + 1, (size_t)(n - 1) * sizeof(*state));
	run_feature(c, &s, state);
	narrow(s.state, c->io->in[STATE], state);

	const int32_t *w = call_widen(c, TIME);
	const int32_t *bias = s.bias ? c->io->in[BIAS] : NULL;
	int32_t *y = anew(c->a, int32_t, (size_t)tfl_elements(s.out));
	for (int64_t b = 0; b < s.batch; b++)
		for (int64_t u = 0; u < s.units; u++)
			y[b * s.units + u] =
			    run_time(&s, state + b * s.filters * s.memory, w, u,
				     bias ? bias[u] : 0);
	call_narrow(c, 0, y);
	return true;
}
