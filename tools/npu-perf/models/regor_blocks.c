/* SPDX-License-Identifier: Apache-2.0 */
/* Regor's cycles of blocks and memory accesses: ethosu-timing(7) 4.1 to 4.3. */
#include "base/fixed.h"
#include "regor.h"

#include <math.h>

double
regor_rate(const struct perf_machine *m, enum mem_area area)
{
	return (double)(float)m->bytes_per_cycle[area];
}

double
regor_transfer(const struct perf_machine *m, const struct perf_fm *f, bool write,
	       struct hwc block, double bytes, int parts)
{
	int64_t burst = m->memory->mem[f->area].burst_bytes;
	int64_t b = perf_access_bytes(f, write, block, parts,
				      (int64_t)f->shape.c * f->bits / 8);
	if (b >= burst || b < 1)
		return bytes;
	return floor(bytes * (double)burst / (double)b);
}

static double
block_bytes(const struct perf_fm *f, struct hwc block)
{
	return (double)(hwc_elements(clipped(block, f->shape)) * f->bits) / 8;
}

static double
read_block(const struct perf_machine *m, const struct perf_fm *f, struct hwc block,
	   int parts)
{
	double n = floor(block_bytes(f, block));
	return m->memory->mem[f->area].read_latency +
	       floor(regor_transfer(m, f, false, block, n, parts) /
		     regor_rate(m, f->area));
}

struct block_memory
regor_block_memory(const struct perf_machine *m, const struct perf_op *op, int parts)
{
	double n = block_bytes(&op->ofm, op->block);
	struct block_memory c = {
		.ifm = read_block(m, &op->ifm, op->ifm_block, parts),
		.ofm = m->memory->mem[op->ofm.area].write_latency +
		       floor(regor_transfer(m, &op->ofm, true, op->block, n, parts) /
			     regor_rate(m, op->ofm.area)),
	};
	if (op->ifm2.bits)
		c.ifm = max_f64(c.ifm, read_block(m, &op->ifm2, op->ifm_block, parts));
	return c;
}

double
regor_elementwise(const struct perf_machine *m, const struct perf_op *op, double each,
		  int parts)
{
	struct block_memory b = regor_block_memory(m, op, parts);
	double n = (double)stored_elements(&op->ofm);
	double memory = max_f64(b.ifm, b.ofm) / (double)hwc_elements(op->block);
	return max_f64(ceil(each * n), ceil((memory + each) / COMMAND_DEPTH * n));
}

double
regor_blocks(const struct perf_machine *m, const struct perf_op *op,
	     const struct perf_tiling *t, double mac, double each, double n, int parts)
{
	struct block_memory b = regor_block_memory(m, op, parts);
	double out = ceil(each * (double)hwc_elements(t->ofm));
	if (op->has_bias)
		out = max_f64(out, BIAS_RECORD_BYTES * t->ofm.c *
				       (double)m->memory->mem[op->scale_area]
					   .read_latency / BIAS_BURST);
	double memory = n > 1 ? fabs(b.ofm - b.ifm) : 0;
	double command = (memory + mac + out) / COMMAND_DEPTH;
	mac = max_f64(mac, command);
	out = max_f64(out, command);
	double cycles = mac > out ? floor(mac * n) + out : out * n + mac;
	return cycles + b.ifm + b.ofm; /* fill and drain */
}
