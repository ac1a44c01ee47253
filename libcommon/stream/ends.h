/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compiled file says of its inputs and outputs beyond TFLite: how many
 * inputs one run takes, and the layout of tensors that are not simply one element
 * behind the other.  It is text in the metadata "nputools.ends", described in
 * nputools-ends(5); a file without it takes one input, and its tensors are as
 * their shapes say.
 */
#ifndef STREAM_ENDS_H
#define STREAM_ENDS_H

#include "base/arena.h"
#include "base/fixed.h"
#include "tflite/tflite.h"

#define ENDS_METADATA "nputools.ends"

enum end_layout { END_NHWC, END_NHCWB16, END_NCHW, END_LAYOUTS };
extern const char *const end_layout_names[];

struct end {
	bool given; /* it has a record: its tensor's shape is what lies in memory */
	enum end_layout layout;
	int type; /* enum tfl_type */
	int rank;
	int32_t dim[TFL_MAX_RANK]; /* as the network sees it, all inputs of a batch */
	int64_t row_stride, pixel_stride; /* bytes; 0: dense */
};

struct ends {
	int32_t desired, actual; /* inputs in one run; desired 0: nobody asked */
	struct end *in, *out;
	int n_in, n_out;
};

/* the shape as inputs x rows x columns x channels: the first and the last two
 * dimensions, rows are all between */
struct end_shape {
	int32_t n, h, w, c;
};
struct end_shape end_shape(const struct end *x);

/* bytes in memory: from the first element's to the last one's; INT64_MAX: too many */
int64_t end_bytes(const struct end *x);
/* bytes from the first element to another */
int64_t end_offset(const struct end *x, int32_t n, int32_t y, int32_t col, int32_t c);
/* the shape that says so many bytes: [N,H,C/16,W,16], [N,C,H,W], or with strides
 * [1,ELEMENTS]; of one without a layout its own */
int end_memory_shape(const struct end *x, int32_t dim[TFL_MAX_RANK]);
/* values one behind the other, into memory and back; what lies between stays */
void end_pack(const struct end *x, const void *values, void *memory);
void end_unpack(const struct end *x, const void *memory, void *values);

/*
 * The model with the shapes of the values instead of those in memory; m itself where
 * they are the same
 */
const struct tfl_model *ends_values(struct arena *a, const struct tfl_model *m,
				    const struct ends *x);

/* bytes from an input of a batch to the next */
int64_t end_input_step(const struct end *x);

/* text of the metadata; NULL: there is nothing to say */
struct bytes ends_print(struct arena *a, const struct ends *x);
/*
 * Of a model, compiled or not: as many records as it has inputs and outputs.
 * Fails on a record that does not fit the model.
 */
bool ends_read(struct arena *a, const struct tfl_model *m, struct ends *out,
	       struct err *e);

#endif
