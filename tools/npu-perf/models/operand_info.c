/* SPDX-License-Identifier: Apache-2.0 */
/* Finds feature maps and scale records by their address. */
#include "operand_info.h"

#include "stream/op.h"

#include <string.h>

/* number of rows to search backwards for the kernel that wrote an operand */
enum { LOOK_BACK = 1024 };

/* bytes of a scale record: ethosu-weights(7) 4.1 */
enum { RECORD = 10 };

const struct perf_tensor *
perf_operand_holding(const struct perf_operand_info *operand_info, int region, int64_t at)
{
	for (size_t k = 0; k < operand_info->n_places; k++) {
		const struct perf_tensor *p = &operand_info->place[k];
		int64_t bytes = hwc_elements(p->shape) * p->bits / 8;
		if (p->region == region && at >= p->at && at - p->at < bytes)
			return p;
	}
	return NULL;
}

bool
perf_operand_at(const struct perf_operand_info *operand_info, const struct perf_run *run, size_t i,
	      int region, int64_t at, struct perf_tensor *out)
{
	for (size_t k = i; k-- > 0 && i - k <= LOOK_BACK;) {
		const struct npu_fm *f = &run->row[k].npu->ofm;
		if (run->row[k].step.kind != PERF_KERNEL || !npu_fm_stored(f) ||
		    f->region != region || f->base[0] != at)
			continue;
		*out = (struct perf_tensor){ .region = region, .at = at,
					    .shape = f->shape, .bits = f->bits };
		return true;
	}
	const struct perf_tensor *p = perf_operand_holding(operand_info, region, at);
	if (!p || p->at != at)
		return false;
	*out = *p;
	return true;
}

/* the scale records of a row, at their address in the model; n 0: unknown */
static struct bytes
records(const struct perf_operand_info *operand_info, const struct perf_run *run,
	const struct perf_row *r)
{
	struct npu_range s = r->npu->scales[0];
	const struct npu_op *dma =
	    r->weight_dma >= 0 ? run->row[r->weight_dma].npu : NULL;
	if (s.n && dma && s.region == dma->dst.region && s.at >= dma->dst.at &&
	    s.at - dma->dst.at <= dma->dst.n) {
		s.at += dma->src.at - dma->dst.at;
		s.region = dma->src.region;
	}
	if (s.n < 1 || s.region != 0 || s.at < 0 ||
	    (uint64_t)s.at > operand_info->constants.n ||
	    (uint64_t)s.n > operand_info->constants.n - (uint64_t)s.at)
		return (struct bytes){ .n = 0 };
	size_t used = (size_t)r->op.ofm.shape.c * RECORD, n = (size_t)s.n;
	return (struct bytes){ .p = operand_info->constants.p + s.at,
			       .n = used < n ? used : n };
}

bool
perf_same_channels(const struct perf_operand_info *operand_info, const struct perf_run *run,
			 const struct perf_row *a, const struct perf_row *b)
{
	struct bytes x = records(operand_info, run, a), y = records(operand_info, run, b);
	size_t n = x.n < y.n ? x.n : y.n;
	bool uniform = true; /* all records are equal */
	for (size_t i = RECORD; i + RECORD <= n && uniform; i += RECORD)
		uniform = !memcmp(x.p, x.p + i, RECORD);
	return n && !memcmp(x.p, y.p, n) && !uniform;
}
