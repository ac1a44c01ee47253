/* SPDX-License-Identifier: Apache-2.0 */
/* Vela 3.12's total of one operation: ethosu-timing(7) 2.8. */
#include "perf/cost.h"

#include "base/fixed.h"
#include "estimate.h"

#include <math.h>

double
perf_vela312_copy(const struct perf_machine *m, int64_t bytes,
		  enum mem_area from, enum mem_area to)
{
	double in = floor((double)bytes / m->bytes_per_cycle[from]) +
		    m->memory->mem[from].read_latency;
	double out = floor((double)bytes / m->bytes_per_cycle[to]);
	return in > out ? in : out;
}

static double
npu_cycles(double op, const struct perf_schedule *s)
{
	switch (s->buffering) {
	case PERF_DOUBLE_BUFFER:
		return max_f64(s->full_cycles - s->slack + s->own_slack,
			       op + max_f64(s->first_cycles - s->slack, 0)) +
		       s->lut_cycles;
	case PERF_SINGLE_BUFFER:
		return op + s->full_cycles - fmin(s->first_cycles, s->slack) +
		       s->lut_cycles;
	default:
		return op + max_f64(s->lut_cycles - s->slack, 0);
	}
}

/*
 * bytes of a feature map: out gets the reported bytes, eff the bytes that occupy the
 * memory
 */
static void
count_fm_access(const struct perf_machine *m, const struct perf_fm *f, bool write,
	  struct hwc block, int64_t elements, double eff[MEM_AREAS],
	  struct perf_estimate *out)
{
	double bytes = (double)(elements * f->bits / 8);
	out->bytes[f->area][PERF_FEATURE_MAPS][write ? PERF_WRITE : PERF_READ] +=
	    bytes;
	eff[f->area] += perf_burst(m, f, write, block, bytes);
}

void
perf_vela312(const struct perf_machine *m, const struct perf_op *op,
	     const struct perf_schedule *s, struct perf_estimate *out)
{
	struct perf_cost c;
	double eff[MEM_AREAS] = { 0 };
	perf_cost(m, op, &c);
	*out = (struct perf_estimate){ .macs = (double)c.macs,
				       .npu = npu_cycles((double)c.npu, s) };
	count_fm_access(m, &op->ifm, false, op->ifm_block, c.ifm_read, eff, out);
	if (c.ifm2_read)
		count_fm_access(m, &op->ifm2, false, op->ifm_block, c.ifm2_read, eff,
			  out);
	count_fm_access(m, &op->ofm, true, op->block, c.ofm_write, eff, out);
	bool buffered = s->buffering != PERF_IN_PLACE;
	double records = (double)BIAS_RECORD_BYTES * op->ofm.shape.c;
	if (s->original_weights) {
		/*
		 * all encoded bytes except scale records, so with the padding after the
		 * records
		 */
		double encoded = (double)(op->weight_bytes + op->scale_bytes) - records;
		double n = (double)c.weight_read * encoded / (double)s->original_weights;
		out->bytes[op->weight_area][PERF_WEIGHTS][PERF_READ] += n;
		if (!buffered)
			eff[op->weight_area] += n;
	}
	if (op->has_bias) {
		out->bytes[op->scale_area][PERF_SCALES][PERF_READ] += records;
		if (!buffered)
			eff[op->scale_area] += records;
	}
	if (buffered) {
		double moved = (double)s->moved_bytes;
		out->bytes[s->source][PERF_WEIGHTS][PERF_READ] += moved;
		out->bytes[op->weight_area][PERF_WEIGHTS][PERF_WRITE] += moved;
	}
	if (s->lut_bytes)
		out->bytes[s->lut_source][PERF_TABLES][PERF_READ] +=
		    (double)s->lut_bytes;
	out->total = out->npu;
	for (int i = 0; i < MEM_AREAS; i++) {
		out->memory[i] = eff[i] / m->bytes_per_cycle[i];
		out->total = max_f64(out->total, out->memory[i]);
	}
}
