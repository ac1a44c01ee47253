/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the blocks of U85 and the sizes of their buffers: rules 39 and 41
 * (ethosu-memory(7) 28.1 to 28.4).
 */
#include "verify/rules.h"

#include "base/fixed.h"
#include "stream/filters.h"
#include "target/accel.h"

/* Returns the block after transposition: the limits apply to the OFM in memory. */
static struct hwc
stored_block(const struct npu_op *op)
{
	struct hwc b = op->block;
	switch (op->transpose) {
	case NPU_WHC:
		return (struct hwc){ .h = b.w, .w = b.h, .c = b.c };
	case NPU_HCW:
		return (struct hwc){ .h = b.h, .w = b.c, .c = b.w };
	case NPU_WCH:
		return (struct hwc){ .h = b.w, .w = b.c, .c = b.h };
	case NPU_CHW:
		return (struct hwc){ .h = b.c, .w = b.h, .c = b.w };
	case NPU_CWH:
		return (struct hwc){ .h = b.c, .w = b.w, .c = b.h };
	case NPU_HWC:
		break;
	}
	return b;
}

/* ---- capacities (ethosu-memory(7) 28.3) ---------------------------------- */

struct unit { /* unit of IFM allocation: rows, columns, multiples of 128 bits */
	int h, w, c;
};

/* Rows of the table: depth * bits is at most 128, at most 256, or larger. */
static struct unit
allocation_unit(const struct accel *a, struct hwc u, int64_t bits)
{
	static const struct {
		int macs;
		bool flat; /* the microblock has one row and four columns */
		struct unit of[3];
	} all[] = {
		{ 128, false, { { 1, 2, 1 }, { 1, 1, 2 }, { 1, 1, 2 } } },
		{ 256, false, { { 2, 2, 1 }, { 1, 2, 2 }, { 1, 1, 4 } } },
		{ 256, true, { { 1, 4, 1 }, { 1, 2, 2 }, { 1, 1, 4 } } },
		{ 512, false, { { 2, 2, 1 }, { 1, 2, 2 }, { 1, 1, 4 } } },
		{ 512, true, { { 1, 4, 1 }, { 1, 2, 2 }, { 1, 1, 4 } } },
		{ 1024, false, { { 2, 4, 1 }, { 2, 2, 2 }, { 1, 2, 4 } } },
		{ 1024, true, { { 2, 4, 1 }, { 1, 4, 2 }, { 1, 2, 4 } } },
		{ 2048, false, { { 4, 4, 1 }, { 2, 4, 2 }, { 2, 2, 4 } } },
		{ 2048, true, { { 4, 4, 1 }, { 2, 4, 2 }, { 1, 4, 4 } } },
	};
	bool flat = u.h == 1 && u.w == 4;
	int row = bits <= 128 ? 0 : bits <= 256 ? 1 : 2;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].macs == a->macs && all[i].flat == flat)
			return all[i].of[row];
	return all[0].of[row];
}

static int64_t
input_bytes(const struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool null = op->kind == NPU_POOL && op->mode == NPU_POOL_NONE;
	const struct npu_fm *f = null ? &op->ifm2 : &op->ifm;
	if (!f->bits) /* rule 13 has reported a null pool without IFM2 */
		return 0;
	int64_t depth = npu_ifm_depth85(op, c->accel);
	struct unit u = allocation_unit(c->accel, op->ublock, depth * f->bits);
	int64_t granule = (int64_t)u.c * 128 / f->bits;
	if (check_reads_depth(op))
		depth = min_i64(depth, f->shape.c);
	int64_t block = check_input_extent(op, op->block.h, op->stride_y,
				     op->dilated_h, u.h) *
			check_input_extent(op, op->block.w, op->stride_x,
				     op->dilated_w, u.w) *
			round_up_i64(depth, granule);
	int64_t all = round_up_i64(f->shape.h, u.h) * round_up_i64(f->shape.w, u.w) *
		      round_up_i64(f->shape.c, granule);
	return (check_reads_depth(op) ? block : min_i64(block, all)) *
	       (f->bits / 8);
}

static bool
is_broadcast(struct hwc in, struct hwc out, bool h, bool w, bool c)
{
	return (h && in.h == 1 && out.h > 1) || (w && in.w == 1 && out.w > 1) ||
	       (c && in.c == 1 && out.c > 1);
}

/* Checks that the elements of an elementwise block fit the output buffer, or the buffer for
 * broadcast elements. */
static void
check_elementwise(struct checker *c)
{
	const struct npu_op *op = &c->op;
	struct hwc b = op->block, u = op->ublock, out = op->extent;
	struct hwc a = op->ifm_scalar ? out : op->ifm.shape;
	struct hwc z = op->has_ifm2 && !op->ifm2_scalar ? op->ifm2.shape : out;
	int bytes = op->ifm.bits / 8;
	int64_t capacity_bricks = c->accel->chain_buffer / NPU_MAX_CHAINS / (16 * bytes) /
		       u.h;
	bool one = (!op->ifm_scalar && hwc_elements(op->ifm.shape) == 1) ||
		   (op->has_ifm2 && !op->ifm2_scalar &&
		    hwc_elements(op->ifm2.shape) == 1);
	bool in_c = is_broadcast(a, out, false, false, true) ||
		    is_broadcast(z, out, false, false, true);
	bool in_h = is_broadcast(a, out, true, false, false) ||
		    is_broadcast(z, out, true, false, false);
	bool in_w = is_broadcast(a, out, false, true, false) ||
		    is_broadcast(z, out, false, true, false);
	int64_t width = b.w - u.w + 1;
	if (one || (!in_c && !in_h)) {
		ERROR_IF(width * b.c * bytes > c->accel->out_buffer, c, 41,
			 "a row of %d columns and %d channels does not fit the output "
			 "buffer of %d bytes",
			 b.w, b.c, c->accel->out_buffer);
		return;
	}
	int64_t need = in_c ? in_h || in_w ? width : width * (b.h / u.h)
			    : width * ((b.c + 15) / 16);
	WARN_IF(need > capacity_bricks, c, 41,
		"%lld bricks of a broadcast operand repeat, the buffer holds %lld",
		(long long)need, (long long)capacity_bricks);
}

void
check_blocks85(struct checker *c)
{
	const struct npu_op *op = &c->op;
	struct hwc b = op->block, u = op->ublock, s = stored_block(op);
	struct hwc most = accel_generation(c->accel)->max_block;
	if (!u.c)
		return; /* rule 8 has reported it */

	/* limits (ethosu-memory(7) 28.1, 28.4) */
	ERROR_IF(s.h > most.h || s.w > most.w || s.c > most.c, c, 39,
		 "block %dx%dx%d is stored as %dx%dx%d, the largest stored block is "
		 "%dx%dx%d", b.h, b.w, b.c, s.h, s.w, s.c, most.h, most.w, most.c);
	if (op->kind != NPU_RESIZE)
		ERROR_IF(b.h % u.h || b.w % u.w, c, 39,
			 "block height and width %dx%d are no multiples of the "
			 "microblock's %dx%d", b.h, b.w, u.h, u.w);
	else
		ERROR_IF(b.h != 1 || b.c > BRICK, c, 39,
			 "RESIZE with block %dx%dx%d: the height must be 1, the depth at "
			 "most 16", b.h, b.w, b.c);
	ERROR_IF(b.c < op->extent.c && b.c % BRICK, c, 39,
		 "block depth %d divides %d channels and is no multiple of 16", b.c,
		 op->extent.c);
	bool weighted = (op->kind == NPU_CONV && !op->weights_ifm2) ||
			op->kind == NPU_DEPTHWISE;
	ERROR_IF(weighted && b.c < op->extent.c && b.c % u.c, c, 39,
		 "block depth %d is no multiple of the microblock's depth %d", b.c,
		 u.c);

	/* capacities (ethosu-memory(7) 28.3): the first operation of a chain has set the block
	 * for all */
	if (c->state85.is_member)
		return;
	if (op->kind == NPU_ELEMENTWISE) {
		check_elementwise(c);
	} else if (op->kind != NPU_RESIZE) {
		int64_t in = input_bytes(c);
		int64_t acc = (int64_t)b.h * b.w * round_up_i64(b.c, BRICK) *
			      (op->acc_format == 1 ? 8 : 4);
		ERROR_IF(in > c->accel->ifm_buffer, c, 41,
			 "the IFM block needs %lld bytes, the IFM buffer has %d",
			 (long long)in, c->accel->ifm_buffer);
		ERROR_IF(acc > c->accel->acc_buffer, c, 41,
			 "the accumulators need %lld bytes, the accumulator buffer has %d",
			 (long long)acc, c->accel->acc_buffer);
	}
}
