/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emits kernels and transfers one after the other, with registers in the order of
 * ethosu-commands(7) 2.2.  This order has no meaning, but makes streams comparable.
 */
#include "emit/regs.h"

#include "graph/graph.h"
#include "stream/op.h"

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
emit_tiles(struct emitter *m, const struct fm_regs *r, const struct emit_fm *f)
{
	emit_reg(m, r->region, f->region);
	for (int i = 0; i < 4; i++)
		emit_reg1(m, r->base0 + (unsigned)i, f->base[i]);
	emit_reg(m, r->height0, f->h0 - 1);
	emit_reg(m, r->height1, f->h1 - 1);
	emit_reg(m, r->width0, f->w0 - 1);
}

void
emit_strides(struct emitter *m, const struct fm_regs *r, const struct emit_fm *f)
{
	emit_reg1(m, r->stride_c, f->stride.c);
	emit_reg1(m, r->stride_y, f->stride.y);
	emit_reg1(m, r->stride_x, f->stride.x);
}

void
emit_window(struct emitter *m, const struct g_op *op)
{
	struct yx k = op_dilated(op);
	int sx = op->stride.x - 1, sy = op->stride.y - 1;
	emit_reg(m, NPU_KERNEL_HEIGHT_M1, k.y - 1);
	emit_reg(m, NPU_KERNEL_WIDTH_M1, k.x - 1);
	emit_reg(m, NPU_KERNEL_STRIDE,
		 (sx & 1) | (sy & 1) << 1 | (op->traversal == PART_KERNEL) << 2 |
		     (op->dilation.x - 1) << 3 | (op->dilation.y - 1) << 4 |
		     (sx >> 1) << 6 | (sy >> 1) << 9);
}

bool
emit_find_piece(struct emitter *m, const struct g_step *s, int core,
		struct emit_piece *out)
{
	const struct g_weights *w = s->op->weights;
	const struct g_code *c = find_code(m, w, s->slice, core);
	const struct g_code *c0 = find_code(m, w, s->slice, 0);
	if (!c0)
		return graph_err(m->g, w, m->e, "w%d: slice %d is not encoded",
				 w->rec.id, s->slice);
	*out = (struct emit_piece){ .region = PLACE_FLASH, .scale_region = PLACE_FLASH };
	if (!c) /* the second core has no channels */
		return true;
	out->scales = c->scale_bytes;
	out->weights = c->weight_bytes;
	const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
	if (b) {
		int64_t move = b->at - c0->scale_bytes.at;
		out->scale_region = emit_region(m, b->area);
		out->scales.at += move;
	}
	if (s->buffer) {
		out->region = out->scale_region;
		out->weights.at += s->buffer->at - c0->scale_bytes.at;
	}
	return true;
}

enum npu_opcode
emit_opcode(const struct g_op *op, int *mode)
{
	static const int eltwise[OP_KINDS] = {
		[OP_MUL] = NPU_ELT_MUL, [OP_ADD] = NPU_ELT_ADD,
		[OP_SUB] = NPU_ELT_SUB, [OP_MIN] = NPU_ELT_MIN,
		[OP_MAX] = NPU_ELT_MAX, [OP_LRELU] = NPU_ELT_LRELU,
		[OP_ABS] = NPU_ELT_ABS, [OP_CLZ] = NPU_ELT_CLZ,
		[OP_SHR] = NPU_ELT_SHR, [OP_SHL] = NPU_ELT_SHL,
		[OP_DIV] = NPU_ELT85_DIV, [OP_EQUAL] = NPU_ELT85_EQ,
		[OP_UNEQUAL] = NPU_ELT85_NE, [OP_GREATER] = NPU_ELT85_GT,
		[OP_NOT_LESS] = NPU_ELT85_GE, [OP_AND] = NPU_ELT85_AND,
		[OP_OR] = NPU_ELT85_OR, [OP_AND_NOT] = NPU_ELT85_AND_NOT,
		[OP_XOR] = NPU_ELT85_XOR, [OP_LSR] = NPU_ELT85_LSR,
	};
	*mode = 0;
	switch (op->kind) {
	case OP_CONV: case OP_FC:
		return NPU_OP_CONV;
	case OP_DEPTHWISE:
		return NPU_OP_DEPTHWISE;
	case OP_MAXPOOL:
		*mode = NPU_POOL_MAX;
		return NPU_OP_POOL;
	case OP_AVGPOOL:
		*mode = NPU_POOL_AVERAGE;
		return NPU_OP_POOL;
	case OP_REDUCE_SUM:
		*mode = NPU_POOL_REDUCE_SUM;
		return NPU_OP_POOL;
	default:
		*mode = eltwise[op->kind];
		return NPU_OP_ELEMENTWISE;
	}
}

struct state {
	struct depend prev; /* the previous kernel */
	struct lut_slots tables;
	const struct g_op *lead; /* first operation of the current chain, or the previous
				  * kernel */
	int links;	/* length of this chain so far */
};

void
emit_pads(struct emitter *m, const struct emit_kernel *k)
{
	emit_reg(m, NPU_IFM_PAD_TOP, k->rows.pad_top);
	emit_reg(m, NPU_IFM_PAD_LEFT, k->op->pad.left);
	emit_reg(m, NPU_IFM_PAD_BOTTOM, k->rows.pad_bottom);
	emit_reg(m, NPU_IFM_PAD_RIGHT, k->op->pad.right);
}

static const struct writer {
	bool (*registers)(struct emitter *m, const struct emit_kernel *k);
	enum npu_opcode (*opcode)(const struct g_op *op, int *mode);
} writers[GENERATIONS] = {
	[GEN_U55] = { emit55_registers, emit_opcode },
	[GEN_U65] = { emit55_registers, emit_opcode },
	[GEN_U85] = { emit85_registers, emit85_opcode },
};

/*
 * Finds the kernel's position in a chain.  The first operation sets the block of the whole
 * chain (U85).
 */
static void
find_chain(struct emitter *m, struct state *st, struct emit_kernel *k)
{
	bool member = k->whole->chain != CHAIN_NONE;
	if (!member) {
		st->lead = k->whole;
		st->links = 0;
	}
	k->lead = st->lead;
	k->chain_in = member ? st->links - 1 : -1;
	k->chain_out = step_next_in_chain(m->g, k->step) ? st->links++ : -1;
}

/* Sets the addresses of the feature maps, and notes the accesses of those in memory. */
static void
find_feature_maps(struct emitter *m, struct emit_kernel *k, struct g_range rows)
{
	const struct g_op *op = k->whole;
	struct accesses *l = k->accesses;
	k->ifm = emit_feature_map(m, &k->op->ifm, k->rows.lo, k->rows.hi);
	k->ofm = emit_feature_map(m, &k->op->ofm, (int32_t)rows.lo, (int32_t)rows.hi);
	if (op->chain != CHAIN_IFM)
		access_fm(l, &k->ifm, false);
	if (k->chain_out < 0)
		access_fm(l, &k->ofm, true);
	if (!op->ifm2.t)
		return;
	bool one = op->ifm2.shape.h == 1;
	k->ifm2 = emit_feature_map(m, &op->ifm2, one ? 0 : k->rows.lo, one ? 1 : k->rows.hi);
	if (op->chain != CHAIN_IFM2)
		access_fm(l, &k->ifm2, false);
}

static int
choose_blockdep(struct emitter *m, const struct state *st, const struct emit_kernel *k,
		const struct depend *cur)
{
	if (k->chain_in >= 0 || k->chain_out >= 0)
		return 0;
	if (G_HAS(k->step, G_STEP_blockdep))
		return k->step->blockdep;
	return G_HAS(k->whole, G_OP_blockdep) ? k->whole->blockdep
					      : emit_blockdep(m->accel, &st->prev, cur);
}

static bool
emit_kernel(struct emitter *m, struct state *st, const struct g_step *s, int slot)
{
	const struct g_op *op = s->op;
	const struct writer *w = &writers[m->accel->generation];
	struct g_range rows = { .lo = 0, .hi = op->ofm.shape.h };
	struct emit_part p = emit_part(op, G_HAS(s, G_STEP_rows) ? s->rows : rows,
				       s->slice);
	struct g_op cut = *op;
	cut.ifm = p.ifm;
	cut.ofm = p.ofm;
	struct shram_layout layout;
	struct access list[MAX_ACCESSES];
	struct accesses l = { .v = list };
	struct emit_kernel k = { .op = &cut, .whole = op, .step = s, .slot = slot,
				 .layout = &layout, .accesses = &l };
	find_chain(m, st, &k);
	struct block_query q = op_block_query(k.lead, (int32_t)(p.rows.hi - p.rows.lo));
	if (!block_layout(m->accel, &q, op->block, &layout, NULL))
		return graph_err(m->g, op, m->e, "o%d: block %dx%dx%d does not fit",
				 op->rec.id, op->block.h, op->block.w, op->block.c);
	k.rows = emit_ifm_rows(op, p.rows);
	find_feature_maps(m, &k, p.rows);
	access_shram(&l, SHRAM_REGION, m->accel, op);
	if (!w->registers(m, &k))
		return false;
	struct depend cur = { .op = op, .rows = p.rows, .depth = p.depth,
			      .ifm_block = layout.ifm_block };
	emit_reg(m, NPU_BLOCKDEP, choose_blockdep(m, st, &k, &cur));
	emit_kernel_waits(m, &l, k.chain_in >= 0);
	int mode;
	enum npu_opcode code = w->opcode(op, &mode);
	emit_op(m, code, mode, s);
	st->prev = cur;
	return true;
}

static void
emit_table(struct emitter *m, const struct g_lut *l, int slot, const struct g_step *s)
{
	emit_transfer(m, PLACE_FLASH, l->at, SHRAM_REGION,
		      accel_lut_base(m->accel) + slot * LUT_SLOT_BYTES,
		      lut_bytes(l), true, s);
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

/*
 * Emits the node and the nodes that continue its stream.  At each border of a loop all
 * operations are finished.  No register value is assumed behind the border, because
 * execution reaches it from two places.
 */
static bool
emit_nodes(struct emitter *m, const struct g_node *n)
{
	struct emit_loop loop = { .again = 0 };
	if (!emit_steps(m, n))
		return false;
	for (size_t i = (size_t)n->rec.index + 1;
	     i < m->g->n_nodes && node_continues(m->g->nodes[i]); i++) {
		emit_border(m, &loop, m->g->nodes[i]->loop);
		if (!emit_steps(m, m->g->nodes[i]))
			return false;
	}
	return true;
}

/*
 * True if the next node, too, is a stream of the NPU: weights that this stream fetches for it must
 * be there when this stream ends.
 */
static bool
is_followed(const struct graph *g, const struct g_node *n)
{
	size_t next = (size_t)n->rec.index + 1;
	while (next < g->n_nodes && node_continues(g->nodes[next]))
		next++;
	return next < g->n_nodes && g->nodes[next]->kind == NODE_NPU;
}

bool
emit_node(struct arena *a, const struct graph *g, const struct g_node *n,
	  struct emit_words *out, struct err *e)
{
	struct emitter m = { .a = a, .g = g, .out = out, .e = e };
	*out = (struct emit_words){ .n = 0 };
	if (node_continues(n))
		return true;
	if (!graph_target(g, &m.accel, &m.memory, e))
		return false;
	if (accel_is_u65(m.accel))
		emit_reg(&m, NPU_PARALLEL_MODE, m.accel->cores - 1);
	/* the Linux driver wants the scale registers set before any pool, one that reads none,
	 * too: nputools-linux(7), RULES */
	if (graph_is_for_linux(g)) {
		emit_reg(&m, NPU_SCALE_REGION, 0);
		emit_reg1(&m, NPU_SCALE_BASE, 0);
		emit_reg1(&m, NPU_SCALE_LENGTH, 0);
	}
	m.scratch = arena_open();
	bool ok = emit_nodes(&m, n);
	arena_close(m.scratch);
	if (!ok)
		return false;
	if (m.hazards.n_dma && is_followed(g, n))
		emit_wait(&m, NPU_OP_DMA_WAIT, 0);
	emit_op(&m, NPU_OP_STOP, 0xffff, NULL);
	/* ethosu-commands(7) 1: a stream is shorter than 2^24 bytes */
	return out->n < (1u << 22) ||
	       graph_err(g, n, e, "n%d: a stream of %zu words is too long",
			 n->rec.id, out->n);
}
