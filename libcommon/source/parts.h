/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the comparison of a stream with its graph: the addresses that follow from the
 * graph (place.c), and the comparison.  Private to libcommon/source.
 */
#ifndef SOURCE_PARTS_H
#define SOURCE_PARTS_H

#include "source/source.h"

struct npu_fm;
struct tfl_tensor;

/* The part of an operation that one step executes. */
struct source_part {
	const struct g_op *op;
	int64_t row, rows;	/* `rows` OFM rows from `row` on */
	int32_t channel, depth; /* `depth` OFM channels from `channel` on: a slice of weights */
	int64_t ifm_row;	/* first IFM row that the part reads */
	int pad_top, pad_bottom; /* padding rows of this part */
};

struct source_part source_part_of(const struct g_step *s);

/* Returns the offset in its region of element (y, x, c) of an operand. */
int64_t source_address(const struct g_operand *o, int64_t y, int64_t x, int64_t c);

/* Returns the region of a memory.  spilling: the cache is a memory separate from the arena. */
int source_region(int place, bool spilling);

/* Returns the encoded weights of one core in one slice; NULL: the core has no channels. */
const struct g_code *source_code(const struct graph *g, const struct g_weights *w,
				 int slice, int core);

/* Returns the bytes of a slice in flash: all cores, with scales; n 0: it is not encoded. */
struct npu_range source_slice(const struct graph *g, const struct g_weights *w,
			      int slice);

/* ---- the comparison ------------------------------------------------------- */

enum { SLOTS = LUT_BYTES / 256 };

struct source {
	struct npu_verify *out;
	const struct graph *g;
	const struct tfl_model *original; /* NULL: not available */
	const struct npu_stream *s; /* the stream that is compared */
	const struct g_node *node; /* the current node of the graph */
	const struct accel *accel;
	bool spilling;	/* the cache is a memory separate from the arena */
	size_t at;	/* word index of the current operation */
	const char *command; /* its name; NULL: findings are about the model */
	size_t step; /* index of the next step of the graph that the stream must have */
	struct source_loop {
		size_t behind; /* index of the word after the operation that was compared last */
		size_t again[2]; /* first and last word index where the condition may begin */
		bool asked;	 /* the conditional branch has been seen */
		int64_t leave;	 /* target in bytes of the branch that is taken when the
				  * condition is false */
	} loop;
	int wrong;   /* number of operations that differ from the graph */
	const struct g_lut *lut[SLOTS]; /* the table in each slot of SHRAM ... */
	int part[SLOTS];		/* ... and which 256 bytes of the table */
	bool differs; /* the current operation differs from the graph */
};

/* finding.c: reports an error of the current operation. */
void source_error(struct source *x, const char *fmt, ...) PRINTF(2, 3);

/*
 * loop.c.
 *
 * source_continues() is called after the last step of a node.  It returns true, and moves x to
 * the next node, if the condition or the test of a loop follows without a branch.
 * source_branch() checks that a branch is one of the loop.  source_end() checks that the
 * stream does not end inside a loop.
 */
bool source_continues(struct source *x);
void source_branch(struct source *x, const struct npu_op *o);
void source_end(struct source *x);

/*
 * tensors.c: checks that a tensor of the compiled file has the type, shape, scale
 * and zero point of the k-th tensor that t stands for.  If t stands for none, only the
 * number of bytes is compared.
 */
void source_tensor(struct source *x, const struct tfl_tensor *have,
		   const struct g_tensor *t, int k);

/* kernel.c: checks that kernel k does what step s of the graph says. */
void source_kernel(struct source *x, const struct npu_op *k, const struct g_step *s);

/* ---- same.c: values of one kernel ------------------------------------------------ */

/* Return the command, and its mode, for a kind of operation.  Some kinds differ on U85. */
enum npu_op_kind source_kind(int kind);
int source_mode(int kind);

/*
 * Compare one value of op: `have` in the stream, `want` in the graph.  source_same16()
 * compares the low 16 bits only.
 */
void source_same(struct source *x, const struct g_op *op, const char *what, int64_t have,
		 int64_t want);
void source_same16(struct source *x, const struct g_op *op, const char *what, int64_t have,
		   int64_t want);
void source_same_type(struct source *x, const struct g_op *op, const char *role,
		      const struct npu_fm *f, int type, int32_t zero);
/* Compares a feature map with the part of operand o that has this shape and begins at row and
 * channel. */
void source_same_fm(struct source *x, const struct g_op *op, const char *role,
		     const struct npu_fm *f, const struct g_operand *o, struct hwc shape,
		     int64_t row, int32_t channel, int32_t zero);
void source_same_window(struct source *x, const struct npu_op *k,
			const struct source_part *p);
/*
 * Checks that the table of op occupies slots of 256 bytes from `slot` on; -1: the kernel
 * has no table.
 */
void source_same_table(struct source *x, const struct g_op *op, int slot, int bytes);
/* Compares the addresses of the weights: in flash, or in the buffer that they are fetched to. */
void source_same_weights(struct source *x, const struct npu_op *k, const struct g_step *s);

/* kernel85.c: the same on U85, except for the block. */
void source_kernel85(struct source *x, const struct npu_op *k, const struct g_step *s);

#endif
