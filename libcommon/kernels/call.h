/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all kernels: the state of one call of one operator, and the checks that a
 * model has to pass before any arithmetic.  Private to libcommon/kernels.
 */
#ifndef KERNELS_CALL_H
#define KERNELS_CALL_H

#include "base/fixed.h"
#include "kernels/kernels.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

struct call {
	const struct tfl_subgraph *g;
	const struct tfl_op *op;
	const struct kernel_io *io;
	struct arena *a; /* scratch memory, freed after the call */
	struct err *e;
	/*
	 * Only check the operator: kernels return after their checks, before they read
	 * an input that is not constant.  The memory of such inputs and of all outputs
	 * is NULL; call_widen returns an array of one element.
	 */
	bool check;
	int64_t work;  /* total steps passed to call_work */
	bool mismatch; /* the error is a contradiction of shapes or types */
};

/* Sets the error "operator INDEX (NAME): ..." and returns false. */
bool call_err(struct call *c, const char *fmt, ...) PRINTF(2, 3);
/*
 * As call_err, and names the output, for a contradiction of shapes or types that
 * TensorFlow Lite refuses, too.  model_read refuses such a model.  Limits of this
 * reference only are reported by call_err.
 */
bool call_mismatch(struct call *c, const char *fmt, ...) PRINTF(2, 3);

/* ---- tensors ------------------------------------------------------------ */

/* NULL if input k is absent */
const struct tfl_tensor *call_in(const struct call *c, int k);
const struct tfl_tensor *call_out(const struct call *c, int k);

enum {
	T_I8 = 1, T_U8 = 2, T_I16 = 4, T_I32 = 8, T_I64 = 16, T_F32 = 32,
	T_BOOL = 64, T_I4 = 128,
	T_8 = T_I8 | T_U8,
	T_QUANT = T_8 | T_I16,
	T_ANY = T_QUANT | T_I32 | T_I64 | T_F32 | T_BOOL,
};

/* Checks that t has one of the types in mask.  role: name of the tensor in the message. */
bool call_type(struct call *c, const struct tfl_tensor *t, const char *role,
	       unsigned mask);
bool call_same_type(struct call *c, const struct tfl_tensor *a,
		    const struct tfl_tensor *b);
bool call_same_shape(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);
bool call_same_count(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);

int32_t type_min(int type); /* for the integer types up to INT32; other types as BOOL */
int32_t type_max(int type);

/* Each dimension is at most 2^31 - 1, a volume at most 2^36: tflite.h. */
struct nhwc {
	int32_t n, h, w, c;
};

/* Returns the four dimensions of a tensor of rank 4. */
bool call_nhwc(struct call *c, const struct tfl_tensor *t, const char *role,
	       struct nhwc *out);

/*
 * Counts `each` steps for each of the outputs, and refuses an operator of more than
 * 2^36 steps in one call.  A few bytes of file can ask for centuries of work; real
 * networks need 2^33 steps in total.
 */
bool call_work(struct call *c, int64_t outputs, int64_t each);

/* the number of elements before, along and after a dimension */
struct around {
	int64_t outer, n, inner;
};
struct around around_axis(const struct tfl_tensor *t, int axis);

/* Converts an axis, which must be in [-rank, rank), to one in [0, rank). */
bool call_axis(struct call *c, int64_t axis, int rank, int *out);

/* ---- elements ----------------------------------------------------------- */

/*
 * Convert the elements of a tensor (I8 U8 I16 I32 BOOL) to int32 and back.  call_widen
 * takes input k, call_narrow output k.
 */
void narrow(const struct tfl_tensor *t, void *data, const int32_t *v);
int32_t *call_widen(struct call *c, int k);
void call_narrow(struct call *c, int k, const int32_t *v);

/* Checks that a and b broadcast to the shape of out, by NumPy's rules. */
bool call_broadcast(struct call *c, const struct tfl_tensor *a,
		    const struct tfl_tensor *b, const struct tfl_tensor *out);

/* Returns input k as int32, broadcast to the shape of out. */
int32_t *call_broadcast_input(struct call *c, int k, const struct tfl_tensor *out);

/* Returns all elements of an INT32 or INT64 input (axes, sizes...); NULL on error. */
const int64_t *call_indices(struct call *c, int k, const char *role,
			    int64_t *n);

/* ---- quantization ------------------------------------------------------- */

struct affine {
	float scale;
	int32_t zero;
};

/* Requires one finite positive scale, and a zero point inside t's type. */
bool call_affine(struct call *c, const struct tfl_tensor *t, const char *role,
		 struct affine *out);

/* Checks that a and b have equal scale and zero point, or both none. */
bool call_same_quant(struct call *c, const struct tfl_tensor *a,
		     const struct tfl_tensor *b);

/* Refuses declared quantizations that the kernel would ignore: declared.c. */
bool call_quantization(struct call *c);

/*
 * Returns Q(m) of nputools-lowering(7) 3.1; refuses a multiplier that the reference's
 * shifts cannot express.
 */
bool call_mult(struct call *c, double m, struct fixed_mult *out);

/*
 * As call_mult, for values of magnitude up to `most`.  Refuses a multiplier above 1
 * that would shift such values out of 32 bits, which the reference leaves undefined.
 */
bool call_mult_of(struct call *c, double m, int64_t most, struct fixed_mult *out);

/* Returns the largest distance between a value of t's type and a zero point. */
int64_t type_width(int type);

/*
 * MBQM64 of nputools-lowering(7) 3.1 for accumulators of any size.  Accumulators
 * saturate beyond 2^47, the limit of the reference.  m.exp is at most MBQM64_EXP.
 */
enum { MBQM64_EXP = 7 };
int32_t wide_mbqm(int64_t acc, struct fixed_mult m);

struct range {
	int32_t lo, hi;
};

/*
 * Sets the output range of a fused activation (nputools-lowering(7) 3.1); refuses TANH
 * and SIGN_BIT.
 */
bool call_range(struct call *c, int64_t activation, const struct tfl_tensor *t,
		struct affine q, struct range *out);

/*
 * floats.c: returns true if the operands are FLOAT32 and IEEE 754 defines the
 * operator's result exactly.
 */
bool call_is_float(const struct call *c);

/* ---- one function per operator or family, by file --------------------- */

#define OPERATOR(name, kernel, ...) bool kernel_##kernel(struct call *c);
#include "operators.def"
#undef OPERATOR

#endif
