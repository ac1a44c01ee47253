/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rectangles of memory and time.  Time counts moments: kernels and CPU
 * operators have the odd ones, in order of execution; transfers in front of
 * them the even ones.
 */
#include "sched.h"

/* CPU nodes take a moment each, in front of the kernels of later nodes */
int64_t
kernel_moment(const struct sched *s, const struct plan *p, int kernel)
{
	return 2 * ((int64_t)kernel + s->info[p->kernel[kernel].op].cpu_before) + 1;
}

struct lives {
	struct sched *s;
	struct plan *p;
	struct rect **of; /* rectangle of each tensor of the graph, or NULL */
};

static struct rect *
rect_of(const struct lives *l, const struct g_tensor *t)
{
	return t ? l->of[t->rec.index] : NULL;
}

static void
touch(struct lives *l, const struct g_tensor *t, int64_t moment)
{
	struct rect *r = rect_of(l, t);
	if (!r)
		return;
	if (r->hi < 0)
		r->lo = r->hi = moment;
	r->lo = moment < r->lo ? moment : r->lo;
	r->hi = moment > r->hi ? moment : r->hi;
}

static void
touch_list(struct lives *l, const struct g_tensors *v, int64_t moment)
{
	for (size_t i = 0; i < v->n; i++)
		touch(l, v->v[i], moment);
}

/* the runtime keeps variables of its own and what has no fixed size */
static bool
is_placed(const struct sched *s, const struct g_tensor *t)
{
	if (t->variable && s->use[t->rec.index].last_touch < 0)
		return false;
	return !tensor_is_const(t) && !G_HAS(t, G_TENSOR_rows) &&
	       graph_type_bytes(t->shape.type) > 0;
}

static void
add_tensors(struct lives *l)
{
	struct graph *g = l->s->g;
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		if (!is_placed(l->s, t))
			continue;
		struct rect *r = &l->p->rect[l->p->n_rects++];
		*r = (struct rect){ .t = t, .unit = -1, .hi = -1,
				    .group = (int)(r - l->p->rect), .next = -1,
				    .place = t->area,
				    .bytes = round_up_i64(tensor_bytes(t), 16),
				    .fixed = G_HAS(t, G_TENSOR_at), .at = t->at };
		l->of[i] = r;
	}
	for (int i = 0; i < l->s->n_ops; i++) {
		struct g_tensor *t = l->s->info[i].op->ofm.t;
		struct rect *r = rect_of(l, t);
		if (r && l->p->rolling[i])
			r->bytes = round_up_i64(tensor_bytes(t) / t->hwc.h *
						l->p->rolling[i], 16);
	}
}

/* what nodes take in exists from their first moment, results to their last */
static void
walk_nodes(struct lives *l)
{
	struct plan *p = l->p;
	int k = 0, n_kernels = (int)p->n_kernels;
	int64_t now = 1;
	for (size_t n = 0; n < l->s->g->n_nodes; n++) {
		const struct g_node *node = l->s->g->nodes[n];
		touch_list(l, &node->in, now);
		if (node->kind == NODE_CPU) {
			touch_list(l, &node->out, now);
			now += 2;
			continue;
		}
		for (; k < n_kernels && l->s->info[p->kernel[k].op].node == (int)n; k++) {
			const struct g_op *op = l->s->info[p->kernel[k].op].op;
			touch(l, op->ifm.t, now);
			touch(l, op->ifm2.t, now);
			touch(l, op->ofm.t, now);
			now += 2;
		}
		touch_list(l, &node->out, now > 2 ? now - 2 : now);
	}
	for (size_t i = 0; i < l->s->g->n_tensors; i++) {
		const struct g_tensor *t = l->s->g->tensors[i];
		if (t->io == IO_OUT)
			touch(l, t, now > 2 ? now - 2 : now);
		if (t->io == IO_IN || t->variable)
			touch(l, t, 1);
		/* what one inference leaves is there for the next */
		if (t->variable)
			touch(l, t, now > 2 ? now - 2 : now);
	}
}

/*
 * Would two groups collide if b's were moved by so many bytes?  The pair that is
 * put over one another may: its distance was chosen with care.
 */
static bool
collide(const struct plan *p, const struct rect *from, const struct rect *to,
	int64_t move)
{
	for (size_t i = 0; i < p->n_rects; i++)
		for (size_t k = 0; k < p->n_rects; k++) {
			const struct rect *a = &p->rect[i], *b = &p->rect[k];
			if (a->group != from->group || b->group != to->group ||
			    (a == from && b == to) || a->lo > b->hi || b->lo > a->hi)
				continue;
			if (a->offset < b->offset + move + b->bytes &&
			    b->offset + move < a->offset + a->bytes)
				return true;
		}
	return false;
}

/*
 * A result written over an operand that dies under it: both move together.  A
 * group's offsets are counted from wherever its first byte will be.
 */
static void
join(struct lives *l)
{
	struct plan *p = l->p;
	for (int i = 0; i < l->s->n_ops; i++) {
		struct rect *from = rect_of(l, p->over[i]);
		struct rect *to = rect_of(l, l->s->info[i].op->ofm.t);
		if (!from || !to || from->fixed || to->fixed || !from->bytes ||
		    !to->bytes || from->group == to->group)
			continue;
		int64_t move = from->offset - p->lead[i] - to->offset;
		if (collide(p, from, to, move))
			continue;
		to->over = from->t;
		int group = to->group;
		for (size_t k = 0; k < p->n_rects; k++)
			if (p->rect[k].group == group) {
				p->rect[k].group = from->group;
				p->rect[k].offset += move;
			}
	}
	int64_t *least = anew(l->s->a, int64_t, p->n_rects + 1);
	for (size_t i = 0; i < p->n_rects; i++) {
		int g = p->rect[i].group;
		least[g] = p->rect[i].offset < least[g] ? p->rect[i].offset : least[g];
	}
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		r->offset -= least[r->group];
		if (r->group == (int)i)
			continue;
		r->next = p->rect[r->group].next;
		p->rect[r->group].next = (int)i;
	}
}

int64_t
group_bytes(const struct plan *p, int group, int64_t moment)
{
	int64_t lo = INT64_MAX, hi = 0;
	for (int i = group; i >= 0; i = p->rect[i].next) {
		const struct rect *r = &p->rect[i];
		if (r->lo > moment || r->hi < moment)
			continue;
		lo = r->offset < lo ? r->offset : lo;
		hi = r->offset + r->bytes > hi ? r->offset + r->bytes : hi;
	}
	return hi > lo ? hi - lo : 0;
}

static void
add_buffers(struct sched *s, struct plan *p)
{
	for (size_t i = 0; i < p->n_units; i++) {
		const struct unit *u = &p->unit[i];
		if (!u->fetched)
			continue;
		p->rect[p->n_rects] = (struct rect){
			.unit = (int)i, .group = (int)p->n_rects, .next = -1,
			.place = s->memory.spilling ? PLACE_CACHE : PLACE_ARENA,
			.bytes = round_up_i64(unit_bytes(u), 16),
			.lo = kernel_moment(s, p, u->start) - 1,
			.hi = kernel_moment(s, p, u->last),
		};
		p->n_rects++;
	}
}

void
find_rects(struct sched *s, struct plan *p)
{
	struct lives l = { .s = s, .p = p };
	l.of = anew(s->a, struct rect *, s->g->n_tensors + 1);
	p->rect = anew(s->a, struct rect, s->g->n_tensors + p->n_units + 1);
	p->n_rects = 0;
	add_tensors(&l);
	walk_nodes(&l);
	/* what nobody touches needs no place */
	for (size_t i = 0; i < p->n_rects; i++)
		if (p->rect[i].hi < 0)
			p->rect[i].bytes = 0, p->rect[i].lo = p->rect[i].hi = 0;
	join(&l);
	add_buffers(s, p);
}
