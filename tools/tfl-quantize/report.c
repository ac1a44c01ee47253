/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what the quantization costs: of each tensor, of each operator, of the network. */
#include "quantize.h"

#include "base/json_out.h"
#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>

enum {
	WORST = 3, /* operators that the report advises on */
	/* advise the whole range if a method clips more values than this, in thousandths */
	CLIPPED = 1,
	/* advise another scale if the values use less of the range than this */
	USED_PERCENT = 25,
	/* advise scales per channel if channels' ranges differ by a larger factor */
	CHANNELS_APART = 8,
};

struct loss { /* of one operator, for sorting */
	int op;
	double db;
};

static const struct tfl_tensor *
output_of(const struct tfl_model *m, int op)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	return &g->tensor[g->op[op].out[0]];
}

/* true if the operator has a result, which is not a handle */
static bool
has_result(const struct tfl_op *op)
{
	return op->n_out && !is_variable_frame(op);
}

/* the worst ratio of the operator's outputs */
static double
own_db(const struct tfl_model *m, const struct figures *f, int op)
{
	const struct tfl_op *o = &m->subgraph[0].op[op];
	double least = INFINITY;
	for (int k = 0; k < o->n_out; k++) {
		const struct tensor_figures *t = &f->tensor[o->out[k]];
		if (t->n)
			least = fmin(least, noise_ratio_db(t->own_signal, t->own_noise));
	}
	return least;
}

static int
compare_losses(const void *x, const void *y)
{
	const struct loss *a = x, *b = y;
	if (a->db != b->db)
		return a->db < b->db ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

int *
rank_operators(struct arena *a, const struct tfl_model *m, const struct op_plan *plan,
	       const struct figures *f, int *n)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct loss *loss = anew(a, struct loss, (size_t)g->n_ops + 1);
	int *rank = anew(a, int, (size_t)g->n_ops + 1);
	*n = 0;
	for (int i = 0; i < g->n_ops; i++)
		if (plan[i].computed && !plan[i].keeps_float && has_result(&g->op[i]))
			loss[(*n)++] = (struct loss){ .op = i, .db = own_db(m, f, i) };
	qsort(loss, (size_t)*n, sizeof(*loss), compare_losses);
	for (int i = 0; i < *n; i++)
		rank[i] = loss[i].op;
	return rank;
}

static void
list_tensor(int t, bool *is_listed, int *list, int *n)
{
	if (!is_listed[t])
		list[(*n)++] = t;
	is_listed[t] = true;
}

/*
 * Lists all tensors in the order of the network: inputs, then what each operator keeps as a
 * variable and writes, then all others.
 */
static int *
order_tensors(struct arena *a, const struct tfl_subgraph *g)
{
	bool *is_listed = anew(a, bool, (size_t)g->n_tensors + 1);
	int *list = anew(a, int, (size_t)g->n_tensors + 1), n = 0;
	for (int k = 0; k < g->n_in; k++)
		list_tensor(g->in[k], is_listed, list, &n);
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		for (int k = 0; k < op->n_in; k++)
			if (op->in[k] >= 0 && g->tensor[op->in[k]].is_variable)
				list_tensor(op->in[k], is_listed, list, &n);
		for (int k = 0; k < op->n_out; k++)
			list_tensor(op->out[k], is_listed, list, &n);
	}
	for (int t = 0; t < g->n_tensors; t++)
		list_tensor(t, is_listed, list, &n);
	return list;
}

/* ---- advice ------------------------------------------------------------------------- */

/* the integer tensor of a float tensor; NULL: it was dropped */
static const struct tfl_tensor *
integer_tensor(const struct report *r, int t)
{
	int k = r->r->n->index[t];
	const struct tfl_tensor *to = k < 0 ? NULL : &r->r->m->subgraph[0].tensor[k];
	return to && to->quant.n_scale == 1 && !to->data.p ? to : NULL;
}

/* the largest weight of any channel, divided by that of the smallest channel */
static double
channels_apart(const struct report *r, int op)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	const struct tfl_op *o = &g->op[op];
	const struct tfl_tensor *w = o->code == TFL_FULLY_CONNECTED ? &g->tensor[o->in[1]] : NULL;
	if (!w || !w->data.p || w->type != TFL_FLOAT32 || r->o->per_channel_fc || w->rank < 2)
		return 1;
	double least = INFINITY, most = 0;
	int64_t each = tfl_elements(w) / w->dim[0];
	for (int32_t c = 0; c < w->dim[0]; c++) {
		double own = 0;
		for (int64_t i = 0; i < each; i++)
			own = fmax(own, fabs((double)load_f32(w->data.p + 4 * (c * each + i))));
		if (own > 0)
			least = fmin(least, own);
		most = fmax(most, own);
	}
	return most > 0 ? most / least : 1;
}

/* the part of the integers' range that the values of tensor t use; at most 100 */
static double
used_percent(const struct report *r, int t)
{
	const struct tfl_tensor *q = integer_tensor(r, t);
	const struct range *x = &r->ranges->range[t];
	double steps = q && q->type == TFL_INT16 ? UINT16_MAX : UINT8_MAX;
	return q && x->hi >= x->lo ? fmin(100, 100 * ((double)x->hi - (double)x->lo) /
						       (steps * (double)q->quant.scale[0]))
				   : 100;
}

static void
put_help(struct text *t, const struct report *r, int op)
{
	const struct tfl_op *o = &r->m->subgraph[0].op[op];
	const struct tensor_figures *f = &r->f->tensor[o->out[0]];
	const struct tfl_tensor *q = integer_tensor(r, o->out[0]);
	double apart = channels_apart(r, op), used = used_percent(r, o->out[0]);
	bool is_clipped = f->clipped * 1000 > f->n * CLIPPED && r->o->ranges != RANGES_MINMAX &&
			  rule_of(o->code)->kind != RULE_FIXED;
	bool may_widen = q && q->type == TFL_INT8 && r->plan[op].has_16;
	if (isinf(noise_ratio_db(f->own_signal, f->own_noise)) && !(f->own_noise > 0))
		return;
	if (is_clipped) {
		text_printf(t, "--ranges=minmax: %.2g %% of the values are clipped",
			    100 * (double)f->clipped / (double)f->n);
	} else if (apart > CHANNELS_APART) {
		text_printf(t, "--per-channel-fc: the weights of the channels differ by %.3g to 1",
			    apart);
	} else if (may_widen) {
		text_puts(t, "--keep-int16=");
		text_shell(t, output_of(r->m, op)->name);
		if (used < USED_PERCENT)
			text_printf(t, ": the values use %.2g %% of a range that other tensors or "
				    "the operator set", used);
	}
}

/* ---- text --------------------------------------------------------------------------- */

static void
put_db(struct text *t, double db)
{
	if (isinf(db) && db > 0)
		text_printf(t, "%8s", "exact");
	else
		text_printf(t, "%8.1f", db);
}

static double
percent(uint64_t part, uint64_t all)
{
	return all ? 100 * (double)part / (double)all : 0;
}

static const char *
width_name(const struct report *r, int op)
{
	static const char *const names[] = { "int8", "int16", "float" };
	const struct tfl_tensor *q = integer_tensor(r, r->m->subgraph[0].op[op].out[0]);
	return r->plan[op].keeps_float			? names[WIDTH_FLOAT]
	       : q && q->type == TFL_INT16 ? names[WIDTH_16]
							: names[WIDTH_8];
}

void
print_accuracy(struct text *t, const struct report *r)
{
	const struct figures *f = r->f;
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	double least = INFINITY;
	int n = 0;
	for (int k = 0; k < g->n_out; k++) {
		const struct tensor_figures *x = &f->tensor[g->out[k]];
		n += x->n > 0;
		if (x->n)
			least = fmin(least, noise_ratio_db(x->signal, x->noise));
	}
	if (!n)
		return;
	const bool tests = r->o->test.n > 0;
	const size_t all = tests ? f->n : r->ranges->n;
	text_printf(t, "on %zu ", f->n);
	if (f->n < all)
		text_printf(t, "of %zu ", all);
	text_printf(t, "%ssample%s%s: signal to quantization noise ", tests ? "" : "calibration ",
		    all == 1 ? "" : "s", tests ? " of --test" : "");
	if (isinf(least))
		text_puts(t, least > 0 ? "without limit" : "0, as the signal is 0");
	else
		text_printf(t, "%.1f dB", least);
	text_puts(t, n > 1 ? " in the output that has least" : "");
	if (f->labelled)
		text_printf(t, "; right answers %.2f %%, of the float model %.2f %%",
			    percent(f->right_integer, f->labelled),
			    percent(f->right_float, f->labelled));
	text_puts(t, "; --report has more");
}

void
print_report(struct text *t, const struct report *r)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	const struct figures *f = r->f;
	int n, *rank = rank_operators(f->a, r->m, r->plan, f, &n);
	text_printf(t, "%s: %zu sample%s of %s\n", r->m->name, f->n, f->n == 1 ? "" : "s",
		    r->o->test.n ? "--test" : "calibration; --test=PATH reads others");
	if (f->labelled)
		text_printf(t, "accuracy: %.2f %% of %zu labels by the float network, %.2f %% by "
			    "the integer network\n", percent(f->right_float, f->labelled),
			    f->labelled, percent(f->right_integer, f->labelled));
	if (f->has_answers)
		text_printf(t, "answers: %zu of %zu are equal\n", f->equal, f->n);
	for (int k = 0; k < g->n_out; k++) {
		const struct tensor_figures *x = &f->tensor[g->out[k]];
		if (!x->n)
			continue;
		double db = noise_ratio_db(x->signal, x->noise);
		text_printf(t, "output %d: signal to noise", k);
		put_db(t, db);
		text_puts(t, isinf(db) && db > 0 ? "\n" : " dB\n");
	}

	text_printf(t, "\n%-8s %11s %11s %11s %6s %8s %6s  %s\n", "type", "least", "greatest",
		    "scale", "zero", "clip %", "used%", "tensor");
	const int *order = order_tensors(f->a, g);
	for (int k = 0; k < g->n_tensors; k++) {
		const int i = order[k];
		const struct tfl_tensor *q = integer_tensor(r, i);
		const struct tensor_figures *x = &f->tensor[i];
		const struct range *range = &r->ranges->range[i];
		if (!q || !(range->lo <= range->hi))
			continue;
		text_printf(t, "%-8s %11.5g %11.5g %11.5g %6lld ", tfl_type_name(q->type),
			    (double)range->lo, (double)range->hi, (double)q->quant.scale[0],
			    (long long)q->quant.zero[0]);
		text_printf(t, "%8.3f %6.1f  ", percent(x->clipped, x->n), used_percent(r, i));
		text_puts(t, text_plain(f->a, g->tensor[i].name));
		text_putc(t, '\n');
	}

	text_printf(t, "\nsignal to noise against the float network, in dB; own: of the operator "
		    "alone\n%4s %-24s %-6s %7s %7s  %s\n", "op", "", "type", "own", "all", "tensor");
	for (int i = 0; i < g->n_ops; i++) {
		if (!has_result(&g->op[i]))
			continue;
		const struct tensor_figures *x = &f->tensor[g->op[i].out[0]];
		text_printf(t, "%4d %-24s %-6s", i, tfl_op_label(&g->op[i]), width_name(r, i));
		if (x->n) {
			put_db(t, own_db(r->m, f, i));
			put_db(t, noise_ratio_db(x->signal, x->noise));
		} else {
			text_printf(t, "%8s%8s", "-", "-");
		}
		text_printf(t, "  %s\n", text_plain(f->a, output_of(r->m, i)->name));
	}

	text_puts(t, "\noperators that cost most, and what would help\n");
	for (int i = 0; i < n && i < WORST; i++) {
		struct text help = { 0 };
		put_help(&help, r, rank[i]);
		text_printf(t, "%4d %-24s", rank[i], tfl_op_label(&g->op[rank[i]]));
		put_db(t, own_db(r->m, f, rank[i]));
		text_printf(t, "  %s\n", help.n ? text_plain(f->a, text_str(&help)) : "-");
		text_free(&help);
	}
}

/* ---- JSON --------------------------------------------------------------------------- */

static void
put_json_operator(const struct json_out *j, const struct report *r, int i, bool help)
{
	const struct tfl_op *op = &r->m->subgraph[0].op[i];
	const struct tensor_figures *f = &r->f->tensor[op->out[0]];
	struct text advice = { 0 };
	json_line(j, 2);
	json_open(j, NULL, '{');
	json_put_i64(j, "operator", i);
	json_put_string(j, "name", tfl_op_label(op));
	json_put_string(j, "tensor_name", output_of(r->m, i)->name);
	json_put_string(j, "type", width_name(r, i));
	/* JSON has no infinity: null means exact, or not computed */
	json_put_f64(j, "own_snr_db", own_db(r->m, r->f, i));
	json_put_f64(j, "snr_db", f->n ? noise_ratio_db(f->signal, f->noise) : INFINITY);
	if (help) {
		put_help(&advice, r, i);
		json_put_string(j, "help", text_str(&advice));
	}
	json_close(j, '}');
	text_free(&advice);
}

static void
open_json_list(const struct json_out *j, const char *key)
{
	json_line(j, 1);
	json_open(j, key, '[');
}

static void
close_json_list(const struct json_out *j)
{
	text_puts(j->t, "\n ");
	json_close(j, ']');
}

void
print_json_report(struct text *t, const struct report *r)
{
	const struct json_out j = { .t = t, .style = JSON_SPACED };
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	const struct figures *f = r->f;
	int n, *rank = rank_operators(f->a, r->m, r->plan, f, &n);
	json_root(&j, '{');
	json_line(&j, 1);
	json_put_string(&j, "model", r->m->name);
	json_line(&j, 1);
	json_put_i64(&j, "samples", (int64_t)f->n);
	json_line(&j, 1);
	json_put_bool(&j, "held_out", r->o->test.n > 0);
	json_line(&j, 1);
	json_put_i64(&j, "labels", (int64_t)f->labelled);
	json_line(&j, 1);
	if (f->labelled) {
		json_open(&j, "accuracy", '{');
		json_put_f64(&j, "float", percent(f->right_float, f->labelled) / 100);
		json_put_f64(&j, "integer", percent(f->right_integer, f->labelled) / 100);
		json_close(&j, '}');
	} else {
		json_put_null(&j, "accuracy");
	}
	json_line(&j, 1);
	if (f->has_answers)
		json_put_i64(&j, "equal_answers", (int64_t)f->equal);
	else
		json_put_null(&j, "equal_answers");

	open_json_list(&j, "outputs"); /* that were compared */
	for (int k = 0; k < g->n_out; k++) {
		const struct tensor_figures *x = &f->tensor[g->out[k]];
		if (!x->n)
			continue;
		json_line(&j, 2);
		json_open(&j, NULL, '{');
		json_put_i64(&j, "output", k);
		json_put_string(&j, "name", g->tensor[g->out[k]].name);
		json_put_f64(&j, "snr_db", noise_ratio_db(x->signal, x->noise));
		json_close(&j, '}');
	}
	close_json_list(&j);

	open_json_list(&j, "tensors");
	const int *order = order_tensors(f->a, g);
	for (int k = 0; k < g->n_tensors; k++) {
		const int i = order[k];
		const struct tfl_tensor *q = integer_tensor(r, i);
		const struct tensor_figures *x = &f->tensor[i];
		const struct range *range = &r->ranges->range[i];
		if (!q || !(range->lo <= range->hi))
			continue;
		json_line(&j, 2);
		json_open(&j, NULL, '{');
		json_put_i64(&j, "tensor", r->r->n->index[i]);
		json_put_string(&j, "name", g->tensor[i].name);
		json_put_string(&j, "type", tfl_type_name(q->type));
		json_put_f64(&j, "least", (double)range->lo);
		json_put_f64(&j, "greatest", (double)range->hi);
		json_put_f64(&j, "scale", (double)q->quant.scale[0]);
		json_put_i64(&j, "zero_point", q->quant.zero[0]);
		json_put_i64(&j, "values", (int64_t)x->n);
		json_put_f64(&j, "clipped", percent(x->clipped, x->n) / 100);
		json_put_f64(&j, "used", used_percent(r, i) / 100);
		json_close(&j, '}');
	}
	close_json_list(&j);

	open_json_list(&j, "operators");
	for (int i = 0; i < g->n_ops; i++)
		if (has_result(&g->op[i]))
			put_json_operator(&j, r, i, false);
	close_json_list(&j);
	open_json_list(&j, "worst");
	for (int i = 0; i < n && i < WORST; i++)
		put_json_operator(&j, r, rank[i], true);
	close_json_list(&j);
	text_puts(t, "\n}\n");
}
