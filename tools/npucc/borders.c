/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the manifest's description of a compiled model's inputs and outputs. */
#include "npucc.h"

#include "base/json_out.h"
#include "borders/borders.h"
#include "stream/stream.h"
#include "tflite/tflite.h"

static void
put_list(const struct json_out *j, const char *key, const struct tfl_model *m, const int *v,
	 const struct border_tensor *x, int n)
{
	json_line(j, 2);
	json_open(j, key, '[');
	for (int i = 0; i < n; i++) {
		const struct tfl_tensor *t = &m->subgraph[0].tensor[v[i]];
		const struct border_tensor *border = &x[i];
		const struct tfl_quant *q = &t->quant;
		struct stream_place own = stream_separate_place(m, v[i]);
		int64_t at = own.region ? -1 : tfl_planned_at(m, 0, v[i]);
		json_line(j, 4);
		json_open(j, NULL, '{');
		json_put_string(j, "name", t->name);
		json_put_string(j, "type", tfl_type_name(t->type));
		json_put_i32s(j, "shape", t->dim, (size_t)t->rank);
		json_put_i64(j, "bytes", tfl_bytes(t));

		/* the layout in the file's record; without a record, elements are dense */
		if (!border->has_record) {
			json_put_string(j, "layout", border->rank == 4 ? "NHWC" : "linear");
		} else {
			json_put_string(j, "layout", border_layout_names[border->layout]);
			json_put_i32s(j, "network_shape", border->dim, (size_t)border->rank);
			json_put_i64(j, "row_stride", border->row_stride);
			json_put_i64(j, "pixel_stride", border->pixel_stride);
		}
		if (at < 0)
			json_put_null(j, "arena_offset");
		else
			json_put_i64(j, "arena_offset", at);
		if (own.region) {
			json_put_i64(j, "region", own.region);
			json_put_i64(j, "region_offset", own.at);
		}

		if (!q->n_scale) {
			json_put_null(j, "quantization");
		} else {
			json_open(j, "quantization", '{');
			json_open(j, "scale", '[');
			for (int k = 0; k < q->n_scale; k++) {
				json_key(j, NULL);
				text_float(j->t, q->scale[k]);
			}
			json_close(j, ']');
			json_open(j, "zero_point", '[');
			for (int k = 0; k < q->n_zero; k++)
				json_put_i64(j, NULL, q->zero[k]);
			json_close(j, ']');
			json_close(j, '}');
		}
		json_close(j, '}');
	}
	json_close_line(j, 2, ']');
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
		/*
		 * The first dimension of inputs with more than one dimension, if all inputs have
		 * the same; else 1.
		 */
		const struct tfl_subgraph *g = &m->subgraph[0];
		int batch = 0;
		for (int i = 0; i < g->n_in; i++) {
			const struct tfl_tensor *x = &g->tensor[g->in[i]];
			int n = x->rank > 1 ? x->dim[0] : 1;
			batch = batch && batch != n ? 1 : n;
		}
		json_line(j, 2);
		json_put_i64(j, "batch", batch ? batch : 1);
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
