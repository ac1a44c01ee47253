/* SPDX-License-Identifier: Apache-2.0 */
/* Computes errors against the expected outputs, and the area under the ROC curve. */
#include "npu-eval.h"

#include <math.h>
#include <stdlib.h>

struct scored {
	double score;
	bool positive;
};

static int
compare_scores(const void *x, const void *y)
{
	const struct scored *a = x, *b = y;
	return (a->score > b->score) - (a->score < b->score);
}

/*
 * The rank sum (Mann-Whitney).  A positive item is above all negative items with lower
 * scores, and counts as above half of the negative items with the same score.
 */
bool
area_under_roc(const double *score, const bool *positive, size_t n, double *out)
{
	struct arena *a = arena_open();
	struct scored *s = anew(a, struct scored, n + 1);
	double above = 0, positives = 0, negatives = 0;
	for (size_t i = 0; i < n; i++)
		s[i] = (struct scored){ .score = score[i], .positive = positive[i] };
	qsort(s, n, sizeof(*s), compare_scores);
	for (size_t i = 0, end; i < n; i = end) {
		double p = 0, q = 0;
		for (end = i; end < n && s[end].score == s[i].score; end++)
			*(s[end].positive ? &p : &q) += 1;
		above += p * (negatives + q / 2);
		positives += p;
		negatives += q;
	}
	arena_close(a);
	if (positives == 0 || negatives == 0)
		return false;
	*out = above / (positives * negatives);
	return true;
}

/* labels of 0 mark normal items, labels of 1 anomalies */
static void
score_anomalies(struct arena *a, const struct labels *l, struct errors *r)
{
	bool *positive = anew(a, bool, l->n);
	for (size_t i = 0; i < l->n; i++) {
		if (l->v[i] != 0 && l->v[i] != 1)
			return;
		positive[i] = l->v[i] == 1;
	}
	r->has_auc = area_under_roc(r->each, positive, l->n, &r->auc);
}

bool
count_errors(struct arena *a, const struct labels *l, const struct values *targets,
	     const struct values *v, struct errors *r, struct err *e)
{
	*r = (struct errors){ .v = v, .each = anew(a, double, v->n) };
	if (targets ? targets->each != v->each : v->each != 1)
		return err_at(e, v->file, 0, "has %zu values per item, %s has %zu",
					     v->each,
			      targets ? targets->file : l->file,
			      targets ? targets->each : (size_t)1);
	for (size_t i = 0; i < v->n; i++) {
		for (size_t k = 0; k < v->each; k++) {
			double d =
			    fabs(value_at(v, i, k) - (targets ? value_at(targets, i, k) : l->v[i]));
			r->mae += d;
			r->each[i] += d * d;
			r->largest = fmax(r->largest, d);
		}
		r->mse += r->each[i];
		r->each[i] /= (double)v->each;
		if (r->each[i] > r->each[r->worst])
			r->worst = i;
	}
	r->mae /= (double)v->n * (double)v->each;
	r->mse /= (double)v->n * (double)v->each;
	r->rmse = sqrt(r->mse);
	if (targets)
		score_anomalies(a, l, r);
	return true;
}
