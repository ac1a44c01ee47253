/* SPDX-License-Identifier: Apache-2.0 */
/* Writing TFLite models and other FlatBuffers. */
#ifndef TFLITE_WRITE_H
#define TFLITE_WRITE_H

#include "tflite/tflite.h"

/*
 * A FlatBuffers builder, which writes from the end of the buffer to its start.  Offsets
 * count bytes from the end of the finished buffer.  Children are written before the
 * table that refers to them.
 */
struct fbw;
typedef uint32_t fbw_off; /* 0: no child */

struct fbw *fbw_open(void);
void fbw_close(struct fbw *w);
/* Closes the builder; the arena takes over the memory of the finished buffer. */
void fbw_leave(struct fbw *w, struct arena *a);
/* Allocates capacity for n bytes at once.  Without it, the buffer grows step by step. */
void fbw_reserve(struct fbw *w, size_t n);
fbw_off fbw_string(struct fbw *w, const char *s);
fbw_off fbw_bytes(struct fbw *w, const void *p, size_t n, int align);
fbw_off fbw_i32s(struct fbw *w, const int32_t *p, size_t n);
fbw_off fbw_i64s(struct fbw *w, const int64_t *p, size_t n);
fbw_off fbw_f32s(struct fbw *w, const float *p, size_t n);
fbw_off fbw_offsets(struct fbw *w, const fbw_off *p, size_t n);
void fbw_table(struct fbw *w, const struct fb_table *t);
void fbw_int(struct fbw *w, int slot, int64_t v); /* omitted if equal to the default */
void fbw_float(struct fbw *w, int slot, double v);
void fbw_ref(struct fbw *w, int slot, fbw_off child); /* omitted if 0 */
fbw_off fbw_end(struct fbw *w);
/*
 * Returns the name of a field in t, or in a table that t refers to, whose kind the
 * schema does not list, so that t can't be copied.  Returns NULL if there is no such
 * field.
 */
const char *fb_opaque(struct fb_ref t);
/* The same for an operator, whose options may also be elsewhere in the file. */
const char *tfl_op_opaque(struct fb_ref op);
/* Copies a table of a verified buffer with all its children; fails on opaque unions. */
bool fbw_copy(struct fbw *w, struct fb_ref t, fbw_off *out, struct err *e);
/*
 * Finishes the file, which is valid until fbw_close().  Fails if it is larger than
 * TFL_MAX_BYTES.
 */
bool fbw_finish(struct fbw *w, fbw_off root, struct bytes *out, struct err *e);

/* The description of a model to write.  NULL strings are omitted. */
struct tflw_tensor {
	struct fb_ref from; /* copy this tensor, except for its buffer index ... */
	struct tfl_tensor t; /* ... or, if from.buf is NULL, write this one */
	uint32_t buffer;
};

struct tflw_op {
	struct fb_ref from; /* copy options, custom options and the rest from here ... */
	uint32_t opcode;
	int n_in, n_out;
	const int *in, *out;
	struct bytes custom_options; /* ... or, if from.buf is NULL: the custom options, */
	const struct fb_table *options; /* the table of the builtin options with its tag */
	int options_tag;
	const int64_t *option; /* values of all slots: scalars only */
	const double *option_float; /* values of float slots; may be NULL */
	const int *mid; /* tensor indices; not copied from `from` */
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

/* a copy of a SignatureDef with other tensors */
struct tflw_signature {
	struct fb_ref from;	   /* the texts */
	const uint32_t *in, *out; /* a tensor for each of its inputs and outputs */
};

struct tflw_model {
	const char *description;
	struct tflw_opcode *opcode;
	struct bytes *buffer; /* buffer[0] is empty by convention */
	struct tflw_subgraph *subgraph;
	struct tflw_metadata *metadata;
	struct tflw_signature *signature;
	int n_opcodes, n_buffers, n_subgraphs, n_metadata, n_signatures;
};

/*
 * Writes the file into the arena.  Errors name the subgraph and operator, but not the
 * file.
 */
bool tfl_write(struct arena *a, const struct tflw_model *m, struct bytes *out,
	       struct err *e);

/*
 * Appends the ZIP archive behind the model `from`, if there is one, to the model `to`.  The
 * archive's files are found from the beginning of the new file.  Returns false if the file
 * would be larger than TFL_MAX_BYTES.
 */
bool tfl_append_archive(struct arena *a, struct bytes from, struct bytes *to);

/*
 * copy.c: describes a whole model that was read, without its metadata and signatures, so
 * that tfl_write() writes the same model or a changed one.
 */
void tflw_copy(struct arena *a, const struct tfl_model *m, struct tflw_model *w);

#endif
