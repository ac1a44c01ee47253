/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a model as a file that TensorFlow Lite Micro accepts: nputools-tflite(5) 1.6
 * and 6.9.
 */
#include "tflite/wire.h"

#include "base/little_endian.h"
#include "tflite/fields.h"
#include "tflite/write.h"

struct write {
	struct arena *a;
	const struct tflw_model *m;
	struct fbw *w;
	struct err *e;
};

static fbw_off
write_new_tensor(struct fbw *w, const struct tflw_tensor *t)
{
	fbw_off shape = fbw_i32s(w, t->t.dim, (size_t)t->t.rank);
	fbw_off name = t->t.name ? fbw_string(w, t->t.name) : 0;
	const struct tfl_quant *q = &t->t.quant;
	fbw_off quant = 0;
	if (q->n_scale || q->n_zero) {
		fbw_off scale = fbw_f32s(w, q->scale, (size_t)q->n_scale);
		fbw_off zero = fbw_i64s(w, q->zero, (size_t)q->n_zero);
		fbw_table(w, &fb_QuantizationParameters);
		fbw_ref(w, FB_QuantizationParameters_scale, scale);
		fbw_ref(w, FB_QuantizationParameters_zero_point, zero);
		fbw_int(w, FB_QuantizationParameters_quantized_dimension, q->axis);
		quant = fbw_end(w);
	}
	fbw_table(w, &fb_Tensor);
	fbw_ref(w, FB_Tensor_shape, shape);
	fbw_int(w, FB_Tensor_type, t->t.type);
	fbw_int(w, FB_Tensor_buffer, t->buffer);
	fbw_ref(w, FB_Tensor_name, name);
	fbw_ref(w, FB_Tensor_quantization, quant);
	fbw_int(w, FB_Tensor_is_variable, t->t.is_variable);
	fbw_int(w, FB_Tensor_has_rank, t->t.rank == 0 && t->t.has_shape);
	return fbw_end(w);
}

static fbw_off
copy_dims(struct fbw *w, struct fb_ref tensor, int slot)
{
	struct fb_vec v = fb_vector(tensor, slot);
	int32_t dims[TFL_MAX_RANK];
	for (uint32_t i = 0; i < v.n; i++)
		dims[i] = (int32_t)load_le32(v.p + 4 * (size_t)i);
	return v.p ? fbw_i32s(w, dims, v.n) : 0;
}

/* Copies everything of the original except for the buffer's index. */
static bool
write_tensor(struct write *k, const struct tflw_tensor *t, fbw_off *out)
{
	struct fbw *w = k->w;
	if (!t->from.buf) {
		*out = write_new_tensor(w, t);
		return true;
	}
	fbw_off q = 0, sparsity = 0;
	struct fb_ref from = t->from;
	struct fb_ref quant = fb_child(from, FB_Tensor_quantization);
	struct fb_ref sp = fb_child(from, FB_Tensor_sparsity);
	if ((quant.buf && !fbw_copy(w, quant, &q, k->e)) ||
	    (sp.buf && !fbw_copy(w, sp, &sparsity, k->e)))
		return false;
	fbw_off shape = copy_dims(w, from, FB_Tensor_shape);
	fbw_off sig = copy_dims(w, from, FB_Tensor_shape_signature);
	fbw_off name = fb_has(from, FB_Tensor_name)
			   ? fbw_string(w, fb_string(from, FB_Tensor_name, NULL))
			   : 0;
	fbw_table(w, &fb_Tensor);
	fbw_ref(w, FB_Tensor_shape, shape);
	fbw_int(w, FB_Tensor_type, fb_int(from, FB_Tensor_type));
	fbw_int(w, FB_Tensor_buffer, t->buffer);
	fbw_ref(w, FB_Tensor_name, name);
	fbw_ref(w, FB_Tensor_quantization, q);
	fbw_int(w, FB_Tensor_is_variable, fb_int(from, FB_Tensor_is_variable));
	fbw_ref(w, FB_Tensor_sparsity, sparsity);
	fbw_ref(w, FB_Tensor_shape_signature, sig);
	fbw_int(w, FB_Tensor_has_rank, fb_int(from, FB_Tensor_has_rank));
	*out = fbw_end(w);
	return true;
}

const char *
tfl_op_opaque(struct fb_ref op)
{
	if (fb_int(op, FB_Operator_large_custom_options_offset) > 1)
		return "large_custom_options";
	return fb_opaque(op);
}

static bool
write_op(struct write *k, const struct tflw_op *op, fbw_off *out)
{
	struct fbw *w = k->w;
	struct fb_ref from = op->from;
	fbw_off options = 0, options2 = 0, custom = 0, mid = 0, mutating = 0;
	struct bytes c = op->custom_options;
	if (from.buf) {
		struct fb_vec v = fb_vector(from, FB_Operator_custom_options);
		c = (struct bytes){ .p = v.p, .n = v.n };
		struct fb_ref o = fb_child(from, FB_Operator_builtin_options);
		struct fb_ref o2 = fb_child(from, FB_Operator_builtin_options_2);
		if ((o.buf && !fbw_copy(w, o, &options, k->e)) ||
		    (o2.buf && !fbw_copy(w, o2, &options2, k->e)))
			return false;
		v = fb_vector(from, FB_Operator_mutating_variable_inputs);
		mutating = v.n ? fbw_bytes(w, v.p, v.n, 1) : 0;
	} else if (op->options) {
		fbw_table(w, op->options);
		for (int i = 0; i < op->options->n_slots; i++) {
			int kind = op->options->slot[i].kind;
			if (kind == FB_F32 || kind == FB_F64)
				fbw_float(w, i, op->option_float ? op->option_float[i] : 0);
			else if (fb_scalar_bytes(kind))
				fbw_int(w, i, op->option[i]);
		}
		options = fbw_end(w);
	}
	if (c.p)
		custom = fbw_bytes(w, c.p, c.n, 1);
	if (op->n_mid)
		mid = fbw_i32s(w, op->mid, (size_t)op->n_mid);
	fbw_off in = fbw_i32s(w, op->in, (size_t)op->n_in);
	fbw_off outs = fbw_i32s(w, op->out, (size_t)op->n_out);
	fbw_table(w, &fb_Operator);
	fbw_int(w, FB_Operator_opcode_index, op->opcode);
	fbw_ref(w, FB_Operator_inputs, in);
	fbw_ref(w, FB_Operator_outputs, outs);
	fbw_int(w, FB_Operator_builtin_options_tag,
		from.buf ? fb_int(from, FB_Operator_builtin_options_tag)
			 : op->options_tag);
	fbw_ref(w, FB_Operator_builtin_options, options);
	fbw_ref(w, FB_Operator_custom_options, custom);
	fbw_ref(w, FB_Operator_mutating_variable_inputs, mutating);
	fbw_ref(w, FB_Operator_intermediates, mid);
	if (options2)
		fbw_int(w, FB_Operator_builtin_options_2_tag,
			fb_int(from, FB_Operator_builtin_options_2_tag));
	fbw_ref(w, FB_Operator_builtin_options_2, options2);
	*out = fbw_end(w);
	return true;
}

static bool
write_subgraph(struct write *k, const struct tflw_subgraph *g, fbw_off *out)
{
	fbw_off *item = anew(k->a, fbw_off,
			     (size_t)(g->n_tensors + g->n_ops));
	fbw_off *op = item + g->n_tensors;
	for (int i = 0; i < g->n_tensors; i++)
		if (!write_tensor(k, &g->tensor[i], &item[i]))
			return false;
	for (int i = 0; i < g->n_ops; i++) {
		const char *what = g->op[i].from.buf ? tfl_op_opaque(g->op[i].from)
						     : NULL;
		if (what)
			return err_set(k->e, "operator %d to be written has %s that can't be "
				       "copied", i, what);
		if (!write_op(k, &g->op[i], &op[i]))
			return false;
	}
	struct fbw *w = k->w;
	fbw_off tensors = fbw_offsets(w, item, (size_t)g->n_tensors);
	fbw_off ops = fbw_offsets(w, op, (size_t)g->n_ops);
	fbw_off in = fbw_i32s(w, g->in, (size_t)g->n_in);
	fbw_off outs = fbw_i32s(w, g->out, (size_t)g->n_out);
	fbw_off name = g->name ? fbw_string(w, g->name) : 0;
	fbw_table(w, &fb_SubGraph);
	fbw_ref(w, FB_SubGraph_tensors, tensors);
	fbw_ref(w, FB_SubGraph_inputs, in);
	fbw_ref(w, FB_SubGraph_outputs, outs);
	fbw_ref(w, FB_SubGraph_operators, ops);
	fbw_ref(w, FB_SubGraph_name, name);
	*out = fbw_end(w);
	return true;
}

static fbw_off
write_buffers(struct write *k)
{
	size_t n = (size_t)k->m->n_buffers;
	fbw_off *item = anew(k->a, fbw_off, n);
	for (size_t i = n; i-- > 0;) {
		struct bytes b = k->m->buffer[i];
		fbw_off data = b.n ? fbw_bytes(k->w, b.p, b.n, 16) : 0;
		fbw_table(k->w, &fb_Buffer);
		fbw_ref(k->w, FB_Buffer_data, data);
		item[i] = fbw_end(k->w);
	}
	return fbw_offsets(k->w, item, n);
}

static fbw_off
write_opcodes(struct write *k)
{
	/* the old byte has this value for all codes above it (nputools-tflite(5) 4.3) */
	enum { PLACEHOLDER = 127 };
	size_t n = (size_t)k->m->n_opcodes;
	fbw_off *item = anew(k->a, fbw_off, n);
	for (size_t i = 0; i < n; i++) {
		const struct tflw_opcode *c = &k->m->opcode[i];
		fbw_off custom = c->custom ? fbw_string(k->w, c->custom) : 0;
		fbw_table(k->w, &fb_OperatorCode);
		fbw_int(k->w, FB_OperatorCode_deprecated_builtin_code,
			c->code < PLACEHOLDER ? c->code : PLACEHOLDER);
		fbw_ref(k->w, FB_OperatorCode_custom_code, custom);
		fbw_int(k->w, FB_OperatorCode_version, c->version);
		fbw_int(k->w, FB_OperatorCode_builtin_code, c->code);
		item[i] = fbw_end(k->w);
	}
	return fbw_offsets(k->w, item, n);
}

static fbw_off
write_metadata(struct write *k)
{
	size_t n = (size_t)k->m->n_metadata;
	fbw_off *item = anew(k->a, fbw_off, n);
	for (size_t i = 0; i < n; i++) {
		fbw_off name = fbw_string(k->w, k->m->metadata[i].name);
		fbw_table(k->w, &fb_Metadata);
		fbw_ref(k->w, FB_Metadata_name, name);
		fbw_int(k->w, FB_Metadata_buffer, k->m->metadata[i].buffer);
		item[i] = fbw_end(k->w);
	}
	return n ? fbw_offsets(k->w, item, n) : 0;
}

static fbw_off
write_tensor_maps(struct write *k, struct fb_ref from, int slot, const uint32_t *tensor)
{
	uint32_t n = fb_vector(from, slot).n;
	fbw_off *item = anew(k->a, fbw_off, (size_t)n + 1);
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref map = fb_item(from, slot, i);
		fbw_off name = fbw_string(k->w, fb_string(map, FB_TensorMap_name, NULL));
		fbw_table(k->w, &fb_TensorMap);
		fbw_ref(k->w, FB_TensorMap_name, name);
		fbw_int(k->w, FB_TensorMap_tensor_index, tensor[i]);
		item[i] = fbw_end(k->w);
	}
	return fbw_offsets(k->w, item, n);
}

static fbw_off
write_signatures(struct write *k)
{
	size_t n = (size_t)k->m->n_signatures;
	fbw_off *item = anew(k->a, fbw_off, n + 1);
	for (size_t i = 0; i < n; i++) {
		const struct tflw_signature *s = &k->m->signature[i];
		fbw_off in = write_tensor_maps(k, s->from, FB_SignatureDef_inputs, s->in);
		fbw_off outs = write_tensor_maps(k, s->from, FB_SignatureDef_outputs, s->out);
		fbw_off key = fbw_string(k->w, fb_string(s->from, FB_SignatureDef_signature_key,
							 NULL));
		fbw_table(k->w, &fb_SignatureDef);
		fbw_ref(k->w, FB_SignatureDef_inputs, in);
		fbw_ref(k->w, FB_SignatureDef_outputs, outs);
		fbw_ref(k->w, FB_SignatureDef_signature_key, key);
		fbw_int(k->w, FB_SignatureDef_subgraph_index,
			fb_int(s->from, FB_SignatureDef_subgraph_index));
		item[i] = fbw_end(k->w);
	}
	return n ? fbw_offsets(k->w, item, n) : 0;
}

static bool
write_model(struct write *k, fbw_off *out)
{
	const struct tflw_model *m = k->m;
	fbw_off buffers = write_buffers(k);
	fbw_off metadata = write_metadata(k);
	fbw_off signatures = write_signatures(k);
	fbw_off *item = anew(k->a, fbw_off, (size_t)m->n_subgraphs);
	for (int i = 0; i < m->n_subgraphs; i++)
		if (!write_subgraph(k, &m->subgraph[i], &item[i]))
			return false;
	fbw_off subgraphs = fbw_offsets(k->w, item, (size_t)m->n_subgraphs);
	fbw_off description = m->description ? fbw_string(k->w, m->description) : 0;
	fbw_off opcodes = write_opcodes(k);
	fbw_table(k->w, &fb_Model);
	fbw_int(k->w, FB_Model_version, 3);
	fbw_ref(k->w, FB_Model_operator_codes, opcodes);
	fbw_ref(k->w, FB_Model_subgraphs, subgraphs);
	fbw_ref(k->w, FB_Model_description, description);
	fbw_ref(k->w, FB_Model_buffers, buffers);
	fbw_ref(k->w, FB_Model_metadata, metadata);
	fbw_ref(k->w, FB_Model_signature_defs, signatures);
	*out = fbw_end(k->w);
	return true;
}

bool
tfl_write(struct arena *a, const struct tflw_model *m, struct bytes *out,
	  struct err *e)
{
	enum { REST = 1 << 16 }; /* enough for the tables of most models */
	uint64_t bytes = 0; /* lower bound of the file's size */
	for (int i = 0; i < m->n_buffers; i++)
		bytes += m->buffer[i].n;
	if (bytes >= TFL_MAX_BYTES) /* before the memory is allocated */
		return err_set(e, "the model would be larger than 2 GB, the limit "
				  "of the format");
	struct write k = { .a = a, .m = m, .w = fbw_open(), .e = e };
	fbw_off root;
	fbw_reserve(k.w, (size_t)bytes + REST);
	bool ok = write_model(&k, &root) && fbw_finish(k.w, root, out, e);
	if (ok)
		fbw_leave(k.w, a);
	else
		fbw_close(k.w);
	return ok;
}
