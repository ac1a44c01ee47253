/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the manifest's description of a compiled model's inputs and outputs. */
#include "npucc.h"

#include "borders/borders.h"
#include "stream/stream.h"

#include <string.h>

static void
put_quantization(struct text *t, const struct tfl_quant *q)
{
	if (!q->n_scale) {
		text_puts(t, "null");
		return;
	}
	text_puts(t, "{\"scale\": [");
	for (int i = 0; i < q->n_scale; i++) {
		text_puts(t, i ? ", " : "");
		text_float(t, q->scale[i]);
	}
	text_puts(t, "], \"zero_point\": [");
	for (int i = 0; i < q->n_zero; i++)
		text_printf(t, "%s%lld", i ? ", " : "", (long long)q->zero[i]);
	text_puts(t, "]}");
}

/* prints the layout in the file's record; without a record, elements are dense */
static void
put_layout(struct text *t, const struct border_tensor *x)
{
	if (!x->has_record) {
		text_puts(t, x->rank == 4 ? "\"NHWC\"" : "\"linear\"");
		return;
	}
	text_printf(t, "\"%s\", \"network_shape\": [", border_layout_names[x->layout]);
	for (int i = 0; i < x->rank; i++)
		text_printf(t, "%s%d", i ? ", " : "", x->dim[i]);
	text_printf(t, "], \"row_stride\": %lld, \"pixel_stride\": %lld",
		    (long long)x->row_stride, (long long)x->pixel_stride);
}

static void
put_border(struct text *t, const struct tfl_model *m, int index, const struct border_tensor *d)
{
	const struct tfl_tensor *x = &m->subgraph[0].tensor[index];
	struct stream_place own = stream_separate_place(m, index);
	int64_t at = own.region ? -1 : tfl_planned_at(m, index);
	text_puts(t, "    {\"name\": ");
	text_quoted(t, x->name, strlen(x->name));
	text_printf(t, ", \"type\": \"%s\", \"shape\": [", tfl_type_name(x->type));
	for (int i = 0; i < x->rank; i++)
		text_printf(t, "%s%d", i ? ", " : "", x->dim[i]);
	text_printf(t, "], \"bytes\": %lld, \"layout\": ", (long long)tfl_bytes(x));
	put_layout(t, d);
	text_puts(t, ", \"arena_offset\": ");
	if (at < 0)
		text_puts(t, "null");
	else
		text_i64(t, at);
	if (own.region)
		text_printf(t, ", \"region\": %d, \"region_offset\": %lld", own.region,
			    (long long)own.at);
	text_puts(t, ", \"quantization\": ");
	put_quantization(t, &x->quant);
	text_putc(t, '}');
}

static void
put_list(struct text *t, const char *key, const struct tfl_model *m, const int *v,
	 const struct border_tensor *x, int n)
{
	text_printf(t, "  \"%s\": [\n", key);
	for (int i = 0; i < n; i++) {
		put_border(t, m, v[i], &x[i]);
		text_puts(t, i + 1 < n ? ",\n" : "\n");
	}
	text_puts(t, "  ],\n");
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
manifest_borders(struct npucc *c, const char *compiled, struct text *t)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct tfl_model *m;
	struct border_tensors borders;
	bool ok = tfl_read_file(a, compiled, &m, &e) && borders_read(a, m, &borders, &e);
	if (ok) {
		const struct tfl_subgraph *g = &m->subgraph[0];
		text_printf(t, "  \"batch\": %d,\n", batch_of(g));
		if (borders.desired)
			text_printf(t, "  \"desired_batch_size\": %d,\n"
				       "  \"actual_batch_size\": %d,\n",
				    borders.desired, borders.actual);
		put_list(t, "inputs", m, g->in, borders.in, g->n_in);
		put_list(t, "outputs", m, g->out, borders.out, g->n_out);
	}
	arena_close(a);
	return ok || err_set(c->e, "error: can't read the output of npu-cmdgen: %s",
			     e.text);
}
