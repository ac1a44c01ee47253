/* SPDX-License-Identifier: Apache-2.0 */
/* The emitter's parts: registers, feature maps, hazards. */
#ifndef STREAM_EMIT_REGS_H
#define STREAM_EMIT_REGS_H

#include "stream/emit.h"
#include "stream/stream.h"

/* ---- emit_regs.c: words, each register write once ------------------------- */

struct emitter {
	struct arena *a;
	const struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct emit_words *out;
	size_t cap_words, cap_marks;
	bool written[NPU_REGS];
	uint64_t last[NPU_REGS];
	struct hazards *hazards;
	struct err *e;
};

void emit_reg(struct emitter *m, enum npu_reg reg, int64_t param);
void emit_reg1(struct emitter *m, enum npu_reg reg, int64_t payload);
void emit_scale(struct emitter *m, enum npu_reg reg, struct npu_scale s);
void emit_scale_word(struct emitter *m, enum npu_reg reg, uint16_t param,
		     uint32_t mult);
void emit_op(struct emitter *m, enum npu_opcode op, int param,
	     const struct g_step *step);
void emit_wait(struct emitter *m, enum npu_opcode op, int param);
/* BRANCH to a word of the stream; where that is told: the word that says so */
size_t emit_branch(struct emitter *m, bool if_true, size_t to);
/* what says where a map lies is written again by whoever wants it next */
void emit_forget(struct emitter *m, const enum npu_reg *regs, size_t n);

/* ---- emit_fm.c: what an operand's registers hold --------------------------- */

struct emit_fm {
	int region;
	int64_t base[4];
	int32_t h0, h1, w0;
	struct g_stride stride; /* bytes */
	struct hwc shape;	/* accessed */
	/* bytes that it may touch, for hazards: one range a tile */
	int64_t lo[4], hi[4];
	int tiles;
};

int emit_region(const struct emitter *m, int place);
/* rows lo..hi-1 of what the operand shows; all its columns and channels */
struct emit_fm emit_map(const struct emitter *m, const struct g_operand *o,
			int32_t lo, int32_t hi);

/* the operands of a kernel that makes some rows, and a slice's channels */
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

struct accesses;

/* a kernel, or a part of one, ready to be written */
struct emit_kernel {
	const struct g_op *op;	  /* operands of the rows and channels at hand */
	const struct g_op *whole; /* as it is in the graph */
	const struct g_step *step;
	struct emit_fm ifm, ifm2, ofm;
	struct emit_rows rows;
	int slot; /* of its table */
	/* the first of its chain, whose block it has; itself where it is in none */
	const struct g_op *lead;
	int chain_in, chain_out; /* chain buffers that it takes and fills, or -1 */
	const struct shram_layout *layout;
	struct accesses *accesses; /* weights join the maps */
};

void emit_tiles(struct emitter *m, const struct fm_regs *r,
		const struct emit_fm *f);
void emit_strides(struct emitter *m, const struct fm_regs *r,
		  const struct emit_fm *f);
void emit_pads(struct emitter *m, const struct emit_kernel *k);
void emit_window(struct emitter *m, const struct g_op *op);
enum npu_opcode emit_opcode(const struct g_op *op, int *mode);

/* where a slice's pieces are: in flash, or in the buffer they were fetched to */
struct emit_piece {
	int region, scale_region;
	struct g_span scales, weights;
};
bool emit_find_piece(struct emitter *m, const struct g_step *s, int core,
		     struct emit_piece *out);

bool emit55_registers(struct emitter *m, const struct emit_kernel *k);
bool emit85_registers(struct emitter *m, const struct emit_kernel *k);
enum npu_opcode emit85_opcode(const struct g_op *op, int *mode);

/* ---- emit85_scales.c: the graph's scales in U85's terms --------------------------- */

struct scale85 {
	uint32_t mult;
	int shift, twice; /* twice: dbl_rnd */
	int round;	  /* code */
};
struct scales85 {
	struct scale85 a, b, ofm;
	bool operands; /* a and b count */
};
struct scales85 emit85_scales(const struct g_op *op);
/* an average that the unit divides itself */
bool emit85_divides(const struct g_op *op);

/* ---- emit_dma.c: transfers ---------------------------------------------------- */

/* so many bytes; internal: to SHRAM; s: the step, NULL: made up for a table */
void emit_transfer(struct emitter *m, int from, int64_t src, int to, int64_t dst,
		   int64_t bytes, bool internal, const struct g_step *s);
/* weights into a buffer */
bool emit_fetch(struct emitter *m, const struct g_step *s);
/* a tensor into another one, by runs of rows (copy) or columns (gather, scatter) that
 * graph_check has found to be in one run */
bool emit_moved(struct emitter *m, const struct g_step *s);

/* ---- emit_loop.c: branches ------------------------------------------------------ */

struct emit_loop {
	size_t again; /* word where the condition begins */
	size_t leave; /* that of the address to go to when it is false */
};
/* in front of a node that is this part (enum g_loop) of a loop */
void emit_border(struct emitter *m, struct emit_loop *l, int part);

/* ---- emit_hazard.c: waits and block dependency ------------------------------ */

enum { MAX_ACCESSES = 64, /* of a whole chain */
        SHRAM_REGION = 0x103 };

struct access {
	int region;
	int64_t lo, hi; /* bytes */
	bool write;
};

struct accesses {
	struct access v[MAX_ACCESSES];
	int n;
};

struct hazards {
	struct accesses kernel[MAX_KERNELS], dma[DMA_QUEUE]; /* oldest first */
	int n_kernels, n_dma;
};

void access_add(struct accesses *l, int region, int64_t lo, int64_t hi,
		bool write);
void access_fm(struct accesses *l, const struct emit_fm *fm, bool write);
/* waits before the new operation, which then is one of the outstanding */
void hazard_kernel(struct emitter *m, const struct accesses *l);
/* the same for one that goes on with a chain, which counts as one kernel */
void hazard_member(struct emitter *m, const struct accesses *l);
void hazard_dma(struct emitter *m, const struct accesses *l);

/* a kernel as BLOCKDEP sees it */
struct depend {
	const struct g_op *op;
	struct g_range rows;   /* of the OFM */
	struct g_range depth;  /* channels of the OFM: a slice of weights */
	struct hwc ifm_block;
};

/* how many of prev's last blocks may be unfinished; prev NULL: the first */
int emit_blockdep(const struct accel *a, const struct depend *prev,
		  const struct depend *cur);

#endif
