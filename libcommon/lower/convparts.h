/* SPDX-License-Identifier: Apache-2.0 */
/* Building blocks of the convolution lowerings. */
#ifndef LOWER_CONVPARTS_H
#define LOWER_CONVPARTS_H

#include "lower/conv.h"

/* a range of the groups that one operation computes */
struct conv_groups {
	int32_t first, n;
};

/* convweights.c */
/*
 * The dilation that the hardware does, and the kernel extended by zeros for the rest of
 * the dilation.
 */
struct yx conv_dilation(const struct low_conv *c);
struct yx conv_taps(const struct low_conv *c);
/*
 * Advances *g, initially { 0 }, to the groups of the next operation.  Returns false
 * after the last one.
 */
bool conv_groups_next(const struct low_conv *c, struct conv_groups *g);
int64_t conv_group_ops(const struct low_conv *c); /* number of these operations */
/* Uses the model's weights in their place if their order fits, else makes a copy. */
struct g_weights *conv_weights(struct lower *l, const struct low_conv *c,
			       struct conv_groups g);
struct g_scales *conv_scales(struct lower *l, const struct low_conv *c,
			     struct conv_groups g);

/* conv.c */
struct yx conv_reach(const struct low_conv *c); /* extent of a window, with dilation */
/* Exchanges rows and columns if the kernel fits only then; call before making weights. */
void conv_exchange(struct low_conv *c, struct nd *in, struct nd *out);
/* Restricts in and out to the channels of some groups. */
void conv_slice(const struct low_conv *c, struct conv_groups g, struct nd *in,
		struct nd *out);
/* Makes the operation, except for OFM zero point and clamp. */
struct g_op *conv_op(struct lower *l, const struct low_conv *c, const struct nd *in,
		     const struct nd *out, struct yx stride, struct g_pad pad);
void conv_op_constants(struct g_op *op, struct g_weights *w, struct g_scales *s);
/*
 * Inputs of conv_run: weights and scales for all images.  Every window has to contain
 * some of the input.
 */
struct conv_job {
	const struct low_conv *c;
	struct g_weights *weights;
	struct g_scales *scales;
	const struct low_end *end;
};
void conv_run(struct lower *l, const struct conv_job *j, const struct nd *in,
	      const struct nd *out);
/*
 * Convert padding to elements of the input: conv_padded always, conv_input only if the
 * operations require it.
 */
struct nd conv_padded(struct lower *l, struct low_conv *c, const struct nd *in);
struct nd conv_input(struct lower *l, struct low_conv *c, const struct nd *in);

/* convlarge.c: returns the number of pieces into which the kernel is cut. */
int64_t conv_large_pieces(const struct low_conv *c);

#endif
