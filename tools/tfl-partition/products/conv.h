/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with constant weights: their common description once the options are
 * read, and the NPU convolutions that they become.
 */
#ifndef TFL_PARTITION_CONV_H
#define TFL_PARTITION_CONV_H

#include "../part.h"

#include "lower/conv.h"

enum { MAX_WEIGHT_SUM = 127 * 65536 /* nputools-lowering(7) 4.9 */ };

struct conv {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
	int activation;
	struct yx kernel, stride, dilation;
	int padding;
	int32_t o, i;	    /* output channels, and input channels that each of them reads */
	int32_t groups;	    /* IFM and OFM channels are split into so many groups */
	int64_t strides[4]; /* of the weights, in elements: O,H,W,I */
	bool float_product; /* the reference multiplies IFM scale and weight scale in float32 */
	/* INT16 without a bias is summed in 64 bits, as the options' bias type says */
	bool wide;
	enum g_op_kind kind;
};

/* conv.c: NULL, or why the NPU can't run a convolution whose options have been read */
const char *check_conv_common(const struct part *p, const struct tfl_op *op,
			      const struct conv *c);
/* zero point of the weights of channel o, as the reference kernel uses it */
int64_t weight_zero(const struct conv *c, int o);
/* INT16 with sums of 64 bits: multipliers are reduced to 15 bits */
bool is_reduced(const struct conv *c);
/* multiplier and shift of output channel o; false: they can't be expressed */
bool channel_scale(const struct conv *c, int o, struct npu_scale *s);
/* the matrix of FULLY_CONNECTED's weights: O,I, with any dimensions of 1 in between */
const char *read_matrix(const struct part *p, const struct tfl_tensor *t,
			int32_t *rows, int32_t *cols);
/* sets kernel, o, i and strides from dense weights in OHWI */
void conv_take_filters(struct conv *c);
/*
 * Reads feature maps, weights (input 1) and bias, where ifm is the input of the IFM, and
 * checks that the options exist.
 */
const char *conv_read_operands(const struct part *p, const struct tfl_op *op,
			       const struct fb_table *options, int ifm, struct conv *c);
/* reads CONV_2D or DEPTHWISE_CONV_2D, whatever it becomes; false: not one for the NPU */
bool conv_read(const struct part *p, const struct tfl_op *op, struct conv *c);
/* output extent and padding on the operator's own IFM; a folded PAD is not included */
struct window conv_window(const struct conv *c);

/* matmul.c: FULLY_CONNECTED with weights that are not constant */
const char *check_computed(const struct part *p, const struct tfl_op *op);
bool lower_computed(struct part *p, const struct tfl_op *op);

/* convlower.c */
/* the geometry with padding `pad`, without weights, biases and scales */
struct low_conv conv_shape(const struct conv *c, struct g_pad pad);
/* the complete convolution, with the channels in the order in which they are stored */
struct low_conv conv_whole(struct part *p, const struct conv *c, struct g_pad pad);
nd_finish_op conv_made; /* sets the OFM's zero point and clamp; ctx: const struct conv */
/* NULL, or why the NPU can't run the shape or scale the sums of its parts */
const char *conv_check_shape(const struct part *p, const struct conv *c);
/* appends the operations; they read the IFM, or the input of a folded PAD */
void lower_windows(struct part *p, const struct tfl_op *op, const struct conv *c);

#endif
