/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the chosen plan into the graph. */
#include "../network/copies.h"
#include "../passes.h"
#include "../weights/slices.h"
#include "graph/build.h"
#include "graph/facts.h"

#include "base/text.h"
#include "target/accel.h"

#include <assert.h>
#include <string.h>

static const struct block_choice *
block_of(struct sched *s, int i)
{
	struct op_info *f = &s->info[i];
	int32_t rows = s->plan->stripe[i] ? s->plan->stripe[i] : f->op->ofm.shape.h;
	const struct block_choice *b = block_for(s, i, rows, s->plan->decided.op[i].objective);
	if (!b)
		(void)graph_err(s->g, f->op, s->e, "no block of op o%d fits the SHRAM "
				"of %s", f->op->rec.id, s->accel->name);
	return b;
}

static void
set_block(struct sched *s, int i, const struct block_choice *b)
{
	struct op_info *f = &s->info[i];
	if (!G_HAS(f->op, G_OP_block))
		G_PUT(f->op, OP, block, b->block);
	/* a stripe of all rows has the fold of the whole operation */
	fold_op(f->op, &b->fold);
	/* stripes may differ in their SHRAM layout: the emitter derives it for each */
	if (s->plan->stripe[i])
		return;
	if (!G_HAS(f->op, G_OP_ib))
		G_PUT(f->op, OP, ib, b->layout.ib_end);
	if (!G_HAS(f->op, G_OP_ab))
		G_PUT(f->op, OP, ab, b->layout.ab_start);
	if (!G_HAS(f->op, G_OP_ib2) && f->op->ifm2.t)
		G_PUT(f->op, OP, ib2, b->layout.ib2_start);
}

/* Chooses all blocks before it writes any: a written block binds operations of the same
 * work. */
static bool
set_blocks(struct sched *s)
{
	bool *done = anew(s->a, bool, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		done[i] = op_is_transfer(s->info[i].op->kind);
		if (!done[i] && !block_of(s, i))
			return false;
	}
	for (size_t i = 0; i < s->plan->n_kernels; i++) {
		const struct kernel *k = &s->plan->kernel[i];
		struct g_op op[CHAIN_LENGTH];
		if (!k->links)
			continue;
		const struct block_choice *b =
			kernel_block(s, k, s->info[k->op].op->ofm.shape.h);
		const bool is_chain = b && chain_ops(s, k->op, k->links, &b->fold, op);
		assert(is_chain);
		set_block(s, k->op, b);
		done[k->op] = true;
		for (int link = 1; link <= k->links; link++) {
			struct g_op *to = s->info[k->op + link].op;
			/* the feature map before it has no address, so that its layout does not
			 * matter */
			s->info[k->op + link - 1].op->ofm.t->layout = LAYOUT_NHWC;
			*to = op[link];
			G_PUT(to, OP, block, b->block);
			done[k->op + link] = true;
		}
	}
	for (int i = 0; i < s->n_ops; i++)
		if (!done[i])
			set_block(s, i, block_of(s, i));
	return true;
}

/* Writes the codings that were found while weights were measured, for npu-wenc to reuse. */
static void
set_codings(struct sched *s)
{
	const struct plan *p = s->plan;
	struct text all = { 0 };
	for (size_t i = 0; i < p->n_slices; i++) {
		struct g_weights *w = p->slice[i].w;
		struct bytes b = slice_coding(s, p, i);
		if (!b.n)
			continue;
		if (p->slice[i].index == 0)
			G_PUT(w, WEIGHTS, coding, (struct g_span){ .at = (int64_t)all.n });
		w->coding.bytes += (int64_t)b.n;
		text_put(&all, b.p, b.n);
	}
	if (all.n) {
		uint8_t *copy = anew(s->g->a, uint8_t, all.n);
		memcpy(copy, all.p, all.n);
		graph_add_blob(s->g, GRAPH_CODING, (struct bytes){ .p = copy, .n = all.n });
	}
	text_free(&all);
}

/* Makes the buffers of fetched weights, and the steps: transfers and kernels, which name the buffers
 * where they find their weights. */
static void
make_steps(struct sched *s)
{
	const struct plan *p = s->plan;
	struct g_buffer **buffer = anew(s->a, struct g_buffer *, p->n_slices + 1); /* of each slice */
	size_t f = 0;
	for (size_t i = 0; i < p->n_rects; i++) {
		const struct rect *r = &p->rect[i];
		if (r->slice < 0)
			continue;
		struct g_buffer *x = buffer[r->slice] = graph_add_g_buffer(s->g);
		G_PUT(x, BUFFER, bytes, r->bytes);
		G_PUT(x, BUFFER, area, r->place);
		G_PUT(x, BUFFER, at, r->at);
		G_PUT(x, BUFFER, live, (struct g_range){ .lo = r->lo, .hi = r->hi });
	}
	for (size_t i = 0; i < p->n_kernels; i++) {
		const struct kernel *k = &p->kernel[i];
		struct g_op *op = s->info[k->op].op;
		for (; f < p->n_fetches && p->fetch[f].before == (int)i; f++) {
			const struct weight_slice *u = &p->slice[p->fetch[f].slice];
			struct g_step *x = graph_add_g_step(s->g);
			G_PUT(x, STEP, weights, u->w);
			G_PUT(x, STEP, node, op->node);
			if (u->w->slices.n)
				G_PUT(x, STEP, slice, u->index);
			if (p->fetch[f].lo || p->fetch[f].hi < slice_bytes(u))
				G_PUT(x, STEP, bytes, (struct g_range){
					.lo = p->fetch[f].lo, .hi = p->fetch[f].hi });
			G_PUT(x, STEP, buffer, buffer[p->fetch[f].slice]);
		}
		struct g_step *x = graph_add_g_step(s->g);
		G_PUT(x, STEP, op, op);
		/* an operation in stripes has a whole OFM, unless it was folded: then all rows
		 * are one stripe */
		if (p->stripe[k->op] && op->ofm.view == VIEW_WHOLE)
			G_PUT(x, STEP, rows, k->rows);
		const struct weight_slice *u = k->slice >= 0 ? &p->slice[k->slice] : NULL;
		if (u && u->w->slices.n)
			G_PUT(x, STEP, slice, u->index);
		if (u && u->held == FETCHED)
			G_PUT(x, STEP, buffer, buffer[k->slice]);
		if (u && u->held == SCALES_FETCHED)
			G_PUT(x, STEP, scale_buffer, buffer[k->slice]);
		for (int link = 1; link <= k->links; link++) {
			x = graph_add_g_step(s->g);
			G_PUT(x, STEP, op, s->info[k->op + link].op);
		}
	}
}

bool
apply_plan(struct sched *s)
{
	struct plan *p = s->plan;
	if (!set_blocks(s))
		return false;
	for (size_t i = 0; i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		if (!r->t || (!r->bytes && !r->fixed))
			continue;
		G_PUT(r->t, TENSOR, at, r->at);
		G_PUT(r->t, TENSOR, live, (struct g_range){ .lo = r->lo, .hi = r->hi });
		if (!r->over)
			continue;
		struct g_tensor **over = anew(s->a, struct g_tensor *, 1);
		*over = r->over;
		G_PUT(r->t, TENSOR, over, (struct g_tensors){ .v = over, .n = 1 });
	}
	for (int i = 0; i < s->n_ops; i++) {
		struct g_tensor *t = s->info[i].op->ofm.t;
		if (p->rolling[i])
			G_PUT(t, TENSOR, rows, p->rolling[i]);
	}
	drop_unused_copies(s);
	for (int i = 0; i < s->n_ops; i++) {
		struct g_weights *w = s->info[i].op->weights;
		if (w && p->cut_points[i].n)
			G_PUT(w, WEIGHTS, slices, p->cut_points[i]);
	}
	/* slices of one record are contiguous, in order */
	for (size_t i = 0; i < p->n_slices; i++) {
		struct g_weights *w = p->slice[i].w;
		size_t slices = w->slices.n ? w->slices.n - 1 : 1;
		if (p->slice[i].index == 0)
			G_PUT(w, WEIGHTS, bytes,
			      (struct g_list){ .v = anew(s->a, int64_t, slices) });
		w->bytes.v[p->slice[i].index] = slice_bytes(&p->slice[i]);
		w->bytes.n = slices;
		G_PUT(w, WEIGHTS, level, s->o->level);
	}
	set_codings(s);
	s->g->n_areas = 0;
	make_steps(s);
	/* arena and cache are those of the plan; each memory area of the application is as large as
	 * the last byte of its last tensor asks for */
	int64_t used[PLACES] = { 0 };
	bool has[PLACES] = { false };
	for (size_t i = 0; i < s->g->n_tensors; i++) {
		const struct g_tensor *t = s->g->tensors[i];
		if (!tensor_is_separate(t))
			continue;
		has[t->area] = true;
		used[t->area] = max_i64(used[t->area], t->at + tensor_bytes(t));
	}
	for (int place = PLACE_ARENA; place < PLACES; place++) {
		const bool is_packed = place < PLACE_IO;
		if (is_packed ? !p->peak[place] : !has[place])
			continue;
		struct g_area *a = graph_add_g_area(s->g);
		a->rec.word = place_names[place];
		G_PUT(a, AREA, region, place);
		G_PUT(a, AREA, used, is_packed ? p->peak[place] : used[place]);
		if (is_packed)
			G_PUT(a, AREA, bound, p->bound[place]);
	}
	s->g->stage = STAGE_SCHED; /* from here on graph_check() checks the schedule */
	return true;
}
