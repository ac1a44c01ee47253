/* SPDX-License-Identifier: Apache-2.0 */
/* Estimates register command streams: ethosu-timing(7) 8. */
#include "perf/perf.h"

#include "stream/op.h"
#include "stream/stream.h"
#include "target/accel.h"

#include <string.h>

/*
 * Beyond this limit, sums of products would overflow int64_t; real hardware stays far
 * below.
 */
static const double COST_LIMIT = (double)((int64_t)1 << 60);

/* Computes in doubles, as the integer products could overflow. */
bool
perf_op_fits(const struct perf_op *op)
{
	double kernel = (double)op->kernel_h * op->kernel_w;
	double ofm = (double)op->ofm.shape.h * op->ofm.shape.w * op->ofm.shape.c;
	double ifm = (double)op->ifm.shape.h * op->ifm.shape.w * op->ifm.shape.c;
	double block = (double)op->ifm_block.h * op->ifm_block.w;
	double reads = block * (op->ifm.shape.c + 16.0) * (kernel + 64) * ofm * 64;
	double bytes = (double)(op->weight_bytes + op->scale_bytes) * ofm;
	return reads < COST_LIMIT && bytes < COST_LIMIT && ifm * 512 < COST_LIMIT;
}

static void
cost_kernel(const struct perf_machine *m, struct perf_row *r)
{
	perf_cost(m, &r->op, &r->cost);
	r->step.kind = PERF_KERNEL;
	r->step.cycles = r->cost.total;
	memcpy(r->step.memory, r->cost.memory, sizeof(r->step.memory));
	memcpy(r->step.port, r->cost.port, sizeof(r->step.port));
}

/*
 * Costs one operation; sets *used if the operation needs a row.  Fails for one that no hardware
 * executes: an empty IFM, or sizes whose costs exceed 2^60.
 */
static bool
cost_row(const struct perf_machine *m, struct perf_row *r, bool *used,
	 struct err *e)
{
	const struct npu_op *op = r->npu;
	*used = true;
	r->step.n = op->param;
	switch (op->kind) {
	case NPU_DMA: {
		double bytes = (double)op->src.n * op->size0 * op->size1;
		if (bytes > COST_LIMIT)
			return err_set(e, "word %zu: dma of %.0f bytes is too large for an estimate",
				       op->at, bytes);
		r->dma_bytes = (int64_t)bytes;
		r->dma_from = perf_region_area(m->memory, op->src.region);
		if (op->src_indexed || op->dst_indexed)
			r->dma_bytes = perf_indexed_bytes(m, (int64_t)op->size0 * op->size1,
							  op->src.n, r->dma_from);
		r->dma_to = perf_region_area(m->memory, op->dst.region);
		r->to_shram = op->dst_internal;
		r->step.kind = PERF_DMA;
		r->step.cycles = perf_dma_cycles(m, r->dma_bytes, r->dma_from, r->dma_to,
						 r->to_shram);
		perf_dma_memory(m, r->dma_bytes, r->dma_from, r->dma_to, r->to_shram,
				r->step.memory);
		memcpy(r->step.port, r->step.memory, sizeof(r->step.port));
		return true;
	}
	case NPU_DMA_WAIT:
		r->step.kind = PERF_DMA_WAIT;
		return true;
	case NPU_KERNEL_WAIT:
		r->step.kind = PERF_KERNEL_WAIT;
		return true;
	case NPU_OTHER:
	case NPU_BRANCH:
	case NPU_STOP:
		*used = false;
		return true;
	default:
		perf_describe(m, op, &r->op);
		if (r->op.ifm.shape.h < 1 || r->op.ifm.shape.w < 1 || r->op.ifm.shape.c < 1)
			return err_set(e, "word %zu: %s reads an empty IFM", op->at, npu_op_name(op));
		perf_op_set_blocks(&r->op, m->accel);
		if (!perf_op_fits(&r->op))
			return err_set(e, "word %zu: %s is too large for an estimate", op->at,
				       npu_op_name(op));
		cost_kernel(m, r);
		return true;
	}
}

/*
 * Joins a chained kernel to the kernel that began its chain.  Sets *used if the
 * operation is not chained and needs a row of its own.
 */
static bool
join_chain(const struct perf_machine *m, struct perf_run *run,
	   const struct perf_row *next, bool *used, struct err *e)
{
	const struct npu_op *op = next->npu;
	const bool *from = next->op.stage.from_chain;
	*used = next->step.kind != PERF_KERNEL || (!from[0] && !from[1]);
	if (*used)
		return true;
	size_t i = run->n;
	while (i && run->row[i - 1].step.kind != PERF_KERNEL)
		i--;
	if (!i || !perf_chain_add(m, &run->row[i - 1].op, &next->op))
		return err_set(e, "word %zu: %s is in no chain, or the chain is too long", op->at,
			       npu_op_name(op));
	cost_kernel(m, &run->row[i - 1]);
	/*
	 * The row moves to the end: a chain runs as one kernel when all of its operations have been
	 * issued, after the waits between them.
	 */
	const struct perf_row row = run->row[i - 1];
	memmove(&run->row[i - 1], &run->row[i], (run->n - i) * sizeof(row));
	run->row[run->n - 1] = row;
	return true;
}

static void
run_timelines(struct arena *a, const struct perf_machine *m, struct perf_run *run)
{
	struct perf_step *steps = anew(a, struct perf_step, run->n);
	for (size_t i = 0; i < run->n; i++)
		steps[i] = run->row[i].step;
	run->front_end_cycles = m->front_end_cycles;
	run->contention = perf_contention(m, steps, run->n);
	run->cycles = perf_timeline(m, steps, run->n);
	for (size_t i = 0; i < run->n; i++) {
		const struct perf_cost *c = &run->row[i].cost;
		run->row[i].step = steps[i];
		if (steps[i].kind != PERF_KERNEL)
			continue;
		double sram = c->memory[MEM_SRAM], npu = (double)c->npu;
		run->kernel_cycles += npu;
		run->sram_bound += npu > sram ? npu : sram;
	}
}

/*
 * Transfers that are searched for a kernel's weights.  A large cache is filled long
 * before use: MobileNetV2's last layer arrives in pieces from 100 transfers before it.
 */
enum { LOOK_BACK = 4096 };

/*
 * recent: ring of the last transfers of a stream.  part: the subset that fetched the
 * current kernel's weights.  Both have LOOK_BACK elements, or one per row of the stream
 * if that is fewer.
 */
struct history {
	ptrdiff_t *recent, *part;
	size_t n, n_parts;
};

/*
 * the smallest range that covers all cores' weights and scales, which are stored one
 * after another
 */
static struct npu_range
weight_span(const struct npu_op *op)
{
	struct npu_range all = op->weights[0];
	int64_t end = all.at + all.n;
	for (int i = 0; i < NPU_MAX_STREAMS + 2; i++) {
		const struct npu_range *r = i < NPU_MAX_STREAMS
						? &op->weights[i]
						: &op->scales[i - NPU_MAX_STREAMS];
		if (!r->n || r->region != all.region)
			continue;
		all.at = r->at < all.at ? r->at : all.at;
		end = r->at + r->n > end ? r->at + r->n : end;
	}
	all.n = end - all.at;
	return all;
}

/*
 * Finds the transfers that wrote a span, in one piece or in several.  Searches from the
 * newest transfer backwards, as older pieces have lower addresses, and takes each one
 * that writes bytes which no newer transfer wrote.  Returns false if no transfer wrote
 * the beginning of the weights.
 */
static bool
find_parts(struct history *h, const struct perf_run *run, struct npu_range span,
	   int64_t weights)
{
	int64_t lo = span.at + span.n;
	h->n_parts = 0;
	for (size_t k = 0; k < h->n && k < LOOK_BACK && lo > span.at; k++) {
		ptrdiff_t d = h->recent[(h->n - 1 - k) % LOOK_BACK];
		const struct npu_range *to = &run->row[d].npu->dst;
		if (to->region != span.region || to->at >= lo || to->at + to->n < lo)
			continue;
		h->part[h->n_parts++] = d;
		lo = to->at;
	}
	return lo <= weights;
}

/*
 * Marks the transfers found as weight transfers and adds their bytes to the kernel that
 * uses them.
 */
static void
take_parts(const struct history *h, struct perf_run *run, struct perf_row *kernel)
{
	for (size_t k = 0; k < h->n_parts; k++) {
		struct perf_row *dma = &run->row[h->part[k]];
		if (!dma->is_weights)
			kernel->fetched_bytes += dma->dma_bytes;
		dma->is_weights = true;
	}
}

/* Finds the transfers that fetched each kernel's weights, or only its scales. */
static void
join_weights(struct arena *a, struct perf_run *run)
{
	size_t most = run->n < LOOK_BACK ? run->n : LOOK_BACK;
	struct history h = { .recent = anew(a, ptrdiff_t, most),
			     .part = anew(a, ptrdiff_t, most) };
	for (size_t i = 0; i < run->n; i++) {
		struct perf_row *r = &run->row[i];
		r->weight_dma = -1;
		if (r->step.kind == PERF_DMA && !r->to_shram)
			h.recent[h.n++ % LOOK_BACK] = (ptrdiff_t)i;
		if (r->step.kind != PERF_KERNEL || !r->npu->weights[0].n)
			continue;
		int64_t weights = r->npu->weights[0].at;
		const struct npu_range *scales = &r->npu->scales[0];
		if (find_parts(&h, run, weight_span(r->npu), weights)) {
			for (size_t k = 0; k < h.n_parts; k++) {
				const struct npu_range *to = &run->row[h.part[k]].npu->dst;
				if (weights >= to->at && weights - to->at < to->n)
					r->weight_dma = h.part[k];
			}
			take_parts(&h, run, r);
		} else if (scales->region != r->npu->weights[0].region &&
			   find_parts(&h, run, *scales, scales->at)) {
			take_parts(&h, run, r);
		}
	}
}

/* Adds the next operation of a stream, if it takes time. */
static bool
add_row(struct arena *a, const struct perf_machine *m, struct perf_row *row,
	struct perf_run *run, size_t *cap, struct err *e)
{
	bool used;
	if (!cost_row(m, row, &used, e))
		return false;
	run->loops |= row->npu->kind == NPU_BRANCH &&
		      row->npu->target <= 4 * (int64_t)row->npu->at;
	if (used && !join_chain(m, run, row, &used, e))
		return false;
	if (!used)
		return true;
	agrow(a, run->row, run->n, cap);
	run->row[run->n++] = *row;
	return true;
}

bool
perf_records(struct arena *a, const struct perf_machine *m, const struct npu_op *op, size_t n,
	     struct perf_run *out, struct err *e)
{
	size_t cap = 0;
	*out = (struct perf_run){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct perf_row row = { .npu = &op[i] };
		if (!add_row(a, m, &row, out, &cap, e))
			return false;
	}
	join_weights(a, out);
	run_timelines(a, m, out);
	return true;
}

bool
perf_stream(struct arena *a, const struct perf_machine *m,
	    const struct npu_stream *s, struct perf_run *out, struct err *e)
{
	struct npu_walk walk;
	size_t cap = 0;
	*out = (struct perf_run){ 0 };
	walk_init(&walk, s);
	for (;;) {
		struct npu_op *op = anew(a, struct npu_op, 1);
		struct perf_row row = { .npu = op };
		if (!walk_next(&walk, op, e) || op->kind == NPU_STOP)
			break;
		if (!add_row(a, m, &row, out, &cap, e))
			return false;
	}
	if (e->status)
		return false;
	join_weights(a, out);
	run_timelines(a, m, out);
	return true;
}

struct perf_stall
perf_stall(const struct perf_run *run, size_t row)
{
	double end = 0;
	for (size_t i = row; i-- > 0;)
		if (run->row[i].step.kind == PERF_KERNEL) {
			end = run->row[i].step.end;
			break;
		}
	const double all = run->row[row].step.start - end;
	const double start = all < run->front_end_cycles ? all : run->front_end_cycles;
	return (struct perf_stall){ .transfers = all - start, .start = start };
}
