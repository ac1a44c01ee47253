/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regor 5.1's estimate of U85's operations, as it computes them: ethosu-timing(7) 21
 * to 25.  Where regor knows what a stream doesn't show, the
 * timeline's guesses hold (RESIZE has no cycles there).
 */
#include "base/fixed.h"
#include "regor.h"

#include <math.h>

double
perf_regor85_op(const struct perf_machine *m, const struct perf_op *whole)
{
	const struct accel *a = m->accel;
	const struct perf_op *op = whole;
	double each = perf_output85(a, op) + op->chain.output_cycles;
	struct perf_op lead;
	if (op->chain.n) {
		/* 25: what is between chained operations counts as a map in the arena */
		lead = *op;
		lead.ofm.area = m->memory->arena_area;
		lead.ofm.bits = op->stage.bits;
		lead.ofm.nhcwb16 = true;
		op = &lead;
	}
	/* 24: RESIZE isn't modelled */
	if (op->class == BLOCK_ELEMENTWISE)
		return op->stage.resizes ? 0 : regor_elementwise(m, op, each, a->streams);
	struct perf_tiling t = perf_tiling_of(op);
	/* 23: bits / 2 for pools */
	double mac = perf_mac85(a, op, &t, 4);
	return regor_blocks(m, op, &t, mac, each, perf_blocks85(op, &t), a->streams);
}

/* 25: as costed before any map was moved to faster memory; only a first slice fills */
double
perf_regor85_slack(const struct perf_machine *m, const struct perf_op *op, bool sliced)
{
	struct perf_op home = *op;
	home.ifm.area = home.ifm2.area = home.ofm.area = m->memory->arena_area;
	double fill = sliced ? regor_block_memory(m, &home, m->accel->streams).ifm : 0;
	return perf_regor85_op(m, &home) - fill;
}

/* 25: a memory of its own takes a byte a cycle, without latency */
double
perf_regor85_table(const struct perf_machine *m, const struct perf_op *op)
{
	enum { BYTES8 = 256, BYTES16 = 2048 };
	enum mem_area from = m->memory->const_area;
	double bytes = op->ifm.bits == 8 ? BYTES8 : BYTES16;
	bool copies = op->class == BLOCK_POOL && op->func != PERF_MAXPOOL &&
		      op->kernel_h == 1 && op->kernel_w == 1;
	if (op->activation != ACT_TABLE || !copies)
		return 0;
	double in = floor(bytes / m->read_rate[from][READ_COPY]);
	return max_f64(in + m->memory->mem[from].read_latency, bytes);
}

double
perf_regor85_copy(const struct perf_machine *m, int64_t bytes, enum mem_area from,
		  enum mem_area to)
{
	const struct mem_props *src = &m->memory->mem[from];
	const struct mem_props *dst = &m->memory->mem[to];
	double in = floor((double)bytes / m->read_rate[from][READ_COPY]);
	double out = floor((double)bytes / m->write_rate[to]);
	return max_f64(in + src->read_latency, out + dst->write_latency);
}

/* ---- accesses (25) ----------------------------------------------------------- */

/* by channel, the last of which are writes; and the same by purpose */
struct traffic {
	double bytes[MEM_AREAS][READ_CHANNELS + 1];
	struct perf_estimate *e;
};

static void
add(struct traffic *t, enum mem_area area, int channel, enum perf_purpose purpose,
    double bytes)
{
	bool writes = channel == READ_CHANNELS;
	t->bytes[area][channel] += bytes;
	t->e->bytes[area][purpose][writes ? PERF_WRITE : PERF_READ] += bytes;
}

static void
count_maps(const struct perf_machine *m, const struct perf_op *op,
	   const struct perf_cost *c, struct traffic *t)
{
	bool streams = op->class == BLOCK_ELEMENTWISE;
	int parts = m->accel->streams;
	if (c->ifm_read)
		add(t, op->ifm.area, streams ? READ_STREAM : READ_IFM,
		    PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ifm, false, op->ifm_block,
				   (double)c->ifm_read, parts));
	/* what is repeated along an axis is read once */
	int64_t second = streams ? stored_elements(&op->ifm2) : c->ifm2_read;
	if (c->ifm2_read && hwc_elements(op->ifm2.shape) > 1)
		add(t, op->ifm2.area, READ_STREAM, PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ifm2, false, op->ifm_block, (double)second,
				   parts));
	/* 25: of a chain only what its first operation reads */
	if (c->ofm_write && !op->chain.n)
		add(t, op->ofm.area, READ_CHANNELS, PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ofm, true, op->block, (double)c->ofm_write,
				   parts));
}

static void
count_weights(const struct perf_op *op, const struct perf_schedule *s,
	      const struct perf_cost *c, struct traffic *t)
{
	struct perf_tiling tile = perf_tiling_of(op);
	double passes = c->weight_passes ? (double)tile.n.h * tile.n.w : 0;
	enum mem_area constants = op->scale_area;
	if (s->buffering != PERF_IN_PLACE) {
		double moved = (double)(s->moved_bytes - s->first_bytes);
		constants = s->source;
		add(t, s->source, READ_COPY, PERF_WEIGHTS, moved);
		add(t, op->weight_area, READ_CHANNELS, PERF_WEIGHTS, moved);
	}
	add(t, op->weight_area,
	    op->fast_weights ? READ_FAST_WEIGHTS : READ_WEIGHTS, PERF_WEIGHTS,
	    (double)op->weight_bytes * passes);
	add(t, constants, READ_SCALES, PERF_SCALES,
	    (double)op->scale_bytes * passes);
	if (s->lut_bytes)
		t->e->bytes[s->lut_source][PERF_TABLES][PERF_READ] +=
		    (double)s->lut_bytes;
}

static double
access_cycles(const struct perf_machine *m, const struct traffic *t, int area)
{
	double sum = 0, slowest = 0;
	for (int k = 0; k <= READ_CHANNELS; k++) {
		double bytes = t->bytes[area][k];
		double rate = k < READ_CHANNELS ? m->read_rate[area][k]
						: m->write_rate[area];
		sum += bytes;
		if (bytes > 0)
			slowest = max_f64(slowest, bytes / rate);
	}
	return max_f64(sum > 0 ? sum / regor_rate(m, (enum mem_area)area) : 0, slowest);
}

void
perf_regor85(const struct perf_machine *m, const struct perf_op *op,
	     const struct perf_schedule *s, struct perf_estimate *out)
{
	struct perf_cost c;
	perf_cost(m, op, &c); /* for its element counts */
	*out = (struct perf_estimate){
		.macs = (double)c.macs / (op->sparse_weights ? 2 : 1),
		.npu = perf_regor_npu(perf_regor85_op(m, op), s),
	};
	struct traffic t = { .e = out };
	count_maps(m, op, &c, &t);
	count_weights(op, s, &c, &t);
	out->total = out->npu;
	for (int i = 0; i < MEM_AREAS; i++) {
		out->memory[i] = access_cycles(m, &t, i);
		out->total = max_f64(out->total, out->memory[i]);
	}
}
