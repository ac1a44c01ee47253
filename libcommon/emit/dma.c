/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers: ethosu-commands(7) 10. */
#include "emit/regs.h"

#include "base/fixed.h"
#include "graph/facts.h"

static void
emit_dma(struct emitter *m, struct npu_op *r, const struct accesses *l, const struct g_step *s)
{
	enum { MODE = 9, INDEXED = 11 }; /* bits of the region registers */
	emit_reg(m, NPU_DMA0_SRC_REGION,
		 r->src.region | (r->src_dims - 1) << MODE | r->src_indexed << INDEXED);
	emit_reg1(m, NPU_DMA0_SRC, r->src.at);
	emit_reg(m, NPU_DMA0_DST_REGION,
		 r->dst_internal ? SHRAM_REGION : r->dst.region | r->dst_indexed << INDEXED);
	emit_reg1(m, NPU_DMA0_DST, r->dst.at);
	emit_reg1(m, NPU_DMA0_LEN, r->src.n);
	if (r->src_indexed || r->dst_indexed) {
		emit_reg(m, NPU_DMA0_SIZE0, r->size0);
		emit_reg1(m, NPU_DMA0_SRC_STRIDE0, r->src_step[0]);
		emit_reg1(m, NPU_DMA0_DST_STRIDE0, r->dst_step[0]);
		emit_reg(m, NPU_DMA0_IDX_REGION, r->rows.region);
		emit_reg1(m, NPU_DMA0_IDX, r->rows.at);
		emit_reg1(m, NPU_DMA0_IDX_MAX, r->row_max);
		if (r->src_dims >= 3) {
			emit_reg(m, NPU_DMA0_SIZE1, r->size1);
			emit_reg1(m, NPU_DMA0_SRC_STRIDE1, r->src_step[1]);
			emit_reg1(m, NPU_DMA0_DST_STRIDE1, r->dst_step[1]);
			emit_reg1(m, NPU_DMA0_IDX_SKIP1, r->row_skip);
		}
	}
	emit_dma_waits(m, l);
	emit_op(m, r, s);
}

void
emit_transfer(struct emitter *m, int from, int64_t src, int to, int64_t dst, int64_t bytes,
	      const struct g_step *s)
{
	struct access list[2];
	struct accesses l = { .v = list };
	struct npu_op r = { .kind = NPU_DMA, .src_dims = 1, .dst_dims = 1,
			    .size0 = 1, .size1 = 1, .dst_internal = to == SHRAM_REGION };
	r.src = (struct npu_range){ .region = from, .at = src, .n = bytes };
	r.dst = (struct npu_range){ .region = to & 7, .at = dst, .n = bytes };
	access_add(&l, from, src, src + bytes, false);
	access_add(&l, to, dst, dst + bytes, true);
	emit_dma(m, &r, &l, s);
}

bool
emit_fetch(struct emitter *m, const struct g_step *s)
{
	const struct g_code *first = emit_code(m->g, s->weights, s->slice, 0);
	const struct g_code *last = NULL;
	if (!first)
		return graph_err(m->g, s, m->e, "p%d: w%d slice %d is not encoded",
				 s->rec.id, s->weights->rec.id, s->slice);
	for (int k = m->accel->cores * m->accel->streams - 1; k > 0 && !last; k--)
		last = emit_code(m->g, s->weights, s->slice, k);
	if (!last)
		last = first;
	int64_t bytes = last->weight_bytes.at + last->weight_bytes.bytes -
			first->scale_bytes.at;
	struct g_range part = { .lo = 0, .hi = bytes };
	if (G_HAS(s, G_STEP_bytes))
		part = s->bytes;
	if (part.hi > s->buffer->bytes)
		return graph_err(m->g, s, m->e, "p%d: %lld bytes do not fit buffer "
				 "b%d of %lld", s->rec.id, (long long)part.hi,
				 s->buffer->rec.id, (long long)s->buffer->bytes);
	if (part.hi > bytes)
		return graph_err(m->g, s, m->e, "p%d: bytes=%lld:%lld of a slice of "
				 "%lld", s->rec.id, (long long)part.lo,
				 (long long)part.hi, (long long)bytes);
	emit_transfer(m, PLACE_FLASH, first->scale_bytes.at + part.lo,
		      emit_region(&m->memory, s->buffer->area), s->buffer->at + part.lo,
		      part.hi - part.lo, s);
	return true;
}

enum { UNIT = 16 }; /* bytes of a U55's transfers */

int64_t
emit_copied_bytes(const struct accel *a, int64_t bytes)
{
	return accel_is_wide(a) ? bytes : round_up_i64(bytes, UNIT);
}

static bool
emit_copy(struct emitter *m, const struct g_step *s)
{
	const struct g_op *op = s->op;
	struct g_range r = { .lo = 0, .hi = op->ofm.shape.h };
	if (G_HAS(s, G_STEP_rows))
		r = s->rows;
	struct npu_fm from = emit_feature_map(&m->memory, &op->ifm, (int32_t)r.lo, (int32_t)r.hi);
	struct npu_fm to = emit_feature_map(&m->memory, &op->ofm, (int32_t)r.lo, (int32_t)r.hi);
	struct g_range src[2], dst[2];
	(void)emit_extent(&from, src);
	(void)emit_extent(&to, dst);
	int64_t bytes = src[0].hi - src[0].lo;
	if (dst[0].hi == op->ofm.t->at + tensor_bytes(op->ofm.t))
		bytes = emit_copied_bytes(m->accel, bytes);
	if (!accel_is_wide(m->accel) &&
	    (src[0].lo % UNIT || dst[0].lo % UNIT || bytes % UNIT))
		return graph_err(m->g, s, m->e, "p%d: copies %lld bytes from 0x%llx to "
				 "0x%llx; %s moves multiples of 16", s->rec.id,
				 (long long)bytes, (unsigned long long)src[0].lo,
				 (unsigned long long)dst[0].lo, m->accel->name);
	emit_transfer(m, from.region, src[0].lo, to.region, dst[0].lo, bytes, s);
	return true;
}

bool
emit_moved(struct emitter *m, const struct g_step *s)
{
	const struct g_op *op = s->op;
	if (op->kind == OP_COPY)
		return emit_copy(m, s);
	/*
	 * Move the columns that IFM2 selects, of the IFM (gather) or of the OFM (scatter).  One
	 * row of the feature maps is a transfer of two dimensions, several rows are one of three.
	 */
	const bool gather = op->kind == OP_GATHER, rows = op->ofm.shape.h > 1;
	struct npu_fm from = emit_feature_map(&m->memory, &op->ifm, 0, op->ifm.shape.h);
	struct npu_fm to = emit_feature_map(&m->memory, &op->ofm, 0, op->ofm.shape.h);
	struct npu_fm at = emit_feature_map(&m->memory, &op->ifm2, 0, op->ifm2.shape.h);
	const int64_t bytes = (int64_t)op->ofm.shape.c * graph_type_bytes(op->ofm.type);
	struct access list[MAX_ACCESSES];
	struct accesses l = { .v = list };
	struct npu_op r = { .kind = NPU_DMA, .src_dims = rows ? 3 : 2, .dst_dims = rows ? 3 : 2,
			    .src_indexed = gather, .dst_indexed = !gather,
			    .size0 = op->ifm2.shape.w, .size1 = rows ? op->ifm2.shape.h : 1,
			    .row_max = (gather ? op->ifm : op->ofm).shape.w - 1 };
	r.src = (struct npu_range){ .region = from.region, .at = from.base[0], .n = bytes };
	r.dst = (struct npu_range){ .region = to.region, .at = to.base[0], .n = bytes };
	r.rows = (struct npu_range){ .region = at.region, .at = at.base[0],
				     .n = 4 * (int64_t)r.size0 * r.size1 };
	r.src_step[0] = from.stride_x;
	r.dst_step[0] = to.stride_x;
	r.src_step[1] = rows ? from.stride_y : 0;
	r.dst_step[1] = rows ? to.stride_y : 0;
	access_fm(&l, &from, false);
	access_fm(&l, &at, false);
	access_fm(&l, &to, true);
	emit_dma(m, &r, &l, s);
	return true;
}
