/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NPU cycles of U85's operations: ethosu-timing(7) 21, 23 and 24.  Two terms differ
 * from the reference.  Pools take a quarter of its cycles, as its factor does not match
 * the hardware (ethosu-timing(7) 23).  Dense weights take at least the cycles of their
 * decoders, which decode 8 weights per cycle each.
 */
#include "perf/cost.h"

#include "target/accel.h"
#include "target/blocks.h"

#include <assert.h>
#include <math.h>

enum { DENSE_WEIGHTS_PER_CYCLE = 8 };

/*
 * column of the output-cycle table: the first condition of ethosu-timing(7) 21 that
 * holds
 */
static enum out85_column
output_column(const struct perf_op *op)
{
	int bits = op->stage.bits ? op->stage.bits : op->ofm.bits;
	bool words = op->class == BLOCK_ELEMENTWISE && op->ifm2.bits &&
		     op->ifm.bits == 32;
	if (op->stage.chained && (bits == 32 || op->ifm.bits == 32))
		return OUT85_NARROWED;
	if (bits == 64)
		return OUT85_64;
	if (words)
		return bits == 32 ? OUT85_WORDS : OUT85_NARROWED;
	return bits == 32 ? OUT85_32 : bits == 16 ? OUT85_16 : OUT85_8;
}

/* output cycles per element, without a chain's */
double
perf_output85(const struct accel *a, const struct perf_op *op)
{
	enum { DIVISION = 33 };
	const struct perf_stage85 *s = &op->stage;
	double out = s->divides ? DIVISION : a->out85_cycles[output_column(op)];
	double act = s->turns ? a->act85_cycles[1]
		     : s->moves || op->activation != ACT_NONE
			 ? a->act85_cycles[0]
			 : 0;
	return act > out || (act > 0 && s->bare) ? act : out;
}

static double
element_cycles(const struct accel *a, const struct perf_op *op)
{
	return perf_output85(a, op) + op->chain.output_cycles;
}

struct mac85 {
	const struct accel *a;
	const struct perf_op *op;
	int64_t uhw, uc; /* microblocks of a block: in the plane, in depth */
	int64_t weights; /* cycles to decode the weights of a microblock */
	int64_t pool;	 /* extra factor for pools */
	int64_t ifm_depth;
};

/* cycles of the dot products of one sub-kernel of e elements over one block */
static double
cycles85(void *ctx, int64_t e)
{
	const struct mac85 *k = ctx;
	const struct perf_op *op = k->op;
	int64_t wide = op->ifm.bits / 8, steps, cycles, slices = 1;
	int64_t busy = 4 * k->uhw > k->weights ? 4 * k->uhw : k->weights;
	if (op->class == BLOCK_POOL) {
		steps = 1;
		cycles = (e > 4 ? e : 4) * k->uhw * k->uc * wide * k->pool;
	} else if (op->class == BLOCK_DEPTHWISE) {
		int64_t dot = 4 * k->uhw * wide;
		steps = (e + 3) / 4;
		cycles = (dot > k->weights ? dot : k->weights) * steps * k->uc;
	} else if (op->class == BLOCK_CONV && op->part_kernel) {
		slices = (k->ifm_depth + 7) / 8;
		steps = wide == 2 ? (e + 1) / 2 : (e + 3) / 4;
		cycles = busy * steps * k->uc * slices;
	} else {
		int64_t dot = k->ifm_depth / 8 * k->uhw;
		steps = e;
		cycles = (dot > k->weights ? dot : k->weights) * steps * k->uc *
			 wide;
	}
	int64_t delay = op->acc40 && k->a->macs == 128 ? 3 : 2, wait = 0;
	if (op->sparse_weights && op->class != BLOCK_POOL)
		cycles /= 2;
	if (k->uhw == 1 && k->uc == 1)
		wait = delay * steps;
	else if (k->uhw == 1 && steps > 1)
		wait = delay * (steps - 1) * k->uc;
	return (double)(cycles + wait * slices);
}

static int64_t
microblocks(struct hwc extent, struct hwc u)
{
	return (int64_t)ceil_div(extent.h, u.h) * ceil_div(extent.w, u.w) *
	       ceil_div(extent.c, u.c);
}

double
perf_blocks85(const struct perf_op *op, const struct perf_tiling *t)
{
	return (double)microblocks(op->ofm.shape, op->ublock) /
	       (double)microblocks(t->ofm, op->ublock);
}

double
perf_mac85(const struct accel *a, const struct perf_op *op,
	   const struct perf_tiling *t, int pool)
{
	struct hwc u = op->ublock, b = t->ofm;
	assert(u.c > 0); /* set by perf_op_set_blocks or by the caller's layout */
	struct mac85 k = {
		.a = a, .op = op, .pool = pool,
		.uhw = (int64_t)ceil_div(b.h, u.h) * ceil_div(b.w, u.w),
		.uc = ceil_div(b.c, u.c),
		.weights = 32 * u.c / (8 * a->streams),
		.ifm_depth = t->ifm.c,
	};
	double mac = perf_sub_kernels(op, t, cycles85, &k);
	return mac * (block_class_is_deep(op->class) ? ceil_div(op->ifm.shape.c, t->ifm.c) : 1);
}

void
perf_cost85_mac(const struct perf_machine *m, const struct perf_op *op,
		struct perf_tiling *t, struct perf_cost *c)
{
	const struct accel *a = m->accel;
	struct hwc b = t->ofm;
	double mac = perf_mac85(a, op, t, 1), n = perf_blocks85(op, t);
	struct block_memory mem = perf_block_memory(m, op);
	double out = ceil(element_cycles(a, op) * (double)hwc_elements(b));
	if (op->has_bias) {
		double latency = m->memory->mem[op->scale_area].read_latency;
		double bias = BIAS_RECORD_BYTES * b.c * latency / BIAS_BURST;
		out = out > bias ? out : bias;
	}
	double memory = n > 1 ? fabs(mem.ofm - mem.ifm) : 0;
	double command = (memory + mac + out) / COMMAND_DEPTH;
	mac = mac > command ? mac : command;
	out = out > command ? out : command;
	double total = (mac > out ? mac * n + out : out * n + mac) + mem.ifm +
		       mem.ofm;
	/*
	 * All weights are decoded once for every plane of blocks.  A stream does not store how many
	 * values differ: one byte per weight means raw values, fewer mean a palette.
	 */
	enum { RAW = 32, PALETTE = 64 };
	double decode = 0;
	if (op->weight_bytes) {
		double values = (double)op->kernel_h * op->kernel_w * op->ofm.shape.c *
				(block_class_is_deep(op->class) ? op->ifm.shape.c : 1);
		int rate = !op->fast_weights ? DENSE_WEIGHTS_PER_CYCLE * a->streams
			   : (double)op->weight_bytes < values ? PALETTE
							       : RAW;
		decode = values * t->n.h * t->n.w / rate;
	}
	c->npu = perf_whole_cycles(total > decode ? total : decode);
}

/*
 * The reference has no cycles for RESIZE; ethosu-timing(7) 26 defines these until it is
 * measured.
 */
static double
resize_cycles(const struct perf_op *op, double each)
{
	enum { CORNERS = 4 };
	return op->stage.blends ? CORNERS * each : each;
}

double
perf_element85(const struct accel *a, const struct perf_op *op)
{
	return resize_cycles(op, element_cycles(a, op));
}

void
perf_cost85_elementwise(const struct perf_machine *m, const struct perf_op *op,
			struct perf_cost *c)
{
	struct block_memory mem = perf_block_memory(m, op);
	double each = resize_cycles(op, element_cycles(m->accel, op));
	double n = (double)stored_elements(&op->ofm);
	double block = (double)hwc_elements(op->block);
	double most = mem.ifm > mem.ofm ? mem.ifm : mem.ofm;
	double command = (most / block + each) / COMMAND_DEPTH;
	c->npu = perf_whole_cycles(ceil((each > command ? each : command) * n));
}
