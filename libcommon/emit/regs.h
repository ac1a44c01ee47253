/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the emitter: an operation of the graph becomes a record (struct npu_op), and the
 * record becomes registers.
 */
#ifndef EMIT_REGS_H
#define EMIT_REGS_H

#include "emit/emit.h"
#include "stream/commands.h"
#include "stream/op.h"
#include "target/memory.h"

/* ---- regs.c: words; a repeated register write is left out ------------ */

struct emitter {
	struct arena *a;
	const struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct emit_words *out;
	size_t cap_words, cap_marks, cap_ops;
	/* of each weights record, its first code plus 1; of each code, the next one of the
	 * same record plus 1.  0: none.  NULL: not listed yet */
	size_t *first_code, *next_code;
	bool written[NPU_REGS];
	uint64_t last[NPU_REGS];
	struct arena *scratch; /* lists of accesses */
	struct hazards hazards;
	struct err *e;
};

/*
 * Writes of a register: of cmd0 with a param; of cmd1 with an address, stride or length,
 * with a scale, or with any param and payload.
 */
void emit_reg(struct emitter *m, enum npu_reg reg, int64_t param);
void emit_reg1(struct emitter *m, enum npu_reg reg, int64_t payload);
void emit_scale_word(struct emitter *m, enum npu_reg reg, uint16_t param,
		     uint32_t mult);
/* Emits an operation, adds its record and, for a kernel or a transfer, its mark. */
void emit_op(struct emitter *m, struct npu_op *r, const struct g_step *step);
void emit_wait(struct emitter *m, enum npu_op_kind kind, int n);
/* Emits a BRANCH to a word of the stream.  Returns the index of its record. */
size_t emit_branch(struct emitter *m, bool if_true, size_t to);

/* ---- fm.c: places ------------------------------------------------------------ */

/* The base pointer of a memory (enum g_place). */
int emit_region(const struct memory_system *memory, int place);
/* Rows lo..hi-1 of the operand's view, with all its columns and channels.  The zero point and
 * the sign are not set. */
struct npu_fm emit_feature_map(const struct memory_system *memory, const struct g_operand *o,
			       int32_t lo, int32_t hi);
/* The bytes that a feature map may touch, for hazards: one range per tile.  Returns their
 * number. */
int emit_extent(const struct npu_fm *f, struct g_range tile[2]);

/* The operands of a kernel that makes some rows and the channels of one slice. */
struct emit_part {
	struct g_operand ofm, ifm;
	struct g_range rows, depth;
};
struct emit_part emit_part(const struct g_op *op, struct g_range rows, int slice);

/* ---- emit.c, emit55.c and emit85.c: kernels ------------------------------------------- */

struct fm_regs {
	enum npu_reg region, base0, height0, height1, width0, stride_c, stride_y,
	    stride_x, zero;
};
extern const struct fm_regs emit_ifm_regs, emit_ifm2_regs, emit_ofm_regs;

void emit_tiles(struct emitter *m, const struct fm_regs *r, const struct npu_fm *f);
void emit_strides(struct emitter *m, const struct fm_regs *r, const struct npu_fm *f);
void emit_pads(struct emitter *m, const struct npu_op *r);
void emit_window(struct emitter *m, const struct npu_op *r);
void emit_block(struct emitter *m, const struct npu_op *r);
/* Code of 8, 16 or 32 bits in a register PRECISION. */
static inline int
emit_precision(const struct npu_fm *f)
{
	return f->bits >> 4;
}

/* Write all registers of a kernel except BLOCKDEP. */
void emit55_registers(struct emitter *m, const struct npu_op *r);
void emit85_registers(struct emitter *m, const struct npu_op *r);
/* Why U85 lacks the operation; NULL: it can run. */
const char *emit85_fault(const struct g_op *op);

/* ---- scales85.c: the graph's scales as values of U85's registers ----- */

struct scale85 {
	uint32_t mult;
	int shift, twice; /* twice: dbl_rnd */
	enum npu_rounding round;
};
struct scales85 {
	struct scale85 a, b, ofm;
	bool operands; /* a and b are used */
};
struct scales85 emit85_scales(const struct g_op *op);
/* True for an average that the NPU itself divides. */
bool emit85_divides(const struct g_op *op);

/* ---- dma.c: transfers ---------------------------------------------------- */

/*
 * Moves `bytes` bytes between two regions; SHRAM_REGION is a destination only.  s is the step;
 * NULL: upload of a table that no step asks for.
 */
void emit_transfer(struct emitter *m, int from, int64_t src, int to, int64_t dst,
		   int64_t bytes, const struct g_step *s);
/* Fetches weights into a buffer. */
bool emit_fetch(struct emitter *m, const struct g_step *s);
/*
 * Moves a tensor into another one, by runs of rows (copy) or columns (gather, scatter).
 * graph_check has found that each run is contiguous.
 */
bool emit_moved(struct emitter *m, const struct g_step *s);

/* ---- loop.c: branches ------------------------------------------------------ */

struct emit_loop {
	size_t again; /* word where the condition begins */
	size_t leave; /* record of the branch that leaves the loop */
};
/* Emits the branches in front of a node that is this part (enum g_loop) of a loop. */
void emit_border(struct emitter *m, struct emit_loop *l, int part);

/* ---- hazard.c: waits and block dependency ------------------------------ */

/* Adds the ranges of all tiles of a feature map. */
void access_fm(struct accesses *l, const struct npu_fm *fm, bool write);
/*
 * Emit the waits that the new operation needs.  A kernel that continues a chain is one with
 * the kernels before it; the accesses of these are added to l.
 */
void emit_kernel_waits(struct emitter *m, struct accesses *l, bool continues);
void emit_dma_waits(struct emitter *m, const struct accesses *l);

/* A kernel as BLOCKDEP sees it. */
struct depend {
	const struct g_op *op;
	struct g_range rows;   /* of the OFM */
	struct g_range depth;  /* OFM channels: those of a slice of weights */
	struct hwc ifm_block;
};

/*
 * How many of the last blocks of prev may be unfinished when cur starts; prev->op NULL:
 * cur is the first kernel.
 */
int emit_blockdep(const struct accel *a, const struct depend *prev,
		  const struct depend *cur);

#endif
