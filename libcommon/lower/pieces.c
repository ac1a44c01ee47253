/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Elementwise operations on views of equal rank, in whose operands dimensions of 1 are
 * broadcast.  As many axes as strides allow become H, W and C of one operation; the
 * others are loops of operations.  Only IFM2 can be broadcast along channels.  Along
 * rows and columns, an IFM is broadcast by strides of 0.
 */
#include "lower/nd.h"

#include "base/fixed.h"

enum { MAX_EXTENT = 65536 };
enum { A, B, OUT, SIDES };

struct axis {
	int64_t n, step[SIDES];
};

struct walk {
	const struct nd *v[SIDES]; /* v[B] is NULL for one operand */
	struct axis axis[ND_MAX];
	int n_axes;
	int hwc[3]; /* axes inside an operation; -1: none */
	bool swap;  /* B is the IFM */
};

/* ---- the shapes of the tensors ----------------------------------------------- */

static bool
repeats(struct hwc s, struct hwc all)
{
	return (s.h == all.h || s.h == 1) && (s.w == all.w || s.w == 1) &&
	       (s.c == all.c || s.c == 1);
}

/* Converts a view to an operand. */
static bool
view_operand(const struct nd *v, struct g_operand *o)
{
	*o = (struct g_operand){ .type = v->type, .shape = { .h = 1, .w = 1, .c = 1 } };
	return !v->t || nd_operand(v, o);
}

/*
 * Finds a single operation in the tensors' own shapes.  Returns false if that is not
 * possible.
 */
static bool
find_single_op(const struct walk *w, struct g_operand o[SIDES], bool *swap)
{
	for (int k = 0; k < SIDES; k++) {
		struct hwc *s = &o[k].shape;
		if (w->v[k] && (!view_operand(w->v[k], &o[k]) || s->h > MAX_EXTENT ||
				s->w > MAX_EXTENT || s->c > MAX_EXTENT))
			return false;
	}
	struct hwc all = o[OUT].shape;
	bool a = o[A].t && hwc_equal(o[A].shape, all);
	*swap = false;
	if (!w->v[B])
		return a;
	bool first = a && repeats(o[B].shape, all);
	bool second = o[B].t && hwc_equal(o[B].shape, all) && repeats(o[A].shape, all);
	/* a constant becomes IFM2, as it is available before the IFM is */
	const struct g_tensor *t = w->v[A]->t;
	*swap = !first || (second && t && G_HAS(t, G_TENSOR_source));
	return first || second;
}

/* ---- axes -------------------------------------------------------------------------- */

/* Finds axes, innermost last; merges adjacent axes where strides allow. */
static void
find_axes(struct walk *w)
{
	const struct nd *out = w->v[OUT];
	for (int i = 0; i < out->rank; i++) {
		struct axis x = { .n = out->dim[i] };
		for (int k = 0; k < SIDES; k++)
			x.step[k] = w->v[k] && w->v[k]->dim[i] > 1 ? w->v[k]->stride[i] : 0;
		if (x.n == 1)
			continue;
		struct axis *last = w->n_axes ? &w->axis[w->n_axes - 1] : NULL;
		bool merges = last != NULL;
		for (int k = 0; merges && k < SIDES; k++)
			merges = last->step[k] == x.step[k] * x.n;
		if (merges && last->n * x.n <= MAX_EXTENT) {
			x.n *= last->n;
			*last = x;
		} else {
			w->axis[w->n_axes++] = x;
		}
	}
}

/*
 * Makes the contiguous axis the channels, and the longest of the others rows and
 * columns.
 */
static void
choose_axes(struct walk *w)
{
	int *hwc = w->hwc;
	hwc[0] = hwc[1] = hwc[2] = -1;
	for (int i = 0; i < w->n_axes; i++) {
		const int64_t *step = w->axis[i].step;
		if (step[OUT] == 1 && (step[A] == 1 || step[A] == 0) &&
		    (!w->v[B] || step[B] == 1 || step[B] == 0) && (step[A] || step[B]))
			hwc[2] = i;
	}
	for (int k = 1; k >= 0; k--)
		for (int i = 0; i < w->n_axes; i++)
			if (i != hwc[2] && i != hwc[1] &&
			    (hwc[k] < 0 || w->axis[i].n > w->axis[hwc[k]].n))
				hwc[k] = i;
	if (hwc[0] > hwc[1]) {
		int t = hwc[0];
		hwc[0] = hwc[1];
		hwc[1] = t;
	}
	w->swap = !w->v[A]->t || (hwc[2] >= 0 && !w->axis[hwc[2]].step[A]);
}

static bool
is_walked(const struct walk *w, int i)
{
	return i == w->hwc[0] || i == w->hwc[1] || i == w->hwc[2];
}

/* Returns operand k of the operation at position `at` of the loops. */
static struct g_operand
piece_operand(const struct walk *w, int k, const int64_t *at)
{
	bool second = w->v[B] && k == (w->swap ? A : B);
	struct g_operand o;
	if (!w->v[k]->t)
		return (void)view_operand(w->v[k], &o), o;
	struct nd v = { .t = w->v[k]->t, .type = w->v[k]->type, .rank = 3,
			.offset = w->v[k]->offset };
	for (int i = 0; i < w->n_axes; i++)
		v.offset += at[i] * w->axis[i].step[k];
	for (int d = 0; d < 3; d++) {
		int i = w->hwc[d];
		v.dim[d] = 1;
		if (i < 0)
			continue;
		int64_t left = w->axis[i].n - at[i];
		v.stride[d] = w->axis[i].step[k];
		v.dim[d] = left < MAX_EXTENT ? left : MAX_EXTENT;
		if (second && !v.stride[d])
			v.dim[d] = 1;
	}
	return nd_to_operand(&v);
}

/* Returns the number of operations of the loops; INT64_MAX if it overflows. */
static int64_t
count_piece_ops(const struct walk *w)
{
	int64_t n = 1;
	for (int i = 0; i < w->n_axes; i++) {
		int64_t step = is_walked(w, i) ? MAX_EXTENT : 1;
		int64_t times = ceil_div_i64(w->axis[i].n, step);
		if (__builtin_mul_overflow(n, times, &n))
			return INT64_MAX;
	}
	return n;
}

/* ---- operations ---------------------------------------------------------------------- */

struct emit {
	enum g_op_kind kind;
	int32_t zero[2];
	const struct low_end *end;
};

static void
emit(struct lower *l, const struct emit *m, const struct walk *w,
     const struct g_operand o[SIDES])
{
	int first = w->swap ? B : A, second = w->swap ? A : B;
	struct g_op *op = low_op(l, m->kind, o[first], o[OUT]);
	op_zeros(op, m->zero[first], 0);
	if (w->v[B] && o[second].t)
		op_ifm2(op, o[second], m->zero[second]);
	else if (w->v[B])
		op_scalar(op, (int32_t)w->v[second]->offset, m->zero[second]);
	if (w->swap)
		G_PUT(op, OP, reversed, 1);
	low_finish(m->end, op);
}

static void
run_pieces(struct lower *l, struct walk *w, const struct emit *m)
{
	struct g_operand o[SIDES] = { 0 };
	int64_t at[ND_MAX] = { 0 };
	if (find_single_op(w, o, &w->swap)) {
		emit(l, m, w, o);
		return;
	}
	find_axes(w);
	choose_axes(w);
	if (count_piece_ops(w) > LOW_MAX_OPS) {
		low_refuse_many(l);
		return;
	}
	for (int i = 0; i >= 0;) {
		for (int k = 0; k < SIDES; k++)
			if (w->v[k])
				o[k] = piece_operand(w, k, at);
		emit(l, m, w, o);
		for (i = w->n_axes; i-- > 0; at[i] = 0)
			if ((at[i] += is_walked(w, i) ? MAX_EXTENT : 1) < w->axis[i].n)
				break;
	}
}

void
nd_unary(struct lower *l, enum g_op_kind kind, const struct nd *in, int32_t zero,
	 const struct nd *out, const struct low_end *end)
{
	struct walk w = { .v = { [A] = in, [OUT] = out } };
	struct emit m = { .kind = kind, .zero = { zero }, .end = end };
	run_pieces(l, &w, &m);
}

void
nd_binary(struct lower *l, enum g_op_kind kind, const struct nd *a, int32_t a_zero,
	  const struct nd *b, int32_t b_zero, const struct nd *out,
	  const struct low_end *end)
{
	struct walk w = { .v = { [A] = a, [B] = b, [OUT] = out } };
	struct emit m = { .kind = kind, .zero = { a_zero, b_zero }, .end = end };
	run_pieces(l, &w, &m);
}

int64_t
nd_pieces(const struct nd *a, const struct nd *b, const struct nd *out)
{
	struct walk w = { .v = { [A] = a, [B] = b, [OUT] = out } };
	find_axes(&w);
	choose_axes(&w);
	return count_piece_ops(&w);
}
