/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model that was compiled, for the page: attributes of its operators, types, shapes
 * and quantization of its tensors, and statistics of its constants.
 */
#include "report.h"

#include "base/little_endian.h"
#include "tflite/tflite.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* an operator of the model and its place in the report */
struct source {
	const struct tfl_model *m;
	const struct tfl_subgraph *g;
	int *node; /* of each operator; -1: it does not run, as another one includes it */
};

/* the name by which the report knows an operator: that of its first output */
static const char *
name_of(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	return op->n_out && op->out[0] >= 0 ? g->tensor[op->out[0]].name : "";
}

bool
read_source(struct report *r, struct bytes file, const char *name, struct err *e)
{
	struct tfl_model *m;
	struct source *s = anew(r->a, struct source, 1);
	int found = 0;
	if (!tfl_read(r->a, file, name, &m, e))
		return false;
	*s = (struct source){ .m = m, .g = &m->subgraph[0] };
	s->node = anew(r->a, int, (size_t)s->g->n_ops + 1);
	for (int i = 0; i < s->g->n_ops; i++) {
		const struct tfl_op *op = &s->g->op[i];
		const char *kind = tfl_op_label(op), *called = name_of(s->g, op);
		called = *called ? called : kind;
		/* the node with its name and kind; among several, that with its number */
		s->node[i] = -1;
		for (size_t k = 0; k < r->n_nodes; k++) {
			const struct node *x = &r->node[k];
			if (!strcmp(x->name, called) && !strcmp(x->kind, kind) &&
			    (s->node[i] < 0 || x->index == (size_t)i))
				s->node[i] = (int)k;
		}
		found += s->node[i] >= 0;
	}
	if (!found && r->n_nodes)
		return err_at(e, name, 0, "%s was compiled from another model: no operator "
					  "has the name of one in the report", r->file);
	r->source = s;
	return true;
}

/* ---- attributes -------------------------------------------------------------------- */

static void
put_integer(struct text *t, const struct fb_field *f, int64_t v)
{
	static const char *const activations[] = { "none", "RELU", "RELU_N1_TO_1", "RELU6",
						   "TANH", "SIGN_BIT" };
	static const char *const paddings[] = { "SAME", "VALID" };
	if (f->kind == FB_BOOL)
		text_puts(t, v ? "true" : "false");
	else if (!strcmp(f->name, "fused_activation_function") && v >= 0 &&
		 v < (int64_t)ARRAY_LEN(activations))
		text_puts(t, activations[v]);
	else if (!strcmp(f->name, "padding") && v >= 0 && v < (int64_t)ARRAY_LEN(paddings))
		text_puts(t, paddings[v]);
	else if (f->kind == FB_I8 && text_has_suffix(f->name, "_type") &&
		 strcmp(f->name, "kernel_type") != 0)
		text_puts(t, tfl_type_name((int)v));
	else
		text_i64(t, v);
}

static void
put_attributes(const struct json_out *j, struct fb_ref r)
{
	enum { MOST = 32 }; /* elements of a list that the page shows */
	json_open(j, "a", '[');
	for (int i = 0; r.buf && r.table && i < r.table->n_slots; i++) {
		const struct fb_field *f = &r.table->slot[i];
		struct text value = { 0 };
		/* of a file that does not say the type of the bias */
		bool is_unset = f->name && !strcmp(f->name, "quantized_bias_type") &&
				!fb_int(r, i);
		if (f->kind == FB_NONE || !f->name || is_unset)
			continue;
		if (f->kind == FB_F32 || f->kind == FB_F64) {
			text_double(&value, fb_float(r, i));
		} else if (f->kind > FB_NONE && f->kind < FB_F32) {
			put_integer(&value, f, fb_int(r, i));
		} else if (f->kind == FB_VEC + FB_I32) {
			struct fb_vec v = fb_vector(r, i);
			for (uint32_t k = 0; k < v.n && k < MOST; k++)
				text_printf(&value, k ? ", %d" : "%d",
					    (int32_t)load_le32(v.p + 4 * (size_t)k));
			text_puts(&value, v.n > MOST ? ", ..." : "");
		} else {
			text_puts(&value, "...");
		}
		json_open(j, NULL, '[');
		json_put_string(j, NULL, f->name);
		json_put_string(j, NULL, text_str(&value));
		json_close(j, ']');
		text_free(&value);
	}
	json_close(j, ']');
}

/* ---- constants --------------------------------------------------------------------- */

static double
element(const struct tfl_tensor *x, int64_t i)
{
	return x->type == TFL_FLOAT32 ? (double)load_f32(x->data.p + 4 * i)
				      : (double)tfl_integer(x->type, x->data.p, i);
}

/* six digits of a number; JSON has no infinities */
static void
put_real(const struct json_out *j, double v)
{
	json_key(j, NULL);
	text_printf(j->t, isfinite(v) ? "%.6g" : "null", v);
}

static void
put_statistics(const struct json_out *j, struct arena *a, const struct tfl_tensor *x)
{
	enum { BINS = 24, DISTINCT = 1 << 16 };
	double min = DBL_MAX, max = -DBL_MAX, sum = 0, squares = 0;
	int64_t n = 0, zeros = 0; /* n: numbers that are finite */
	int64_t bin[BINS] = { 0 }; /* from min to max */
	for (int64_t i = 0; i < tfl_elements(x); i++) {
		double v = element(x, i);
		if (!isfinite(v))
			continue;
		n++;
		min = v < min ? v : min;
		max = v > max ? v : max;
		zeros += !(fabs(v) > 0);
		sum += v;
	}
	if (!n)
		return;
	double mean = sum / (double)n;
	for (int64_t i = 0; i < tfl_elements(x); i++) {
		double v = element(x, i), part = max - min;
		if (!isfinite(v))
			continue;
		squares += (v - mean) * (v - mean);
		double at = part > 0 && isfinite(part) ? (v - min) / part * BINS : 0;
		bin[at < BINS ? (int)at : BINS - 1]++;
	}
	/* the number of different values of a type that has at most DISTINCT of them; 0: not counted */
	bool counts = x->type != TFL_FLOAT32 && tfl_type_bytes(x->type) <= 2;
	bool *seen = counts ? anew(a, bool, DISTINCT) : NULL;
	int64_t distinct = 0;
	for (int64_t i = 0; counts && i < tfl_elements(x); i++) {
		bool *s = &seen[(uint16_t)tfl_integer(x->type, x->data.p, i)];
		distinct += !*s;
		*s = true;
	}
	json_open(j, "c", '[');
	put_real(j, min);
	put_real(j, max);
	put_real(j, mean);
	put_real(j, sqrt(squares / (double)n));
	json_put_i64(j, NULL, zeros);
	json_put_i64(j, NULL, distinct);
	json_put_i64(j, NULL, tfl_elements(x));
	json_close(j, ']');
	json_open(j, "h", '[');
	for (int i = 0; i < BINS; i++)
		json_put_i64(j, NULL, bin[i]);
	json_close(j, ']');
}

/* ---- tensors and operators --------------------------------------------------------- */

/* number of scales, the least and largest scale and zero point, and the axis of the scales */
static void
put_quantization(const struct json_out *j, const struct tfl_quant *q)
{
	if (!q->n_scale)
		return;
	float least = q->scale[0], most = least;
	int64_t zero = q->n_zero ? q->zero[0] : 0, last = zero;
	for (int i = 1; i < q->n_scale; i++) {
		least = fminf(least, q->scale[i]);
		most = fmaxf(most, q->scale[i]);
	}
	for (int i = 1; i < q->n_zero; i++) {
		zero = q->zero[i] < zero ? q->zero[i] : zero;
		last = q->zero[i] > last ? q->zero[i] : last;
	}
	json_open(j, "q", '[');
	json_put_i64(j, NULL, q->n_scale);
	put_real(j, (double)least);
	put_real(j, (double)most);
	json_put_i64(j, NULL, zero);
	json_put_i64(j, NULL, last);
	json_put_i64(j, NULL, q->axis);
	json_close(j, ']');
}

static void
put_tensor(const struct json_out *j, const struct tfl_tensor *x)
{
	struct arena *a = arena_open();
	json_line(j, 0);
	json_open(j, NULL, '{');
	json_put_string(j, "n", x->name);
	json_put_string(j, "t", tfl_type_name(x->type));
	json_put_i32s(j, "s", x->dim, (size_t)x->rank);
	put_quantization(j, &x->quant);
	bool numbers = x->type == TFL_FLOAT32 || x->type == TFL_INT8 ||
		       x->type == TFL_UINT8 || x->type == TFL_INT16 ||
		       x->type == TFL_INT32 || x->type == TFL_INT64 || x->type == TFL_INT4;
	int bytes = tfl_type_bytes(x->type);
	if (x->data.p && numbers && tfl_elements(x) > 0 &&
	    (uint64_t)tfl_elements(x) <= x->data.n / (unsigned)bytes)
		put_statistics(j, a, x);
	json_close(j, '}');
	arena_close(a);
}

void
source_data(const struct json_out *j, const struct report *r)
{
	const struct source *s = r->source;
	if (!s)
		return;
	json_line(j, 0);
	json_open(j, "source", '{');
	json_open(j, "ops", '[');
	for (int i = 0; i < s->g->n_ops; i++) {
		const struct tfl_op *op = &s->g->op[i];
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_string(j, "k", tfl_op_label(op));
		json_put_string(j, "n", name_of(s->g, op));
		json_put_i64(j, "v", op->version);
		json_put_i64(j, "y", s->node[i]);
		json_put_i32s(j, "i", op->in, (size_t)op->n_in);
		json_put_i32s(j, "o", op->out, (size_t)op->n_out);
		put_attributes(j, op->options);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_line(j, 0);
	json_open(j, "tensors", '[');
	for (int i = 0; i < s->g->n_tensors; i++)
		put_tensor(j, &s->g->tensor[i]);
	json_close(j, ']');
	json_put_i32s(j, "in", s->g->in, (size_t)s->g->n_in);
	json_put_i32s(j, "out", s->g->out, (size_t)s->g->n_out);
	json_close(j, '}');
}
