/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFLite models, and their verifying reader.  Format: nputools-tflite(5).  The tables of the
 * file and their fields are in tflite/fields.h.
 */
#ifndef TFLITE_TFLITE_H
#define TFLITE_TFLITE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "tflite/flatbuffers.h"
#include "tflite/types.h"

enum tfl_builtin {
#define TFL_OP(code, name, options) TFL_##name = code,
#include "tflite_ops.def"
	TFL_BUILTIN_LIMIT = 256,
};

enum tfl_activation {
	TFL_ACT_NONE, TFL_ACT_RELU, TFL_ACT_RELU_N1_TO_1, TFL_ACT_RELU6,
	TFL_ACT_TANH, TFL_ACT_SIGN_BIT,
};

enum tfl_padding { TFL_SAME, TFL_VALID };

/*
 * The padding of an axis of `in` elements that n windows of `reach` elements, `stride` apart,
 * need.  Half of it, rounded down, is in front.  0 for all but TFL_SAME.
 */
static inline int64_t
tfl_padding_total(int64_t padding, int64_t in, int64_t n, int64_t reach, int64_t stride)
{
	int64_t total = (n - 1) * stride + reach - in;
	return padding == TFL_SAME && total > 0 ? total : 0;
}

struct tfl_quant {
	int n_scale, n_zero; /* number of elements: 0, 1, or the size of dimension axis */
	const float *scale;
	const int64_t *zero;
	int axis;
	bool other; /* has details (blockwise, multi-axis), so it is not only affine */
};

struct tfl_tensor {
	const char *name;
	int type; /* enum tfl_type, or another code of nputools-tflite(5) 4.1 */
	int rank;
	int32_t dim[TFL_MAX_RANK];
	bool has_shape;	  /* the shape is not empty, or the tensor is certainly a scalar */
	bool is_dynamic;  /* the caller may resize more dimensions than the batch */
	bool open_batch;  /* the caller may resize the batch */
	bool is_variable;
	bool is_sparse;
	uint32_t buffer;
	/*
	 * Value of a constant; for other tensors p is NULL.  INT4 is unpacked: one element a
	 * byte.
	 */
	struct bytes data;
	struct tfl_quant quant;
	int producer; /* operator that writes the tensor, or -1 */
	struct fb_ref ref;
};

struct tfl_op {
	int code;	    /* enum tfl_builtin */
	const char *custom; /* name, if code is TFL_CUSTOM, else NULL */
	const char *label;  /* the name made safe for a terminal, or NULL */
	int version;
	uint32_t opcode; /* index into the operator codes */
	int n_in, n_out, n_mid;
	const int *in; /* tensor indices; -1: absent optional input */
	const int *out;
	const int *mid;
	struct fb_ref options; /* buf NULL when absent */
	struct bytes custom_options;
	struct fb_ref ref;
};

struct tfl_subgraph {
	const char *name;
	int n_tensors, n_ops, n_in, n_out;
	struct tfl_tensor *tensor;
	struct tfl_op *op; /* sorted so that they can be executed in this order */
	const int *in, *out;
	struct fb_ref ref;
};

struct tfl_model {
	const char *name; /* of the file, for error messages */
	struct bytes file;
	const char *description;
	int n_subgraphs;
	struct tfl_subgraph *subgraph;
	uint32_t n_buffers;
	struct bytes *buffer;
	struct fb_ref root;
};

/*
 * Reads and checks a whole model.  The model points into file, which must outlive it.
 * Errors name the subgraph, operator or tensor, and the rule.
 */
bool tfl_read(struct arena *a, struct bytes file, const char *name,
	      struct tfl_model **out, struct err *e);

/* Calls file_read(), then tfl_read(); models are limited to 2^31 - 1 bytes. */
enum { TFL_MAX_BYTES = INT32_MAX };
bool tfl_read_file(struct arena *a, const char *path, struct tfl_model **out,
		   struct err *e);

/* Returns false, with an error, if the model has already been compiled, for this NPU or for an Edge TPU. */
bool tfl_check_plain(const struct tfl_model *m, struct err *e);

const char *tfl_op_name(int code);     /* example: "CONV_2D" */
/* the custom name without control characters, else tfl_op_name() */
const char *tfl_op_label(const struct tfl_op *op);
/* Sets the error "operator INDEX (NAME): WHY", and returns false. */
bool tfl_refuse(const struct tfl_model *m, const struct tfl_op *op, int index, const char *why,
		struct err *e);
/* Returns input k of an operator; NULL if the operator has no such input. */
static inline const struct tfl_tensor *
tfl_input(const struct tfl_subgraph *g, const struct tfl_op *op, int k)
{
	return k < op->n_in && op->in[k] >= 0 ? &g->tensor[op->in[k]] : NULL;
}
/* Returns the extent of t in dimension d of `out`, behind which t is broadcast: 1 if t lacks d. */
static inline int32_t
tfl_broadcast_dim(const struct tfl_tensor *t, const struct tfl_tensor *out, int d)
{
	int own = d - (out->rank - t->rank);
	return own < 0 ? 1 : t->dim[own];
}
/* The activation of ADD, SUB, MUL or DIV; TFL_ACT_NONE for other operators. */
int tfl_binary_activation(const struct tfl_op *op);
int64_t tfl_elements(const struct tfl_tensor *t);
int64_t tfl_bytes(const struct tfl_tensor *t); /* 0 for types of variable size */
/*
 * Returns element i at p, of type INT4, INT8, INT16, INT32 or INT64; any other type is
 * read as unsigned bytes.
 */
int64_t tfl_integer(int type, const uint8_t *p, int64_t i);
/* Returns the buffer of a metadata entry; p is NULL if there is no such entry. */
struct bytes tfl_metadata(const struct tfl_model *m, const char *name);
/*
 * Returns the offset in the arena that the metadata OfflineMemoryAllocation gives a
 * tensor of a subgraph.  Returns -1 if the interpreter shall choose the offset
 * (ethosu-commands(7) 13.4).
 */
int64_t tfl_planned_at(const struct tfl_model *m, int subgraph, int tensor);

#endif
