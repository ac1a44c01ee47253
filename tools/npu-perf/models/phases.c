/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises the convolutions that are parts of one transposed convolution.  They read
 * the same feature map, scale their channels alike, and write pixels that fill one
 * feature map without gaps.
 */
#include "base/fixed.h"
#include "layer.h"
#include "stream/op.h"

enum { MAX_PHASES = 16 };

struct phase {
	int64_t base;
	int32_t h, w, c;
};

/*
 * True if b can be another phase of the transposed convolution that a starts: same IFM,
 * same strides of the OFM.
 */
static bool
may_be_phase(const struct npu_op *a, const struct npu_op *b)
{
	const struct npu_fm *x = &a->ofm, *y = &b->ofm;
	return b->kind == NPU_CONV && a->ifm.region == b->ifm.region &&
	       a->ifm.base[0] == b->ifm.base[0] &&
	       a->ifm.stride_y == b->ifm.stride_y && npu_fm_stored(y) &&
	       x->region == y->region && x->bricks == y->bricks &&
	       x->stride_y == y->stride_y && x->stride_x == y->stride_x &&
	       x->stride_c == y->stride_c && y->base[0] != x->base[0];
}

/*
 * Collects the convolutions from row i on that can be phases of one transposed
 * convolution. *end is the row after the last one.
 */
static int
collect(const struct perf_operand_info *operand_info, const struct perf_run *run, size_t i,
	struct phase all[MAX_PHASES], size_t *end)
{
	const struct perf_row *first = &run->row[i];
	int n = 0;
	for (; i < run->n && n < MAX_PHASES; i++) {
		const struct perf_row *r = &run->row[i];
		if (r->step.kind != PERF_KERNEL)
			continue;
		if (n && (!may_be_phase(first->npu, r->npu) ||
			  !perf_same_channels(operand_info, run, first, r)))
			break;
		struct perf_layer l = perf_layer_at(operand_info, run, i);
		all[n++] = (struct phase){ r->npu->ofm.base[0], r->op.ofm.shape.h,
					   r->op.ofm.shape.w, l.op.ofm.shape.c };
		*end = l.next;
		i = l.next - 1;
	}
	return n;
}

/*
 * Computes the extents of the feature map that n phases fill, n / columns rows of
 * phases. p->base, row and pixel are set.  Returns false if the phases do not write
 * each pixel exactly once.
 */
static bool
fill(struct perf_phases *p, const struct phase *all, int n, int columns)
{
	uint32_t seen = 0;
	for (int k = 0; k < n; k++) {
		int64_t d = all[k].base - p->base;
		int64_t y = d / p->row, x = d % p->row / p->pixel;
		if (d % p->row % p->pixel || x >= columns || y >= n / columns)
			return false;
		seen |= (uint32_t)1 << (y * columns + x);
		p->h += x ? 0 : all[k].h;
		p->w += y ? 0 : all[k].w;
	}
	return seen == ((uint32_t)1 << n) - 1;
}

struct perf_phases
perf_phases_at(const struct perf_operand_info *operand_info, const struct perf_run *run, size_t i)
{
	struct perf_phases none = { .end = 0 }, p = none;
	struct phase all[MAX_PHASES];
	const struct npu_fm *f = &run->row[i].npu->ofm;
	if (run->row[i].npu->kind != NPU_CONV || !npu_fm_stored(f))
		return none;
	int n = collect(operand_info, run, i, all, &p.end);
	int bytes = npu_fm_bytes(f);
	p.pixel = (int64_t)(f->bricks ? BRICK : all[0].c) * bytes;
	p.base = all[0].base;
	for (int k = 1; k < n; k++)
		p.base = all[k].base < p.base ? all[k].base : p.base;
	if (n < 2 || f->stride_x < p.pixel || f->stride_x % p.pixel)
		return none;
	int64_t columns = f->stride_x / p.pixel;
	if (columns > n || n % columns || f->stride_y % (n / columns))
		return none;
	p.row = f->stride_y / (n / columns);
	if (p.row < p.pixel || !fill(&p, all, n, (int)columns))
		return none;
	return f->bricks || p.row == p.w * p.pixel ? p : none;
}
