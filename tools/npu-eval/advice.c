/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the results of --layers, with advice on each tensor. */
#include "layers.h"

#include "base/json_out.h"
#include "real/real.h"

#include <math.h>
#include <string.h>

enum {
	/* advise a wider range if more values than this are clipped, in thousandths */
	CLIPPED = 1,
	/* advise a narrower range if a tensor uses less of its range than this */
	USED_PERCENT = 25,
	/* advise scales per channel if channels' ranges differ by a larger factor */
	CHANNELS_APART = 8,
	/*
	 * below this the 256 steps of 8 bits are too coarse, if no other reason is
	 * found: a Gaussian over four deviations has 34 dB in 256 steps
	 */
	ENOUGH_DB = 30,
};

static bool
is_dead(const struct layer *l, int32_t channel)
{
	const struct channel *c = &l->channel[channel];
	return c->lo == c->hi && l->n > (size_t)l->n_channels;
}

static size_t
dead_channels(const struct layer *l)
{
	size_t n = 0;
	for (int32_t c = 0; c < l->n_channels; c++)
		n += is_dead(l, c);
	return n;
}

static double
used_percent(const struct layers *all, const struct layer *l)
{
	int32_t lo, hi;
	layer_limits(&all->m->subgraph[0].tensor[l->tensor], &lo, &hi);
	return 100 * ((double)l->q_hi - l->q_lo + 1) / ((double)hi - lo + 1);
}

/*
 * The largest weight of any channel divided by the largest weight of the smallest
 * channel. 1: the operator has no such weights, or they have scales per channel
 * already.
 */
static double
channels_apart(const struct layers *all, const struct layer *l)
{
	const struct tfl_subgraph *g = &all->m->subgraph[0];
	const struct tfl_op *op = &g->op[l->op];
	bool last = op->code == TFL_DEPTHWISE_CONV_2D;
	if (!last && op->code != TFL_CONV_2D && op->code != TFL_FULLY_CONNECTED)
		return 1;
	const struct tfl_tensor *w = &g->tensor[op->in[1]];
	if (!w->data.p || w->quant.n_scale != 1 || !is_real(w) || !w->rank)
		return 1;
	struct arena *a = arena_open();
	int64_t n = tfl_elements(w), per = n / (last ? w->dim[w->rank - 1] : w->dim[0]);
	int64_t channels = n / per;
	double *v = anew(a, double, (size_t)n);
	double *most = anew(a, double, (size_t)channels), lo = INFINITY, hi = 0;
	real_from_elements(w, w->data.p, v);
	for (int64_t i = 0; i < n; i++) {
		double *m = &most[last ? i % channels : i / per];
		*m = fmax(*m, fabs(v[i]));
	}
	for (int64_t c = 0; c < channels; c++) {
		if (most[c] > 0)
			lo = fmin(lo, most[c]);
		hi = fmax(hi, most[c]);
	}
	arena_close(a);
	return hi > 0 ? hi / lo : 1;
}

static void
put_advice(struct text *t, const struct layers *all, const struct layer *l)
{
	const struct tfl_tensor *x = &all->m->subgraph[0].tensor[l->tensor];
	double scale = (double)x->quant.scale[0], apart = channels_apart(all, l);
	double zero = x->quant.n_zero ? (double)x->quant.zero[0] : 0;
	int code = all->m->subgraph[0].op[l->op].code;
	/* TensorFlow Lite fixes the output scale of the other operators, whatever their values */
	bool ranged = code != TFL_SOFTMAX && code != TFL_LOG_SOFTMAX && code != TFL_LOGISTIC &&
		      code != TFL_TANH && code != TFL_L2_NORMALIZATION;
	int32_t lo, hi;
	layer_limits(x, &lo, &hi);
	if (!l->has_function)
		text_puts(t, "not computed in real numbers");
	else if (l->q_lo == l->q_hi && l->n > 1)
		text_printf(t, "dead: always %g", scale * (l->q_lo - zero));
	else if (ranged && l->clipped * 1000 > l->n * CLIPPED)
		text_printf(t, "a wider range: %.2g %% are clipped, of values from %.4g to "
			    "%.4g it holds %.4g to %.4g; calibrate with such samples, too",
			    100 * (double)l->clipped / (double)l->n, l->lo, l->hi,
			    scale * (lo - zero), scale * (hi - zero));
	else if (ranged && used_percent(all, l) < USED_PERCENT)
		text_printf(t, "a narrower range: %.2g %% of it are used, by values from "
			    "%.4g to %.4g; calibrate with such samples alone, or with tfl-quantize "
			    "--ranges=percentile", used_percent(all, l), l->lo, l->hi);
	else if (noise_db(l->own) < ENOUGH_DB && apart > CHANNELS_APART)
		text_printf(t, "weights per channel: their ranges are %.3g to 1", apart);
	else if (noise_db(l->own) < ENOUGH_DB && x->type != TFL_INT16)
		text_puts(t, "16-bit activations");
}

/* ---- the report -------------------------------------------------------------------- */

/* right-aligned in width columns; no difference prints as "exact" */
static void
put_db(struct text *t, int width, double db)
{
	if (isinf(db) && db > 0)
		text_printf(t, "%*s", width, "exact");
	else
		text_printf(t, "%*.1f", width, db);
}

static void
print_rows(struct text *t, const struct layers *all)
{
	text_printf(t, "%s: %zu items, signal to noise in dB, the operator's own, worst "
		    "first\n", all->m->name, all->n_items);
	text_printf(t, "%4s %-20s %7s %7s %6s %7s %7s %11s %5s  %s\n", "op", "", "own", "all",
		    "worst", "channel", "clip %", "dead", "used%", "tensor: what helps");
	const struct tfl_subgraph *g = &all->m->subgraph[0];
	for (size_t i = 0; i < all->n; i++) {
		const struct layer *l = &all->layer[i];
		/* the channel with the least signal to noise of the operator alone */
		int32_t worst = 0;
		for (int32_t c = 1; c < l->n_channels; c++)
			if (noise_db(l->channel[c].own) < noise_db(l->channel[worst].own))
				worst = c;
		text_printf(t, "%4d %-20s", l->op, tfl_op_label(&g->op[l->op]));
		put_db(t, 8, noise_db(l->own));
		put_db(t, 8, noise_db(l->all));
		text_printf(t, " %6d", worst);
		put_db(t, 8, noise_db(l->channel[worst].own));
		text_printf(t, " %7.3f %5zu/%-5d %5.1f  ",
			    100 * (double)l->clipped / (double)l->n, dead_channels(l),
			    l->n_channels, used_percent(all, l));
		text_puts(t, g->tensor[l->tensor].name);
		size_t at = t->n;
		text_puts(t, ": ");
		size_t begin = t->n;
		put_advice(t, all, l);
		if (t->n == begin)
			t->n = at;
		text_putc(t, '\n');
	}
}

static void
print_json_layers(struct text *t, const struct layers *all)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	json_root(j, '{');
	json_line(j, 1);
	json_put_string(j, "model", all->m->name);
	json_line(j, 1);
	json_put_i64(j, "items", (int64_t)all->n_items);
	json_line(j, 1);
	json_open(j, "layers", '[');
	const struct tfl_subgraph *g = &all->m->subgraph[0];
	for (size_t i = 0; i < all->n; i++) {
		const struct layer *l = &all->layer[i];
		struct text advice = { 0 };
		put_advice(&advice, all, l);
		json_line(j, 2);
		json_open(j, NULL, '{');
		json_put_i64(j, "operator", l->op);
		json_put_string(j, "name", tfl_op_label(&g->op[l->op]));
		json_put_i64(j, "tensor", l->tensor);
		json_put_string(j, "tensor_name", g->tensor[l->tensor].name);
		json_put_f64(j, "own_snr_db", noise_db(l->own)); /* null: exact */
		json_put_f64(j, "snr_db", noise_db(l->all));
		json_put_i64(j, "values", (int64_t)l->n);
		json_put_i64(j, "clipped", (int64_t)l->clipped);
		json_put_i64(j, "dead_channels", (int64_t)dead_channels(l));
		json_put_f64(j, "used", used_percent(all, l) / 100);
		json_put_f64(j, "own_steps", l->steps);
		json_put_f64(j, "least", l->lo);
		json_put_f64(j, "greatest", l->hi);
		json_put_bool(j, "computed", l->has_function);
		json_put_string(j, "help", text_str(&advice));
		json_line(j, 3);
		json_open(j, "channels", '[');
		for (int32_t c = 0; c < l->n_channels; c++) {
			json_open(j, NULL, '{');
			json_put_i64(j, "channel", c);
			json_put_f64(j, "own_snr_db", noise_db(l->channel[c].own)); /* null: exact */
			json_put_f64(j, "snr_db", noise_db(l->channel[c].all));
			json_put_bool(j, "dead", is_dead(l, c));
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
		text_free(&advice);
	}
	text_puts(t, "\n ]\n}\n");
}

static void
print_csv_layers(struct text *t, const struct layers *all)
{
	const struct tfl_subgraph *g = &all->m->subgraph[0];
	text_puts(t, "operator,name,tensor,own_snr_db,snr_db,clipped,dead_channels,used\n");
	for (size_t i = 0; i < all->n; i++) {
		const struct layer *l = &all->layer[i];
		text_printf(t, "%d,%s,%d", l->op, tfl_op_label(&g->op[l->op]), l->tensor);
		text_putc(t, ',');
		put_db(t, 0, noise_db(l->own));
		text_putc(t, ',');
		put_db(t, 0, noise_db(l->all));
		text_printf(t, ",%.9g,%zu,%.9g\n", (double)l->clipped / (double)l->n,
			    dead_channels(l), used_percent(all, l) / 100);
	}
}

void
print_layers(struct text *t, const struct layers *all, enum format format)
{
	if (format == AS_JSON)
		print_json_layers(t, all);
	else if (format == AS_CSV)
		print_csv_layers(t, all);
	else
		print_rows(t, all);
}
