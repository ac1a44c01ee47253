/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a verified FlatBuffer into a model, and checks its meaning:
 * nputools-tflite(5) 2, second table, and 4 to 6.
 */
#include "base/file.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "tflite/calls.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"
#include "tflite/wire.h"

#include <math.h>
#include <stdio.h>

struct load {
	struct arena *a;
	struct tfl_model *m;
	struct err *e;
	int subgraph;
	const uint8_t **unpacked; /* of each buffer of INT4, or NULL */
};

#define BAD(l, ...) err_at((l)->e, (l)->m->name, 0, __VA_ARGS__)

static const int *
copy_indices(struct load *l, struct fb_vec v, int *n)
{
	int *p = anew(l->a, int, v.n);
	for (uint32_t i = 0; i < v.n; i++)
		p[i] = (int32_t)load_le32(v.p + 4 * (size_t)i);
	*n = (int)v.n;
	return p;
}

/*
 * Checks that tensor indices of operator op (-1: of the subgraph) are below n.  Index
 * -1 is allowed only if `optional` is true; it means "absent".
 */
static bool
check_indices(struct load *l, const int *p, int n_p, int n, bool optional, int op,
	      const char *what)
{
	char owner[40] = "the";
	if (op >= 0)
		(void)snprintf(owner, sizeof(owner), "operator %d's", op);
	for (int i = 0; i < n_p; i++)
		if (p[i] >= n || p[i] < (optional ? -1 : 0))
			return BAD(l, "subgraph %d: %s %s name tensor %d of %d",
				   l->subgraph, owner, what, p[i], n);
	return true;
}

static bool
load_buffers(struct load *l)
{
	struct tfl_model *m = l->m;
	m->n_buffers = fb_vector(m->root, FB_Model_buffers).n;
	m->buffer = anew(l->a, struct bytes, m->n_buffers);
	for (uint32_t i = 0; i < m->n_buffers; i++) {
		struct fb_ref b = fb_item(m->root, FB_Model_buffers, i);
		struct fb_vec v = fb_vector(b, FB_Buffer_data);
		uint64_t off = (uint64_t)fb_int(b, FB_Buffer_offset);
		uint64_t size = (uint64_t)fb_int(b, FB_Buffer_size);
		if (v.n)
			m->buffer[i] = (struct bytes){ .p = v.p, .n = v.n };
		if (v.n || off <= 1)
			continue;
		if (off > m->file.n || size > m->file.n - off)
			return BAD(l, "buffer %u lies outside the file", i);
		if (size)
			m->buffer[i] = (struct bytes){ .p = m->file.p + off,
						       .n = (size_t)size };
	}
	return m->n_buffers > 0 || BAD(l, "the model has no buffers");
}

static bool
load_quant(struct load *l, struct tfl_tensor *t, int index)
{
	struct fb_ref q = fb_child(t->ref, FB_Tensor_quantization);
	struct fb_vec s = fb_vector(q, FB_QuantizationParameters_scale);
	struct fb_vec z = fb_vector(q, FB_QuantizationParameters_zero_point);
	int64_t axis = q.buf ? fb_int(q, FB_QuantizationParameters_quantized_dimension) : 0;
	t->quant.other = q.buf && fb_int(q, FB_QuantizationParameters_details_tag);

	float *scale = anew(l->a, float, s.n);
	for (uint32_t i = 0; i < s.n; i++)
		scale[i] = load_f32(s.p + 4 * (size_t)i);
	int64_t *zero = anew(l->a, int64_t, z.n);
	for (uint32_t i = 0; i < z.n; i++)
		zero[i] = (int64_t)load_le64(z.p + 8 * (size_t)i);
	t->quant.scale = scale;
	t->quant.zero = zero;
	t->quant.n_scale = (int)s.n;
	t->quant.n_zero = (int)z.n;
	if (s.n <= 1 && z.n <= 1)
		return true;
	if (t->rank == 1)
		axis = 0; /* converters copy the axis of the weights to the bias */
	if (axis < 0 || axis >= t->rank)
		return BAD(l, "subgraph %d: tensor %d (%s): quantized dimension "
			      "%lld of a tensor of rank %d", l->subgraph, index,
			   t->name, (long long)axis, t->rank);
	t->quant.axis = (int)axis;
	if ((s.n > 1 && s.n != (uint32_t)t->dim[axis]) ||
	    (z.n > 1 && z.n != (uint32_t)t->dim[axis]))
		return BAD(l, "subgraph %d: tensor %d (%s): %u scales and %u zero "
			      "points for %d channels", l->subgraph, index,
			   t->name, s.n, z.n, t->dim[axis]);
	return true;
}

static bool
load_shape(struct load *l, struct tfl_tensor *t, int index)
{
	struct fb_vec v = fb_vector(t->ref, FB_Tensor_shape);
	struct fb_vec sig = fb_vector(t->ref, FB_Tensor_shape_signature);
	if (v.n > TFL_MAX_RANK)
		return BAD(l, "subgraph %d: tensor %d (%s) has %u dimensions, at "
			      "most %d supported", l->subgraph, index, t->name,
			   v.n, TFL_MAX_RANK);
	t->rank = (int)v.n;
	t->has_shape = v.n || fb_int(t->ref, FB_Tensor_has_rank);
	uint64_t bytes = 16;
	for (uint32_t i = 0; i < v.n; i++) {
		t->dim[i] = (int32_t)load_le32(v.p + 4 * (size_t)i);
		if (t->dim[i] == -1) { /* TFLite writes 1 here; -1 is accepted, too */
			t->is_dynamic |= i > 0;
			t->dim[i] = 1;
		}
		/* 16 bytes is the largest element; no device has 2^40 bytes */
		if (t->dim[i] < 0 ||
		    __builtin_mul_overflow(bytes, (uint64_t)t->dim[i], &bytes) ||
		    bytes > (uint64_t)1 << 40)
			return BAD(l, "subgraph %d: tensor %d (%s): dimension %u "
				      "is %d: negative, or the tensor is larger "
				      "than 2^36 elements", l->subgraph, index,
				   t->name, i, t->dim[i]);
	}
	if (sig.n && sig.n != v.n)
		return BAD(l, "subgraph %d: tensor %d (%s): shape signature of "
			      "rank %u for shape of rank %u", l->subgraph, index,
			   t->name, sig.n, v.n);
	/* a variable batch runs with the size in shape, in practice 1 */
	t->open_batch = sig.n && (int32_t)load_le32(sig.p) == -1;
	for (uint32_t i = 1; i < sig.n; i++)
		if ((int32_t)load_le32(sig.p + 4 * (size_t)i) == -1)
			t->is_dynamic = true;
	return true;
}

/*
 * Returns the elements of a buffer of INT4, one a byte.  The low half of a packed byte comes
 * first.  Tensors of one buffer share the elements.
 */
static const uint8_t *
unpacked(struct load *l, uint32_t buffer)
{
	const struct bytes packed = l->m->buffer[buffer];
	if (!l->unpacked)
		l->unpacked = anew(l->a, const uint8_t *, l->m->n_buffers);
	if (!l->unpacked[buffer]) {
		uint8_t *v = anew(l->a, uint8_t, 2 * packed.n);
		for (size_t i = 0; i < 2 * packed.n; i++) {
			int half = packed.p[i / 2] >> (i & 1 ? 4 : 0) & 15;
			v[i] = (uint8_t)(half - (half & 8 ? 16 : 0));
		}
		l->unpacked[buffer] = v;
	}
	return l->unpacked[buffer];
}

static bool
load_data(struct load *l, struct tfl_tensor *t, int index)
{
	if (t->buffer >= l->m->n_buffers)
		return BAD(l, "subgraph %d: tensor %d (%s) names buffer %u of %u",
			   l->subgraph, index, t->name, t->buffer,
			   l->m->n_buffers);
	if (fb_int(t->ref, FB_Tensor_external_buffer))
		return BAD(l, "subgraph %d: tensor %d (%s) has its data in another "
			      "file, which is not supported", l->subgraph, index,
			   t->name);
	struct bytes b = l->m->buffer[t->buffer];
	if (!b.p || t->is_variable)
		return true;
	t->data = b;
	if (t->rank == 0 && !t->has_shape && tfl_type_bytes(t->type) &&
	    b.n == (size_t)tfl_type_bytes(t->type))
		t->has_shape = true; /* a constant scalar */
	bool packed = t->type == TFL_INT4;
	int64_t want = packed ? (tfl_elements(t) + 1) / 2 : tfl_bytes(t);
	if (want && !t->is_sparse && (uint64_t)want != b.n)
		return BAD(l, "subgraph %d: tensor %d (%s) holds %zu bytes, its shape "
			      "needs %lld", l->subgraph, index, t->name,
			   b.n, (long long)want);
	if (packed && want && !t->is_sparse)
		t->data = (struct bytes){ .p = unpacked(l, t->buffer),
					  .n = (size_t)tfl_elements(t) };
	return true;
}

/*
 * the code is the larger of the old signed byte and the newer field:
 * nputools-tflite(5) 4.3
 */
static bool
load_opcode(struct load *l, struct tfl_op *op, int index)
{
	uint32_t n = fb_vector(l->m->root, FB_Model_operator_codes).n;
	op->opcode = (uint32_t)fb_int(op->ref, FB_Operator_opcode_index);
	if (op->opcode >= n)
		return BAD(l, "subgraph %d: operator %d names operator code %u of "
			      "%u", l->subgraph, index, op->opcode, n);
	struct fb_ref c = fb_item(l->m->root, FB_Model_operator_codes, op->opcode);
	int64_t old = fb_int(c, FB_OperatorCode_deprecated_builtin_code);
	int64_t code = fb_int(c, FB_OperatorCode_builtin_code);
	if (code < old)
		code = old;
	if (old < 0 || code < 0 || code > INT16_MAX)
		return BAD(l, "operator code %u is malformed", op->opcode);
	op->code = (int)code;
	op->version = (int)fb_int(c, FB_OperatorCode_version);
	if (code == TFL_CUSTOM) {
		op->custom = fb_string(c, FB_OperatorCode_custom_code, NULL);
		if (!*op->custom)
			return BAD(l, "operator code %u is CUSTOM without a name",
				   op->opcode);
		op->label = text_plain(l->a, op->custom);
	}
	return true;
}

/* Checks single assignment: nputools-tflite(5) 2. */
static bool
note_producers(struct load *l, struct tfl_subgraph *g)
{
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_out; k++) {
			struct tfl_tensor *t = &g->tensor[g->op[i].out[k]];
			if (t->data.p)
				return BAD(l, "subgraph %d: operator %d (%s) "
					      "writes the constant %s",
					   l->subgraph, i,
					   tfl_op_label(&g->op[i]), t->name);
			if (t->producer >= 0 && !t->is_variable)
				return BAD(l, "subgraph %d: tensor %d (%s) has two "
					      "producers", l->subgraph,
					   g->op[i].out[k], t->name);
			t->producer = i;
		}
	bool *is_graph_input = anew(l->a, bool, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_in; i++) {
		is_graph_input[g->in[i]] = true;
		if (g->tensor[g->in[i]].producer >= 0)
			return BAD(l, "subgraph %d: the input %s is written by an "
				      "operator", l->subgraph,
				   g->tensor[g->in[i]].name);
	}
	for (int i = 0; i < g->n_out; i++) {
		const struct tfl_tensor *t = &g->tensor[g->out[i]];
		if (t->producer < 0 && !t->data.p && !t->is_variable &&
		    !is_graph_input[g->out[i]])
			return BAD(l, "subgraph %d: the output %s is written by no "
				      "operator", l->subgraph, t->name);
	}
	return true;
}

struct sort {
	struct tfl_subgraph *g;
	enum { NEW, OPEN, DONE } *state;
	int *input;		/* next input to visit, for each operator */
	int *stack, depth;
	struct tfl_op *sorted;
	int n;
};

static void
sort_push(struct sort *s, int i)
{
	s->state[i] = OPEN;
	s->stack[s->depth++] = i;
}

/*
 * Appends the operators that i depends on, then i.  Returns an operator that depends on
 * itself, or -1.
 */
static int
sort_from(struct sort *s, int i)
{
	sort_push(s, i);
	while (s->depth) {
		int top = s->stack[s->depth - 1];
		if (s->input[top] == s->g->op[top].n_in) {
			s->state[top] = DONE;
			s->sorted[s->n++] = s->g->op[top];
			s->depth--;
			continue;
		}
		/* the operator that must run before top for its next input; -1: none */
		int in = s->g->op[top].in[s->input[top]++];
		const struct tfl_tensor *t = in < 0 ? NULL : &s->g->tensor[in];
		int before = !t || t->is_variable ? -1 : t->producer;
		if (before >= 0 && s->state[before] == OPEN)
			return before;
		if (before >= 0 && s->state[before] == NEW)
			sort_push(s, before);
	}
	return -1;
}

/* Keeps the file's order if it can be executed, else sorts; a cycle is an error. */
static bool
sort_ops(struct load *l, struct tfl_subgraph *g)
{
	size_t count = (size_t)g->n_ops;
	struct sort s = { .g = g, .sorted = anew(l->a, struct tfl_op, count) };
	s.state = arena_alloc(l->a, count, sizeof *s.state);
	s.input = anew(l->a, int, count);
	s.stack = anew(l->a, int, count);
	for (int i = 0; i < g->n_ops; i++) {
		int bad = s.state[i] == NEW ? sort_from(&s, i) : -1;
		if (bad >= 0)
			return BAD(l, "subgraph %d: operator %d (%s) depends on its "
				      "own result", l->subgraph, bad,
				   tfl_op_label(&g->op[bad]));
	}
	g->op = s.sorted;
	for (int i = 0; i < s.n; i++)
		for (int k = 0; k < g->op[i].n_out; k++)
			g->tensor[g->op[i].out[k]].producer = i;
	return true;
}

/* the driver's operator has inputs that nothing writes: its scratch memory */
static bool
is_npu_op(const struct tfl_op *op)
{
	return op->code == TFL_CUSTOM && !strcmp(op->custom, "ethos-u");
}

/*
 * Checks that an operator reads only inputs, constants, variables and results of
 * earlier operators.
 */
static bool
check_reads(struct load *l, const struct tfl_subgraph *g)
{
	bool *is_graph_input = anew(l->a, bool, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_in; i++)
		is_graph_input[g->in[i]] = true;
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		for (int k = 0; k < op->n_in && !is_npu_op(op); k++) {
			if (op->in[k] < 0)
				continue;
			const struct tfl_tensor *t = &g->tensor[op->in[k]];
			if (!t->data.p && t->producer < 0 && !t->is_variable &&
			    tfl_bytes(t) && !is_graph_input[op->in[k]])
				return BAD(l, "subgraph %d: operator %d (%s) reads "
					      "tensor %d (%s), which nothing writes",
					   l->subgraph, i, tfl_op_label(op),
					   op->in[k], t->name);
		}
	}
	return true;
}

static bool
load_subgraph(struct load *l, int index)
{
	struct tfl_subgraph *g = &l->m->subgraph[index];
	l->subgraph = index;
	g->ref = fb_item(l->m->root, FB_Model_subgraphs, (uint32_t)index);
	g->name = fb_string(g->ref, FB_SubGraph_name, NULL);
	g->n_tensors = (int)fb_vector(g->ref, FB_SubGraph_tensors).n;
	g->tensor = anew(l->a, struct tfl_tensor, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_tensors; i++) {
		struct tfl_tensor *t = &g->tensor[i];
		t->ref = fb_item(g->ref, FB_SubGraph_tensors, (uint32_t)i);
		t->name = fb_string(t->ref, FB_Tensor_name, NULL);
		t->type = (int)fb_int(t->ref, FB_Tensor_type);
		t->buffer = (uint32_t)fb_int(t->ref, FB_Tensor_buffer);
		t->is_variable = fb_int(t->ref, FB_Tensor_is_variable) != 0;
		t->is_sparse = fb_has(t->ref, FB_Tensor_sparsity);
		t->producer = -1;
		if (!load_shape(l, t, i) || !load_quant(l, t, i) || !load_data(l, t, i))
			return false;
	}
	g->in = copy_indices(l, fb_vector(g->ref, FB_SubGraph_inputs), &g->n_in);
	g->out = copy_indices(l, fb_vector(g->ref, FB_SubGraph_outputs), &g->n_out);
	if (!check_indices(l, g->in, g->n_in, g->n_tensors, false, -1,
			     "inputs") ||
	    !check_indices(l, g->out, g->n_out, g->n_tensors, false, -1,
			     "outputs"))
		return false;
	g->n_ops = (int)fb_vector(g->ref, FB_SubGraph_operators).n;
	g->op = anew(l->a, struct tfl_op, (size_t)g->n_ops);
	for (int i = 0; i < g->n_ops; i++) {
		struct tfl_op *op = &g->op[i];
		op->ref = fb_item(g->ref, FB_SubGraph_operators, (uint32_t)i);
		op->in = copy_indices(l, fb_vector(op->ref, FB_Operator_inputs), &op->n_in);
		op->out = copy_indices(l, fb_vector(op->ref, FB_Operator_outputs), &op->n_out);
		op->mid = copy_indices(l, fb_vector(op->ref, FB_Operator_intermediates),
				       &op->n_mid);
		op->options = fb_child(op->ref, FB_Operator_builtin_options);
		struct fb_vec c = fb_vector(op->ref, FB_Operator_custom_options);
		op->custom_options = (struct bytes){ .p = c.p, .n = c.n };
		if (!load_opcode(l, op, i) ||
		    !check_indices(l, op->in, op->n_in, g->n_tensors, true, i, "inputs") ||
		    !check_indices(l, op->out, op->n_out, g->n_tensors, false, i, "outputs") ||
		    !check_indices(l, op->mid, op->n_mid, g->n_tensors, true, i,
				   "intermediates"))
			return false;
	}
	return note_producers(l, g) && sort_ops(l, g) && check_reads(l, g);
}

bool
tfl_read(struct arena *a, struct bytes file, const char *name,
	 struct tfl_model **out, struct err *e)
{
	struct tfl_model *m = anew(a, struct tfl_model, 1);
	struct load l = { .a = a, .m = m, .e = e };
	m->name = name;
	m->file = file;
	if (!fb_verify(file, name, &m->root, e))
		return false;
	int64_t version = fb_int(m->root, FB_Model_version);
	if (version != 3)
		return BAD(&l, "schema version %lld instead of 3: neither a TFLite model nor a TOSA graph, or damaged",
			   (long long)version);
	m->description = fb_string(m->root, FB_Model_description, NULL);
	m->n_subgraphs = (int)fb_vector(m->root, FB_Model_subgraphs).n;
	if (m->n_subgraphs < 1)
		return BAD(&l, "the model has no subgraph");
	if (!load_buffers(&l))
		return false;
	m->subgraph = anew(a, struct tfl_subgraph, (size_t)m->n_subgraphs);
	for (int i = 0; i < m->n_subgraphs; i++)
		if (!load_subgraph(&l, i))
			return false;
	if (!tfl_call_order(a, m, e))
		return false;
	*out = m;
	return true;
}

bool
tfl_read_file(struct arena *a, const char *path, struct tfl_model **out,
	      struct err *e)
{
	struct bytes file;
	return file_read(a, path, TFL_MAX_BYTES, &file, e) &&
	       tfl_read(a, file, file_name(path), out, e);
}

bool
tfl_check_plain(const struct tfl_model *m, struct err *e)
{
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int i = 0; i < m->subgraph[s].n_ops; i++) {
			const struct tfl_op *op = &m->subgraph[s].op[i];
			/* True for what a compiler of this or another accelerator has made. */
			if (is_npu_op(op) ||
			    (op->code == TFL_CUSTOM && !strcmp(op->custom, "edgetpu-custom-op")))
				return err_at(e, m->name, 0, "is compiled already: it "
					      "has an %s operator (operator %d of "
					      "subgraph %d); take the model that it was "
					      "compiled from", op->custom, i, s);
		}
	return true;
}

struct bytes
tfl_metadata(const struct tfl_model *m, const char *name)
{
	uint32_t n = fb_vector(m->root, FB_Model_metadata).n;
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref md = fb_item(m->root, FB_Model_metadata, i);
		uint64_t buffer = (uint64_t)fb_int(md, FB_Metadata_buffer);
		if (!strcmp(fb_string(md, FB_Metadata_name, NULL), name) &&
		    buffer < m->n_buffers)
			return m->buffer[buffer];
	}
	return (struct bytes){ 0 };
}

int64_t
tfl_planned_at(const struct tfl_model *m, int subgraph, int tensor)
{
	enum { HEAD = 12 };
	struct bytes plan = tfl_metadata(m, "OfflineMemoryAllocation");
	size_t at = HEAD + 4 * (size_t)tensor;
	for (int s = 0; s < subgraph; s++)
		at += 4 * (size_t)m->subgraph[s].n_tensors;
	return plan.p && at + 4 <= plan.n ? (int32_t)load_le32(plan.p + at) : -1;
}
