/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on two tensors of different shapes.  The NPU repeats only IFM2
 * (ethosu-commands(7) 6.9); IFM is repeated along rows and columns by
 * strides of 0.  Never both lack the channels, so one of them can be IFM.
 */
#include "part.h"

enum { MAX_PIECES = 4096, MAX_EXTENT = 65536 };

/* dimensions aligned at the right; 1 where a tensor has none */
static int32_t
dim_from_right(const struct tfl_tensor *t, int i)
{
	return i < t->rank ? t->dim[t->rank - 1 - i] : 1;
}

static bool
same_shape(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	for (int i = 0; i < TFL_MAX_RANK; i++)
		if (dim_from_right(a, i) != dim_from_right(b, i))
			return false;
	return true;
}

/* t can be IFM2 of an operation over o as it is: each of H, W, C equal or 1 */
static bool
repeats(const struct tfl_tensor *t, const struct tfl_tensor *o)
{
	struct hwc s = tfl_hwc(t), r = tfl_hwc(o);
	if ((s.c != r.c && s.c != 1) || (s.w != r.w && s.w != 1))
		return false;
	if (s.h == 1)
		return true;
	/* rows are several dimensions: all of them must match */
	for (int i = 2; i < TFL_MAX_RANK; i++)
		if (dim_from_right(t, i) != dim_from_right(o, i))
			return false;
	return s.h == r.h;
}

bool
is_scalar(const struct tfl_tensor *t)
{
	return t->data.p && tfl_elements(t) == 1 && tfl_type_bytes(t->type) <= 2;
}

struct side
side_of(struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	struct side s = { .shape = t, .zero = quant_zero(t) };
	if (!is_scalar(t))
		s.value = part_ifm(p, tensor);
	return s;
}

/* neighbouring dimensions that the same operands have, innermost first */
struct group {
	int32_t n;
	bool has[2];
};

static int
find_groups(const struct tfl_tensor *const in[2], const struct tfl_tensor *o,
	    struct group *g)
{
	int n = 0;
	for (int i = 0; i < o->rank; i++) {
		struct group d = { .n = dim_from_right(o, i) };
		d.has[0] = dim_from_right(in[0], i) == d.n;
		d.has[1] = dim_from_right(in[1], i) == d.n;
		if (d.n == 1)
			continue;
		struct group *last = n ? &g[n - 1] : NULL;
		if (last && last->has[0] == d.has[0] &&
		    last->has[1] == d.has[1] &&
		    (int64_t)last->n * d.n <= MAX_EXTENT)
			last->n *= d.n;
		else
			g[n++] = d;
	}
	return n;
}

const char *
check_broadcast(const struct part *p, const struct tfl_tensor *a,
		const struct tfl_tensor *b, const struct tfl_tensor *o)
{
	for (int i = 0; i < TFL_MAX_RANK; i++) {
		int32_t x = dim_from_right(a, i), y = dim_from_right(b, i);
		if ((x != y && x != 1 && y != 1) ||
		    dim_from_right(o, i) != (x == 1 ? y : x))
			return "the OFM's shape is not what the inputs broadcast "
			       "to";
	}
	if ((same_shape(a, o) && repeats(b, o)) ||
	    (same_shape(b, o) && repeats(a, o)))
		return NULL;
	const struct tfl_tensor *const in[2] = { a, b };
	struct group g[TFL_MAX_RANK];
	int64_t pieces = 1;
	for (int i = find_groups(in, o, g); i-- > 3;)
		pieces *= g[i].n;
	return pieces <= MAX_PIECES
		   ? NULL
		   : part_say(p, "the broadcast takes %lld operations",
			      (long long)pieces);
}

static void
add_side(struct pieces *l, const struct group *g, int n, int side)
{
	int64_t running = 1;
	for (int i = 0; i < n; i++) {
		bool has = side == 2 || g[i].has[side];
		l->stride[side][i] = has ? running : 0;
		running *= has ? g[i].n : 1;
	}
}

static struct g_operand
as_strided(struct g_operand o, struct hwc shape, const int64_t *stride)
{
	o.view = VIEW_STRIDED;
	o.start = (struct hwc){ 0 };
	o.shape = shape;
	o.offset = 0;
	for (int i = 0; i < 3; i++)
		o.stride[i] = stride[2 - i];
	return o;
}

/* groups 0, 1, 2 are channels, columns, rows; the others are looped over */
static void
make_loops(struct part *p, struct pieces *l, const struct group *g, int n)
{
	struct group one = { .n = 1, .has = { true, true } };
	struct group in3[3];
	for (int i = 0; i < 3; i++)
		in3[i] = i < n ? g[i] : one;
	struct hwc full = { .h = in3[2].n, .w = in3[1].n, .c = in3[0].n };
	l->swap = !in3[0].has[0];
	const struct group *rows = &in3[2], *cols = &in3[1], *depth = &in3[0];
	int second = !l->swap;
	struct hwc few = { .h = rows->has[second] ? full.h : 1,
			   .w = cols->has[second] ? full.w : 1,
			   .c = depth->has[second] ? full.c : 1 };
	for (int side = 0; side < 2; side++) {
		l->in[side] = low_linear(p->l, l->in[side]);
		l->in[side] = as_strided(l->in[side],
					 side == second ? few : full,
					 l->stride[side]);
	}
	l->room = low_room(p->l, l->ofm);
	l->out = as_strided(l->room, full, l->stride[2]);
	l->n_loops = n > 3 ? n - 3 : 0;
	for (int i = 0; i < l->n_loops; i++)
		l->size[i] = g[3 + i].n;
}

struct pieces
pieces_of(struct part *p, const struct side *a, const struct side *b,
	  const struct tfl_tensor *o, struct g_operand ofm)
{
	struct pieces l = { .in = { a->value, b->value }, .out = ofm,
			    .ofm = ofm, .room = ofm };
	const struct tfl_tensor *const in[2] = { a->shape, b->shape };
	bool a_full = same_shape(in[0], o) && repeats(in[1], o);
	bool b_full = same_shape(in[1], o) && repeats(in[0], o);
	if (a_full || b_full) {
		/* only the second operand can be broadcast or a scalar */
		l.swap = !a_full || (b_full && in[0]->data.p);
		l.in[l.swap] = low_view(p->l, l.in[l.swap], ofm.shape);
		if (l.in[!l.swap].t)
			l.in[!l.swap] = low_view(p->l, l.in[!l.swap],
						  tfl_hwc(in[!l.swap]));
		return l;
	}
	struct group g[TFL_MAX_RANK];
	int n = find_groups(in, o, g);
	for (int side = 0; side < 3; side++)
		add_side(&l, g, n, side);
	make_loops(p, &l, g, n);
	return l;
}

/* the piece at l->at */
static struct g_operand
piece(const struct pieces *l, int side, struct g_operand o)
{
	for (int i = 0; i < l->n_loops; i++)
		o.offset += l->at[i] * l->stride[side][3 + i];
	return o;
}

bool
pieces_next(struct part *p, struct pieces *l, struct pair *out)
{
	if (l->done) {
		low_deliver(p->l, l->room, l->ofm);
		return false;
	}
	*out = (struct pair){ .swap = l->swap,
			      .ifm = piece(l, l->swap, l->in[l->swap]),
			      .ifm2 = piece(l, !l->swap, l->in[!l->swap]),
			      .ofm = piece(l, 2, l->out) };
	int i = 0;
	for (; i < l->n_loops; i++) {
		if (++l->at[i] < l->size[i])
			break;
		l->at[i] = 0;
	}
	l->done = i == l->n_loops;
	return true;
}

struct g_op *
part_binary(struct part *p, enum g_op_kind kind, const struct side *a,
	    const struct side *b, const struct pair *q, int32_t ofm_zero)
{
	const struct side *first = q->swap ? b : a, *second = q->swap ? a : b;
	struct g_op *r = low_op(p->l, kind, q->ifm, q->ofm);
	if (!q->ifm2.t)
		op_scalar(r, tensor_int(second->shape, 0), second->zero);
	else
		op_ifm2(r, q->ifm2, second->zero);
	if (q->swap)
		G_PUT(r, OP, reversed, 1);
	op_zeros(r, first->zero, ofm_zero);
	return r;
}

