/* SPDX-License-Identifier: Apache-2.0 */
/* Reads operators with constant weights into the description of lower/conv.h. */
#ifndef TFL_PARTITION_CONV_H
#define TFL_PARTITION_CONV_H

#include "../part.h"

enum { MAX_WEIGHT_SUM = 127 * 65536 /* nputools-lowering(7) 4.9 */ };

/* the tensors and options of an operator that become members of struct low_conv */
struct filters {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
	int activation, padding;
	bool float_product; /* the reference multiplies IFM scale and weight scale in float32 */
	/* INT16 without a bias is summed in 64 bits, as the options' bias type says */
	bool wide;
};

/* conv.c: each returns NULL, or why the NPU can't run the operator */
/* sets f, where ifm is the input of the IFM, and checks that the options exist */
const char *read_filters(const struct part *p, const struct tfl_op *op,
			 const struct fb_table *options, int ifm, struct filters *f);
/* sets kernel, o, i and strides from dense weights in OHWI */
void take_kernel(struct low_conv *c, const struct tfl_tensor *weights);
/* sets the other members of o->conv, which has its geometry, and o->end */
const char *read_constants(const struct part *p, const struct filters *f, struct lop *o);
/* the matrix of FULLY_CONNECTED's weights: O,I, with any dimensions of 1 in between */
const char *read_matrix(const struct part *p, const struct tfl_tensor *t,
			int32_t *rows, int32_t *cols);

/* matmul.c: FULLY_CONNECTED with weights that are not constant */
const char *read_computed(const struct part *p, struct lop *o);
void lower_computed(struct part *p, const struct lop *o);

/* convlower.c: the convolution with its channels in the order in which they are stored */
struct low_conv stored_conv(struct part *p, const struct lop *o, int ifm);
/* NULL, or why the NPU can't scale the sums of a kernel that low_conv() can't run */
const char *check_large(const struct low_conv *c);
/* lowers CONV_2D and DEPTHWISE_CONV_2D, which read the IFM or the input of a folded PAD */
const char *lower_windows(struct part *p, const struct lop *o);

#endif
