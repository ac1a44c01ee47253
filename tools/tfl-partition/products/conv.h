/* SPDX-License-Identifier: Apache-2.0 */
/* Operators with weights. */
#ifndef TFL_PARTITION_CONV_H
#define TFL_PARTITION_CONV_H

#include "../part.h"

enum { MAX_WEIGHT_SUM = 127 * 65536 /* nputools-lowering(7) 4.9 */ };

/* conv.c: the matrix of FULLY_CONNECTED's weights: O,I, with any dimensions of 1 in between */
const char *read_matrix(const struct part *p, const struct tfl_tensor *t,
			int32_t *rows, int32_t *cols);

/* matmul.c: FULLY_CONNECTED with weights that are not constant */
const char *read_computed(const struct part *p, struct lop *o);
void lower_computed(struct part *p, const struct lop *o);

/* convlower.c: the convolution with its channels in the order in which they are stored */
struct low_conv stored_conv(struct part *p, const struct lop *o, int ifm);
/* NULL, or why the NPU can't scale the sums of a kernel that low_conv() can't run */
const char *check_large(const struct low_conv *c);

#endif
