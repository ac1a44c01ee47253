/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regor 5.1's estimate of one operation: ethosu-timing(7) 4.  That of U85 is in
 * regor85.c.
 */
#include "base/fixed.h"
#include "regor.h"
#include "target/accel.h"

#include <math.h>

static double
regor_op(const struct perf_machine *m, const struct perf_op *op)
{
	static const struct perf_rules rules = { .pool8 = 4, .pool16 = 8 };
	const struct accel *a = m->accel;
	enum out_column col = OUT_OTHER;
	if (op->class == BLOCK_ELEMENTWISE && op->ifm.bits == 32)
		col = op->ifm2.bits ? OUT_ELTWISE32_1 : OUT_ELTWISE32_0;
	else if (op->func == PERF_MUL)
		col = op->ofm.bits == 32 ? OUT_MUL32 : OUT_MUL_OR_ACC40;
	else if (op->class != BLOCK_ELEMENTWISE && op->acc40)
		col = OUT_MUL_OR_ACC40;
	else if (op->func == PERF_ADD_SUB)
		col = OUT_ADD_ADVANCED;
	else if (op->func == PERF_MAXPOOL)
		col = OUT_MAXPOOL;
	/*
	 * ethosu-timing(7) 4.2: an operation without activation costs as much as one with a
	 * table
	 */
	enum act_column act = op->activation == ACT_NONE ? ACT_TABLE
							 : op->activation;
	double each = max_f64(a->out_cycles[col], a->act_cycles[act]);
	if (op->class == BLOCK_ELEMENTWISE)
		return regor_elementwise(m, op, each, a->cores);

	struct perf_tiling t = perf_tiling_of(op);
	/* number of blocks; a partial block counts as the fraction of its microblocks */
	struct hwc ofm = op->ofm.shape, ub = a->ublock;
	double all = (double)ceil_div(ofm.h, ub.h) * ceil_div(ofm.w, ub.w) *
		     ceil_div(ofm.c, ub.c);
	double n = all / ((double)ceil_div(t.ofm.h, ub.h) *
			  ceil_div(t.ofm.w, ub.w) * ceil_div(t.ofm.c, ub.c));
	double mac = (double)(perf_block_mac(a, op, rules, &t) / a->cores);
	return regor_blocks(m, op, &t, mac, each, n, a->cores);
}

static double
regor_copy(const struct perf_machine *m, int64_t bytes,
		enum mem_area from, enum mem_area to)
{
	const struct mem_props *p = &m->memory->mem[from];
	return max_f64((double)bytes / regor_rate(m, from) + p->read_latency,
		       (double)bytes / regor_rate(m, to) + p->write_latency);
}

/* ethosu-timing(7) 4.5: regor_transfer() gets elements here, not bytes */
static void
count_fm_access(const struct perf_machine *m, const struct perf_fm *f, bool write,
	  struct hwc block, int64_t elements, struct perf_estimate *out)
{
	out->bytes[f->area][PERF_FEATURE_MAPS][write ? PERF_WRITE : PERF_READ] +=
	    regor_transfer(m, f, write, block, (double)elements, m->accel->cores);
}

double
perf_regor_npu(double op, const struct perf_schedule *s)
{
	if (s->buffering == PERF_IN_PLACE)
		return op + max_f64(s->lut_cycles - s->slack, 0);
	return max_f64(s->full_cycles - s->slack + s->own_slack,
		       op + max_f64(s->first_cycles - s->slack, 0)) +
	       s->lut_cycles;
}

static void
regor(const struct perf_machine *m, const struct perf_op *op,
	   const struct perf_schedule *s, struct perf_estimate *out)
{
	struct perf_cost c;
	perf_cost(m, op, &c); /* for the numbers of elements */
	*out = (struct perf_estimate){
		.macs = (double)c.macs,
		.npu = perf_regor_npu(regor_op(m, op), s),
	};
	bool scalar = hwc_elements(op->ifm.shape) == 1 && op->ifm.bits > 8;
	count_fm_access(m, &op->ifm, false, op->ifm_block, c.ifm_read, out);
	if (c.ifm2_read && !(op->class == BLOCK_ELEMENTWISE && scalar))
		count_fm_access(m, &op->ifm2, false, op->ifm_block, c.ifm2_read, out);
	count_fm_access(m, &op->ofm, true, op->block, c.ofm_write, out);
	struct perf_tiling t = perf_tiling_of(op);
	double passes = c.weight_passes ? (double)t.n.h * t.n.w : 0;
	double weights = (double)op->weight_bytes * passes;
	enum mem_area constants = op->scale_area;
	if (s->buffering != PERF_IN_PLACE) {
		double moved = (double)(s->moved_bytes - s->first_bytes);
		constants = s->source;
		out->bytes[s->source][PERF_WEIGHTS][PERF_READ] += moved;
		out->bytes[op->weight_area][PERF_WEIGHTS][PERF_WRITE] += moved;
	}
	out->bytes[op->weight_area][PERF_WEIGHTS][PERF_READ] += weights;
	out->bytes[constants][PERF_SCALES][PERF_READ] +=
	    (double)op->scale_bytes * passes;
	if (s->lut_bytes)
		out->bytes[s->lut_source][PERF_TABLES][PERF_READ] +=
		    (double)s->lut_bytes;
	out->total = out->npu;
	for (int i = 0; i < MEM_AREAS; i++) {
		double sum = 0; /* tables go to SHRAM: not an access */
		for (int p = 0; p < PERF_TABLES; p++)
			sum += out->bytes[i][p][PERF_READ] +
			       out->bytes[i][p][PERF_WRITE];
		out->memory[i] = sum / regor_rate(m, (enum mem_area)i);
		out->total = max_f64(out->total, out->memory[i]);
	}
}

/* ---- by generation ----------------------------------------------------------- */

static const struct regor {
	double (*op)(const struct perf_machine *m, const struct perf_op *op);
	double (*copy)(const struct perf_machine *m, int64_t bytes,
		       enum mem_area from, enum mem_area to);
	void (*all)(const struct perf_machine *m, const struct perf_op *op,
		    const struct perf_schedule *s, struct perf_estimate *out);
} of[GENERATIONS] = {
	[GEN_U55] = { regor_op, regor_copy, regor },
	[GEN_U65] = { regor_op, regor_copy, regor },
	[GEN_U85] = { perf_regor85_op, perf_regor85_copy, perf_regor85 },
};

double
perf_regor_op(const struct perf_machine *m, const struct perf_op *op)
{
	return of[m->accel->generation].op(m, op);
}

double
perf_regor_copy(const struct perf_machine *m, int64_t bytes,
		enum mem_area from, enum mem_area to)
{
	return of[m->accel->generation].copy(m, bytes, from, to);
}

void
perf_regor(const struct perf_machine *m, const struct perf_op *op,
	   const struct perf_schedule *s, struct perf_estimate *out)
{
	of[m->accel->generation].all(m, op, s, out);
}
