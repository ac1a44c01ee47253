/* SPDX-License-Identifier: Apache-2.0 */
/* Makes passes for Vela 2.1's estimator from a stream's operations. */
#include "layer.h"

#include "stream/op.h"
#include "target/accel.h"

#include <string.h>

static struct v21_tensor
fm_tensor(const struct perf_fm *f)
{
	struct hwc s = f->shape;
	struct v21_tensor t = {
		.shape = { .n = 1, .h = s.h, .w = s.w, .c = s.c },
		.bits = f->bits, .area = (int)f->area,
		.format = f->nhcwb16 ? V21_NHCWB16 : V21_NHWC,
		.avoid_nhcwb16 = !f->nhcwb16, .purpose = V21_FEATURE_MAP,
		.compression = 1,
		/* a stream has no scale values; two scales count as different */
		.has_scale = true,
	};
	t.stored = t.shape;
	t.stored.c = (int32_t)stored_depth(f);
	return t;
}

static void
list_add(struct v21_list *l, const struct v21_tensor *t)
{
	l->tensor[l->n++] = t;
}

/*
 * The skirt after the plane, as Vela 2.1 defines it: the padding that equal input and
 * output sizes would need, minus the part before.
 */
static int32_t
skirt_after(int32_t size, int32_t stride, int32_t kernel, int32_t before)
{
	int32_t total = (ceil_div(size, stride) - 1) * stride + kernel - size;
	return total > before ? total - before : 0;
}

/* Makes the pass that vela-2.1 would have made of op; t gets up to 4 tensors. */
static void
make_pass(const struct perf_machine *m, const struct perf_op *op,
	  struct v21_plane pad_before, struct v21_plane pad_after,
	  struct v21_tensor t[4], struct v21_pass *out)
{
	struct v21_tensor *ifm = &t[0], *ifm2 = &t[1], *w = &t[2], *ofm = &t[3];
	bool depthwise = op->class == BLOCK_DEPTHWISE;
	bool part_kernel = op->class == BLOCK_CONV && op->part_kernel;
	*ifm = fm_tensor(&op->ifm);
	*ofm = fm_tensor(&op->ofm);
	*out = (struct v21_pass){
		.placement = V21_ON_NPU,
		.work = { .class = op->class, .func = op->func,
			  .activation = op->activation, .ifm = ifm, .ofm = ofm,
			  .kernel_h = op->kernel_h, .kernel_w = op->kernel_w,
			  .traversal = depthwise     ? V21_DEPTHWISE
				       : part_kernel ? V21_PART_KERNEL
						     : V21_DEPTH_FIRST,
			  .block = op->block },
		.block_ifm_depth = op->ifm_block.c, .ifm_block = op->ifm_block,
		.min_block = { m->accel->ublock.h, m->accel->ublock.w },
		.stride = { op->stride_y, op->stride_x }, .brick = { 1, 1 },
		.padding_before = pad_before, .padding_after = pad_after,
		.skirt_before = pad_before,
		.skirt_after = {
			skirt_after(op->ifm.shape.h, op->stride_y,
				    (op->kernel_h - 1) * op->dilation_y + 1,
				    pad_before.y),
			skirt_after(op->ifm.shape.w, op->stride_x,
				    (op->kernel_w - 1) * op->dilation_x + 1,
				    pad_before.x),
		},
		.non_zero = 1, .fast_area = m->memory->cache_area,
	};
	list_add(&out->inputs, ifm);
	list_add(&out->outputs, ofm);
	if (op->ifm2.bits) {
		*ifm2 = fm_tensor(&op->ifm2);
		/* differs from the IFM's scale of 0, so that inputs are rescaled */
		ifm2->scale = 1;
		out->work.ifm2 = ifm2;
		list_add(&out->inputs, ifm2);
	}
	int64_t original = perf_original_weights(op);
	if (original) {
		/* encoded weights: one byte per element, times the compression */
		*w = (struct v21_tensor){
			.shape = { .n = 1, .h = op->kernel_h, .w = op->kernel_w,
				   .in = depthwise ? 1 : op->ifm.shape.c,
				   .out = op->ofm.shape.c },
			.bits = 8, .area = (int)op->weight_area, .format = V21_OPAQUE,
			.purpose = V21_WEIGHTS,
			.compression = (double)op->weight_bytes / (double)original,
		};
		w->stored = w->shape;
		out->weights = w;
		list_add(&out->inputs, w);
	}
}

static const enum v21_purpose purpose21[PERF_PURPOSES] = {
	[PERF_FEATURE_MAPS] = V21_FEATURE_MAP, [PERF_WEIGHTS] = V21_WEIGHTS,
	[PERF_SCALES] = V21_SCRATCH, [PERF_TABLES] = V21_LUT,
};

void
perf_vela21_layer(const struct perf_machine *m, const struct perf_layer *l,
		  const double dma[MEM_AREAS], bool first,
		  struct perf_estimate *e)
{
	struct v21_tensor t[4];
	struct v21_pass p;
	struct v21_metrics x;
	const struct npu_op *npu = l->first->npu;
	struct v21_plane before = { npu->pad_top, npu->pad_left };
	struct v21_plane after = { npu->pad_bottom, npu->pad_right };
	make_pass(m, &l->op, before, after, t, &p);
	p.after_npu_pass = !first;
	memcpy(p.dma_bytes, dma, sizeof(p.dma_bytes));
	v21_pass_metrics(m, &p, &x);
	e->npu = x.cycles[V21_NPU];
	e->total = x.cycles[V21_TOTAL];
	e->macs = x.macs[V21_NN_MACS];
	for (int a = 0; a < MEM_AREAS; a++) {
		e->memory[a] = x.cycles[V21_SRAM + a];
		for (int u = 0; u < PERF_PURPOSES; u++)
			for (int d = 0; d < PERF_DIRECTIONS; d++)
				e->bytes[a][u][d] = x.bytes[a][purpose21[u]][d];
	}
}
