/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report as CSV for spreadsheets, one number per line. */
#include "npu-eval.h"

#include <string.h>

static void
put_line(struct text *t, const char *file, const char *figure, const char *class,
	 const char *answer, double v)
{
	text_csv(t, file);
	text_printf(t, ",%s,", figure);
	text_csv(t, class);
	text_putc(t, ',');
	text_csv(t, answer);
	text_putc(t, ',');
	text_double(t, v);
	text_putc(t, '\n');
}

static void
put_answers(struct text *t, const struct report *r, const struct answers *s)
{
	const char *file = s->v->file;
	double n = (double)s->v->n;
	put_line(t, file, "items", "", "", n);
	put_line(t, file, "accuracy", "", "", (double)s->right / n);
	put_line(t, file, "top_accuracy", "", "", (double)s->in_top / n);
	put_line(t, file, "precision", "", "", s->precision);
	put_line(t, file, "recall", "", "", s->recall);
	put_line(t, file, "f1", "", "", s->f1);
	if (s->has_auc)
		put_line(t, file, "auc", "", "", s->auc);
	for (size_t c = 0; c < s->n_classes; c++) {
		const struct class_score *k = &s->score[c];
		struct text name = { 0 };
		if (!k->support && !k->predicted)
			continue;
		put_class(&name, r->l, c);
		put_line(t, file, "items", text_str(&name), "", (double)k->support);
		put_line(t, file, "precision", text_str(&name), "", k->precision);
		put_line(t, file, "recall", text_str(&name), "", k->recall);
		put_line(t, file, "f1", text_str(&name), "", k->f1);
		text_free(&name);
	}
	for (size_t c = 0; c < s->n_classes; c++) {
		struct text label = { 0 };
		put_class(&label, r->l, c);
		const char *own = text_str(&label);
		for (size_t k = 0; k < s->n_classes; k++) {
			size_t confused = s->confusion[c * s->n_classes + k];
			struct text answer = { 0 };
			if (!confused)
				continue;
			put_class(&answer, r->l, k);
			put_line(t, file, "confusion", own, text_str(&answer),
				 (double)confused);
			text_free(&answer);
		}
		text_free(&label);
	}
}

static void
put_errors(struct text *t, const struct errors *s)
{
	const char *file = s->v->file;
	put_line(t, file, "items", "", "", (double)s->v->n);
	put_line(t, file, "mae", "", "", s->mae);
	put_line(t, file, "mse", "", "", s->mse);
	put_line(t, file, "rmse", "", "", s->rmse);
	put_line(t, file, "largest", "", "", s->largest);
	if (s->has_auc)
		put_line(t, file, "auc", "", "", s->auc);
}

void
print_csv(struct text *t, const struct report *r)
{
	text_puts(t, "file,figure,class,answer,value\n");
	for (int i = 0; i < r->n; i++)
		if (r->answers)
			put_answers(t, r, &r->answers[i]);
		else
			put_errors(t, &r->errors[i]);
	for (int i = 0; i < r->n_agreements; i++) {
		const struct agreement *g = &r->agreement[i];
		put_line(t, r->answers[g->first].v->file, "agreement", "",
			 r->answers[g->second].v->file,
			 (double)g->equal / (double)r->l->n);
	}
}
