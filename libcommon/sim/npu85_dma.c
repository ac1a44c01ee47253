/* SPDX-License-Identifier: Apache-2.0 */
/* DMA of U85: in steps, by an index, into the tables (ethosu-commands(7) 10). */
#include "sim/npu85.h"

#include "base/little_endian.h"

#include <string.h>

static bool
copy(struct npu_run *r, int64_t from, int64_t to)
{
	const struct npu_op *op = &r->op;
	int64_t n = op->src.n;
	struct npu_range src = { .region = op->src.region, .at = from, .n = n };
	struct npu_range dst = { .region = op->dst.region, .at = to, .n = n };
	const uint8_t *p = range_read(r, &src, "DMA source");
	if (!p || !npu_spend(r, (uint64_t)n + 16))
		return false;
	if (op->dst_internal) {
		if (to < 0 || n > LUT_BYTES || to > LUT_BYTES - n)
			return npu_fail(r, "bytes 0x%llx to 0x%llx are outside the "
					   "tables (rule 58)", (unsigned long long)to,
					(unsigned long long)(to + n));
		memcpy(r->table + to, p, (size_t)n);
		memset(r->table_valid + to, 1, (size_t)n);
		return true;
	}
	uint8_t *q = range_write(r, &dst, "DMA destination");
	return q && memmove(q, p, (size_t)n);
}

/* The row that transfer i of plane j selects. */
static bool
row_of(struct npu_run *r, int64_t i, int64_t j, int64_t *row)
{
	const struct npu_op *op = &r->op;
	struct npu_range at = { .region = op->rows.region, .n = 4,
				.at = op->rows.at + 4 * (i + op->size0 * j) +
				      op->row_skip * j };
	const uint8_t *p = range_read(r, &at, "index");
	if (!p)
		return false;
	*row = (int32_t)load_le32(p);
	return (*row >= 0 && *row <= op->row_max) ||
	       npu_fail(r, "index %lld, which the model computes, is outside 0 to %lld (rule 58): "
			"its values break a precondition of the graph",
			(long long)*row, (long long)op->row_max);
}

bool
npu85_run_dma(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (op->src_internal)
		return npu_fail(r, "the source is the tables (rule 58)");
	if (op->src_dims > 3)
		return npu_fail(r, "stride mode 3 is not defined (rule 8)");
	if (op->src_indexed && op->dst_indexed)
		return npu_fail(r, "both sides are indexed (rule 58)");
	for (int64_t j = 0; j < op->size1; j++)
		for (int64_t i = 0; i < op->size0; i++) {
			int64_t row = i;
			bool indexed = op->src_indexed || op->dst_indexed;
			if (indexed && !row_of(r, i, j, &row))
				return false;
			int64_t s = op->src_indexed ? row : i;
			int64_t d = op->dst_indexed ? row : i;
			if (!copy(r, op->src.at + s * op->src_step[0] +
					 j * op->src_step[1],
				  op->dst.at + d * op->dst_step[0] +
				      j * op->dst_step[1]))
				return false;
		}
	return true;
}
