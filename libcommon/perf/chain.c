/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of U85: elementwise operations that read the results of another kernel from a
 * buffer inside the NPU.  A chain counts as one kernel; its output stage takes the sum
 * of all members' cycles (ethosu-timing(7) 21, 26).
 */
#include "perf/cost.h"

#include "target/accel.h"

bool
perf_chain_add(const struct perf_machine *m, struct perf_op *op,
	       const struct perf_op *next)
{
	enum { LONGEST = 8 }; /* the hardware has six buffers */
	struct perf_chain *c = &op->chain;
	if (!op->stage.chained || c->ended || c->n == LONGEST)
		return false;
	c->n++;
	c->ended = !next->stage.chained;
	c->output_cycles += perf_output85(m->accel, next);
	const struct perf_fm *operand[2] = { &next->ifm, &next->ifm2 };
	for (int i = 0; i < 2; i++) {
		bool scalar = hwc_elements(operand[i]->shape) == 1;
		if (next->stage.from_chain[i] || !operand[i]->bits || scalar)
			continue;
		if (c->n_reads == PERF_CHAIN_READS)
			return false;
		c->read[c->n_reads++] = *operand[i];
	}
	c->last_is_unary = !next->ifm2.bits;
	c->last_is_fused = next->activation == ACT_TABLE || next->stage.clamps;
	/*
	 * The first member keeps the width of its own type; the output is that of the
	 * last member.
	 */
	if (!op->stage.bits)
		op->stage.bits = op->ofm.bits;
	op->ofm = next->ofm;
	op->stage.no_output = next->stage.no_output;
	return true;
}
