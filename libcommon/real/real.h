/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes a quantized or FLOAT32 network in real numbers.  Integers of weights and
 * biases have the values that they stand for.  Every operator is computed by its definition in
 * double, without rounding to a type; only fused activations clip values.  The order of all sums
 * is fixed, and base/functions.h has exp() and similar functions: the results are the same
 * on every machine.  run.c finds the function of an operator.  share.c gives tensors their
 * arrays, and values.c has the values.  The other files have the functions, one family per
 * file.
 */
#ifndef REAL_REAL_H
#define REAL_REAL_H

#include "base/functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfl_tensor;

struct real_span {
	double lo, hi;
};

struct real_state { /* a variable that the network keeps by name */
	int handle;
	size_t n;
	const double *initial;
};

struct real {
	struct arena *a;
	const struct tfl_subgraph *g;
	/* one array per tensor, in C order; of a handle: of its variable; NULL: none */
	double **value;
	struct real_state *state;
	size_t n_states, states_capacity;
	int32_t **sources;  /* one per operator (move.c); NULL: the operator computes */
	bool *has_function;	/* one per operator: false if it has no function */
	/* one per operator, of an LSTM: the range of its cell state over all steps of a run */
	struct real_span *inside;
};

/* Reads g's constants.  To run, a network needs arrays for its other tensors: real_share(). */
struct real *real_open(struct arena *a, const struct tfl_subgraph *g);
enum real_life {
	REAL_ALL,    /* each tensor has an array of its own, with zeros */
	REAL_NEEDED, /* a value lasts until the last operator that reads it has run, in order */
};
/*
 * A network that shares the constants of r, with arrays in a for all other tensors.
 * Outputs, variables and tensors that no operator writes keep their values in any case.
 */
struct real *real_share(struct arena *a, const struct real *r, enum real_life life);
/*
 * Gives a variable that the network keeps by name its initial value, before real_share().
 * Without it, READ_VARIABLE and ASSIGN_VARIABLE have no function.
 */
void real_add_state(struct real *r, int handle, const struct tfl_tensor *initial);
/* Sets all variables to 0, or to their initial values. */
void real_reset(struct real *r);
/* true if the operator can be computed in real numbers */
bool real_has_function(const struct real *r, int op);
/* The number of inputs of an elementwise operator of elements.c; 0: another operator. */
int real_elementwise(int code);
/* Computes the outputs of operator op from its inputs. real_has_function() is true for op. */
void real_run(struct real *r, int op);

/* true for a FLOAT32 tensor and a quantized tensor of integers: values in real numbers */
bool is_real(const struct tfl_tensor *t);
/* copies the floats, or dequantizes the integers, at p */
void real_from_elements(const struct tfl_tensor *t, const void *p, double *out);

/* ---- values.c: helpers for the files of functions ------------------------------ */

struct real_op {
	struct real *r;
	const struct tfl_op *op;
	int index;
};
const struct tfl_tensor *real_in(const struct real_op *o, int k); /* NULL: absent */
const struct tfl_tensor *real_out(const struct real_op *o, int k);
double *real_x(const struct real_op *o, int k); /* values of input k; NULL: absent */
double *real_y(const struct real_op *o, int k);
double real_clamp(double v, int64_t activation);
int64_t real_rows(const struct tfl_tensor *t); /* elements before the last dimension */
int32_t real_depth(const struct tfl_tensor *t); /* the last dimension */
/*
 * The block of t that is broadcast to block i of out, as the index of its first element.
 * A block has the last `inner` dimensions of its tensor.
 */
int64_t real_broadcast(const struct tfl_tensor *t, const struct tfl_tensor *out, int64_t i,
		       int inner);
/*
 * Reads a constant of integers.  Returns false if t is not constant, or has more than
 * max integers.
 */
bool real_ints(const struct tfl_tensor *t, int64_t *out, int max, int *n);

/*
 * elements.c: the operator's function of one value, of two values.  The operator's row has
 * real_unary or real_binary.
 */
double real_unary_value(const struct tfl_op *op, double v);
double real_binary_value(int code, double a, double b);

/*
 * products.c: element c of a bias, 0 if it is absent.  A bias has the scale of its channel's
 * sum (input scale times weight scale), whatever scale its own tensor has.
 */
double real_bias(const struct real_op *o, int input, int weights, int bias, int32_t c);

typedef void real_function(const struct real_op *o);
/* one function for each name in the column `real` of schema/operators.def */
#define OPERATOR(name, kernel, real, ...) real_function real_##real;
#include "operators.def"
#undef OPERATOR

/*
 * move.c: the source of each output element of an operator that only moves elements;
 * NULL: the network computes the positions
 */
int32_t *real_sources(struct arena *a, const struct tfl_subgraph *g, int op);

#endif
