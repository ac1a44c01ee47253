/* SPDX-License-Identifier: Apache-2.0 */
/* How TensorFlow Lite's specification of quantization treats each operator. */
#include "quantize.h"

#include "kernels/kernels.h"
#include "real/real.h"
#include "tflite/fields.h"

#include <string.h>

static const struct rule rules[TFL_BUILTIN_LIMIT] = {
#define WEIGHTS(name, version_, input_, weights_, bias_, axis_)                         \
	[TFL_##name] = { .kind = RULE_WEIGHTS, .version = version_, .input = input_,    \
			 .weights = weights_, .bias = bias_, .axis = axis_ }
#define FIXED(name, version_, scale_, zero_, scale16_)                                  \
	[TFL_##name] = { .kind = RULE_FIXED, .version = version_, .scale = scale_,      \
			 .zero = zero_, .scale16 = scale16_ }
#define OTHER(name, kind_, version_) [TFL_##name] = { .kind = RULE_##kind_,             \
						      .version = version_ }
	WEIGHTS(CONV_2D, 3, 0, 1, 2, 0),
	WEIGHTS(DEPTHWISE_CONV_2D, 3, 0, 1, 2, 3),
	WEIGHTS(TRANSPOSE_CONV, 3, 2, 1, 3, 0),
	WEIGHTS(FULLY_CONNECTED, 4, 0, 1, 2, -1),
	FIXED(SOFTMAX, 2, 0x1p-8f, -128, 0x1p-15f),
	FIXED(LOGISTIC, 2, 0x1p-8f, -128, 0x1p-15f),
	FIXED(TANH, 2, 0x1p-7f, 0, 0x1p-15f),
	FIXED(L2_NORMALIZATION, 2, 0x1p-7f, 0, 0),
	FIXED(LOG_SOFTMAX, 2, 0x1p-4f, 127, 0),
	OTHER(SVDF, SVDF, 3), OTHER(UNIDIRECTIONAL_SEQUENCE_LSTM, LSTM, 1),
	OTHER(ADD, FREE, 2), OTHER(SUB, FREE, 2), OTHER(MUL, FREE, 2), OTHER(DIV, FREE, 2),
	OTHER(SQUARED_DIFFERENCE, FREE, 2), OTHER(PRELU, FREE, 1),
	OTHER(ABS, FREE, 2), OTHER(NEG, SAME, 1), OTHER(RELU, FREE, 2),
	OTHER(RELU_N1_TO_1, FREE, 2), OTHER(RELU_0_TO_1, FREE, 1), OTHER(RELU6, SAME, 2),
	OTHER(LEAKY_RELU, FREE, 2), OTHER(HARD_SWISH, FREE, 1), OTHER(EXP, FREE, 2),
	OTHER(LOG, FREE, 2), OTHER(ELU, FREE, 1), OTHER(RSQRT, FREE, 2), OTHER(GELU, FREE, 2),
	OTHER(MEAN, FREE, 2), OTHER(SUM, FREE, 2), OTHER(BATCH_MATMUL, FREE, 2),
	OTHER(AVERAGE_POOL_2D, SAME, 2), OTHER(MAX_POOL_2D, SAME, 2),
	OTHER(MAXIMUM, SAME, 2), OTHER(MINIMUM, SAME, 2),
	OTHER(REDUCE_MIN, SAME, 2), OTHER(REDUCE_MAX, SAME, 2),
	OTHER(RESIZE_BILINEAR, SAME, 2), OTHER(RESIZE_NEAREST_NEIGHBOR, SAME, 2),
	OTHER(RESHAPE, SAME, 1), OTHER(SQUEEZE, SAME, 1), OTHER(EXPAND_DIMS, SAME, 1),
	OTHER(CONCATENATION, SAME, 2), OTHER(PACK, SAME, 2), OTHER(UNPACK, SAME, 2),
	OTHER(SPLIT, SAME, 2), OTHER(SPLIT_V, SAME, 2), OTHER(SLICE, SAME, 2),
	OTHER(STRIDED_SLICE, SAME, 2), OTHER(TRANSPOSE, SAME, 2), OTHER(REVERSE_V2, SAME, 3),
	OTHER(SPACE_TO_DEPTH, SAME, 2), OTHER(DEPTH_TO_SPACE, SAME, 2),
	OTHER(GATHER, SAME, 2), OTHER(GATHER_ND, SAME, 2), OTHER(PAD, SAME, 2),
	OTHER(PADV2, SAME, 2), OTHER(MIRROR_PAD, SAME, 2), OTHER(TILE, SAME, 3),
	OTHER(BROADCAST_TO, SAME, 3), OTHER(SPACE_TO_BATCH_ND, SAME, 2),
	OTHER(BATCH_TO_SPACE_ND, SAME, 2),
	OTHER(READ_VARIABLE, VARIABLE, 1), OTHER(ASSIGN_VARIABLE, VARIABLE, 1),
	OTHER(ARG_MAX, COMPARE, 2), OTHER(ARG_MIN, COMPARE, 2),
	OTHER(EQUAL, COMPARE, 2), OTHER(NOT_EQUAL, COMPARE, 2),
	OTHER(GREATER, COMPARE, 2), OTHER(GREATER_EQUAL, COMPARE, 2),
	OTHER(LESS, COMPARE, 2), OTHER(LESS_EQUAL, COMPARE, 2),
};

const struct rule *
rule_of(int code)
{
	return &rules[code >= 0 && code < TFL_BUILTIN_LIMIT ? code : TFL_BUILTIN_LIMIT - 1];
}

struct check {
	const struct options *o;
	const struct tfl_model *m;
	const struct tfl_subgraph *g;
	struct real *real;
	struct arena *a;
	struct tfl_tensor *trial; /* a copy of the tensors */
	bool *is_real; /* one per tensor: computed in real numbers, or a constant */
	struct err *e; /* of the operator that is judged */
};

static bool
refuse(const struct check *c, int op, const char *why)
{
	return tfl_refuse(c->m, &c->g->op[op], op, why, c->e);
}

/* ---- shapes and options ------------------------------------------------------------- */

/* the type that tensor k of the operator will have, among inputs and then outputs */
static int
integer_type(const struct tfl_op *op, const struct rule *r, int k, bool constant, int type)
{
	enum { SVDF_TIME = 2, SVDF_BIAS, SVDF_STATE };
	bool is_input = k < op->n_in, wide = type == TFL_INT16;
	if (r->kind == RULE_SVDF && is_input && (k == SVDF_TIME || k == SVDF_STATE))
		return TFL_INT16;
	if (r->kind == RULE_SVDF && is_input && k == SVDF_BIAS)
		return TFL_INT32;
	if (r->kind == RULE_LSTM && is_input && k == LSTM_CELL)
		return TFL_INT16;
	bool is_gate_bias = k >= LSTM_BIAS && k < LSTM_BIAS + LSTM_N_GATES;
	if (is_input && ((r->kind == RULE_WEIGHTS && k == r->bias) ||
			 (r->kind == RULE_LSTM && is_gate_bias)))
		return wide ? TFL_INT64 : TFL_INT32;
	if (r->kind == RULE_LSTM && is_input && k >= LSTM_WEIGHTS && k < LSTM_PEEPHOLE)
		return TFL_INT8;
	return r->kind == RULE_WEIGHTS && is_input && k == r->weights && constant ? TFL_INT8
										   : type;
}

/*
 * The integer kernel's own checks decide whether shapes and options are consistent; the
 * functions in real numbers rely on it.  type: of the feature maps.
 */
static bool
check_shapes(struct check *c, int i, int type, struct err *e)
{
	const struct tfl_op *op = &c->g->op[i];
	const struct rule *r = rule_of(op->code);
	struct tfl_subgraph trial = *c->g;
	struct arena *a = c->a;
	if (type == TFL_INT16 && r->kind == RULE_FIXED && !(r->scale16 > 0))
		return false;
	c->a = arena_open();
	trial.tensor = c->trial;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (t < 0 || c->trial[t].type != TFL_FLOAT32)
			continue;
		/* replace the float tensor by zeros with a scale that every kernel accepts */
		struct tfl_tensor *to = &c->trial[t];
		float *scale = anew(c->a, float, 1);
		int64_t *zero = anew(c->a, int64_t, 1);
		bool is_fixed = k >= op->n_in && r->kind == RULE_FIXED;
		to->type = integer_type(op, r, k, to->data.p, type);
		bool wide = to->type == TFL_INT16;
		*scale = !is_fixed ? 0x1p-7f : wide ? r->scale16 : r->scale;
		*zero = is_fixed && !wide ? r->zero : 0;
		to->quant = (struct tfl_quant){ .n_scale = 1, .scale = scale, .n_zero = 1,
						.zero = zero };
		if (to->data.p) {
			size_t bytes = (size_t)tfl_bytes(to);
			to->data = (struct bytes){ .p = arena_alloc(c->a, bytes + 1, 1), .n = bytes };
		}
	}
	bool ok = kernel_check(&trial, op, e);
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (t >= 0)
			c->trial[t] = c->g->tensor[t];
	}
	arena_close(c->a);
	c->a = a;
	return ok;
}

static bool
has_elements(const struct tfl_tensor *t)
{
	return t->has_shape && tfl_bytes(t) >= 1;
}

static bool
refuse_shape(const struct check *c, int i)
{
	return err_at(c->e, c->m->name, 0, "subgraph 0: tensor %d (%s): empty and unknown shapes "
		      "are not supported", i, c->g->tensor[i].name);
}

static bool
is_float_constant(const struct check *c, int t)
{
	return c->g->tensor[t].data.p && c->g->tensor[t].type == TFL_FLOAT32;
}

/* Judges the operator without the values that it reads. */
static bool
check_op(struct check *c, int i)
{
	const struct tfl_op *op = &c->g->op[i];
	const struct rule *r = rule_of(op->code);
	const struct kernel_inputs *inputs = kernel_inputs(op->code);
	struct err bare = { 0 };
	bool has_floats = false;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (t < 0)
			continue;
		if (!has_elements(&c->g->tensor[t]) && c->g->tensor[t].type != TFL_RESOURCE)
			return refuse_shape(c, t);
		has_floats |= c->g->tensor[t].type == TFL_FLOAT32;
	}
	if (!has_floats)
		return refuse(c, i, "computes integers of a float network, which is not "
				    "supported");
	if (r->kind == RULE_VARIABLE) /* net_find_variables() has checked it */
		return true;
	if (r->kind == RULE_NONE)
		return refuse(c, i, "no integer version of this float operator is known");
	if (op->n_in < inputs->least || op->n_in > inputs->most || op->n_out < 1)
		return refuse(c, i, "has too few or too many inputs or outputs");
	if (!check_shapes(c, i, TFL_INT8, &bare))
		return err_at(c->e, c->m->name, 0, "no integer version: %s", bare.text);
	if (r->kind == RULE_LSTM) { /* check_shapes() found all inputs of full gates */
		if (TFL_OPT(op, UnidirectionalSequenceLSTMOptions, fused_activation_function) !=
			    TFL_ACT_TANH ||
		    TFL_OPT(op, UnidirectionalSequenceLSTMOptions, diagonal_recurrent_tensors))
			return refuse(c, i, "an activation other than TANH and diagonal recurrent "
					    "tensors have no integer version");
		for (int k = LSTM_WEIGHTS; k < LSTM_PROJECTION; k++)
			if (op->in[k] >= 0 && !is_float_constant(c, op->in[k]))
				return refuse(c, i, "the network computes weights or biases: no "
						    "integer version");
		return true;
	}
	if (op->code == TFL_DIV && is_float_constant(c, op->in[1]) &&
	    !has_reciprocals(&c->g->tensor[op->in[1]]))
		return refuse(c, i, "divides by a constant that is 0, or almost 0");
	bool svdf = r->kind == RULE_SVDF, computed = op->code == TFL_FULLY_CONNECTED;
	if (!svdf && r->kind != RULE_WEIGHTS)
		return true;
	if (!is_float_constant(c, op->in[svdf ? 1 : r->weights]) && !computed)
		return refuse(c, i, "the network computes the weights: no integer version");
	if (svdf && (!is_float_constant(c, op->in[2]) || op->n_in < 5 || op->in[4] < 0))
		return refuse(c, i, "needs constant weights and a state");
	int bias = svdf ? 3 : r->bias;
	if (bias < op->n_in && op->in[bias] >= 0 && !is_float_constant(c, op->in[bias]))
		return refuse(c, i, "the network computes the bias: no integer version");
	return true;
}

/* ---- tensors ------------------------------------------------------------------------ */

static bool
check_tensor(const struct check *c, int subgraph, int i)
{
	const struct tfl_tensor *t = &c->m->subgraph[subgraph].tensor[i];
	if (t->is_sparse)
		return err_at(c->e, c->m->name, 0, "subgraph %d: tensor %d (%s): sparse weights are not "
			      "supported", subgraph, i, t->name);
	for (int64_t k = 0; t->type == TFL_FLOAT32 && t->data.p && k < tfl_elements(t); k++)
		if ((load_le32(t->data.p + 4 * k) & 0x7f800000) == 0x7f800000)
			return err_at(c->e, c->m->name, 0, "subgraph %d: tensor %d (%s): element %lld is not "
				      "a finite number", subgraph, i, t->name, (long long)k);
	return true;
}

static bool
check_tensors(const struct check *c)
{
	enum { MOST = 1 << 28 }; /* numbers that the network is computed with */
	int64_t n = 0;
	bool any = false;
	for (int i = 0; c->m->n_subgraphs > 1 && i < c->m->subgraph[1].n_tensors; i++)
		if (!check_tensor(c, 1, i))
			return false;
	for (int i = 0; i < c->g->n_tensors; i++) {
		const struct tfl_tensor *t = &c->g->tensor[i];
		if (!check_tensor(c, 0, i))
			return false;
		any |= t->type == TFL_FLOAT32;
		n += is_real(t) && has_elements(t) ? tfl_elements(t) : 0;
		if (n > MOST)
			return err_at(c->e, c->m->name, 0, "the model has more than %d numbers, "
				      "which is not supported", (int)MOST);
	}
	for (int k = 0; k < c->g->n_in; k++)
		if (!has_elements(&c->g->tensor[c->g->in[k]]))
			return refuse_shape(c, c->g->in[k]);
	return any || err_at(c->e, c->m->name, 0, "the model has no FLOAT32 tensor: it is "
			     "quantized already");
}

/* ---- the plan ----------------------------------------------------------------------- */

static bool
is_allowed(const struct options *o, const char *label)
{
	const char *at = o->allowed;
	size_t n = strlen(label);
	for (; o->allow && at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
		if (!strncmp(at, label, n) && (at[n] == ',' || !at[n]))
			return true;
	return o->allow && !o->allowed;
}

/* Decides on operator i; c->e has the reason if check_op() refused it. */
static bool
plan_op(struct check *c, int i, struct op_plan *p, bool ok, struct err *e)
{
	const struct tfl_op *op = &c->g->op[i];
	bool wide = c->o->type == ACTIVATIONS_INT16;
	bool variable = rule_of(op->code)->kind == RULE_VARIABLE;
	if (is_variable_frame(op)) {
		p->keeps_float = true;
		return true;
	}
	bool reads_real = true, compares = rule_of(op->code)->kind == RULE_COMPARE;
	for (int k = 0; k < op->n_in; k++)
		reads_real &= op->in[k] < 0 || c->is_real[op->in[k]];
	ok = ok && (reads_real || refuse(c, i, "reads integers or values that the network computes "
					       "by other means than real numbers")) &&
	     (compares || real_has_function(c->real, i) ||
	      refuse(c, i, "its float inputs are not supported")) &&
	     (!wide || p->has_16 || refuse(c, i, "has no INT16 version"));
	/* real_run() may compute an operator that keeps its floats, too */
	struct err bare = { 0 };
	p->computed = ok ? !compares
			 : reads_real && real_has_function(c->real, i) && kernel_check(c->g, op, &bare);
	p->keeps_float = !ok;
	for (int k = 0; k < op->n_out; k++)
		c->is_real[op->out[k]] = p->computed;
	if (ok || (!variable && is_allowed(c->o, tfl_op_label(op))))
		return true;
	if (variable) /* all values of a variable have one type */
		return err_at(e, c->e->place, 0, "%s", c->e->text);
	return err_at(e, c->e->place, 0, "%s (--allow keeps it in float)", c->e->text);
}

bool
rules_check(struct arena *to, const struct tfl_model *m, const struct options *o,
	    struct op_plan **plan, struct err *e)
{
	struct arena *a = arena_open();
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct check c = { .o = o, .m = m, .g = g, .a = a, .e = e };
	size_t n = (size_t)g->n_tensors, n_ops = (size_t)g->n_ops;
	struct err *reason = anew(a, struct err, n_ops + 1);
	bool *ok = anew(a, bool, n_ops + 1), all = check_tensors(&c);
	c.is_real = anew(a, bool, n + 1);
	c.trial = anew(a, struct tfl_tensor, n + 1);
	if (n)
		memcpy(c.trial, g->tensor, n * sizeof(*c.trial));
	for (size_t i = 0; i < n; i++)
		c.is_real[i] = c.trial[i].data.p || c.trial[i].type == TFL_RESOURCE ||
			     (c.trial[i].is_variable && c.trial[i].type == TFL_FLOAT32);
	for (int k = 0; k < g->n_in; k++)
		c.is_real[g->in[k]] = true;
	*plan = anew(to, struct op_plan, n_ops + 1);
	for (int i = 0; i < g->n_ops && all; i++) {
		struct err bare = { 0 };
		c.e = &reason[i];
		ok[i] = check_op(&c, i);
		if (rule_of(g->op[i].code)->kind == RULE_VARIABLE)
			(*plan)[i].has_16 = o->type == ACTIVATIONS_INT16;
		else
			(*plan)[i].has_16 = ok[i] && check_shapes(&c, i, TFL_INT16, &bare);
	}
	if (all)
		c.real = open_real(a, m);
	for (int i = 0; i < g->n_ops && all; i++) {
		c.e = &reason[i];
		all = plan_op(&c, i, &(*plan)[i], ok[i], e);
	}
	arena_close(a);
	return all;
}
