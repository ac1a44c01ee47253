/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a graph are encoded into which weight stream. */
#include "emit/emit.h"

#include "graph/build.h"
#include "graph/facts.h"
#include "target/accel.h"
#include "target/blocks.h"

bool
emit_weights_view(struct arena *a, struct graph *g, const struct g_weights *w,
		  struct weights_view *out, struct err *e)
{
	const int32_t *d = w->shape.dim;
	struct bytes b;
	if (!graph_source(g, &w->rec, &w->source, &b, e))
		return false;
	int64_t stride[4] = { (int64_t)d[1] * d[2] * d[3], (int64_t)d[2] * d[3],
			      d[3], 1 };
	int64_t lo = w->offset, hi = w->offset;
	for (int i = 0; i < 4; i++) {
		int64_t reach;
		if (w->strides.n)
			stride[i] = w->strides.v[i];
		if (__builtin_mul_overflow(d[i] - 1, stride[i], &reach) ||
		    __builtin_add_overflow(reach < 0 ? lo : hi, reach,
					   reach < 0 ? &lo : &hi))
			return graph_err(g, w, e, "w%d: strides overflow", w->rec.id);
	}
	if (lo < 0 || hi >= (int64_t)b.n)
		return graph_err(g, w, e, "w%d reaches outside of its source of %zu "
				 "bytes", w->rec.id, b.n);
	bool is_unsigned = w->shape.type == TFL_UINT8;
	int32_t *zero = anew(a, int32_t, w->zero.n + 1), any = 0;
	for (size_t i = 0; i < w->zero.n; i++) {
		/* must be a value of the type: then differences have 9 bits */
		if (w->zero.v[i] < (is_unsigned ? 0 : INT8_MIN) ||
		    w->zero.v[i] > (is_unsigned ? UINT8_MAX : INT8_MAX))
			return graph_err(g, w, e, "w%d: zero point %lld is not a value "
						  "of type %s",
					 w->rec.id, (long long)w->zero.v[i],
					 is_unsigned ? "u8" : "i8");
		zero[i] = (int32_t)w->zero.v[i];
		any |= zero[i];
	}
	size_t n_zero = any ? w->zero.n : 0; /* zero points that are all 0 are the same as
					      * none */
	*out = (struct weights_view){
		.p = b.p + w->offset, .is_unsigned = is_unsigned,
		.o = d[0], .h = d[1], .w = d[2], .i = d[3],
		/* inside of b, except for strides of dimensions of size 1 */
		.stride_o = (ptrdiff_t)stride[0], .stride_y = (ptrdiff_t)stride[1],
		.stride_x = (ptrdiff_t)stride[2], .stride_i = (ptrdiff_t)stride[3],
		.zero = n_zero ? zero : NULL, .n_zero = n_zero,
	};
	return true;
}

static struct weights_order
order55(const struct accel *accel, const struct g_op *op)
{
	(void)op;
	return (struct weights_order){ .ou = accel->ublock.c,
				       .cores = accel->cores };
}

static struct weights_order
order85(const struct accel *accel, const struct g_op *op)
{
	struct block_query q = op_block_query(op, op->ofm.shape.h);
	bool wide = op_ifm_bits(op) == 16;
	return (struct weights_order){
		.ou = block_ublock(accel, &q).c,
		.cores = accel->streams, .quads = 1,
		.ifm_depth = block_ifm(accel, &q, op->block).c,
		.stride_y = op->stride.y, .stride_x = op->stride.x,
		.sparse = op->sparse != 0,
		/* zeros behind ten depthwise elements (ethosu-weights(7) 22.1) */
		.padding = accel->macs >= 1024		  ? 6
			   : accel->macs == 512 || wide ? 2
							  : 0,
	};
}

static struct weights_order (*const orders[GENERATIONS])(const struct accel *accel,
							 const struct g_op *op) = {
	[GEN_U55] = order55, [GEN_U65] = order55, [GEN_U85] = order85,
};

struct weights_order
emit_weights_order(const struct accel *accel, const struct g_op *op,
		   int slice, int core)
{
	const struct g_weights *w = op->weights;
	bool sliced = w->slices.n > 0;
	struct weights_order ord = orders[accel->generation](accel, op);
	ord.traversal = op->kind == OP_DEPTHWISE	     ? WEIGHTS_DEPTHWISE
			: op->traversal == PART_KERNEL ? WEIGHTS_PART_KERNEL
						       : WEIGHTS_DEPTH_FIRST;
	ord.block_depth = op->block.c;
	ord.ifm_bits = op_ifm_bits(op);
	ord.dilation_y = op->dilation.y;
	ord.dilation_x = op->dilation.x;
	ord.begin = sliced ? (int32_t)w->slices.v[slice] : 0;
	ord.end = sliced ? (int32_t)w->slices.v[slice + 1] : w->shape.dim[0];
	ord.core = core;
	return ord;
}

size_t
emit_scale_records(const struct weights_order *ord)
{
	enum { UNIT = 16 };
	int32_t n = weights_order_channels(ord);
	int32_t unit = ord->ou > UNIT ? ord->ou : UNIT;
	if (!ord->quads)
		return (size_t)n;
	return ord->core ? 0 : (size_t)((n + unit - 1) / unit * unit);
}

bool
emit_scale_record(const struct accel *accel, const struct g_op *op, size_t o,
		  uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e)
{
	const struct g_scales *s = op->scales;
	int64_t mult = s->mult.v[o], shift = s->shift.v[o];
	if (shift < 0 || shift > 63 || mult < 0 || mult > UINT32_MAX)
		return err_set(e, "channel %zu of s%d has multiplier %lld, shift %lld", o,
			       s->rec.id, (long long)mult, (long long)shift);
	struct weights_scale v = { .bias = s->bias.v[o], .scale = (uint32_t)mult,
				   .shift = (uint8_t)shift };
	return accel->generation == GEN_U85
		   ? weights_scale85_pack(&v, op->acc40 != 0, out, e)
		   : weights_scale_pack(&v, out, e);
}

int64_t
emit_scale_bytes(const struct accel *accel, const struct g_op *op,
		 int64_t channels)
{
	struct weights_order ord = orders[accel->generation](accel, op);
	ord.cores = 1;
	ord.end = (int32_t)channels;
	return (int64_t)weights_scales_size(emit_scale_records(&ord));
}
