/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans a network as a sequence of calls: the step of each operator, the address of
 * each tensor, and whether the model's data can be used in the file.
 */
#include "base/fixed.h"
#include "base/little_endian.h"
#include "kernels/kernels.h"
#include "tfl2c.h"
#include "tflite/fields.h"

#include <string.h>

/* inputs of an ethos-u operator: ethosu-commands(7) 13.3 */
enum { IN_STREAM, IN_FLASH, IN_SCRATCH, IN_FAST, N_SPECIAL };
enum { DRIVER_ALIGN = 16 }; /* of streams and base addresses: ethosu-commands(7) 14.4 */

struct planner {
	const struct tfl_model *m;
	const struct tfl_subgraph *g;
	/* the model's own plan in bytes; -1: not planned; or ELSEWHERE */
	const int32_t *offset;
	const struct call_plan *p;
	bool *is_input; /* of the network, one per tensor */
	int64_t declared; /* numbers and characters in the functions' declarations */
	struct err *e;
};

/*
 * Limits of the output.  A declaration describes each operand.  Operands may share a
 * tensor with a long name or a million scales; then a small file would make gigabytes
 * of declarations.
 */
enum { MAX_DECLARED = 1 << 24, MAX_PAIRS = 1 << 20 };

/* ---- the step of an operator ------------------------------------------------- */

/* Copying is enough only if all inputs have the output's scale. */
static bool
joins_as_they_are(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	const struct tfl_quant *y = &g->tensor[op->out[0]].quant;
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_quant *x = &g->tensor[op->in[k]].quant;
		if (x->n_scale != y->n_scale || x->n_zero != y->n_zero || x->other ||
		    y->other || x->n_scale > 1 || x->n_zero > 1 ||
		    (x->n_scale && x->scale[0] != y->scale[0]) ||
		    (x->n_zero && x->zero[0] != y->zero[0]))
			return false;
	}
	return true;
}

static enum step
step_of(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	struct err none = { 0 };
	if (op->code == TFL_CUSTOM)
		return strcmp(op->custom, "ethos-u") ? STEP_FUNCTION : STEP_NPU;
	if (!kernel_exists(op->code) || !kernel_check(g, op, &none))
		return STEP_FUNCTION;
	switch (op->code) {
	case TFL_RESHAPE:
	case TFL_SQUEEZE:
	case TFL_EXPAND_DIMS:
	case TFL_PACK:
	case TFL_UNPACK:
	case TFL_SPLIT:
	case TFL_SPLIT_V:
		return STEP_COPY;
	case TFL_CONCATENATION:
		return joins_as_they_are(g, op) ? STEP_COPY : STEP_FUNCTION;
	case TFL_QUANTIZE:
		if (g->tensor[op->in[0]].type != TFL_FLOAT32)
			return STEP_REQUANTIZE;
		return g->tensor[op->out[0]].type == TFL_INT32 ? STEP_QUANTIZE_32 : STEP_QUANTIZE;
	case TFL_DEQUANTIZE:
		return STEP_DEQUANTIZE;
	default:
		return STEP_FUNCTION;
	}
}

/* ---- copies ------------------------------------------------------------------- */

static bool
joins_tensors(const struct tfl_op *op)
{
	return op->code == TFL_CONCATENATION || op->code == TFL_PACK;
}

static bool
splits_tensor(const struct tfl_op *op)
{
	return op->code == TFL_UNPACK || op->code == TFL_SPLIT ||
	       op->code == TFL_SPLIT_V;
}

int
copy_parts(const struct tfl_op *op)
{
	return joins_tensors(op) ? op->n_in : splits_tensor(op) ? op->n_out : 1;
}

struct rows
copy_rows(const struct tfl_subgraph *g, const struct tfl_op *op, int part, int64_t at)
{
	struct rows r = { .in = op->in[0], .out = op->out[0], .n = 1 };
	if (joins_tensors(op))
		r.in = op->in[part];
	if (splits_tensor(op))
		r.out = op->out[part];
	if (op->code == TFL_SPLIT)
		r.in = op->in[1];
	r.bytes = r.in_step = r.out_step = tfl_bytes(&g->tensor[r.out]);
	if (!joins_tensors(op) && !splits_tensor(op))
		return r;
	/* the axis of the join or split; the operator's kernel has checked it */
	const struct tfl_tensor *whole = &g->tensor[joins_tensors(op) ? r.out : r.in];
	int64_t axis = 0;
	if (op->code == TFL_CONCATENATION)
		axis = TFL_OPT(op, ConcatenationOptions, axis);
	else if (op->code == TFL_PACK)
		axis = TFL_OPT(op, PackOptions, axis);
	else if (op->code == TFL_UNPACK)
		axis = TFL_OPT(op, UnpackOptions, axis);
	else
		axis = (int32_t)load_le32(g->tensor[op->in[op->code == TFL_SPLIT ? 0 : 2]].data.p);
	axis += axis < 0 ? whole->rank : 0;
	for (int d = 0; d < axis; d++)
		r.n *= whole->dim[d];
	int64_t n = r.n ? r.n : 1;
	r.in_step = tfl_bytes(&g->tensor[r.in]) / n;
	r.out_step = tfl_bytes(&g->tensor[r.out]) / n;
	r.bytes = joins_tensors(op) ? r.in_step : r.out_step;
	*(joins_tensors(op) ? &r.out_at : &r.in_at) = at;
	return r;
}

/* ---- checks ------------------------------------------------------------------- */

static bool
operator_error(const struct planner *p, int op, const char *fmt, int tensor)
{
	struct text t = { 0 };
	text_printf(&t, fmt, tensor);
	(void)tfl_refuse(p->m, &p->g->op[op], op, text_str(&t), p->e);
	text_free(&t);
	return false;
}

/* true if the constant's offset in the file is a multiple of align */
static bool
is_aligned(const struct planner *p, int tensor, size_t align)
{
	const uint8_t *data = p->g->tensor[tensor].data.p;
	return !data || (size_t)(data - p->m->file.p) % align == 0;
}

static bool
check_npu(const struct planner *p, int index)
{
	const struct tfl_op *op = &p->g->op[index];
	if (op->n_in < N_SPECIAL || op->in[IN_FLASH] < 0 || op->in[IN_SCRATCH] < 0 ||
	    op->in[IN_FAST] < 0)
		return operator_error(p, index, "its first four inputs must be command stream, "
				      "constants, scratch and fast scratch", 0);
	for (int k = IN_STREAM; k <= IN_FLASH; k++)
		if (!is_aligned(p, op->in[k], DRIVER_ALIGN))
			return operator_error(p, index, "tensor %d is not aligned to 16 bytes in "
					      "the file, which the driver requires",
				    op->in[k]);
	int64_t from = p->offset[op->in[IN_SCRATCH]];
	int64_t end = from + tfl_bytes(&p->g->tensor[op->in[IN_SCRATCH]]);
	for (int k = N_SPECIAL; k < op->n_in + op->n_out; k++) {
		int tensor = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		const struct tfl_tensor *t = tensor < 0 ? NULL : &p->g->tensor[tensor];
		if (!t || t->data.p || !tfl_bytes(t) || p->offset[tensor] == ELSEWHERE)
			continue;
		if (from < 0 || p->offset[tensor] < from || p->offset[tensor] + tfl_bytes(t) > end)
			return operator_error(p, index, "the memory plan has tensor %d outside "
					      "of the NPU's scratch memory", tensor);
	}
	return true;
}

static bool
check_tensor(const struct planner *p, int index, int tensor, bool is_read)
{
	const struct tfl_tensor *t = &p->g->tensor[tensor];
	int element = tfl_type_bytes(t->type);
	if (!t->data.p && !element)
		return operator_error(p, index, "tensor %d has a type without a fixed size",
			    tensor);
	if (t->data.p && (!is_read || p->is_input[tensor]))
		return operator_error(p, index, "tensor %d is a constant, but the operator "
				      "writes it", tensor);
	if (!is_aligned(p, tensor, element ? (size_t)element : 1))
		return operator_error(p, index, "tensor %d is not aligned to its element size in "
				      "the file", tensor);
	if (is_read && !t->data.p && t->producer < 0 && !t->is_variable &&
	    tfl_bytes(t) && !p->is_input[tensor])
		return operator_error(p, index, "reads tensor %d, which nothing writes", tensor);
	return true;
}

static bool
check_declaration(struct planner *p, int index)
{
	const struct tfl_op *op = &p->g->op[index];
	p->declared += (int64_t)op->custom_options.n;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int tensor = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (tensor < 0)
			continue;
		const struct tfl_tensor *t = &p->g->tensor[tensor];
		p->declared += (int64_t)strlen(t->name) + t->quant.n_scale +
			       t->quant.n_zero;
	}
	return p->declared <= MAX_DECLARED ||
	       operator_error(p, index, "the declarations need more than %d numbers",
		    MAX_DECLARED);
}

static bool
check_cpu(const struct planner *p, int index, enum step step)
{
	const struct tfl_op *op = &p->g->op[index];
	if (op->code == TFL_IF || op->code == TFL_WHILE)
		return operator_error(p, index, "a call without an interpreter can't run the "
				      "subgraphs that it calls; use another format, with an "
				      "interpreter, or cut the model there (--cut-outputs)", 0);
	if ((int64_t)op->n_in * op->n_out > MAX_PAIRS)
		return operator_error(p, index, "more than %d pairs of inputs and outputs",
			    MAX_PAIRS);
	for (int k = 0; k < op->n_in; k++)
		if (op->in[k] >= 0 && !check_tensor(p, index, op->in[k], true))
			return false;
	for (int k = 0; k < op->n_out; k++)
		if (!check_tensor(p, index, op->out[k], false))
			return false;
	/* the output of a single copy may be at the input's address */
	bool in_place = step == STEP_COPY && copy_parts(op) == 1;
	for (int i = 0; i < op->n_in; i++)
		for (int o = 0; op->in[i] >= 0 && o < op->n_out; o++) {
			int64_t a = p->p->at[op->in[i]], b = p->p->at[op->out[o]];
			if (a >= 0 && b >= 0 && !(a == b && in_place) &&
			    spans_overlap(a, tfl_bytes(&p->g->tensor[op->in[i]]), b,
					  tfl_bytes(&p->g->tensor[op->out[o]])))
				return operator_error(p, index, "the memory plan has tensor %d "
						      "at the address of the "
						      "operator's output", op->in[i]);
		}
	return true;
}

bool
plan_call(struct arena *a, const struct tfl_model *m,
	  const struct tensor_plan *t, struct call_plan *out, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	enum step *step = anew(a, enum step, (size_t)g->n_ops);
	int64_t *at = anew(a, int64_t, (size_t)g->n_tensors);
	int32_t *offset = anew(a, int32_t, (size_t)g->n_tensors + 1);
	const bool *is_fast = plan_fast(a, g);
	for (int i = 0; i < g->n_tensors; i++)
		offset[i] = is_fast[i] || stream_separate_place(m, i).region ? ELSEWHERE
									      : t->offset[i];
	struct planner p = { .m = m, .g = g, .offset = offset, .p = out, .e = e };
	p.is_input = anew(a, bool, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_in; i++)
		p.is_input[g->in[i]] = true;
	*out = (struct call_plan){ .step = step, .at = at };
	out->arena_bytes = plan_tensors(a, g, offset, at);
	if (out->arena_bytes > INT32_MAX)
		return err_at(e, m->name, 0, "the arena takes %lld bytes, more than a "
					     "microcontroller has",
			      (long long)out->arena_bytes);
	for (int i = 0; i < g->n_ops; i++) {
		if (npu_is_guard(g, &g->op[i]))
			continue;
		step[i] = step_of(g, &g->op[i]);
		out->has[step[i]] = true;
		if (step[i] == STEP_NPU ? !check_npu(&p, i)
					: !check_cpu(&p, i, step[i]))
			return false;
		if (step[i] == STEP_FUNCTION && !check_declaration(&p, i))
			return false;
	}
	for (int i = 0; i < g->n_out; i++)
		if (at[g->out[i]] < 0 && offset[g->out[i]] != ELSEWHERE)
			return err_at(e, m->name, 0, "output %d is a constant, or has no bytes",
				      i);
	return true;
}
