/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions with constant weights, whatever front end they come from
 * (nputools-lowering(7) 5.1).  What the hardware has no register for becomes
 * other weights or more operations: dilation above 2 is zeros between the taps,
 * groups are blocks on the diagonal of dense weights, a stride above 3 is an
 * operation for every row or column of the OFM; a kernel of more than 64 rows has
 * them for columns, one of more than 4096 elements is the sum of several; padding
 * beyond a register's is elements of the IFM.
 */
#ifndef LOWER_CONV_H
#define LOWER_CONV_H

#include "lower/nd.h"

enum {
	LOW_KERNEL_ROWS = 64, LOW_KERNEL = 4096, /* rows, elements; dilated */
	LOW_STRIDE = 3, LOW_DILATION = 2,
	LOW_PAD = 127, /* registers of 7 bits */
};

/*
 * A byte each: the weight of output channel o, row y, column x and input channel
 * i is number first + o * stride[0] + y * stride[1] + x * stride[2] + i * stride[3].
 */
struct low_weights {
	const uint8_t *v;
	int type; /* TFL_INT8 or TFL_UINT8 */
	int64_t first, stride[4];
	const int64_t *zero;
	int32_t n_zero;	       /* 1, or of each output channel its own */
	const struct g_source *source; /* where the graph has v; NULL: nowhere */
	const char *name;
};

struct low_conv {
	enum g_op_kind kind; /* OP_CONV or OP_FC; OP_DEPTHWISE: I is 1 */
	struct low_weights weights;
	int32_t o, i;	/* output channels; input channels that each of them reads */
	int32_t groups; /* of as many channels each; 1: all read all */
	struct yx kernel, stride, dilation;
	struct g_pad pad;
	int32_t ifm_zero;
	const int64_t *bias;	       /* of each output channel */
	const struct npu_scale *scale; /* of each output channel */
	enum g_round round;
};

/* conv.c */
/* does the hardware have the kernel?  Else its pieces' sums are scaled apart */
bool low_conv_fits(const struct low_conv *c);
/* NULL, or why the NPU can't; in and out are [N,H,W,C], memory is not looked at */
const char *low_conv_check(struct arena *a, const struct low_conv *c,
			   const struct nd *in, const struct nd *out);
/*
 * A convolution that fits.  Each image's channels must be neighbours in in and
 * out (nd_operand); `made` sets zero point, clamp and table of the OFM.
 */
void low_conv(struct lower *l, const struct low_conv *c, const struct nd *in,
	      const struct nd *out, nd_made *made, void *ctx);

/* convlarge.c: one that does not fit, of 8 bits */
/* writes an image's sums [1,H,W,C], bias added, to out, scaled */
typedef void low_scaled(void *ctx, const struct nd *sums, const struct nd *out);
void low_conv_large(struct lower *l, const struct low_conv *c, const struct nd *in,
		    const struct nd *out, low_scaled *scaled, void *ctx);

/*
 * channels.c: channel map[o] of from becomes channel o of to, both [N,H,W,C], by copies
 * or by a convolution; whether by one, for n channels of to
 */
void low_copy_channels(struct lower *l, const struct nd *from, const struct nd *to,
		       const int32_t *map);
bool low_picks_channels(const struct nd *from, const int32_t *map, int32_t n);

/*
 * transconv.c: transposed; stride is between the results of neighbouring inputs,
 * pad.top and pad.left are how far the first input's window begins before the OFM
 * (below 0: behind its beginning); dilation and groups are 1.
 */
const char *low_transconv_check(struct arena *a, const struct low_conv *c,
				const struct nd *in, const struct nd *out);
void low_transconv(struct lower *l, const struct low_conv *c, const struct nd *in,
		   const struct nd *out, nd_made *made, void *ctx);

#endif
