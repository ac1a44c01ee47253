/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the emitter: registers, feature maps, hazards. */
#ifndef EMIT_REGS_H
#define EMIT_REGS_H

#include "emit/emit.h"
#include "stream/commands.h"
#include "target/memory.h"

/* ---- regs.c: words; a repeated register write is left out ------------ */

struct emitter {
	struct arena *a;
	const struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct emit_words *out;
	size_t cap_words, cap_marks;
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
void emit_scale(struct emitter *m, enum npu_reg reg, struct npu_scale s);
void emit_scale_word(struct emitter *m, enum npu_reg reg, uint16_t param,
		     uint32_t mult);
/* Emits an operation and, except for STOP, adds its mark. */
void emit_op(struct emitter *m, enum npu_opcode op, int param,
	     const struct g_step *step);
void emit_wait(struct emitter *m, enum npu_opcode op, int param);
/*
 * Emits a BRANCH to a word of the stream.  Returns the index of the word that holds the
 * target.
 */
size_t emit_branch(struct emitter *m, bool if_true, size_t to);
/* Forgets the values of some registers, so that the next write of each is emitted. */
void emit_forget(struct emitter *m, const enum npu_reg *regs, size_t n);

/* ---- fm.c: values of an operand's registers -------------------------- */

struct emit_fm {
	int region;
	int64_t base[4];
	int32_t h0, h1, w0;
	struct g_stride stride; /* bytes */
	struct hwc shape;	/* accessed elements */
	/* bytes that the operand may touch, for hazards: one range per tile */
	int64_t lo[4], hi[4];
	int tiles;
};

/* The base pointer of a memory (enum g_place). */
int emit_region(const struct emitter *m, int place);
/* Rows lo..hi-1 of the operand's view, with all its columns and channels. */
struct emit_fm emit_feature_map(const struct emitter *m, const struct g_operand *o,
			int32_t lo, int32_t hi);

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

/* A kernel, or a part of one, ready to be written. */
struct emit_kernel {
	const struct g_op *op;	  /* operands cut to the rows and channels of this part */
	const struct g_op *whole; /* the operation as in the graph */
	const struct g_step *step;
	struct emit_fm ifm, ifm2, ofm;
	struct emit_rows rows;
	int slot; /* of its table */
	/* The first operation of its chain, which sets the block; itself without a chain. */
	const struct g_op *lead;
	int chain_in, chain_out; /* chain buffers that it reads and fills; -1: none */
	const struct shram_layout *layout;
	struct accesses *accesses; /* ranges of feature maps; the weights are added */
};

void emit_tiles(struct emitter *m, const struct fm_regs *r,
		const struct emit_fm *f);
void emit_strides(struct emitter *m, const struct fm_regs *r,
		  const struct emit_fm *f);
void emit_pads(struct emitter *m, const struct emit_kernel *k);
void emit_window(struct emitter *m, const struct g_op *op);
enum npu_opcode emit_opcode(const struct g_op *op, int *mode);

/* Addresses of a slice's pieces: in flash, or in the buffer that they were fetched to. */
struct emit_piece {
	int region, scale_region;
	struct g_span scales, weights;
};
bool emit_find_piece(struct emitter *m, const struct g_step *s, int core,
		     struct emit_piece *out);

/* Write all registers of a kernel except BLOCKDEP.  Fail with m->e set. */
bool emit55_registers(struct emitter *m, const struct emit_kernel *k);
bool emit85_registers(struct emitter *m, const struct emit_kernel *k);
enum npu_opcode emit85_opcode(const struct g_op *op, int *mode);

/* ---- scales85.c: the graph's scales as values of U85's registers ----- */

struct scale85 {
	uint32_t mult;
	int shift, twice; /* twice: dbl_rnd */
	int round;	  /* rounding code */
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
 * Moves `bytes` bytes between two regions.  internal: the destination is SHRAM.  s is the
 * step; NULL: upload of a table that no step asks for.
 */
void emit_transfer(struct emitter *m, int from, int64_t src, int to, int64_t dst,
		   int64_t bytes, bool internal, const struct g_step *s);
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
	size_t leave; /* word with the target of the branch that leaves the loop */
};
/* Emits the branches in front of a node that is this part (enum g_loop) of a loop. */
void emit_border(struct emitter *m, struct emit_loop *l, int part);

/* ---- hazard.c: waits and block dependency ------------------------------ */

/* Adds the ranges of all tiles of a feature map. */
void access_fm(struct accesses *l, const struct emit_fm *fm, bool write);
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
