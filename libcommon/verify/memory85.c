/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight streams and transfers of U85: rules 31, 32, 36, 37, 58 (ethosu-commands(7) 27,
 * 30).
 */
#include "verify/rules.h"

#include "stream/filters.h"

#include <inttypes.h>

/* ---- weights and scales --------------------------------------------------- */

void
check_streams85(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool filters = (op->kind == NPU_CONV && !op->weights_ifm2) ||
		       op->kind == NPU_DEPTHWISE;
	if (!op->ublock.c)
		return; /* rule 8 has reported it */
	if (!op->global_scale && op->kind != NPU_ELEMENTWISE && op->kind != NPU_RESIZE) {
		/* one record per channel */
		const struct npu_range *s = &op->scales[0];
		int32_t block = op->ublock.c > BRICK ? op->ublock.c : BRICK;
		int64_t records = (int64_t)(op->extent.c + block - 1) / block * block;
		ERROR_IF(s->n % 16, c, 31, "scales: length %" PRId64
			 " is no multiple of 16", s->n);
		ERROR_IF(s->n < (10 * records + 15) / 16 * 16 || s->n >= 1 << 20, c, 32,
			 "%" PRId64 " bytes of scales for %d channels of 10 bytes each, in "
			 "all below 2^20", s->n, op->extent.c);
		WARN_IF(s->at % 16, c, 31, "scales: address 0x%" PRIx64
			" is no multiple of 16", (uint64_t)s->at);
	}
	if (!filters)
		return;
	int n = npu_filter_streams(op, c->accel);
	int64_t unit = op->fast_weights ? WEIGHTS_FAST_ALIGN : 16;
	ERROR_IF(op->kind == NPU_DEPTHWISE &&
		 (op->fast_weights || op->sparse_weights), c, 32,
		 "depthwise weights cannot have the fast or the sparse format");
	for (int k = 0; k < NPU_MAX_STREAMS; k++) {
		const struct npu_range *w = &op->weights[k];
		ERROR_IF(w->n && (w->at % 16 || w->n % unit), c, 31,
			 "weights: address 0x%" PRIx64 " or length %" PRId64
			 " is no multiple of %" PRId64, (uint64_t)w->at, w->n,
			 unit);
		ERROR_IF((w->n > 0) != (k < n), c, 32,
			 "%s weights in stream %d, counted from 0; the operation has %d "
			 "streams", w->n ? "unexpected" : "missing", k, n);
	}
}

/* ---- DMA ------------------------------------------------------------------ */

void
check_dma85(struct checker *c)
{
	const struct npu_op *op = &c->op;
	ERROR_IF(op->src_dims > 3, c, 8, "stride mode 3 is not defined");
	if (op->src_indexed || op->dst_indexed) {
		ERROR_IF(op->src_indexed && op->dst_indexed, c, 58,
			 "source and destination are indexed, only one can be");
		ERROR_IF(op->rows.at % 4, c, 58, "index address 0x%" PRIx64
			 " is no multiple of 4", (uint64_t)op->rows.at);
		int64_t step = op->src_indexed ? op->src_step[0] : op->dst_step[0];
		ERROR_IF(step < op->src.n, c, 58, "rows of %" PRId64 " bytes overlap, their "
			 "stride is %" PRId64, op->src.n, step);
		(void)access_range(c, &op->rows, "index", false);
	}
	if (op->src_internal)
		ERROR(c, 37, "the transfer reads from the tables");
	else
		access_dma(c, 0, "DMA source");
	if (!op->dst_internal) {
		access_dma(c, 1, "DMA destination");
		return;
	}
	int64_t at = op->dst.at, n = op->dst.n;
	bool inside = at >= 0 && n >= 0 && n <= LUT_BYTES && at <= LUT_BYTES - n;
	ERROR_IF(at % 16 || n % 16, c, 36, "table address 0x%" PRIx64
		 " or length %" PRId64 " is no multiple of 16", (uint64_t)at, n);
	ERROR_IF(!inside, c, 37, "table address 0x%" PRIx64 " with %" PRId64
		 " bytes is outside the %d bytes of tables", (uint64_t)at, n, LUT_BYTES);
	ERROR_IF(npu_dma_is_stepped(op), c, 37, "the transfer to the tables has strides");
	for (int64_t i = at; inside && i < at + n; i++)
		c->table_valid[i] = true;
}
