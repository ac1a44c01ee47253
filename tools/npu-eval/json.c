/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report as JSON. */
#include "npu-eval.h"

#include "base/json_out.h"

static void
put_answers(const struct json_out *j, const struct report *r, const struct answers *s)
{
	json_put_i64(j, "items", (int64_t)s->v->n);
	json_put_i64(j, "right", (int64_t)s->right);
	json_put_f64(j, "accuracy", (double)s->right / (double)s->v->n);
	json_put_i64(j, "top", r->o->top);
	json_put_f64(j, "top_accuracy", (double)s->in_top / (double)s->v->n);
	json_put_f64(j, "precision", s->precision);
	json_put_f64(j, "recall", s->recall);
	json_put_f64(j, "f1", s->f1);
	if (s->has_auc)
		json_put_f64(j, "auc", s->auc);
	json_line(j, 3);
	json_open(j, "classes", '[');
	for (size_t c = 0; c < s->n_classes; c++) {
		const struct class_score *k = &s->score[c];
		json_line(j, 4);
		json_open(j, NULL, '{');
		json_put_i64(j, "class", (int64_t)c);
		json_put_string(j, "name", c < r->l->n_names ? r->l->name[c] : NULL);
		json_put_i64(j, "items", (int64_t)k->support);
		json_put_i64(j, "answers", (int64_t)k->predicted);
		json_put_i64(j, "right", (int64_t)k->right);
		json_put_f64(j, "precision", k->precision);
		json_put_f64(j, "recall", k->recall);
		json_put_f64(j, "f1", k->f1);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_line(j, 3);
	json_open(j, "confusion", '[');
	for (size_t i = 0; i < s->n_classes; i++) {
		json_line(j, 4);
		json_open(j, NULL, '[');
		for (size_t k = 0; k < s->n_classes; k++)
			json_put_i64(j, NULL, (int64_t)s->confusion[i * s->n_classes + k]);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void
put_errors(const struct json_out *j, const struct errors *s)
{
	json_put_i64(j, "items", (int64_t)s->v->n);
	json_put_i64(j, "values", (int64_t)s->v->each);
	json_put_f64(j, "mae", s->mae);
	json_put_f64(j, "mse", s->mse);
	json_put_f64(j, "rmse", s->rmse);
	json_put_f64(j, "largest", s->largest);
	json_put_i64(j, "worst", (int64_t)s->worst);
	if (s->has_auc)
		json_put_f64(j, "auc", s->auc);
}

void
print_json(struct text *t, const struct report *r)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	json_root(j, '{');
	json_line(j, 1);
	json_put_string(j, "labels", r->l->file);
	json_line(j, 1);
	json_put_i64(j, "items", (int64_t)r->l->n);
	json_line(j, 1);
	json_open(j, "outputs", '[');
	for (int i = 0; i < r->n; i++) {
		json_line(j, 2);
		json_open(j, NULL, '{');
		json_put_string(j, "file", r->answers ? r->answers[i].v->file : r->errors[i].v->file);
		if (r->answers)
			put_answers(j, r, &r->answers[i]);
		else
			put_errors(j, &r->errors[i]);
		json_close(j, '}');
	}
	json_close_line(j, 1, ']');
	json_line(j, 1);
	json_open(j, "agreement", '[');
	for (int i = 0; i < r->n_agreements; i++) {
		const struct agreement *g = &r->agreement[i];
		const struct answers *x = &r->answers[g->first], *y = &r->answers[g->second];
		json_line(j, 2);
		json_open(j, NULL, '{');
		json_put_i32s(j, "outputs", (const int32_t[]){ g->first, g->second }, 2);
		json_put_i64(j, "equal", (int64_t)g->equal);
		json_put_f64(j, "share", (double)g->equal / (double)x->v->n);
		json_put_f64(j, "largest_difference", g->largest);
		json_open(j, "parted", '[');
		for (size_t k = 0; k < g->n_parted; k++) {
			size_t item = g->parted[k];
			json_line(j, 3);
			json_open(j, NULL, '{');
			json_put_i64(j, "item", (int64_t)item);
			json_put_i64(j, "label", (int64_t)r->l->v[item]);
			json_open(j, "answers", '[');
			json_put_i64(j, NULL, (int64_t)x->answer[item]);
			json_put_i64(j, NULL, (int64_t)y->answer[item]);
			json_close(j, ']');
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	text_puts(t, r->n_agreements ? "\n ]\n}\n" : "]\n}\n");
}
