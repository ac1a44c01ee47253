/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties of the inputs and outputs of a compiled file (border tensors) that TFLite
 * can't express: how many inputs one run takes, and the layout of tensors whose elements
 * are not simply stored one behind the other.  They are text in the metadata
 * "nputools.ends", described in nputools-ends(5).  A file without this metadata takes one
 * input, and its tensors are as their shapes say.
 */
#ifndef BORDERS_BORDERS_H
#define BORDERS_BORDERS_H

#include "base/arena.h"
#include "tflite/types.h"

#include <stdint.h>

#define BORDERS_METADATA "nputools.ends"

enum border_layout { BORDER_NHWC, BORDER_NHCWB16, BORDER_NCHW, BORDER_LAYOUTS };
extern const char *const border_layout_names[];

struct border_tensor {
	bool has_record; /* the model's metadata describe this tensor: its shape in the file is that in
		     * memory */
	enum border_layout layout;
	int type; /* enum tfl_type */
	int rank;
	int32_t dim[TFL_MAX_RANK]; /* shape that the network sees, with all inputs of a batch */
	int64_t row_stride, pixel_stride; /* bytes; 0: dense */
};

struct border_tensors {
	int32_t desired, actual; /* inputs in one run; desired 0: no batch was asked for */
	struct border_tensor *in, *out;
	int n_in, n_out;
};

/*
 * The shape as inputs x rows x columns x channels: the first dimension and the last two;
 * rows is the product of all dimensions between.
 */
struct border_shape {
	int32_t n, h, w, c;
};
struct border_shape border_shape(const struct border_tensor *x);

/* Bytes in memory, from the first element to the last one; INT64_MAX: too many. */
int64_t border_bytes(const struct border_tensor *x);
/* Bytes from the first element to element (n, y, col, c). */
int64_t border_offset(const struct border_tensor *x, int32_t n, int32_t y, int32_t col, int32_t c);
/*
 * Stores the shape that has as many bytes as the memory: [N,H,C/16,W,16], [N,C,H,W], or
 * with strides [1,ELEMENTS]; its own shape for a tensor without a record.  Returns the
 * rank.
 */
int border_memory_shape(const struct border_tensor *x, int32_t dim[TFL_MAX_RANK]);
/*
 * Copies dense values into memory, and back.  Bytes between the elements are left
 * unchanged.
 */
void border_pack(const struct border_tensor *x, const void *values, void *memory);
void border_unpack(const struct border_tensor *x, const void *memory, void *values);

/*
 * The model with the shapes of the values instead of the shapes in memory; m itself if all
 * are equal.
 */
const struct tfl_model *borders_value_model(struct arena *a, const struct tfl_model *m,
				    const struct border_tensors *x);

/* Bytes from one input of a batch to the next. */
int64_t border_input_step(const struct border_tensor *x);

/* The text of the metadata; NULL if no tensor needs a record and no batch was asked for. */
struct bytes borders_print(struct arena *a, const struct border_tensors *x);
/*
 * Reads the border tensors of a model, compiled or not: *out has as many entries as the
 * model has inputs and outputs.  Fails on a record that does not fit the model.
 */
bool borders_read(struct arena *a, const struct tfl_model *m, struct border_tensors *out,
	       struct err *e);

#endif
