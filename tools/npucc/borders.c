/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the manifest's description of a compiled model's inputs and outputs. */
#include "npucc.h"

#include "base/json_out.h"
#include "borders/borders.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

static void
put_quantization(const struct json_out *j, const struct tfl_quant *q)
{
	if (!q->n_scale) {
		json_put_null(j, "quantization");
		return;
	}
	json_open(j, "quantization", '{');
	json_open(j, "scale", '[');
	for (int i = 0; i < q->n_scale; i++) {
		json_key(j, NULL);
		text_float(j->t, q->scale[i]);
	}
	json_close(j, ']');
	json_open(j, "zero_point", '[');
	for (int i = 0; i < q->n_zero; i++)
		json_put_i64(j, NULL, q->zero[i]);
	json_close(j, ']');
	json_close(j, '}');
}

/* prints the layout in the file's record; without a record, elements are dense */
static void
put_layout(const struct json_out *j, const struct border_tensor *x)
{
	if (!x->has_record) {
		json_put_string(j, "layout", x->rank == 4 ? "NHWC" : "linear");
		return;
	}
	json_put_string(j, "layout", border_layout_names[x->layout]);
	json_put_i32s(j, "network_shape", x->dim, (size_t)x->rank);
	json_put_i64(j, "row_stride", x->row_stride);
	json_put_i64(j, "pixel_stride", x->pixel_stride);
}

static void
put_border(const struct json_out *j, const struct tfl_model *m, int index,
	   const struct border_tensor *d)
{
	const struct tfl_tensor *x = &m->subgraph[0].tensor[index];
	struct stream_place own = stream_separate_place(m, index);
	int64_t at = own.region ? -1 : tfl_planned_at(m, 0, index);
	json_open(j, NULL, '{');
	json_put_string(j, "name", x->name);
	json_put_string(j, "type", tfl_type_name(x->type));
	json_put_i32s(j, "shape", x->dim, (size_t)x->rank);
	json_put_i64(j, "bytes", tfl_bytes(x));
	put_layout(j, d);
	if (at < 0)
		json_put_null(j, "arena_offset");
	else
		json_put_i64(j, "arena_offset", at);
	if (own.region) {
		json_put_i64(j, "region", own.region);
		json_put_i64(j, "region_offset", own.at);
	}
	put_quantization(j, &x->quant);
	json_close(j, '}');
}

static void
put_list(const struct json_out *j, const char *key, const struct tfl_model *m, const int *v,
	 const struct border_tensor *x, int n)
{
	json_line(j, 2);
	json_open(j, key, '[');
	for (int i = 0; i < n; i++) {
		json_line(j, 4);
		put_border(j, m, v[i], &x[i]);
	}
	json_close_line(j, 2, ']');
}

/*
 * The first dimension of inputs with more than one dimension, if all inputs have the
 * same; else 1.
 */
static int
batch_of(const struct tfl_subgraph *g)
{
	int batch = 0;
	for (int i = 0; i < g->n_in; i++) {
		const struct tfl_tensor *x = &g->tensor[g->in[i]];
		int n = x->rank > 1 ? x->dim[0] : 1;
		batch = batch && batch != n ? 1 : n;
	}
	return batch ? batch : 1;
}

bool
manifest_borders(struct npucc *c, const char *compiled, const struct json_out *j)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct border_tensors borders;
	bool ok = tfl_read_file(a, compiled, &m, &e) && borders_read(a, m, &borders, &e);
	if (ok) {
		const struct tfl_subgraph *g = &m->subgraph[0];
		json_line(j, 2);
		json_put_i64(j, "batch", batch_of(g));
		if (borders.desired) {
			json_line(j, 2);
			json_put_i64(j, "desired_batch_size", borders.desired);
			json_line(j, 2);
			json_put_i64(j, "actual_batch_size", borders.actual);
		}
		put_list(j, "inputs", m, g->in, borders.in, g->n_in);
		put_list(j, "outputs", m, g->out, borders.out, g->n_out);
	}
	arena_close(a);
	return ok || err_set(c->e, "can't read the output of npu-cmdgen: %s", e.text);
}
