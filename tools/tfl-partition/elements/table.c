/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of one element as tables (nputools-lowering(7) 4.8, 5.4).  The
 * reference kernels fill the tables, whatever the operator computes.  An operator
 * on two tensors is such a function, too, if one of them is a single constant.
 */
#include "../part.h"

#include "base/little_endian.h"
#include "graph/facts.h"
#include "kernels/kernels.h"
#include "kernels/tables.h"

enum { BYTES = 256, WORDS = 65536 };

static void
set_rows(struct tfl_tensor *t, int n, int depth)
{
	t->rank = depth > 1 ? 2 : 1;
	t->dim[0] = n;
	t->dim[1] = depth;
}

bool
part_evaluate_rows(const struct part *p, const struct tfl_op *op, void *const *in,
		   void *out, int n, int depth)
{
	enum { MAX_IN = 3 };
	struct tfl_tensor t[MAX_IN + 1] = { { 0 } };
	int port[MAX_IN], last = MAX_IN;
	void *data[MAX_IN] = { NULL };
	if (op->n_in > MAX_IN)
		return false;
	t[last] = *part_out(p, op, 0);
	set_rows(&t[last], n, depth);
	for (int i = 0; i < op->n_in; i++) {
		port[i] = i;
		t[i] = *part_in(p, op, i);
		data[i] = in[i] ? in[i] : (void *)(uintptr_t)t[i].data.p;
		if (!in[i])
			continue;
		set_rows(&t[i], n, depth);
		t[i].data.p = NULL;
	}
	struct tfl_op one = *op;
	one.in = port;
	one.out = &last;
	const struct tfl_subgraph g = { .tensor = t, .n_tensors = MAX_IN + 1,
					.op = &one, .n_ops = 1 };
	struct err e = { 0 };
	const struct kernel_io io = { .in = data, .out = &out };
	return kernel_eval(&g, &one, &io, &e);
}

bool
part_evaluate(const struct part *p, const struct tfl_op *op, void *const *in, void *out, int n)
{
	return part_evaluate_rows(p, op, in, out, n, 1);
}

/* evaluates the operator on n values of input k; the other inputs are constants */
static bool
evaluate_one_input(const struct part *p, const struct tfl_op *op, int k, void *x, void *y,
	 int n)
{
	void *in[3] = { NULL };
	in[k] = x;
	return part_evaluate(p, op, in, y, n);
}

/* does interpolation reproduce y from entry `first` on? */
static bool
gives(const int16_t points[TABLE16], const int16_t *x, const int16_t *y, int first)
{
	for (int i = first; i < WORDS; i++)
		if (table16_lookup(points, x[i]) != y[i])
			return false;
	return true;
}

/*
 * Finds 513 points whose interpolation gives every one of the 65536 results.  The
 * last point shows only in the slope before it.
 */
static bool
fill_points(const struct part *p, const struct tfl_op *op,
	    int16_t points[TABLE16])
{
	struct arena *a = arena_open();
	int16_t *x = anew(a, int16_t, WORDS), *y = anew(a, int16_t, WORDS);
	int16_t *in = anew(a, int16_t, WORDS);
	for (int i = 0; i < WORDS; i++) {
		x[i] = (int16_t)(i + INT16_MIN);
		store_le16(&in[i], (uint16_t)x[i]);
	}
	bool ok = evaluate_one_input(p, op, 0, in, y, WORDS);
	for (int i = 0; ok && i < WORDS; i++)
		y[i] = (int16_t)load_le16(&y[i]);
	for (int i = 0; ok && i < 512; i++)
		points[i] = y[128 * i];
	/* the last value is slope * 127 / 128, rounded, so at most two slopes give it */
	int32_t rise = y[WORDS - 1] - y[WORDS - 128];
	for (int32_t d = rise - 1; ok && d <= rise + 512; d++) {
		int32_t last = points[511] + d;
		if (last < INT16_MIN || last > INT16_MAX)
			continue;
		points[512] = (int16_t)last;
		if (gives(points, x, y, WORDS - 128))
			break;
	}
	ok = ok && gives(points, x, y, 0);
	arena_close(a);
	return ok;
}

static const char *
check_types(const struct part *p, const struct lop *o, int types)
{
	const struct tfl_tensor *x = o->ifm, *y = o->ofm;
	const char *why = check_within(p, o, types);
	if (why)
		return why;
	if (x->type != y->type)
		return arena_printf(p->a, "IFM is %s, OFM is %s", tfl_type_name(x->type),
				tfl_type_name(y->type));
	if (tfl_elements(x) != tfl_elements(y))
		return "IFM and OFM differ in shape";
	return x->data.p ? "IFM is constant" : NULL;
}

const char *
check_unary(const struct part *p, const struct lop *o)
{
	return check_types(p, o, family_types(o->op));
}

void
take_rescale(struct lop *o, struct npu_scale s)
{
	o->zero = quant_zero(o->ifm);
	o->end = (struct low_end){ .scaled = true, .scale = s, .round = ROUND_TFL,
				   .zero = quant_zero(o->ofm), .clamped = true,
				   .clamp = type_range(o->ofm->type) };
}

struct g_op *
part_unary(struct part *p, const struct lop *o, enum g_op_kind kind)
{
	struct g_operand ofm = part_ofm(p, o->op->out[0]);
	struct g_operand ifm = low_view(p->l, part_ifm(p, o->op->in[0]), ofm.shape);
	struct g_op *r = low_op(p->l, kind, ifm, ofm);
	low_finish(&o->end, r);
	r->ifm_zero = o->zero;
	return r;
}

struct g_op *
part_table(struct part *p, struct g_operand ifm, struct g_operand ofm,
	   struct g_lut *lut)
{
	struct g_op *r = low_convert(p->l, low_view(p->l, ifm, ofm.shape), 0, ofm);
	op_table(r, lut);
	/*
	 * The OFM's type selects how the table is indexed.  With these zero points,
	 * index 0 is for the least value of the IFM.
	 */
	if (ifm.type != ofm.type && ofm.type == TFL_UINT8)
		r->ofm_zero = 128;
	else if (ifm.type == TFL_UINT8 && ofm.type == TFL_INT8)
		r->ofm_zero = -128;
	return r;
}

void
part_table32(struct part *p, struct g_operand ifm, struct g_operand ofm,
	     const int32_t table[256])
{
	struct g_op *r = part_table(p, ifm, ofm, low_lut32(p->l, table));
	r->ofm_zero = ifm.type == TFL_UINT8 ? -128 : 0;
	op_clamp(r, (struct g_range){ .lo = -128, .hi = 127 });
}

/* fuses a table into the operations that make the tensor, or appends an operation for it */
static void
lower_to_table(struct part *p, int tensor, struct g_operand ofm, struct g_lut *lut)
{
	if (!fuse(p, tensor, ofm, lut, (struct g_range){ 0 }))
		(void)part_table(p, part_ifm(p, tensor), ofm, lut);
}

const char *
read_bytes(const struct part *p, struct lop *o)
{
	/* the input that varies: 0, or 1 if input 0 is a single constant */
	int k = o->op->n_in == 2 && is_scalar(o->ifm);
	bool is_signed = part_in(p, o->op, k)->type == TFL_INT8;
	uint8_t x[BYTES], *table = anew(p->a, uint8_t, BYTES);
	for (int i = 0; i < BYTES; i++)
		x[i] = (uint8_t)(is_signed ? i - 128 : i);
	bool all = evaluate_one_input(p, o->op, k, x, table, BYTES), any = all;
	/*
	 * An entry is 0 if the reference fails on its value (a root of a negative number, a
	 * division by 0): no valid inference needs it.
	 */
	for (int i = 0; !all && i < BYTES; i++) {
		table[i] = 0;
		any |= evaluate_one_input(p, o->op, k, &x[i], &table[i], 1);
	}
	if (!any)
		return "the reference has no result";
	o->table = table;
	o->root = o->op->in[k];
	return NULL;
}

void
lower_bytes(struct part *p, const struct lop *o)
{
	struct g_lut *lut = low_lut8(p->l, o->table);
	lower_to_table(p, o->root, part_ofm(p, o->op->out[0]), lut);
}

/* ---- EXP, LOG, RSQRT, ELU, GELU, HARD_SWISH -------------------------------------------- */

const char *
read_table(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	const char *why = check_types(p, o, family_types(op) | TYPE_I16);
	if (why)
		return why;
	if (o->ifm->type != TFL_INT16)
		return read_bytes(p, o);
	if (op->code == TFL_RSQRT)
		return read_root(o) ? NULL : "the ratio of the scales can't be expressed";
	/*
	 * TFLite's kernels of these three end in "only float32, int8 (and uint8)
	 * supported"; TensorFlow Lite Micro has no GELU and the others only for
	 * int8
	 */
	if (!(family_types(op) & TYPE_I16))
		return "neither TensorFlow Lite nor TensorFlow Lite Micro defines "
		       "it for INT16";
	int16_t *points = o->own = anew(p->a, int16_t, TABLE16);
	if (!fill_points(p, op, points))
		return "no table of 512 segments gives the reference's 16-bit results";
	/*
	 * The reference and the NPU keep 16 bits of a slope, but beyond 16 bits of the result
	 * the reference wraps around, and no source says what the NPU does.
	 */
	for (int k = 0; k + 1 < TABLE16; k++) {
		int16_t slope = (int16_t)(uint16_t)(points[k + 1] - points[k]);
		int32_t last = points[k] + ((slope * 127 + 64) >> 7);
		if (last < INT16_MIN || last > INT16_MAX)
			return arena_printf(p->a, "between %d and %d, segment %d of the "
					   "reference's table, results leave 16 bits", points[k],
					   points[k + 1], k);
	}
	return NULL;
}

void
lower_table(struct part *p, const struct lop *o)
{
	struct g_lut *lut;
	if (o->op->code == TFL_RSQRT) {
		lower_root(p, o);
		return;
	}
	lut = low_lut16(p->l, o->own);
	lower_to_table(p, o->op->in[0], part_ofm(p, o->op->out[0]), lut);
}

/* ---- LOGISTIC, TANH ---------------------------------------------------------- */

/*
 * 16 bits: the hardware's own function, with the reference's scaling
 * (nputools-lowering(7) 4.6)
 */
const char *
read_squash(const struct part *p, struct lop *o)
{
	const char *why = check_unary(p, o);
	struct sigmoid16 s;
	if (why)
		return why;
	if (o->ifm->type != TFL_INT16)
		return read_bytes(p, o);
	sigmoid16_prepare(&s, quant_scale_f32(o->ifm), o->op->code == TFL_TANH);
	take_rescale(o, (struct npu_scale){ .mult = (uint32_t)s.mult, .shift = s.shift });
	o->zero = o->end.zero = 0;
	return NULL;
}

void
lower_squash(struct part *p, const struct lop *o)
{
	struct g_op *r = part_unary(p, o, OP_AVGPOOL);
	G_PUT(r, OP, act, o->op->code == TFL_TANH ? G_ACT_TANH : G_ACT_SIGMOID);
}
