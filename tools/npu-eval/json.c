/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report as JSON. */
#include "npu-eval.h"

#include <string.h>

static void
put_string(struct text *t, const char *s)
{
	text_quoted(t, s, strlen(s));
}

static void
put_number(struct text *t, const char *key, double v)
{
	text_printf(t, ", \"%s\": ", key);
	text_double(t, v);
}

static void
put_classes(struct text *t, const struct report *r, const struct answers *s)
{
	text_puts(t, ",\n   \"classes\": [");
	for (size_t c = 0; c < s->n_classes; c++) {
		const struct class_score *k = &s->score[c];
		text_printf(t, "%s\n    {\"class\": %zu, \"name\": ", c ? "," : "", c);
		if (c < r->l->n_names && r->l->name[c])
			put_string(t, r->l->name[c]);
		else
			text_puts(t, "null");
		text_printf(t, ", \"items\": %zu, \"answers\": %zu, \"right\": %zu",
			    k->support, k->predicted, k->right);
		put_number(t, "precision", k->precision);
		put_number(t, "recall", k->recall);
		put_number(t, "f1", k->f1);
		text_putc(t, '}');
	}
	text_puts(t, "],\n   \"confusion\": [");
	for (size_t i = 0; i < s->n_classes; i++) {
		text_puts(t, i ? ",\n    [" : "\n    [");
		for (size_t j = 0; j < s->n_classes; j++)
			text_printf(t, "%s%zu", j ? ", " : "",
				    s->confusion[i * s->n_classes + j]);
		text_putc(t, ']');
	}
	text_puts(t, "]");
}

static void
put_answers(struct text *t, const struct report *r, const struct answers *s)
{
	text_puts(t, "  {\"file\": ");
	put_string(t, s->v->file);
	text_printf(t, ", \"items\": %zu, \"right\": %zu", s->v->n, s->right);
	put_number(t, "accuracy", (double)s->right / (double)s->v->n);
	text_printf(t, ", \"top\": %d", r->o->top);
	put_number(t, "top_accuracy", (double)s->in_top / (double)s->v->n);
	put_number(t, "precision", s->precision);
	put_number(t, "recall", s->recall);
	put_number(t, "f1", s->f1);
	if (s->has_auc)
		put_number(t, "auc", s->auc);
	put_classes(t, r, s);
	text_putc(t, '}');
}

static void
put_errors(struct text *t, const struct errors *s)
{
	text_puts(t, "  {\"file\": ");
	put_string(t, s->v->file);
	text_printf(t, ", \"items\": %zu, \"values\": %zu", s->v->n, s->v->each);
	put_number(t, "mae", s->mae);
	put_number(t, "mse", s->mse);
	put_number(t, "rmse", s->rmse);
	put_number(t, "largest", s->largest);
	text_printf(t, ", \"worst\": %zu", s->worst);
	if (s->has_auc)
		put_number(t, "auc", s->auc);
	text_putc(t, '}');
}

static void
put_agreement(struct text *t, const struct report *r, const struct agreement *g)
{
	const struct answers *x = &r->answers[g->first], *y = &r->answers[g->second];
	text_printf(t, "  {\"outputs\": [%d, %d], \"equal\": %zu", g->first, g->second,
		    g->equal);
	put_number(t, "share", (double)g->equal / (double)x->v->n);
	put_number(t, "largest_difference", g->largest);
	text_puts(t, ", \"parted\": [");
	for (size_t i = 0; i < g->n_parted; i++)
		text_printf(t, "%s\n   {\"item\": %zu, \"label\": %zu, \"answers\": "
			    "[%zu, %zu]}", i ? "," : "", g->parted[i],
			    (size_t)r->l->v[g->parted[i]], x->answer[g->parted[i]],
			    y->answer[g->parted[i]]);
	text_puts(t, "]}");
}

void
print_json(struct text *t, const struct report *r)
{
	text_puts(t, "{\n \"labels\": ");
	put_string(t, r->l->file);
	text_printf(t, ",\n \"items\": %zu,\n \"outputs\": [\n", r->l->n);
	for (int i = 0; i < r->n; i++) {
		text_puts(t, i ? ",\n" : "");
		if (r->answers)
			put_answers(t, r, &r->answers[i]);
		else
			put_errors(t, &r->errors[i]);
	}
	text_puts(t, "\n ],\n \"agreement\": [");
	for (int i = 0; i < r->n_agreements; i++) {
		text_puts(t, i ? ",\n" : "\n");
		put_agreement(t, r, &r->agreement[i]);
	}
	text_puts(t, r->n_agreements ? "\n ]\n}\n" : "]\n}\n");
}
