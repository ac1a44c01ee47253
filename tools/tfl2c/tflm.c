/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the memory that TensorFlow Lite Micro takes of its arena in addition to the
 * tensors: the sum of its allocations, in their order, on a 32-bit Arm.
 *
 * The arena is allocated from both sides.  Persistent records grow downwards from its
 * end: the interpreter's own, one for each tensor and operator, and those that kernels
 * request.  Tensors and the kernels' scratch buffers are at its beginning.  During
 * preparation, the interpreter's lists are there, so a small plan may need less memory
 * than its planning.  Sizes: sizeof of tflite-micro 90b983c2b by arm-none-eabi.
 */
#include "base/fixed.h"
#include "kernels/kernels.h"
#include "tfl2c.h"

enum {
	WORD = 4, BUFFER_ALIGN = 16,
	ALLOCATOR = 36, PERSISTENT_ALLOCATOR = 16, NON_PERSISTENT_ALLOCATOR = 32,
	PLANNER = 44, MICRO_ALLOCATOR = 36, OPTIONS_ALLOCATOR = 8,
	SUBGRAPH = 8, EVAL_TENSOR = 12, NODE = 32, TENSOR = 32, QUANTIZATION = 12,
	SCRATCH_HANDLE = 4, POINTER = 4,
	RESOURCES = 12, RESOURCE = 20, /* variables by name */
	/* lists of the preparation */
	REQUEST = 12, REQUESTS_AHEAD = 12, LIFETIME = 24, PLANNED = 48,
	/* kernels */
	ETHOSU_RECORD = 12, TABLE16 = 513 * 2, MATMUL_QUANTIZATION = 28,
	UNKNOWN_OPTIONS = 40, UNKNOWN_RECORD = 128,
};

static const struct tflm_op {
	int options, record, per_channel; /* bytes, bytes, records */
	bool measured;
} tflm_ops[TFL_BUILTIN_LIMIT] = {
#define UNMEASURED { 0 }
#define TFLM(o, r, c) { .options = o, .record = r, .per_channel = c, .measured = true }
#define OPERATOR(name, kernel, real, adder, cpu, family, joins, types, rank, inputs, memory, ...) \
	[TFL_##name] = memory,
#include "operators.def"
#undef OPERATOR
};

static struct tflm_op
op_of(const struct tfl_op *op)
{
	if (npu_is_operator(op))
		return (struct tflm_op){ .record = ETHOSU_RECORD };
	if (op->code >= 0 && op->code < TFL_BUILTIN_LIMIT && tflm_ops[op->code].measured)
		return tflm_ops[op->code];
	return (struct tflm_op){ .options = UNKNOWN_OPTIONS,
				 .record = UNKNOWN_RECORD };
}

/* adds an allocation to tail, the bytes from the arena's end down to the last record */
static void
reserve(int64_t *tail, int64_t bytes, int align)
{
	*tail = round_up_i64(*tail + bytes, align);
}

static int64_t
elements(const struct tfl_subgraph *g, const struct tfl_op *op, int k)
{
	const struct tfl_tensor *t = tfl_input(g, op, k);
	return t ? tfl_elements(t) : 0;
}

static int64_t
dimension(const struct tfl_tensor *t, int k)
{
	return t && k < t->rank ? t->dim[k] : 1;
}

/* ---- memory that kernels request ----------------------------------------- */

static int
channels(const struct tfl_subgraph *g, const struct tfl_op *op)
{
	const struct tfl_tensor *w = tfl_input(g, op, 1);
	if (!w)
		return 0;
	switch (op->code) {
	case TFL_DEPTHWISE_CONV_2D:
		return w->rank ? w->dim[w->rank - 1] : 0;
	case TFL_FULLY_CONNECTED: /* none with a single scale */
		return w->quant.n_scale > 1 ? w->quant.n_scale : 0;
	default:
		return w->rank ? w->dim[0] : 0;
	}
}

/*
 * Adds the memory in which TFLite Micro's BATCH_MATMUL keeps a transposed copy of an
 * operand.
 */
static void
take_transposed(int64_t *tail, const struct tfl_tensor *t)
{
	if (!t)
		return;
	reserve(tail, EVAL_TENSOR, BUFFER_ALIGN);
	reserve(tail, WORD + WORD * t->rank, BUFFER_ALIGN);
	reserve(tail, tfl_bytes(t), BUFFER_ALIGN);
}

int
tflm_scratch(const struct tfl_subgraph *g, const struct tfl_op *op, int64_t *bytes)
{
	if (npu_is_operator(op)) { /* base addresses and sizes */
		int n = op->n_in + op->n_out;
		bytes[0] = 8 * (int64_t)n;
		bytes[1] = WORD * (int64_t)n;
		return 2;
	}
	if (op->n_out < 1 || op->out[0] < 0)
		return 0;
	const struct tfl_tensor *in = tfl_input(g, op, 0), *weights = tfl_input(g, op, 1);
	const int64_t results = WORD * tfl_elements(&g->tensor[op->out[0]]);
	switch (op->code) {
	case TFL_CONV_2D:
	case TFL_DEPTHWISE_CONV_2D:
	case TFL_FULLY_CONNECTED: /* weights of INT4 are unpacked */
		bytes[0] = elements(g, op, 1);
		return weights && weights->type == TFL_INT4;
	case TFL_SVDF:
		bytes[0] = WORD * dimension(in, 0) * dimension(weights, 0);
		bytes[1] = results;
		return 2;
	case TFL_UNIDIRECTIONAL_SEQUENCE_LSTM:
		for (int i = 0; i < 4; i++)
			bytes[i] = WORD * elements(g, op, LSTM_HIDDEN);
		return 4;
	case TFL_MEAN:
	case TFL_SUM:
	case TFL_REDUCE_MAX:
	case TFL_REDUCE_MIN:
		bytes[0] = WORD * (in ? in->rank : 0);
		bytes[1] = WORD * elements(g, op, 1);
		bytes[2] = results;
		return op->code == TFL_MEAN || op->code == TFL_SUM ? 3 : 2;
	case TFL_TRANSPOSE_CONV: /* sums of 32 bits, for int16 of 64; a bias as 64 bits */
		bytes[0] = 2 * results;
		bytes[1] = 2 * WORD * elements(g, op, 3);
		return 2;
	case TFL_MIRROR_PAD:
		bytes[0] = bytes[1] = WORD * TFL_MAX_RANK;
		return 2;
	case TFL_ADD_N:
		bytes[0] = POINTER * (int64_t)op->n_in;
		return 1;
	default: return 0;
	}
}

/* ---- the records ----------------------------------------------------------- */

static void
take_interface(int64_t *tail, const struct tfl_subgraph *g, const int *list, int n)
{
	reserve(tail, (int64_t)n * POINTER, BUFFER_ALIGN);
	for (int i = 0; i < n; i++) {
		const struct tfl_quant *q = &g->tensor[list[i]].quant;
		reserve(tail, TENSOR, WORD);
		if (!q->n_scale || !q->n_zero)
			continue;
		reserve(tail, QUANTIZATION, WORD);
		reserve(tail, WORD + WORD * (int64_t)q->n_scale, WORD);
	}
}

struct prepared {
	int64_t tail;	   /* bytes of records, before those of inputs and outputs */
	int64_t scratches; /* number of buffers that kernels requested */
	/* of an operator's tensors and their quantization while its kernel prepares; bytes */
	int64_t largest;
	int64_t buffers;   /* upper bound of the buffers that the planner places */
};

static void
take_subgraph(struct prepared *p, const struct tfl_subgraph *g)
{
	int64_t bytes[TFLM_MAX_SCRATCH];
	p->buffers += g->n_tensors;
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		int64_t now = 0;
		for (int k = 0; k < op->n_in + op->n_out; k++) {
			int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
			if (t >= 0)
				now += TENSOR + QUANTIZATION + WORD +
				       WORD * (int64_t)g->tensor[t].quant.n_scale;
		}
		p->largest = now > p->largest ? now : p->largest;
		reserve(&p->tail, op_of(op).options, WORD);
		p->scratches += tflm_scratch(g, op, bytes);
	}
	for (int i = 0; i < g->n_ops; i++)
		if (op_of(&g->op[i]).record)
			reserve(&p->tail, op_of(&g->op[i]).record, BUFFER_ALIGN);
	/* what kernels request when they prepare */
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		struct tflm_op kernel = op_of(op);
		const struct tfl_tensor *in = tfl_input(g, op, 0);
		int n = kernel.per_channel ? channels(g, op) : 0;
		for (int k = 0; n && k < kernel.per_channel; k++)
			reserve(&p->tail, (int64_t)n * WORD, BUFFER_ALIGN);
		if (op->code == TFL_SOFTMAX && in && in->type == TFL_INT16)
			for (int k = 0; k < 2; k++) /* tables of exp and of 1 / (1 + x) */
				reserve(&p->tail, TABLE16, BUFFER_ALIGN);
		if (op->code == TFL_BATCH_MATMUL) {
			reserve(&p->tail, MATMUL_QUANTIZATION, BUFFER_ALIGN);
			take_transposed(&p->tail, in);
			take_transposed(&p->tail, tfl_input(g, op, 1));
		}
	}
}

/* allocators: bytes of the records of one or two arenas; n_resources: variables by name */
static void
prepare(const struct tfl_model *m, int64_t allocators, int n_resources, struct prepared *p)
{
	*p = (struct prepared){ 0 };
	reserve(&p->tail, allocators, WORD);
	reserve(&p->tail, PLANNER, WORD);
	reserve(&p->tail, MICRO_ALLOCATOR, WORD);
	if (n_resources) {
		reserve(&p->tail, RESOURCES, BUFFER_ALIGN);
		reserve(&p->tail, RESOURCE * (int64_t)n_resources, BUFFER_ALIGN);
	}
	reserve(&p->tail, OPTIONS_ALLOCATOR, WORD);
	reserve(&p->tail, SUBGRAPH * (int64_t)m->n_subgraphs, WORD);
	for (int i = 0; i < m->n_subgraphs; i++)
		reserve(&p->tail, EVAL_TENSOR * (int64_t)m->subgraph[i].n_tensors, WORD);
	for (int i = 0; i < m->n_subgraphs; i++)
		reserve(&p->tail, NODE * (int64_t)m->subgraph[i].n_ops, WORD);
	for (int i = 0; i < m->n_subgraphs; i++)
		take_subgraph(p, &m->subgraph[i]);
	reserve(&p->tail, SCRATCH_HANDLE * p->scratches, WORD);
}

/* bytes at the beginning of the arena while the interpreter plans, behind no tensors */
static int64_t
planning_bytes(const struct tfl_model *m, const struct prepared *p)
{
	int64_t requests = REQUEST * (p->scratches + REQUESTS_AHEAD);
	int64_t lists = WORD * (int64_t)m->n_subgraphs +
			LIFETIME * (p->buffers + p->scratches) + BUFFER_ALIGN +
			PLANNED * (p->buffers + p->scratches);
	return requests + max_i64(lists, p->largest);
}

/* adds variables and the records of inputs and outputs to the tail */
static void
finish(const struct tfl_model *m, int64_t variable_bytes, struct prepared *p)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	p->tail = round_up_i64(p->tail, variable_bytes ? BUFFER_ALIGN : WORD) + variable_bytes;
	take_interface(&p->tail, g, g->in, g->n_in);
	take_interface(&p->tail, g, g->out, g->n_out);
}

int64_t
tflm_runtime_bytes(const struct tfl_model *m, const struct tensor_plan *plan)
{
	struct prepared p;
	prepare(m, ALLOCATOR, plan->n_resources, &p);
	int64_t at_planning = p.tail + plan->variable_bytes + planning_bytes(m, &p);
	finish(m, plan->variable_bytes, &p);
	int64_t arena = max_i64(plan->tensor_bytes + p.tail, at_planning);
	return round_up_i64(arena, BUFFER_ALIGN) - plan->tensor_bytes - plan->variable_bytes;
}

void
tflm_two_arenas(const struct tfl_model *m, struct tensor_plan *plan)
{
	struct prepared p;
	prepare(m, PERSISTENT_ALLOCATOR + NON_PERSISTENT_ALLOCATOR, plan->n_resources, &p);
	plan->non_persistent_bytes =
	    round_up_i64(max_i64(plan->tensor_bytes, planning_bytes(m, &p)), BUFFER_ALIGN);
	finish(m, plan->variable_bytes, &p);
	plan->persistent_bytes = round_up_i64(p.tail, BUFFER_ALIGN);
}
