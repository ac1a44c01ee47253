/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions with constant weights, for both front ends (nputools-lowering(7) 5.1).
 * Parameters beyond the hardware's registers become other weights or more operations:
 *
 *   - dilation above 2: zeros between the taps
 *   - groups: blocks on the diagonal of dense weights
 *   - stride above 3: one operation per row or column of the OFM
 *   - more than 64 kernel rows: rows and columns are exchanged
 *   - more than 4096 kernel elements: the sum of several convolutions
 *   - padding above the register's maximum: elements of the IFM
 */
#ifndef LOWER_CONV_H
#define LOWER_CONV_H

#include "base/bytes.h"
#include "lower/nd.h"

enum {
	/* limits of rows and of elements, with dilation */
	LOW_KERNEL_ROWS = 64, LOW_KERNEL = 4096,
	LOW_STRIDE = 3, LOW_DILATION = 2,
};

/*
 * Weights of one byte.  The weight of output channel o, row y, column x and input
 * channel i is v[first + o * stride[0] + y * stride[1] + x * stride[2] + i *
 * stride[3]].
 */
struct low_weights {
	const uint8_t *v;
	int type; /* TFL_INT8 or TFL_UINT8 */
	int64_t first, stride[4];
	const int64_t *zero;
	int32_t n_zero;	       /* 1: one zero point; else one per output channel */
	const struct g_source *source; /* location of v in the graph; NULL: not in the graph */
	const char *name;
	/*
	 * Orders of channels that feature maps have and v does not: output channel o is channel
	 * out[o] of v, input channel i is channel in[i], or not in v if in[i] is -1: its weights
	 * are the zero point.  NULL: the order of v.
	 */
	const int32_t *out, *in;
};

struct low_conv {
	enum g_op_kind kind; /* OP_CONV, OP_FC or OP_DEPTHWISE (with i = 1) */
	struct low_weights weights;
	int32_t o, i;	/* output channels; input channels that each of them reads */
	int32_t groups; /* number of groups of equal size; 1: each output reads all inputs */
	struct yx kernel, stride, dilation;
	struct g_pad pad;
	int32_t ifm_zero;
	const int64_t *bias;	       /* one per output channel */
	const struct npu_scale *scale; /* one per output channel */
	enum g_round round;
};

/* conv.c */
/*
 * Returns true if the hardware has the kernel.  Otherwise the sums of the kernel's
 * pieces need separate scaling (low_conv_large).
 */
bool low_conv_fits(const struct low_conv *c);
/*
 * Returns NULL, or the reason why the NPU cannot compute it.  `in` and `out` are
 * [N,H,W,C]; only their shapes and types are used.
 */
const char *low_conv_check(struct arena *a, const struct low_conv *c,
			   const struct nd *in, const struct nd *out);
/*
 * Lowers a convolution for which low_conv_fits.  Each image's channels must be
 * contiguous in `in` and `out` (nd_operand).  `end` ends each
 * operation; its scale is not used.
 */
void low_conv(struct lower *l, const struct low_conv *c, const struct nd *in,
	      const struct nd *out, const struct low_end *end);

/* convlarge.c: convolutions of 8 bits for which low_conv_fits is false */
/* Scales an image's sums [1,H,W,C], which include the bias, and writes them to out. */
typedef void low_scaled(void *ctx, const struct nd *sums, const struct nd *out);
void low_conv_large(struct lower *l, const struct low_conv *c, const struct nd *in,
		    const struct nd *out, low_scaled *scaled, void *ctx);

/* convweights.c: records of weights and scales that no struct low_conv describes */
/*
 * Makes weights [o][y][x][i] of bytes with a zero point of 0, in a blob called PREFIX and a
 * number.
 */
struct g_weights *low_weights_new(struct lower *l, const char *prefix, struct g_shape shape,
				  struct bytes b);
/* Makes n scale records, all of *scale if `same`.  bias NULL: all 0. */
struct g_scales *low_scales_new(struct lower *l, size_t n, const int64_t *bias,
				const struct npu_scale *scale, bool same);

/*
 * channels.c: copies channel map[o] of `from` to channel o of `to`, both [N,H,W,C], by
 * copies or by a 1x1 convolution.  low_picks_channels returns true if n channels of
 * `to` would take a convolution.
 */
void low_copy_channels(struct lower *l, const struct nd *from, const struct nd *to,
		       const int32_t *map);
bool low_picks_channels(const struct nd *from, const int32_t *map, int32_t n);

/*
 * transconv.c: transposed convolutions.  stride is the distance between the results of
 * adjacent inputs.  pad.top and pad.left are the positions by which the first input's
 * window begins before the OFM; negative: after its beginning.  dilation and groups are
 * 1.
 */
const char *low_transconv_check(struct arena *a, const struct low_conv *c,
				const struct nd *in, const struct nd *out);
void low_transconv(struct lower *l, const struct low_conv *c, const struct nd *in,
		   const struct nd *out, const struct low_end *end);

#endif
