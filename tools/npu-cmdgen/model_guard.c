/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps an interpreter from using the memory of variables.  TensorFlow Lite Micro takes a tensor
 * of the plan to be live until the last operator that has the tensor, variables included, and
 * places the buffers of kernels over all others (ethosu-commands(7) 13.4).  An operator of the
 * NPU has the whole memory of its subgraph.  Where other operators follow, a last operator, the
 * guard, has the memory of all subgraphs.
 */
#include "model.h"

#include "emit/emit.h"

/* Does an operator of the CPU follow all those of the NPU?  Conversions take no buffers. */
static bool
has_cpu_last(const struct cmdgen *c)
{
	for (size_t i = c->g->n_nodes; i-- > 0;) {
		const struct g_node *n = c->g->nodes[i];
		if (n->kind == NODE_NPU && c->stream[i].n_marks)
			return false;
		if (n->kind != NODE_CPU)
			continue;
		int code = c->m->subgraph[0].op[n->tfl.v[0].index].code;
		if (code != TFL_QUANTIZE && code != TFL_DEQUANTIZE)
			return true;
	}
	return false;
}

void
add_guard(struct build *b)
{
	uint32_t stop = 0xffff0000; /* NPU_OP_STOP */
	struct cmdgen *c = b->c;
	bool variables = false;
	for (size_t i = 0; i < c->g->n_tensors; i++)
		variables |= c->g->tensors[i]->variable && c->g->tensors[i]->area == PLACE_ARENA;
	if (!b->body_keeps && !(variables && has_cpu_last(c)))
		return;
	struct emit_words w = { .word = &stop, .n = 1 };
	struct bytes payload = emit_payload(c->a, c->accel, &w);
	int *in = anew(c->a, int, 4);
	in[0] = add_bytes_tensor(b, "npu_guard", (int64_t)payload.n, add_buffer(b, payload), -1);
	in[1] = in[2] = in[3] = add_bytes_tensor(b, "npu_kept", b->top, EMPTY_BUFFER, 0);
	b->sg.op[b->sg.n_ops++] = (struct tflw_op){
		.opcode = ethosu_opcode(b), .n_in = 4, .in = in, .out = anew(c->a, int, 1),
		.custom_options = { .p = ethosu_options, .n = sizeof(ethosu_options) },
	};
}
