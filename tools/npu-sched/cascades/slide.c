/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results that several operations write piece by piece (a sequence, a concatenation) over a
 * feature map that the same operations read for the last time.  As the result grows, the
 * feature map is used up, and both may share bytes.  Such operations run whole, in the order of
 * the graph, so the distance follows from their boxes alone.
 */
#include "cascades.h"

#include "graph/facts.h"

/*
 * Two feature maps at a fixed distance are harder to pack than either.  So a slide has to save
 * at least 1/WORTHWHILE of the smaller one.  In a ShuffleNetV2 a slide saved 48 bytes of
 * 95,648, and the plan took 573,792 bytes where 478,240 are live.
 */
enum { WORTHWHILE = 256 };

/* The range of bytes of a tensor that an operand touches. */
static struct g_range
bytes_touched(const struct g_operand *o)
{
	struct hwc all = o->t->hwc;
	const int64_t n[3] = { o->shape.h - 1, o->shape.w - 1, o->shape.c - 1 };
	int64_t dense[3] = { (int64_t)all.w * all.c, all.c, 1 };
	int64_t size = graph_type_bytes(o->type), lo = o->offset;
	const int64_t *stride = o->stride;
	if (o->t->layout != LAYOUT_NHWC || o->type != o->t->shape.type ||
	    (o->view != VIEW_BOX && o->view != VIEW_STRIDED))
		return (struct g_range){ .lo = 0, .hi = tensor_bytes(o->t) };
	if (o->view == VIEW_BOX) {
		lo = o->start.h * dense[0] + o->start.w * dense[1] + o->start.c;
		stride = dense;
	}
	int64_t hi = lo;
	for (int i = 0; i < 3; i++) {
		lo += stride[i] < 0 ? n[i] * stride[i] : 0;
		hi += stride[i] > 0 ? n[i] * stride[i] : 0;
	}
	return (struct g_range){ .lo = lo * size, .hi = (hi + 1) * size };
}

static bool
writes_part(const struct g_op *op)
{
	return op->ofm.view == VIEW_BOX || op->ofm.view == VIEW_STRIDED;
}

/* The lowest byte of t that operation i reads; INT64_MAX: none. */
static int64_t
lowest_read(const struct sched *s, int i, const struct g_tensor *t)
{
	const struct g_operand *in[2] = { &s->info[i].op->ifm, &s->info[i].op->ifm2 };
	int64_t low = INT64_MAX;
	for (int k = 0; k < 2; k++) {
		if (in[k]->t != t)
			continue;
		int64_t lo = bytes_touched(in[k]).lo;
		low = lo < low ? lo : low;
	}
	return low;
}

/*
 * Bytes by which x->to must begin before x->from so that no write reaches bytes that are still
 * to be read.  The operation before a write may still be reading.
 */
static int64_t
lead_of(const struct sched *s, const struct slide *x)
{
	int64_t low = INT64_MAX, lead = 0;
	for (int i = x->last; i >= x->first; i--) {
		const struct g_op *op = s->info[i].op;
		for (int k = i; k >= i - 1 && k >= 0; k--) {
			int64_t at = lowest_read(s, k, x->from);
			low = at < low ? at : low;
		}
		if (op->ofm.t == x->to && bytes_touched(&op->ofm).hi - low > lead)
			lead = bytes_touched(&op->ofm).hi - low;
	}
	return round_up_i64(lead, 16);
}

static bool
is_written_in(const struct sched *s, const struct g_tensor *t, int first, int last)
{
	for (int i = first; i <= last; i++)
		if (s->info[i].op->ofm.t == t)
			return true;
	return false;
}

/* Completes a slide of x->to over x->from if operation x->last is the last to read x->from.
 * False: it cannot be, or saves too little. */
static bool
try_slide(const struct sched *s, struct slide *x)
{
	const struct g_tensor *o = x->to;
	struct g_tensor *t = x->from;
	if (!may_share_bytes(t, o) || !dies_with(s, t, x->last) ||
	    is_written_in(s, t, x->first, x->last))
		return false;
	x->lead = lead_of(s, x);
	int64_t from = round_up_i64(tensor_bytes(t), 16) + x->lead;
	int64_t to = round_up_i64(tensor_bytes(o), 16);
	x->saved = from - x->lead + to - (from > to ? from : to);
	return x->saved > 0 && x->saved >= min_i64(from - x->lead, to) / WORTHWHILE;
}

/* Inserts a slide by bytes saved.  A feature map may be covered by one other and cover one. */
static void
add_slide(struct sched *s, struct slides *l, struct slide x)
{
	agrow(s->a, l->v, l->n, &l->cap);
	size_t at = l->n++;
	for (; at > 0 && l->v[at - 1].saved < x.saved; at--)
		l->v[at] = l->v[at - 1];
	l->v[at] = x;
}

/* Adds slides over feature maps that die while operation `first` and later ones write a
 * result. */
static void
add_slides(struct sched *s, struct slides *l, int first)
{
	struct g_tensor *to = s->info[first].op->ofm.t;
	for (int i = first; i < s->n_ops && s->info[i].node == s->info[first].node; i++) {
		const struct op_info *f = &s->info[i];
		struct g_tensor *in[2] = { f->op->ifm.t, f->op->ifm2.t };
		for (int k = 0; k < 2; k++) {
			struct slide x = { .from = in[k], .to = to, .first = first,
					   .last = i };
			/* a feature map that is made meanwhile cannot be covered */
			if (in[k] && f->producer[k] < first && try_slide(s, &x))
				add_slide(s, l, x);
		}
	}
}

/* Of slides with the same feature map, keeps the one that saves most. */
static void
resolve(struct slides *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		bool taken = false;
		for (size_t k = 0; k < n; k++)
			taken |= l->v[k].from == l->v[i].from ||
				 l->v[k].to == l->v[i].to;
		if (!taken)
			l->v[n++] = l->v[i];
	}
	l->n = n;
}

void
find_slides(struct sched *s, struct slides *l)
{
	*l = (struct slides){ .n = 0 };
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		if (writes_part(op) && !is_written_in(s, op->ofm.t, 0, i - 1))
			add_slides(s, l, i);
	}
	resolve(l);
}

bool
is_slid(const struct slides *l, const struct sched *s, int op)
{
	const struct g_op *g = s->info[op].op;
	for (size_t i = 0; i < l->n; i++) {
		const struct slide *x = &l->v[i];
		bool touches = g->ifm.t == x->from || g->ifm2.t == x->from ||
			       g->ofm.t == x->to;
		if (touches && op >= x->first && op <= x->last)
			return true;
	}
	return false;
}

int64_t
slides_save(const struct sched *s, const struct slides *l, int area, int first, int last)
{
	int64_t sum = 0;
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].first <= last && l->v[i].last >= first &&
		    area_of(s, l->v[i].to) == area)
			sum += l->v[i].saved;
	return sum;
}
