/* SPDX-License-Identifier: Apache-2.0 */
/* GATHER, GATHER_ND, SCATTER_ND: nputools-lowering(7) 3.4; all only copy. */
#include "kernels/call.h"
#include "kernels/view.h"

#include <string.h>

bool
kernel_gather(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	int axis;
	int64_t n = tfl_elements(call_in(c, 1));
	int64_t batch = TFL_OPT(c->op, GatherOptions, batch_dims);
	/* Indices may be computed; their values are checked when they exist. */
	bool has_indices = !c->check || call_in(c, 1)->data.p;
	const int64_t *index = has_indices ? call_indices(c, 1, "indices", &n) : NULL;
	if ((has_indices && !index) || !call_movable(c, in, out) ||
	    (!has_indices && !call_type(c, call_in(c, 1), "indices", T_I32 | T_I64)) ||
	    !call_axis(c, TFL_OPT(c->op, GatherOptions, axis), in->rank, &axis))
		return false;
	if (batch < 0 || batch > axis || batch > call_in(c, 1)->rank)
		return call_err(c, "%lld batch dimensions: more than the axis or the "
				   "rank of the indices allows", (long long)batch);
	int64_t n_batch = 1;
	for (int d = 0; d < batch; d++) {
		n_batch *= in->dim[d];
		if (call_in(c, 1)->dim[d] != in->dim[d])
			return call_mismatch(c, "batch dimension %d of input and "
						"indices differs", d);
	}
	struct around a = around_axis(in, axis);
	int64_t per = n_batch ? n / n_batch : 0,
		outer = n_batch ? a.outer / n_batch : 0;
	int64_t picked;
	if (__builtin_mul_overflow(n_batch * outer, per, &picked) ||
	    __builtin_mul_overflow(picked, a.inner, &picked) ||
	    picked != tfl_elements(out))
		return call_mismatch(c, "the output has %lld elements",
				     (long long)tfl_elements(out));
	size_t bytes = element_size(in) * (size_t)a.inner;
	size_t to = 0; /* an offset, as out is NULL in a check */
	for (int64_t i = 0; has_indices && i < n_batch * outer; i++)
		for (int64_t k = 0; k < per; k++, to += bytes) {
			int64_t at = index[i / (outer ? outer : 1) * per + k];
			if (at < 0 || at >= a.n)
				return call_err(c, "index %lld is outside 0 to %lld",
						(long long)at, (long long)a.n - 1);
			if (c->check)
				continue;
			__builtin_memmove((uint8_t *)c->io->out[0] + to,
					  (const uint8_t *)c->io->in[0] +
					      (size_t)(i * a.n + at) * bytes,
					  bytes);
		}
	return true;
}

/* the number of the slice of t that an index of `depth` numbers selects */
static bool
line_of(struct call *c, const struct tfl_tensor *t, const int64_t *index, int64_t depth,
	int64_t *line)
{
	*line = 0;
	for (int64_t d = 0; d < depth; d++) {
		if (index[d] < 0 || index[d] >= t->dim[d])
			return call_err(c, "index %lld is outside 0 to %d",
					(long long)index[d], t->dim[d] - 1);
		*line = *line * t->dim[d] + index[d];
	}
	return true;
}

/* Each index has `depth` numbers and selects a slice of the remaining dimensions. */
bool
kernel_gather_nd(struct call *c)
{
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	const struct tfl_tensor *at = call_in(c, 1);
	int64_t n, depth = at->rank ? at->dim[at->rank - 1] : 0, inner = 1;
	if (!call_movable(c, in, out))
		return false;
	if (depth < 1 || depth > in->rank)
		return call_mismatch(c, "an index has %lld numbers, the rank is %d",
				     (long long)depth, in->rank);
	for (int d = (int)depth; d < in->rank; d++)
		inner *= in->dim[d];
	if (tfl_elements(at) / depth * inner != tfl_elements(out))
		return call_mismatch(c, "the output has %lld elements",
				     (long long)tfl_elements(out));
	/* Indices may be computed; their values are checked when they exist. */
	if (c->check && !at->data.p)
		return call_type(c, at, "indices", T_I32 | T_I64);
	const int64_t *index = call_indices(c, 1, "indices", &n);
	size_t bytes = element_size(in) * (size_t)inner;
	for (int64_t k = 0; index && k < n / depth; k++) {
		int64_t line;
		if (!line_of(c, in, index + k * depth, depth, &line))
			return false;
		if (!c->check)
			memmove((uint8_t *)c->io->out[0] + (size_t)k * bytes,
				(const uint8_t *)c->io->in[0] + (size_t)line * bytes,
				bytes);
	}
	return index != NULL;
}

/*
 * Fills the output with zeros and scatters the input.  Duplicate indices, whose inputs
 * the reference adds, are refused.
 */
bool
kernel_scatter_nd(struct call *c)
{
	const struct tfl_tensor *at = call_in(c, 0), *in = call_in(c, 1);
	const struct tfl_tensor *out = call_out(c, 0);
	enum { MAX_LINES = 1 << 26 };
	int64_t n, depth = at->rank ? at->dim[at->rank - 1] : 0, inner = 1, lines = 1;
	if (!call_movable(c, in, out))
		return false;
	if (depth < 1 || depth > out->rank)
		return call_mismatch(c, "an index has %lld numbers, the rank is %d",
				     (long long)depth, out->rank);
	for (int d = 0; d < out->rank; d++)
		*(d < depth ? &lines : &inner) *= out->dim[d];
	if (lines > MAX_LINES)
		return call_err(c, "the indices select from %lld positions: at most 2^26 "
				   "are supported", (long long)lines);
	if (tfl_elements(at) / depth * inner != tfl_elements(in))
		return call_mismatch(c, "the input has %lld elements",
				     (long long)tfl_elements(in));
	if (c->check && !at->data.p)
		return call_type(c, at, "indices", T_I32 | T_I64);
	const int64_t *index = call_indices(c, 0, "indices", &n);
	if (!index)
		return false;
	size_t bytes = element_size(in) * (size_t)inner;
	bool *taken = anew(c->a, bool, (size_t)lines);
	if (!c->check)
		memset(c->io->out[0], 0, (size_t)lines * bytes);
	for (int64_t k = 0; k < n / depth; k++) {
		int64_t line;
		if (!line_of(c, out, index + k * depth, depth, &line))
			return false;
		if (taken[line])
			return call_err(c, "an index that occurs twice is not "
					   "supported");
		taken[line] = true;
		if (!c->check)
			memcpy((uint8_t *)c->io->out[0] + (size_t)line * bytes,
			       (const uint8_t *)c->io->in[1] + (size_t)k * bytes,
			       bytes);
	}
	return true;
}
