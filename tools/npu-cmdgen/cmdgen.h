/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-cmdgen: an encoded graph becomes command streams, and the original model
 * with ethos-u operators in place of what the NPU runs.
 */
#ifndef NPU_CMDGEN_CMDGEN_H
#define NPU_CMDGEN_CMDGEN_H

#include "graph/graph.h"
#include "stream/ends.h"
#include "stream/map.h"

/* --emit: EMIT(CODE, name as an option, what it is) */
#define EMITS(EMIT)                                                          \
	EMIT(TFLITE, "tflite", "the finished model (default)")               \
	EMIT(CMD, "cmd", "the words of the command streams")                 \
	EMIT(WORDS, "words", "their listing")                                \
	EMIT(LIST, "list", "that with the operations they are from")         \
	EMIT(NPZ, "npz", "Vela's raw output")                                \
	EMIT(PACKED, "vela-bin", "ExecuTorch's packed stream")               \
	EMIT(PAYLOAD, "payload", "what the driver gets for the NPU operator") \
	EMIT(CONSTANTS, "constants", "its weights, scales and tables")
enum emit {
#define EMIT(code, name, what) EMIT_##code,
	EMITS(EMIT)
#undef EMIT
	EMIT_KINDS
};

struct options {
	const char *input, *output;
	enum emit emit;
	bool allocation, high_level, registers; /* --verbose-... */
	bool no_map;
	unsigned jobs;
};

struct cmdgen {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct tfl_model *m;
	struct emit_words *stream; /* of every node; n 0 on the CPU */
	bool no_map;		   /* the file is to have none */
	struct err *e;
};

/* model.c: the finished TFLite; ethosu-commands(7) 13 */
bool build_model(struct cmdgen *c, struct bytes *out);

/* ends.c: the model's inputs and outputs, and how many of them one run takes */
struct ends find_ends(const struct cmdgen *c);
/*
 * A tensor of the original in memory, and what it holds at first, where that is not
 * the original's: an end, or a variable of a batch.  False: it is.
 */
bool reshape_end(const struct cmdgen *c, int index, struct tfl_tensor *out,
		 struct bytes *data);

/* raw.c: npz or vela-bin, of a graph that one NPU region is all of */
bool print_raw(struct cmdgen *c, enum emit what, struct text *t);

/*
 * verify.c: the finished model's streams are held against the rules of
 * npu-dis(1), RULES; false, an error at the graph's line of the operation
 * that breaks one, if any does
 */
bool verify_model(struct cmdgen *c, struct bytes file, unsigned jobs);

/*
 * highlevel.c: one NPU node's steps as stripes and transfers, in the layout of
 * the reference's log
 */
void print_high_level(const struct cmdgen *c, size_t node, struct text *t);
void put_stripe(struct text *t, const struct cmdgen *c, const struct g_step *s);
void put_transfer(struct text *t, const struct g_step *s); /* NULL: a table */

/* registers.c: of one NPU node, what the words say, an operation each, then word by word */
bool print_operations(struct cmdgen *c, size_t node, struct text *t);
bool print_words(struct cmdgen *c, size_t node, struct text *t);

/* listing.c: of all nodes; and where the file's constants lie */
bool print_listing(struct cmdgen *c, enum emit what, struct text *t);
void print_allocation(const struct cmdgen *c, struct text *t);
const char *region_name(const struct cmdgen *c, size_t node);
const char *op_label(const struct cmdgen *c, const struct g_op *op);
const char *tensor_label(const struct cmdgen *c, const struct g_tensor *t);

#endif
