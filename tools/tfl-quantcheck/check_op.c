/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules about an operator together with its tensors: float arithmetic, and what its
 * integer kernel assumes (nputools-tflite(5) 5, nputools-lowering(7) 3).
 */
#include "quantcheck.h"

#include "kernels/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* positions of the inputs of an operator with weights; -1: no such input */
static const struct mac_role {
	int code;
	int ifm, weights, bias;
	int axis;    /* axis of the output channels in the weights */
	bool honours_zero; /* the kernel subtracts the weights' zero point */
} mac_roles[] = {
	{ TFL_CONV_2D, 0, 1, 2, 0, false },
	{ TFL_DEPTHWISE_CONV_2D, 0, 1, 2, 3, false },
	{ TFL_TRANSPOSE_CONV, 2, 1, 3, 0, false },
	{ TFL_FULLY_CONNECTED, 0, 1, 2, 0, true },
	/* SVDF adds its bias after the filter over time, which reads the state */
	{ TFL_SVDF, 4, 2, 3, 0, false },
};

static const struct mac_role *
role_of(int code)
{
	for (size_t i = 0; i < ARRAY_LEN(mac_roles); i++)
		if (mac_roles[i].code == code)
			return &mac_roles[i];
	return NULL;
}

static int
tensor_index(const struct review *r, struct place at, int k)
{
	return place_op(r, at)->in[k];
}

/* ---- float arithmetic -------------------------------------------------- */

struct floats {
	/* index of a float tensor, a computed one if possible; -1: none */
	int first;
	bool activation;	/* a computed float tensor is read */
	bool quantized_weights; /* a constant of a quantized type is read */
};

static struct floats
find_floats(const struct review *r, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	struct floats f = { .first = -1 };
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int i = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (i < 0)
			continue;
		const struct tfl_tensor *t = &g->tensor[i];
		if (type_is_quantized(t->type) && t->data.p)
			f.quantized_weights = true;
		if (!type_is_float(t->type))
			continue;
		if (f.first < 0 || (g->tensor[f.first].data.p && !t->data.p))
			f.first = i;
		f.activation |= k < op->n_in && !t->data.p;
	}
	return f;
}

static void
check_float(struct review *r, const struct check *c, struct place at)
{
	struct floats f = find_floats(r, at);
	if (f.first < 0 || (f.activation && f.quantized_weights))
		return;
	at.tensor = f.first;
	const struct tfl_tensor *t = place_tensor(r, at);
	if (is_border_operator(r, at)) {
		review_follow(r, c, at, "converts %s at an input or output of the "
					"model",
			      tfl_type_name(t->type));
		return;
	}
	review_add(r, c, at, "%s a %s %s",
		   t->producer == at.op ? "computes" : "reads",
		   tfl_type_name(t->type), t->data.p ? "constant" : "tensor");
}

static void
check_hybrid(struct review *r, const struct check *c, struct place at)
{
	struct floats f = find_floats(r, at);
	if (!f.activation || !f.quantized_weights)
		return;
	at.tensor = f.first;
	review_add(r, c, at, "%s values with integer weights: quantize the "
			     "activations too (representative data set)",
		   tfl_type_name(place_tensor(r, at)->type));
}

/* ---- weights ----------------------------------------------------------- */

static void
check_weight_zero(struct review *r, const struct check *c, struct place at)
{
	const struct mac_role *m = role_of(place_op(r, at)->code);
	const struct tfl_tensor *w = m ? op_input(r, at, m->weights) : NULL;
	/* weights of older uint8 models have zero points, which their kernels subtract */
	if (!w || w->type == TFL_UINT8 || !type_is_quantized(w->type))
		return;
	bool want_error = c->severity == ERROR;
	if (want_error == m->honours_zero)
		return;
	at.tensor = tensor_index(r, at, m->weights);
	for (int i = 0; i < w->quant.n_zero; i++)
		if (w->quant.zero[i]) {
			review_add(r, c, at, "%s weights with zero point %lld "
					     "(channel %d): %s",
				   tfl_type_name(w->type),
				   (long long)w->quant.zero[i], i,
				   want_error ? "the kernel assumes 0"
					      : "allowed, but slower");
			return;
		}
}

static void
check_weight_axis(struct review *r, const struct check *c, struct place at)
{
	const struct mac_role *m = role_of(place_op(r, at)->code);
	const struct tfl_tensor *w = m ? op_input(r, at, m->weights) : NULL;
	if (!w || w->quant.n_scale <= 1 || w->quant.axis == m->axis)
		return;
	at.tensor = tensor_index(r, at, m->weights);
	review_add(r, c, at, "scales along axis %d, but the kernel expects them along "
			     "axis %d, the output channels",
		   w->quant.axis, m->axis);
}

/* true for a constant whose data is exactly its elements */
static bool
is_dense(const struct tfl_tensor *t, size_t element_bytes)
{
	return t->data.n && !t->is_sparse &&
	       (uint64_t)tfl_elements(t) == t->data.n / element_bytes;
}

/* are all bytes of channel ch along the axis 0, which is the zero point? */
static bool
channel_is_zero(const struct tfl_tensor *w, int axis, int32_t ch)
{
	size_t inner = 1, outer = 1;
	for (int i = 0; i < w->rank; i++) {
		if (i < axis)
			outer *= (size_t)w->dim[i];
		if (i > axis)
			inner *= (size_t)w->dim[i];
	}
	size_t step = inner * (size_t)w->dim[axis];
	for (size_t o = 0; o < outer; o++)
		for (size_t i = 0; i < inner; i++)
			if (w->data.p[o * step + (size_t)ch * inner + i])
				return false;
	return true;
}

static void
check_dead_channels(struct review *r, const struct check *c, struct place at)
{
	const struct mac_role *m = role_of(place_op(r, at)->code);
	const struct tfl_tensor *w = m ? op_input(r, at, m->weights) : NULL;
	if (!w || (w->type != TFL_INT8 && w->type != TFL_INT4) || m->axis >= w->rank ||
	    !is_dense(w, 1))
		return;
	int dead = 0;
	for (int32_t ch = 0; ch < w->dim[m->axis]; ch++)
		dead += channel_is_zero(w, m->axis, ch);
	at.tensor = tensor_index(r, at, m->weights);
	if (dead)
		review_add(r, c, at, "%d of %d output channels have only weights of 0",
				     dead, w->dim[m->axis]);
}

/* ---- bias -------------------------------------------------------------- */

struct bias {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
};

/* finds the operator's bias and the tensors that define its scale; false: no bias */
static bool
find_bias(const struct review *r, struct place *at, struct bias *b)
{
	const struct tfl_op *op = place_op(r, *at);
	const struct mac_role *m = role_of(op->code);
	if (!m || op->n_out < 1)
		return false;
	*b = (struct bias){
		.ifm = op_input(r, *at, m->ifm),
		.weights = op_input(r, *at, m->weights),
		.bias = op_input(r, *at, m->bias),
		.ofm = &r->m->subgraph[at->subgraph].tensor[op->out[0]],
	};
	if (!b->ifm || !b->weights || !b->bias ||
	    !type_is_quantized(b->ifm->type))
		return false;
	at->tensor = tensor_index(r, *at, m->bias);
	return true;
}

static void
check_bias_type(struct review *r, const struct check *c, struct place at)
{
	struct bias b;
	if (!find_bias(r, &at, &b) || type_is_float(b.bias->type))
		return;
	if (b.bias->type == TFL_INT32 ||
	    (b.bias->type == TFL_INT64 && b.ifm->type == TFL_INT16))
		return;
	review_add(r, c, at, "bias of type %s for %s values: it must be INT32%s",
		   tfl_type_name(b.bias->type), tfl_type_name(b.ifm->type),
		   b.ifm->type == TFL_INT16 ? " or INT64" : "");
}

static void
check_bias_zero(struct review *r, const struct check *c, struct place at)
{
	struct bias b;
	if (!find_bias(r, &at, &b))
		return;
	for (int i = 0; i < b.bias->quant.n_zero; i++)
		if (b.bias->quant.zero[i]) {
			review_add(r, c, at, "bias with zero point %lld (channel %d): "
					     "the kernel assumes 0",
				   (long long)b.bias->quant.zero[i], i);
			return;
		}
}

/*
 * The worst channel: how far the bias scale is from input scale times weight scale,
 * and by how many steps of the output the bias is therefore wrong.  The kernels add
 * the stored bias in units of input scale times weight scale, whatever its own
 * scale says.
 */
struct bias_error {
	int channel;
	double relative, steps, have, want;
};

static bool
worst_bias(const struct bias *b, struct bias_error *worst)
{
	const struct tfl_quant *q = &b->bias->quant, *w = &b->weights->quant;
	if (!q->n_scale || !w->n_scale || b->ifm->quant.n_scale != 1 ||
	    b->ofm->quant.n_scale != 1)
		return false;
	*worst = (struct bias_error){ .channel = -1 };
	bool has_values = (b->bias->type == TFL_INT32 && is_dense(b->bias, 4)) ||
			  (b->bias->type == TFL_INT64 && is_dense(b->bias, 8));
	int64_t channels = has_values ? tfl_elements(b->bias) : q->n_scale;
	for (int64_t i = 0; i < channels; i++) {
		double have = (double)q->scale[q->n_scale > 1 ? i : 0];
		double want = (double)b->ifm->quant.scale[0] *
			      (double)w->scale[w->n_scale > i ? i : 0];
		if (!(have > 0) || !(want > 0) || !isfinite(have) ||
		    !isfinite(want))
			continue;
		double rel = fabs(have - want) / want;
		int64_t at = has_values ? tfl_integer(b->bias->type, b->bias->data.p, i)
					: 0;
		double steps = fabs((double)at) * fabs(have - want) /
			       (double)b->ofm->quant.scale[0];
		if (worst->channel >= 0 && (steps < worst->steps ||
		    (steps <= worst->steps && rel <= worst->relative)))
			continue;
		*worst = (struct bias_error){ (int)i, rel, steps, have, want };
	}
	return worst->channel >= 0;
}

/*
 * Tolerance, relative.  A converter stores three float32 numbers, each within 2^-24
 * of the intended one, and may have computed the product in float32: at most 2^-22
 * in all.  1e-6 also allows for a scale that was written as decimal text.
 */
static const double rounding = 1e-6;
/* in steps of the output: its rounding hides a smaller error */
static const double half_step = 0.5;

static void
check_bias_scale(struct review *r, const struct check *c, struct place at)
{
	struct bias b;
	struct bias_error w;
	if (!find_bias(r, &at, &b) || !worst_bias(&b, &w) ||
	    w.relative <= rounding)
		return;
	if ((w.steps >= half_step) != (c->severity == ERROR))
		return;
	/*
	 * Several operators may share the bias, as converters share equal constants: its scale can't
	 * be right for all of them.  TensorFlow Lite Micro accepts a difference of 0.02 of the
	 * output's scale.
	 */
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	int users = 0;
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_in; k++)
			users += g->op[i].in[k] == at.tensor;
	bool shared = users > 1 && fabs(w.have - w.want) <= 0.02 * (double)b.ofm->quant.scale[0];
	(shared ? review_warn : review_add)(
	    r, c, at, "bias scale %.9g of channel %d is not input scale times weight scale, %.9g: "
		      "%.2g relative, %.2g steps of the output%s", w.have, w.channel, w.want,
	    w.relative, w.steps, shared ? "; several operators share the bias, whose integers they "
					  "take in their own scales" : "");
}

/* ---- declared quantization --------------------------------------------- */

static void
check_equal(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	struct err e = { 0 };
	if (kernel_equal_quantization(r->m, at.subgraph, op, &r->variables, &at.tensor, &e))
		return;
	if (kernel_computes_declared(&r->m->subgraph[at.subgraph], op))
		review_warn(r, c, at, "%s, but only the NPU rescales: TensorFlow Lite Micro "
				      "refuses the operator", e.text);
	else
		review_add(r, c, at, "%s, but the kernel does not rescale", e.text);
}

static void
check_output(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	struct err e = { 0 };
	if (kernel_copies_integers(op->code) || kernel_takes_quantization(g, op, &e))
		return;
	at.tensor = op->out[0];
	if (kernel_computes_declared(g, op))
		review_warn(r, c, at, "%s: only the NPU computes what is declared", e.text);
	else
		review_add(r, c, at, "%s", e.text);
}

/*
 * Kernels for 16-bit values ignore zero points in their sums.  QUANTIZE honours
 * zero points, copies are not affected, and SOFTMAX from INT8 requires -32768.
 */
static void
check_int16_zero(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	const struct tfl_subgraph *g = &r->m->subgraph[at.subgraph];
	if (op->code == TFL_QUANTIZE || op->code == TFL_DEQUANTIZE ||
	    op->code == TFL_CUSTOM || kernel_copies_integers(op->code))
		return;
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int i = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		const struct tfl_tensor *t = i < 0 ? NULL : &g->tensor[i];
		if (!t || t->type != TFL_INT16 || t->quant.n_zero != 1 ||
		    !t->quant.zero[0] ||
		    (op->code == TFL_SOFTMAX && k >= op->n_in))
			continue;
		at.tensor = i;
		review_add(r, c, at, "INT16 with zero point %lld, but the kernel "
				     "assumes 0",
			   (long long)t->quant.zero[0]);
		return;
	}
}

/* reports constant divisors that represent 0 */
static void
check_zero_divisor(struct review *r, const struct check *c, struct place at)
{
	const struct tfl_op *op = place_op(r, at);
	if (op->code != TFL_DIV && op->code != TFL_FLOOR_DIV && op->code != TFL_FLOOR_MOD)
		return;
	const struct tfl_tensor *t = op_input(r, at, 1);
	size_t bytes = t && !type_is_float(t->type) ? (size_t)tfl_type_bytes(t->type) : 0;
	if (!bytes || !is_dense(t, bytes))
		return;
	int64_t n = tfl_elements(t), zeros = 0;
	int64_t zero = t->quant.n_zero == 1 ? t->quant.zero[0] : 0;
	for (int64_t i = 0; i < n; i++)
		zeros += tfl_integer(t->type, t->data.p, i) == zero;
	at.tensor = tensor_index(r, at, 1);
	if (zeros)
		review_add(r, c, at, "%lld of %lld constant divisors %s 0: TFLite does "
				     "not define the quotient",
				     (long long)zeros, (long long)n,
			   zeros == 1 ? "is" : "are");
}

const struct check op_checks[] = {
	{ .name = "float-operator", .integer = true, .severity = ERROR,
	  .rule = "an operator reads and computes integers",
	  .op = check_float },
	{ .name = "hybrid-operator", .integer = true, .severity = ERROR,
	  .rule = "integer weights go with integer activations",
	  .op = check_hybrid },
	{ .name = "weight-zero-point", .severity = ERROR,
	  .rule = "signed weights have zero point 0",
	  .op = check_weight_zero },
	{ .name = "weight-zero-point-fc", .severity = WARNING,
	  .rule = "signed weights of FULLY_CONNECTED have zero point 0",
	  .op = check_weight_zero },
	{ .name = "weight-axis", .severity = ERROR,
	  .rule = "scales of weights run along the output channels",
	  .op = check_weight_axis },
	{ .name = "dead-channels", .severity = NOTE,
	  .rule = "every output channel has a weight that is not 0",
	  .op = check_dead_channels },
	{ .name = "bias-type", .severity = ERROR,
	  .rule = "a bias is INT32 (or INT64 for 16-bit values)",
	  .op = check_bias_type },
	{ .name = "bias-zero-point", .severity = ERROR,
	  .rule = "a bias has zero point 0",
	  .op = check_bias_zero },
	{ .name = "bias-scale", .severity = ERROR,
	  .rule = "bias scale = input scale * weight scale, to half a step of "
		  "the output",
	  .op = check_bias_scale },
	{ .name = "bias-scale-inexact", .severity = WARNING,
	  .rule = "bias scale = input scale * weight scale, to float32 rounding",
	  .op = check_bias_scale },
	{ .name = "int16-zero-point", .severity = ERROR,
	  .rule = "16-bit values have zero point 0 where the kernel assumes it",
	  .op = check_int16_zero },
	{ .name = "zero-divisor", .severity = WARNING,
	  .rule = "no constant divisor stands for 0",
	  .op = check_zero_divisor },
	{ .name = "output-quantization", .severity = ERROR, .is_final = true,
	  .rule = "an output has the fixed quantization of the operator's kernel",
	  .op = check_output },
	{ .name = "unequal-quantization", .severity = ERROR,
	  .rule = "an operator that copies values has equal scales in and out",
	  .op = check_equal },
};
const int n_op_checks = ARRAY_LEN(op_checks);
