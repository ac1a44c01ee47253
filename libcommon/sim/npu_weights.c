/* SPDX-License-Identifier: Apache-2.0 */
/* Weight streams and scale records of an operation (ethosu-commands(7) 7). */
#include "sim/npu.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "stream/filters.h"

#include <stdlib.h>
#include <string.h>

/*
 * Key of decoded filters: the bytes, and how they are read.  Its members are integers
 * without padding between them, so that memcmp() compares no padding.
 */
struct key {
	uint64_t hash[NPU_MAX_STREAMS];
	int64_t n[NPU_MAX_STREAMS];
	struct weights_order order;
	int32_t o, h, w, i;
	int64_t fast;
};

struct decoded {
	struct decoded *next;
	struct key key;
	struct npu_filters filters;
};

/* Stores the values of one stream in the filters. */
static bool
restore(struct npu_run *r, int k, const int16_t *v, size_t n,
	struct npu_filters *f)
{
	const struct npu_op *op = &r->op;
	struct weights_order ord = npu_filter_order(op, r->accel, k);
	int32_t h = op->kernel_h, w = op->kernel_w, depth = npu_filter_depth(op), o = op->extent.c;
	bool depthwise = op->kind == NPU_DEPTHWISE;
	if (!f->w) { /* the first stream */
		size_t rows = (size_t)round_up_i64(o, 4);
		size_t taps = (size_t)h * (size_t)w;
		f->w = depthwise ? anew(r->keep, int16_t, taps * (size_t)o)
				 : anew(r->keep, int16_t, rows * (size_t)f->pitch);
	}
	struct weights_dest place = { .p = f->w, .h = h, .w = w, .i = depth };
	if (depthwise) {
		place.stride_o = place.stride_i = 1;
		place.stride_x = o;
		place.stride_y = (ptrdiff_t)w * o;
	} else {
		place.stride_o = (ptrdiff_t)f->pitch;
		place.stride_y = (ptrdiff_t)w * depth;
		place.stride_x = depth;
		place.stride_i = 1;
	}
	size_t stray = weights_restore(v, &ord, &place);
	for (size_t i = 0; i < n; i++)
		if (abs(v[i]) > f->largest)
			f->largest = abs(v[i]);
	return !stray || npu_fail(r, "weights of core %d: %zu padding weights are "
				     "not zero", k, stray);
}

static size_t
count_of(const struct npu_run *r, int k)
{
	struct weights_order ord = npu_filter_order(&r->op, r->accel, k);
	return weights_order_count(&ord, r->op.kernel_h, r->op.kernel_w,
				   npu_filter_depth(&r->op));
}

/* Decodes the stream of the fast decoder, which holds those of all decoders in turn. */
static bool
load_fast(struct npu_run *r, const uint8_t *p, struct npu_filters *f)
{
	struct bytes in = { .p = p, .n = (size_t)r->op.weights[0].n };
	struct weights_order ord = npu_filter_order(&r->op, r->accel, 0);
	int n = ord.cores;
	size_t count = count_of(r, 0);
	struct weights_values v;
	struct err bad = { 0 };
	if (!weights_fast_decode(r->a, in, count * (size_t)n, &v, &bad))
		return npu_fail(r, "weights: %s", bad.text);
	int16_t *stream[NPU_MAX_STREAMS];
	for (int k = 0; k < n; k++)
		stream[k] = anew(r->a, int16_t, count);
	weights_fast_split(v.v, n, count, weights_fast_chunk(&ord), stream);
	for (int k = 0; k < n; k++)
		if (!restore(r, k, stream[k], count, f))
			return false;
	return true;
}

static bool
load_filters(struct npu_run *r, const uint8_t *const p[NPU_MAX_STREAMS],
	     struct npu_filters *f)
{
	const struct npu_op *op = &r->op;
	int64_t taps = (int64_t)op->kernel_h * op->kernel_w;
	int32_t depth = npu_filter_depth(op);
	f->pitch = round_up_i64(taps * depth, 16);
	/*
	 * A stream has at least as many values as the tensor, and a byte of a stream holds
	 * at most 64 values.  Refuse impossible sizes before allocating memory for them.
	 */
	int64_t n = npu_weight_bytes(op);
	if (taps * depth > 64 * n / op->extent.c + 64)
		return npu_fail(r, "%lld bytes of weights can't hold %d filters "
				   "of %d x %d x %d", (long long)n,
				op->extent.c, op->kernel_h, op->kernel_w, depth);
	if (op->fast_weights && !load_fast(r, p[0], f))
		return false;
	for (int k = 0; k < npu_filter_streams(op, r->accel); k++) {
		/* the stream of core or decoder k */
		struct bytes in = { .p = p[k], .n = (size_t)op->weights[k].n };
		struct weights_values v;
		struct err bad = { 0 };
		if (op->fast_weights || !p[k])
			continue;
		if (!weights_decode(r->a, in, (int64_t)count_of(r, k), &v, &bad))
			return npu_fail(r, "weights of core %d: %s", k, bad.text);
		if (!restore(r, k, v.v, v.n, f))
			return false;
	}
	if (!op->sparse_weights)
		return true;
	if (f->largest > INT8_MAX)
		return npu_fail(r, "sparse weights of %d (rule 43)", f->largest);
	int32_t o = npu_filter_not_sparse(op, f->w, f->pitch);
	return o < 0 || npu_fail(r, "filter %d has more than two weights of four "
				    "(rule 43)", o);
}

/* Reads the bytes of all streams, and sets the part of the key that depends on them. */
static bool
read_streams(struct npu_run *r, const uint8_t *p[NPU_MAX_STREAMS],
	     struct key *key)
{
	const struct npu_op *op = &r->op;
	for (int k = 0; k < npu_filter_streams(op, r->accel); k++) {
		struct weights_order ord = npu_filter_order(op, r->accel, k);
		if (!weights_order_channels(&ord))
			continue;
		if (!npu_filter_order_ok(&ord))
			return npu_fail(r, "OFM block depth %d is no multiple of %d on core %d "
					   "and splits %d channels (rule 39)", ord.block_depth,
					ord.ou, ord.core, weights_order_channels(&ord));
		if (!op->weights[k].n)
			return npu_fail(r, "core %d has channels but no weights "
					   "(rule 32)", k);
		p[k] = range_read(r, &op->weights[k], "weights");
		if (!p[k] || !npu_spend(r, (uint64_t)op->weights[k].n))
			return false;
		key->n[k] = op->weights[k].n;
		key->hash[k] = hash_xxh3(p[k], (size_t)key->n[k]);
	}
	return true;
}

bool
npu_load_filters(struct npu_run *r, struct npu_filters *out)
{
	const struct npu_op *op = &r->op;
	const uint8_t *p[NPU_MAX_STREAMS] = { NULL };
	struct key key = {
		.order = npu_filter_order(op, r->accel, 0),
		.o = op->extent.c, .h = op->kernel_h, .w = op->kernel_w,
		.i = npu_filter_depth(op), .fast = op->fast_weights,
	};
	if (!read_streams(r, p, &key))
		return false;
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

/* ---- scale records (ethosu-commands(7) 7.1) ----------------------------- */

bool
npu_load_channels(struct npu_run *r, struct npu_channel **out)
{
	const struct npu_op *op = &r->op;
	struct npu_channel *ch = anew(r->a, struct npu_channel,
				      (size_t)op->extent.c);
	*out = ch;
	if (op->global_scale) {
		for (int32_t c = 0; c < op->extent.c; c++)
			ch[c] = (struct npu_channel){ .mult = op->ofm_mult,
						      .shift = op->ofm_shift };
		return true;
	}
	for (int core = 0; core < op->cores; core++) {
		int32_t n = (op->extent.c - core + op->cores - 1) / op->cores;
		struct npu_range used = op->scales[core];
		if (n <= 0)
			continue;
		if (used.n < (int64_t)n * WEIGHTS_SCALE_SIZE)
			return npu_fail(r, "%lld bytes of scales for %d channels of core "
					   "%d (rule 32)", (long long)used.n, n, core);
		const uint8_t *p = range_read(r, &used, "scales");
		if (!p)
			return false;
		for (int32_t k = 0; k < n; k++) {
			struct weights_scale s;
			struct err bad = { 0 };
			if (!npu_scale_record(op, r->accel,
					      p + WEIGHTS_SCALE_SIZE * (size_t)k, &s, &bad))
				return npu_fail(r, "scale of channel %d: %s",
						core + k * op->cores, bad.text);
			ch[core + k * op->cores] = (struct npu_channel){
				.bias = s.bias, .mult = s.scale, .shift = s.shift };
		}
	}
	return true;
}
