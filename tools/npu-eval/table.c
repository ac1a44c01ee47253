/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report as a table. */
#include "npu-eval.h"

/* largest number of classes for which a confusion matrix fits on a screen */
enum { MAX_SHOWN = 30 };

void
put_class(struct text *t, const struct labels *l, size_t class)
{
	if (class < l->n_names && l->name[class])
		text_puts(t, l->name[class]);
	else
		text_printf(t, "%zu", class);
}

static double
percent(size_t n, size_t of)
{
	return of ? 100 * (double)n / (double)of : 0;
}

static void
put_name(struct text *t, const struct labels *l, size_t class)
{
	struct text x = { 0 };
	put_class(&x, l, class);
	text_printf(t, "  %-16s", text_str(&x));
	text_free(&x);
}

static void
put_answers(struct text *t, const struct report *r, const struct answers *s)
{
	size_t n = s->v->n;
	text_printf(t, "%s: %zu items, %zu classes\n", s->v->file, n, s->n_classes);
	text_printf(t, "  accuracy %.2f %% (%zu)", percent(s->right, n), s->right);
	if (s->v->each > 1)
		text_printf(t, ", top-%d %.2f %% (%zu)", r->o->top, percent(s->in_top, n),
			    s->in_top);
	if (s->has_auc)
		text_printf(t, ", area under ROC %.6f", s->auc);
	text_putc(t, '\n');

	text_printf(t, "  %-16s %9s %9s %9s %9s %9s\n", "class", "items", "answers",
		    "precision", "recall", "F1");
	for (size_t c = 0; c < s->n_classes; c++) {
		const struct class_score *k = &s->score[c];
		if (!k->support && !k->predicted)
			continue;
		put_name(t, r->l, c);
		text_printf(t, " %9zu %9zu %9.4f %9.4f %9.4f\n", k->support,
			    k->predicted, k->precision, k->recall, k->f1);
	}
	text_printf(t, "  %-16s %9zu %9zu %9.4f %9.4f %9.4f\n", "mean", r->l->n, r->l->n,
		    s->precision, s->recall, s->f1);

	if (s->n_classes > MAX_SHOWN) {
		text_printf(t, "  confusion of %zu classes: --json or --csv\n",
			    s->n_classes);
		return;
	}
	text_puts(t, "  confusion: a line for each label, a column for each answer\n");
	for (size_t i = 0; i < s->n_classes; i++) {
		put_name(t, r->l, i);
		for (size_t k = 0; k < s->n_classes; k++)
			text_printf(t, " %5zu", s->confusion[i * s->n_classes + k]);
		text_putc(t, '\n');
	}
}

static void
put_errors(struct text *t, const struct errors *s)
{
	text_printf(t, "%s: %zu items of %zu values\n", s->v->file, s->v->n, s->v->each);
	text_printf(t, "  mean absolute error %.9g, mean squared error %.9g (root %.9g)\n",
		    s->mae, s->mse, s->rmse);
	text_printf(t, "  largest difference %.9g; worst item %zu, mean squared error "
		    "%.9g\n", s->largest, s->worst, s->each[s->worst]);
	if (s->has_auc)
		text_printf(t, "  area under ROC %.6f, of items' squared errors\n",
			    s->auc);
}

static void
put_agreement(struct text *t, const struct report *r, const struct agreement *g)
{
	const struct answers *x = &r->answers[g->first], *y = &r->answers[g->second];
	text_printf(t, "%s, %s: %zu of %zu answers agree (%.2f %%)\n", x->v->file,
		    y->v->file, g->equal, x->v->n, percent(g->equal, x->v->n));
	for (size_t i = 0; i < g->n_parted; i++) {
		size_t item = g->parted[i];
		if (i == (size_t)r->o->parted) {
			text_printf(t, "  and %zu more: --parted\n", g->n_parted - i);
			break;
		}
		text_printf(t, "  item %zu is ", item);
		put_class(t, r->l, (size_t)r->l->v[item]);
		text_puts(t, ": ");
		put_class(t, r->l, x->answer[item]);
		text_puts(t, ", ");
		put_class(t, r->l, y->answer[item]);
		text_putc(t, '\n');
	}
}

void
print_table(struct text *t, const struct report *r)
{
	for (int i = 0; i < r->n; i++)
		if (r->answers)
			put_answers(t, r, &r->answers[i]);
		else
			put_errors(t, &r->errors[i]);
	for (int i = 0; i < r->n_agreements; i++)
		put_agreement(t, r, &r->agreement[i]);
}
