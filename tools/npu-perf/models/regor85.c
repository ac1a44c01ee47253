/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regor 5.1's estimate of U85's operations, as Regor computes it: ethosu-timing(7) 21
 * to 25.  For facts that Regor had and a stream lacks, this file uses the timeline's
 * assumptions.  RESIZE has no cycles in Regor.
 */
#include "base/fixed.h"
#include "layer.h"
#include "regor.h"
#include "stream/op.h"
#include "target/accel.h"

#include <math.h>

double
perf_regor85_op(const struct perf_machine *m, const struct perf_op *whole)
{
	const struct accel *a = m->accel;
	const struct perf_op *op = whole;
	double each = perf_output85(a, op) + op->chain.output_cycles;
	struct perf_op lead;
	if (op->chain.n) {
		/*
		 * ethosu-timing(7) 25: the result between chained operations counts as
		 * a feature map in the arena
		 */
		lead = *op;
		lead.ofm.area = m->memory->arena_area;
		lead.ofm.bits = op->stage.bits;
		lead.ofm.nhcwb16 = true;
		op = &lead;
	}
	/* ethosu-timing(7) 24: Regor does not model RESIZE */
	if (op->class == BLOCK_ELEMENTWISE)
		return op->stage.resizes ? 0 : regor_elementwise(m, op, each, a->streams);
	struct perf_tiling t = perf_tiling_of(op);
	/* ethosu-timing(7) 23: bits / 2 for pools */
	double mac = perf_mac85(a, op, &t, 4);
	return floor(regor_blocks(m, op, &t, mac, each, perf_blocks85(op, &t),
				  a->streams));
}

/*
 * ethosu-timing(7) 25: all feature maps are in the arena's memory, as before any move
 * to faster memory.  The last of several slices has no fill cycles.
 */
double
perf_regor85_slack(const struct perf_machine *m, const struct perf_op *op, bool sliced)
{
	struct perf_op home = *op;
	home.ifm.area = home.ifm2.area = home.ofm.area = m->memory->arena_area;
	double fill = sliced ? regor_block_memory(m, &home, m->accel->streams).ifm : 0;
	return perf_regor85_op(m, &home) - fill;
}

/* ethosu-timing(7) 25: the table's memory takes one byte per cycle, without latency */
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

/* ---- accesses (ethosu-timing(7) 25) ------------------------------------------ */

/* bytes per memory and channel; the last channel has the writes */
struct traffic {
	double bytes[MEM_AREAS][READ_CHANNELS + 1][PERF_PURPOSES];
	struct perf_estimate *e;
};

static void
add(struct traffic *t, enum mem_area area, int channel, enum perf_purpose purpose,
    double bytes)
{
	bool writes = channel == READ_CHANNELS;
	t->bytes[area][channel][purpose] += bytes;
	t->e->bytes[area][purpose][writes ? PERF_WRITE : PERF_READ] += bytes;
}

/*
 * ethosu-timing(7) 25: A broadcast operand is read once, a single value not at all.
 * Both operands are rounded to the bricks of the first.
 */
static int64_t
operand_elements(const struct perf_op *op, const struct perf_fm *operand)
{
	struct perf_fm f = { .shape = operand->shape, .nhcwb16 = op->ifm.nhcwb16 };
	return operand->bits && hwc_elements(f.shape) > 1 ? stored_elements(&f) : 0;
}

static void
count_fm_accesses(const struct perf_machine *m, const struct perf_op *op,
	   const struct perf_cost *c, struct traffic *t)
{
	bool streams = op->class == BLOCK_ELEMENTWISE;
	int parts = m->accel->streams;
	int64_t first = streams ? operand_elements(op, &op->ifm) : c->ifm_read;
	int64_t second = streams ? operand_elements(op, &op->ifm2) : c->ifm2_read;
	if (first)
		add(t, op->ifm.area, streams ? READ_STREAM : READ_IFM,
		    PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ifm, false, op->ifm_block, (double)first,
				   parts));
	if (second)
		add(t, op->ifm2.area, READ_STREAM, PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ifm2, false, op->ifm_block, (double)second,
				   parts));
	for (int i = 0; i < op->chain.n_reads; i++) {
		const struct perf_fm *f = &op->chain.read[i];
		add(t, f->area, READ_STREAM, PERF_FEATURE_MAPS,
		    regor_transfer(m, f, false, op->ifm_block,
				   (double)stored_elements(f), parts));
	}
	/*
	 * ethosu-timing(7) 25: each further operation of a chain counts one feature
	 * map: its operand, or its result if it has none
	 */
	bool hidden = op->chain.n && !op->chain.last_is_unary && !op->chain.last_is_fused;
	if (c->ofm_write && !hidden)
		add(t, op->ofm.area, READ_CHANNELS, PERF_FEATURE_MAPS,
		    regor_transfer(m, &op->ofm, true, op->block, (double)c->ofm_write,
				   parts));
}

/* in the single precision of Regor's bandwidths */
static double
whole_cycles(double bytes, double rate)
{
	return floor((double)((float)bytes / (float)rate));
}

static void
count_cycles(const struct perf_machine *m, const struct traffic *t,
	     struct perf_estimate *out)
{
	out->total = out->npu;
	for (int i = 0; i < MEM_AREAS; i++) {
		double sum = 0, slowest = 0;
		for (int k = 0; k <= READ_CHANNELS; k++) {
			double rate = k < READ_CHANNELS ? m->read_rate[i][k]
							: m->write_rate[i];
			double busy = 0; /* whole cycles, summed over the purposes */
			for (int p = 0; p < PERF_PURPOSES; p++) {
				double bytes = t->bytes[i][k][p];
				sum += bytes;
				if (bytes > 0)
					busy += whole_cycles(bytes, rate);
			}
			slowest = max_f64(slowest, busy);
		}
		double port = sum > 0 ? whole_cycles(sum, regor_rate(m, (enum mem_area)i)) : 0;
		out->memory[i] = max_f64(port, slowest);
		out->total = max_f64(out->total, out->memory[i]);
	}
}

/*
 * bytes of SCATTER's whole OFM: those of the tensor, else of the copy to its address
 * before
 */
static double
scattered(const struct perf_run *run, const struct perf_row *r,
	  const struct perf_tensor *operand_info)
{
	const struct npu_range *to = &r->npu->dst;
	if (operand_info && operand_info->at == to->at)
		return (double)(hwc_elements(operand_info->shape) * operand_info->bits / 8);
	for (const struct perf_row *p = r; p-- > run->row;)
		if (p->step.kind == PERF_DMA && p->npu->dst.region == to->region &&
		    p->npu->dst.at == to->at && !p->npu->dst_indexed)
			return (double)p->dma_bytes;
	return 0;
}

/* Each element is a burst of its own; one element per row of GATHER is counted. */
void
perf_regor85_rows(const struct perf_machine *m, const struct perf_operand_info *operand_info,
		  const struct perf_run *run, const struct perf_row *r,
		  struct perf_estimate *out)
{
	enum { WORD = 4 };
	const struct npu_op *npu = r->npu;
	const struct mem_props *mem = m->memory->mem;
	const struct npu_range *end = npu->src_indexed ? &npu->src : &npu->dst;
	const struct perf_tensor *p = perf_operand_holding(operand_info, end->region, end->at);
	double element = p ? p->bits / 8.0 : 1;
	double rows = (double)npu->size0 * npu->size1;
	double made = npu->src_indexed ? rows * (double)npu->src.n
				       : scattered(run, r, p);
	struct traffic t = { .e = out };
	if (npu->src_indexed) {
		enum mem_area index = perf_region_area(m->memory, npu->rows.region);
		/* an index is one word, or the first of two words */
		int64_t more = (int64_t)npu->size0 * npu->size1 - 1;
		int64_t each = more ? (npu->rows.n - WORD) / more : WORD;
		add(&t, r->dma_from, READ_IFM, PERF_FEATURE_MAPS,
		    rows * mem[r->dma_from].burst_bytes / element);
		add(&t, index, READ_IFM, PERF_FEATURE_MAPS,
		    rows * mem[index].burst_bytes / (each > WORD ? (double)each : WORD));
	}
	add(&t, r->dma_to, READ_CHANNELS, PERF_FEATURE_MAPS,
	    made / element * mem[r->dma_to].burst_bytes / element);
	count_cycles(m, &t, out);
}

void
perf_regor85(const struct perf_machine *m, const struct perf_op *op,
	     const struct perf_schedule *s, struct perf_estimate *out)
{
	struct perf_cost c;
	perf_cost(m, op, &c); /* for the numbers of elements */
	*out = (struct perf_estimate){
		.macs = (double)c.macs / (op->sparse_weights ? 2 : 1),
		.npu = perf_regor_npu(perf_regor85_op(m, op), s),
	};
	struct traffic t = { .e = out };
	count_fm_accesses(m, op, &c, &t);
	struct perf_tiling tile = perf_tiling_of(op);
	double passes = c.weight_passes ? (double)tile.n.h * tile.n.w : 0;
	enum mem_area constants = op->scale_area;
	if (s->buffering != PERF_IN_PLACE) {
		/*
		 * ethosu-timing(7) 25: bytes of weights without scales, less the first
		 * slice's transfer
		 */
		double moved = max_f64((double)(op->weight_bytes - s->first_bytes), 0);
		constants = s->source;
		add(&t, s->source, READ_COPY, PERF_WEIGHTS, moved);
		add(&t, op->weight_area, READ_CHANNELS, PERF_WEIGHTS, moved);
	}
	add(&t, op->weight_area,
	    op->fast_weights ? READ_FAST_WEIGHTS : READ_WEIGHTS, PERF_WEIGHTS,
	    (double)op->weight_bytes * passes);
	add(&t, constants, READ_SCALES, PERF_SCALES,
	    (double)op->scale_bytes * passes);
	if (s->lut_bytes)
		out->bytes[s->lut_source][PERF_TABLES][PERF_READ] +=
		    (double)s->lut_bytes;
	count_cycles(m, &t, out);
}
