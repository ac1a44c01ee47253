/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses a range from the histogram of a tensor's values.  For the squared error, candidates
 * shrink the whole range towards 0: values beyond a candidate are clipped, and the steps
 * inside it are finer.
 */
#include "quantize.h"

#include <math.h>

enum { CANDIDATES = 96, LEVELS = UINT8_MAX };
/* the part of the values that percentile clips at each end */
static const double clipped_share = 5e-5;

/* candidate k; the last one is 1/16 of the range */
static struct range
candidate(const struct histogram *h, int k)
{
	double part = 1 - (15.0 / 16) * k / (CANDIDATES - 1);
	return (struct range){ .lo = (float)(fmin(h->range.lo, 0) * part),
			       .hi = (float)(fmax(h->range.hi, 0) * part) };
}

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

struct range
range_of_histogram(const struct histogram *h, enum method method)
{
	if (!(h->range.hi > h->range.lo))
		return h->range;
	if (method == RANGES_PERCENTILE)
		return cut_tails(h);
	struct range best = h->range;
	double least = INFINITY;
	for (int k = 0; k < CANDIDATES; k++) {
		struct range r = candidate(h, k);
		double error = squared_error(h, r);
		if (error < least) {
			least = error;
			best = r;
		}
	}
	return best;
}
