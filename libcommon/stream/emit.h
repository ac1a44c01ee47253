/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a scheduled graph to the words of a command stream.  npu-cmdgen writes
 * them, npu-sched and npu-perf cost them.  The verifier shares nothing with
 * this side.
 */
#ifndef STREAM_EMIT_H
#define STREAM_EMIT_H

#include "graph/graph.h"
#include "weights/weights.h"

/* the stream of one NPU node, STOP included */
struct emit_words {
	uint32_t *word;
	size_t n;
	/* of every kernel and transfer: word index of its operation, its step */
	struct emit_mark {
		size_t at;
		const struct g_step *step; /* NULL: made up for a table */
	} *mark;
	size_t n_marks;
};

/*
 * Emits the steps of node n.  The graph needs blocks on its operations,
 * addresses on its tensors and buffers, and a code record for every slice of
 * weights (emit_code_missing names the first that lacks one).  Nodes behind it that
 * are of a loop go on with its stream, and have none themselves: no words, no marks.
 */
bool emit_node(struct arena *a, const struct graph *g, const struct g_node *n,
	       struct emit_words *out, struct err *e);

/* COP1: the driver's payload around a stream (ethosu-commands(7) 14) */
struct bytes emit_payload(struct arena *a, const struct accel *accel,
			  const struct emit_words *w);

/* rows of the IFM that OFM rows lo..hi-1 read, and the padding they see */
struct emit_rows {
	int32_t lo, hi; /* stored IFM rows */
	int32_t pad_top, pad_bottom;
};
struct emit_rows emit_ifm_rows(const struct g_op *op, struct g_range ofm_rows);

/*
 * Bytes that a kernel may touch of its operands, counted from their tensors'
 * addresses: those of some OFM rows and, where weights are cut, of a slice.
 */
enum { EMIT_SPANS = 6 };
struct emit_span {
	const struct g_tensor *t;
	int64_t lo, hi;
	bool write;
};
int emit_spans(const struct g_op *op, struct g_range rows, int slice,
	       struct emit_span out[EMIT_SPANS]);

/*
 * Tables that the SHRAM holds while a node runs, in 8 slots of 256 bytes.
 * lut_slots_find gives the slot of a table, and in *missing whether it must be
 * uploaded there first: 8-bit tables take slots in turn, larger ones begin at
 * slot 0 or 4.  lut_slots_put records an upload; lut_slots_after what is left
 * when op has run: parts without banks of their own for tables
 * (nputools-lowering(7) 4.8) lose them to kernels that use none.
 */
enum { LUT_SLOTS = 8, LUT_SLOT_BYTES = 256 };
struct lut_slots {
	const struct g_lut *held[LUT_SLOTS];
	int turn;
};
int32_t lut_bytes(const struct g_lut *l);
int lut_slots_find(struct lut_slots *s, const struct g_lut *l, bool *missing);
void lut_slots_put(struct lut_slots *s, const struct g_lut *l, int slot);
void lut_slots_after(struct lut_slots *s, const struct accel *accel,
		     const struct g_op *op);

/* the encoded pieces of one slice; NULL where there is none */
const struct g_code *emit_code(const struct graph *g,
			       const struct g_weights *w, int slice, int core);

/* the weights of a record, held against its source; their zero points live in a */
bool emit_weights_view(struct arena *a, struct graph *g, const struct g_weights *w,
		       struct weights_view *out, struct err *e);
/* their order in the stream of a slice and core of op; op->block.c is set */
struct weights_order emit_weights_order(const struct accel *accel,
					const struct g_op *op, int slice,
					int core);
/* streams of a slice: of every core, of every decoder; or one for the fast decoder */
static inline int
emit_streams(const struct accel *a, const struct g_op *op)
{
	return op->fast ? 1 : a->cores * a->streams;
}
/* scale records beside a stream: of its channels; U85 has them all beside the
 * first, filled up with empty ones (ethosu-weights(7) 25) */
size_t emit_scale_records(const struct weights_order *ord);
/* bias, multiplier and shift of channel o, as the stream of op has them */
bool emit_scale_record(const struct accel *accel, const struct g_op *op, size_t o,
		       uint8_t out[WEIGHTS_SCALE_SIZE], struct err *e);
/* bytes of the records of so many channels of op, as if of one core */
int64_t emit_scale_bytes(const struct accel *accel, const struct g_op *op,
			 int64_t channels);

/* U85: does op's stream say that its result is not scaled?  What is written as 2^30 >> 30
 * goes through the multiplier */
bool emit85_is_unscaled(const struct g_op *op);

/*
 * limits.c: why accel can't run op, whatever block and addresses it gets; NULL: it can.
 * tfl-partition leaves such an operator to the CPU, npu-sched refuses the graph.
 */
const char *emit_limit(struct arena *a, const struct accel *accel,
		       const struct g_op *op);
/* weights of an operation, as WEIGHTS_MAX_BYTES of a stream hold them at 9 bits each */
enum { EMIT_MAX_WEIGHTS = WEIGHTS_MAX_BYTES / 9 * 8 };
/*
 * U85: an operand of 16 bits has a zero point, which the scalar of a sum takes on: of an
 * average, that becomes a sum, and of a sum that is not scaled
 */
void emit_move_zero(struct g_op *op);
/* a 1x1 average: a scale, a zero point, a clamp, a table */
bool emit_is_plain_pool(const struct g_op *op);

#endif
