/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that movements share. */
#include "move.h"

#include <assert.h>

enum { MOVED = TYPE_FM | TYPE_I32 | TYPE_BOOL };

static const char *
check_type(const struct part *p, const struct tfl_tensor *t, const char *role, int types)
{
	const char *why = check_typed(p, t, role, types);
	if (why)
		return why;
	int64_t n = tfl_elements(t);
	if (n < 1 || n > INT32_MAX)
		return arena_printf(p->a, "%s has %lld elements", role, (long long)n);
	return NULL;
}

const char *
check_moved(const struct part *p, const struct tfl_tensor *t, const char *role)
{
	return check_type(p, t, role, MOVED);
}

const char *
check_moved_by(const struct part *p, const struct tfl_op *op, const struct tfl_tensor *t,
	       const char *role)
{
	return check_type(p, t, role, MOVED | family_types(op));
}

bool
move_words(const struct tfl_tensor *t, struct nd *v)
{
	if (t->type != TFL_INT64 || v->rank == ND_MAX)
		return t->type != TFL_INT64;
	v->type = TFL_INT32;
	v->offset *= 2;
	for (int i = 0; i < v->rank; i++)
		v->stride[i] *= 2;
	v->dim[v->rank] = 2;
	v->stride[v->rank++] = 1;
	return true;
}

struct nd
as_words(const struct tfl_tensor *t, struct nd v)
{
	bool ok = move_words(t, &v); /* a tensor's rank is at most half of ND_MAX */
	assert(ok);
	return v;
}

struct nd
words_shape(const struct tfl_tensor *t)
{
	return as_words(t, nd_shape(t));
}

struct nd
words_ifm(struct part *p, int tensor)
{
	return as_words(&p->sg->tensor[tensor], nd_ifm(p, tensor));
}

struct nd
words_ofm(struct part *p, int tensor)
{
	return as_words(&p->sg->tensor[tensor], nd_ofm(p, tensor));
}

void
move_result(struct part *p, const struct tfl_op *op, const struct nd *v)
{
	const struct tfl_tensor *t = part_in(p, op, 0);
	if (t->type != TFL_INT64) {
		nd_result(p, op->out[0], v);
		return;
	}
	struct nd from = *v, to = words_ofm(p, op->out[0]);
	bool ok = (v->type == TFL_INT32 || move_words(t, &from)) &&
		  nd_reshape(&to, from.dim, from.rank);
	assert(ok);
	nd_copy(p->l, &from, &to);
}

const char *
check_move(const struct part *p, const struct lop *o)
{
	const char *why = check_moved_by(p, o->op, o->ifm, "IFM") ?:
			  check_moved_by(p, o->op, o->ofm, "OFM");
	if (why)
		return why;
	if (o->ifm->type != o->ofm->type)
		return "IFM and OFM differ in type";
	return o->ifm->data.p ? "IFM is constant" : NULL;
}

const char *
check_copies(const struct part *p, const struct nd *from, const struct nd *to)
{
	int64_t n = nd_copies(p->l, from, to);
	if (n <= ND_MAX_COPIES)
		return NULL;
	return arena_printf(p->a, "the movement would take %lld copies", (long long)n);
}

const char *
read_view(const struct part *p, struct lop *o)
{
	static view_fn *const views[TFL_BUILTIN_LIMIT] = {
		[TFL_BROADCAST_TO] = view_repeat, [TFL_DEPTH_TO_SPACE] = view_depth_to_space,
		[TFL_REVERSE_V2] = view_reverse, [TFL_SLICE] = view_slice,
		[TFL_SPACE_TO_DEPTH] = view_space_to_depth,
		[TFL_STRIDED_SLICE] = view_strided_slice, [TFL_TRANSPOSE] = view_transpose,
	};
	const char *why = check_move(p, o);
	if (why)
		return why;
	struct nd v = nd_shape(o->ifm), to = words_shape(o->ofm);
	o->view = views[o->op->code] ?: view_reshape;
	why = o->view(p, o->op, &v);
	v = why ? v : as_words(o->ifm, v);
	if (!why && nd_elements(&v) != nd_elements(&to))
		why = o->view == view_slice || o->view == view_strided_slice
			  ? "the OFM's shape is not what the slice gives"
			  : "IFM and OFM differ in the number of elements";
	return why ?: check_copies(p, &v, &to);
}

/* are both tensors bound to the same memory, so that the result exists already? */
static bool
is_in_place(const struct part *p, const struct lop *o, const struct nd *v)
{
	struct g_operand to = p->value[o->op->out[0]], as;
	if (!to.t || to.t != v->t || !operand_view(to, tfl_hwc(o->ifm), &as))
		return false;
	struct nd w = nd_of(as, o->ifm);
	return w.offset == v->offset && nd_is_dense(v) && nd_is_dense(&w);
}

void
lower_view(struct part *p, const struct lop *o)
{
	struct nd v = nd_ifm(p, o->op->in[0]);
	(void)o->view(p, o->op, &v); /* read_view() has checked the view */
	if (!is_in_place(p, o, &v))
		move_result(p, o->op, &v);
}

int
move_axis(int64_t axis, int rank)
{
	if (axis < 0)
		axis += rank;
	return axis >= 0 && axis < rank ? (int)axis : -1;
}
