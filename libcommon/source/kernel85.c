/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the registers of one kernel of U85 with the operation of its step. */
#include "source/parts.h"

#include "graph/facts.h"
#include "stream/op.h"
#include "target/blocks.h"

#include <stdio.h>

/*
 * A scale of the graph as values of U85's registers: ethosu-commands(7) 23.6, 26.2, 26.3,
 * 26.6 to 26.10.  The emitter has separate code for the same rules, so that an error in one of
 * them is found.
 */
struct terms {
	uint32_t mult;
	int shift, twice; /* twice: the field dbl_rnd, for a doubling product that rounds twice */
	enum npu_rounding rounding;
};

static const enum npu_rounding roundings[] = {
	[ROUND_TFL] = NPU_ROUND_DBL, [ROUND_TRUNCATE] = NPU_ROUND_TRUNCATE,
	[ROUND_NATURAL] = NPU_ROUND_NATURAL,
};

/*
 * True if the NPU divides by the number of elements in the window.  False: the NPU adds the
 * elements, and the scale contains the division.
 */
static bool
is_divided(const struct g_op *op)
{
	bool padded = op->pad.top || op->pad.left || op->pad.bottom || op->pad.right;
	return op->kind == OP_AVGPOOL && (padded || !G_HAS(op, G_OP_scale));
}

static bool
is_comparison(const struct g_op *op)
{
	return op->kind == OP_EQUAL || op->kind == OP_UNEQUAL || op->kind == OP_GREATER ||
	       op->kind == OP_NOT_LESS;
}

static bool
is_kernel_of(const struct npu_op *k, const struct g_op *op)
{
	switch (op->kind) {
	case OP_MATMUL:
		return k->kind == NPU_CONV && k->weights_ifm2;
	case OP_RESIZE:
		return k->kind == NPU_RESIZE &&
		       k->mode == (op->sample == SAMPLE_BILINEAR ? NPU_RESIZE_BILINEAR
								 : NPU_RESIZE_NEAREST);
	case OP_ARGMAX:
		return k->kind == NPU_POOL && k->mode == NPU_POOL_ARGMAX_X;
	case OP_REORDER:
		return k->kind == NPU_POOL && k->mode == NPU_POOL_SUM;
	case OP_AVGPOOL:
		return k->kind == NPU_POOL &&
		       k->mode == (is_divided(op) ? NPU_POOL_AVERAGE : NPU_POOL_SUM);
	default:
		return k->kind == source_kind(op->kind) && !k->weights_ifm2 &&
		       (k->kind == NPU_CONV || k->kind == NPU_DEPTHWISE ||
			k->mode == source_mode(op->kind));
	}
}

/* ---- operands ---------------------------------------------------------------- */

static void
same_operand(struct source *x, const struct npu_fm *f, bool scalar, const char *role,
	     const struct source_part *p, const struct g_operand *o, int32_t zero)
{
	const struct g_op *op = p->op;
	source_same(x, op, "a scalar operand", scalar, !o->t);
	if (!o->t) {
		source_same_type(x, op, role, f, op->ifm.type, zero);
		return;
	}
	bool one = o->shape.h == 1;
	struct hwc shape = { .h = one ? 1 : (int32_t)p->rows, .w = o->shape.w,
			     .c = o->shape.c };
	if (o == op_chained_operand(op)) {
		source_same_type(x, op, role, f, o->type, zero);
		return;
	}
	source_same_fm(x, op, role, f, o, shape, one ? 0 : p->row, 0, zero);
}

/* Compares the operands, in the order in which the operation takes them. */
static void
same_operands(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	const struct g_operand *o[2] = { &op->ifm, &op->ifm2 };
	int32_t zero[2] = { op->ifm_zero, op->ifm2_zero };
	bool binary = op_is_binary(op->kind);
	int first = binary && op->reversed;
	same_operand(x, &k->ifm, k->ifm_scalar, "IFM", p, o[first], zero[first]);
	if (!binary)
		return;
	same_operand(x, &k->ifm2, k->ifm2_scalar, "IFM2", p, o[!first], zero[!first]);
	if (!op->ifm2.t)
		source_same16(x, op, "scalar", k->scalar, op->scalar);
}

static void
same_axis(struct source *x, const struct g_op *op, const char *axis,
	  const struct npu_resize_axis *a, int32_t up, int32_t down, int64_t first)
{
	char what[40];
	(void)snprintf(what, sizeof(what), "%s samples of an element", axis);
	source_same(x, op, what, a->n, up);
	(void)snprintf(what, sizeof(what), "%s step", axis);
	source_same(x, op, what, a->d, down);
	(void)snprintf(what, sizeof(what), "%s first sample", axis);
	source_same(x, op, what, a->offset, first);
}

/*
 * Compares the IFM of a kernel that is not elementwise, and the filters of a matrix
 * product.
 */
static void
same_input(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	const struct g_op *op = p->op;
	bool cut = op->kind == OP_DEPTHWISE, resize = op->kind == OP_RESIZE;
	struct hwc shape = { .h = k->ifm.shape.h, .w = k->ifm.shape.w,
			     .c = cut ? p->depth : op->ifm.shape.c };
	if (resize) {
		struct yx read = op_sampled(op);
		shape.h = read.y;
		shape.w = read.x;
		same_axis(x, op, "vertical", &k->resize_y, op->up.y, op->down.y,
			  op->first.lo);
		same_axis(x, op, "horizontal", &k->resize_x, op->up.x, op->down.x,
			  op->first.hi);
	} else {
		/* height and width follow from the window */
		source_same_window(x, k, p);
	}
	source_same_fm(x, op, "IFM", &k->ifm, &op->ifm, shape, resize ? 0 : p->ifm_row,
			cut ? p->channel : 0, op->ifm_zero);
	if (op->kind != OP_MATMUL)
		return;
	struct hwc filters = { .h = 1, .w = op->ofm.shape.c, .c = op->ifm.shape.c };
	source_same_fm(x, op, "IFM2", &k->ifm2, &op->ifm2, filters, 0, 0, op->ifm2_zero);
}

static void
same_ofm(struct source *x, const struct npu_op *k, const struct source_part *p)
{
	static const struct {
		enum npu_transpose transpose;
		enum npu_reverse reverse;
	} orders[] = {
		[ORDER_HCW] = { .transpose = NPU_HCW },
		[ORDER_REVERSE_H] = { .reverse = NPU_REVERSE_H },
		[ORDER_REVERSE_W] = { .reverse = NPU_REVERSE_W },
		[ORDER_REVERSE_C] = { .reverse = NPU_REVERSE_C },
	};
	const struct g_op *op = p->op;
	struct hwc ofm = { .h = (int32_t)p->rows, .w = op->ofm.shape.w, .c = p->depth };
	/* 32-bit results have no zero point, unless they are from a table */
	bool words = graph_type_bytes(op->ofm.type) == 4 && op->act != G_ACT_LUT;
	source_same(x, op, "transposition", k->transpose, orders[op->order].transpose);
	source_same(x, op, "reversal", k->reverse, orders[op->order].reverse);
	int32_t zero = words ? 0 : op->ofm_zero;
	if (k->ofm.storage == NPU_CHAINED) /* same_storage() compares the chains */
		source_same_type(x, op, "OFM", &k->ofm, op->ofm.type, zero);
	else
		source_same_fm(x, op, "OFM", &k->ofm, &op->ofm, ofm, p->row, p->channel, zero);
}

/* ---- scales ------------------------------------------------------------------ */

static int
bits_of(int64_t n)
{
	int bits = 0;
	while (n >> bits)
		bits++;
	return bits;
}

/*
 * Converts 1 / n as the older generations compute it (ethosu-commands(7) 6.8) to U85's
 * value (ethosu-commands(7) 26.6).  Returns false for any other scale.
 */
static bool
find_average(const struct g_op *op, struct terms *out)
{
	int64_t n = (int64_t)op->kernel.y * op->kernel.x;
	int e = bits_of(n - 1);
	int64_t half = INT64_C(1) << (30 + e), more = INT64_C(1) << e;
	if ((op->kind != OP_AVGPOOL && op->kind != OP_REORDER) ||
	    op->scale.shift != 31 + e || op->scale.mult != (2 * half + more) / n)
		return false;
	out->mult = n == 1 ? 1 : (uint32_t)((half + more) / n);
	out->shift = n == 1 ? 0 : 30 + e;
	out->rounding = n == 1 ? NPU_ROUND_DBL : NPU_ROUND_NATURAL;
	return true;
}

/* Returns the scale of the OFM, for operations without filters. */
static struct terms
ofm_terms(const struct g_op *op)
{
	enum { FRACTION = 16 };
	struct terms t = { .mult = 1, .rounding = roundings[op->round] };
	if (is_divided(op))
		return (struct terms){ .mult = 1 << 30, .shift = 30,
				       .rounding = NPU_ROUND_NATURAL };
	if (op->kind == OP_ARGMAX)
		return (struct terms){ .mult = 1, .shift = FRACTION,
				       .rounding = NPU_ROUND_TRUNCATE_LOWER };
	if (op->kind == OP_RESIZE) {
		t.rounding = NPU_ROUND_SYMMETRIC;
		t.shift = FRACTION;
		if (op->sample == SAMPLE_BILINEAR && op->ofm.type == op->ifm.type)
			t.shift += bits_of(op->up.y) + bits_of(op->up.x) - 2;
		return t;
	}
	if (op->kind == OP_SHR)
		t.rounding = op->round == ROUND_TRUNCATE ? NPU_ROUND_TRUNCATE_LOWER
							 : NPU_ROUND_NATURAL;
	if (op->kind == OP_LRELU || is_comparison(op) || !G_HAS(op, G_OP_scale) || find_average(op, &t))
		return t;
	t.shift = op->scale.shift;
	/* products of 32-bit words are only shifted */
	if (op->kind != OP_MUL || graph_type_bytes(op->ifm.type) != 4)
		t.mult = op->scale.mult;
	return t;
}

/* ADD and SUB: one operand is multiplied and shifted; the other operand is only shifted. */
static void
find_sum_terms(const struct g_op *op, struct terms *a, struct terms *b)
{
	int twice = graph_type_bytes(op->ifm.type) == 1 ? 20 : 15;
	struct terms shifted = { .mult = UINT32_C(1) << (twice - 1) };
	struct terms scaled = { .mult = op->opa.mult, .shift = op->opa.shift,
				.twice = twice, .rounding = NPU_ROUND_DBL };
	if (op->ifm_round == ROUND_NATURAL)
		scaled.rounding = NPU_ROUND_NATURAL;
	if (op->scaled == SCALED_BOTH) {
		a->mult = (uint16_t)op->opa.mult;
		b->mult = (uint16_t)op->opb;
	} else {
		*a = op->scaled == SCALED_A ? scaled : shifted;
		*b = op->scaled == SCALED_A ? shifted : scaled;
	}
}

static void
same_terms(struct source *x, const struct g_op *op, const char *whose,
	   struct terms have, struct terms want)
{
	char what[40];
	if (want.mult >> 31) { /* multipliers have 31 bits */
		want.mult >>= 1;
		want.shift--;
	}
	(void)snprintf(what, sizeof(what), "%s multiplier", whose);
	source_same(x, op, what, have.mult, want.mult);
	(void)snprintf(what, sizeof(what), "%s shift", whose);
	source_same(x, op, what, have.shift, want.shift & 0x3f);
	(void)snprintf(what, sizeof(what), "%s doubling", whose);
	source_same(x, op, what, have.twice, want.twice);
	(void)snprintf(what, sizeof(what), "%s rounding", whose);
	source_same(x, op, what, have.rounding, want.rounding);
}

static void
same_scales(struct source *x, const struct npu_op *k, const struct g_op *op)
{
	struct terms a = { .mult = 1 }, b = a;
	struct terms ofm = { k->ofm_mult, k->ofm_shift, k->ofm_double, k->rounding };
	source_same(x, op, "global scale", k->global_scale, !op_has_weights(op->kind));
	if (op_has_weights(op->kind)) {
		source_same(x, op, "rounding", k->rounding, roundings[op->round]);
		return;
	}
	same_terms(x, op, "OFM's", ofm, ofm_terms(op));
	if (k->kind != NPU_ELEMENTWISE)
		return;
	struct terms opa = { .mult = op->opa.mult, .shift = op->opa.shift };
	struct terms scale = { .mult = op->scale.mult, .shift = op->scale.shift };
	if (op->kind == OP_LRELU) { /* a is for values above zero, b for those below */
		opa.rounding = scale.rounding = op->round == ROUND_NATURAL ? NPU_ROUND_NATURAL
									   : NPU_ROUND_DBL;
		b = scale;
		a = G_HAS(op, G_OP_opa) ? opa : a;
	} else if (G_HAS(op, G_OP_opa) && is_comparison(op)) {
		/* a is for the first operand, b for the second */
		opa.twice = scale.twice = 8; /* the reference shifts left before it rounds */
		a = opa;
		b = scale;
	} else if (G_HAS(op, G_OP_opa)) {
		find_sum_terms(op, &a, &b);
	}
	same_terms(x, op, "IFM's", (struct terms){ k->opa_mult, k->opa_shift,
		   k->opa_double, k->ifm_rounding }, a);
	if (k->has_ifm2 || op->kind == OP_LRELU)
		same_terms(x, op, "IFM2's", (struct terms){ k->opb_mult, k->opb_shift,
			   k->opb_double, k->ifm2_rounding }, b);
}

/* ---- output ------------------------------------------------------------------- */

static int
table_kind(const struct g_op *op)
{
	if (!op_has_table(op))
		return 0;
	if (op->act == G_ACT_TANH || op->act == G_ACT_SIGMOID)
		return op->act == G_ACT_TANH ? NPU_ACT85_TANH : NPU_ACT85_SIGMOID;
	if (op->lut->bits == 16)
		return op->ofm.type == TFL_INT32 ? NPU_ACT85_S16_S32 : NPU_ACT85_S16_S16;
	if (op->lut->bits > 8)
		return NPU_ACT85_S8_S32;
	return graph_type_signed(op->ofm.type) ? NPU_ACT85_S8_S8 : NPU_ACT85_U8_U8;
}

/*
 * Returns the number of kernels in the same chain before step s.  All kernels of a chain have
 * the block of the first kernel.
 */
static int
count_links_before(const struct source *x, const struct g_step *s)
{
	int n = 0;
	while (n < s->rec.index && x->g->steps[s->rec.index - n]->op->chain)
		n++;
	return n;
}

/*
 * Compares width and microblock of the accumulators.  Accumulators must start at 0, and their
 * results must go to the OFM.
 */
static void
same_accumulators(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	const struct g_op *op = x->g->steps[s->rec.index - count_links_before(x, s)]->op;
	struct block_query q = op_block_query(op, op->ofm.shape.h);
	struct hwc u = block_ublock(x->accel, &q);
	bool sums = op_has_weights(op->kind) || op->kind == OP_MATMUL ||
		    op->kind == OP_RESIZE;
	source_same(x, op, "accumulators of 48 bits", k->acc_format, op->acc40 && sums);
	source_same(x, op, "accumulator input", (int)k->acc_input, 0);
	source_same(x, op, "accumulators kept", k->acc_kept, false);
	source_same(x, op, "microblock height", k->ublock.h, u.h);
	source_same(x, op, "microblock width", k->ublock.w, u.w);
}

/* Compares the storage of each operand: memory, a scalar, or a chain buffer. */
static void
same_storage(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	const struct g_op *op = s->op;
	const struct g_operand *in = op_chained_operand(op);
	int first = op_is_binary(op->kind) && op->reversed;
	const struct g_operand *o[2] = { first ? &op->ifm2 : &op->ifm,
					 first ? &op->ifm : &op->ifm2 };
	int n = count_links_before(x, s);
	const struct {
		const char *storage, *buffer;
		const struct npu_fm *have;
		bool scalar, chained;
		int number;
	} fms[] = {
		{ "IFM's storage", "IFM's chain buffer", &k->ifm, k->ifm_scalar,
		  in && o[0] == in, n - 1 },
		{ "IFM2's storage", "IFM2's chain buffer", &k->ifm2,
		  k->ifm2_scalar || !k->has_ifm2, in && o[1] == in, n - 1 },
		{ "OFM's storage", "OFM's chain buffer", &k->ofm, false,
		  step_next_in_chain(x->g, s) != NULL, n },
	};
	for (size_t i = 0; i < ARRAY_LEN(fms); i++) {
		if (fms[i].scalar)
			continue;
		source_same(x, op, fms[i].storage, (int)fms[i].have->storage,
			    fms[i].chained ? NPU_CHAINED : 0);
		if (fms[i].chained)
			source_same(x, op, fms[i].buffer, fms[i].have->chain,
				    fms[i].number);
	}
}

void
source_kernel85(struct source *x, const struct npu_op *k, const struct g_step *s)
{
	struct source_part p = source_part_of(s);
	const struct g_op *op = s->op;
	if (!is_kernel_of(k, op)) {
		source_error(x, "step p%d runs o%d (%s), not this operation", s->rec.id, op->rec.id,
			     op_names[op->kind]);
		return;
	}
	if (k->kind == NPU_ELEMENTWISE)
		same_operands(x, k, &p);
	else
		same_input(x, k, &p);
	source_same(x, op, "upscaling", (int)k->upscale, op->upscale);
	same_ofm(x, k, &p);
	same_storage(x, k, s);
	same_accumulators(x, k, s);
	same_scales(x, k, op);
	bool table = op_has_table(op);
	source_same(x, op, "activation", k->activation, table_kind(op));
	if (table)
		source_same_table(x, op, k->table.n ? (int)k->table.at / 256 : -1,
				  (int)k->table.n);
	source_same(x, op, "clip range", k->clip_range,
		    graph_type_bytes(op->ofm.type) == 4 && !table);
	source_same16(x, op, "minimum", k->min, op->clamp.lo);
	source_same16(x, op, "maximum", k->max, op->clamp.hi);
	if (!op_has_weights(op->kind))
		return;
	source_same(x, op, "fast weights", k->fast_weights, op->fast != 0);
	source_same(x, op, "sparse weights", k->sparse_weights, op->sparse != 0);
	source_same_weights(x, k, s);
}
