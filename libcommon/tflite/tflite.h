/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFLite models: the FlatBuffers wire format and a verifying reader.
 * Format: nputools-tflite(5); tables: schema/tflite*.def.
 */
#ifndef TFLITE_TFLITE_H
#define TFLITE_TFLITE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "tflite/types.h"

/* ---- wire format: reflection ---------------------------------------- */

enum fb_kind {
	FB_NONE, /* slot that the schema does not use */
	FB_BOOL, FB_I8, FB_U8, FB_I16, FB_U16, FB_I32, FB_U32, FB_I64, FB_U64,
	FB_F32, FB_F64,
	FB_STRING, FB_CHILD_TABLE, FB_UNION_VALUE,
	FB_VEC = 32,		/* added to a scalar kind: a vector of scalars */
	FB_VEC_TABLE = 64,
	FB_VEC_STRING,
};

struct fb_field {
	const char *name;
	int kind;
	int align;   /* of a vector's elements, if larger than their size */
	double def;  /* default value of a scalar */
	const struct fb_table *child;
	const struct fb_union *members; /* of a union, whose tag is in the slot before */
};

struct fb_table {
	const char *name;
	int n_slots;
	const struct fb_field *slot;
};

struct fb_union {
	const char *name;
	int n; /* number of tags; member[tag] is NULL for opaque and unused tags */
	const struct fb_table *const *member;
};

/* fb_Model, fb_Tensor, fb_Conv2DOptions, ... and slots FB_Model_version, ... */
#define FB_TABLE(t) extern const struct fb_table fb_##t; enum { FB_DUMMY_##t,
#define FB_END(t) };
#define FB_SCALAR(t, slot, f, kind, def) FB_##t##_##f = slot,
#define FB_VECTOR(t, slot, f, kind, align) FB_##t##_##f = slot,
#define FB_TEXT(t, slot, f) FB_##t##_##f = slot,
#define FB_CHILD(t, slot, f, c) FB_##t##_##f = slot,
#define FB_TABLES(t, slot, f, c) FB_##t##_##f = slot,
#define FB_UNION(t, slot, f, u) FB_##t##_##f = slot, FB_##t##_##f##_tag = slot - 1,
#include "tflite.def"

#define FB_MEMBERS(u) extern const struct fb_union fb_##u;
#define FB_MEMBER(tag, table)
#define FB_MEMBERS_END(u)
#include "tflite_unions.def"

/* ---- wire format: reading a verified buffer -------------------------- */

/* a table in a verified buffer; buf NULL: absent, all fields have their defaults */
struct fb_ref {
	const uint8_t *buf;
	size_t pos;
	const struct fb_table *table;
};

struct fb_vec {
	const uint8_t *p; /* first element; it may be unaligned */
	uint32_t n;
};

/*
 * A format of FlatBuffers files.  fb_verify_as() checks everything that is reachable
 * from the root against the rules of nputools-tflite(5) 2: bounds, counts, strings,
 * depth, number of tables.  Alignment is not checked: real files break it, and fields
 * and elements are read byte by byte.
 */
struct fb_format {
	const char *id;	  /* four characters at byte 4 of a file */
	const char *what; /* example: "a TFLite model" */
	const struct fb_table *root;
};
/*
 * Returns what a file is, by its identifier, and which program reads it: "a TOSA graph
 * ...".  Returns NULL if the identifier is unknown.
 */
const char *fb_identify(struct bytes file);
bool fb_verify_as(const struct fb_format *f, struct bytes file, const char *name,
		  struct fb_ref *root, struct err *e);
/* fb_verify_as() for a TFLite model */
bool fb_verify(struct bytes file, const char *name, struct fb_ref *root,
	       struct err *e);

bool fb_has(struct fb_ref t, int slot);
int64_t fb_int(struct fb_ref t, int slot);   /* any integer or bool */
double fb_float(struct fb_ref t, int slot);
struct fb_ref fb_child(struct fb_ref t, int slot); /* a table or the value of a union */
struct fb_vec fb_vector(struct fb_ref t, int slot);
struct fb_ref fb_item(struct fb_ref t, int slot, uint32_t i); /* element of FB_VEC_TABLE */
/* Returns "" if the string is absent.  len may be NULL. */
const char *fb_string(struct fb_ref t, int slot, size_t *len);
/* element i of FB_VEC_STRING */
const char *fb_text(struct fb_ref t, int slot, uint32_t i, size_t *len);

/* ---- the model -------------------------------------------------------- */

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

/* Value of an option of op; the schema's default if op has no options. */
#define TFL_OPT(op, table, field)                                            \
	fb_int(tfl_options(op, &fb_##table), FB_##table##_##field)
#define TFL_OPT_FLOAT(op, table, field)                                      \
	fb_float(tfl_options(op, &fb_##table), FB_##table##_##field)
struct fb_ref tfl_options(const struct tfl_op *op, const struct fb_table *t);

#endif
