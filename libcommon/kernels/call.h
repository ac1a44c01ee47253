/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels share: one call of one operator, and the checks that stand
 * between a model and the arithmetic.  Private to libcommon/kernels.
 */
#ifndef KERNELS_CALL_H
#define KERNELS_CALL_H

#include "base/fixed.h"
#include "kernels/kernels.h"

struct call {
	const struct tfl_subgraph *g;
	const struct tfl_op *op;
	const struct kernel_io *io;
	struct arena *a; /* scratch, gone after the call */
	struct err *e;
	/*
	 * Is it legal, nothing more: kernels return once they have checked, before
	 * they look at a value that is not constant.  Memory of such inputs, and of
	 * all outputs, is NULL; what widens them gives an array of one element.
	 */
	bool check;
	int64_t work;  /* steps that call_work was asked about */
	bool mismatch; /* the error is that shapes or types contradict each
			  other */
};

/* sets "operator INDEX (NAME): ...", returns false */
bool call_err(struct call *c, const char *fmt, ...) PRINTF(2, 3);
/*
 * The same, naming the output, where shapes or types contradict each other in
 * TensorFlow Lite, too: model_read refuses such a model.  What this reference
 * alone does not take is call_err's.
 */
bool call_mismatch(struct call *c, const char *fmt, ...) PRINTF(2, 3);

/* ---- tensors ------------------------------------------------------------ */

/* NULL when input k is absent */
const struct tfl_tensor *call_in(const struct call *c, int k);
const struct tfl_tensor *call_out(const struct call *c, int k);

/* min to max inputs, the first min of them present; n_out outputs */
bool call_arity(struct call *c, int min, int max, int n_out);

enum {
	T_I8 = 1, T_U8 = 2, T_I16 = 4, T_I32 = 8, T_I64 = 16, T_F32 = 32,
	T_BOOL = 64,
	T_8 = T_I8 | T_U8,
	T_QUANT = T_8 | T_I16,
	T_ANY = T_QUANT | T_I32 | T_I64 | T_F32 | T_BOOL,
};

/* is t's type among mask?  role is what the message calls it */
bool call_type(struct call *c, const struct tfl_tensor *t, const char *role,
	       unsigned mask);
bool call_same_type(struct call *c, const struct tfl_tensor *a,
		    const struct tfl_tensor *b);
bool call_same_shape(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);
bool call_same_count(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);

int32_t type_min(int type); /* of the integer types up to INT32 */
int32_t type_max(int type);

/* every dimension is at most 2^31 - 1, a volume at most 2^36: tflite.h */
struct nhwc {
	int32_t n, h, w, c;
};

/* the four dimensions of a tensor of rank 4 */
bool call_nhwc(struct call *c, const struct tfl_tensor *t, const char *role,
	       struct nhwc *out);

/*
 * Refuses an operator of more than 2^36 steps, outputs times steps for each: a
 * few bytes of file can ask for centuries, real networks for 2^33 in total.
 */
bool call_work(struct call *c, int64_t outputs, int64_t each);

/* elements before, at and behind dimension axis */
struct around {
	int64_t outer, n, inner;
};
struct around around_axis(const struct tfl_tensor *t, int axis);

/* axis or axis + rank, which must lie in [0, rank) */
bool call_axis(struct call *c, int64_t axis, int rank, int *out);

/* ---- elements ----------------------------------------------------------- */

/* tensor elements (I8 U8 I16 I32 BOOL) as int32, and back */
void narrow(const struct tfl_tensor *t, void *data, const int32_t *v);
int32_t *call_widen(struct call *c, int k);
void call_narrow(struct call *c, int k, const int32_t *v);

/* is out the shape that a and b broadcast to, NumPy's way? */
bool call_broadcast(struct call *c, const struct tfl_tensor *a,
		    const struct tfl_tensor *b, const struct tfl_tensor *out);

/* input k as int32, repeated to the shape of out, which it broadcasts to */
int32_t *call_spread(struct call *c, int k, const struct tfl_tensor *out);

/* all elements of an INT32 or INT64 input (axes, sizes...); NULL on error */
const int64_t *call_indices(struct call *c, int k, const char *role,
			    int64_t *n);

/* ---- quantization ------------------------------------------------------- */

struct affine {
	float scale;
	int32_t zero;
};

/* one finite positive scale and a zero point inside t's type */
bool call_affine(struct call *c, const struct tfl_tensor *t, const char *role,
		 struct affine *out);

/* do a and b have equal scale and zero point (or both none)? */
bool call_same_quant(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);

/* Q(m) of section 3.1, refusing what the reference's shifts can't express */
bool call_mult(struct call *c, double m, struct fixed_mult *out);

/*
 * The same, for values of so much at most (either sign): a multiplier above 1 is
 * refused where it would shift them out of 32 bits, which the reference leaves
 * undefined.
 */
bool call_mult_of(struct call *c, double m, int64_t most, struct fixed_mult *out);

/* how far a value of t's type lies from a zero point, at most */
int64_t type_width(int type);

/*
 * MBQM64 of section 3.1 for accumulators of any size: beyond 2^47, where the
 * reference stops, they saturate.  m.exp is at most MBQM64_EXP.
 */
enum { MBQM64_EXP = 7 };
int32_t wide_mbqm(int64_t acc, struct fixed_mult m);

struct range {
	int32_t lo, hi;
};

/* output range of a fused activation (3.1); refuses TANH, SIGN_BIT */
bool call_range(struct call *c, int64_t activation, const struct tfl_tensor *t,
		struct affine q, struct range *out);

/* floats.c: has the operator FLOAT32 operands, and does IEEE 754 fix what it gives? */
bool call_is_float(const struct call *c);

/* ---- one function an operator or family, by file ---------------------- */

#define KERNEL(code, run) bool run(struct call *c);
#include "kernels/list.def"
#undef KERNEL

#endif
