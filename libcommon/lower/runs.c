/* SPDX-License-Identifier: Apache-2.0 */
#include "lower/runs.h"

#include "graph/facts.h"

enum { MOST_STEPS = 1 << 22 }; /* limit of the work to find a period */

int
low_even(const int64_t *at, int n, bool down, int64_t *step)
{
	int run = 1;
	*step = 1;
	if (n < 2 || at[1] == at[0] || (at[1] < at[0] && !down))
		return run;
	*step = at[1] - at[0];
	while (run < n && at[run] - at[run - 1] == *step)
		run++;
	return run;
}

int
low_even_runs(const int64_t *at, int n, bool down)
{
	int runs = 0;
	int64_t step;
	for (int k = 0; k < n; runs++)
		k += low_even(at + k, n - k, down, &step);
	return runs;
}

static bool
is_like(const int32_t *key, int32_t a, int32_t b)
{
	return !key || key[a] == key[b];
}

/* Counts the runs among every period-th output, and stores them in v unless v is NULL. */
static int
cut_runs(const int32_t *map, const int32_t *key, int32_t n, int32_t period,
	 struct low_run *v)
{
	int count = 0;
	for (int32_t start = 0; start < period && start < n; start++)
		for (int32_t o = start; o < n;) {
			struct low_run r = { .n = 1, .out = o, .out_step = period,
					     .in = map[o] };
			o += period;
			if (o < n && is_like(key, o, r.out)) {
				r.in_step = map[o] - r.in;
				for (; o < n && map[o] - map[o - period] == r.in_step &&
				       is_like(key, o, r.out);
				     o += period)
					r.n++;
			}
			if (v)
				v[count] = r;
			count++;
		}
	return count;
}

/* Chooses the period that gives the fewest runs. */
int
low_runs(struct arena *a, const int32_t *map, const int32_t *key, int32_t n,
	 struct low_run **out)
{
	int32_t best = 1, least = INT32_MAX;
	for (int32_t period = 1; period <= n && period <= MOST_STEPS / n; period++) {
		int count = cut_runs(map, key, n, period, NULL);
		if (count < least) {
			least = count;
			best = period;
		}
		if (period >= least)
			break;
	}
	*out = anew(a, struct low_run, (size_t)least);
	return cut_runs(map, key, n, best, *out);
}

/* `map` lists positions of the axis of `from`, or, if spread, of the axis of `to`. */
static int
copy_axis(struct lower *l, const struct nd *from, const struct nd *to, int axis,
	  const int32_t *map, bool spread)
{
	struct low_run *v;
	int n = low_runs(l->a, map, NULL, (int32_t)(spread ? from : to)->dim[axis], &v);
	for (int i = 0; i < n; i++) {
		struct nd x = *from, y = *to;
		nd_slice(spread ? &y : &x, axis, v[i].in, v[i].n, v[i].in_step);
		nd_slice(spread ? &x : &y, axis, v[i].out, v[i].n, v[i].out_step);
		nd_copy(l, &x, &y);
	}
	return n;
}

int
low_copy_axis(struct lower *l, const struct nd *from, const struct nd *to, int axis,
	      const int32_t *map)
{
	return copy_axis(l, from, to, axis, map, false);
}

int
low_spread_axis(struct lower *l, const struct nd *from, const struct nd *to, int axis,
		const int32_t *map)
{
	return copy_axis(l, from, to, axis, map, true);
}

/* ---- pixels ---------------------------------------------------------------------------- */

static bool
is_same(const int32_t *map, int64_t in, int64_t out)
{
	for (int64_t o = 0; o < out; o++)
		if (map[o] != o)
			return false;
	return in == out;
}

static bool
is_doubled(const int32_t *map, int64_t in, int64_t out)
{
	for (int64_t o = 0; o < out; o++)
		if (map[o] != o / 2)
			return false;
	return out == 2 * in;
}

int
low_copy_pixels(struct lower *l, const struct nd *in, const struct nd *out,
		const int32_t *y, const int32_t *x)
{
	bool rows = !is_same(y, in->dim[1], out->dim[1]);
	bool cols = !is_same(x, in->dim[2], out->dim[2]);
	struct nd mid = *in;
	int n = 0;
	/* the NPU's nearest upscaling doubles rows and columns */
	struct g_operand from, to;
	if (graph_type_bytes(in->type) <= 2 && in->dim[0] == 1 &&
	    is_doubled(y, in->dim[1], out->dim[1]) && is_doubled(x, in->dim[2], out->dim[2]) &&
	    nd_operand(in, &from) && nd_operand(out, &to)) {
		struct g_op *o = low_copy(l, from, to);
		G_PUT(o, OP, upscale, (int)UPSCALE_NEAREST);
		return 1;
	}
	if (cols) {
		int64_t dim[4] = { in->dim[0], in->dim[1], out->dim[2], in->dim[3] };
		mid = rows ? nd_new(l, in->type, 4, dim) : *out;
		n = low_copy_axis(l, in, &mid, 2, x);
	}
	if (rows || !cols)
		n += low_copy_axis(l, &mid, out, 1, y);
	return n;
}
