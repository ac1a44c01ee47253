/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the report: tables for people, JSON for programs. */
#include "quantcheck.h"

#include "base/json_out.h"

#include <math.h>
#include <string.h>

static const char *const severity_names[SEVERITIES] = {
	[NOTE] = "note", [WARNING] = "warning", [ERROR] = "error",
};

static const char *
severity_name(enum severity s)
{
	return severity_names[s];
}

static void
put_shape(struct text *t, const struct tfl_tensor *x)
{
	text_putc(t, '[');
	for (int i = 0; i < x->rank; i++) {
		if (i)
			text_putc(t, ',');
		text_i64(t, x->dim[i]);
	}
	text_putc(t, ']');
}

/* pads the text since `start` to a width, and adds a space */
static void
pad_to(struct text *t, size_t start, size_t width)
{
	while (t->n - start < width)
		text_putc(t, ' ');
	text_putc(t, ' ');
}

static const char *
role_name(const struct review *r, int g, int i)
{
	const struct tfl_tensor *x = &r->m->subgraph[g].tensor[i];
	unsigned use = r->use[g][i].what;
	if (use & USE_INPUT)
		return use & USE_OUTPUT ? "in+out" : "input";
	if (use & USE_OUTPUT)
		return "output";
	if (x->is_variable)
		return "state";
	if (use & USE_BLOB)
		return "blob";
	if (x->data.p)
		return "const";
	return use & USE_MID ? "inner" : use ? "" : "unused";
}

static void
put_scales(struct text *t, const struct tfl_quant *q)
{
	if (!q->n_scale) {
		text_putc(t, '-');
		return;
	}
	float lo = q->scale[0], hi = lo;
	for (int i = 1; i < q->n_scale; i++) {
		lo = q->scale[i] < lo ? q->scale[i] : lo;
		hi = q->scale[i] > hi ? q->scale[i] : hi;
	}
	if (q->n_scale == 1)
		text_printf(t, "%.9g", (double)lo);
	else
		text_printf(t, "%.3g..%.3g", (double)lo, (double)hi);
}

static void
put_zeros(struct text *t, const struct tfl_quant *q)
{
	if (!q->n_zero) {
		text_putc(t, '-');
		return;
	}
	int64_t lo = q->zero[0], hi = lo;
	for (int i = 1; i < q->n_zero; i++) {
		lo = q->zero[i] < lo ? q->zero[i] : lo;
		hi = q->zero[i] > hi ? q->zero[i] : hi;
	}
	text_i64(t, lo);
	if (hi != lo)
		text_printf(t, "..%lld", (long long)hi);
}

static void
put_tensor(struct text *t, const struct review *r, int g, int i)
{
	const struct tfl_tensor *x = &r->m->subgraph[g].tensor[i];
	size_t at = t->n;
	text_printf(t, "%6d", i);
	pad_to(t, at, 6);
	text_puts(t, tfl_type_name(x->type));
	pad_to(t, at, 14);
	put_shape(t, x);
	pad_to(t, at, 33);
	put_scales(t, &x->quant);
	pad_to(t, at, 52);
	put_zeros(t, &x->quant);
	pad_to(t, at, 57);
	if (x->quant.n_scale > 1) /* the axis of the scales and their number */
		text_printf(t, "%d x%d", x->quant.axis, x->quant.n_scale);
	else
		text_putc(t, '-');
	pad_to(t, at, 65);
	text_puts(t, role_name(r, g, i));
	pad_to(t, at, 72);
	text_puts(t, text_plain(r->a, x->name));
	text_putc(t, '\n');
}

static const char heading[] =
    "tensor type    shape              scale              zero axis    role   "
    "name\n";

static void
put_interface(struct text *t, const struct review *r, const char *what,
	      const int *index, int n)
{
	const struct tfl_subgraph *s = &r->m->subgraph[0];
	for (int i = 0; i < n; i++) {
		const struct tfl_tensor *x = &s->tensor[index[i]];
		text_printf(t, "%s %d: %s ", what, i, tfl_type_name(x->type));
		put_shape(t, x);
		text_puts(t, " scale ");
		put_scales(t, &x->quant);
		text_puts(t, " zero point ");
		put_zeros(t, &x->quant);
		text_puts(t, "  ");
		text_puts(t, text_plain(r->a, x->name));
		text_putc(t, '\n');
	}
}

/* "operator 3 CONV_2D, tensor 7 (name): text" and a line feed */
static void
put_place_and_text(struct text *t, const struct review *r, const struct finding *f)
{
	const struct tfl_subgraph *g = &r->m->subgraph[f->at.subgraph];
	if (r->m->n_subgraphs > 1)
		text_printf(t, "subgraph %d, ", f->at.subgraph);
	if (f->at.op >= 0) {
		text_printf(t, "operator %d ", f->at.op);
		text_puts(t, tfl_op_label(&g->op[f->at.op]));
	}
	if (f->at.tensor >= 0) {
		const char *name = g->tensor[f->at.tensor].name;
		text_printf(t, "%stensor %d", f->at.op >= 0 ? ", " : "",
			    f->at.tensor);
		text_puts(t, *name ? " (" : "");
		text_puts(t, text_plain(r->a, name));
		text_puts(t, *name ? ")" : "");
	}
	text_printf(t, ": %s\n", f->text);
}

void
report_finding(struct text *t, const struct review *r, const struct finding *f)
{
	text_printf(t, "%s: %s: ", severity_name(f->severity), f->check->name);
	put_place_and_text(t, r, f);
}

void
report_kind(struct text *t, const struct review *r, const struct finding *f, int n)
{
	const char *rule = f->check->name;
	bool floats = !strcmp(rule, "float-operator") || !strcmp(rule, "hybrid-operator");
	text_printf(t, "%s: %s: ", severity_name(f->severity), rule);
	if (f->check->is_final)
		text_printf(t, "%d findings of this rule; the first: ", n);
	else
		text_printf(t, "%s--allow=%s accepts all %d findings of this rule; the first: ",
			    floats && review_can_be_quantized(r)
				? "tfl-quantize, or --quantize of npucc, makes an integer model, and "
				: "", rule, n);
	put_place_and_text(t, r, f);
}

static bool
has_float_borders(const struct review *r)
{
	return r->float_in.n || r->float_out.n;
}

static void
put_verdict(struct text *t, const struct review *r, bool strict)
{
	text_puts(t, text_plain(r->a, r->m->name));
	text_printf(t, ": %s: %d error%s, %d warning%s, %d note%s\n",
		    !review_answer(r, strict) ? review_refusal(r, strict)
		    : r->allowed_errors	      ? "not fully integer, as allowed"
		    : has_float_borders(r)     ? "integer but for its float ends"
					      : "fully integer",
		    r->count[ERROR], r->count[ERROR] == 1 ? "" : "s",
		    r->count[WARNING], r->count[WARNING] == 1 ? "" : "s",
		    r->count[NOTE], r->count[NOTE] == 1 ? "" : "s");
}

void
report_text(struct text *t, const struct review *r, bool strict, bool quiet)
{
	const struct tfl_model *m = r->m;
	if (quiet) {
		put_verdict(t, r, strict);
		return;
	}
	put_interface(t, r, "input", m->subgraph[0].in, m->subgraph[0].n_in);
	put_interface(t, r, "output", m->subgraph[0].out, m->subgraph[0].n_out);
	for (int g = 0; g < m->n_subgraphs; g++) {
		text_putc(t, '\n');
		if (m->n_subgraphs > 1)
			text_printf(t, "subgraph %d\n", g);
		text_puts(t, heading);
		for (int i = 0; i < m->subgraph[g].n_tensors; i++)
			put_tensor(t, r, g, i);
	}
	text_putc(t, '\n');
	for (size_t i = 0; i < r->n_findings; i++)
		if (!r->finding[i].follows)
			report_finding(t, r, &r->finding[i]);
	(void)report_cuts(t, r);
	put_verdict(t, r, strict);
}

/* ---- JSON -------------------------------------------------------------- */

static void
json_names(const struct json_out *j, const struct review *r, const char *key, const int *v, int n)
{
	json_open(j, key, '[');
	for (int i = 0; i < n; i++)
		json_put_string(j, NULL, r->m->subgraph[0].tensor[v[i]].name);
	json_close(j, ']');
}

void
report_json(struct text *t, const struct review *r, bool strict)
{
	const struct json_out out = { .t = t }, *j = &out;
	const struct tfl_model *m = r->m;
	const struct tfl_subgraph *first = &m->subgraph[0];
	json_root(j, '{');
	json_put_string(j, "model", m->name);
	json_put_bool(j, "fully_integer", review_answer(r, strict) && !r->allowed_errors &&
		      !has_float_borders(r));
	json_put_i64(j, "errors", r->count[ERROR]);
	json_put_i64(j, "warnings", r->count[WARNING]);
	json_put_i64(j, "notes", r->count[NOTE]);
	json_put_i32s(j, "inputs", first->in, (size_t)first->n_in);
	json_put_i32s(j, "outputs", first->out, (size_t)first->n_out);
	json_open(j, "cuts", '{');
	json_put_i64(j, "operators", r->cuts.n_ops);
	json_names(j, r, "inputs", r->cuts.in, r->cuts.n_in);
	json_names(j, r, "outputs", r->cuts.out, r->cuts.n_out);
	json_close(j, '}');
	json_line(j, 0);
	json_open(j, "tensors", '[');
	for (int g = 0; g < m->n_subgraphs; g++)
		for (int i = 0; i < m->subgraph[g].n_tensors; i++) {
			const struct tfl_tensor *x = &m->subgraph[g].tensor[i];
			const struct tfl_quant *q = &x->quant;
			json_line(j, 0);
			json_open(j, NULL, '{');
			json_put_i64(j, "subgraph", g);
			json_put_i64(j, "index", i);
			json_put_string(j, "name", x->name);
			json_put_string(j, "type", tfl_type_name(x->type));
			json_put_i32s(j, "shape", x->dim, (size_t)x->rank);
			json_open(j, "scale", '[');
			for (int k = 0; k < q->n_scale; k++) {
				json_key(j, NULL);
				if (isfinite(q->scale[k]))
					text_float(j->t, q->scale[k]);
				else
					text_puts(j->t, "null");
			}
			json_close(j, ']');
			json_open(j, "zero_point", '[');
			for (int k = 0; k < q->n_zero; k++)
				json_put_i64(j, NULL, q->zero[k]);
			json_close(j, ']');
			if (q->n_scale > 1)
				json_put_i64(j, "axis", q->axis);
			json_put_string(j, "role", role_name(r, g, i));
			json_close(j, '}');
		}
	json_close(j, ']');
	json_line(j, 0);
	json_open(j, "findings", '[');
	for (size_t i = 0; i < r->n_findings; i++) {
		const struct finding *f = &r->finding[i];
		const struct tfl_subgraph *g = &m->subgraph[f->at.subgraph];
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "severity", severity_name(f->severity));
		json_put_string(j, "rule", f->check->name);
		json_put_i64(j, "subgraph", f->at.subgraph);
		if (f->at.op >= 0) {
			json_put_i64(j, "operator", f->at.op);
			json_put_string(j, "operator_name", tfl_op_label(&g->op[f->at.op]));
		}
		if (f->at.tensor >= 0) {
			json_put_i64(j, "tensor", f->at.tensor);
			json_put_string(j, "tensor_name", g->tensor[f->at.tensor].name);
		}
		json_put_string(j, "text", f->text);
		json_close(j, '}');
	}
	text_puts(t, "]}\n");
}

void
report_rules(struct text *t)
{
	const struct check *c;
	for (int i = 0; (c = rule_at(i)); i++)
		text_printf(t, "%-22s %-8s %s\n", c->name,
			    severity_name(c->severity), c->rule);
}
