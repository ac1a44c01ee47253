/* SPDX-License-Identifier: Apache-2.0 */
/* Scores a classifier: accuracy, scores per class, and the confusion matrix. */
#include "npu-eval.h"

/* True if the class is among the k best; of equal values, the first are better. */
static bool
is_in_top(const struct values *v, size_t item, size_t class, size_t k)
{
	size_t better = 0;
	if (class >= v->each)
		return false;
	double own = value_at(v, item, class);
	for (size_t i = 0; i < v->each; i++)
		better += value_at(v, item, i) > own ||
			  (i < class && value_at(v, item, i) == own);
	return better < k;
}

static double
ratio(size_t n, size_t of)
{
	return of ? (double)n / (double)of : 0;
}

bool
count_classes(struct arena *a, const struct options *o, const struct labels *l,
	      const struct values *v, size_t n_classes, struct answers *r, struct err *e)
{
	size_t cells;
	*r = (struct answers){ .v = v, .n_classes = n_classes };
	if (__builtin_mul_overflow(n_classes, n_classes, &cells) || cells > 1 << 26)
		return err_at(e, v->file, 0, "there are %zu classes: at most 8192 are "
					     "supported",
			      n_classes);
	r->answer = anew(a, size_t, v->n);
	r->score = anew(a, struct class_score, n_classes);
	r->confusion = anew(a, size_t, cells);
	/*
	 * The threshold of a single output: 0.5 for a logistic function, the middle of the
	 * type for integers of unknown scale.  A value above it means the second of two
	 * classes.
	 */
	double middle = v->npy.kind == 'f' || v->scale != 1 ? 0.5
			: v->npy.kind == 'u'		    ? 127.5
							    : -0.5;
	for (size_t i = 0; i < v->n; i++) {
		size_t label = (size_t)l->v[i], answer = 0;
		if (v->each == 1)
			answer = value_at(v, i, 0) > middle;
		for (size_t k = 1; k < v->each; k++)
			if (value_at(v, i, k) > value_at(v, i, answer))
				answer = k;
		r->answer[i] = answer;
		r->right += label == answer;
		r->in_top += v->each == 1 ? label == answer
					  : is_in_top(v, i, label, (size_t)o->top);
		r->score[label].support++;
		r->score[answer].predicted++;
		r->score[label].right += label == answer;
		r->confusion[label * n_classes + answer]++;
	}

	size_t occur = 0; /* classes that are a label or an answer */
	for (size_t c = 0; c < n_classes; c++) {
		struct class_score *s = &r->score[c];
		s->precision = ratio(s->right, s->predicted);
		s->recall = ratio(s->right, s->support);
		/* 2pr / (p + r) = 2 right / (predicted + support) */
		s->f1 = ratio(2 * s->right, s->predicted + s->support);
		if (!s->support && !s->predicted)
			continue;
		occur++;
		r->precision += s->precision;
		r->recall += s->recall;
		r->f1 += s->f1;
	}
	r->precision /= (double)occur;
	r->recall /= (double)occur;
	r->f1 /= (double)occur;

	if (n_classes != 2)
		return true;
	double *score = anew(a, double, v->n);
	bool *positive = anew(a, bool, v->n);
	for (size_t i = 0; i < v->n; i++) {
		double first = value_at(v, i, 0);
		score[i] = v->each == 1 ? first : value_at(v, i, 1) - first;
		positive[i] = l->v[i] == 1;
	}
	r->has_auc = area_under_roc(score, positive, v->n, &r->auc);
	return true;
}
