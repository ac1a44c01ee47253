/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding: evaluates operators on constants, and SHAPE of a tensor with a
 * static shape, with the reference kernels; their consumers then see a constant.
 * If the CPU needs the result, the operator runs there instead.  Results that are
 * outputs of the model are copied.
 */
#include "../moves/move.h"

#include "base/cli.h"
#include "base/little_endian.h"
#include "graph/facts.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"

enum {
	MAX_RESULTS = 1 << 26, /* bytes, of all results together */
	MAX_OUT = 8,
};

static bool
is_foldable(const struct part *p, const struct tfl_op *op, int64_t *bytes_left)
{
	/* operators whose time may be long although their results have few bytes */
	static const bool heavy[TFL_BUILTIN_LIMIT] = {
		[TFL_CONV_2D] = true, [TFL_DEPTHWISE_CONV_2D] = true, [TFL_TRANSPOSE_CONV] = true,
		[TFL_FULLY_CONNECTED] = true, [TFL_BATCH_MATMUL] = true,
		[TFL_AVERAGE_POOL_2D] = true, [TFL_MAX_POOL_2D] = true, [TFL_SVDF] = true,
		[TFL_UNIDIRECTIONAL_SEQUENCE_LSTM] = true,
	};
	if (!kernel_exists(op->code) || heavy[op->code] || op->n_in < 1)
		return false;
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *t = part_in(p, op, k);
		bool shape = op->code == TFL_SHAPE && t && t->has_shape &&
			     !t->is_dynamic &&
			     (t->data.p || t->producer >= 0 || p->is_model_input[op->in[k]]);
		if (t && !shape && (!t->data.p || p->is_model_input[op->in[k]]))
			return false;
	}
	for (int k = 0; k < op->n_out; k++) {
		const struct tfl_tensor *t = part_out(p, op, k);
		int64_t n = tfl_elements(t);
		int size = tfl_type_bytes(t->type);
		/* no dimensions: a scalar, as old converters write it */
		if ((!t->has_shape && t->rank) || t->is_dynamic || t->is_variable || n < 1 ||
		    size < 1 || t->data.p || n > *bytes_left / size)
			return false;
		*bytes_left -= n * size;
	}
	return true;
}

static bool
evaluate_constant(struct part *p, const struct tfl_op *op)
{
	void **in = anew(p->a, void *, (size_t)op->n_in);
	void **out = anew(p->a, void *, (size_t)op->n_out);
	struct tfl_tensor *t = p->m->subgraph[0].tensor;
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0)
			in[k] = (void *)(uintptr_t)t[op->in[k]].data.p;
	size_t n[MAX_OUT];
	for (int k = 0; k < op->n_out; k++) {
		n[k] = (size_t)tfl_elements(&t[op->out[k]]) *
		       (size_t)tfl_type_bytes(t[op->out[k]].type);
		out[k] = anew(p->a, uint64_t, n[k] / 8 + 1);
	}
	struct err e = { 0 };
	const struct kernel_io io = { .in = in, .out = out };
	if (!kernel_eval(p->sg, op, &io, &e))
		return false;
	for (int k = 0; k < op->n_out; k++) {
		t[op->out[k]].data = (struct bytes){ .p = out[k], .n = n[k] };
		t[op->out[k]].has_shape = true;
	}
	return true;
}

void
decide_all(struct part *p, const struct options *o)
{
	const struct tfl_subgraph *sg = p->sg;
	for (;;) {
		int64_t bytes_left = MAX_RESULTS;
		for (int i = 0; i < sg->n_ops; i++) {
			const struct tfl_op *op = &sg->op[i];
			bool folds = !p->op[i].kept && op->n_out <= MAX_OUT &&
				     is_foldable(p, op, &bytes_left) && evaluate_constant(p, op);
			p->op[i].as = folds ? AS_CONSTANT : AS_ALONE;
		}
		for (int i = 0; i < sg->n_ops; i++) {
			struct placement *x = &p->op[i];
			x->asked = kept_on_cpu(o, &sg->op[i], i);
			x->lop = lop_of(p, &sg->op[i]);
			x->why = decide_op(p, i);
			x->npu = !x->why;
		}

		/*
		 * From the last operator to the first: keeps folded operators whose result
		 * the CPU reads, or nobody reads.
		 */
		bool *needed = anew(p->a, bool, (size_t)sg->n_tensors), any = false;
		bool *read = anew(p->a, bool, (size_t)sg->n_tensors);
		for (int i = 0; i < sg->n_out; i++)
			read[sg->out[i]] = true;
		for (int i = sg->n_ops; i-- > 0;) {
			const struct tfl_op *op = &sg->op[i];
			struct placement *x = &p->op[i];
			bool keep = !x->npu, unread = true;
			for (int k = 0; k < op->n_out; k++) {
				keep = keep || needed[op->out[k]];
				unread = unread && !read[op->out[k]];
			}
			if (x->as == AS_CONSTANT && (keep || unread)) {
				x->kept = any = true;
				x->npu = false;
			}
			for (int k = 0; k < op->n_in; k++)
				if (op->in[k] >= 0) {
					read[op->in[k]] = true;
					needed[op->in[k]] |= !x->npu;
				}
		}
		if (!any)
			return;
		for (int i = 0; i < sg->n_ops; i++)
			for (int k = 0; p->op[i].as == AS_CONSTANT && k < sg->op[i].n_out; k++)
				p->m->subgraph[0].tensor[sg->op[i].out[k]].data =
				    (struct bytes){ 0 };
	}
}

void
note_open_batch(const struct part *p)
{
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		if (op->code != TFL_SHAPE || p->op[i].as != AS_CONSTANT)
			continue;
		struct fb_ref t = part_in(p, op, 0)->ref;
		struct fb_vec sig = fb_vector(t, FB_Tensor_shape_signature);
		if (!t.buf || !sig.n || (int32_t)load_le32(sig.p) != -1)
			continue;
		cli_note_to(p->e, "note", "%s: the model takes batches of any size, which operator %d "
				 "(SHAPE) reads; the compiled model takes batches of %d",
			    p->m->name, i, part_in(p, op, 0)->dim[0]);
		return;
	}
}

void
lower_constant(struct part *p, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_out; k++) {
		const struct tfl_tensor *t = part_out(p, op, k);
		if (!p->crosses[op->out[k]])
			continue;
		struct g_tensor *c = low_tensor(p->l, t->type, tfl_hwc(t), NULL);
		G_PUT(c, TENSOR, source, part_source(p, t));
		struct nd from = nd_of(operand_whole(c), t), to = nd_ofm(p, op->out[k]);
		nd_copy(p->l, &from, &to);
	}
}
