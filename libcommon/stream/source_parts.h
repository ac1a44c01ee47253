/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files that hold a stream against its graph: where the graph says that
 * things lie (source_place.c), and the comparison.  Private to libcommon/stream.
 */
#ifndef STREAM_SOURCE_PARTS_H
#define STREAM_SOURCE_PARTS_H

#include "stream/source.h"

/* the part of an operation that one step runs */
struct source_part {
	const struct g_op *op;
	int64_t row, rows;	/* of the OFM, from `row` on */
	int32_t channel, depth; /* of the OFM: a slice of weights */
	int64_t ifm_row;
	int pad_top, pad_bottom;
};

struct source_part source_part_of(const struct g_step *s);

/* the byte of its region where element (y, x, c) of an operand lies */
int64_t source_address(const struct g_operand *o, int64_t y, int64_t x, int64_t c);

/* the base pointer of a place; spilling: the cache is a memory of its own */
int source_region(int place, bool spilling);

/* an encoded piece; NULL: a core without channels */
const struct g_code *source_code(const struct graph *g, const struct g_weights *w,
				 int slice, int core);

/* bytes of a slice in flash, all cores, scales included; n 0: not encoded */
struct npu_range source_slice(const struct graph *g, const struct g_weights *w,
			      int slice);

/* ---- the comparison ------------------------------------------------------- */

enum { SLOTS = LUT_BYTES / 256 };

struct source {
	struct npu_verify *out;
	const struct graph *g;
	const struct tfl_model *original; /* NULL: not at hand */
	const struct npu_stream *s;
	const struct g_node *node;
	const struct accel *accel;
	bool spilling;
	size_t at;
	const char *command;
	size_t step; /* of the graph, the next that is expected */
	struct source_loop {
		size_t behind; /* the word behind the last operation */
		size_t again[2]; /* words, the first and last where the condition may begin */
		bool asked;	 /* the conditional branch has been seen */
		int64_t leave;	 /* byte that is gone to where the condition is false */
	} loop;
	int wrong;   /* operations that are not what they should be */
	const struct g_lut *lut[SLOTS]; /* the table in each slot of SHRAM ... */
	int part[SLOTS];		/* ... and which 256 bytes of it */
	bool differs; /* the operation being looked at */
};

/* source.c: reports an error of the operation being looked at */
void source_found(struct source *x, const char *fmt, ...) PRINTF(2, 3);

/*
 * source_loop.c: the node's steps are done; does the condition or the test of a loop
 * follow without a branch?  x then is at that node.  A branch: is it that of the loop?
 * The end of the stream.
 */
bool source_goes_on(struct source *x);
void source_branch(struct source *x, const struct npu_op *o);
void source_end(struct source *x);

/*
 * source_tensors.c: has a tensor of the compiled file the type, shape, scale and zero
 * point of the k-th that t stands for, or as many bytes as t where that stands for none?
 */
void source_tensor(struct source *x, const struct tfl_tensor *have,
		   const struct g_tensor *t, int k);

/* source_kernel.c: is kernel k what step s runs? */
void source_kernel(struct source *x, const struct npu_op *k, const struct g_step *s);

/* the command and its mode for the graph's primitives; U85 has others for some */
enum npu_op_kind source_kind(int kind);
int source_mode(int kind);

/* what both say of op: the stream HAVE, the graph WANT; of registers of 16 bits */
void source_same(struct source *x, const struct g_op *op, const char *what, int64_t have,
		 int64_t want);
void source_same16(struct source *x, const struct g_op *op, const char *what, int64_t have,
		   int64_t want);
void source_same_type(struct source *x, const struct g_op *op, const char *role,
		      const struct npu_fm *f, int type, int32_t zero);
/* a map of that shape, from a row and channel of the operand on */
void source_same_map(struct source *x, const struct g_op *op, const char *role,
		     const struct npu_fm *f, const struct g_operand *o, struct hwc shape,
		     int64_t row, int32_t channel, int32_t zero);
void source_same_window(struct source *x, const struct npu_op *k,
			const struct source_part *p);
/* its table lies in slots of 256 bytes from `slot` on; -1: it has none */
void source_same_table(struct source *x, const struct g_op *op, int slot, int bytes);
/* of the slice in flash, or as it was fetched to a buffer */
void source_same_weights(struct source *x, const struct npu_op *k, const struct g_step *s);

/* source_kernel85.c: the same on U85, but for its block */
void source_kernel85(struct source *x, const struct npu_op *k, const struct g_step *s);

#endif
