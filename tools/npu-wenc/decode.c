/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes the weights of a .wenc graph into NumPy arrays. */
#include "wenc.h"

#include "base/little_endian.h"
#include "base/npy.h"
#include "emit/emit.h"
#include "graph/build.h"
#include "stream/op.h"
#include "stream/stream.h"

/* the values of a piece: of one stream, or of all streams for the fast decoder */
static bool
decode_piece(struct wenc *w, const struct weights_order *ord, bool fast, struct bytes in,
	     size_t count, struct weights_values out[NPU_MAX_STREAMS])
{
	struct weights_values all;
	int16_t *stream[NPU_MAX_STREAMS];
	size_t n = (size_t)ord->cores;
	if (!fast)
		return weights_decode(w->a, in, (int64_t)count, &out[0], w->e);
	if (!weights_fast_decode(w->a, in, count * n, &all, w->e))
		return false;
	for (size_t k = 0; k < n; k++) {
		stream[k] = anew(w->a, int16_t, count + 1);
		out[k] = (struct weights_values){ .v = stream[k], .n = count };
	}
	weights_fast_split(all.v, ord->cores, count, weights_fast_chunk(ord), stream);
	return true;
}

static bool
restore_piece(struct wenc *w, const struct g_op *op, struct bytes flash,
	      struct weights_order ord, int slice, int16_t *out)
{
	const int32_t *d = op->weights->shape.dim;
	ptrdiff_t per_o = (ptrdiff_t)d[1] * d[2] * d[3];
	const struct g_code *c = emit_code(w->g, op->weights, slice, ord.core);
	if (!c || c->weight_bytes.at + c->weight_bytes.bytes > (int64_t)flash.n)
		return graph_err(w->g, op->weights, w->e,
		    "w%d: slice %d is not encoded, or its address is outside of the "
		    "constants",
				 op->weights->rec.id, slice);
	struct bytes in = { .p = flash.p + c->weight_bytes.at,
			    .n = (size_t)c->weight_bytes.bytes };
	struct weights_values v[NPU_MAX_STREAMS];
	size_t n = weights_order_count(&ord, d[1], d[2], d[3]);
	struct err why = { 0 };
	struct wenc with_why = *w;
	with_why.e = &why;
	if (!decode_piece(&with_why, &ord, op->fast, in, n, v))
		return graph_err(w->g, op->weights, w->e, "w%d: slice %d: %s",
				 op->weights->rec.id, slice, why.text);
	struct weights_dest place = {
		.p = out + ord.begin * per_o, .h = d[1], .w = d[2],
		.i = d[3], .stride_o = per_o, .stride_y = (ptrdiff_t)d[2] * d[3],
		.stride_x = d[3], .stride_i = 1,
	};
	int streams = op->fast ? ord.cores : 1;
	for (int k = 0; k < streams; k++) {
		ord.core += k > 0;
		(void)weights_restore(v[k].v, &ord, &place);
	}
	return true;
}

bool
decode_all(struct wenc *w, const struct options *o)
{
	struct g_blob *b = graph_find_blob(w->g, "flash");
	struct bytes flash;
	if (!b)
		return err_at(w->e, w->g->file, 0, "the graph has no blob 'flash': run "
						   "npu-wenc on it first");
	if (!graph_blob(w->g, b, &flash, w->e))
		return false;
	bool *done = anew(w->a, bool, w->g->n_ops + 1);
	const char *dir = o->output ? o->output : ".";
	file_set_directory(w->files, dir);
	for (size_t i = 0; i < w->g->n_ops; i++) {
		const struct g_op *op = w->g->ops[i];
		for (size_t k = 0; op->weights && k < i; k++)
			done[i] |= w->g->ops[k]->weights == op->weights;
		if (!op->weights || done[i])
			continue;
		const int32_t *d = op->weights->shape.dim;
		size_t n = (size_t)d[0] * (size_t)d[1] * (size_t)d[2] * (size_t)d[3];
		int16_t *v = anew(w->a, int16_t, n); /* OHWI */
		int slices = op->weights->slices.n ? (int)op->weights->slices.n - 1 : 1;
		int cores = emit_streams(w->accel, op);
		for (int k = 0; k < slices * cores; k++) {
			struct weights_order ord = emit_weights_order(w->accel, op, k / cores,
								      k % cores);
			if (weights_order_channels(&ord) &&
			    !restore_piece(w, op, flash, ord, k / cores, v))
				return false;
		}
		struct npy npy = { .kind = 'i', .item_bytes = 2, .rank = 4,
				   .dim = { d[0], d[1], d[2], d[3] } };
		uint8_t *data = anew(w->a, uint8_t, 2 * n + 1);
		for (size_t k = 0; k < n; k++)
			store_le16(data + 2 * k, (uint16_t)v[k]);
		npy.data = (struct bytes){ .p = data, .n = 2 * n };
		struct text t = { 0 };
		npy_print(&t, &npy);
		const char *path = arena_printf(w->a, "%s/w%d.npy", dir, op->weights->rec.id);
		bool ok = file_set_add(w->files, path, t.p, t.n, true, w->e);
		text_free(&t);
		if (!ok)
			return false;
	}
	return true;
}
