/* SPDX-License-Identifier: Apache-2.0 */
/* What the lowerings of convolutions make their operations of. */
#ifndef LOWER_CONVPARTS_H
#define LOWER_CONVPARTS_H

#include "lower/conv.h"

/* some of the groups, which one operation computes */
struct conv_groups {
	int32_t first, n;
};

/* convweights.c */
/* what the hardware dilates by, and the kernel with zeros for the rest */
struct yx conv_dilation(const struct low_conv *c);
struct yx conv_taps(const struct low_conv *c);
/* those of the next operation, after { 0 } the first ones; false: that was all */
bool conv_groups_next(const struct low_conv *c, struct conv_groups *g);
int64_t conv_group_ops(const struct low_conv *c); /* how many that are */
/* in the model where they lie there as they are needed, else made */
struct g_weights *conv_weights(struct lower *l, const struct low_conv *c,
			       struct conv_groups g);
/* an output channel whatever the input is: one tap of 0 in one channel */
struct g_weights *conv_no_weights(struct lower *l, const struct low_conv *c);
struct g_scales *conv_scales(struct lower *l, const struct low_conv *c,
			     struct conv_groups g);

/* conv.c */
struct yx conv_reach(const struct low_conv *c); /* of a window, dilated */
/* rows for columns where a kernel fits that way only; before weights are made */
void conv_exchange(struct low_conv *c, struct nd *in, struct nd *out);
/* the channels of some groups in IFM and OFM */
void conv_slice(const struct low_conv *c, struct conv_groups g, struct nd *in,
		struct nd *out);
/* the operation, but for OFM zero point and clamp */
struct g_op *conv_op(struct lower *l, const struct low_conv *c, const struct nd *in,
		     const struct nd *out, struct yx stride, struct g_pad pad);
void conv_op_constants(struct g_op *op, struct g_weights *w, struct g_scales *s);
/* images through the same weights and scales, in windows that see some of the input */
struct conv_job {
	const struct low_conv *c;
	struct g_weights *weights;
	struct g_scales *scales;
	nd_made *made;
	void *ctx;
};
void conv_run(struct lower *l, const struct conv_job *j, const struct nd *in,
	      const struct nd *out);
/* padding becomes elements of the input: always, or where an operation has to */
struct nd conv_padded(struct lower *l, struct low_conv *c, const struct nd *in);
struct nd conv_input(struct lower *l, struct low_conv *c, const struct nd *in);

/* convstride.c: columns of an image of few channels, as many as a stride, become channels of
 * one column; weights, padding and `in` with them */
void conv_fold_stride(struct lower *l, struct low_conv *c, struct nd *in);

/* convlarge.c: into how many pieces the kernel is cut */
int64_t conv_large_pieces(const struct low_conv *c);

#endif
