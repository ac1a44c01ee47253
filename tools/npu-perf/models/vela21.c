/* SPDX-License-Identifier: Apache-2.0 */
/* The passes of Vela 2.1's estimator, and their sums: ethosu-timing(7) 3.3. */
#include "vela21.h"

#include "base/fixed.h"

static const enum v21_cycles area_cycles[MEM_AREAS] = {
	[MEM_SRAM] = V21_SRAM, [MEM_DRAM] = V21_DRAM,
	[MEM_ON_CHIP_FLASH] = V21_ON_CHIP_FLASH,
	[MEM_OFF_CHIP_FLASH] = V21_OFF_CHIP_FLASH,
};

/* bytes that a pass reads of IFM and weights */
struct reads {
	double ifm, weights;
	bool has_rule; /* false: the class has no rule, and every input is read once */
};

static double
round_up_f64(double v, double step)
{
	int64_t n = (int64_t)v, s = (int64_t)step;
	return s > 1 ? (double)((n + s - 1) / s * s) : v;
}

/* the shape of the weights; that of pooling and reduce-sum is implied */
static struct v21_shape
weight_shape(const struct v21_pass *p)
{
	const struct v21_work *w = &p->work;
	if (p->weights)
		return p->weights->shape;
	if (w->class == BLOCK_REDUCE_SUM)
		return (struct v21_shape){ .h = 1, .w = 1,
					   .in = w->ifm->shape.c,
					   .out = w->ofm->shape.c };
	return (struct v21_shape){ .h = w->kernel_h, .w = w->kernel_w, .in = 1,
				   .out = w->ifm->shape.c };
}

static void
convolve(const struct perf_machine *m, const struct v21_pass *p,
	 struct reads *r, struct v21_metrics *x)
{
	const struct v21_work *w = &p->work;
	const struct v21_tensor *ifm = w->ifm;
	struct v21_shape k = weight_shape(p);
	struct v21_plane size = {
		.y = w->ifm->shape.h + p->padding_before.y + p->padding_after.y,
		.x = w->ifm->shape.w + p->padding_before.x + p->padding_after.x,
	};
	struct v21_plane clamped = {
		.y = min_i32(p->skirt_after.y,
			     SUBKERNEL_MAX - 1 - p->skirt_before.y),
		.x = min_i32(p->skirt_after.x,
			     SUBKERNEL_MAX - 1 - p->skirt_before.x),
	};
	struct v21_cover c = v21_blocks(size, p->skirt_before, p->skirt_after, clamped,
					(struct v21_plane){ w->block.h, w->block.w },
					p->min_block, p->stride, p->brick);
	bool shallow = w->class == BLOCK_DEPTHWISE || w->class == BLOCK_POOL;
	int32_t stored_out = p->weights ? p->weights->stored.out : 0;
	double stages = ceil_div(stored_out, w->block.c);
	double subs = (double)ceil_div(k.h, SUBKERNEL_MAX) *
		      ceil_div(k.w, SUBKERNEL_MAX);

	if (shallow)
		stages = 1; /* every channel is read once */
	r->has_rule = true;
	r->ifm = subs * ifm->shape.n * (double)c.area * ifm->stored.c * stages *
		 (ifm->bits / 8) * ifm->compression;
	if (p->weights)
		r->weights = (double)ifm->shape.n * v21_tensor_bytes(p->weights) *
			     (double)c.blocks;
	x->blocks = c.blocks * ceil_div(k.out, w->block.c);
	if (w->class != BLOCK_POOL)
		x->macs[V21_NN_MACS] = (double)w->ofm->shape.n *
				       w->ofm->shape.h * w->ofm->shape.w * k.h *
				       k.w * k.in * k.out;
	/* the array also multiplies the padding of blocks and steps */
	double channels = p->block_ifm_depth, area = (double)k.h * k.w;
	if (w->class == BLOCK_POOL || w->traversal == V21_PART_KERNEL ||
	    w->traversal == V21_DEPTHWISE) {
		channels = (double)ceil_div(p->block_ifm_depth, 4);
		/* four is the least duty cycle of accumulator writes */
		area = area > 4 ? area : 4;
		if (p->weights)
			area = round_up_f64(area, 4);
	}
	double sum = 0;
	for (int i = 0; i < 4; i++)
		sum += (double)ifm->shape.n * (double)c.group[i].n *
		       c.group[i].size.y * c.group[i].size.x *
		       round_up_f64(k.in, channels) *
		       round_up_f64(k.out, w->block.c) * area;
	x->macs[V21_HARDWARE_MACS] = sum;
	x->cycles[V21_NPU] = v21_mac_cycles(m->accel, w);
}

static void
fully_connect(const struct perf_machine *m, const struct v21_pass *p,
	      struct reads *r, struct v21_metrics *x)
{
	const struct v21_work *w = &p->work;
	struct v21_shape k = weight_shape(p);
	double macs = (double)w->ifm->shape.n *
		      round_up_f64(k.in, p->block_ifm_depth) *
		      round_up_f64(k.out, w->block.c);
	x->macs[V21_NN_MACS] = x->macs[V21_HARDWARE_MACS] = macs;
	x->cycles[V21_NPU] = v21_mac_cycles(m->accel, w);
	x->blocks = ceil_div(k.out, w->block.c);
	r->has_rule = true;
	r->ifm = v21_tensor_bytes(w->ifm);
	if (p->weights)
		r->weights = v21_tensor_bytes(p->weights) * p->non_zero;
}

static double
bytes_read(const struct v21_pass *p, const struct reads *r,
	   const struct v21_tensor *t)
{
	if (r->has_rule && t == p->work.ifm)
		return r->ifm;
	if (r->has_rule && t == p->weights)
		return r->weights;
	return v21_tensor_bytes(t);
}

static void
count_reads(const struct perf_machine *m, const struct v21_pass *p,
	    const struct reads *r, struct v21_metrics *x)
{
	for (int i = 0; i < p->to_fast.n; i++) {
		const struct v21_tensor *t = p->to_fast.tensor[i];
		double n = bytes_read(p, r, t);
		if (t->purpose == V21_FEATURE_MAP)
			n = v21_bandwidth(m->accel, (int)p->fast_area,
					  V21_READ, t, p->ifm_block, n);
		x->bytes[p->fast_area][t->purpose][V21_READ] += n;
	}
	for (int i = 0; i < p->inputs.n; i++) {
		const struct v21_tensor *t = p->inputs.tensor[i];
		bool is_counted = false; /* above */
		for (int k = 0; k < p->to_fast.n; k++)
			is_counted |= p->to_fast.tensor[k] == t;
		if (is_counted)
			continue;
		x->bytes[t->area][t->purpose][V21_READ] +=
		    v21_bandwidth(m->accel, t->area, V21_READ, t, p->ifm_block,
				  bytes_read(p, r, t));
	}
}

static void
count_writes(const struct perf_machine *m, const struct v21_pass *p,
	     const struct reads *r, struct v21_metrics *x)
{
	for (int i = 0; i < p->outputs.n; i++) {
		const struct v21_tensor *t = p->outputs.tensor[i];
		int area = p->outputs_to_fast ? (int)p->fast_area : t->area;
		x->bytes[area][t->purpose][V21_WRITE] +=
		    v21_bandwidth(m->accel, area, V21_WRITE, t, p->work.block,
				  v21_tensor_bytes(t));
	}
	for (int i = 0; i < p->intermediates.n; i++) {
		const struct v21_tensor *t = p->intermediates.tensor[i];
		double *n = x->bytes[t->area][t->purpose];
		n[V21_WRITE] += v21_tensor_bytes(t);
		n[V21_READ] += bytes_read(p, r, t);
	}
}

void
v21_pass_metrics(const struct perf_machine *m, const struct v21_pass *p,
		 struct v21_metrics *out)
{
	struct reads r = { 0 };
	*out = (struct v21_metrics){ 0 };
	if (p->placement == V21_MEMORY_ONLY || p->placement == V21_STARTUP)
		return;
	bool on_cpu = p->placement == V21_ON_CPU;
	const struct v21_tensor *o = p->work.ofm;
	if (on_cpu)
		out->cycles[V21_CPU] = p->cpu_cycles;
	else if (p->work.class == BLOCK_ELEMENTWISE)
		out->cycles[V21_NPU] = v21_output_cycles(
		    m->accel, &p->work,
		    (double)o->shape.n * o->shape.h * o->shape.w * o->shape.c,
		    false);
	else if (p->work.class == BLOCK_FC)
		fully_connect(m, p, &r, out);
	else
		convolve(m, p, &r, out);
	/* the first pass can't hide its transfers behind another pass */
	for (int i = 0; !on_cpu && !p->after_npu_pass && i < MEM_AREAS; i++)
		out->cycles[V21_NPU] += p->dma_bytes[i] / m->bytes_per_cycle[i];
	count_writes(m, p, &r, out);
	count_reads(m, p, &r, out);
	v21_summarise(m, out);
}

void
v21_summarise(const struct perf_machine *m, struct v21_metrics *x)
{
	for (int a = 0; a < MEM_AREAS; a++) {
		double sum = 0;
		for (int u = 0; u < V21_PURPOSES; u++)
			sum += x->bytes[a][u][V21_READ] +
			       x->bytes[a][u][V21_WRITE];
		x->cycles[area_cycles[a]] = sum / m->bytes_per_cycle[a];
	}
	x->cycles[V21_TOTAL] = 0;
	for (int i = 0; i < V21_TOTAL; i++)
		if (x->cycles[i] > x->cycles[V21_TOTAL])
			x->cycles[V21_TOTAL] = x->cycles[i];
}

