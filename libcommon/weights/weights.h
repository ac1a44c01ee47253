/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight streams and scale tables of Ethos-U: the order of weights in a stream, the
 * compression of that sequence (encode, decode), and the 10-byte records of bias and
 * scale.  Numbers below are sections of ethosu-weights(7).
 *
 * All functions are re-entrant: any number of threads may code different streams.
 */
#ifndef WEIGHTS_WEIGHTS_H
#define WEIGHTS_WEIGHTS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of a stream is weight - zero point: -255..255 (ethosu-weights(7) 1.1). */
#define WEIGHTS_VALUE_MAX 255
/*
 * Streams and scale tables are multiples of this many bytes (ethosu-weights(7) 1.7,
 * 5.1).
 */
#define WEIGHTS_ALIGN 16

/* ---- order: from a tensor to the sequence of a stream, and back ---- */

/*
 * Weights of one byte each: element (o, y, x, i) is p[o*stride_o + y*stride_y +
 * x*stride_x + i*stride_i].
 *
 * Any order of axes and slices of groups can be described (ethosu-weights(7) 2.1).  For
 * a kernel rotated by 180 degrees, p points at the last element and strides are
 * negative.
 */
struct weights_view {
	const uint8_t *p;  /* bit patterns of int8, or of uint8 if is_unsigned */
	bool is_unsigned;
	int32_t o, h, w, i;
	ptrdiff_t stride_o, stride_y, stride_x, stride_i;
	const int32_t *zero; /* zero points; NULL: all are 0 */
	size_t n_zero;	     /* 1: one for the tensor; o: one per output channel */
};

static inline const uint8_t *
weights_at(const struct weights_view *v, int32_t o, int32_t y, int32_t x, int32_t i)
{
	return v->p + o * v->stride_o + y * v->stride_y + x * v->stride_x + i * v->stride_i;
}

static inline int32_t
weights_zero(const struct weights_view *v, int32_t o)
{
	return !v->n_zero ? 0 : v->zero[v->n_zero == 1 ? 0 : o];
}

/* Returns a weight minus its zero point. */
static inline int32_t
weights_value(const struct weights_view *v, int32_t o, int32_t y, int32_t x, int32_t i)
{
	uint8_t b = *weights_at(v, o, y, x, i);
	return (v->is_unsigned ? b : (int8_t)b) - weights_zero(v, o);
}

enum weights_traversal {
	WEIGHTS_DEPTH_FIRST,
	WEIGHTS_PART_KERNEL,
	WEIGHTS_DEPTHWISE,
};

/*
 * The order of one stream: the part of one slice, output channels begin..end-1, that
 * core `core` of `cores` reads.
 *
 * The core has channels begin+core, begin+core+cores, ... in blocks of (block_depth +
 * cores-1 - core) / cores (ethosu-weights(7) 2.6).  On every core, block_depth has to
 * be a multiple of ou unless one block covers the slice (ethosu-weights(7) 2.3).
 */
struct weights_order {
	enum weights_traversal traversal;
	int32_t block_depth; /* depth of the operation's OFM block, all cores together */
	int32_t ou;	     /* depth of the OFM microblock: 4 on U55-32, else 8 */
	int32_t ifm_bits;    /* 8 or 16 */
	int32_t dilation_y, dilation_x; /* as the hardware register has it: 1 or 2 */
	int32_t begin, end;
	int32_t core, cores; /* on U85: stream and number of streams */
	/*
	 * U85 (ethosu-weights(7) 22.1) if quads is not 0: channels go to the streams in
	 * groups of four, and all streams have one length.  The members below are then
	 * used as well.
	 */
	int32_t quads;
	int32_t ifm_depth;	    /* depth of an IFM block, 16 to 128 channels */
	int32_t stride_y, stride_x; /* of the kernel */
	int32_t sparse;		    /* not 0: weights have 2:4 sparsity */
	int32_t padding;	    /* U85: zeros after ten depthwise elements */
};

/* Returns the number of output channels of the order's core; 0: the core has no stream. */
int32_t weights_order_channels(const struct weights_order *ord);

/*
 * Returns the number of values in the stream for a kernel of h x w and i input channels
 * (ethosu-weights(7) 2.7).
 */
size_t weights_order_count(const struct weights_order *ord, int32_t h,
			   int32_t w, int32_t i);

/*
 * Fills out[weights_order_count()] with weights minus zero points
 * (ethosu-weights(7) 2.3).
 */
void weights_reorder(const struct weights_view *v,
		     const struct weights_order *ord, int16_t *out);

/*
 * Destination of restored weights: element (o, y, x, i) is written to p[o*stride_o +
 * ...].  o counts from the slice's first channel, over all cores.
 */
struct weights_dest {
	int16_t *p;
	int32_t h, w, i;
	ptrdiff_t stride_o, stride_y, stride_x, stride_i;
};

/*
 * The inverse of weights_reorder for the weights_order_count() values of one stream.
 * Returns the number of padding values that are not zero; a valid stream has 0.
 */
size_t weights_restore(const int16_t *values, const struct weights_order *ord,
		       const struct weights_dest *place);

/* ---- the compressed stream ---- */

enum {
	WEIGHTS_LEVEL_MIN = 1,
	WEIGHTS_LEVEL_DEFAULT = 6,
	WEIGHTS_LEVEL_MAX = 9,
};

/*
 * Compresses n values (-255..255) into one stream with end marker and padding: a
 * multiple of 16 bytes in arena a.  For n = 0 the result is 16 bytes 0xff.
 *
 * Level 1 finds the best parameters for the whole stream.  From level 2 on, the stream
 * is cut into sections and slices, finer at each level.  Level 6 is the point of
 * diminishing returns: 80 million values per second; level 9 codes 1 million per second
 * and saves 0.03 to 0.05 %. Levels 8 and 9 make slices of some tens of weights, whose
 * cost for the hardware's decoder has not been measured.
 */
struct bytes weights_encode(struct arena *a, const int16_t *values, size_t n,
			    int level);

/*
 * Compresses the weights of a view in the order of a stream; otherwise as
 * weights_encode.
 */
struct bytes weights_encode_view(struct arena *a, const struct weights_view *v,
				 const struct weights_order *ord, int level);

/*
 * Returns the exact size in bytes of the result of weights_encode, without writing it.
 * For searches over slices and blocks.
 */
size_t weights_cost(const int16_t *values, size_t n, int level);
size_t weights_cost_view(const struct weights_view *v,
			 const struct weights_order *ord, int level);

/*
 * As weights_cost_view, and stores the result of the search in *coding, in arena a: the
 * sections and slices with their parameters, nputools-graph(5).  weights_encode_coding
 * can then write the stream without another search.
 */
size_t weights_cost_coding(struct arena *a, const struct weights_view *v,
			   const struct weights_order *ord, int level,
			   struct bytes *coding);
/*
 * Writes the stream that weights_encode_view would return at the coding's level,
 * without its search.  If the coding belongs to other weights, this function searches
 * instead.  If the coding is invalid, the result has p NULL.
 */
struct bytes weights_encode_coding(struct arena *a, const struct weights_view *v,
				   const struct weights_order *ord, int level,
				   struct bytes coding);

struct weights_values {
	int16_t *v;
	size_t n;
};

/*
 * Decodes one stream, or several stored one after another (ethosu-weights(7) 1.7), into
 * arena a.
 *
 * expected: the required number of values, or -1 for any number; -1 allocates up to 128
 * times the size of the input.  Refuses all errors of ethosu-weights(7) 1.8; the
 * message names the bit and the rule.
 */
bool weights_decode(struct arena *a, struct bytes in, int64_t expected,
		    struct weights_values *out, struct err *e);
/*
 * Largest stream that weights_decode accepts.  A run grows by at most 8 per bit, so
 * that run lengths stay far below 2^32.
 */
enum { WEIGHTS_MAX_BYTES = 1 << 26 };

/*
 * Returns true if weights_decode() would find the expected number of values.  Checks
 * the same rules in half of the time.
 */
bool weights_count(struct bytes in, size_t expected, struct err *e);

/*
 * Encodes n values for U85's fast decoder (ethosu-weights(7) 24): a table, then values
 * of 2, 4 or 8 bits.  plain: no table, as sparse weights require.
 *
 * The result is a multiple of WEIGHTS_FAST_ALIGN bytes in arena a.  p is NULL if the
 * values need a table-free format but span more than 255.
 */
enum { WEIGHTS_FAST_ALIGN = 32 };
struct bytes weights_fast_encode(struct arena *a, const int16_t *values, size_t n,
				 bool plain);
/*
 * Encodes the weights of a view, all streams of a slice in one stream (ord->core is
 * ignored).  weights_fast_cost_view returns only the size in bytes, 0 where p would be
 * NULL.
 */
struct bytes weights_fast_encode_view(struct arena *a, const struct weights_view *v,
				      const struct weights_order *ord);
size_t weights_fast_cost_view(const struct weights_view *v,
			      const struct weights_order *ord);
/* Decodes exactly n values; on failure e has the error. */
bool weights_fast_decode(struct arena *a, struct bytes in, size_t n,
			 struct weights_values *out, struct err *e);
/*
 * The fast format has one stream instead of n standard streams: it takes one chunk of
 * each in turn (ethosu-weights(7) 22.5).  Each stream has `count` values, joined has
 * n_streams * count.  chunk: weights_fast_chunk of the streams' order.
 */
size_t weights_fast_chunk(const struct weights_order *ord);
void weights_fast_join(const int16_t *const *streams, int n_streams, size_t count,
		       size_t chunk, int16_t *joined);
void weights_fast_split(const int16_t *joined, int n_streams, size_t count,
			size_t chunk, int16_t *const *streams);

/* ---- bias and scale records (ethosu-weights(7) 4.1) ---- */

#define WEIGHTS_SCALE_SIZE 10

/* output = (acc + bias) * scale / 2^shift, rounded as OFM_PRECISION selects */
struct weights_scale {
	int64_t bias;	/* signed, 40 bits */
	uint32_t scale;
	uint8_t shift;	/* 0..63 */
};

/* Returns the bytes of a slice's table of n records, with padding. */
size_t weights_scales_size(size_t n);

/*
 * Writes one record.  Returns false and writes nothing if the bias or the shift is out
 * of range.
 */
bool weights_scale_pack(const struct weights_scale *s,
			uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);

/*
 * U85's records: a bias of 32 bits and a multiplier of 31, or a bias of 48 bits and a
 * multiplier of 15 if wide (48-bit accumulators).  Fails as weights_scale_pack does,
 * and also if the multiplier is out of range.
 */
bool weights_scale85_pack(const struct weights_scale *s, bool wide,
			  uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);
bool weights_scale85_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE], bool wide,
			    struct weights_scale *s, struct err *e);

/* Reads one record.  Returns false if the reserved bits above the shift are set. */
bool weights_scale_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE],
			  struct weights_scale *s, struct err *e);

#endif
