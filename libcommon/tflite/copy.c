/* SPDX-License-Identifier: Apache-2.0 */
/* Describes a model for writing it again, with changes. */
#include "tflite/write.h"

#include "tflite/fields.h"

#include <string.h>

void
tflw_copy(struct arena *a, const struct tfl_model *m, struct tflw_model *w)
{
	*w = (struct tflw_model){ .n_subgraphs = m->n_subgraphs,
				  .n_buffers = (int)m->n_buffers };
	if (fb_has(m->root, FB_Model_description))
		w->description = m->description;
	w->buffer = anew(a, struct bytes, m->n_buffers + 1);
	memcpy(w->buffer, m->buffer, m->n_buffers * sizeof(*w->buffer));
	w->subgraph = anew(a, struct tflw_subgraph, (size_t)m->n_subgraphs);
	for (int s = 0; s < m->n_subgraphs; s++) {
		const struct tfl_subgraph *from = &m->subgraph[s];
		struct tflw_subgraph *out = &w->subgraph[s];
		*out = (struct tflw_subgraph){
			.name = fb_has(from->ref, FB_SubGraph_name) ? from->name : NULL,
			.in = from->in, .out = from->out, .n_in = from->n_in,
			.n_out = from->n_out, .n_tensors = from->n_tensors,
			.n_ops = from->n_ops,
		};
		out->tensor = anew(a, struct tflw_tensor, (size_t)from->n_tensors + 1);
		for (int i = 0; i < from->n_tensors; i++)
			out->tensor[i] = (struct tflw_tensor){
				.from = from->tensor[i].ref,
				.buffer = from->tensor[i].buffer };
		out->op = anew(a, struct tflw_op, (size_t)from->n_ops + 1);
		for (int i = 0; i < from->n_ops; i++) {
			const struct tfl_op *op = &from->op[i];
			out->op[i] = (struct tflw_op){
				.from = op->ref, .opcode = op->opcode, .n_in = op->n_in,
				.n_out = op->n_out, .n_mid = op->n_mid, .in = op->in,
				.out = op->out, .mid = op->mid };
		}
	}
	w->n_opcodes = (int)fb_vector(m->root, FB_Model_operator_codes).n;
	w->opcode = anew(a, struct tflw_opcode, (size_t)w->n_opcodes + 1);
	for (int i = 0; i < w->n_opcodes; i++) {
		struct fb_ref c = fb_item(m->root, FB_Model_operator_codes, (uint32_t)i);
		int64_t code = fb_int(c, FB_OperatorCode_builtin_code);
		int64_t old = fb_int(c, FB_OperatorCode_deprecated_builtin_code);
		w->opcode[i] = (struct tflw_opcode){
			.code = (int)(code > old ? code : old),
			.custom = fb_has(c, FB_OperatorCode_custom_code)
				      ? fb_string(c, FB_OperatorCode_custom_code, NULL)
				      : NULL,
			.version = (int)fb_int(c, FB_OperatorCode_version) };
	}
}
