/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-cmdgen: an encoded graph becomes command streams, and the original model
 * with ethos-u operators in place of what the NPU runs.
 */
#ifndef NPU_CMDGEN_CMDGEN_H
#define NPU_CMDGEN_CMDGEN_H

#include "graph/graph.h"
#include "stream/emit.h"

enum emit { EMIT_TFLITE, EMIT_CMD, EMIT_LIST };

struct options {
	const char *input, *output;
	enum emit emit;
};

struct cmdgen {
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct memory_system memory;
	struct tfl_model *m;
	struct emit_words *stream; /* of every node; n 0 on the CPU */
	struct err *e;
};

/* model.c: the finished TFLite; spec/command-stream.md 13 */
bool build_model(struct cmdgen *c, struct bytes *out);

/* listing.c: words with names, in the layout of the reference's log */
bool print_listing(struct cmdgen *c, struct text *t);

#endif
