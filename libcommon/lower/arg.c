/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ARG_MAX and ARG_MIN.  A 16-bit key has the value in its upper byte and the position
 * in its lower byte; the largest key has the result.  Positions count backwards, so
 * that the first position wins a tie.
 *
 * More than 256 elements are processed in segments.  The largest key of each segment
 * becomes a 32-bit key
 *
 *	(value + 128) * 2^23 + position from the end of the axis
 *
 * and the largest of these has the result.  Elements before and after the axis are
 * processed in blocks whose extents an operation supports.
 *
 * If the NPU has an ARGMAX pool, the pool searches along columns, in each channel.  A
 * last axis is first exchanged with the axes before it, unless the feature map is
 * small.
 */
#include "lower/arg.h"

#include "base/fixed.h"
#include "graph/facts.h"
#include "lower/linux.h"
#include "lower/pool.h"

#include <assert.h>

enum {
	SEGMENT = 256,
	POSITION_BITS = 23,
	MAX_POSITIONS = 1 << POSITION_BITS,
	/*
	 * Elements per block of a large feature map, to limit memory.  U85's pool needs
	 * a copy of the block in bytes, and few operations: 263,169 maxima of 21
	 * elements took 8.17 million cycles with 2^16 to 2^20.
	 */
	BLOCK_ELEMENTS = 1 << 16,
	POOL_ELEMENTS = 1 << 18,
	/*
	 * Feature maps up to this size are not transposed.  The transposing copy waits
	 * for its memory; without it, a microblock uses one channel of 8 or 16.
	 * Without the copy, 15x6 and 5x16 take the same cycles in SRAM, and half the
	 * cycles from DRAM.
	 */
	TURN_ELEMENTS = 1 << 8,
	MANY_ELEMENTS = 1 << 20,
	MAX_OPERATIONS = 4096,
	MAX_EXTENT = 65536,
};

/*
 * A part of the results: a range of rows (elements before the axis) and of columns
 * (elements after it).
 */
struct block {
	int64_t row, rows, column, columns;
};

/* Returns true if the NPU's ARGMAX pool computes it. */
static bool
low_arg_is_native(const struct lower *l, const struct low_arg *r)
{
	enum { MOST = 1 << 15 };
	return low_has(l, LACK_ARGMAX) && r->n <= MOST;
}

/* Returns true if 32-bit keys of a 16-bit value and a position are used. */
static bool
by_words(const struct lower *l, const struct low_arg *r)
{
	return r->type == TFL_INT16 && !low_arg_is_native(l, r);
}

/*
 * Returns the block size: one block if possible; smaller blocks for large feature maps,
 * so that not all keys are in memory at once.
 */
static struct block
block_size(const struct low_arg *r)
{
	int64_t columns = min_i64(r->behind, MAX_EXTENT);
	int64_t most = MAX_EXTENT;
	if (r->before * r->n * r->behind > MANY_ELEMENTS) {
		int64_t n = r->n < SEGMENT ? r->n : SEGMENT;
		most = n < BLOCK_ELEMENTS ? BLOCK_ELEMENTS / n : 1;
		/* limit the number of blocks */
		int64_t few = ceil_div_i64(r->before * r->behind, 128);
		most = min_i64(most > few ? most : few, MAX_EXTENT);
		columns = min_i64(columns, most);
	}
	/* words of several segments form one line of rows * columns */
	int64_t rows = r->n > SEGMENT || most < MAX_EXTENT ? most / columns : most;
	return (struct block){ .rows = min_i64(r->before, rows < 1 ? 1 : rows),
			       .columns = columns };
}

const char *
low_arg_check(const struct lower *l, const struct low_arg *r)
{
	struct arena *a = l->a;
	bool words = by_words(l, r);
	int64_t most = words ? MAX_EXTENT : MAX_POSITIONS;
	if (r->n > most)
		return arena_printf(a, "%lld elements to choose from: at most %lld",
				    (long long)r->n, (long long)most);
	if (words)
		return r->before > MAX_EXTENT || r->behind > MAX_EXTENT
			   ? "more than 65536 results before or behind the axis"
			   : NULL;
	struct block size = block_size(r);
	int64_t blocks = ceil_div_i64(r->before, size.rows) *
			 ceil_div_i64(r->behind, size.columns);
	return blocks * 4 * ceil_div_i64(r->n, SEGMENT) > MAX_OPERATIONS
		   ? arena_printf(a, "more than %d NPU operations", MAX_OPERATIONS)
		   : NULL;
}

/*
 * Makes keys of at most 256 elements along the middle axis of x: 256 * x + position, or
 * 256 * (-1 - x) + position for a minimum.  Writes the largest key of each row and column
 * to `to`, from element `at` on.
 */
static void
largest_keys(struct lower *l, const struct low_arg *r, const struct nd *x, struct g_tensor *to,
	int64_t at)
{
	struct hwc s = { .h = (int32_t)x->dim[0], .w = (int32_t)x->dim[1],
			 .c = (int32_t)x->dim[2] };
	struct nd v = *x;
	v.rank = s.c == 1 ? 2 : 3; /* with one column, the elements of a row are contiguous */
	struct g_operand from = nd_to_operand(&v);
	struct g_tensor *t = low_tensor(l, TFL_INT16, from.shape, NULL);
	struct npu_scale value = { .mult = 256 }, position = { .mult = 1 };
	struct g_op *o = low_op(l, r->max ? OP_ADD : OP_SUB, from, operand_whole(t));
	int32_t positions[SEGMENT], least = from.type == TFL_INT8 ? 0 : 128;
	for (int i = 0; i < s.w; i++)
		positions[i] = s.w - 1 - i - (from.type == TFL_INT8 ? 128 : 0);
	struct hwc line = { .h = 1, .w = s.c == 1 ? 1 : s.w, .c = s.c == 1 ? s.w : 1 };
	op_ifm2(o, low_const(l, from.type, line, positions), from.type == TFL_INT8 ? -128 : 0);
	op_unscaled(o);
	op_zeros(o, r->max ? least : least - 1, 0);
	G_PUT(o, OP, opa, r->max ? value : position);
	G_PUT(o, OP, opb, r->max ? 1 : 256);
	if (!r->max)
		G_PUT(o, OP, reversed, 1);
	struct g_operand best = { .t = to, .view = VIEW_STRIDED, .type = TFL_INT16,
				  .shape = { .h = s.h, .w = 1, .c = s.c },
				  .offset = at, .stride = { s.c, s.c, 1 } };
	(void)low_pool_window(l, OP_MAXPOOL, operand_reshape(t, s), best,
			      (struct yx){ .y = 1, .x = s.w });
}

/* Returns h x w bytes of 16-bit keys: byte 0 is the position, byte 1 the value. */
static struct g_operand
key_bytes(struct g_tensor *keys, int byte, int64_t h, int64_t w)
{
	return (struct g_operand){
		.t = keys, .view = VIEW_STRIDED,
		.type = byte ? TFL_INT8 : TFL_UINT8,
		.shape = { .h = (int32_t)h, .w = (int32_t)w, .c = 1 },
		.offset = byte, .stride = { 2 * w, 2, 1 },
	};
}

/* Returns a word of the block's results; INT64 results have two words. */
static struct g_operand
result_words(const struct low_arg *r, const struct block *b, struct g_operand ofm,
	     int word)
{
	int words = r->wide ? 2 : 1;
	ofm.type = TFL_INT32;
	ofm.view = VIEW_STRIDED;
	ofm.shape = (struct hwc){ .h = (int32_t)b->rows, .w = (int32_t)b->columns,
				  .c = 1 };
	ofm.offset = words * (b->row * r->behind + b->column) + word;
	ofm.stride[0] = words * r->behind;
	ofm.stride[1] = words;
	ofm.stride[2] = 1;
	return ofm;
}

/* Writes the high words of results, which are 0. */
static void
write_high(struct lower *l, struct g_operand low, struct g_operand ofm)
{
	struct g_op *o = low_op(l, OP_MUL, low, ofm);
	op_scalar(o, 0, 0);
	G_PUT(o, OP, reversed, 1);
	op_unscaled(o);
}

/*
 * Finds the best segment: converts the largest keys of all segments to positions from
 * the end, as words.
 */
static struct g_operand
choose_segment(struct lower *l, const struct low_arg *r, struct g_tensor *keys,
	       int32_t segments, int64_t w)
{
	struct g_operand bits = word_const(l, POSITION_BITS);
	struct g_operand value = word_widened(l, key_bytes(keys, 1, segments, w), -128);
	struct g_operand at = word_widened(l, key_bytes(keys, 0, segments, w), 0);
	/* for each segment, the distance from its last element to the end of the axis */
	int32_t *distance = anew(l->a, int32_t, (size_t)segments);
	for (int32_t s = 0; s < segments; s++) {
		int64_t end = SEGMENT * ((int64_t)s + 1);
		distance[s] = (int32_t)(r->n - (end < r->n ? end : r->n));
	}
	at = word_add(l, at, low_const(l, TFL_INT32, (struct hwc){ .h = segments, .w = 1, .c = 1 },
				       distance));
	value = word_shl(l, value, bits);
	struct g_operand all = word_add(l, value, at);
	struct nd v = { .t = all.t, .type = TFL_INT32, .rank = 3,
			.dim = { 1, segments, w }, .stride = { segments * w, w, 1 } };
	word_reduce_axis(l, OP_MAX, &v);
	struct g_operand best = nd_to_operand(&v);
	/* subtract half, as the shift rounds halves up */
	struct g_operand half = word_const(l, 1 << (POSITION_BITS - 1));
	value = word_shr(l, word_sub(l, best, half), bits);
	value = word_shl(l, value, bits);
	return word_sub(l, best, value);
}

static void
lower_block(struct lower *l, const struct low_arg *r, const struct block *b,
	    const struct nd *x, struct g_operand ofm)
{
	int32_t segments = (int32_t)ceil_div_i64(r->n, SEGMENT);
	int64_t w = b->rows * b->columns;
	struct hwc s = { .h = segments, .w = (int32_t)b->rows, .c = (int32_t)b->columns };
	struct g_tensor *keys = low_tensor(l, TFL_INT16, s, NULL);
	for (int32_t i = 0; i < segments; i++) {
		int64_t from = (int64_t)i * SEGMENT, n = r->n - from;
		struct nd v = nd_part(x, 0, b->row, b->rows);
		nd_slice(&v, 1, from, n < SEGMENT ? n : SEGMENT, 1);
		nd_slice(&v, 2, b->column, b->columns, 1);
		largest_keys(l, r, &v, keys, i * w);
	}
	struct g_operand low = key_bytes(keys, 0, b->rows, b->columns);
	struct g_operand first = result_words(r, b, ofm, 0);
	if (segments == 1) {
		(void)low_subtract_from(l, (int32_t)r->n - 1, low, first);
	} else {
		struct g_operand back = choose_segment(l, r, keys, segments, w);
		back = operand_reshape(back.t, first.shape);
		struct g_operand last = word_const(l, (int32_t)r->n - 1);
		struct g_op *o = low_pair(l, OP_SUB, back, last, first);
		G_PUT(o, OP, reversed, 1);
	}
	if (r->wide)
		write_high(l, low, result_words(r, b, ofm, 1));
}

/*
 * Returns the block size of the ARGMAX pool: everything, or a part of a large feature
 * map to limit memory.
 */
static struct block
pool_size(const struct low_arg *r)
{
	const struct block all = { .rows = r->before, .columns = r->behind };
	if (r->before <= MAX_EXTENT && r->behind <= MAX_EXTENT &&
	    r->before * r->n * r->behind <= MANY_ELEMENTS)
		return all;
	int64_t most = POOL_ELEMENTS / r->n, columns = min_i64(r->behind, MAX_EXTENT);
	int64_t rows = most / columns > 1 ? most / columns : 1;
	return (struct block){ .rows = min_i64(min_i64(rows, r->before), MAX_EXTENT),
			       .columns = columns };
}

/* Reverses the order of values: the first minimum becomes the first maximum. */
static struct g_operand
order_reversed(struct lower *l, struct g_operand x)
{
	struct g_operand y = low_new(l, x.type, x.shape);
	low_reverse_order(l, x, y);
	return y;
}

/* Writes the results of a block as words; INT64 results also get their high words. */
static void
deliver_words(struct lower *l, const struct low_arg *r, const struct block *b,
	      struct g_operand found, struct g_operand ofm)
{
	struct g_operand low = result_words(r, b, ofm, 0);
	found = operand_reshape(found.t, low.shape);
	(void)low_copy(l, found, low);
	if (r->wide)
		write_high(l, found, result_words(r, b, ofm, 1));
}

static void
find_natively(struct lower *l, const struct low_arg *r, const struct block *b, struct nd x,
	      struct g_operand ofm)
{
	bool all = b->rows == r->before && b->columns == r->behind;
	bool direct = all && !r->wide;
	nd_slice(&x, 0, b->row, b->rows, 1);
	nd_slice(&x, 2, b->column, b->columns, 1);
	if (r->behind == 1 && b->rows > 1 && b->rows * r->n > TURN_ELEMENTS) {
		/* copy x with the elements before the last axis as channels */
		static const int order[] = { 2, 1, 0 };
		struct hwc s = { .h = 1, .w = (int32_t)r->n, .c = (int32_t)x.dim[0] };
		struct g_operand y = low_new(l, x.type, s);
		struct nd to = nd_operand_of(y, 3, (int32_t[]){ 1, s.w, s.c });
		nd_permute(&x, order);
		nd_copy(l, &x, &to);
		x = to;
	}
	struct g_operand from = nd_to_operand(&x);
	if (!r->max)
		from = order_reversed(l, from);
	struct hwc s = { .h = from.shape.h, .w = 1, .c = from.shape.c };
	struct g_operand found = word_new(l, s), as;
	bool ok = operand_view(direct ? ofm : found, s, &as);
	assert(ok);
	struct g_op *o = low_op(l, OP_ARGMAX, from, as);
	G_PUT(o, OP, kernel, (struct yx){ .y = 1, .x = from.shape.w });
	if (!direct)
		deliver_words(l, r, b, found, ofm);
}

/*
 * Finds results by 32-bit keys: 65536 * value + distance from the end.  The lower half
 * of the largest key is the position of the first maximum.
 */
static void
find_by_words(struct lower *l, const struct low_arg *r, const struct nd *in,
	      struct g_operand ofm)
{
	const int64_t dim[3] = { 1, r->n, 1 };
	const struct block all = { .rows = r->before, .columns = r->behind };
	int32_t *at = anew(l->a, int32_t, (size_t)r->n);
	for (int64_t i = 0; i < r->n; i++)
		at[i] = (int32_t)(MAX_EXTENT - 1 - i);
	struct nd v = *in, place = nd_const(l, TFL_INT32, 3, dim, at);
	if (!r->max) {
		struct g_operand least = order_reversed(l, nd_to_operand(in));
		v.t = least.t;
		v.offset = 0;
	}
	struct nd x = nd_widen(l, &v, 0, TFL_INT32);
	x = nd_with_scalar(l, OP_SHL, &x, 16);
	x = nd_broadcast_op(l, OP_ADD, &x, &place);
	word_reduce_axis(l, OP_MAX, &x);
	/* subtract half a unit, as the shift rounds halves up */
	struct nd less = nd_with_scalar(l, OP_SUB, &x, 1 << 15);
	struct nd above = nd_with_scalar(l, OP_SHR, &less, 16);
	struct nd value = nd_with_scalar(l, OP_SHL, &above, 16);
	struct nd low = nd_broadcast_op(l, OP_SUB, &x, &value);
	struct nd last = nd_const_one(l, TFL_INT32, 3, MAX_EXTENT - 1);
	struct nd found = nd_broadcast_op(l, OP_SUB, &last, &low);
	deliver_words(l, r, &all, nd_to_operand(&found), ofm);
}

void
low_arg(struct lower *l, const struct low_arg *r, const struct nd *in,
	struct g_operand ofm)
{
	struct nd x = nd_as(nd_readable(l, in), (int64_t[]){ r->before, r->n, r->behind }, 3);
	struct g_operand dest = low_destination(l, ofm);
	if (by_words(l, r)) {
		find_by_words(l, r, &x, dest);
		low_deliver(l, dest, ofm);
		return;
	}
	bool native = low_arg_is_native(l, r);
	struct block size = native ? pool_size(r) : block_size(r), b = size;
	for (b.row = 0; b.row < r->before; b.row += size.rows)
		for (b.column = 0; b.column < r->behind; b.column += size.columns) {
			b.rows = min_i64(size.rows, r->before - b.row);
			b.columns = min_i64(size.columns, r->behind - b.column);
			if (native)
				find_natively(l, r, &b, x, dest);
			else
				lower_block(l, r, &b, &x, dest);
		}
	low_deliver(l, dest, ofm);
}
