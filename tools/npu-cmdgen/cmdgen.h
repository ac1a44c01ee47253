/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-cmdgen turns an encoded graph into command streams.  It writes the original
 * model, in which ethos-u operators replace the operators that the NPU runs.
 */
#ifndef NPU_CMDGEN_CMDGEN_H
#define NPU_CMDGEN_CMDGEN_H

#include "borders/borders.h"
#include "emit/emit.h"
#include "map/map.h"
#include "target/memory.h"

struct tfl_tensor;

/* --emit: EMIT(code, name of the option's value, help text) */
#define EMITS(EMIT)                                                          \
	EMIT(TFLITE, "tflite", "the compiled model (default)")               \
	EMIT(CMD, "cmd", "command words of the streams, binary")             \
	EMIT(WORDS, "words", "listing of the command words")                 \
	EMIT(LIST, "list", "listing of operations and command words")        \
	EMIT(NPZ, "npz", "raw output in the format of Vela")                 \
	EMIT(PACKED, "vela-bin", "stream as ExecuTorch packs it")            \
	EMIT(PAYLOAD, "payload", "driver payload of the NPU operator")       \
	EMIT(CONSTANTS, "constants", "weights, scales and tables of the NPU operator") \
	EMIT(DEBUG, "debug-xml", "debug database in the format of Vela, for profilers")
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
	const char **body; /* of --body: N=FILE */
	size_t n_bodies;
	unsigned jobs;
};

struct cmdgen {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct tfl_model *m;
	struct tfl_model **body; /* by subgraph: compiled bodies; NULL: none */
	struct emit_words *stream; /* of every node; n is 0 on the CPU */
	bool no_map;		   /* --no-map: write no source map into the file */
	struct err *e;
};

/*
 * emit.c: reads the graph of a text, which c takes over and which messages call name, and
 * generates its streams
 */
bool emit_text(struct cmdgen *c, uint8_t *text, size_t n, const char *name);

/*
 * model_bodies.c: the file name, compiled from body n of IF or WHILE, takes the place of
 * subgraph n
 */
bool take_body(struct cmdgen *c, int n, struct bytes file, const char *name);

/* model.c: builds the finished TFLite file; ethosu-commands(7) 13 */
bool build_model(struct cmdgen *c, struct bytes *out);

/*
 * borders.c: the layouts of the model's inputs and outputs, and how many inputs one run
 * takes
 */
struct border_tensors find_borders(const struct cmdgen *c);
/*
 * Describes a tensor of the original whose memory differs from the original's: an input
 * or output with a layout, or any tensor of a batch that is not constant. *out gets its
 * shape in memory, *data its initial values.  Returns false if the original's shape and
 * values hold.
 */
bool reshape_border(const struct cmdgen *c, int index, struct tfl_tensor *out,
		 struct bytes *data);

/* raw.c: prints npz or vela-bin; fails unless one NPU region is the whole graph */
bool print_raw(struct cmdgen *c, enum emit what, struct text *t);

/*
 * verify.c: checks the streams of the finished model against the rules of npu-dis(1),
 * RULES.  Fails with an error at the graph's line of the operation that breaks a rule.
 */
bool verify_model(struct cmdgen *c, struct bytes file, unsigned jobs);

/*
 * highlevel.c: prints the steps of one NPU node as stripes and transfers, in the layout
 * of the reference's log
 */
void print_high_level(const struct cmdgen *c, size_t node, struct text *t);
void put_stripe(struct text *t, const struct cmdgen *c, const struct g_step *s);
void put_transfer(struct text *t, const struct g_step *s); /* NULL: a table's transfer */

/* registers.c: prints the records of one NPU node, or its words one by one */
void print_operations(const struct cmdgen *c, size_t node, struct text *t);
bool print_words(struct cmdgen *c, size_t node, struct text *t);

/* listing.c: prints the streams of all nodes; and where the file's constants are */
bool print_listing(struct cmdgen *c, enum emit what, struct text *t);
void print_allocation(const struct cmdgen *c, struct text *t);
/* the names of a node's region and of an operation in all listings */
const char *region_name(const struct cmdgen *c, size_t node);
const char *op_label(const struct cmdgen *c, const struct g_op *op);

/* debug.c: prints the debug database: --emit=debug-xml */
void print_debug_xml(const struct cmdgen *c, struct text *t);

#endif
