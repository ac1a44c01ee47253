/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NPU cycles of U85's operations: ethosu-timing(7) 21, 23 and 24.  Pools
 * take a quarter of what the reference says (section 23: its factor is not the
 * hardware's), and dense weights no less than their decoders need: 8 a cycle each.
 */
#include "perf/cost.h"

#include <assert.h>
#include <math.h>

enum { DENSE_WEIGHTS_PER_CYCLE = 8 };

/* cycles of an element in the output stage */
static double
element_cycles(const struct accel *a, const struct perf_op *op)
{
	bool words = op->class == BLOCK_ELEMENTWISE && op->ifm2.bits &&
		     op->ifm.bits == 32;
	enum out85_column c = op->ofm.bits == 64   ? OUT85_64
			      : words && op->ofm.bits == 32 ? OUT85_WORDS
			      : words		   ? OUT85_NARROWED
			      : op->ofm.bits == 32 ? OUT85_32
			      : op->ofm.bits == 16 ? OUT85_16
						   : OUT85_8;
	double out = a->out85_cycles[c];
	double act = op->activation == ACT_TABLE ? a->act85_cycles[0] : 0;
	return act > out ? act : out;
}

struct mac85 {
	const struct accel *a;
	const struct perf_op *op;
	int64_t uhw, uc; /* microblocks of a block */
	int64_t weights; /* cycles for those of a microblock */
	int64_t ifm_depth;
};

/* dot products of a sub-kernel of e elements, over one block */
static int64_t
cycles85(void *ctx, int64_t e)
{
	const struct mac85 *k = ctx;
	const struct perf_op *op = k->op;
	int64_t wide = op->ifm.bits / 8, steps, cycles, slices = 1;
	int64_t busy = 4 * k->uhw > k->weights ? 4 * k->uhw : k->weights;
	if (op->class == BLOCK_POOL) {
		steps = 1;
		cycles = (e > 4 ? e : 4) * k->uhw * k->uc * wide;
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
	if (k->uhw == 1 && k->uc == 1)
		wait = delay * steps;
	else if (k->uhw == 1 && steps > 1)
		wait = delay * (steps - 1) * k->uc;
	return cycles + wait * slices;
}

void
perf_cost85_mac(const struct perf_machine *m, const struct perf_op *op,
		struct perf_tiling *t, struct perf_cost *c)
{
	const struct accel *a = m->accel;
	struct hwc u = op->ublock, b = t->ofm, o = op->ofm.shape;
	assert(u.c > 0); /* perf_op_settle, or a layout, has set it */
	struct mac85 k = {
		.a = a, .op = op,
		.uhw = (int64_t)ceil_div(b.h, u.h) * ceil_div(b.w, u.w),
		.uc = ceil_div(b.c, u.c),
		.weights = 32 * u.c / (8 * a->streams),
		.ifm_depth = t->ifm.c,
	};
	double mac = (double)perf_sub_kernels(op, t, cycles85, &k);
	bool deep = op->class == BLOCK_CONV || op->class == BLOCK_FC ||
		    op->class == BLOCK_REDUCE_SUM;
	if (deep)
		mac *= ceil_div(op->ifm.shape.c, t->ifm.c);
	double n = (double)ceil_div(o.h, u.h) * ceil_div(o.w, u.w) *
		   ceil_div(o.c, u.c) / (double)(k.uhw * k.uc);
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
	c->block_mac = mac;
	c->block_output = out;
	double total = (mac > out ? mac * n + out : out * n + mac) + mem.ifm +
		       mem.ofm;
	/* of the whole operation: its weights once for every plane of blocks */
	double values = op->weight_bytes ? (double)op->kernel_h * op->kernel_w *
					       o.c * t->n.h * t->n.w *
					       (deep ? op->ifm.shape.c : 1)
					 : 0;
	double decode = values / (DENSE_WEIGHTS_PER_CYCLE * a->streams);
	c->npu = perf_whole(total > decode ? total : decode);
}

void
perf_cost85_elementwise(const struct perf_machine *m, const struct perf_op *op,
			struct perf_cost *c)
{
	struct block_memory mem = perf_block_memory(m, op);
	double each = element_cycles(m->accel, op);
	double n = (double)stored_elements(&op->ofm);
	double block = (double)hwc_elements(op->block);
	double most = mem.ifm > mem.ofm ? mem.ifm : mem.ofm;
	double command = (most / block + each) / COMMAND_DEPTH;
	c->block_output = (each > command ? each : command) * block;
	c->npu = perf_whole(ceil((each > command ? each : command) * n));
}
