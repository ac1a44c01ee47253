/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of one operation by the published formulas: ethosu-timing(7) 2.2 to 2.7,
 * with the memory accounting of ethosu-timing(7) 8.
 */
#include "perf/cost.h"

#include "target/accel.h"
#include "target/blocks.h"

#include <math.h>

void
perf_op_set_blocks(struct perf_op *op, const struct accel *a)
{
	bool larger = hwc_elements(op->ifm2.shape) > hwc_elements(op->ifm.shape);
	struct block_query q = {
		.class = op->class, .ifm = (larger ? op->ifm2 : op->ifm).shape,
		.ofm = op->ofm.shape, .ifm_bits = op->ifm.bits,
		.kernel_h = (op->kernel_h - 1) * op->dilation_y + 1,
		.kernel_w = (op->kernel_w - 1) * op->dilation_x + 1,
		.stride_y = op->stride_y, .stride_x = op->stride_x,
		.upscale = op->upscale, .part_kernel = op->part_kernel,
		.ublock = op->ublock, .sparse = op->sparse_weights,
	};
	op->ublock = block_ublock(a, &q);
	op->ifm_block = block_ifm(a, &q, op->block);
}

int64_t
perf_access_bytes(const struct perf_fm *f, bool write, struct hwc b, int cores,
		  int64_t pixel_bytes)
{
	int64_t bits = f->bits;
	if (f->nhcwb16) {
		if (BRICK * f->shape.w * bits / 8 == b.c)
			return bits * b.c * b.w / 8;
		return BRICK * bits * b.w * (write ? cores : 1) / 8;
	}
	bool whole = pixel_bytes == b.c && (!write || b.c <= BRICK);
	if (whole)
		return bits * b.c * b.w / 8;
	if (!write)
		return bits * b.c / 8;
	int64_t burst = BRICK * bits * cores / 8, row = b.c * bits / 8;
	return burst < row ? (burst < 64 ? burst : 64) : (row < 64 ? row : 64);
}

double
perf_burst(const struct perf_machine *m, const struct perf_fm *f, bool write,
	   struct hwc block, double bytes)
{
	int burst = m->memory->mem[f->area].burst_bytes;
	/* compares the stride of an element with the block's depth, as Vela 3.12 does */
	int64_t b = perf_access_bytes(f, write, block,
				      m->accel->cores * m->accel->streams,
				      f->bits / 8);
	return b >= burst || b < 1 ? bytes : bytes * burst / (double)b;
}

/* column of the output-cycle table, ethosu-timing(7) 2.4 */
static enum out_column
output_column(const struct perf_op *op)
{
	if (op->class == BLOCK_ELEMENTWISE && op->ifm.bits == 32)
		return op->ifm2.bits ? OUT_ELTWISE32_0 : OUT_ELTWISE32_1;
	if (op->func == PERF_MUL)
		return op->ofm.bits == 32 ? OUT_MUL32 : OUT_MUL_OR_ACC40;
	if (op->class != BLOCK_ELEMENTWISE && op->acc40)
		return OUT_MUL_OR_ACC40;
	if (op->func == PERF_ADD_SUB)
		return OUT_ADD_ADVANCED;
	return op->func == PERF_MAXPOOL ? OUT_MAXPOOL : OUT_OTHER;
}

struct block_memory
perf_block_memory(const struct perf_machine *m, const struct perf_op *op)
{
	const struct mem_props *in = &m->memory->mem[op->ifm.area];
	const struct mem_props *out = &m->memory->mem[op->ofm.area];
	int64_t read = hwc_elements(clipped(op->ifm_block, op->ifm.shape));
	int64_t write = hwc_elements(clipped(op->block, op->ofm.shape));
	double in_bytes =
	    perf_burst(m, &op->ifm, false, op->ifm_block, (double)read);
	double out_bytes =
	    perf_burst(m, &op->ofm, true, op->block, (double)write);
	return (struct block_memory){
		.ifm = in->read_latency + in_bytes / m->bytes_per_cycle[op->ifm.area],
		.ofm = out->write_latency + out_bytes / m->bytes_per_cycle[op->ofm.area],
	};
}

struct perf_tiling
perf_tiling_of(const struct perf_op *op)
{
	struct perf_tiling t = { .ifm = clipped(op->ifm_block, op->ifm.shape),
			    .ofm = clipped(op->block, op->ofm.shape) };
	t.n = (struct hwc){ .h = ceil_div(op->ofm.shape.h, t.ofm.h),
			    .w = ceil_div(op->ofm.shape.w, t.ofm.w),
			    .c = ceil_div(op->ofm.shape.c, t.ofm.c) };
	t.sub_kernels_y = ceil_div(op->kernel_h, SUBKERNEL_MAX);
	t.sub_kernels_x = ceil_div(op->kernel_w, SUBKERNEL_MAX);
	return t;
}

double
perf_sub_kernels(const struct perf_op *op, const struct perf_tiling *t,
		 double (*cycles)(void *ctx, int64_t e), void *ctx)
{
	int last_h = op->kernel_h - (t->sub_kernels_y - 1) * SUBKERNEL_MAX;
	int last_w = op->kernel_w - (t->sub_kernels_x - 1) * SUBKERNEL_MAX;
	double sum = 0;
	for (int y = 0; y < 2; y++) {
		int64_t ny = y ? 1 : t->sub_kernels_y - 1;
		int64_t h = y ? last_h : SUBKERNEL_MAX;
		for (int x = 0; ny && x < 2; x++) {
			int64_t nx = x ? 1 : t->sub_kernels_x - 1;
			int64_t w = x ? last_w : SUBKERNEL_MAX;
			if (nx)
				sum += (double)(ny * nx) * cycles(ctx, h * w);
		}
	}
	return sum;
}

struct mac55 {
	const struct accel *a;
	const struct perf_op *op;
	struct perf_rules rules;
	const struct perf_tiling *t;
	int64_t x, y, z; /* microblocks of an OFM block per axis */
	int64_t weight_cycles; /* the least cycles that the weights of a microblock take */
};

/* dot-product cycles of one sub-kernel of e elements: ethosu-timing(7) 2.5, step 4 */
static double
cycles55(void *ctx, int64_t e)
{
	const struct mac55 *k = ctx;
	const struct accel *a = k->a;
	const struct perf_op *op = k->op;
	int64_t xy = k->x * k->y, steps = e, slices = 1;
	bool wide = op->ifm.bits == 16, part = false;
	int64_t busy = 4 * xy > k->weight_cycles ? 4 * xy : k->weight_cycles;
	int64_t cycles;

	if (op->class == BLOCK_POOL) {
		steps = 1;
		cycles = (e > 4 ? e : 4) * xy * k->z;
		if (a->id != ACCEL_U55_32)
			cycles *= wide ? k->rules.pool16 : k->rules.pool8;
	} else if (op->class == BLOCK_DEPTHWISE) {
		int64_t dot = 4 * xy * (wide ? 2 : 1);
		steps = (e + 3) / 4;
		cycles = (dot > k->weight_cycles ? dot : k->weight_cycles) *
			 steps * k->z;
	} else {
		part = op->class == BLOCK_CONV && op->part_kernel;
		if (part) {
			steps = wide ? (e + 1) / 2 : (e + 3) / 4;
			slices = ceil_div(k->t->ifm.c, 8);
		}
		cycles = busy * steps * slices * k->z;
	}

	int64_t delay = 0, unit = op->acc40 ? a->delay40 : a->delay32;
	if (xy == 1 && k->z == 1)
		delay = unit * steps;
	else if (xy == 1 && steps > 1)
		delay = unit * (steps - 1) * k->z;
	if (a->id == ACCEL_U55_32 && (k->x == 1 || k->y == 1) && k->z > 1 &&
	    op->acc40)
		delay += unit * k->z;
	return (double)(cycles + (part ? delay * slices : delay));
}

int64_t
perf_block_mac(const struct accel *a, const struct perf_op *op,
	       struct perf_rules rules, struct perf_tiling *t)
{
	struct hwc ub = a->ublock;
	bool weighted = op->class == BLOCK_CONV || op->class == BLOCK_FC ||
			(op->class == BLOCK_DEPTHWISE && rules.conv1d_depthwise);
	if (ub.h == 2 && weighted && op->ofm.shape.h == 1 &&
	    op->ofm.shape.w % 2 == 0 && op->kernel_h == 1) {
		ub.h = 1; /* "Conv1D": the array of MACs is rearranged */
		ub.w = 4;
		t->ofm.h = 1;
	}
	struct mac55 k = { .a = a, .op = op, .rules = rules, .t = t,
			   .x = ceil_div(t->ofm.w, ub.w), .y = ceil_div(t->ofm.h, ub.h),
			   .z = ceil_div(t->ofm.c, ub.c), .weight_cycles = 32 * ub.c / 8 };
	int64_t sum = perf_whole_cycles(perf_sub_kernels(op, t, cycles55, &k));
	if (block_class_is_deep(op->class))
		sum *= ceil_div(op->ifm.shape.c, t->ifm.c);
	return sum; /* cycles of all cores */
}

/* Converts to whole cycles; a limit avoids overflow for a memory of almost no bandwidth. */
int64_t
perf_whole_cycles(double cycles)
{
	const double most = (double)((int64_t)1 << 62);
	return (int64_t)(cycles < most ? cycles : most);
}

static const struct perf_rules vela_rules = {
	.conv1d_depthwise = true, .pool8 = 1, .pool16 = 2,
};

static double
element_cycles(const struct accel *a, const struct perf_op *op)
{
	double element = a->out_cycles[output_column(op)];
	double act = a->act_cycles[op->activation];
	return act > element ? act : element;
}

/* ethosu-timing(7) 2.5, steps 6 to 8 */
static void
cost_mac(const struct perf_machine *m, const struct perf_op *op,
	 struct perf_tiling *t, struct perf_cost *c)
{
	double per_element = element_cycles(m->accel, op);
	struct block_memory mem = perf_block_memory(m, op);
	double mac = (double)perf_block_mac(m->accel, op, vela_rules, t) /
		     m->accel->cores;
	double out = ceil(per_element * (double)hwc_elements(t->ofm));
	if (op->has_bias) {
		double latency = m->memory->mem[op->scale_area].read_latency;
		double bias = BIAS_RECORD_BYTES * t->ofm.c * latency / BIAS_BURST;
		out = out > bias ? out : bias;
	}
	double command = (mem.ifm + mem.ofm + out + mac) / COMMAND_DEPTH;
	mac = mac > command ? mac : command;
	out = out > command ? out : command;
	c->npu = perf_whole_cycles(mac > out ? mac * (double)c->blocks + out
				 : out * (double)c->blocks + mac);
}

/* ethosu-timing(7) 2.4, last paragraph, and ethosu-timing(7) 2.6 */
static void
cost_elementwise(const struct perf_machine *m, const struct perf_op *op,
		 struct perf_cost *c)
{
	double per_element = element_cycles(m->accel, op);
	struct block_memory mem = perf_block_memory(m, op);
	double n = (double)hwc_elements(op->block);
	double command = (mem.ifm + mem.ofm + per_element * n) / COMMAND_DEPTH;
	if (command / n > per_element)
		per_element = command / n;
	c->npu = perf_whole_cycles(ceil(per_element * (double)stored_elements(&op->ofm)));
}

/* counts accesses in elements: ethosu-timing(7) 2.7 */
static void
count_mac(const struct perf_op *op, const struct perf_tiling *t, struct perf_cost *c)
{
	bool shallow = op->class == BLOCK_DEPTHWISE || op->class == BLOCK_POOL;
	int64_t plane = (int64_t)t->n.h * t->n.w;
	int64_t n = plane * (shallow ? 1 : t->n.c);
	c->ifm_read = (int64_t)t->ifm.w * t->ifm.h * stored_depth(&op->ifm) *
		      t->sub_kernels_y * t->sub_kernels_x * n;
	c->ofm_write = op->stage.no_output ? 0 : stored_elements(&op->ofm);
	if (op->ifm2.bits) /* filters (MATMUL), or initial values of the accumulators */
		c->ifm2_read = stored_elements(&op->ifm2) *
			       (op->class == BLOCK_MATMUL ? plane : 1);
	if (op->class == BLOCK_POOL || op->class == BLOCK_REDUCE_SUM)
		return;
	int64_t area = (int64_t)op->kernel_h * op->kernel_w;
	int64_t depth = op->class == BLOCK_DEPTHWISE ? 1 : op->ifm.shape.c;
	int64_t width = shallow ? op->ifm.shape.c : t->ofm.c;
	c->weight_read = area * depth * width * n;
	c->weight_passes = op->class == BLOCK_DEPTHWISE ? 1 : plane;
}

static int64_t
stored_as(const struct perf_fm *shape, const struct perf_fm *format)
{
	struct perf_fm f = { .shape = shape->shape, .nhcwb16 = format->nhcwb16 };
	return stored_elements(&f);
}

static void
count_elementwise(const struct perf_op *op, struct perf_cost *c)
{
	int64_t full = stored_as(&op->ofm, &op->ifm);
	bool wide = op->ifm.bits > 8;
	if (hwc_elements(op->ifm.shape) == 1) {
		c->ifm_read = wide ? stored_as(&op->ifm, &op->ifm) : 0;
		c->ifm2_read = op->ifm2.bits ? full : 0;
	} else {
		c->ifm_read = op->stage.resizes ? stored_elements(&op->ifm) : full;
		if (op->ifm2.bits && hwc_elements(op->ifm2.shape) > 1)
			c->ifm2_read = full;
		else if (op->ifm2.bits)
			c->ifm2_read = wide ? stored_as(&op->ifm2, &op->ifm) : 0;
	}
	c->ofm_write = stored_elements(&op->ofm);
}

/* bytes through a memory's port: all, written, and read by each channel */
struct traffic {
	double bytes[MEM_AREAS], written[MEM_AREAS];
	double channel[MEM_AREAS][READ_CHANNELS];
};

static void
add_read(struct traffic *t, enum mem_area area, enum read_channel k, double bytes)
{
	t->bytes[area] += bytes;
	t->channel[area][k] += bytes;
}

/* ethosu-timing(7) 8: the cycles for which each memory is busy. */
static void
cost_memories(const struct perf_machine *m, const struct perf_op *op,
	      struct perf_cost *c)
{
	struct traffic t = { .bytes = { 0 } };
	enum read_channel first = op->class == BLOCK_ELEMENTWISE ? READ_STREAM
								 : READ_IFM;
	double ifm = (double)(c->ifm_read * op->ifm.bits / 8);
	add_read(&t, op->ifm.area, first,
		 perf_burst(m, &op->ifm, false, op->ifm_block, ifm));
	if (c->ifm2_read) {
		double ifm2 = (double)(c->ifm2_read * op->ifm2.bits / 8);
		add_read(&t, op->ifm2.area, READ_STREAM,
			 perf_burst(m, &op->ifm2, false, op->ifm_block, ifm2));
	}
	for (int i = 0; i < op->chain.n_reads; i++) {
		const struct perf_fm *r = &op->chain.read[i];
		double bytes = (double)(stored_elements(r) * r->bits / 8);
		add_read(&t, r->area, READ_STREAM,
			 perf_burst(m, r, false, op->block, bytes));
	}
	double ofm = (double)(c->ofm_write * op->ofm.bits / 8);
	double burst = perf_burst(m, &op->ofm, true, op->block, ofm);
	t.bytes[op->ofm.area] += burst;
	t.written[op->ofm.area] += burst;
	add_read(&t, op->weight_area,
		 op->fast_weights ? READ_FAST_WEIGHTS : READ_WEIGHTS,
		 (double)(op->weight_bytes * c->weight_passes));
	add_read(&t, op->scale_area, READ_SCALES, (double)op->scale_bytes);

	c->total = (double)c->npu;
	for (int i = 0; i < MEM_AREAS; i++) {
		c->port[i] = t.bytes[i] > 0 ? t.bytes[i] / m->bytes_per_cycle[i] : 0;
		double cycles = t.bytes[i] > 0 ? c->port[i] : t.bytes[i];
		if (m->accel->read_words[0]) { /* the channels have rates of their own */
			if (t.written[i] > cycles * m->write_rate[i])
				cycles = t.written[i] / m->write_rate[i];
			for (int k = 0; k < READ_CHANNELS; k++)
				if (t.channel[i][k] > cycles * m->read_rate[i][k])
					cycles = t.channel[i][k] / m->read_rate[i][k];
		}
		c->memory[i] = cycles;
		if (cycles > c->total)
			c->total = cycles;
	}
}

/* NPU cycles by generation.  element: cycles per element in the output stage. */
static const struct npu_cost {
	void (*mac)(const struct perf_machine *m, const struct perf_op *op,
		    struct perf_tiling *t, struct perf_cost *c);
	void (*elementwise)(const struct perf_machine *m,
			    const struct perf_op *op, struct perf_cost *c);
	double (*element)(const struct accel *a, const struct perf_op *op);
} costs[GENERATIONS] = {
	[GEN_U55] = { cost_mac, cost_elementwise, element_cycles },
	[GEN_U65] = { cost_mac, cost_elementwise, element_cycles },
	[GEN_U85] = { perf_cost85_mac, perf_cost85_elementwise, perf_element85 },
};

void
perf_cost(const struct perf_machine *m, const struct perf_op *op,
	  struct perf_cost *out)
{
	struct perf_tiling t = perf_tiling_of(op);
	const struct npu_cost *npu = &costs[m->accel->generation];
	bool elementwise = op->class == BLOCK_ELEMENTWISE;
	*out = (struct perf_cost){ .blocks = hwc_elements(t.n) };
	if (!elementwise)
		out->macs = (int64_t)op->kernel_h * op->kernel_w * hwc_elements(op->ofm.shape) *
			    (block_class_is_deep(op->class) ? op->ifm.shape.c : 1);
	if (elementwise)
		count_elementwise(op, out);
	else
		count_mac(op, &t, out);
	if (m->calibrated) {
		perf_cost_calibrated(m, op, &t, npu->element(m->accel, op), out);
		struct perf_cost published;
		if (m->published) {
			perf_cost(m->published, op, &published);
			out->total = (out->total + published.total) / 2;
		}
		return;
	}
	if (elementwise)
		npu->elementwise(m, op, out);
	else
		npu->mac(m, op, &t, out);
	cost_memories(m, op, out);
}
