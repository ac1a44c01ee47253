/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with constant weights: what they have in common once their
 * options are read, and the NPU convolutions they become.
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
	int32_t o, i;	    /* channels out, and in for one of them */
	int32_t groups;	    /* the depth of both is cut into so many */
	int64_t strides[4]; /* of the weights' elements: O,H,W,I */
	bool float_product; /* ifm scale times weight scale in float32 */
	bool wide;	    /* int16 without bias is summed in 64 bits: its type says */
	enum g_op_kind kind;
};

/* conv.c: rules */
const char *check_conv_common(const struct part *p, const struct tfl_op *op,
			      const struct conv *c);
int64_t weight_zero(const struct conv *c, int o);
bool is_reduced(const struct conv *c);
bool channel_scale(const struct conv *c, int o, struct npu_scale *s);
/* weights of FULLY_CONNECTED: O,I with any ones between */
const char *read_matrix(const struct part *p, const struct tfl_tensor *t,
			int32_t *rows, int32_t *cols);
struct yx map_yx(const struct tfl_tensor *t);
/* CONV_2D or DEPTHWISE_CONV_2D, whatever it becomes; false: another operator */
bool conv_read(const struct part *p, const struct tfl_op *op, struct conv *c);
/* where it stands on its IFM, a PAD in front of it not folded */
struct window conv_window(const struct conv *c);

/* matmul.c: FULLY_CONNECTED with weights that are not constant */
const char *check_computed(const struct part *p, const struct tfl_op *op);
bool lower_computed(struct part *p, const struct tfl_op *op);

/* convlower.c */
/* the shape of it, without what each channel has; the padding is pad */
struct low_conv conv_shape(const struct conv *c, struct g_pad pad);
/* all of it */
struct low_conv conv_whole(struct part *p, const struct conv *c, struct g_pad pad);
nd_made conv_made; /* ctx: const struct conv: the OFM's zero point and clamp */
/* what the NPU can't, or a front end's scales of its sums */
const char *conv_check_shape(const struct part *p, const struct conv *c);
/* operations of an operator with a window, on the IFM or what a PAD in front reads */
void lower_windows(struct part *p, const struct tfl_op *op, const struct conv *c);

#endif
