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

/*
 * Which bytes operations read and write, and where feature maps die.  A touch has the number
 * OPERANDS * operation + operand + 1; 0: none.  A graph may have 10,000 operations, and each plan
 * finds its slides.
 */
struct touch {
	int next;   /* the next one of the same tensor that reads, or writes */
	int64_t at; /* of a read: the lowest byte of this and all later ones; of a write: its end */
};

struct traffic {
	const struct sched *s;
	struct touch *touch;
	int *read, *write; /* first touch of each tensor; reads that no slide needs are dropped */
	int *death;	   /* touches: the last read of each feature map that dies */
	int n_deaths;
};

static int
op_of(int touch)
{
	return (touch - 1) / OPERANDS;
}

static const struct g_operand *
operand_of(const struct sched *s, int touch)
{
	const struct g_op *op = s->info[op_of(touch)].op;
	const struct g_operand *o[OPERANDS] = { &op->ifm, &op->ifm2, &op->ofm };
	return o[(touch - 1) % OPERANDS];
}

static struct traffic
list_traffic(const struct sched *s, struct arena *a)
{
	size_t n = OPERANDS * (size_t)s->n_ops + 1, n_tensors = s->g->n_tensors + 1;
	struct traffic x = { .s = s, .touch = anew(a, struct touch, n),
			     .read = anew(a, int, n_tensors), .write = anew(a, int, n_tensors),
			     .death = anew(a, int, n) };
	for (int i = (int)n - 1; i > 0; i--) {
		const struct g_operand *o = operand_of(s, i);
		if (!o->t)
			continue;
		bool writes = i % OPERANDS == 0;
		int *first = &(writes ? x.write : x.read)[o->t->rec.index];
		const struct g_range bytes = bytes_touched(o);
		x.touch[i] = (struct touch){ .next = *first, .at = writes ? bytes.hi : bytes.lo };
		if (!writes && *first)
			x.touch[i].at = min_i64(bytes.lo, x.touch[*first].at);
		*first = i;
	}
	for (int i = 1; i < (int)n; i++) {
		const struct g_operand *o = operand_of(s, i);
		if (i % OPERANDS && o->t && dies_with(s, o->t, op_of(i)))
			x.death[x.n_deaths++] = i;
	}
	return x;
}

/*
 * Bytes by which x->to must begin before x->from so that no write reaches bytes that are still
 * to be read.  The operation before a write may still be reading.  Calls have rising x->first.
 */
static int64_t
lead_of(const struct traffic *t, const struct slide *x)
{
	int *first = &t->read[x->from->rec.index];
	while (*first && op_of(*first) < x->first - 1)
		*first = t->touch[*first].next;
	int64_t lead = 0;
	int write = t->write[x->to->rec.index];
	for (int read = *first; write && op_of(write) <= x->last; write = t->touch[write].next) {
		while (read && op_of(read) < op_of(write) - 1)
			read = t->touch[read].next;
		if (read)
			lead = max_i64(lead, t->touch[write].at - t->touch[read].at);
	}
	return round_up_i64(lead, 16);
}

/* Completes a slide of x->to over x->from, which dies with operation x->last.  False: it cannot
 * be, or saves too little. */
static bool
try_slide(const struct traffic *traffic, struct slide *x)
{
	const struct g_tensor *o = x->to;
	struct g_tensor *t = x->from;
	/* a feature map that is made meanwhile cannot be covered */
	if (!may_share_bytes(t, o) || traffic->s->use[t->rec.index].producer >= x->first)
		return false;
	x->lead = lead_of(traffic, x);
	int64_t from = round_up_i64(tensor_bytes(t), 16) + x->lead;
	int64_t to = round_up_i64(tensor_bytes(o), 16);
	x->saved = from - x->lead + to - (from > to ? from : to);
	return x->saved > 0 && x->saved >= min_i64(from - x->lead, to) / WORTHWHILE;
}

/* Adds slides over feature maps that die while operation `first` and later ones write a
 * result; death: the first one that dies then.  The list is sorted by bytes saved. */
static void
add_slides(struct sched *s, struct slides *l, const struct traffic *t, int first, int death)
{
	for (; death < t->n_deaths; death++) {
		int last = op_of(t->death[death]);
		struct slide x = { .from = operand_of(s, t->death[death])->t,
				   .to = s->info[first].op->ofm.t, .first = first, .last = last };
		if (s->info[last].node != s->info[first].node)
			return;
		if (!try_slide(t, &x))
			continue;
		agrow(s->a, l->v, l->n, &l->cap);
		size_t at = l->n++;
		for (; at > 0 && l->v[at - 1].saved < x.saved; at--)
			l->v[at] = l->v[at - 1];
		l->v[at] = x;
	}
}

void
find_slides(struct sched *s, struct slides *l)
{
	struct arena *a = arena_open();
	const struct traffic t = list_traffic(s, a);
	*l = (struct slides){ .n = 0 };
	for (int i = 0, death = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		while (death < t.n_deaths && op_of(t.death[death]) < i)
			death++;
		const bool is_part = op->ofm.view == VIEW_BOX || op->ofm.view == VIEW_STRIDED;
		if (is_part && op_of(t.write[op->ofm.t->rec.index]) == i)
			add_slides(s, l, &t, i, death);
	}
	arena_close(a);
	/* a feature map is covered by one other, and covers one: the slide that saves most */
	size_t n = 0;
	for (size_t i = 0; i < l->n; i++) {
		bool taken = false;
		for (size_t k = 0; k < n; k++)
			taken |= l->v[k].from == l->v[i].from || l->v[k].to == l->v[i].to;
		if (!taken)
			l->v[n++] = l->v[i];
	}
	l->n = n;
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
