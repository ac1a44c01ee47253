/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A compiled network without a TFLite model around it: the reference compiler's raw
 * output, an uncompressed .npz, and the packed stream that ExecuTorch makes of it.
 * Keys, blocks and their layout: nputools-executorch(7).
 */
#ifndef RAW_RAW_H
#define RAW_RAW_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"

enum { RAW_RANK = 6 };

struct raw_end { /* an input or output, in scratch */
	int32_t dim[RAW_RANK]; /* padded with 1 on the left */
	int32_t elem_bytes;
	int64_t offset;
};

struct raw {
	struct bytes cmd;     /* driver payload */
	struct bytes weights; /* region 0 */
	int64_t scratch;      /* bytes of region 1 */
	int64_t fast;	      /* of region 2; 0: there is none; -1: not known */
	struct raw_end *in, *out;
	int n_in, n_out;
};

/* npz.c, pack.c: whole files */
void raw_print_npz(const struct raw *r, struct text *t);
void raw_print_packed(const struct raw *r, struct text *t);
bool raw_is_npz(struct bytes file);
bool raw_is_packed(struct bytes file);
/* everything points into file; errors name the key or block and the rule */
bool raw_read_npz(struct arena *a, struct bytes file, const char *name, struct raw *out,
		  struct err *e);
bool raw_read_packed(struct arena *a, struct bytes file, const char *name,
		     struct raw *out, struct err *e);

/* pack.c: NumPy has no string of no bytes: none are one zero byte, in both files */
struct bytes raw_as_string(struct bytes b);
struct bytes raw_of_string(struct bytes b);

/*
 * model.c: of a file of either form a TFLite model with one ethos-u operator, as
 * npu-cmdgen writes them; integers whose types follow from their sizes.  Any other
 * file is handed on as it is.
 */
bool raw_model(struct arena *a, struct bytes file, const char *name,
	       struct bytes *out, struct err *e);
/* raw_model, then model_read, of what is in a file */
struct tfl_model;
bool raw_read_file(struct arena *a, const char *path, struct tfl_model **out,
		   struct err *e);

#endif
