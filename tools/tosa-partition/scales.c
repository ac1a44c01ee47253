/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A RESCALE of 32 bits is a multiplication by constants whose 64-bit product is
 * shifted, because 32-bit operations apply no multiplier of their own.  Channels
 * share an operation if their multipliers can have one shift.
 */
#include "part.h"

enum { MAX_RUNS = 1024 };

struct run {
	int64_t first, n;
	int shift;
};

/* the smallest multiplier and shift with the same result */
static struct npu_scale
reduced(const struct tail *t, int64_t k)
{
	struct npu_scale s = tail_scale(t, k);
	while (!(s.mult & 1) && s.mult && s.shift > 0 && !rounds_twice(&t->r, s.shift)) {
		s.mult >>= 1;
		s.shift--;
	}
	if (!s.mult)
		s.shift = 2;
	return s;
}

/* the multiplier for a larger shift; -1: there is none */
static int64_t
at_shift(const struct tail *t, struct npu_scale s, int shift)
{
	if (!s.mult)
		return rounds_twice(&t->r, shift) ? -1 : 0;
	if (shift < s.shift || shift - s.shift > 31 ||
	    (shift != s.shift && (rounds_twice(&t->r, shift) || rounds_twice(&t->r, s.shift))))
		return -1;
	int64_t m = (int64_t)s.mult << (shift - s.shift);
	return m <= INT32_MAX ? m : -1;
}

/* the channels from `first` on that can have one shift */
static struct run
run_from(const struct tail *t, int64_t first, int64_t n)
{
	struct run r = { .first = first };
	int64_t end = first;
	int shift = reduced(t, first).shift;
	while (end < n) {
		struct npu_scale s = reduced(t, end);
		int wider = s.shift > shift ? s.shift : shift;
		bool ok = true;
		for (int64_t k = first; ok && k <= end; k++)
			ok = at_shift(t, reduced(t, k), wider) >= 0;
		if (!ok)
			break;
		shift = wider;
		end++;
	}
	r.n = end - first;
	r.shift = shift;
	return r;
}

const char *
scale_to(struct part *p, const struct nd *v, const struct tail *t, const struct nd *out)
{
	int last = v->rank - 1, n_runs = 0;
	int64_t n = t->r.per_channel ? v->dim[last] : 1;
	struct run *r = anew(p->a, struct run, MAX_RUNS);
	for (int64_t k = 0; k < n; k += r[n_runs++].n) {
		if (n_runs == MAX_RUNS)
			return "the channels' shifts differ in more than 1024 places";
		r[n_runs] = run_from(t, k, n);
	}
	/* the multipliers of all channels are one constant; each run uses its part of it */
	int32_t *m = anew(p->a, int32_t, (size_t)n);
	for (int i = 0; i < n_runs; i++)
		for (int64_t k = r[i].first; k < r[i].first + r[i].n; k++)
			m[k] = (int32_t)at_shift(t, reduced(t, k), r[i].shift);
	struct nd all = nd_const_channels(p->l, TFL_INT32, v->rank, (int32_t)n, m);
	for (int i = 0; i < n_runs; i++) {
		struct nd from = *v, c = all, to = *out;
		if (t->r.per_channel) {
			nd_slice(&from, last, r[i].first, r[i].n, 1);
			nd_slice(&c, last, r[i].first, r[i].n, 1);
			nd_slice(&to, last, r[i].first, r[i].n, 1);
		}
		struct low_end end = tail_scaled_end(p, t);
		end.scale = (struct npu_scale){ .mult = 1, .shift = r[i].shift };
		binary_to(p, OP_MUL, &from, &c, &to, &end);
	}
	return NULL;
}
