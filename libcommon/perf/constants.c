/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the constants that the streams of a model read, each byte once. */
#include "perf/perf.h"

#include "stream/op.h"

#include <assert.h>
#include <stdlib.h>

struct npu_range
perf_weight_source(const struct perf_run *run, const struct perf_row *row, int core)
{
	struct npu_range w = row->npu->weights[core];
	if (row->step.kind != PERF_KERNEL || !w.n)
		return (struct npu_range){ 0 };
	if (row->weight_dma >= 0) {
		const struct npu_op *dma = run->row[row->weight_dma].npu;
		w.at += dma->src.at - dma->dst.at;
		w.region = dma->src.region;
	}
	return w;
}

int64_t
perf_original_weights(const struct perf_op *op)
{
	int64_t area = (int64_t)op->kernel_h * op->kernel_w;
	if (op->class == BLOCK_DEPTHWISE)
		return area * op->ofm.shape.c;
	if (op->class == BLOCK_CONV || op->class == BLOCK_FC)
		return area * op->ifm.shape.c * op->ofm.shape.c;
	return 0;
}

struct weight_use {
	struct npu_range at;
	int64_t original; /* elements of all cores, counted with core 0; 0 for other cores */
};

static int
by_source(const void *a, const void *b)
{
	const struct weight_use *x = a, *y = b;
	if (x->at.region != y->at.region)
		return x->at.region - y->at.region;
	if (x->at.at != y->at.at)
		return x->at.at < y->at.at ? -1 : 1;
	return x->at.n < y->at.n ? -1 : x->at.n > y->at.n;
}

struct perf_weight_sum
perf_weights(struct arena *a, const struct perf_run *run, size_t n_runs)
{
	struct weight_use *use = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < n_runs; i++)
		for (size_t k = 0; k < NPU_MAX_STREAMS * run[i].n; k++) {
			const struct perf_row *r =
			    &run[i].row[k / NPU_MAX_STREAMS];
			int core = (int)(k % NPU_MAX_STREAMS);
			struct npu_range at =
			    perf_weight_source(&run[i], r, core);
			if (!at.n)
				continue;
			agrow(a, use, n, &cap);
			use[n++] = (struct weight_use){
				at, core ? 0 : perf_original_weights(&r->op)
			};
		}
	struct perf_weight_sum sum = { 0 };
	if (n)
		qsort(use, n, sizeof(*use), by_source);
	for (size_t i = 0; i < n; i++) {
		if (i && !by_source(&use[i], &use[i - 1]))
			continue;
		sum.encoded_bytes += use[i].at.n;
		sum.original += use[i].original;
	}
	return sum;
}

static int
by_start(const void *a, const void *b)
{
	const struct npu_range *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Lists the ranges of region 0 that one operation reads, at most 14 of them, in out. */
static size_t
constant_ranges(const struct npu_op *op, struct npu_range *out)
{
	size_t n = 0;
	if (op->kind == NPU_DMA) {
		out[0] = op->src;
		out[0].n *= op->src_dims > 1 ? 1 : op->size0 * op->size1;
		return op->src.region == 0 && !op->src_internal;
	}
	if (!npu_is_kernel(op))
		return 0;
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		if (op->weights[i].n && op->weights[i].region == 0)
			out[n++] = op->weights[i];
	for (int i = 0; i < 2; i++) {
		if (op->scales[i].n && op->scales[i].region == 0)
			out[n++] = op->scales[i];
	}
	const struct npu_fm *operands[] = { &op->ifm, &op->ifm2 };
	for (int i = 0; i < (op->has_ifm2 && !op->ifm2_scalar ? 2 : 1); i++) {
		struct npu_range tile[4];
		if (operands[i]->region != 0 || !npu_fm_stored(operands[i]))
			continue;
		npu_fm_extent(operands[i], npu_fm_box(operands[i]), tile);
		for (int t = 0; t < 4; t++)
			if (tile[t].n > 0)
				out[n++] = tile[t];
	}
	return n;
}

int64_t
perf_constants_read(struct arena *a, const struct perf_run *run, size_t n_runs)
{
	struct npu_range *all = NULL;
	size_t n = 0, cap = 0;
	for (size_t i = 0; i < n_runs; i++)
		for (size_t k = 0; k < run[i].n; k++) {
			struct npu_range some[14];
			size_t m = constant_ranges(run[i].row[k].npu, some);
			assert(m <= ARRAY_LEN(some));
			for (size_t j = 0; j < m; j++) {
				agrow(a, all, n, &cap);
				all[n++] = some[j];
			}
		}
	if (n)
		qsort(all, n, sizeof(*all), by_start);
	int64_t sum = 0, reached = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t end = all[i].at + all[i].n;
		int64_t from = all[i].at > reached ? all[i].at : reached;
		if (end > from)
			sum += end - from;
		if (end > reached)
			reached = end;
	}
	return sum;
}
