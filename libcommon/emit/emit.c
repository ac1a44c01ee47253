/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emits kernels and transfers one after the other, with registers in the order of
 * ethosu-commands(7) 2.2.  This order has no meaning, but makes streams comparable.
 */
#include "emit/regs.h"

#include "graph/facts.h"
#include "graph/graph.h"
#include "target/blocks.h"

#include <string.h>

static bool
is_code_of(const struct g_code *c, const struct g_weights *w, int slice, int core)
{
	return c->weights == w && c->slice == slice && c->core == core;
}

const struct g_code *
emit_code(const struct graph *g, const struct g_weights *w, int slice, int core)
{
	for (size_t i = 0; i < g->n_codes; i++)
		if (is_code_of(g->codes[i], w, slice, core))
			return g->codes[i];
	return NULL;
}

/* As emit_code(), for a graph with many codes: lists the codes of each weights first. */
static const struct g_code *
find_code(struct emitter *m, const struct g_weights *w, int slice, int core)
{
	if (!m->first_code) {
		m->first_code = anew(m->a, size_t, m->g->n_weights + 1);
		m->next_code = anew(m->a, size_t, m->g->n_codes + 1);
		for (size_t i = m->g->n_codes; i-- > 0;) {
			size_t k = (size_t)m->g->codes[i]->weights->rec.index;
			m->next_code[i] = m->first_code[k];
			m->first_code[k] = i + 1;
		}
	}
	for (size_t i = m->first_code[w->rec.index]; i; i = m->next_code[i - 1])
		if (is_code_of(m->g->codes[i - 1], w, slice, core))
			return m->g->codes[i - 1];
	return NULL;
}

const struct fm_regs emit_ifm_regs = {
	NPU_IFM_REGION, NPU_IFM_BASE0, NPU_IFM_HEIGHT0_M1, NPU_IFM_HEIGHT1_M1,
	NPU_IFM_WIDTH0_M1, NPU_IFM_STRIDE_C, NPU_IFM_STRIDE_Y, NPU_IFM_STRIDE_X,
	NPU_IFM_ZERO_POINT,
};
const struct fm_regs emit_ifm2_regs = {
	NPU_IFM2_REGION, NPU_IFM2_BASE0, NPU_IFM2_HEIGHT0_M1,
	NPU_IFM2_HEIGHT1_M1, NPU_IFM2_WIDTH0_M1, NPU_IFM2_STRIDE_C,
	NPU_IFM2_STRIDE_Y, NPU_IFM2_STRIDE_X, NPU_IFM2_ZERO_POINT,
};
const struct fm_regs emit_ofm_regs = {
	NPU_OFM_REGION, NPU_OFM_BASE0, NPU_OFM_HEIGHT0_M1, NPU_OFM_HEIGHT1_M1,
	NPU_OFM_WIDTH0_M1, NPU_OFM_STRIDE_C, NPU_OFM_STRIDE_Y, NPU_OFM_STRIDE_X,
	NPU_OFM_ZERO_POINT,
};

void
emit_tiles(struct emitter *m, const struct fm_regs *r, const struct npu_fm *f)
{
	emit_reg(m, r->region, f->region);
	for (int i = 0; i < 4; i++)
		emit_reg1(m, r->base0 + (unsigned)i, f->base[i]);
	emit_reg(m, r->height0, f->h0 - 1);
	emit_reg(m, r->height1, f->h1 - 1);
	emit_reg(m, r->width0, f->w0 - 1);
}

void
emit_strides(struct emitter *m, const struct fm_regs *r, const struct npu_fm *f)
{
	emit_reg1(m, r->stride_c, f->stride_c);
	emit_reg1(m, r->stride_y, f->stride_y);
	emit_reg1(m, r->stride_x, f->stride_x);
}

void
emit_pads(struct emitter *m, const struct npu_op *r)
{
	emit_reg(m, NPU_IFM_PAD_TOP, r->pad_top);
	emit_reg(m, NPU_IFM_PAD_LEFT, r->pad_left);
	emit_reg(m, NPU_IFM_PAD_BOTTOM, r->pad_bottom);
	emit_reg(m, NPU_IFM_PAD_RIGHT, r->pad_right);
}

void
emit_window(struct emitter *m, const struct npu_op *r)
{
	int sx = r->stride_x - 1, sy = r->stride_y - 1;
	emit_reg(m, NPU_KERNEL_HEIGHT_M1, r->dilated_h - 1);
	emit_reg(m, NPU_KERNEL_WIDTH_M1, r->dilated_w - 1);
	emit_reg(m, NPU_KERNEL_STRIDE,
		 (sx & 1) | (sy & 1) << 1 | r->part_kernel << 2 | (r->dilation_x - 1) << 3 |
		     (r->dilation_y - 1) << 4 | (sx >> 1) << 6 | (sy >> 1) << 9);
}

void
emit_block(struct emitter *m, const struct npu_op *r)
{
	emit_reg(m, NPU_OFM_BLK_HEIGHT_M1, r->block.h - 1);
	emit_reg(m, NPU_OFM_BLK_WIDTH_M1, r->block.w - 1);
	emit_reg(m, NPU_OFM_BLK_DEPTH_M1, r->block.c - 1);
}

/*
 * Sets the streams of weights and scales: where each core or decoder reads the slice, in flash, or
 * in the buffer that the slice was fetched to.  On U85, all scales are beside the first stream.
 */
static bool
find_weights(struct emitter *m, const struct g_step *s, struct npu_op *r, struct accesses *l)
{
	const struct g_weights *w = s->op->weights;
	const int n = op_has_weights(s->op->kind) ? emit_streams(m->accel, s->op) : 0;
	for (int i = 0; i < n; i++) {
		const struct g_code *c = find_code(m, w, s->slice, i);
		const struct g_code *c0 = find_code(m, w, s->slice, 0);
		if (!c0)
			return graph_err(m->g, w, m->e, "w%d: slice %d is not encoded",
					 w->rec.id, s->slice);
		struct npu_range weights = { .region = PLACE_FLASH }, scales = weights;
		if (c) { /* otherwise, the second core has no channels */
			scales.at = c->scale_bytes.at;
			scales.n = c->scale_bytes.bytes;
			weights.at = c->weight_bytes.at;
			weights.n = c->weight_bytes.bytes;
			const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
			if (b) {
				scales.region = emit_region(&m->memory, b->area);
				scales.at += b->at - c0->scale_bytes.at;
			}
			if (s->buffer) {
				weights.region = scales.region;
				weights.at += s->buffer->at - c0->scale_bytes.at;
			}
		}
		r->weights[i] = weights;
		access_add(l, weights.region, weights.at, weights.at + weights.n, false);
		if (i >= m->accel->cores)
			continue;
		r->scales[i] = scales;
		access_add(l, scales.region, scales.at, scales.at + scales.n, false);
	}
	return true;
}

struct state {
	struct depend prev; /* the previous kernel */
	struct lut_slots tables;
	/* The first operation of the current chain, which sets the block of the chain (U85), or
	 * the previous kernel; its accumulators. */
	const struct g_op *lead;
	int acc_format;
	int links; /* length of this chain so far */
};

static void (*const write_registers[GENERATIONS])(struct emitter *m, const struct npu_op *r) = {
	[GEN_U55] = emit55_registers, [GEN_U65] = emit55_registers,
	[GEN_U85] = emit85_registers,
};

/* Puts a feature map into a chain buffer. */
static void
chain_to(struct npu_fm *f, int buffer)
{
	f->storage = NPU_CHAINED;
	f->region = f->chain = buffer;
	f->bricks = false;
}

/* Sets the address of a feature map in memory, and notes its bytes. */
static void
place(const struct emitter *m, struct npu_fm *f, const struct g_operand *o, int64_t lo, int64_t hi,
      bool write, struct accesses *l)
{
	if (!npu_fm_stored(f))
		return;
	const struct npu_fm at = emit_feature_map(&m->memory, o, (int32_t)lo, (int32_t)hi);
	access_fm(l, &at, write);
	memcpy(f->base, at.base, sizeof(f->base));
	f->h0 = at.h0;
	f->h1 = at.h1;
	f->w0 = at.w0;
	f->stride_y = at.stride_y;
	f->stride_x = at.stride_x;
	f->stride_c = at.stride_c;
}

static bool
emit_kernel(struct emitter *m, struct state *st, const struct g_step *s, int slot)
{
	const struct g_op *op = s->op;
	const struct g_range all = { .lo = 0, .hi = op->ofm.shape.h };
	const struct emit_part p = emit_part(op, G_HAS(s, G_STEP_rows) ? s->rows : all, s->slice);
	const char *fault = m->accel->generation == GEN_U85 ? emit85_fault(op) : NULL;
	struct access list[MAX_ACCESSES];
	struct accesses l = { .v = list };
	struct npu_op r;
	emit_record(m->accel, &m->memory, op, p.rows, p.depth, slot, &r);

	/* the kernel's position in a chain */
	bool chained = op->chain != CHAIN_NONE;
	if (!chained) {
		st->lead = op;
		st->acc_format = r.acc_format;
		st->links = 0;
	}
	r.acc_format = st->acc_format;
	if (r.ifm.storage == NPU_CHAINED)
		chain_to(&r.ifm, st->links - 1);
	if (r.ifm2.storage == NPU_CHAINED)
		chain_to(&r.ifm2, st->links - 1);
	if (step_next_in_chain(m->g, s)) {
		chain_to(&r.ofm, st->links++);
		chained = true;
	}

	const struct block_query q = op_block_query(st->lead, r.ofm.shape.h);
	struct shram_layout layout;
	if (!block_layout(m->accel, &q, op->block, &layout, NULL))
		return graph_err(m->g, op, m->e, "o%d: block %dx%dx%d does not fit", op->rec.id,
				 op->block.h, op->block.w, op->block.c);
	r.ublock = layout.ublock;
	r.ib_end = G_HAS(op, G_OP_ib) ? op->ib : layout.ib_end;
	r.ab_start = G_HAS(op, G_OP_ab) ? op->ab : layout.ab_start;
	if (op->ifm2.t)
		r.ib2_start = G_HAS(op, G_OP_ib2) ? op->ib2 : layout.ib2_start;
	if (fault)
		return graph_err(m->g, op, m->e, "o%d: %s", op->rec.id, fault);

	/* addresses; U85's record has the operands in their order */
	const struct emit_rows in = emit_ifm_rows(op, p.rows);
	const bool one = op->ifm2.shape.h == 1;
	const bool swapped = op_is_binary(op->kind) && op->reversed && !r.ifm2_first;
	place(m, swapped ? &r.ifm2 : &r.ifm, &p.ifm, in.lo, in.hi, false, &l);
	place(m, &r.ofm, &p.ofm, p.rows.lo, p.rows.hi, true, &l);
	if (op->ifm2.t)
		place(m, swapped ? &r.ifm : &r.ifm2, &op->ifm2, one ? 0 : in.lo,
		      one ? 1 : in.hi, false, &l);
	access_shram(&l, SHRAM_REGION, m->accel, op);
	if (!find_weights(m, s, &r, &l))
		return false;

	const struct depend cur = { .op = op, .rows = p.rows, .depth = p.depth,
				    .ifm_block = layout.ifm_block };
	if (!chained)
		r.blockdep = G_HAS(s, G_STEP_blockdep) ? s->blockdep
			     : G_HAS(op, G_OP_blockdep)
				 ? op->blockdep
				 : emit_blockdep(m->accel, &st->prev, &cur);
	write_registers[m->accel->generation](m, &r);
	emit_reg(m, NPU_BLOCKDEP, r.blockdep);
	emit_kernel_waits(m, &l, op->chain != CHAIN_NONE);
	emit_op(m, &r, s);
	st->prev = cur;
	return true;
}

static void
emit_table(struct emitter *m, const struct g_lut *l, int slot, const struct g_step *s)
{
	emit_transfer(m, PLACE_FLASH, l->at, SHRAM_REGION,
		      accel_lut_base(m->accel) + slot * LUT_SLOT_BYTES, lut_bytes(l), s);
}

static bool
emit_steps(struct emitter *m, const struct g_node *n)
{
	struct state st = { .tables = { .turn = 0 } };
	for (size_t i = 0; i < m->g->n_steps; i++) {
		const struct g_step *s = m->g->steps[i];
		if ((s->op ? s->op->node : s->node) != n)
			continue;
		if (s->weights && !emit_fetch(m, s))
			return false;
		if (s->lut) {
			emit_table(m, s->lut, s->slot, s);
			lut_slots_put(&st.tables, s->lut, s->slot);
		}
		if (!s->op)
			continue;
		if (op_is_transfer(s->op->kind)) {
			if (!emit_moved(m, s))
				return false;
			continue;
		}
		int slot;
		if (lut_slots_run(&st.tables, m->accel, s->op, &slot))
			emit_table(m, s->op->lut, slot, NULL);
		if (!emit_kernel(m, &st, s, slot))
			return false;
	}
	return true;
}

bool
emit_node(struct arena *a, const struct graph *g, const struct g_node *n,
	  struct emit_words *out, struct err *e)
{
	struct emitter m = { .a = a, .g = g, .out = out, .e = e };
	struct npu_op stop = { .kind = NPU_STOP, .param = 0xffff };
	*out = (struct emit_words){ .n = 0 };
	if (node_continues(n))
		return true;
	if (!graph_target(g, &m.accel, &m.memory, e))
		return false;
	if (accel_is_u65(m.accel))
		emit_reg(&m, NPU_PARALLEL_MODE, m.accel->cores - 1);
	/* the Linux driver wants the scale registers set before any pool, one that reads none,
	 * too (nputools-linux(7), RULES) */
	if (graph_is_for_linux(g)) {
		emit_reg(&m, NPU_SCALE_REGION, 0);
		emit_reg1(&m, NPU_SCALE_BASE, 0);
		emit_reg1(&m, NPU_SCALE_LENGTH, 0);
	}
	m.scratch = arena_open();
	/*
	 * the node and the nodes that continue its stream; at each border of a loop all operations
	 * are finished, and no register value is assumed behind the border, because execution
	 * reaches it from two places
	 */
	struct emit_loop loop = { .again = 0 };
	size_t next = (size_t)n->rec.index + 1;
	bool ok = emit_steps(&m, n);
	for (; ok && next < g->n_nodes && node_continues(g->nodes[next]); next++) {
		emit_border(&m, &loop, g->nodes[next]->loop);
		ok = emit_steps(&m, g->nodes[next]);
	}
	arena_close(m.scratch);
	if (!ok)
		return false;
	/*
	 * Weights that this stream fetches for the next node must be there when the stream ends, if
	 * that node, too, is a stream of the NPU.
	 */
	if (m.hazards.n_dma && next < g->n_nodes && g->nodes[next]->kind == NODE_NPU)
		emit_wait(&m, NPU_DMA_WAIT, 0);
	emit_op(&m, &stop, NULL);
	/* ethosu-commands(7) 1: a stream is shorter than 2^24 bytes */
	return out->n < (1u << 22) ||
	       graph_err(g, n, e, "n%d: a stream of %zu words is too long",
			 n->rec.id, out->n);
}
