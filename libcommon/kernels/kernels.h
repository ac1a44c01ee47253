/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference kernels of TensorFlow Lite Micro, bit for bit, with its double
 * rounding: nputools-lowering(7) 3.  Each operator family has one file.
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "tflite/types.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct bytes;
struct err;
struct hash_table;
struct tfl_model;
struct tfl_op;
struct tfl_subgraph;
struct tfl_tensor;

/*
 * The memory of an operator's tensors, by position; NULL for an absent optional input.
 *
 * Each tensor has tfl_bytes() bytes in C order.  Memory is aligned to its element,
 * except for constants, which may have any address inside the file.  Elements are
 * little-endian on every host, as in files and in the NPU's memory.  Inputs that are
 * variables (states of LSTM and SVDF) are updated in place.
 */
struct kernel_io {
	void *const *in;
	void *const *out;
};

/*
 * Positions of the inputs of UNIDIRECTIONAL_SEQUENCE_LSTM (nputools-tflite(5) 6.2).  Each gate
 * has weights, recurrent weights and a bias, one after the other.
 */
enum {
	LSTM_X = 0, LSTM_WEIGHTS = 1, LSTM_RECURRENT = 5, LSTM_PEEPHOLE = 9, LSTM_BIAS = 12,
	LSTM_PROJECTION = 16, LSTM_HIDDEN = 18, LSTM_CELL = 19, LSTM_NORM = 20,
	LSTM_N_INPUTS = 24,
};
enum { LSTM_INPUT, LSTM_FORGET, LSTM_CANDIDATE, LSTM_OUTPUT, LSTM_N_GATES }; /* gates */

/*
 * Maps the positions of STRIDED_SLICE to dimensions: at[d] is the position, among the n
 * of begin, end and strides, that applies to dimension d of the input; -1: no position
 * applies, and the whole dimension is taken.  A new axis has a position but no
 * dimension; the ellipsis has one position for several dimensions.
 *
 * Returns false if there are more positions than dimensions.
 */
bool slice_positions(int rank, int64_t n, int64_t ellipsis_mask,
		     int64_t new_axis_mask, int at[TFL_MAX_RANK]);

/* Returns true if a kernel for this builtin operator exists. */
bool kernel_exists(int code);
/*
 * The column `inputs` of schema/operators.def.  The first `least` inputs are present.  Both
 * other numbers are INT32_MAX if the kernel takes any number, or checks its own inputs.
 */
struct kernel_inputs {
	int least, most, outputs;
};
const struct kernel_inputs *kernel_inputs(int code);

/*
 * Returns true if kernel_eval would run the operator, whatever the values of its inputs
 * are; otherwise e has the reason.  The checks of the kernel itself decide.  Errors
 * that depend on computed values, such as a SOFTMAX row with too large a sum or the
 * logarithm of a negative number, are found by kernel_eval only.
 */
bool kernel_check(const struct tfl_subgraph *g, const struct tfl_op *op,
		  struct err *e);

/*
 * Returns false if op is malformed: the shapes or types of its tensors contradict each other,
 * the number of inputs is wrong, or its activation is unknown.  kernel_check finds the same
 * errors.
 *
 * Returns true if the reference refuses op for another reason, if it has no kernel for
 * op, or if the model leaves a shape open.  kernel_file_shapes_agree() takes the shape in the
 * file for an open one, as TensorFlow Lite Micro does.
 */
bool kernel_file_shapes_agree(const struct tfl_subgraph *g, const struct tfl_op *op,
			      struct err *e);
bool kernel_shapes_agree(const struct tfl_subgraph *g, const struct tfl_op *op,
			 struct err *e);

/*
 * Returns the steps of products and windows that kernel_eval takes.  0: kernel_eval
 * would refuse op, or takes only a few steps per element.
 */
int64_t kernel_work(const struct tfl_subgraph *g, const struct tfl_op *op);

/*
 * Runs one operator of g.  Checks everything that a model can get wrong before use:
 * number and types of tensors, shapes, options, axes, scales.
 *
 * On failure e has "operator INDEX (NAME): rule", and the outputs are undefined.
 * Scratch memory is freed on return.
 */
bool kernel_eval(const struct tfl_subgraph *g, const struct tfl_op *op,
		 const struct kernel_io *io, struct err *e);

/*
 * declared.c: returns false, with the reason in e, if the kernel of TensorFlow Lite Micro
 * refuses or ignores the quantizations that op declares: a fixed output quantization, or
 * equal ones for CONCATENATION, pools, REDUCE_MAX and REDUCE_MIN of int8.
 */
bool kernel_takes_quantization(const struct tfl_subgraph *g, const struct tfl_op *op,
			       struct err *e);
/*
 * declared.c: the name after "Add" of the function that registers a builtin operator with a
 * MicroMutableOpResolver of TensorFlow Lite Micro; NULL: that class has none
 */
const char *kernel_adder(int code);
/*
 * declared.c: returns false, with the reason in e, if TensorFlow Lite Micro has no kernel of op,
 * or none that takes the type of its first input.  Only operators whose kernel takes FLOAT32
 * alone are known by type.
 */
bool kernel_is_in_micro(const struct tfl_subgraph *g, const struct tfl_op *op, struct err *e);
/*
 * Returns true if kernel_eval computes what op declares, as other compilers do, although
 * TensorFlow Lite Micro does not: LOGISTIC, TANH and CONCATENATION of int8.
 * kernel_eval refuses other operators of which kernel_takes_quantization is false.
 */
bool kernel_computes_declared(const struct tfl_subgraph *g, const struct tfl_op *op);
/* Returns true if op is a CONCATENATION that rescales this input to the output. */
bool kernel_rescales(const struct tfl_op *op, const struct tfl_tensor *in,
		     const struct tfl_tensor *out);
/*
 * unequal.c: true if a kernel takes integers of one tensor as those of another: it moves,
 * selects or compares them, or calls a subgraph
 */
bool kernel_copies_integers(int code);
/*
 * Returns false, with "scale ... in, ... out" in e and the index of one of the operator's
 * tensors, if such an operator of a subgraph of m has another quantization at an output than
 * at an input, or than the subgraph that it calls.  See kernel_computes_declared.  So does an
 * operator that reads or assigns a variable with another quantization than the first such
 * operator; the caller calls in the order of the model, and keeps the table, empty at first.
 */
bool kernel_equal_quantization(const struct tfl_model *m, int subgraph, const struct tfl_op *op,
			       struct hash_table *variables, int *tensor, struct err *e);

/*
 * model.c: reads a model by tfl_read or tfl_read_file, then requires
 * kernel_shapes_agree for every operator of every subgraph.  All programs read models
 * by these functions; tfl_read alone is for models that the same process wrote.
 */
bool model_read(struct arena *a, struct bytes file, const char *name,
		struct tfl_model **out, struct err *e);
bool model_read_file(struct arena *a, const char *path, struct tfl_model **out,
		     struct err *e);

#endif
