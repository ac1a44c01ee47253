/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TFLite models: the FlatBuffers wire format, a verifying reader, a writer.
 * Format: nputools-tflite(5); tables: schema/tflite*.def.
 */
#ifndef TFLITE_TFLITE_H
#define TFLITE_TFLITE_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

/* ---- wire format: reflection ---------------------------------------- */

enum fb_kind {
	FB_NONE, /* slot not used by the schema */
	FB_BOOL, FB_I8, FB_U8, FB_I16, FB_U16, FB_I32, FB_U32, FB_I64, FB_U64,
	FB_F32, FB_F64,
	FB_STRING, FB_CHILD_TABLE, FB_UNION_VALUE,
	FB_VEC = 32,		/* added to a scalar kind */
	FB_VEC_TABLE = 64,
	FB_VEC_STRING,
};

struct fb_field {
	const char *name;
	int kind;
	int align;   /* of a vector's elements, above their own size */
	double def;  /* of a scalar */
	const struct fb_table *child;
	const struct fb_union *members; /* the tag is in the slot before */
};

struct fb_table {
	const char *name;
	int n_slots;
	const struct fb_field *slot;
};

struct fb_union {
	const char *name;
	int n; /* member[tag] is NULL for opaque tables and unused tags */
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

/* a table inside a verified buffer; buf NULL: absent (all fields default) */
struct fb_ref {
	const uint8_t *buf;
	size_t pos;
	const struct fb_table *table;
};

struct fb_vec {
	const uint8_t *p; /* first element; may be unaligned in memory */
	uint32_t n;
};

/*
 * Checks everything reachable from the root against the rules of section 2:
 * bounds, counts, strings, depth, number of tables.  Not alignment: files in the
 * field break it, and fields and elements are read byte by byte.
 */
struct fb_format {
	const char *id;	  /* four characters at byte 4 */
	const char *what; /* "a TFLite model" */
	const struct fb_table *root;
};
/* "a TOSA graph ...": what a file is by its identifier, and whose; NULL: unknown */
const char *fb_known(struct bytes file);
bool fb_verify_as(const struct fb_format *f, struct bytes file, const char *name,
		  struct fb_ref *root, struct err *e);
/* of a TFLite model */
bool fb_verify(struct bytes file, const char *name, struct fb_ref *root,
	       struct err *e);

bool fb_has(struct fb_ref t, int slot);
int64_t fb_int(struct fb_ref t, int slot);   /* any integer or bool scalar */
double fb_float(struct fb_ref t, int slot);
struct fb_ref fb_child(struct fb_ref t, int slot); /* table or union value */
struct fb_vec fb_vector(struct fb_ref t, int slot);
struct fb_ref fb_item(struct fb_ref t, int slot, uint32_t i); /* VEC_TABLE */
const char *fb_string(struct fb_ref t, int slot, size_t *len); /* "" if absent */
const char *fb_text(struct fb_ref t, int slot, uint32_t i, size_t *len); /* VEC_STRING */

/* ---- the model -------------------------------------------------------- */

enum tfl_type {
	TFL_FLOAT32 = 0, TFL_FLOAT16 = 1, TFL_INT32 = 2, TFL_UINT8 = 3,
	TFL_INT64 = 4, TFL_STRING = 5, TFL_BOOL = 6, TFL_INT16 = 7,
	TFL_INT8 = 9, TFL_FLOAT64 = 10, TFL_RESOURCE = 13, TFL_UINT32 = 15, TFL_UINT16 = 16,
	TFL_INT4 = 17,
};

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

enum { TFL_MAX_RANK = 8 };

struct tfl_quant {
	int n_scale, n_zero; /* 0, 1, or the size of dimension axis */
	const float *scale;
	const int64_t *zero;
	int axis;
	bool other; /* blockwise or multi-axis details: not affine alone */
};

struct tfl_tensor {
	const char *name;
	int type; /* enum tfl_type, or another code of section 4.1 */
	int rank;
	int32_t dim[TFL_MAX_RANK];
	bool has_shape;	  /* a non-empty shape, or known to be a scalar */
	bool is_dynamic;  /* the caller may resize more than the batch */
	bool is_variable;
	bool is_sparse;
	uint32_t buffer;
	struct bytes data; /* of a constant; p is NULL otherwise */
	struct tfl_quant quant;
	int producer; /* operator that writes it, or -1 */
	struct fb_ref ref;
};

struct tfl_op {
	int code;	    /* enum tfl_builtin */
	const char *custom; /* name, when code is TFL_CUSTOM, else NULL */
	const char *label;  /* the same as it may go to a terminal */
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
	struct tfl_op *op; /* in an order that can be executed */
	const int *in, *out;
	struct fb_ref ref;
};

struct tfl_model {
	const char *name; /* of the file, for diagnostics */
	struct bytes file;
	const char *description;
	int n_subgraphs;
	struct tfl_subgraph *subgraph;
	uint32_t n_buffers;
	struct bytes *buffer;
	struct fb_ref root;
};

/*
 * Reads and checks a whole model; everything points into file, which must
 * outlive it.  Errors name the subgraph, operator or tensor and the rule.
 */
bool tfl_read(struct arena *a, struct bytes file, const char *name,
	      struct tfl_model **out, struct err *e);

/* file_read, then tfl_read; models are limited to 2^31 - 1 bytes */
enum { TFL_MAX_BYTES = INT32_MAX };
bool tfl_read_file(struct arena *a, const char *path, struct tfl_model **out,
		   struct err *e);

/* false, an error: the model has been compiled for the NPU already */
bool tfl_check_plain(const struct tfl_model *m, struct err *e);

const char *tfl_type_name(int type);   /* "INT8" */
int tfl_type_bytes(int type);	       /* of an element; 0: packed or variable */
const char *tfl_op_name(int code);     /* "CONV_2D" */
/* the custom name, without control characters, or the above */
const char *tfl_op_label(const struct tfl_op *op);
int64_t tfl_elements(const struct tfl_tensor *t);
int64_t tfl_bytes(const struct tfl_tensor *t); /* 0 for variable-size types */
/* element i of INT8, INT16, INT32, INT64 or, as any other type, unsigned bytes at p */
int64_t tfl_integer(int type, const uint8_t *p, int64_t i);
struct bytes tfl_metadata(const struct tfl_model *m, const char *name);
/* the byte of the arena where OfflineMemoryAllocation has a tensor of the first
 * subgraph; -1: the interpreter places it (ethosu-commands(7) 13.4) */
int64_t tfl_planned_at(const struct tfl_model *m, int tensor);

/* an option of op, the schema's default if op carries no options */
#define TFL_OPT(op, table, field)                                            \
	fb_int(tfl_options(op, &fb_##table), FB_##table##_##field)
#define TFL_OPT_FLOAT(op, table, field)                                      \
	fb_float(tfl_options(op, &fb_##table), FB_##table##_##field)
struct fb_ref tfl_options(const struct tfl_op *op, const struct fb_table *t);

/* ---- writing ---------------------------------------------------------- */

/*
 * A FlatBuffers builder, back to front.  Offsets count bytes from the end of
 * the finished buffer; children are made before the table that names them.
 */
struct fbw;
typedef uint32_t fbw_off; /* 0: nothing */

struct fbw *fbw_open(void);
void fbw_close(struct fbw *w);
/* closes it, and leaves what is finished to the arena */
void fbw_leave(struct fbw *w, struct arena *a);
/* room for n bytes at once; more are found as they come */
void fbw_reserve(struct fbw *w, size_t n);
fbw_off fbw_string(struct fbw *w, const char *s);
fbw_off fbw_bytes(struct fbw *w, const void *p, size_t n, int align);
fbw_off fbw_i32s(struct fbw *w, const int32_t *p, size_t n);
fbw_off fbw_i64s(struct fbw *w, const int64_t *p, size_t n);
fbw_off fbw_f32s(struct fbw *w, const float *p, size_t n);
fbw_off fbw_offsets(struct fbw *w, const fbw_off *p, size_t n);
void fbw_table(struct fbw *w, const struct fb_table *t);
void fbw_int(struct fbw *w, int slot, int64_t v); /* omitted if the default */
void fbw_float(struct fbw *w, int slot, double v);
void fbw_ref(struct fbw *w, int slot, fbw_off child); /* omitted if 0 */
fbw_off fbw_end(struct fbw *w);
/*
 * What in t (or in what it refers to) is of a kind that the schema does not list,
 * so that no copy can be made: the field's name, or NULL.
 */
const char *fb_opaque(struct fb_ref t);
/* the same of an operator, whose options may be elsewhere in the file, too */
const char *tfl_op_opaque(struct fb_ref op);
/* a deep copy of a table of a verified buffer; fails on opaque unions */
bool fbw_copy(struct fbw *w, struct fb_ref t, fbw_off *out, struct err *e);
/* ends the buffer: the file, valid until fbw_close; n > TFL_MAX_BYTES fails */
bool fbw_finish(struct fbw *w, fbw_off root, struct bytes *out, struct err *e);

/* What a model to be written consists of; NULL strings are left out. */
struct tflw_tensor {
	struct fb_ref from; /* copy this one (index into buffers replaced) ... */
	struct tfl_tensor t; /* ... or, when from.buf is NULL, write this */
	uint32_t buffer;
};

struct tflw_op {
	struct fb_ref from; /* options and the rest are copied from here ... */
	uint32_t opcode;
	int n_in, n_out;
	const int *in, *out;
	struct bytes custom_options; /* ... or: custom options and */
	const struct fb_table *options; /* builtin options with their tag */
	int options_tag;
	const int64_t *option; /* value of every slot: scalars only */
	const double *option_float; /* the same for float slots, may be NULL */
	const int *mid; /* tensor indices; only used without from */
	int n_mid;
};

struct tflw_opcode {
	int code;
	const char *custom;
	int version;
};

struct tflw_subgraph {
	const char *name;
	struct tflw_tensor *tensor;
	struct tflw_op *op;
	const int *in, *out;
	int n_tensors, n_ops, n_in, n_out;
};

struct tflw_metadata {
	const char *name;
	uint32_t buffer;
};

struct tflw_model {
	const char *description;
	struct tflw_opcode *opcode;
	struct bytes *buffer; /* buffer[0] is empty by convention */
	struct tflw_subgraph *subgraph;
	struct tflw_metadata *metadata;
	int n_opcodes, n_buffers, n_subgraphs, n_metadata;
};

/* the file's bytes into the arena; errors name subgraph and operator, no file */
bool tfl_write(struct arena *a, const struct tflw_model *m, struct bytes *out,
	       struct err *e);

#endif
