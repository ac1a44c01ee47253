/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calibrated cost of a kernel.  npu-perf-accuracy(7) derives each term and compares
 * it with Arm's simulator of the NPU, an FPGA and a board.
 *
 * A kernel computes, writes results and uses its memories at the same time; the parts
 * that cannot overlap are added:
 *
 *   cycles = (compute^8 + memory^8)^(1/8) + last block's output + slow writes
 *	      + blocks in DRAM
 *
 * compute is the larger of the dot products and the output stage.  memory is the
 * largest of the cycles of each memory's port, of the weight channel, of the scale
 * channel and of the positions of an IFM in DRAM.  The eighth power models an imperfect overlap: where one term is much
 * larger, the result is that term; where both are equal, the result is 9 % more.
 */
#include "perf/cost.h"

#include "base/fixed.h"
#include "target/accel.h"
#include "target/blocks.h"

#include <math.h>

/* Fitted by least squares to the measurements of npu-perf-accuracy(7), then rounded. */
static const struct traits {
	int step_cycles;     /* extra cycles per step of weights */
	int depth_step;	     /* bytes of IFM depth that are multiplied at once */
	bool whole_groups;   /* the last group of kernel elements takes as long as a full one */
	int ifm_blocks_kept; /* IFM blocks that stay in the buffer for the next OFM block
			      * of the same rows and columns */
	int write_words;     /* outstanding writes, in words of the AXI port; 0: a tenth
			      * of the output buffer */
	int weight_words;    /* outstanding weight reads of a core, in words of the AXI
			      * port; 0: the accelerator's read_words */
} traits[GENERATIONS] = {
	[GEN_U55] = { .depth_step = 32, .whole_groups = true, .write_words = 26,
		      .weight_words = 70 },
	[GEN_U65] = { .depth_step = 32, .whole_groups = true, .write_words = 26,
		      .weight_words = 70 },
	[GEN_U85] = { .depth_step = 8, .step_cycles = 6, .ifm_blocks_kept = 4 },
};

enum { GROUP = 4 }; /* kernel elements per dot product */

/*
 * Cycles of a block with a feature map in DRAM, as a share of the read latency.
 * Measured on Ethos-U85: 23, 68 and 143 cycles at latencies of 250, 500 and 1000.
 */
static const double DRAM_BLOCK = 0.14;

/*
 * An extent cut into n[0] equal parts of extent[0] and n[1] (0 or 1) smaller part at
 * the end.
 */
struct parts {
	int32_t extent[2], n[2];
};

static struct parts
parts_of(int32_t all, int32_t part)
{
	struct parts p = { .extent = { part < all ? part : all } };
	p.n[0] = all / p.extent[0];
	p.extent[1] = all % p.extent[0];
	p.n[1] = p.extent[1] > 0;
	return p;
}

/* inputs of the dot-product estimate of one OFM block */
struct products {
	const struct perf_machine *m;
	const struct perf_op *op;
	const struct traits *t;
	int64_t uhw, uc;   /* microblocks of the block on one core: in the plane, in depth */
	double decoded;	   /* weights decoded per cycle; 0: no weights */
	struct hwc ublock;
};

/* cycles of one step: the products of n weights for each channel of a microblock */
static double
step_cycles(const struct products *k, double products, double weights)
{
	double decode = k->decoded > 0 ? k->ublock.c * weights / k->decoded : 0;
	return max_f64(products, decode) + k->t->step_cycles;
}

/*
 * Cycles for e kernel elements in groups, as depthwise and part-kernel-first traversal
 * take them.  per_element: cycles of products per element.
 */
static double
grouped_cycles(const struct products *k, int64_t e, int group, double per_element,
	       int depth)
{
	int64_t whole = e / group, rest = e % group;
	if (rest && k->t->whole_groups)
		rest = group;
	double all = (double)whole * step_cycles(k, per_element * group, depth * group);
	return rest ? all + step_cycles(k, per_element * (double)rest,
					depth * (double)rest)
		    : all;
}

/*
 * Cycles of the dot products of one sub-kernel of e elements over one block.  Weights
 * with 2:4 sparsity take as long as dense ones: MicroNet's first layer has such weights
 * on all Ethos-U85.
 */
static double
sub_kernel(void *ctx, int64_t e)
{
	enum { SLICE = 8 };
	const struct products *k = ctx;
	const struct perf_op *op = k->op;
	int bytes = op->ifm.bits / 8;
	double cycles, uhw = (double)k->uhw;
	if (op->class == BLOCK_POOL) {
		cycles = (double)(e * k->uhw) *
			 (k->m->accel->id == ACCEL_U55_32 ? 1 : bytes);
	} else if (op->class == BLOCK_DEPTHWISE) {
		cycles = grouped_cycles(k, e, GROUP, uhw * bytes, 1);
	} else if (op->class == BLOCK_CONV && op->part_kernel) {
		cycles = ceil_div(op->ifm.shape.c, SLICE) *
			 grouped_cycles(k, e, bytes < GROUP ? GROUP / bytes : 1,
					uhw * bytes, SLICE);
	} else { /* the IFM depth: whole IFM blocks, then the remainder */
		int step = k->t->depth_step;
		struct parts ic = parts_of(op->ifm.shape.c, op->ifm_block.c);
		double sum = 0;
		for (int i = 0; i < 2; i++) {
			int64_t depth = (int64_t)ic.extent[i] * bytes;
			double products =
			    (double)(((depth + step - 1) / step) * step / 8 * k->uhw);
			sum += ic.n[i] * step_cycles(k, products, ic.extent[i]);
		}
		cycles = (double)e * sum;
	}
	return cycles * (double)k->uc;
}

static double
dot_products(const struct perf_machine *m, const struct perf_op *op,
	     const struct perf_tiling *t)
{
	const struct accel *a = m->accel;
	struct products k = { .m = m, .op = op, .t = &traits[a->generation] };
	/* weights decoded per cycle: ethosu-timing(7) 2.5 and 26 */
	enum { DENSE = 8, RAW = 32, PALETTE = 64 };
	if (op->weight_bytes)
		k.decoded = !op->fast_weights ? DENSE * a->streams
			    : op->weight_bytes < perf_original_weights(op) ? PALETTE
									   : RAW;
	/* under an OFM of one row the microblock is rearranged as in ethosu-timing(7) 2.5 */
	k.ublock = a->generation == GEN_U85 ? op->ublock : a->ublock;
	bool weighted = op->class == BLOCK_CONV || op->class == BLOCK_FC ||
			op->class == BLOCK_DEPTHWISE;
	if (a->generation != GEN_U85 && k.ublock.h == 2 && weighted &&
	    op->ofm.shape.h == 1 && op->ofm.shape.w % 2 == 0 && op->kernel_h == 1) {
		k.ublock.h = 1;
		k.ublock.w = 4;
	}
	struct parts h = parts_of(op->ofm.shape.h, t->ofm.h);
	struct parts w = parts_of(op->ofm.shape.w, t->ofm.w);
	struct parts c = parts_of(op->ofm.shape.c, t->ofm.c);
	double sum = 0;
	for (int i = 0; i < 8; i++) {
		int y = i >> 2, x = i >> 1 & 1, z = i & 1;
		double n = (double)h.n[y] * w.n[x] * c.n[z];
		if (n <= 0)
			continue;
		k.uhw = (int64_t)ceil_div(h.extent[y], k.ublock.h) *
			ceil_div(w.extent[x], k.ublock.w);
		k.uc = ceil_div(ceil_div(c.extent[z], a->cores), k.ublock.c);
		sum += n * perf_sub_kernels(op, t, sub_kernel, &k);
	}
	return sum;
}

/* ---- traffic ------------------------------------------------------------------ */

/*
 * Returns the IFM rows (or columns) that n OFM blocks read along one axis.  `out` and
 * `in` are the extents of the OFM and the IFM; up: the upscale factor.
 */
static double
extent_read(int64_t out, int64_t n, int64_t stride, int64_t kernel, int64_t in, int up)
{
	int64_t inside = (out - n) * stride + n * kernel;
	int64_t padding = (out - 1) * stride + kernel - in * up;
	return (double)(inside - (padding > 0 ? padding : 0)) / up;
}

static void
count_reads(const struct traits *t, const struct perf_op *op,
	    const struct perf_tiling *n, struct perf_cost *c)
{
	int up = op->upscale == UPSCALE_NONE ? 1 : 2;
	int kernel_h = (op->kernel_h - 1) * op->dilation_y + 1;
	int kernel_w = (op->kernel_w - 1) * op->dilation_x + 1;
	double h = extent_read(op->ofm.shape.h, n->n.h, op->stride_y, kernel_h,
			 op->ifm.shape.h, up);
	double w = extent_read(op->ofm.shape.w, n->n.w, op->stride_x, kernel_w,
			 op->ifm.shape.w, up);
	/*
	 * A deep kernel reads its IFM once for every OFM block of the same rows and columns,
	 * except for the IFM blocks that stay in the buffer.
	 */
	double passes = 1;
	if (block_class_is_deep(op->class)) {
		int blocks = ceil_div(op->ifm.shape.c, op->ifm_block.c);
		int again = t->ifm_blocks_kept < blocks ? blocks - t->ifm_blocks_kept : 0;
		passes = 1 + (n->n.c - 1) * (double)again / blocks;
	}
	c->ifm_read = perf_whole_cycles(h * w * (double)stored_depth(&op->ifm) * passes);
	c->weight_passes = (int64_t)n->n.h * n->n.w;
}

/* ---- memories ------------------------------------------------------------------ */

/*
 * Returns bytes per cycle: at most `most`, and at most in_flight bytes in flight per
 * latency.
 */
static double
rate(double most, double in_flight, int latency)
{
	double r = latency > 0 ? in_flight / latency : most;
	return r < most ? r : most;
}

bool
perf_touches_dram(const struct perf_op *op)
{
	return op->ifm.area == MEM_DRAM || op->ofm.area == MEM_DRAM ||
	       (op->ifm2.bits && op->ifm2.area == MEM_DRAM);
}

static void
add_traffic(const struct perf_machine *m, enum mem_area area, double bytes,
	    struct perf_cost *c)
{
	c->memory[area] += bytes > 0 ? bytes / m->bytes_per_cycle[area] : 0;
}

/*
 * Returns the bytes of bandwidth that an elementwise operand in constant memory uses
 * up.  Each access shorter than a burst waits for the memory's latency.  Example: PReLU
 * slopes, which are read from flash once per pixel.
 */
static double
operand_bytes(const struct perf_machine *m, const struct perf_op *op,
	      const struct perf_fm *f, double bytes)
{
	const struct mem_props *p = &m->memory->mem[f->area];
	int64_t b = perf_access_bytes(f, false, op->ifm_block, m->accel->cores,
				      f->bits / 8);
	if (op->class != BLOCK_ELEMENTWISE || f->area != m->memory->const_area ||
	    f->area == m->memory->arena_area || b < 1 || b >= p->burst_bytes)
		return bytes;
	double wait = p->read_latency * m->bytes_per_cycle[f->area];
	return bytes / (double)b * (wait + (double)b);
}

/* Sets memory[] and port[] of *c; returns the cycles of the busiest port or channel. */
static double
memories(const struct perf_machine *m, const struct perf_op *op, struct perf_cost *c)
{
	double ifm = (double)(c->ifm_read * op->ifm.bits / 8);
	double ifm2 = (double)(c->ifm2_read * op->ifm2.bits / 8);
	double weights = (double)(op->weight_bytes * c->weight_passes);
	double scales = (double)(op->scale_bytes * c->weight_passes);
	add_traffic(m, op->ifm.area, operand_bytes(m, op, &op->ifm, ifm), c);
	if (ifm2 > 0)
		add_traffic(m, op->ifm2.area, operand_bytes(m, op, &op->ifm2, ifm2), c);
	for (int i = 0; i < op->chain.n_reads; i++) {
		const struct perf_fm *r = &op->chain.read[i];
		double n = (double)r->shape.h * r->shape.w *
			   (double)stored_depth(r);
		add_traffic(m, r->area, n * r->bits / 8, c);
	}
	add_traffic(m, op->ofm.area, (double)(c->ofm_write * op->ofm.bits / 8), c);
	add_traffic(m, op->weight_area, weights, c);
	add_traffic(m, op->scale_area, scales, c);
	double most = 0;
	/*
	 * a feature map in DRAM is read one position (x, y) after the other, however few channels
	 * a position has
	 */
	if (op->ifm.area == MEM_DRAM && op->class != BLOCK_ELEMENTWISE)
		most = (double)c->ifm_read / (double)stored_depth(&op->ifm);
	if (weights > 0) {
		int words = traits[m->accel->generation].weight_words;
		enum read_channel k = op->fast_weights ? READ_FAST_WEIGHTS : READ_WEIGHTS;
		double r = m->read_rate[op->weight_area][k];
		if (words)
			r = rate(m->bytes_per_cycle[op->weight_area],
				 (double)words * m->accel->axi_bytes * m->accel->cores,
				 m->memory->mem[op->weight_area].read_latency);
		most = max_f64(most, weights / r);
	}
	/*
	 * Ethos-U55 and U65 wait for each burst of scale records before the next one
	 * (ethosu-timing(7) 2.5, step 7)
	 */
	if (scales > 0) {
		double r = m->read_rate[op->scale_area][READ_SCALES];
		if (m->accel->generation != GEN_U85)
			r = rate(r, BIAS_BURST, m->memory->mem[op->scale_area].read_latency);
		most = max_f64(most, scales / r);
	}
	for (int i = 0; i < MEM_AREAS; i++)
		c->port[i] = c->memory[i];
	if (m->one_sram)
		c->port[MEM_SRAM] += c->memory[MEM_ON_CHIP_FLASH];
	for (int i = 0; i < MEM_AREAS; i++)
		most = max_f64(most, c->port[i]);
	return most;
}

/* ---- a kernel --------------------------------------------------------------------- */

/* (a^8 + b^8)^(1/8), by operations that give the same bits on every machine */
static double
overlapped(double a, double b)
{
	double most = max_f64(a, b);
	if (most <= 0)
		return 0;
	double r = (a < b ? a : b) / most;
	double r4 = r * r * r * r;
	return most * sqrt(sqrt(sqrt(1 + r4 * r4)));
}

void
perf_cost_calibrated(const struct perf_machine *m, const struct perf_op *op,
		     const struct perf_tiling *t, double element_cycles,
		     struct perf_cost *c)
{
	const struct traits *k = &traits[m->accel->generation];
	double output = element_cycles * (double)hwc_elements(op->ofm.shape);
	double compute = output, last = 0;
	if (op->class != BLOCK_ELEMENTWISE) {
		compute = max_f64(output, dot_products(m, op, t));
		last = output / (double)c->blocks;
		count_reads(k, op, t, c);
	}
	c->npu = perf_whole_cycles(compute + last);
	c->total = overlapped(compute, memories(m, op, c)) + last;
	/*
	 * Short writes to feature maps that are not in NHCWB16 wait for the memory's latency, and
	 * nothing overlaps with this wait.
	 */
	if (c->ofm_write && !op->ofm.nhcwb16) {
		enum { SHARE_OF_BUFFER = 10 };
		const struct accel *a = m->accel;
		double bytes = (double)(c->ofm_write * op->ofm.bits / 8);
		double port = m->bytes_per_cycle[op->ofm.area];
		double in_flight = k->write_words ? (double)k->write_words * a->axi_bytes
						  : (double)a->out_buffer / SHARE_OF_BUFFER;
		int latency = m->memory->mem[op->ofm.area].write_latency;
		c->total += bytes / rate(port, in_flight, latency) - bytes / port;
	}
	if (perf_touches_dram(op))
		c->total += DRAM_BLOCK * m->memory->mem[MEM_DRAM].read_latency *
			    (double)c->blocks;
}
