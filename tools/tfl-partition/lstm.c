/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNIDIRECTIONAL_SEQUENCE_LSTM: nputools-lowering(7) 3.10.  The four gates are
 * one matrix with scales of their own by channel, so a step is one product
 * with the last output and nine operations on vectors; what the inputs give to
 * the gates is computed for some steps at once.
 */
#include "conv.h"
#include "move.h"

#include "kernels/tables.h"

#include <assert.h>
#include <math.h>

enum { /* input positions: nputools-tflite(5) 6.2 */
	X = 0, WEIGHTS = 1, RECURRENT = 5, PEEPHOLE = 9, BIAS = 12,
	PROJECTION = 16, HIDDEN = 18, CELL = 19, NORM = 20, N_INPUTS = 24,
};
enum { N_GATES = 4, SIGMOIDS = 3, MAX_STEPS = 1024 };

/* the three that pass a sigmoid first: input, forget, output; candidate */
static const int gate_at[N_GATES] = { 0, 1, 3, 2 };
enum { AT_INPUT, AT_FORGET, AT_OUTPUT, AT_CANDIDATE };

#define GATE_SCALE 0x1p-12f /* of what goes into the activations ... */
#define UNIT_SCALE 0x1p-15f /* ... and of what comes out */

struct lstm {
	const struct tfl_tensor *x, *hidden, *cell, *ofm;
	int32_t batch, steps, features, cells;
	bool major; /* time comes before the batch in X and OFM */
	int32_t clip;
	struct npu_scale keep, add, emit; /* f*c, i*g, o*tanh(c) */
};

/* ---- rules ------------------------------------------------------------------------- */

static const char *
check_state(const struct part *p, const struct tfl_op *op, int k, const char *role,
	    int type)
{
	const char *why = check_own_state(p, op, k, role);
	if (why)
		return why;
	const struct tfl_tensor *t = part_in(p, op, k);
	if (t->type != type || !t->has_shape)
		return part_say(p, "%s is no variable of %s", role,
				tfl_type_name(type));
	if (t->quant.n_scale != 1 || !(t->quant.scale[0] > 0) ||
	    !isfinite(t->quant.scale[0]))
		return part_say(p, "%s has no quantization", role);
	return NULL;
}

static double
dense_scale(const struct lstm *l, const struct tfl_tensor *w, bool recurrent)
{
	const struct tfl_tensor *in = recurrent ? l->hidden : l->x;
	return (double)(quant_scale_f32(in) * quant_scale_f32(w) / GATE_SCALE);
}

static bool
gate_scale(const struct lstm *l, const struct tfl_tensor *w, bool recurrent,
	   struct npu_scale *s)
{
	if (!npu_quantise(dense_scale(l, w, recurrent), s))
		return false;
	if (l->x->type == TFL_INT16)
		*s = npu_scale_reduce(*s);
	return s->shift >= 0 && s->shift <= 63;
}

static const char undefined[] = "sums times the scales' power of two leave 32 bits, and "
	"TensorFlow Lite Micro's result is undefined then";

static double
largest_bias(const struct tfl_tensor *b)
{
	double most = 0;
	for (size_t i = 0; 4 * i + 4 <= b->data.n; i++)
		most = fmax(most, fabs((double)(int32_t)load_le32(b->data.p + 4 * i)));
	return most;
}

/* sums of 64 bits, for operands of 16, leave nothing */
static bool
is_defined(const struct part *p, const struct tfl_op *op, const struct lstm *l, int g)
{
	for (int k = 0; k < 2 && l->x->type == TFL_INT8; k++) {
		const struct tfl_tensor *w = part_in(p, op, (k ? RECURRENT : WEIGHTS) + g);
		double most = (double)(k ? l->cells : l->features) * UINT8_MAX * -INT8_MIN;
		struct npu_scale s;
		if (!k)
			most += largest_bias(part_in(p, op, BIAS + g));
		(void)gate_scale(l, w, k, &s);
		if (most > INT32_MAX || npu_scale_leaves_word(s, most))
			return false;
	}
	return true;
}

static const char *
check_gate(const struct part *p, const struct tfl_op *op, const struct lstm *l,
	   int g)
{
	struct npu_scale s;
	for (int k = 0; k < 2; k++) {
		const struct tfl_tensor *w = part_in(p, op, (k ? RECURRENT : WEIGHTS) + g);
		int32_t n = k ? l->cells : l->features;
		if (!w->data.p || w->type != TFL_INT8 || w->quant.n_scale != 1 ||
		    !(w->quant.scale[0] > 0) || quant_zero(w) || w->is_sparse)
			return part_say(p, "weights of gate %d are not constant, "
					"symmetric int8", g);
		if (w->rank != 2 || w->dim[0] != l->cells || w->dim[1] != n)
			return part_say(p, "weights of gate %d are not %dx%d", g,
					l->cells, n);
		if (n > MAX_WEIGHT_SUM / 128)
			return "more than 65024 inputs";
		if (!gate_scale(l, w, k, &s))
			return "a scale of the gates can't be expressed";
	}
	const struct tfl_tensor *b = part_in(p, op, BIAS + g);
	if (!b->data.p || b->type != TFL_INT32 || tfl_elements(b) != l->cells)
		return part_say(p, "bias of gate %d is not %d constants of int32", g,
				l->cells);
	return is_defined(p, op, l, g) ? NULL : undefined;
}

/* products of states, and the factor of the cell before its tanh */
static const char *
check_products(const struct lstm *l)
{
	const double most = (double)INT16_MIN * INT16_MIN, word = (double)UINT16_MAX + 1;
	struct sigmoid16 tanh;
	sigmoid16_prepare(&tanh, quant_scale_f32(l->cell), true);
	return npu_scale_leaves_word(l->keep, most) || npu_scale_leaves_word(l->add, most) ||
			       npu_scale_leaves_word(l->emit, most) || tanh.mult >= word
		   ? undefined
		   : NULL;
}

static const char *
check_inputs(const struct part *p, const struct tfl_op *op)
{
	const char *why = check_arity(p, op, 1, N_INPUTS, 1);
	if (!why)
		why = check_options(p, op, &fb_UnidirectionalSequenceLSTMOptions);
	if (why)
		return why;
	for (int k = 0; k < N_INPUTS; k++) {
		bool unknown = (k >= PEEPHOLE && k < BIAS) || k == PROJECTION ||
			       k == PROJECTION + 1 || k >= NORM;
		if (!unknown == !part_in(p, op, k))
			return part_say(p, "LSTM with%s input %d",
					unknown ? "" : "out", k);
	}
	if (TFL_OPT(op, UnidirectionalSequenceLSTMOptions, fused_activation_function) !=
		    TFL_ACT_TANH ||
	    TFL_OPT(op, UnidirectionalSequenceLSTMOptions, diagonal_recurrent_tensors))
		return "LSTM with another activation than TANH, or diagonal";
	return check_maps(p, op, TYPE_I8 | TYPE_I16);
}

static const char *
read_shapes(struct lstm *l, bool major)
{
	if (l->x->rank != 3 || l->ofm->rank != 3)
		return "IFM and OFM must have 3 dimensions";
	l->steps = l->x->dim[!major];
	l->batch = l->x->dim[major];
	l->major = major;
	l->features = l->x->dim[2];
	l->cells = l->ofm->dim[2];
	if (l->ofm->dim[0] != l->x->dim[0] || l->ofm->dim[1] != l->x->dim[1] ||
	    tfl_elements(l->hidden) != (int64_t)l->batch * l->cells ||
	    tfl_elements(l->cell) != (int64_t)l->batch * l->cells)
		return "the shapes of IFM, states and OFM do not match";
	return l->steps > MAX_STEPS || l->cells > 16384 ||
		       (int64_t)l->steps * l->batch > 65536
		   ? "more than 1024 steps, 16384 cells or 65536 rows"
		   : NULL;
}

static const char *
read_lstm(const struct part *p, const struct tfl_op *op, struct lstm *l)
{
	const char *why = check_inputs(p, op);
	if (why)
		return why;
	*l = (struct lstm){ .x = part_in(p, op, X), .ofm = part_out(p, op, 0),
			    .hidden = part_in(p, op, HIDDEN),
			    .cell = part_in(p, op, CELL) };
	if (l->x->type != l->ofm->type)
		return "IFM and OFM differ in type";
	why = check_state(p, op, HIDDEN, "the output state", l->x->type);
	if (!why)
		why = check_state(p, op, CELL, "the cell state", TFL_INT16);
	if (!why)
		why = read_shapes(l, TFL_OPT(op, UnidirectionalSequenceLSTMOptions,
					     time_major));
	for (int g = 0; !why && g < N_GATES; g++)
		why = check_gate(p, op, l, g);
	if (why)
		return why;
	if (quant_zero(l->cell))
		return "the cell state has a zero point";
	float cell = quant_scale_f32(l->cell), unit2 = UNIT_SCALE * UNIT_SCALE;
	float clip = (float)TFL_OPT_FLOAT(op, UnidirectionalSequenceLSTMOptions,
					  cell_clip);
	if (clip > 0)
		l->clip = (int32_t)fminf(clip / cell, INT16_MAX);
	if (!npu_quantise((double)(UNIT_SCALE * cell / cell), &l->keep) ||
	    !npu_quantise((double)(unit2 / cell), &l->add) ||
	    !npu_quantise((double)(unit2 / quant_scale_f32(l->hidden)), &l->emit))
		return "a scale of the states can't be expressed";
	return check_products(l);
}

/* ---- the gates' matrices --------------------------------------------------------------- */

static struct g_weights *
gate_weights(struct part *p, const struct tfl_op *op, const struct lstm *l,
	     bool recurrent)
{
	int32_t n = recurrent ? l->cells : l->features;
	size_t one = (size_t)l->cells * (size_t)n;
	uint8_t *v = anew(p->a, uint8_t, N_GATES * one);
	for (int g = 0; g < N_GATES; g++) {
		int k = (recurrent ? RECURRENT : WEIGHTS) + gate_at[g];
		memcpy(v + (size_t)g * one, part_in(p, op, k)->data.p, one);
	}
	struct g_weights *w = graph_add_g_weights(p->g);
	G_PUT(w, WEIGHTS, shape,
	      (struct g_shape){ .type = TFL_INT8, .rank = 4,
				.dim = { N_GATES * l->cells, 1, 1, n } });
	int64_t *zero = anew(p->a, int64_t, 1);
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = zero, .n = 1 });
	const char *name = arena_printf(p->a, "gates%d", w->rec.id);
	struct bytes b = { .p = v, .n = N_GATES * one };
	G_PUT(w, WEIGHTS, source,
	      (struct g_source){ .blob = graph_add_blob(p->g, name, b)->name });
	return w;
}

static struct g_scales *
gate_scales(struct part *p, const struct tfl_op *op, const struct lstm *l,
	    bool recurrent)
{
	size_t n = (size_t)l->cells, all = N_GATES * n;
	int64_t *bias = anew(p->a, int64_t, all), *mult = anew(p->a, int64_t, all),
		*shift = anew(p->a, int64_t, all);
	for (size_t i = 0; i < all; i++) {
		int g = gate_at[i / n];
		struct npu_scale s;
		(void)gate_scale(l, part_in(p, op, (recurrent ? RECURRENT : WEIGHTS) + g),
				 recurrent, &s);
		mult[i] = s.mult;
		shift[i] = s.shift;
		if (!recurrent)
			bias[i] = (int32_t)load_le32(part_in(p, op, BIAS + g)->data.p +
						     4 * (i % n));
	}
	struct g_scales *s = graph_add_g_scales(p->g);
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = all });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = all });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = all });
	return s;
}

struct matrix {
	struct g_weights *w;
	struct g_scales *s;
	int32_t zero; /* of what it is multiplied with */
};

static struct matrix
matrix_of(struct part *p, const struct tfl_op *op, const struct lstm *l,
	  bool recurrent)
{
	struct matrix m = { .zero = quant_zero(recurrent ? l->hidden : l->x) };
	m.w = gate_weights(p, op, l, recurrent);
	m.s = gate_scales(p, op, l, recurrent);
	return m;
}

static void
multiply(struct part *p, const struct lstm *l, const struct matrix *m,
	 struct g_operand x, struct g_operand y)
{
	struct yx one = { .y = 1, .x = 1 };
	struct g_op *o = low_op(p->l, OP_FC, x, y);
	op_kernel(o, one, one, one, (struct g_pad){ 0 });
	op_zeros(o, m->zero, 0);
	G_PUT(o, OP, weights, m->w);
	G_PUT(o, OP, scales, m->s);
	if (l->x->type != TFL_INT16)
		return;
	o->round = ROUND_NATURAL;
	G_PUT(o, OP, acc40, 1);
}

/* ---- a step ------------------------------------------------------------------------------- */

static struct g_operand
vectors(struct part *p, const struct lstm *l, int32_t n)
{
	struct hwc s = { .h = 1, .w = l->batch, .c = n * l->cells };
	return operand_whole(low_tensor(p->l, TFL_INT16, s, NULL));
}

/* gate k of the batch */
static struct g_operand
gate(const struct lstm *l, struct g_operand all, int k, int n)
{
	return low_box(all, (struct hwc){ .h = 1, .w = l->batch, .c = n * l->cells },
			(struct hwc){ .c = k * l->cells });
}

/*
 * The hardware's functions want 3 / 2^12 (4.6).  A product with 1, which
 * is elementwise: it may take its operand's place, and costs less than a pool.
 */
static void
squash(struct part *p, struct g_operand x, struct g_operand y, float scale,
       bool tanh)
{
	struct sigmoid16 s;
	sigmoid16_prepare(&s, scale, tanh);
	struct g_op *o = low_op(p->l, OP_MUL, x, y);
	op_scalar(o, 1, 0);
	op_scale(o, (struct npu_scale){ .mult = (uint32_t)s.mult, .shift = s.shift },
		 ROUND_TFL);
	G_PUT(o, OP, act, tanh ? G_ACT_TANH : G_ACT_SIGMOID);
}

static struct g_op *
combine(struct part *p, enum g_op_kind kind, struct g_operand a,
	struct g_operand b, struct g_operand to)
{
	struct g_op *o = low_op(p->l, kind, a, to);
	op_ifm2(o, b, 0);
	op_unscaled(o);
	return o;
}

/* steps t to t + n of X or OFM: batch by step by depth */
static struct nd
some_steps(const struct lstm *l, const struct nd *all, int32_t t, int32_t n)
{
	struct nd v = *all;
	nd_slice(&v, !l->major, t, n, 1);
	if (l->major)
		nd_permute(&v, (const int[]){ 1, 0, 2 });
	return v;
}

/* one step of that: 1 by batch by depth */
static struct g_operand
one_step(const struct nd *steps, int32_t t)
{
	struct nd v = *steps;
	nd_slice(&v, 1, t, 1, 1);
	nd_permute(&v, (const int[]){ 1, 0, 2 });
	struct g_operand o = { .t = NULL };
	bool ok = nd_operand(&v, &o);
	assert(ok);
	return o;
}

/*
 * Input products are made ahead for as many steps as take half the bytes of
 * the inputs: more per pass over the weights costs SRAM that is then missing
 * where the network may be short of it.
 */
static int32_t
steps_at_once(const struct lstm *l)
{
	int64_t row = N_GATES * (int64_t)l->cells * tfl_type_bytes(TFL_INT16);
	int64_t in = (int64_t)l->features * tfl_type_bytes(l->x->type);
	int64_t n = l->steps * in / 2 / row;
	return n < 1 ? 1 : n < l->steps ? (int32_t)n : l->steps;
}

/* what the inputs of n steps from t give to the gates: batch by step by gate */
static struct nd
input_products(struct part *p, const struct lstm *l, const struct matrix *m,
	       const struct nd *x, int32_t t, int32_t n)
{
	struct hwc s = { .h = l->batch, .w = n, .c = N_GATES * l->cells };
	struct tfl_tensor shape = { .rank = 3, .dim = { s.h, s.w, s.c } };
	struct g_operand all = operand_whole(low_tensor(p->l, TFL_INT16, s, NULL));
	struct g_operand in = { .t = NULL };
	struct nd v = some_steps(l, x, t, n);
	bool ok = nd_operand(&v, &in);
	assert(ok);
	multiply(p, l, m, in, all);
	return nd_of(all, &shape);
}

/*
 * The four gates of a step are one tensor, and elementwise operations write over what
 * they read: a second one would be live at the step's peak.
 */
static void
make_step(struct part *p, const struct lstm *l, const struct matrix *m,
	  struct g_operand from_x, struct g_operand h, struct g_operand cell,
	  struct g_operand to)
{
	struct g_operand from_h = vectors(p, l, N_GATES);
	struct g_operand all = vectors(p, l, N_GATES);
	struct g_operand input = gate(l, all, AT_INPUT, 1);
	struct g_operand forget = gate(l, all, AT_FORGET, 1);
	struct g_operand output = gate(l, all, AT_OUTPUT, 1);
	struct g_operand candidate = gate(l, all, AT_CANDIDATE, 1);
	struct g_operand sigmoids = gate(l, all, 0, SIGMOIDS);
	multiply(p, l, m, h, from_h);
	(void)combine(p, OP_ADD, from_x, from_h, all);
	squash(p, sigmoids, sigmoids, GATE_SCALE, false);
	squash(p, candidate, candidate, GATE_SCALE, true);
	op_scale(combine(p, OP_MUL, forget, cell, forget), l->keep, ROUND_TFL);
	op_scale(combine(p, OP_MUL, input, candidate, input), l->add, ROUND_TFL);
	struct g_op *o = combine(p, OP_ADD, forget, input, cell);
	if (l->clip)
		op_clamp(o, (struct g_range){ .lo = -l->clip, .hi = l->clip });
	squash(p, cell, candidate, quant_scale_f32(l->cell), true);
	o = combine(p, OP_MUL, output, candidate, to);
	op_scale(o, l->emit, ROUND_TFL);
	op_zeros(o, 0, quant_zero(l->hidden));
}

static bool
lower_lstm(struct part *p, const struct tfl_op *op)
{
	struct lstm l;
	(void)read_lstm(p, op, &l);
	struct matrix mx = matrix_of(p, op, &l, false), mh = matrix_of(p, op, &l, true);
	struct hwc ss = { .h = 1, .w = l.batch, .c = l.cells };
	struct g_operand state = low_view(p->l, part_ifm(p, op->in[HIDDEN]), ss);
	struct g_operand cell = low_view(p->l, part_ifm(p, op->in[CELL]), ss);
	struct nd x = nd_ifm(p, op->in[X]), y = nd_ofm(p, op->out[0]);
	struct nd out = some_steps(&l, &y, 0, l.steps), products = { .t = NULL };
	struct g_operand h = state;
	int32_t many = steps_at_once(&l);
	for (int32_t t = 0; t < l.steps; t++) {
		int32_t left = l.steps - t;
		if (t % many == 0)
			products = input_products(p, &l, &mx, &x, t,
						  left < many ? left : many);
		struct g_operand to = one_step(&out, t);
		make_step(p, &l, &mh, one_step(&products, t % many), h, cell, to);
		h = to;
	}
	(void)low_copy(p->l, h, state);
	return true;
}

static const char *
check_lstm(const struct part *p, const struct tfl_op *op)
{
	struct lstm l;
	return read_lstm(p, op, &l);
}

const struct family lstm_families[] = {
	{ .code = TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, .check = check_lstm,
	  .lower = lower_lstm },
	{ .code = 0 },
};
