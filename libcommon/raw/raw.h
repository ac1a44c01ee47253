/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiled networks without a TFLite model: the raw output of the reference compiler,
 * an uncompressed .npz, and the packed stream that ExecuTorch makes of it.  Keys,
 * blocks and their layout: nputools-executorch(7).
 */
#ifndef RAW_RAW_H
#define RAW_RAW_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

enum { RAW_RANK = 6 };

struct raw_io { /* an input or output, in scratch memory */
	int32_t dim[RAW_RANK]; /* padded with dimensions of 1 on the left */
	int32_t elem_bytes;
	int64_t offset;
};

struct raw {
	struct bytes cmd;     /* driver payload */
	struct bytes weights; /* content of region 0 */
	int64_t scratch;      /* size of region 1 in bytes */
	int64_t fast;	      /* size of region 2 in bytes; 0: none; -1: unknown */
	struct raw_io *in, *out;
	int n_in, n_out;
};

/* npz.c, pack.c: print, detect and read whole files */
void raw_print_npz(const struct raw *r, struct text *t);
void raw_print_packed(const struct raw *r, struct text *t);
bool raw_is_npz(struct bytes file);
bool raw_is_packed(struct bytes file);
/* The result points into file.  Errors name the key or block, and the rule. */
bool raw_read_npz(struct arena *a, struct bytes file, const char *name, struct raw *out,
		  struct err *e);
bool raw_read_packed(struct arena *a, struct bytes file, const char *name,
		     struct raw *out, struct err *e);

/*
 * pack.c: NumPy has no string of 0 bytes, so both formats store empty data as one zero
 * byte.  raw_as_string() encodes data in this manner, raw_of_string() decodes it.
 */
struct bytes raw_as_string(struct bytes b);
struct bytes raw_of_string(struct bytes b);

/*
 * model.c: converts a file of either format to a TFLite model with one ethos-u
 * operator, as npu-cmdgen writes it.  The border tensors are integers, whose types
 * follow from their sizes.  Any other file is returned unchanged.
 */
bool raw_model(struct arena *a, struct bytes file, const char *name,
	       struct bytes *out, struct err *e);
/* Reads a file, then calls raw_model() and model_read(). */
struct tfl_model;
bool raw_read_file(struct arena *a, const char *path, struct tfl_model **out,
		   struct err *e);

#endif
