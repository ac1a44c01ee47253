/* SPDX-License-Identifier: Apache-2.0 */
/* Joins slices of the OFM's depth to one layer. */
#include "layer.h"

#include "stream/op.h"

static bool
same_window(const struct npu_op *a, const struct npu_op *b)
{
	return a->kind == b->kind && a->kernel_h == b->kernel_h &&
	       a->kernel_w == b->kernel_w && a->stride_y == b->stride_y &&
	       a->stride_x == b->stride_x && a->dilation_y == b->dilation_y &&
	       a->dilation_x == b->dilation_x && a->upscale == b->upscale &&
	       a->pad_top == b->pad_top && a->pad_left == b->pad_left;
}

/* True if b follows a in depth, in the same stored feature map. */
static bool
follows_in_depth(const struct npu_fm *a, const struct npu_fm *b)
{
	int64_t step = a->bricks ? a->shape.c / BRICK * a->stride_c
				 : (int64_t)a->shape.c * npu_fm_bytes(a);
	return a->region == b->region && a->bricks == b->bricks &&
	       a->bits == b->bits && a->shape.h == b->shape.h &&
	       a->shape.w == b->shape.w && a->stride_y == b->stride_y &&
	       a->stride_c == b->stride_c && b->base[0] == a->base[0] + step;
}

static bool
same_feature_map(const struct npu_fm *a, const struct npu_fm *b)
{
	return a->region == b->region && hwc_equal(a->shape, b->shape) &&
	       a->base[0] == b->base[0] && a->stride_y == b->stride_y;
}

/* True if b is the next slice after a. */
static bool
continues(const struct perf_row *a, const struct perf_row *b)
{
	const struct npu_op *x = a->npu, *y = b->npu;
	if (a->weight_dma < 0 || b->weight_dma < 0 || !same_window(x, y) ||
	    !follows_in_depth(&x->ofm, &y->ofm))
		return false;
	if (x->kind == NPU_DEPTHWISE)
		return follows_in_depth(&x->ifm, &y->ifm);
	return x->kind == NPU_CONV && same_feature_map(&x->ifm, &y->ifm);
}

static void
add_slice(const struct perf_run *run, const struct perf_row *r,
	  struct perf_layer *l)
{
	if (l->slices++) {
		l->op.ofm.shape.c += r->op.ofm.shape.c;
		if (l->op.class == BLOCK_DEPTHWISE)
			l->op.ifm.shape.c += r->op.ifm.shape.c;
		l->op.weight_bytes += r->op.weight_bytes;
		l->op.scale_bytes += r->op.scale_bytes;
	}
	l->last = r;
	l->last_npu = (double)r->cost.npu;
	if (r->weight_dma < 0)
		return;
	l->buffered = true;
	l->source = run->row[r->weight_dma].dma_from;
	/* the row's constants in the cache */
	bool scales = r->npu->scales[0].region == r->npu->weights[0].region;
	l->staged_bytes += r->op.weight_bytes + (scales ? r->op.scale_bytes : 0);
	if (l->slices == 1)
		l->first_staged = l->staged_bytes;
	if (!r->fetched_bytes)
		return;
	l->moved_bytes += r->fetched_bytes;
	if (l->slices == 1)
		l->first_bytes = l->moved_bytes;
}

struct perf_layer
perf_layer_at(const struct perf_operand_info *operand_info, const struct perf_run *run, size_t i)
{
	enum { MAX_DEPTH = 1 << 16 };
	const struct perf_row *r = &run->row[i];
	struct perf_layer l = { .op = r->op, .first = r, .next = i + 1 };
	add_slice(run, r, &l);
	for (size_t k = i + 1; k < run->n; k++) {
		const struct perf_row *s = &run->row[k];
		if (s->step.kind != PERF_KERNEL)
			continue;
		/*
		 * Vela 5.1 writes an operation with a fused reversal of channels twice.  Both
		 * kernels compute the same bytes from the same inputs.
		 */
		const struct npu_op *a = r->npu, *b = s->npu;
		const struct npu_range *x = &a->weights[0], *y = &b->weights[0];
		bool again = x->n && x->n == y->n && x->at == y->at && same_window(a, b) &&
			     same_feature_map(&a->ifm, &b->ifm) &&
			     same_feature_map(&a->ofm, &b->ofm);
		if (!again && (!continues(r, s) || l.op.ofm.shape.c +
						   s->op.ofm.shape.c > MAX_DEPTH ||
			       perf_same_channels(operand_info, run, l.first, s)))
			break;
		if (!again)
			add_slice(run, s, &l);
		l.next = k + 1;
		r = s;
	}
	return l;
}
