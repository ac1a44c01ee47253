/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that an accelerator can't run, found before a schedule exists.  npu-wenc and
 * npu-cmdgen apply the same rules to an operation, whatever its block and addresses.
 */
#include "emit/emit.h"
#include "graph/facts.h"
#include "lower/lower.h"
#include "target/accel.h"

#include <inttypes.h>

/* ---- zero points ---------------------------------------------------------- */

bool
emit_is_plain_pool(const struct g_op *op)
{
	return op->kind == OP_AVGPOOL && op->kernel.y == 1 &&
	       op->kernel.x == 1 && op->stride.y == 1 && op->stride.x == 1 &&
	       op->upscale == UPSCALE_NONE && G_HAS(op, G_OP_scale) &&
	       hwc_equal(op->ifm.shape, op->ofm.shape);
}

void
emit_move_zero(struct g_op *op)
{
	if (graph_type_bytes(op->ifm.type) != 2 || !op->ifm_zero)
		return;
	if (emit_is_plain_pool(op)) { /* a plain average is a sum of one operand and 0 */
		op->kind = OP_ADD;
		G_CLEAR(op, G_OP_kernel);
		G_CLEAR(op, G_OP_stride);
		G_CLEAR(op, G_OP_pad);
		G_PUT(op, OP, scalar, 0);
		G_PUT(op, OP, ifm2_zero, 0);
		G_PUT(op, OP, opa, (struct npu_scale){ .mult = 1 });
		G_PUT(op, OP, opb, 1);
	}
	bool plain = op->kind == OP_ADD && G_HAS(op, G_OP_scalar) &&
		     op->opa.mult == 1 && op->opa.shift == 0 && op->opb == 1;
	int64_t less = (int64_t)op->ifm_zero - (op->scalar - op->ifm2_zero);
	if (!plain || less < INT16_MIN || less > INT16_MAX)
		return;
	/* a subtracted scalar has as many bits as the operand */
	op->kind = OP_SUB;
	op->scalar = (int32_t)less;
	op->ifm_zero = op->ifm2_zero = 0;
}

/* Rules 11 and 12 of ethosu-commands(7). */
static const char *
zero_limit(struct arena *a, const struct accel *accel, int type, int32_t zero,
	   const char *role)
{
	struct g_range r = type_range(type);
	int bytes = graph_type_bytes(type);
	bool wide = bytes == 2 && !accel_lacks(accel, LACK_WIDE_ZEROS);
	bool half = type == TFL_UINT16 && zero == 32768;
	bool ok = zero == 0 || half ||
		  ((bytes == 1 || wide) && zero >= r.lo && zero <= r.hi);
	return ok ? NULL
		  : arena_printf(
			a, "%s has no zero point %" PRId32 " for %s of %d bits",
			accel->name, zero, role, 8 * bytes);
}

/* ---- all limits ---------------------------------------------------------- */

const char *
emit_limit(struct arena *a, const struct accel *accel, const struct g_op *op)
{
	const char *why = NULL;
	if (!op_is_transfer(op->kind) && op->kind != OP_COPY) {
		struct g_op moved = *op;
		if (accel_lacks(accel, LACK_WIDE_ZEROS))
			emit_move_zero(&moved);
		why = zero_limit(a, accel, moved.ifm.type, moved.ifm_zero, "an IFM");
		if (!why && op_is_binary(moved.kind))
			why = zero_limit(a, accel, moved.ifm.type, moved.ifm2_zero, "an IFM2");
	}
	if (why)
		return why;
	/* the records that npu-wenc packs */
	const struct g_scales *s = op->scales;
	for (size_t o = 0; s && o < s->mult.n && o < s->shift.n && o < s->bias.n; o++) {
		uint8_t record[WEIGHTS_SCALE_SIZE];
		struct err e = { 0 };
		if (!emit_scale_record(accel, op, o, record, &e))
			return arena_printf(a, "%s: %s", accel->name, e.text);
	}
	/* a weight takes 9 bits at most, and a stream little besides (ethosu-weights(7) 1) */
	const struct g_weights *w = op->weights;
	if (!w || w->shape.rank != 4)
		return NULL;
	double n = 1;
	for (int i = 0; i < 4; i++)
		n *= w->shape.dim[i];
	return n <= EMIT_MAX_WEIGHTS ? NULL
				     : arena_printf(a, "%.0f weights in one operation, at most %d",
						    n, EMIT_MAX_WEIGHTS);
}
