/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes rectangles of memory and time.  Kernels and CPU operators have the odd time steps, in
 * order of execution.  Transfers in front of them have the even ones.
 */
#include "memory.h"

#include "base/fixed.h"
#include "graph/facts.h"

/* A CPU node takes one odd time step, before the kernels of later nodes. */
int64_t
kernel_step(const struct sched *s, const struct plan *p, int kernel)
{
	return 2 * ((int64_t)kernel + s->info[p->kernel[kernel].op].cpu_before) + 1;
}

int
kernel_at(const struct sched *s, const struct plan *p, int64_t step)
{
	int lo = 0, hi = (int)p->n_kernels;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (kernel_step(s, p, mid) < step)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct live_ranges {
	struct sched *s;
	struct plan *p;
	struct rect **of; /* rectangle of each tensor of the graph, or NULL */
};

static void
touch(struct live_ranges *l, const struct g_tensor *t, int64_t step)
{
	struct rect *r = t ? l->of[t->rec.index] : NULL;
	if (!r)
		return;
	r->lo = r->hi < 0 ? step : min_i64(r->lo, step);
	r->hi = max_i64(r->hi, step);
}

static void
touch_list(struct live_ranges *l, const struct g_tensors *v, int64_t step)
{
	for (size_t i = 0; i < v->n; i++)
		touch(l, v->v[i], step);
}

/* Inputs of a node are live from its first time step, outputs up to its last. */
static void
walk_nodes(struct live_ranges *l)
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
			/* feature maps between the operations of a chain are never in memory */
			const struct kernel *x = &p->kernel[k];
			for (int i = 0; i <= x->links; i++) {
				const struct op_info *f = &l->s->info[x->op + i];
				if (!i || f->chain != CHAIN_IFM)
					touch(l, f->op->ifm.t, now);
				if (!i || f->chain != CHAIN_IFM2)
					touch(l, f->op->ifm2.t, now);
			}
			touch(l, l->s->info[x->op + x->links].op->ofm.t, now);
			now += 2;
		}
		touch_list(l, &node->out, now > 2 ? now - 2 : now);
	}
	for (size_t i = 0; i < l->s->g->n_tensors; i++) {
		const struct g_tensor *t = l->s->g->tensors[i];
		if (tensor_is_output(t))
			touch(l, t, now > 2 ? now - 2 : now);
		if (tensor_is_input(t) || t->variable)
			touch(l, t, 1);
		/* the next inference reads the values that this one leaves */
		if (t->variable)
			touch(l, t, now > 2 ? now - 2 : now);
	}
}

/*
 * Would the group of `to`, moved by `move` bytes, collide with that of `from`?  The pair itself
 * may overlap: its distance is chosen so that this is safe.
 */
static bool
collide(const struct rect *rect, const struct rect *from, const struct rect *to, int64_t move)
{
	for (int k = to->group; k >= 0; k = rect[k].next)
		for (int i = from->group; i >= 0; i = rect[i].next) {
			const struct rect *a = &rect[i], *b = &rect[k];
			if (a->bytes && b->bytes && a->hi >= b->lo && a->lo <= b->hi &&
			    (a != from || b != to) &&
			    a->offset < b->offset + move + b->bytes &&
			    b->offset + move < a->offset + a->bytes)
				return true;
		}
	return false;
}

/*
 * Groups a result with the dying operand over which it is written, so that both move together.
 * Offsets count from the lowest byte of a group.
 */
static void
join(struct live_ranges *l, struct arena *a)
{
	struct plan *p = l->p;
	struct rect *rect = p->rect;
	int *last = anew(a, int, p->n_rects + 1); /* rectangle of each group */
	for (size_t i = 0; i < p->n_rects; i++)
		last[i] = (int)i;
	for (int i = 0; i < l->s->n_ops; i++) {
		struct rect *from = p->over[i] ? l->of[p->over[i]->rec.index] : NULL;
		struct rect *to = l->of[l->s->info[i].op->ofm.t->rec.index];
		if (!from || !to || from->fixed || to->fixed || !from->bytes ||
		    !to->bytes || from->group == to->group)
			continue;
		const int64_t move = from->offset - p->lead[i] - to->offset;
		if (collide(rect, from, to, move))
			continue;
		const int group = to->group, into = from->group;
		to->over = from->t;
		for (int k = group; k >= 0; k = rect[k].next) {
			rect[k].group = into;
			rect[k].offset += move;
		}
		rect[last[into]].next = group;
		last[into] = last[group];
	}
	int64_t *least = anew(a, int64_t, p->n_rects + 1);
	for (size_t i = 0; i < p->n_rects; i++)
		least[rect[i].group] = min_i64(least[rect[i].group], rect[i].offset);
	for (size_t i = 0; i < p->n_rects; i++)
		rect[i].offset -= least[rect[i].group];
}

void
find_maps(struct sched *s, struct plan *p)
{
	struct arena *a = arena_open();
	struct live_ranges l = { .s = s, .p = p };
	l.of = anew(a, struct rect *, s->g->n_tensors + 1);
	p->rect = anew(p->a, struct rect, s->g->n_tensors + p->n_slices + 1);
	p->n_rects = 0;
	/* the tensors that get an address here; the runtime allocates variables that only it touches,
	 * and tensors without a fixed size */
	for (size_t i = 0; i < s->g->n_tensors; i++) {
		struct g_tensor *t = s->g->tensors[i];
		if (tensor_is_const(t) || G_HAS(t, G_TENSOR_rows) ||
		    !graph_type_bytes(t->shape.type) ||
		    (t->variable && s->use[t->rec.index].last_touch < 0))
			continue;
		l.of[i] = &p->rect[p->n_rects];
		p->rect[p->n_rects] = (struct rect){
			.t = t, .slice = -1, .hi = -1, .group = (int)p->n_rects, .next = -1,
			.place = t->area, .bytes = round_up_i64(tensor_bytes(t), ALIGN),
			.fixed = G_HAS(t, G_TENSOR_at) || tensor_is_separate(t), .at = t->at };
		p->n_rects++;
	}
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_tensor *t = s->info[i].op->ofm.t;
		struct rect *r = l.of[t->rec.index];
		if (r && p->rolling[i])
			r->bytes = round_up_i64(tensor_bytes(t) / t->hwc.h * p->rolling[i], ALIGN);
	}
	walk_nodes(&l);
	/* a tensor that nothing touches needs no bytes */
	for (size_t i = 0; i < p->n_rects; i++)
		if (p->rect[i].hi < 0)
			p->rect[i].bytes = 0, p->rect[i].lo = p->rect[i].hi = 0;
	join(&l, a);
	p->n_maps = p->n_rects;
	/* the live bytes of the limited area at each kernel */
	int64_t *step = anew(a, int64_t, p->n_kernels + 1);
	for (size_t k = 0; k < p->n_kernels; k++)
		step[k] = kernel_step(s, p, (int)k);
	p->map_bytes = anew(p->a, int64_t, p->n_kernels + 1);
	sum_bytes(p->rect, p->n_maps, limited_place(s), step, p->n_kernels, p->map_bytes);
	arena_close(a);
}

void
find_buffers(struct sched *s, struct plan *p)
{
	p->n_rects = p->n_maps;
	for (size_t i = 0; i < p->n_slices; i++) {
		const struct weight_slice *u = &p->slice[i];
		if (u->held == IN_PLACE)
			continue;
		p->rect[p->n_rects] = (struct rect){
			.slice = (int)i, .group = (int)p->n_rects, .next = -1,
			.place = limited_place(s),
			.bytes = round_up_i64(held_bytes(u, u->held), 16),
			.lo = kernel_step(s, p, u->start) - 1,
			.hi = kernel_step(s, p, u->last),
		};
		p->n_rects++;
	}
}
