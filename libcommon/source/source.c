/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares streams with their graph: order of steps, transfers, and the model around the
 * streams.
 */
#include "source/parts.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "graph/graph.h"
#include "stream/op.h"
#include "target/accel.h"
#include "target/memory.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_WRONG = 4 }; /* a comparison ends after this many differing operations */

/* ---- transfers ------------------------------------------------------------------ */

/* Records the upload of a table.  It must be a whole table of the graph, to the begin of a slot. */
static void
take_table(struct source *x, const struct npu_op *d)
{
	int64_t to = d->dst.at - accel_lut_base(x->accel);
	int cores = (1 << x->accel->cores) - 1;
	for (size_t i = 0; i < x->g->n_luts; i++) {
		const struct g_lut *l = x->g->luts[i];
		int bytes = l->bits == 8 ? 256 : l->bits == 16 ? 2048 : 1024;
		if ((d->dst.region & cores) != cores ||
		    d->src.region != PLACE_FLASH || d->src_internal ||
		    d->src.at != l->at || d->src.n != bytes || to < 0 ||
		    to % 256 || to + d->src.n > LUT_BYTES || d->src_dims != 1 ||
		    d->dst_dims != 1)
			continue;
		for (int k = 0; k < d->src.n / 256; k++) {
			x->lut[to / 256 + k] = l;
			x->part[to / 256 + k] = k;
		}
		return;
	}
	source_error(x, "the transfer of %" PRId64 " bytes from 0x%" PRIx64
	      " loads none of the graph's tables",
	      d->src.n, (uint64_t)d->src.at);
}

static void
compare_fetch(struct source *x, const struct npu_op *d, const struct g_step *s)
{
	struct npu_range slice = source_slice(x->g, s->weights, s->slice);
	struct g_range part = { .lo = 0, .hi = slice.n };
	if (G_HAS(s, G_STEP_bytes))
		part = s->bytes;
	struct npu_range to = { .region = source_region(s->buffer->area, x->spilling),
				.at = s->buffer->at + part.lo, .n = part.hi - part.lo };
	if (d->src_internal || d->src_dims != 1 || d->dst_dims != 1 ||
	    d->src.region != PLACE_FLASH || d->src.at != slice.at + part.lo ||
	    d->src.n != to.n || d->dst.region != to.region || d->dst.at != to.at)
		source_error(x, "step p%d fetches %" PRId64 " bytes from 0x%" PRIx64 " to 0x%"
		      PRIx64 " of region %d; this transfer copies %" PRId64
		      " bytes from 0x%" PRIx64 " of region %d to 0x%" PRIx64
		      " of region %d", s->rec.id, to.n,
		      (uint64_t)(slice.at + part.lo), (uint64_t)to.at, to.region,
		      d->src.n, (uint64_t)d->src.at, d->src.region,
		      (uint64_t)d->dst.at, d->dst.region);
}

/* Compares a transfer that copies rows of a tensor, from the first byte to the last. */
static void
compare_copy(struct source *x, const struct npu_op *d, const struct g_step *s)
{
	const struct g_op *op = s->op;
	struct source_part p = source_part_of(s);
	struct hwc o = op->ofm.shape;
	/* with several bricks, all bricks are whole */
	int32_t c = op->ifm.t->layout == LAYOUT_NHCWB16 && o.c > BRICK
			? (int32_t)round_up_i64(o.c, BRICK) : o.c;
	int64_t last = source_address(&op->ifm, p.row + p.rows - 1, o.w - 1, c - 1);
	struct npu_range from = {
		.region = tensor_is_const(op->ifm.t) ? PLACE_FLASH
			  : source_region(op->ifm.t->area, x->spilling),
		.at = source_address(&op->ifm, p.row, 0, 0) };
	struct npu_range to = { .region = source_region(op->ofm.t->area, x->spilling),
				.at = source_address(&op->ofm, p.row, 0, 0) };
	from.n = last + graph_type_bytes(op->ifm.type) - from.at;
	if (!accel_is_wide(x->accel) &&
	    to.at + from.n == op->ofm.t->at + tensor_bytes(op->ofm.t))
		from.n = round_up_i64(from.n, 16);
	if (d->src_internal || d->src_dims != 1 || d->dst_dims != 1 ||
	    d->src.region != from.region || d->src.at != from.at ||
	    d->src.n != from.n || d->dst.region != to.region || d->dst.at != to.at)
		source_error(x, "step p%d copies %" PRId64 " bytes from 0x%" PRIx64 " of region "
		      "%d to 0x%" PRIx64 " of region %d; this transfer copies %" PRId64
		      " bytes from 0x%" PRIx64 " of region %d to 0x%" PRIx64
		      " of region %d", s->rec.id, from.n,
		      (uint64_t)from.at, from.region, (uint64_t)to.at, to.region,
		      d->src.n, (uint64_t)d->src.at, d->src.region,
		      (uint64_t)d->dst.at, d->dst.region);
}

static struct npu_range
start_of(const struct source *x, const struct g_operand *o)
{
	return (struct npu_range){
		.region = tensor_is_const(o->t) ? PLACE_FLASH
						: source_region(o->t->area, x->spilling),
		.at = source_address(o, 0, 0, 0) };
}

/* True if the strides of a transfer are those of a feature map's columns, and of its rows. */
static bool
steps_through(const struct g_operand *o, const struct npu_range *r, const int64_t step[2],
	      bool rows)
{
	return source_address(o, 0, 1, 0) - r->at == step[0] &&
	       (!rows || source_address(o, 1, 0, 0) - r->at == step[1]);
}

/*
 * Compares a transfer whose indices select columns: one dimension is for the columns, another
 * dimension for several rows.
 */
static void
compare_indexed(struct source *x, const struct npu_op *d, const struct g_step *s)
{
	const struct g_op *op = s->op;
	bool gather = op->kind == OP_GATHER, rows = op->ofm.shape.h > 1;
	struct npu_range from = start_of(x, &op->ifm), to = start_of(x, &op->ofm);
	struct npu_range at = start_of(x, &op->ifm2);
	int64_t column = (int64_t)op->ofm.shape.c * graph_type_bytes(op->ofm.type);
	bool same = d->src_indexed == gather && d->dst_indexed == !gather &&
		    d->src_dims == (rows ? 3 : 2) && !d->src_internal && !d->dst_internal &&
		    d->src.n == column && d->size0 == op->ifm2.shape.w &&
		    d->size1 == op->ifm2.shape.h &&
		    d->row_max == (gather ? op->ifm : op->ofm).shape.w - 1 &&
		    (!rows || d->row_skip == 0);
	if (!same || d->src.region != from.region || d->src.at != from.at ||
	    d->dst.region != to.region || d->dst.at != to.at ||
	    d->rows.region != at.region || d->rows.at != at.at ||
	    !steps_through(&op->ifm, &d->src, d->src_step, rows) ||
	    !steps_through(&op->ofm, &d->dst, d->dst_step, rows))
		source_error(x, "step p%d moves %d x %d columns of %" PRId64 " bytes by indices "
			     "at 0x%" PRIx64 " of region %d, from 0x%" PRIx64 " of region %d "
			     "to 0x%" PRIx64 " of region %d; this transfer differs",
			     s->rec.id, op->ifm2.shape.h,
			     op->ifm2.shape.w, column, (uint64_t)at.at, at.region,
			     (uint64_t)from.at, from.region, (uint64_t)to.at, to.region);
}

/* ---- one stream ------------------------------------------------------------------ */

/*
 * Returns the next kernel or transfer: of the current node, or of a node that continues its
 * stream without a branch.  NULL: none.
 */
static const struct g_step *
next_step(struct source *x)
{
	do {
		for (; x->step < x->g->n_steps; x->step++) {
			const struct g_step *s = x->g->steps[x->step];
			const struct g_node *n = s->op ? s->op->node : s->node;
			if (n == x->node && !s->lut)
				return s;
		}
	} while (source_continues(x));
	return NULL;
}

/* s and n - 1 steps after it are missing: one finding, as they have one cause */
static void
missing(struct source *x, const struct g_step *s, size_t n)
{
	char more[48] = "is missing";
	if (n > 1)
		(void)snprintf(more, sizeof(more), "and %zu more %s missing", n - 1,
			       n > 2 ? "steps are" : "step is");
	if (s->op)
		source_error(x, "step p%d, which runs o%d, %s", s->rec.id, s->op->rec.id, more);
	else
		source_error(x, "step p%d, which fetches w%d, %s", s->rec.id, s->weights->rec.id, more);
}

static void
take_operation(struct source *x, const struct npu_op *o)
{
	bool kernel = npu_is_kernel(o);
	if (o->kind == NPU_DMA && o->dst_internal) {
		take_table(x, o);
		return;
	}
	const struct g_step *first = next_step(x), *s = first;
	size_t n = 0;
	for (; s && (s->op && !op_is_transfer(s->op->kind)) != kernel; n++) {
		x->step++;
		s = next_step(x);
	}
	if (n)
		missing(x, first, n);
	if (!s) {
		source_error(x, "the graph has no step for this operation");
		return;
	}
	if (kernel)
		source_kernel(x, o, s);
	else if (!s->op)
		compare_fetch(x, o, s);
	else if (s->op->kind == OP_COPY)
		compare_copy(x, o, s);
	else
		compare_indexed(x, o, s);
	x->step++;
}

/* Reports steps that should have been before this point. */
static void
report_missing_steps(struct source *x)
{
	const struct g_step *first = x->wrong < MOST_WRONG ? next_step(x) : NULL;
	size_t n = 0;
	for (const struct g_step *s = first; s; s = next_step(x)) {
		x->step++;
		n++;
	}
	if (n)
		missing(x, first, n);
	x->wrong += n > 0;
}

static void
compare_stream(struct source *x)
{
	struct npu_walk w;
	struct npu_op o;
	struct err bad = { 0 };
	walk_init(&w, x->s);
	while (x->wrong < MOST_WRONG && walk_next(&w, &o, &bad)) {
		x->at = o.at;
		x->command = npu_op_name(&o);
		if (o.kind == NPU_STOP)
			break;
		x->differs = false;
		if (npu_is_kernel(&o) || o.kind == NPU_DMA) {
			take_operation(x, &o);
			x->loop.behind = o.at + 1;
		} else if (o.kind == NPU_BRANCH) {
			report_missing_steps(x);
			source_branch(x, &o);
		}
		x->wrong += x->differs;
	}
	if (bad.status)
		source_error(x, "%s", bad.text);
	report_missing_steps(x);
	source_end(x);
}

/* ---- the model around the streams ------------------------------------------------- */

static void
compare_place(struct source *x, const struct tfl_model *m, int tensor,
	      const struct g_tensor *t)
{
	struct stream_place own = stream_separate_place(m, tensor);
	bool apart = tensor_is_separate(t);
	int64_t have = apart ? own.at : tfl_planned_at(m, 0, tensor);
	int64_t want = G_HAS(t, G_TENSOR_at) ? t->at : apart ? 0 : -1;
	if (apart && own.region != t->area)
		source_error(x, "the graph has t%d in region %d, the file in another region", t->rec.id, t->area);
	if (have != want)
		source_error(x, "t%d is planned at 0x%" PRIx64
		      ", the graph has it at 0x%" PRIx64,
		      t->rec.id, (uint64_t)have, (uint64_t)want);
}

/* Compares n tensors v of the operator with a node's list.  Returns the number in the list. */
static int
compare_tensors(struct source *x, const struct tfl_model *m, const int *v, int n,
		const struct g_tensors *l)
{
	int k = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct g_tensor *t = l->v[i];
		/*
		 * The compiled file has one tensor for each tensor of the original model that t
		 * stands for; one in all if t is separate from the arena, or if the partitioner
		 * made t.
		 */
		int n_tensors = !t->tfl.n || tensor_is_separate(t) ? 1 : t->tfl.n;
		for (int j = 0; j < n_tensors; j++, k++) {
			if (k < n)
				compare_place(x, m, v[k], t);
			if (k < n && v[k] >= 0)
				source_tensor(x, &m->subgraph[0].tensor[v[k]], t, j);
		}
	}
	return k;
}

static void
compare_operator(struct source *x, const struct tfl_model *m, const struct g_blob *flash)
{
	const struct tfl_subgraph *sg = &m->subgraph[x->s->subgraph];
	const struct tfl_op *op = &sg->op[x->s->op];
	enum { SPECIAL = 4, FLASH = 1 };
	x->command = NULL;
	int first = SPECIAL + stream_io_regions(m);
	int in = compare_tensors(x, m, op->in + first, op->n_in - first, &x->node->in);
	int out = compare_tensors(x, m, op->out, op->n_out, &x->node->out);
	if (in != op->n_in - first || out != op->n_out)
		source_error(x, "the operator has %d inputs and %d outputs, node n%d has %d and %d",
		      op->n_in - first, op->n_out, x->node->rec.id, in, out);
	struct bytes have = sg->tensor[op->in[FLASH]].data;
	if (have.n != (size_t)flash->bytes || hash_xxh3(have.p, have.n) != flash->xxh3)
		source_error(x, "the constants differ from blob flash of the graph");
}

/* False for a node that has only aliases: the compiled file has no operator for it. */
static bool
has_ops(const struct graph *g, const struct g_node *n)
{
	for (size_t i = 0; i < g->n_ops; i++) {
		/* the first node of the stream that contains the nodes of a loop */
		const struct g_node *first = g->ops[i]->node;
		while (node_continues(first))
			first = g->nodes[first->rec.index - 1];
		if (first == n)
			return true;
	}
	return false;
}

/* Returns the k-th node of the NPU that has operations, from 0; NULL: none. */
static const struct g_node *
npu_node(const struct graph *g, int k)
{
	for (size_t i = 0; i < g->n_nodes; i++)
		if (g->nodes[i]->kind == NODE_NPU && has_ops(g, g->nodes[i]) &&
		    k-- == 0)
			return g->nodes[i];
	return NULL;
}

bool
stream_verify_source(const struct tfl_model *m, const struct npu_stream *s, int n,
		     struct graph *g, struct npu_verify *v, struct err *e)
{
	struct source x = { .out = v, .g = g, .s = s };
	struct memory_system memory;
	struct tfl_model *original = NULL;
	const struct g_blob *flash = graph_find_blob(g, "flash");
	if (!graph_target(g, &x.accel, &memory, e))
		return false;
	if (!flash)
		return err_at(e, g->file, 0, "the graph has no blob 'flash': run "
					     "npu-wenc on the graph first");
	if (graph_find_blob(g, "model") && !graph_model(g, &original, e))
		return false;
	x.original = original;
	x.spilling = memory.spilling;
	while (n && s[n - 1].subgraph > 0)
		n--; /* a body, which is no part of the graph */
	for (int i = 0; i < n; i++) {
		struct source y = x;
		y.s = &s[i];
		y.node = npu_node(g, i);
		if (!y.node)
			source_error(&y, "the graph has no node for this operator");
		else if (s[i].accel != x.accel)
			source_error(&y, "the stream is for %s, the graph for %s", s[i].accel->name,
			      x.accel->name);
		if (y.differs)
			continue;
		if (m)
			compare_operator(&y, m, flash);
		y.wrong = 0;
		compare_stream(&y);
	}
	if (n && npu_node(g, n)) {
		x.s = &s[n - 1];
		source_error(&x,
			"node n%d of the graph has no operator in the file",
			npu_node(g, n)->rec.id);
	}
	return true;
}

void
source_verify_digest(const struct tfl_model *m, const struct npu_stream *s,
		     uint64_t digest, struct npu_verify *v)
{
	struct source x = { .out = v, .s = s };
	if (digest && digest != source_digest(m))
		source_error(&x, "operators, tensors, constants or streams have changed since "
			     "npu-cmdgen wrote the file: the digest in the source map differs");
}
