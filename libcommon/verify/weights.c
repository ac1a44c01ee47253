/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rule 43: the weights decode to the values that the operation needs.  The weights are
 * constants of the model, or copies of constants: copies[] records the destinations of DMA.
 */
#include "verify/rules.h"

#include "base/fixed.h"
#include "stream/filters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes [at, at + n) of a region are a copy of the constants from `from` on. */
struct copied {
	struct npu_range to;
	int64_t from;
};

/* Weights that have been checked already. */
struct tried {
	struct tried *next;
	const uint8_t *p;
	int64_t n;
	struct weights_order order;
	int32_t h, w, i;
};

/* Drops copies that range r overwrites. */
static void
forget(struct checker *c, const struct npu_range *r)
{
	size_t n = 0;
	for (size_t i = 0; i < c->n_copies; i++) {
		const struct npu_range *to = &c->copies[i].to;
		if (to->region != r->region || !spans_overlap(to->at, to->n, r->at, r->n))
			c->copies[n++] = c->copies[i];
	}
	c->n_copies = n;
}

void
follow_copies(struct checker *c)
{
	const struct npu_op *op = &c->op;
	if (npu_is_kernel(op)) {
		struct npu_range tile[4];
		if (!npu_fm_stored(&op->ofm) || op->acc_kept)
			return;
		npu_fm_extent(&op->ofm, npu_fm_box(&op->ofm), tile);
		for (int t = 0; t < 4; t++)
			forget(c, &tile[t]);
		return;
	}
	if (op->dst_internal)
		return;
	bool plain = op->src_dims == 1 && op->dst_dims == 1 &&
		     !op->src_indexed && !op->dst_indexed;
	struct npu_range all = op->dst;
	if (!plain) /* the transfer may write anywhere in the region */
		all = (struct npu_range){ .region = op->dst.region,
					  .n = INT64_MAX };
	forget(c, &all);
	if (plain && op->src.region == 0 && !op->src_internal) {
		agrow(c->a, c->copies, c->n_copies, &c->cap_copies);
		c->copies[c->n_copies++] =
		    (struct copied){ .to = op->dst, .from = op->src.at };
	}
}

/* Returns the bytes of a range; NULL: they are no constants, or not available. */
static const uint8_t *
content(const struct checker *c, const struct npu_range *r)
{
	int64_t at = -1;
	if (r->region == 0)
		at = r->at;
	for (size_t i = 0; i < c->n_copies && at < 0; i++) {
		const struct copied *k = &c->copies[i];
		if (k->to.region == r->region && k->to.at <= r->at &&
		    r->n <= k->to.n - (r->at - k->to.at))
			at = k->from + (r->at - k->to.at);
	}
	if (at < 0 || !c->flash.p || at > (int64_t)c->flash.n ||
	    r->n > (int64_t)c->flash.n - at)
		return NULL;
	return c->flash.p + at;
}

static bool
was_tried(struct checker *c, const struct tried *t)
{
	for (const struct tried *k = c->tried; k; k = k->next)
		if (k->p == t->p && k->n == t->n && k->h == t->h &&
		    k->w == t->w && k->i == t->i &&
		    !memcmp(&k->order, &t->order, sizeof(k->order)))
			return true;
	struct tried *new = anew(c->a, struct tried, 1);
	*new = *t;
	new->next = c->tried;
	c->tried = new;
	return false;
}

/*
 * Checks that the values of one stream are 2:4 sparse and that its padding is 0.  Filters
 * of other streams are 0 in this buffer, which is 2:4 sparse, too.
 */
static bool
is_sparse_2_4(struct arena *a, const struct npu_op *op, const struct weights_order *ord,
	  const int16_t *v, struct err *bad)
{
	int32_t depth = npu_filter_depth(op), row = op->kernel_w * depth, o;
	int64_t pitch = (int64_t)op->kernel_h * row;
	int16_t *w = anew(a, int16_t, (size_t)(op->extent.c * pitch));
	struct weights_dest place = {
		.p = w, .h = op->kernel_h, .w = op->kernel_w, .i = depth,
		.stride_o = (ptrdiff_t)pitch, .stride_y = row, .stride_x = depth,
		.stride_i = 1,
	};
	if (weights_restore(v, ord, &place))
		return err_set(bad, "the padding of the weight stream is not 0");
	for (int64_t k = 0; k < op->extent.c * pitch; k++)
		if (abs(w[k]) > INT8_MAX)
			return err_set(bad,
				"weight %d is outside the range of the sparse format, -127 to "
					    "127", w[k]);
	o = npu_filter_not_sparse(op, w, pitch);
	return o < 0 || err_set(bad, "filter %d has more than two weights of four that are "
				     "not 0, too many for the sparse format", o);
}

/* The same for all streams that one stream of the fast decoder contains. */
static bool
are_sparse_2_4(struct arena *a, const struct npu_op *op, const struct weights_order *ord,
	   const int16_t *v, size_t count, struct err *bad)
{
	int16_t *stream[NPU_MAX_STREAMS];
	int n = ord->cores;
	for (int k = 0; k < n; k++)
		stream[k] = anew(a, int16_t, count);
	weights_fast_split(v, n, count, weights_fast_chunk(ord), stream);
	for (int k = 0; k < n; k++) {
		struct weights_order one = *ord;
		one.core = k;
		if (!is_sparse_2_4(a, op, &one, stream[k], bad))
			return false;
	}
	return true;
}

/*
 * Checks that the bytes decode to the number of values of n streams of this order, and that
 * the values suit the format.  (Rule 32 reports a sparse depthwise operation.)
 */
static bool
decodes(struct arena *a, const struct npu_op *op, const struct tried *t, int n,
	struct err *bad)
{
	struct bytes in = { .p = t->p, .n = (size_t)t->n };
	struct weights_values v;
	bool sparse = op->sparse_weights && op->kind == NPU_CONV;
	size_t count = weights_order_count(&t->order, t->h, t->w, t->i);
	if (op->fast_weights)
		return weights_fast_decode(a, in, count * (size_t)n, &v, bad) &&
		       (!sparse || are_sparse_2_4(a, op, &t->order, v.v, count, bad));
	if (!sparse)
		return weights_count(in, count, bad);
	return weights_decode(a, in, (int64_t)count, &v, bad) &&
	       is_sparse_2_4(a, op, &t->order, v.v, bad);
}

/* A decoding to be done by a thread. */
struct delayed_decoding {
	struct decoding d; /* must be the first member: its address is that of the struct */
	struct npu_op op;
	struct tried t;
	int core;
};

static void
decode(struct decoding *d)
{
	const struct delayed_decoding *x = (const struct delayed_decoding *)d;
	struct arena *a = arena_open();
	struct err bad = { 0 };
	if (!decodes(a, &x->op, &x->t, x->t.order.cores, &bad))
		(void)snprintf(d->text, sizeof(d->text), "weights of core %d: %.350s", x->core,
			       bad.text);
	arena_close(a);
}

void
check_weights(struct checker *c)
{
	const struct npu_op *op = &c->op;
	bool filters = (op->kind == NPU_CONV && !op->weights_ifm2) ||
		       op->kind == NPU_DEPTHWISE;
	for (int core = 0; core < op->cores; core++) {
		int32_t n = (op->extent.c - core + op->cores - 1) / op->cores;
		const uint8_t *p = content(c, &op->scales[core]);
		if (op->scales[core].n < (int64_t)n * WEIGHTS_SCALE_SIZE)
			continue;
		/* in records of 10 bytes, no bit is set above the shift (ethosu-commands(7) 7.1) */
		for (int32_t k = 0; p && k < n; k++) {
			struct err bad = { 0 };
			struct weights_scale s;
			if (npu_scale_record(op, c->accel, p + WEIGHTS_SCALE_SIZE * (size_t)k, &s,
					     &bad))
				continue;
			ERROR(c, 43, "scale of channel %d: %s", core + k * op->cores,
			      bad.text);
			break;
		}
	}
	if (!filters || op->ifm.bits > 16)
		return;
	for (int core = 0; core < npu_filter_streams(op, c->accel); core++) {
		struct tried t = { .p = content(c, &op->weights[core]),
				   .n = op->weights[core].n,
				   .order = npu_filter_order(op, c->accel, core),
				   .h = op->kernel_h, .w = op->kernel_w,
				   .i = npu_filter_depth(op) };
		int32_t channels = weights_order_channels(&t.order);
		/* rule 39 reports a block that permits no weight order */
		bool odd = !npu_filter_order_ok(&t.order);
		if (!t.p || !channels || odd || was_tried(c, &t))
			continue;
		struct delayed_decoding *x = anew(c->a, struct delayed_decoding, 1);
		*x = (struct delayed_decoding){ .op = *op, .t = t, .core = core };
		x->d.run = decode;
		x->d.weights = (int64_t)weights_order_count(&t.order, t.h, t.w, t.i);
		found_later(c, 43, &x->d);
	}
}
