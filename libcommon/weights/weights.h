/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight streams and scale tables that an Ethos-U reads: which weight
 * comes when (order), how the sequence is compressed (encode, decode), and the
 * 10-byte records of bias and scale.  Numbers below are sections of
 * ethosu-weights(7).
 *
 * Everything is re-entrant: any number of threads may code different streams.
 */
#ifndef WEIGHTS_WEIGHTS_H
#define WEIGHTS_WEIGHTS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A value of a stream is weight - zero point: -255..255 (1.1). */
#define WEIGHTS_VALUE_MAX 255
/* Streams and scale tables are multiples of this many bytes (1.7, 5.1). */
#define WEIGHTS_ALIGN 16

/* ---- order: from a tensor to the sequence of a stream, and back ---- */

/*
 * Where weights lie: element (o, y, x, i) is p[o*stride_o + y*stride_y +
 * x*stride_x + i*stride_i], one byte each.  Any order of axes, slices of
 * groups, and kernels turned by 180 degrees (p at the last element, negative
 * strides) are views (2.1).
 */
struct weights_view {
	const uint8_t *p;  /* int8 bit patterns unless is_unsigned */
	bool is_unsigned;
	int32_t o, h, w, i;
	ptrdiff_t stride_o, stride_y, stride_x, stride_i;
	const int32_t *zero; /* zero points; NULL: all are 0 */
	size_t n_zero;	     /* 1: of the tensor; else o: of each channel */
};

/* the usual views: [O,H,W,I], and [1,H,W,C] with O=C, I=1 */
struct weights_view weights_view_ohwi(const void *p, int32_t o, int32_t h,
				      int32_t w, int32_t i);
struct weights_view weights_view_depthwise(const void *p, int32_t h, int32_t w,
					   int32_t c);
/* the same weights with the kernel turned by 180 degrees (transpose conv) */
struct weights_view weights_view_turned(struct weights_view v);

enum weights_traversal {
	WEIGHTS_DEPTH_FIRST,
	WEIGHTS_PART_KERNEL,
	WEIGHTS_DEPTHWISE,
};

/*
 * The order of one stream: output channels begin..end-1 of one slice, as core
 * `core` of `cores` sees them (2.6: channels begin+core, begin+core+cores, ...
 * in blocks of (block_depth + cores-1 - core) / cores).  block_depth has to be
 * a multiple of ou on every core unless one block covers the slice (2.3).
 */
struct weights_order {
	enum weights_traversal traversal;
	int32_t block_depth; /* OFM block depth of the operation, all cores */
	int32_t ou;	     /* OFM ublock depth: 4 on U55-32, else 8 (2.2) */
	int32_t ifm_bits;    /* 8 or 16 */
	int32_t dilation_y, dilation_x; /* of the hardware: 1 or 2 */
	int32_t begin, end;
	int32_t core, cores; /* U85: stream, streams */
	/*
	 * U85 (ethosu-weights(7) 22.1), if quads is not 0: channels go to
	 * the streams in fours, all streams are of one length.  The order knows
	 * more of the operation, then.
	 */
	int32_t quads;
	int32_t ifm_depth;	    /* of an IFM block: 16 to 128 */
	int32_t stride_y, stride_x; /* of the kernel */
	int32_t sparse;		    /* 2:4 */
	int32_t padding;	    /* depthwise: P */
};

/*
 * The reference's choice for convolutions (2.5): true where part-kernel-first
 * wastes less padding than depth-first.
 */
bool weights_prefer_part_kernel(int32_t h, int32_t w, int32_t i,
				int32_t ifm_bits);

/* output channels of the order's core; 0: this core has no stream */
int32_t weights_order_channels(const struct weights_order *ord);

/* values in the stream for a kernel of h x w and i input channels (2.7) */
size_t weights_order_count(const struct weights_order *ord, int32_t h,
			   int32_t w, int32_t i);

/* fills out[weights_order_count()] with weights less zero points (2.3) */
void weights_reorder(const struct weights_view *v,
		     const struct weights_order *ord, int16_t *out);

/*
 * Where restored weights go: element (o, y, x, i) to p[o*stride_o + ...] with o
 * counted from the slice's begin, over all cores.
 */
struct weights_place {
	int16_t *p;
	int32_t h, w, i;
	ptrdiff_t stride_o, stride_y, stride_x, stride_i;
};

/*
 * The inverse of weights_reorder for one stream's weights_order_count()
 * values.  Returns how many padding values are not zero (0 in a sane stream).
 */
size_t weights_restore(const int16_t *values, const struct weights_order *ord,
		       const struct weights_place *place);

/* ---- the compressed stream ---- */

enum {
	WEIGHTS_LEVEL_MIN = 1,
	WEIGHTS_LEVEL_DEFAULT = 6,
	WEIGHTS_LEVEL_MAX = 9,
};

/*
 * Compresses n values (-255..255) into one stream, end marker and padding
 * included: a multiple of 16 bytes, owned by the arena.  Level 1 finds the best
 * parameters for the whole stream; from 2 on the stream is cut into sections
 * and slices, ever more finely.  6 is where more time stops paying (80 million
 * values a second, 9: 1 million and 0.03 to 0.05 % less).  8 and 9 make slices of
 * some tens of weights; what those cost the hardware's decoder is not known.
 * No values give 16 bytes 0xff.
 */
struct bytes weights_encode(struct arena *a, const int16_t *values, size_t n,
			    int level);

/* the same of the weights themselves in a stream's order */
struct bytes weights_encode_view(struct arena *a, const struct weights_view *v,
				 const struct weights_order *ord, int level);

/*
 * The size in bytes of what weights_encode would return, exactly, without
 * writing it: for searches over slices and blocks.
 */
size_t weights_cost(const int16_t *values, size_t n, int level);
size_t weights_cost_view(const struct weights_view *v,
			 const struct weights_order *ord, int level);

/*
 * What the search found, to be taken up by who writes the stream: its coding (which
 * sections and slices, with which parameters; nputools-graph(5)), from the arena.
 */
size_t weights_cost_coding(struct arena *a, const struct weights_view *v,
			   const struct weights_order *ord, int level,
			   struct bytes *coding);
/*
 * As weights_encode_view would find by itself at the level that the coding was found
 * at.  A coding of other weights is passed over, and the search made; p NULL: it is
 * none.
 */
struct bytes weights_encode_coding(struct arena *a, const struct weights_view *v,
				   const struct weights_order *ord, int level,
				   struct bytes coding);

struct weights_values {
	int16_t *v;
	size_t n;
};

/*
 * Decodes a stream, or several one behind the other (1.7), into the arena.
 * expected: the number of values there must be, -1 if unknown (then up to 128
 * times the input is allocated).  Refuses whatever 1.8 lists, naming the bit
 * and the rule.
 */
bool weights_decode(struct arena *a, struct bytes in, int64_t expected,
		    struct weights_values *out, struct err *e);
/* of a stream that it decodes: keeps the length of a run, at most 8 a bit, far inside
 * 32 bits */
enum { WEIGHTS_MAX_BYTES = 1 << 26 };

/* Would weights_decode() find the expected number?  As strict, in half of its time. */
bool weights_count(struct bytes in, size_t expected, struct err *e);

/*
 * U85's other format, for its fast decoder (ethosu-weights(7) 24): n values
 * of 2, 4 or 8 bits behind a table.  Values that span more than 255 can't be
 * written so: p NULL.  plain: without table, for sparse weights.  A multiple of
 * WEIGHTS_FAST_ALIGN bytes.
 */
enum { WEIGHTS_FAST_ALIGN = 32 };
struct bytes weights_fast_encode(struct arena *a, const int16_t *values, size_t n,
				 bool plain);
/* of the weights themselves, all streams of a slice in one (ord->core counts for
 * nothing); and its bytes alone, 0 where p would be NULL */
struct bytes weights_fast_encode_view(struct arena *a, const struct weights_view *v,
				      const struct weights_order *ord);
size_t weights_fast_cost_view(const struct weights_view *v,
			      const struct weights_order *ord);
/* n values, no more and no less, or e says what is wrong */
bool weights_fast_decode(struct arena *a, struct bytes in, size_t n,
			 struct weights_values *out, struct err *e);
/*
 * That format carries what the standard one has in n streams: chunks of each in
 * turn (2.5).  chunk: weights_fast_chunk of the streams' order.  values holds
 * streams x count; joined likewise.
 */
size_t weights_fast_chunk(const struct weights_order *ord);
void weights_fast_join(const int16_t *const *streams, int n_streams, size_t count,
		       size_t chunk, int16_t *joined);
void weights_fast_split(const int16_t *joined, int n_streams, size_t count,
			size_t chunk, int16_t *const *streams);

/* ---- bias and scale records (4.1) ---- */

#define WEIGHTS_SCALE_SIZE 10

/* out = (acc + bias) * scale / 2^shift, rounded as OFM_PRECISION says */
struct weights_scale {
	int64_t bias;	/* 40 bits signed */
	uint32_t scale;
	uint8_t shift;	/* 0..63 */
};

/* bytes of a slice's table of n records, padding included */
size_t weights_scales_size(size_t n);

/* false (and nothing written): the bias or the shift is out of range */
bool weights_scale_pack(const struct weights_scale *s,
			uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);

/*
 * U85's records: a bias of 32 bits and a multiplier of 31, or (wide: 48-bit
 * accumulators) of 48 and 15.  False as above, and where the multiplier is out of
 * range.
 */
bool weights_scale85_pack(const struct weights_scale *s, bool wide,
			  uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);
bool weights_scale85_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE], bool wide,
			    struct weights_scale *s, struct err *e);

/* false: the bits above the shift are set */
bool weights_scale_unpack(const uint8_t in[WEIGHTS_SCALE_SIZE],
			  struct weights_scale *s, struct err *e);

#endif
