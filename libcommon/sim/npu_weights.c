/* SPDX-License-Identifier: Apache-2.0 */
/* Weight streams and scale records of an operation (7). */
#include "sim/npu.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "weights/weights.h"

#include <stdlib.h>
#include <string.h>

/* what decides the decoded form: the bytes and how they are read */
struct key {
	uint64_t hash[2];
	int64_t n[2];
	int32_t o, h, w, i, block_depth;
	int32_t traversal, ifm_bits, dilation_y, dilation_x, cores;
};

struct decoded {
	struct decoded *next;
	struct key key;
	struct npu_filters filters;
};

static struct weights_order
order_of(const struct npu_run *r, int core)
{
	const struct npu_op *op = &r->op;
	return (struct weights_order){
		.traversal = op->kind == NPU_DEPTHWISE ? WEIGHTS_DEPTHWISE
			     : op->part_kernel	       ? WEIGHTS_PART_KERNEL
						       : WEIGHTS_DEPTH_FIRST,
		.block_depth = op->block.c,
		.ou = r->accel->ublock.c,
		.ifm_bits = op->ifm.bits,
		.dilation_y = op->dilation_y,
		.dilation_x = op->dilation_x,
		.end = op->ofm.shape.c,
		.core = core,
		.cores = op->cores,
	};
}

static int32_t
input_depth(const struct npu_op *op)
{
	return op->kind == NPU_DEPTHWISE ? 1 : op->ifm.shape.c;
}

static struct weights_place
place_of(const struct npu_op *op, const struct npu_filters *f)
{
	int32_t w = op->kernel_w, i = input_depth(op), o = op->ofm.shape.c;
	struct weights_place p = { .p = f->w, .h = op->kernel_h, .w = w, .i = i };
	if (op->kind == NPU_DEPTHWISE) {
		p.stride_o = p.stride_i = 1;
		p.stride_x = o;
		p.stride_y = (ptrdiff_t)w * o;
	} else {
		p.stride_o = (ptrdiff_t)f->pitch;
		p.stride_y = (ptrdiff_t)w * i;
		p.stride_x = i;
		p.stride_i = 1;
	}
	return p;
}

/* is the block depth one that the order of weights can be walked with? */
static bool
check_order(struct npu_run *r, const struct weights_order *ord)
{
	int32_t depth = (ord->block_depth + ord->cores - 1 - ord->core) /
			ord->cores;
	int32_t channels = weights_order_channels(ord);
	if (channels <= depth || (depth > 0 && depth % ord->ou == 0))
		return true;
	return npu_fail(r, "OFM block depth %d is no multiple of %d on core %d "
			   "and splits %d channels (rule 39)", ord->block_depth,
			ord->ou, ord->core, channels);
}

/* one core's stream; the place is allocated by the first that decodes */
static bool
load_core(struct npu_run *r, int core, const uint8_t *p, struct npu_filters *f)
{
	const struct npu_op *op = &r->op;
	struct weights_order ord = order_of(r, core);
	if (!check_order(r, &ord))
		return false;
	size_t n = weights_order_count(&ord, op->kernel_h, op->kernel_w,
				       input_depth(op));
	struct bytes in = { .p = p, .n = (size_t)op->weights[core].n };
	struct weights_values v;
	struct err bad = { 0 };
	if (!weights_decode(r->a, in, (int64_t)n, &v, &bad))
		return npu_fail(r, "weights of core %d: %s", core, bad.text);
	if (!f->w) {
		size_t rows = (size_t)round_up_i64(op->ofm.shape.c, 4);
		size_t taps = (size_t)op->kernel_h * (size_t)op->kernel_w;
		f->w = op->kind == NPU_DEPTHWISE
			   ? anew(r->keep, int16_t, taps * (size_t)op->ofm.shape.c)
			   : anew(r->keep, int16_t, rows * (size_t)f->pitch);
	}
	struct weights_place place = place_of(op, f);
	size_t stray = weights_restore(v.v, &ord, &place);
	for (size_t i = 0; i < v.n; i++)
		if (abs(v.v[i]) > f->largest)
			f->largest = abs(v.v[i]);
	return !stray || npu_fail(r, "weights of core %d: %zu padding weights are "
				     "not zero", core, stray);
}

static bool
load_filters(struct npu_run *r, const uint8_t *const p[2],
	     struct npu_filters *f)
{
	const struct npu_op *op = &r->op;
	int64_t taps = (int64_t)op->kernel_h * op->kernel_w;
	f->pitch = round_up_i64(taps * input_depth(op), 16);
	/* values in a stream are at least those of the tensor, and a byte of
	 * stream holds 64 at most: refuse before anything is sized by it */
	int64_t n = op->weights[0].n + op->weights[1].n;
	if (taps * input_depth(op) > 64 * n / op->ofm.shape.c + 64)
		return npu_fail(r, "%lld bytes of weights can't hold %d filters "
				   "of %d x %d x %d", (long long)n,
				op->ofm.shape.c, op->kernel_h, op->kernel_w,
				input_depth(op));
	for (int core = 0; core < op->cores; core++)
		if (p[core] && !load_core(r, core, p[core], f))
			return false;
	return true;
}

bool
npu_load_filters(struct npu_run *r, struct npu_filters *out)
{
	const struct npu_op *op = &r->op;
	const uint8_t *p[2] = { NULL, NULL };
	struct key key = {
		.o = op->ofm.shape.c, .h = op->kernel_h, .w = op->kernel_w,
		.i = input_depth(op), .block_depth = op->block.c,
		.traversal = (int32_t)order_of(r, 0).traversal,
		.ifm_bits = op->ifm.bits, .dilation_y = op->dilation_y,
		.dilation_x = op->dilation_x, .cores = op->cores,
	};
	for (int core = 0; core < op->cores; core++) {
		struct weights_order ord = order_of(r, core);
		if (!weights_order_channels(&ord))
			continue;
		if (!op->weights[core].n)
			return npu_fail(r, "core %d has channels but no weights "
					   "(rule 32)", core);
		p[core] = range_read(r, &op->weights[core], "weights");
		if (!p[core])
			return false;
		key.n[core] = op->weights[core].n;
		key.hash[core] = hash_xxh3(p[core],
					   (size_t)op->weights[core].n);
		if (!npu_spend(r, (uint64_t)key.n[core]))
			return false;
	}
	for (struct decoded *d = r->cache; d; d = d->next)
		if (!memcmp(&d->key, &key, sizeof(key))) {
			*out = d->filters;
			return true;
		}
	struct decoded *d = anew(r->keep, struct decoded, 1);
	d->key = key;
	if (!load_filters(r, p, &d->filters))
		return false;
	d->next = r->cache;
	r->cache = d;
	*out = d->filters;
	return true;
}

/* ---- scale records (7.1) ------------------------------------------------ */

static bool
load_records(struct npu_run *r, int core, struct npu_channel *ch)
{
	const struct npu_op *op = &r->op;
	int32_t n = (op->ofm.shape.c - core + op->cores - 1) / op->cores;
	struct npu_range used = op->scales[core];
	if (n <= 0)
		return true;
	if (used.n < (int64_t)n * WEIGHTS_SCALE_SIZE)
		return npu_fail(r, "%lld bytes of scales for %d channels of core "
				   "%d (rule 32)", (long long)used.n, n, core);
	const uint8_t *p = range_read(r, &used, "scales");
	for (int32_t k = 0; p && k < n; k++) {
		struct weights_scale s;
		struct err bad = { 0 };
		if (!weights_scale_unpack(p + WEIGHTS_SCALE_SIZE * (size_t)k, &s,
					  &bad))
			return npu_fail(r, "scale of channel %d: %s",
					core + k * op->cores, bad.text);
		ch[core + k * op->cores] = (struct npu_channel){
			.bias = s.bias, .mult = s.scale, .shift = s.shift };
	}
	return p != NULL;
}

bool
npu_load_channels(struct npu_run *r, struct npu_channel **out)
{
	const struct npu_op *op = &r->op;
	struct npu_channel *ch = anew(r->a, struct npu_channel,
				      (size_t)op->ofm.shape.c);
	*out = ch;
	if (op->global_scale) {
		for (int32_t c = 0; c < op->ofm.shape.c; c++)
			ch[c] = (struct npu_channel){ .mult = op->ofm_mult,
						      .shift = op->ofm_shift };
		return true;
	}
	for (int core = 0; core < op->cores; core++)
		if (!load_records(r, core, ch))
			return false;
	return true;
}
