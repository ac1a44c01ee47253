/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions with constant weights, whatever front end they come from. */
#ifndef LOWER_CONV_H
#define LOWER_CONV_H

#include "lower/nd.h"

struct low_conv {
	bool deep;	       /* a channel of the OFM reads one of the IFM: its own */
	const int8_t *weights; /* O,H,W,I; I is 1 where deep */
	int32_t o, i;
	struct yx kernel, stride, dilation;
	struct g_pad pad;
	int32_t ifm_zero, weight_zero;
	const int64_t *bias;	       /* of each channel */
	const struct npu_scale *scale; /* of each channel */
	enum g_round round;
	const char *name; /* of the weights */
};

/* NULL, or why the NPU can't; in and out are [N,H,W,C] */
const char *low_conv_check(struct arena *a, const struct low_conv *c,
			   const struct nd *in, const struct nd *out);
/* out's channels must be neighbours; `made` sets zero point, clamp and table */
void low_conv(struct lower *l, const struct low_conv *c, const struct nd *in,
	      const struct nd *out, nd_made *made, void *ctx);

#endif
