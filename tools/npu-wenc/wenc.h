/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-wenc compresses the weights of a scheduled graph, packs biases and scales, and
 * lays out the constants that the NPU reads (region 0, "flash").
 */
#ifndef NPU_WENC_WENC_H
#define NPU_WENC_WENC_H

#include "base/file.h"
#include "emit/emit.h"
#include "weights/weights.h"

struct options {
	const char *input, *output;
	const char *blob; /* file for the constants, which the graph then names; NULL: none */
	unsigned jobs;
	int level; /* 1 to 9; 0: the level of the plan */
	bool stats, decode, allocation;
};

/* one encoded piece: the channels of a slice on one core */
struct piece {
	struct arena *a; /* memory of scales and stream, until they are copied into flash */
	struct bytes scales, stream;
	size_t values; /* number in the stream, with padding */
	uint64_t hash; /* of scales and stream */
};

/* all pieces of one weights record, by slice, then by core */
struct coded {
	struct g_weights *w;
	const struct g_op *op; /* the first operation that uses the weights */
	int slices, cores;
	struct piece *piece; /* [slice * cores + core] */
	/* of each piece, the section choices that npu-sched found; NULL: none */
	struct bytes *coding;
	int64_t bytes;
	uint64_t hash; /* of all pieces */
	struct err err;
};

struct wenc {
	struct file_set *files; /* files to write */
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct coded *coded;
	size_t n_coded;
	struct err *e;
};

/*
 * coding.c: sets c->coding from the graph, if its weights are encoded at this level.
 * Fails if the graph contradicts itself.
 */
bool find_coding(struct wenc *w, struct coded *c, int level);

/* encode.c: sets w->coded, on `jobs` threads */
bool encode_all(struct wenc *w, const struct options *o);

/* layout.c: assigns addresses in flash, adds code records and the blob */
bool lay_out(struct wenc *w, const struct options *o);

/*
 * graph.c: encodes and lays out, and prints reports on standard error; w->g becomes a
 * graph of STAGE_WENC
 */
bool encode_graph(struct wenc *w, const struct options *o);

/* report.c */
void print_stats(const struct wenc *w, struct text *t);
void print_allocation(const struct wenc *w, struct text *t);

/* decode.c: writes the encoded weights of a finished graph as OHWI .npy files */
bool decode_all(struct wenc *w, const struct options *o);

#endif
