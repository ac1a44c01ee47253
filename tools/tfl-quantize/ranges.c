/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses a range from the histogram of a tensor's values.  For the squared error and for
 * entropy, candidates shrink the whole range towards 0: values beyond a candidate are
 * clipped, and the steps inside it are finer.
 */
#include "quantize.h"

#include "base/functions.h"

#include <math.h>

enum { CANDIDATES = 96, LEVELS = UINT8_MAX };
/* the part of the values that percentile clips at each end */
static const double clipped_share = 5e-5;

static double
middle(const struct histogram *h, int bin)
{
	double lo = (double)h->range.lo, hi = (double)h->range.hi;
	return lo + (hi - lo) * (bin + 0.5) / HISTOGRAM_BINS;
}

static struct range
cut_tails(const struct histogram *h)
{
	uint64_t n = 0, low = 0, high = 0;
	int first = 0, last = HISTOGRAM_BINS - 1;
	double width = ((double)h->range.hi - (double)h->range.lo) / HISTOGRAM_BINS;
	for (int i = 0; i < HISTOGRAM_BINS; i++)
		n += h->bin[i];
	uint64_t most = (uint64_t)(clipped_share * (double)n);
	while (first < last && low + h->bin[first] <= most)
		low += h->bin[first++];
	while (last > first && high + h->bin[last] <= most)
		high += h->bin[last--];
	struct range r = h->range;
	if (first)
		r.lo = (float)((double)h->range.lo + width * first);
	if (last < HISTOGRAM_BINS - 1)
		r.hi = (float)((double)h->range.hi - width * (HISTOGRAM_BINS - 1 - last));
	return r;
}

/* squared error of all values: clipping, and a twelfth of a squared step */
static double
squared_error(const struct histogram *h, struct range r)
{
	double step = ((double)r.hi - (double)r.lo) / LEVELS, sum = 0;
	for (int i = 0; i < HISTOGRAM_BINS; i++) {
		double v = middle(h, i);
		double clip = fmax(0, fmax((double)r.lo - v, v - (double)r.hi));
		sum += (double)h->bin[i] * fmax(clip * clip, step * step / 12);
	}
	return sum;
}

/* ---- entropy ------------------------------------------------------------------------ */

/* sums over the bins before bin i; p: values in a bin */
struct totals {
	double values[HISTOGRAM_BINS + 1], p_log_p[HISTOGRAM_BINS + 1];
	int used[HISTOGRAM_BINS + 1]; /* bins with values */
};

static double
p_log_p(double p)
{
	return p > 0 ? p * real_log(p) : 0;
}

/*
 * The bin of 0 counts as its neighbours do: any range has 0 itself, and the many zeros of
 * RELU would hide the other values.
 */
static void
add_bins(const struct histogram *h, struct totals *t)
{
	double lo = (double)h->range.lo, hi = (double)h->range.hi;
	double at = -lo / (hi - lo) * HISTOGRAM_BINS;
	int zero = at <= 0 ? 0 : at >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : (int)at;
	int before = zero ? zero - 1 : zero + 1;
	int after = zero < HISTOGRAM_BINS - 1 ? zero + 1 : zero - 1;
	*t = (struct totals){ 0 };
	for (int i = 0; i < HISTOGRAM_BINS; i++) {
		double p = (double)h->bin[i];
		if (i == zero)
			p = ((double)h->bin[before] + (double)h->bin[after]) / 2;
		t->values[i + 1] = t->values[i] + p;
		t->p_log_p[i + 1] = t->p_log_p[i] + p_log_p(p);
		t->used[i + 1] = t->used[i] + (p > 0);
	}
}

/*
 * The Kullback-Leibler divergence from P to Q.  P: the values, with those beyond r in the
 * first and the last bin of r.  Q: the values inside r, where all used bins of a step have
 * the mean of these bins.
 */
static double
divergence(const struct histogram *h, const struct totals *t, struct range r)
{
	static const double least = 1e-9; /* of Q: for clipped values beside empty bins */
	double lo = (double)r.lo, step = ((double)r.hi - lo) / LEVELS;
	const double n = t->values[HISTOGRAM_BINS];
	int first = 0, last = HISTOGRAM_BINS;
	while (first < last - 1 && middle(h, first) < lo)
		first++;
	while (last - 1 > first && middle(h, last - 1) > (double)r.hi)
		last--;
	double low = t->values[first], high = n - t->values[last];
	double inside = n - low - high, sum = t->p_log_p[last] - t->p_log_p[first];
	double p = t->values[first + 1] - low, q = t->values[last] - t->values[last - 1];
	if (!(inside > 0))
		return INFINITY;
	sum += p_log_p(p + low) - p_log_p(p) + p_log_p(q + high) - p_log_p(q);
	for (int i = first, end, k = 0; i < last; i = end, k++) {
		const double edge = lo + step * (k + 0.5);
		for (end = i; end < last && middle(h, end) < edge;)
			end++;
		end = k == LEVELS ? last : end;
		double values = t->values[end] - t->values[i];
		int used = t->used[end] - t->used[i];
		double part = used ? values / used / inside : 0;
		values += (i == first && end > i ? low : 0) + (end == last && end > i ? high : 0);
		if (values > 0)
			sum -= values * real_log(fmax(part, least) * n);
	}
	return sum / n;
}

struct range
range_of_histogram(const struct histogram *h, enum method method)
{
	struct totals t;
	if (!(h->range.hi > h->range.lo))
		return h->range;
	if (method == RANGES_PERCENTILE)
		return cut_tails(h);
	if (method == RANGES_ENTROPY)
		add_bins(h, &t);
	struct range best = h->range;
	double least = INFINITY;
	for (int k = 0; k < CANDIDATES; k++) {
		double part = 1 - (15.0 / 16) * k / (CANDIDATES - 1); /* the last: 1/16 of the range */
		struct range r = { .lo = (float)(fmin(h->range.lo, 0) * part),
				   .hi = (float)(fmax(h->range.hi, 0) * part) };
		double error = method == RANGES_MSE ? squared_error(h, r) : divergence(h, &t, r);
		if (error < least) {
			least = error;
			best = r;
		}
	}
	return best;
}
