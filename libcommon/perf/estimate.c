/* SPDX-License-Identifier: Apache-2.0 */
/* The estimators over the operations of a stream. */
#include "perf/estimate.h"

#include "perf/cost.h"

#include <string.h>

static const char *const model_names[PERF_MODELS] = {
	[PERF_TIMELINE] = "timeline", [PERF_VELA_2_1] = "vela-2.1",
	[PERF_VELA_3_12] = "vela-3.12", [PERF_REGOR] = "regor",
};

const char *
perf_model_name(enum perf_model model)
{
	return model_names[model];
}

const char *
perf_model_names(void)
{
	return "timeline, vela-2.1, vela-3.12, regor";
}

bool
perf_model_find(const char *name, enum perf_model *out)
{
	for (int i = 0; i < PERF_MODELS; i++)
		if (!strcmp(model_names[i], name)) {
			*out = (enum perf_model)i;
			return true;
		}
	return false;
}

void
perf_estimate_add(struct perf_estimate *sum, const struct perf_estimate *e)
{
	sum->npu += e->npu;
	sum->total += e->total;
	sum->macs += e->macs;
	for (int i = 0; i < MEM_AREAS; i++) {
		sum->memory[i] += e->memory[i];
		for (int p = 0; p < PERF_PURPOSES; p++)
			for (int d = 0; d < PERF_DIRECTIONS; d++)
				sum->bytes[i][p][d] += e->bytes[i][p][d];
	}
}

/* ---- timeline --------------------------------------------------------------- */

static void
timeline_kernel(const struct perf_row *r, struct perf_estimate *e)
{
	const struct perf_op *op = &r->op;
	const struct perf_cost *c = &r->cost;
	e->npu = (double)c->npu;
	e->total = c->total;
	e->macs = (double)c->macs;
	for (int i = 0; i < MEM_AREAS; i++)
		e->memory[i] = c->memory[i];
	e->bytes[op->ifm.area][PERF_FEATURE_MAPS][PERF_READ] +=
	    (double)(c->ifm_read * op->ifm.bits / 8);
	e->bytes[op->ifm2.area][PERF_FEATURE_MAPS][PERF_READ] +=
	    (double)(c->ifm2_read * op->ifm2.bits / 8);
	e->bytes[op->ofm.area][PERF_FEATURE_MAPS][PERF_WRITE] +=
	    (double)(c->ofm_write * op->ofm.bits / 8);
	e->bytes[op->weight_area][PERF_WEIGHTS][PERF_READ] +=
	    (double)(op->weight_bytes * c->weight_passes);
	e->bytes[op->scale_area][PERF_SCALES][PERF_READ] +=
	    (double)op->scale_bytes;
}

static void
timeline_dma(const struct perf_machine *m, const struct perf_row *r,
	     struct perf_estimate *e)
{
	double n = (double)r->dma_bytes;
	enum perf_purpose p = r->is_weights ? PERF_WEIGHTS
			      : r->to_shram ? PERF_TABLES
					    : PERF_FEATURE_MAPS;
	e->total = r->step.cycles;
	e->bytes[r->dma_from][p][PERF_READ] += n;
	e->memory[r->dma_from] += n / m->bytes_per_cycle[r->dma_from];
	if (r->to_shram)
		return;
	e->bytes[r->dma_to][p][PERF_WRITE] += n;
	e->memory[r->dma_to] += n / m->bytes_per_cycle[r->dma_to];
}

/* ---- vela-2.1 ------------------------------------------------------------------ */

static struct v21_tensor
map_tensor(const struct perf_map *f)
{
	struct hwc s = f->shape;
	struct v21_tensor t = {
		.shape = { .n = 1, .h = s.h, .w = s.w, .c = s.c },
		.bits = f->bits, .area = (int)f->area,
		.format = f->nhcwb16 ? V21_NHCWB16 : V21_NHWC,
		.avoid_nhcwb16 = !f->nhcwb16, .purpose = V21_FEATURE_MAP,
		.compression = 1,
		/* that a stream has scales is all it says: never equal ones */
		.has_scale = true,
	};
	t.stored = t.shape;
	t.stored.c = (int32_t)stored_depth(f);
	return t;
}

/* encoded weights: elements of one byte, compressed */
static struct v21_tensor
weight_tensor(const struct perf_op *op)
{
	bool depthwise = op->class == BLOCK_DEPTHWISE;
	struct v21_tensor t = {
		.shape = { .n = 1, .h = op->kernel_h, .w = op->kernel_w,
			   .in = depthwise ? 1 : op->ifm.shape.c,
			   .out = op->ofm.shape.c },
		.bits = 8, .area = (int)op->weight_area, .format = V21_OPAQUE,
		.purpose = V21_WEIGHTS,
	};
	t.stored = t.shape;
	t.compression = (double)op->weight_bytes /
			(double)perf_original_weights(op);
	return t;
}

static void
list_add(struct v21_list *l, const struct v21_tensor *t)
{
	l->tensor[l->n++] = t;
}

static enum v21_traversal
traversal_of(const struct perf_op *op)
{
	if (op->class == BLOCK_DEPTHWISE)
		return V21_DEPTHWISE;
	if (op->class == BLOCK_CONV && op->part_kernel)
		return V21_PART_KERNEL;
	return V21_DEPTH_FIRST;
}

/*
 * What 2.1 calls the skirt behind the plane: the padding that equal input and
 * output sizes would need, less the part before.
 */
static int32_t
skirt_after(int32_t size, int32_t stride, int32_t kernel, int32_t before)
{
	int32_t total = (ceil_div(size, stride) - 1) * stride + kernel - size;
	return total > before ? total - before : 0;
}

void
perf_vela21_pass(const struct perf_machine *m, const struct perf_op *op,
		 struct v21_plane pad_before, struct v21_plane pad_after,
		 struct v21_tensor t[4], struct v21_pass *out)
{
	struct v21_tensor *ifm = &t[0], *ifm2 = &t[1], *w = &t[2], *ofm = &t[3];
	*ifm = map_tensor(&op->ifm);
	*ofm = map_tensor(&op->ofm);
	*out = (struct v21_pass){
		.placement = V21_ON_NPU,
		.work = { .class = op->class, .func = op->func,
			  .activation = op->activation, .ifm = ifm, .ofm = ofm,
			  .kernel_h = op->kernel_h, .kernel_w = op->kernel_w,
			  .traversal = traversal_of(op), .block = op->block },
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
		*ifm2 = map_tensor(&op->ifm2);
		ifm2->scale = 1; /* differs from the IFM's: rescaled */
		out->work.ifm2 = ifm2;
		list_add(&out->inputs, ifm2);
	}
	if (perf_original_weights(op)) {
		*w = weight_tensor(op);
		out->weights = w;
		list_add(&out->inputs, w);
	}
}

static const enum v21_purpose purpose21[PERF_PURPOSES] = {
	[PERF_FEATURE_MAPS] = V21_FEATURE_MAP, [PERF_WEIGHTS] = V21_WEIGHTS,
	[PERF_SCALES] = V21_SCRATCH, [PERF_TABLES] = V21_LUT,
};

/* dma: bytes of the transfers before it, by source; first: no kernel before */
static void
vela21_kernel(const struct perf_machine *m, const struct perf_row *r,
	      const double dma[MEM_AREAS], bool first, struct perf_estimate *e)
{
	struct v21_tensor t[4];
	struct v21_pass p;
	struct v21_metrics x;
	struct v21_plane before = { r->npu.pad_top, r->npu.pad_left };
	struct v21_plane after = { r->npu.pad_bottom, r->npu.pad_right };
	perf_vela21_pass(m, &r->op, before, after, t, &p);
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

/* ---- vela-3.12 and regor --------------------------------------------------------- */

/* transfers since the last kernel, and what the last one leaves to hide them */
struct history {
	bool any;	 /* a kernel came before */
	double slack;	 /* NPU cycles of the last kernel */
	double bytes[MEM_AREAS]; /* of all transfers, by source */
	double copy_cycles;	 /* of tables and copies */
	int64_t lut_bytes;
	enum mem_area lut_source;
};

static double
copy_cycles(const struct perf_machine *m, enum perf_model model,
	    const struct perf_row *dma)
{
	enum mem_area to = dma->to_shram ? dma->dma_from : dma->dma_to;
	return model == PERF_REGOR
		   ? perf_regor_copy(m, dma->dma_bytes, dma->dma_from, to)
		   : perf_vela312_copy(m, dma->dma_bytes, dma->dma_from, to);
}

static void
note_dma(const struct perf_machine *m, enum perf_model model,
	 const struct perf_row *r, struct history *h, struct perf_estimate *e)
{
	h->bytes[r->dma_from] += (double)r->dma_bytes;
	if (r->is_weights)
		return; /* belongs to the kernel that uses them */
	h->copy_cycles += copy_cycles(m, model, r);
	if (r->to_shram) {
		h->lut_bytes += r->dma_bytes;
		h->lut_source = r->dma_from;
		return;
	}
	double n = (double)r->dma_bytes;
	e->bytes[r->dma_from][PERF_FEATURE_MAPS][PERF_READ] += n;
	e->bytes[r->dma_to][PERF_FEATURE_MAPS][PERF_WRITE] += n;
}

static struct perf_schedule
schedule_of(const struct perf_machine *m, enum perf_model model,
	    const struct perf_run *run, const struct perf_row *r,
	    const struct history *h)
{
	struct perf_schedule s = {
		.original_weights = perf_original_weights(&r->op),
		.slack = h->slack, .lut_cycles = h->copy_cycles,
		.lut_bytes = h->lut_bytes, .lut_source = h->lut_source,
	};
	if (r->weight_dma < 0)
		return s;
	const struct perf_row *dma = &run->row[r->weight_dma];
	s.buffering = PERF_SINGLE_BUFFER;
	s.source = dma->dma_from;
	if (r->first_use) {
		s.full_cycles = s.first_cycles = copy_cycles(m, model, dma);
		s.moved_bytes = dma->dma_bytes;
	}
	return s;
}

/*
 * Regor knows of a fused ReLU that the stream's clamp doesn't show, because
 * its bounds are the type's: then the zero point is the type's least value.
 */
static struct perf_op
regor_op(const struct perf_row *r)
{
	const struct npu_fm *f = &r->npu.ofm;
	struct perf_op op = r->op;
	int32_t least = f->is_signed ? INT8_MIN : 0;
	if (op.activation == ACT_NONE && f->bits == 8 && f->zero == least &&
	    r->npu.kind != NPU_POOL)
		op.activation = ACT_RELU;
	return op;
}

static void
estimate_kernel(const struct perf_machine *m, enum perf_model model,
		const struct perf_run *run, const struct perf_row *r,
		struct history *h, struct perf_estimate *e)
{
	struct perf_schedule s = schedule_of(m, model, run, r, h);
	struct perf_op op = regor_op(r);
	if (model == PERF_TIMELINE)
		timeline_kernel(r, e);
	else if (model == PERF_VELA_2_1)
		vela21_kernel(m, r, h->bytes, !h->any, e);
	else if (model == PERF_VELA_3_12)
		perf_vela312(m, &r->op, &s, e);
	else
		perf_regor(m, &op, &s, e);
	double own = model == PERF_REGOR ? perf_regor_op(m, &op)
					 : (double)r->cost.npu;
	*h = (struct history){ .any = true, .slack = own };
}

struct perf_estimate
perf_estimate_run(const struct perf_machine *m, enum perf_model model,
		  const struct perf_run *run, struct perf_estimate *out)
{
	struct perf_estimate sum = { 0 };
	struct history h = { 0 };
	for (size_t i = 0; i < run->n; i++) {
		const struct perf_row *r = &run->row[i];
		out[i] = (struct perf_estimate){ 0 };
		if (r->step.kind == PERF_KERNEL)
			estimate_kernel(m, model, run, r, &h, &out[i]);
		else if (r->step.kind == PERF_DMA && model == PERF_TIMELINE)
			timeline_dma(m, r, &out[i]);
		else if (r->step.kind == PERF_DMA)
			note_dma(m, model, r, &h, &out[i]);
		perf_estimate_add(&sum, &out[i]);
	}
	if (model == PERF_TIMELINE)
		sum.total = run->cycles;
	return sum;
}
