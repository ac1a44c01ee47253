/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a scheduled graph to the words of a command stream.  npu-cmdgen writes the words,
 * npu-sched and npu-perf estimate their cost.  The verifier shares no code with the
 * emitter.
 */
#ifndef EMIT_EMIT_H
#define EMIT_EMIT_H

#include "graph/records.h"
#include "target/accel.h"
#include "weights/weights.h"

struct memory_system;
struct npu_op;

/* The stream of one NPU node, STOP included. */
struct emit_words {
	uint32_t *word;
	size_t n;
	/* one entry per kernel and transfer: word index of its operation, its step */
	struct emit_mark {
		size_t at;
		const struct g_step *step; /* NULL: upload of a table that no step asks for */
	} *mark;
	size_t n_marks;
	struct npu_op *op; /* all operations, as a decoder reads them from the words */
	size_t n_ops;
};

/*
 * Emits the steps of node n.  The graph needs blocks on its operations, addresses on its
 * tensors and buffers, and a code record for every slice of weights (an error names the
 * first slice that lacks one).  The nodes of a loop behind n continue the stream of n; a
 * node that continues another stream has no words and no marks of its own.
 */
bool emit_node(struct arena *a, const struct graph *g, const struct g_node *n,
	       struct emit_words *out, struct err *e);

/* COP1: the driver's payload around a stream (ethosu-commands(7) 14). */
struct bytes emit_payload(struct arena *a, const struct accel *accel,
			  const struct emit_words *w);

/*
 * The record of the kernel that makes some rows and channels of op: the operation of the NPU as a
 * decoder will read it from the stream, with regions but without addresses, weights, links of a
 * chain and SHRAM banks.  slot: where its table is.  Does not allocate.
 */
void emit_record(const struct accel *accel, const struct memory_system *memory,
		 const struct g_op *op, struct g_range rows, struct g_range depth, int slot,
		 struct npu_op *r);

/* The base pointer of a tensor. */
int emit_region_of(const struct memory_system *memory, const struct g_tensor *t);

/* Rows of the IFM that a kernel reads for a range of OFM rows, and the padding it sees. */
struct emit_rows {
	int32_t lo, hi; /* stored IFM rows lo..hi-1 */
	int32_t pad_top, pad_bottom;
};
struct emit_rows emit_ifm_rows(const struct g_op *op, struct g_range ofm_rows);

/*
 * Ranges of bytes that a kernel may touch, relative to the addresses of its operands'
 * tensors.  The kernel makes some rows of the OFM and, where weights are cut, the channels
 * of one slice.  Returns the number of ranges.
 */
enum { EMIT_SPANS = 6 };
struct emit_span {
	const struct g_tensor *t;
	int64_t lo, hi;
	bool write;
};
int emit_spans(const struct g_op *op, struct g_range rows, int slice,
	       struct emit_span out[EMIT_SPANS]);
/* The bytes that a copy moves of a tensor's last bytes.  U55 moves multiples of 16; no
 * tensor uses the bytes behind a tensor up to one. */
int64_t emit_copied_bytes(const struct accel *a, int64_t bytes);

/*
 * Tables that the SHRAM holds while a node runs, in 8 slots of 256 bytes.
 *
 * lut_slots_run() runs an operation: *slot is that of its table, 0 without one.  True: the table
 * must be uploaded there first.  8-bit tables take slots in turn, larger ones begin at slot 0 or
 * 4.  Parts without banks of their own for tables (nputools-lowering(7) 4.8) lose all tables to
 * a kernel that uses none.  lut_slots_put() records an upload that the graph asks for.
 */
enum { LUT_SLOTS = 8, LUT_SLOT_BYTES = 256 };
struct lut_slots {
	const struct g_lut *held[LUT_SLOTS];
	int turn;
};
int32_t lut_bytes(const struct g_lut *l);
bool lut_slots_run(struct lut_slots *s, const struct accel *accel, const struct g_op *op,
		   int *slot);
void lut_slots_put(struct lut_slots *s, const struct g_lut *l, int slot);

/*
 * hazard.c: which operations may run at the same time: not two that touch the same bytes, if one
 * writes (ethosu-commands(7) 11.2).  The emitter and the clock of npu-sched wait by it.
 *
 * access_add() adds bytes [lo, hi) of a region, unless the range is empty; access_shram() adds
 * the tables in the SHRAM that a kernel reads, or overwrites.
 */
enum { MAX_ACCESSES = 64, /* of a whole chain */
       SHRAM_REGION = 0x103 };
struct access {
	int region;
	int64_t lo, hi;
	bool write;
};
struct accesses {
	struct access *v;
	int n;
};
void access_add(struct accesses *l, int region, int64_t lo, int64_t hi, bool write);
void access_shram(struct accesses *l, int shram, const struct accel *accel,
		  const struct g_op *op);

/*
 * Add an operation to those that may be outstanding, which are listed with the oldest first, and
 * return how many kernels or transfers may still run when it begins; -1: any number.  Lists must
 * live as long as their operations are outstanding.
 */
struct hazards {
	const struct accesses *kernel[MAX_KERNELS], *dma[DMA_QUEUE];
	int n_kernels, n_dma;
};
struct hazard_waits {
	int kernel, dma; /* in this order */
};
int hazard_kernel(struct hazards *h, const struct accesses *l);
struct hazard_waits hazard_dma(struct hazards *h, const struct accel *accel,
			       const struct accesses *l);

/* emit.c: the encoded pieces of one slice for a core or decoder; NULL if it has none. */
const struct g_code *emit_code(const struct graph *g,
			       const struct g_weights *w, int slice, int core);

/*
 * code.c: the weights of a record, checked against the size of their source.  The zero points of
 * the result are allocated in a.
 */
bool emit_weights_view(struct arena *a, struct graph *g, const struct g_weights *w,
		       struct weights_view *out, struct err *e);
/*
 * The order of the weights in the stream of a slice and core of op; op->block.c must be
 * set.
 */
struct weights_order emit_weights_order(const struct accel *accel,
					const struct g_op *op, int slice,
					int core);
/* Streams of a slice: one per core or per decoder; a single one for the fast decoder. */
static inline int
emit_streams(const struct accel *a, const struct g_op *op)
{
	return op->fast ? 1 : a->cores * a->streams;
}
/*
 * Scale records beside a stream: one per channel of the stream.  U85 has the records of
 * all streams beside the first one, padded with empty records (ethosu-weights(7) 25).
 */
size_t emit_scale_records(const struct weights_order *ord);
/* Packs bias, multiplier and shift of channel o as the stream of op has them. */
bool emit_scale_record(const struct accel *accel, const struct g_op *op, size_t o,
		       uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);
/* Bytes of the scale records for this many channels of op, as if on one core. */
int64_t emit_scale_bytes(const struct accel *accel, const struct g_op *op,
			 int64_t channels);

/*
 * limits.c: why accel can't run op, whatever block and addresses op gets; NULL if it can.
 * tfl-partition leaves such an operator to the CPU, npu-sched refuses the graph.
 */
const char *emit_limit(struct arena *a, const struct accel *accel,
		       const struct g_op *op);
/* most weights of an operation: WEIGHTS_MAX_BYTES of a stream at 9 bits each */
enum { EMIT_MAX_WEIGHTS = WEIGHTS_MAX_BYTES / 9 * 8 };
/*
 * U85: an IFM of 16 bits can't have a zero point.  Moves the zero point into the scalar of
 * a sum: of a plain average, which becomes a sum, or of a sum that is not scaled.
 */
void emit_move_zero(struct g_op *op);
/* True for a 1x1 average: it only applies a scale, a zero point, a clamp and a table. */
bool emit_is_plain_pool(const struct g_op *op);

#endif
