/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes weights and scales, piece by piece on several threads. */
#include "wenc.h"

#include "base/hash.h"
#include "base/threads.h"
#include "graph/build.h"

/* the piece that a thread encodes, with an arena of its own */
struct task {
	struct coded *c;
	int slice, core;
	struct weights_view view;
	struct arena *a;
	struct err err;
};

struct work {
	struct wenc *w;
	struct task *task;
	int level;
};

static bool
pack_scales(const struct accel *accel, struct task *t, const struct weights_order *ord,
	    struct bytes *out)
{
	const struct g_op *op = t->c->op;
	size_t n = emit_scale_records(ord);
	uint8_t *p = arena_alloc(t->a, weights_scales_size(n), 1);
	*out = (struct bytes){ .p = p, .n = weights_scales_size(n) };
	/* U85: the first stream has the records of all channels */
	int32_t first = ord->quads ? 0 : ord->core, step = ord->quads ? 1 : ord->cores;
	for (int32_t o = ord->begin + first; n && o < ord->end; o += step) {
		if (!emit_scale_record(accel, op, (size_t)o, p, &t->err))
			return false;
		p += WEIGHTS_SCALE_SIZE;
	}
	return true;
}

/* asked 0: the level of the plan */
static int
level_of(int asked, const struct g_weights *w)
{
	return asked			    ? asked
	       : G_HAS(w, G_WEIGHTS_level) ? w->level
					   : WEIGHTS_LEVEL_DEFAULT;
}

static void
encode_streams(const struct work *k, struct task *t, struct piece *p)
{
	const struct g_shape *s = &t->c->w->shape;
	struct weights_order ord = emit_weights_order(k->w->accel, t->c->op, t->slice, t->core);
	if (!weights_order_channels(&ord) || !pack_scales(k->w->accel, t, &ord, &p->scales))
		return;
	p->values = weights_order_count(&ord, s->dim[1], s->dim[2], s->dim[3]);
	int level = level_of(k->level, t->c->w);
	if (t->c->coding) {
		struct bytes coding = t->c->coding[t->slice * t->c->cores + t->core];
		p->stream = weights_encode_coding(t->a, &t->view, &ord, level, coding);
		if (!p->stream.p)
			(void)err_set(&t->err, "the key coding is not valid; remove the key, or run npu-sched again");
		return;
	}
	if (!t->c->op->fast) {
		p->stream = weights_encode_view(t->a, &t->view, &ord, level);
		return;
	}
	p->values *= (size_t)ord.cores;
	p->stream = weights_fast_encode_view(t->a, &t->view, &ord);
	if (!p->stream.n)
		(void)err_set(&t->err, "the weights span more than 255, but the fast "
				       "decoder reads bytes");
}

static void
encode_piece(void *ctx, size_t i)
{
	struct work *k = ctx;
	struct task *t = &k->task[i];
	struct piece *p = &t->c->piece[t->slice * t->c->cores + t->core];
	encode_streams(k, t, p);
	p->hash = hash_xxh3(p->scales.p, p->scales.n);
	p->hash = hash_xxh3_seeded(p->stream.p, p->stream.n, p->hash);
}

static bool
same_coding(const struct accel *accel, const struct g_op *a, const struct g_op *b)
{
	struct weights_order x = emit_weights_order(accel, a, 0, 0);
	struct weights_order y = emit_weights_order(accel, b, 0, 0);
	return x.ou == y.ou && x.ifm_depth == y.ifm_depth &&
	       x.stride_y == y.stride_y && x.stride_x == y.stride_x &&
	       a->block.c == b->block.c && a->traversal == b->traversal &&
	       a->kind == b->kind && a->fast == b->fast && a->sparse == b->sparse &&
	       a->scales == b->scales &&
	       a->ifm.type == b->ifm.type && a->dilation.y == b->dilation.y &&
	       a->dilation.x == b->dilation.x;
}

/*
 * Makes one coded per weights record.  Operations that share a record must have the
 * same coding.
 */
static bool
collect_weights(struct wenc *w, int level)
{
	w->coded = anew(w->a, struct coded, w->g->n_weights);
	for (size_t i = 0; i < w->g->n_ops; i++) {
		const struct g_op *op = w->g->ops[i];
		if (!op->weights)
			continue;
		if (!G_HAS(op, G_OP_block))
			return graph_err(w->g, op, w->e,
			    "o%d has no block: run npu-sched on the graph first",
			    op->rec.id);
		size_t k = 0;
		while (k < w->n_coded && w->coded[k].w != op->weights)
			k++;
		if (k < w->n_coded) {
			if (!same_coding(w->accel, w->coded[k].op, op))
				return graph_err(w->g, op, w->e,
				    "o%d and o%d share w%d, so they need the same "
				    "block depth, traversal and scales", op->rec.id,
						 w->coded[k].op->rec.id,
						 op->weights->rec.id);
			continue;
		}
		struct coded *c = &w->coded[w->n_coded++];
		c->w = op->weights;
		c->op = op;
		c->slices = c->w->slices.n ? (int)c->w->slices.n - 1 : 1;
		c->cores = emit_streams(w->accel, op);
		c->piece = anew(w->a, struct piece, (size_t)(c->slices * c->cores));
		if (!find_coding(w, c, level_of(level, c->w)))
			return false;
	}
	return true;
}

/*
 * Fails if sizes differ from the plan: npu-sched laid out buffers and transfers for the
 * sizes that it measured.
 */
static bool
check_plan_sizes(struct wenc *w, const struct coded *c)
{
	const struct g_list *plan = &c->w->bytes;
	bool fetched = false;
	for (size_t i = 0; i < w->g->n_steps; i++)
		fetched |= w->g->steps[i]->weights == c->w;
	if (!G_HAS(c->w, G_WEIGHTS_bytes) || !fetched)
		return true;
	if (plan->n != (size_t)c->slices)
		return graph_err(w->g, c->w, w->e, "w%d: the plan has %zu sizes for %d "
						   "slices",
						   c->w->rec.id, plan->n, c->slices);
	for (int s = 0; s < c->slices; s++) {
		const struct piece *p = &c->piece[s * c->cores];
		size_t n = 0;
		for (int core = 0; core < c->cores; core++)
			n += p[core].scales.n + p[core].stream.n;
		if ((int64_t)n != plan->v[s])
			return graph_err(w->g, c->w, w->e,
			    "w%d: slice %d takes %zu bytes, but the plan has %lld: "
			    "give npu-sched --level the level of npu-wenc",
			    c->w->rec.id, s, n,
					 (long long)plan->v[s]);
	}
	return true;
}

bool
encode_all(struct wenc *w, const struct options *o)
{
	size_t n = 0;
	if (!collect_weights(w, o->level))
		return false;
	for (size_t i = 0; i < w->n_coded; i++)
		n += (size_t)(w->coded[i].slices * w->coded[i].cores);
	struct work k = { .w = w, .level = o->level, .task = anew(w->a, struct task, n) };
	int64_t *count = anew(w->a, int64_t, n + 1); /* weights of each task */
	size_t next = 0;
	for (size_t i = 0; i < w->n_coded; i++) {
		struct coded *c = &w->coded[i];
		const int32_t *d = c->w->shape.dim;
		struct weights_view view;
		if (!emit_weights_view(w->g->a, w->g, c->w, &view, w->e))
			return false;
		for (int s = 0; s < c->slices; s++) {
			const int64_t *cut = c->w->slices.n ? &c->w->slices.v[s] : NULL;
			int64_t channels = cut ? cut[1] - cut[0] : d[0];
			for (int core = 0; core < c->cores; core++) {
				count[next] = channels * d[1] * d[2] * d[3];
				k.task[next++] = (struct task){ .c = c, .slice = s, .core = core,
								.view = view };
			}
		}
	}
	for (size_t i = 0; i < n; i++)
		k.task[i].a = arena_open();
	threads_for(o->jobs, n, count, encode_piece, &k);

	/* the threads' results, in order */
	bool ok = true;
	for (size_t i = 0; i < n; i++) {
		struct task *t = &k.task[i];
		struct piece *p = &t->c->piece[t->slice * t->c->cores + t->core];
		t->c->bytes += (int64_t)(p->scales.n + p->stream.n);
		t->c->hash = hash_xxh3_seeded(&p->hash, sizeof(p->hash), t->c->hash);
		p->a = t->a;
		if (ok && t->err.status)
			ok = graph_err(w->g, t->c->w, w->e, "w%d: %s",
				       t->c->w->rec.id, t->err.text);
	}
	for (size_t i = 0; ok && i < w->n_coded; i++)
		ok = check_plan_sizes(w, &w->coded[i]);
	if (!ok)
		return false;
	/* the section choices of npu-sched are used up */
	for (size_t i = 0; i < w->g->n_weights; i++)
		w->g->weights[i]->rec.has &= ~((uint64_t)1 << G_WEIGHTS_coding);
	graph_drop_blob(w->g, graph_find_blob(w->g, GRAPH_CODING));
	return true;
}
