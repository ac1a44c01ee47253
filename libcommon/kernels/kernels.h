/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TensorFlow Lite Micro's reference kernels, bit for bit (double rounding):
 * nputools-lowering(7) 3.  One file per operator family.
 */
#ifndef KERNELS_KERNELS_H
#define KERNELS_KERNELS_H

#include "tflite/tflite.h"

/*
 * Memory of an operator's tensors by position; NULL for an absent optional
 * input.  Every one holds tfl_bytes() bytes in C order, aligned to its
 * element except for constants, which may lie anywhere in the file.  Elements
 * are little-endian on every host, as in files and the NPU's memory.  Inputs
 * that are variables (LSTM, SVDF states) are updated in place.
 */
struct kernel_io {
	void *const *in;
	void *const *out;
};

/*
 * STRIDED_SLICE: which of the n positions of begin, end and strides is that of
 * each of the input's dimensions; -1: none, all of it is taken.  A new axis has
 * a position without a dimension, the ellipsis one for several.  False where
 * there are more positions than dimensions.
 */
bool slice_positions(int rank, int64_t n, int64_t ellipsis_mask,
		     int64_t new_axis_mask, int at[TFL_MAX_RANK]);

/* is there a kernel for this builtin operator? */
bool kernel_known(int code);

/*
 * Would kernel_eval run it, whatever the values that are not known yet?  Its own
 * checks decide.  Only what depends on such values (a row of SOFTMAX that sums to
 * too much, the logarithm of a negative number) is left to kernel_eval.
 */
bool kernel_check(const struct tfl_subgraph *g, const struct tfl_op *op,
		  struct err *e);

/*
 * False where the shapes or types of op's tensors contradict each other, which
 * kernel_check finds, too.  True where the reference refuses op for another
 * reason, does not have it, or the model leaves a shape open.
 */
bool kernel_shapes_agree(const struct tfl_subgraph *g, const struct tfl_op *op,
			 struct err *e);

/* steps of products and windows that kernel_eval takes; 0: it would refuse op, or takes
 * a few for each element */
int64_t kernel_work(const struct tfl_subgraph *g, const struct tfl_op *op);

/*
 * Runs one operator of g.  All that a model can get wrong is checked before
 * it is used: number and types of tensors, shapes, options, axes, scales.
 * Errors read "operator INDEX (NAME): rule" and leave the outputs undefined.
 * Memory comes from an arena of the call's own and is gone after it.
 */
bool kernel_eval(const struct tfl_subgraph *g, const struct tfl_op *op,
		 const struct kernel_io *io, struct err *e);

/*
 * model.c: tfl_read and tfl_read_file, and then kernel_shapes_agree of every
 * operator of every subgraph.  All programs read models so; tfl_read alone is
 * for what this process wrote.
 */
bool model_read(struct arena *a, struct bytes file, const char *name,
		struct tfl_model **out, struct err *e);
bool model_read_file(struct arena *a, const char *path, struct tfl_model **out,
		     struct err *e);

#endif
