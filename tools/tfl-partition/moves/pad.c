/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAD, PADV2, MIRROR_PAD: copies the input to the inner part of the result, unless
 * its producer can write it there (bind_pad), then fills axis by axis both sides of
 * the finished part.  A PAD in front of a
 * convolution or a maximum pool is folded into that operator (place/padding.c).
 */
#include "move.h"

#include "graph/facts.h"
#include "tflite/fields.h"
#include "weights/stream.h"

static const char *
read_pad_sizes(const struct part *p, const struct lop *o)
{
	const struct tfl_tensor *i = o->ifm;
	struct low_borders *b = o->own;
	int64_t v[2 * TFL_MAX_RANK];
	int n;
	const char *why = check_move(p, o);
	if (why)
		return why;
	if (!part_ints(o->ifm2, v, 2 * TFL_MAX_RANK, &n))
		return "the padding is not constant";
	if (n != 2 * i->rank || o->ofm->rank != i->rank)
		return "the padding does not have the IFM's rank";
	for (int k = 0; k < i->rank; k++) {
		b->before[k] = v[2 * k];
		b->after[k] = v[2 * k + 1];
		if (v[2 * k] < 0 || v[2 * k + 1] < 0 || v[2 * k] > INT32_MAX ||
		    v[2 * k + 1] > INT32_MAX ||
		    i->dim[k] + v[2 * k] + v[2 * k + 1] != o->ofm->dim[k])
			return "the OFM's shape is not IFM plus padding";
	}
	return NULL;
}

static const char *
check_ifm_part(const struct part *p, const struct lop *o)
{
	struct nd from = words_shape(o->ifm), to = words_shape(o->ofm);
	const struct low_borders *b = o->own;
	struct nd mid = nd_middle(&to, &from, b->before);
	return check_copies(p, &from, &mid);
}

void
bind_pad(struct part *p, const struct lop *o)
{
	const struct low_borders *b = o->own;
	struct nd in = nd_shape(o->ifm), to = nd_shape(o->ofm);
	struct g_operand as;
	if (o->ofm->type == TFL_INT64 ||
	    !nd_pads_around(&in, b->before, (int32_t)b->value, &to))
		return;
	to = nd_ofm(p, o->op->out[0]);
	struct nd middle = nd_middle(&to, &in, b->before);
	if (nd_operand(&middle, &as))
		bind_place(p, o->op->in[0], as);
}

/* ---- PAD, PADV2 --------------------------------------------------------------- */

const char *
read_pad(const struct part *p, struct lop *o)
{
	struct low_borders *b = o->own = anew(p->a, struct low_borders, 1);
	int type = o->ofm->type;
	const char *why = read_pad_sizes(p, o);
	if (why)
		return why;
	b->value = type == TFL_INT64 ? 0 : quant_zero(o->ofm);
	if (o->op->code == TFL_PADV2) {
		const struct tfl_tensor *t = part_in(p, o->op, 2);
		if (!t->data.p || t->type != type || tfl_elements(t) != 1)
			return "the padding value is not a constant of the OFM's "
			       "type";
		b->value = tfl_integer(t->type, t->data.p, 0);
	}
	struct g_range r = type_range(type);
	if (type != TFL_INT32 && type != TFL_INT64 && (b->value < r.lo || b->value > r.hi))
		return "the zero point is out of range";
	return check_ifm_part(p, o);
}

void
lower_pad(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct low_borders *b = o->own;
	struct nd in = words_ifm(p, op->in[0]);
	if (tfl_elements(o->ifm) == tfl_elements(o->ofm)) {
		move_result(p, op, &in);
		return;
	}
	struct nd to = words_ofm(p, op->out[0]);
	bool is_wide = o->ifm->type == TFL_INT64;
	if (!is_wide || (int32_t)b->value == b->value >> 32) {
		nd_pad(p->l, &in, b->before, (int32_t)b->value, &to);
		return;
	}
	for (int k = 0; k < 2; k++) { /* the words have different values */
		struct nd from = nd_part(&in, in.rank - 1, k, 1);
		struct nd half = nd_part(&to, in.rank - 1, k, 1);
		nd_pad(p->l, &from, b->before, (int32_t)(b->value >> 32 * k), &half);
	}
}

/* ---- MIRROR_PAD ----------------------------------------------------------------- */

const char *
read_mirror(const struct part *p, struct lop *o)
{
	const struct tfl_op *op = o->op;
	struct low_borders *b = o->own = anew(p->a, struct low_borders, 1);
	const char *why = check_options(p, op, &fb_MirrorPadOptions) ?:
			  read_pad_sizes(p, o);
	if (why)
		return why;
	int64_t mode = TFL_OPT(op, MirrorPadOptions, mode);
	if (mode != 0 && mode != 1)
		return arena_printf(p->a, "mode %lld is not supported", (long long)mode);
	const struct tfl_tensor *i = o->ifm;
	for (int k = 0; k < i->rank; k++) {
		int64_t most = i->dim[k] - (mode == 0);
		if (b->before[k] > most || b->after[k] > most)
			return arena_printf(p->a, "the padding of dimension %d is larger than "
					   "the part to mirror", k);
	}
	return check_ifm_part(p, o);
}

/*
 * Fills one side of axis k: n elements from `at` on mirror those from `from`
 * backwards.  `done` is the finished part with axis k as it was before.
 */
static void
mirror_side(struct part *p, const struct nd *done, const struct nd *to, int k,
	    int64_t from, int64_t at, int64_t n)
{
	if (n == 0)
		return;
	struct nd source = *done, side = *done;
	source.offset = done->offset + from * to->stride[k];
	nd_slice(&source, k, 0, n, -1);
	side.offset = done->offset + at * to->stride[k];
	nd_slice(&side, k, 0, n, 1);
	nd_copy(p->l, &source, &side);
}

void
lower_mirror(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct low_borders *b = o->own;
	/* REFLECT (0) does not repeat the edge, SYMMETRIC (1) does */
	int64_t skip = TFL_OPT(op, MirrorPadOptions, mode) == 0;
	struct nd in = words_ifm(p, op->in[0]), to = words_ofm(p, op->out[0]);
	struct nd done = nd_middle(&to, &in, b->before);
	nd_copy(p->l, &in, &done);
	for (int k = in.rank; k-- > 0;) {
		int64_t n = in.dim[k], before = b->before[k], after = b->after[k];
		/* positions are relative to the first element that the IFM fills */
		mirror_side(p, &done, &to, k, before - 1 + skip, -before, before);
		mirror_side(p, &done, &to, k, n - 1 - skip, n, after);
		done.offset -= before * to.stride[k];
		done.dim[k] = to.dim[k];
	}
}
