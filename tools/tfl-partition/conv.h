/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators with constant weights: what they have in common once their
 * options are read, and the NPU convolutions they become.
 */
#ifndef TFL_PARTITION_CONV_H
#define TFL_PARTITION_CONV_H

#include "part.h"

enum {
	MAX_KERNEL_H = 64, MAX_KERNEL = 4096, MAX_STRIDE = 3, MAX_DILATION = 2,
	MAX_WEIGHT_SUM = 127 * 65536, /* nputools-lowering(7) 4.9 */
	MAX_MADE_WEIGHTS = 1 << 26, MAX_WINDOWS = 1024,
	MAX_PAD = 127, /* registers of 7 bits */
};

struct conv {
	const struct tfl_tensor *ifm, *weights, *bias, *ofm;
	int activation;
	struct yx kernel, stride, dilation;
	int padding;
	int32_t o, i;	    /* channels out, and in for one of them */
	int32_t groups;	    /* the depth of both is cut into so many */
	int64_t strides[4]; /* of the weights' elements: O,H,W,I */
	int64_t first;	    /* element of the weights that is the first tap */
	bool large;	    /* kernel or padding in pieces: convlarge.c */
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
const char *read_fc(const struct part *p, const struct tfl_op *op, struct conv *c);
struct yx map_yx(const struct tfl_tensor *t);
/* CONV_2D or DEPTHWISE_CONV_2D, whatever it becomes; false: another operator */
bool conv_read(const struct part *p, const struct tfl_op *op, struct conv *c);
/* where it stands on its IFM, a PAD in front of it not folded */
struct window conv_window(const struct conv *c);

/* matmul.c: FULLY_CONNECTED with weights that are not constant */
const char *check_computed(const struct part *p, const struct tfl_op *op);
bool lower_computed(struct part *p, const struct tfl_op *op);

/* convlower.c */
/* the weights as they lie in the model; offset in elements */
struct g_weights *conv_weights(struct part *p, const struct conv *c,
			       struct yx kernel, int64_t offset,
			       const int64_t strides[4]);
/* bias and scales of channels first to first + n */
struct g_scales *conv_scales(struct part *p, const struct conv *c, int32_t first,
			     int32_t n);
/* the keys of op that every convolution needs */
void conv_finish(struct g_op *op, const struct conv *c, struct g_weights *w,
		 struct g_scales *s);
struct layer { /* a convolution of some of the groups */
	int32_t first, n; /* groups */
	struct yx dilation, spread, kernel;
};
struct layer layer_of(const struct conv *c, int32_t first, int32_t n);
/* how many groups a layer should have */
int32_t layer_groups(const struct conv *c);
struct g_weights *layer_weights(struct part *p, const struct conv *c,
				const struct layer *l);
/* a PAD in front that was folded adds its padding and gives the true input */
int folded_pad(const struct part *p, const struct tfl_op *op, struct g_pad *pad);
/* convolutions of an operator with a window, over batches and groups */
void conv_windows(struct part *p, const struct tfl_op *op, const struct conv *c);

/* convlarge.c: the same for large ones */
const char *check_large(const struct part *p, const struct conv *c);
void conv_large(struct part *p, const struct tfl_op *op, const struct conv *c);

#endif
