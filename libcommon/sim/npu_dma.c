/* SPDX-License-Identifier: Apache-2.0 */
/* DMA_START: copies between regions, tables into SHRAM (ethosu-commands(7) 10). */
#include "sim/npu.h"

#include "target/accel.h"

#include <string.h>

/* One side of a transfer, with its current position (ethosu-commands(7) 10). */
struct side {
	const struct npu_range *r;
	int dims;
	int64_t plane, at;
};

static void
next(const struct npu_op *op, struct side *s, int i)
{
	if (s->dims == 1) {
		s->at += s->r->n;
	} else if ((i + 1) % op->size0) {
		s->at += s->r->n + op->skip0;
	} else {
		s->plane += s->r->n * op->size0 + (s->dims == 3 ? op->skip1 : 0);
		s->at = s->plane;
	}
}

static bool
copy(struct npu_run *r, int64_t from, int64_t to, int64_t n)
{
	const struct npu_op *op = &r->op;
	struct npu_range src = { .region = op->src.region, .at = from, .n = n };
	struct npu_range dst = { .region = op->dst.region, .at = to, .n = n };
	const uint8_t *p = range_read(r, &src, "DMA source");
	if (!p || !npu_spend(r, (uint64_t)n + 16))
		return false;
	if (!op->dst_internal) {
		uint8_t *q = range_write(r, &dst, "DMA destination");
		return q && memmove(q, p, (size_t)n);
	}
	int32_t base = accel_lut_base(r->accel);
	int all = (1 << r->accel->cores) - 1;
	if (to < base || to + n > base + LUT_BYTES)
		return npu_fail(r, "SHRAM bytes 0x%llx to 0x%llx are outside the "
				   "tables at 0x%x (rule 37)",
				(unsigned long long)to,
				(unsigned long long)(to + n), base);
	if ((op->dst.region & all) != all)
		return npu_fail(r, "core mask %d doesn't cover all cores "
				   "(rule 37)", op->dst.region);
	int64_t at = to - base;
	memcpy(r->table + at, p, (size_t)n);
	memset(r->table_valid + at, 1, (size_t)n);
	return true;
}

bool
npu_run_dma(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct side src = { .r = &op->src, .dims = op->src_dims,
			    .plane = op->src.at, .at = op->src.at };
	struct side dst = { .r = &op->dst, .dims = op->dst_dims,
			    .plane = op->dst.at, .at = op->dst.at };
	if (op->src_internal)
		return npu_fail(r, "the source is SHRAM (rule 37)");
	if (op->src_dims > 3 || op->dst_dims > 3)
		return npu_fail(r, "stride mode 3 is not defined (rule 8)");
	int64_t count = (int64_t)op->size0 * op->size1;
	for (int64_t i = 0; op->src.n && i < count; i++) {
		if (!copy(r, src.at, dst.at, op->src.n))
			return false;
		next(op, &src, (int)(i % op->size0));
		next(op, &dst, (int)(i % op->size0));
	}
	return true;
}
