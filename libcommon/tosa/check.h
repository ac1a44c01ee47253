/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that several files of operator families share, and the families' functions. */
#ifndef TOSA_CHECK_H
#define TOSA_CHECK_H

#include "tosa/tosa.h"

struct check {
	const struct tosa_graph *g;
	const struct tosa_op *op;
	struct err *e;
};

/* Reports "operator 3 (ADD, y): ..."; returns false. */
bool check_bad(const struct check *c, const char *fmt, ...) PRINTF(2, 3);

/* sets of types */
#define T(type) (1u << TOSA_##type)
enum {
	T_FEATURE_MAPS = T(INT8) | T(INT16),
	T_WORDS = T(INT8) | T(INT16) | T(INT32),
	T_ALL = T(BOOL) | T(INT8) | T(INT16) | T(INT32),
};

/* operand k has one of these types */
bool check_in(const struct check *c, int k, unsigned types);
bool check_out(const struct check *c, int type);
bool check_rank(const struct check *c, const struct tosa_tensor *t, int rank);
/* the result has this shape */
bool check_shape(const struct check *c, int rank, const int64_t *dim);
bool check_like(const struct check *c, const struct tosa_tensor *t);
/*
 * Operand k is a zero point of tensor t: one element of t's type, which is 0 unless the
 * type is i8.
 */
bool check_zero(const struct check *c, int k, const struct tosa_tensor *t);
/* the vector attribute in this slot has n numbers */
bool check_list(const struct check *c, int slot, uint32_t n);
bool check_axis(const struct check *c);

/* check_window.c */
bool check_conv(const struct check *c);
bool check_transpose_conv(const struct check *c);
bool check_pool(const struct check *c);
bool check_matmul(const struct check *c);
/* check_move.c */
bool check_concat(const struct check *c);
bool check_pad(const struct check *c);
bool check_reshape(const struct check *c);
bool check_slice(const struct check *c);
bool check_tile(const struct check *c);
bool check_transpose(const struct check *c);
bool check_gather(const struct check *c);
bool check_scatter(const struct check *c);
bool check_resize(const struct check *c);
/* check_rescale.c */
bool check_rescale(const struct check *c);

#endif
