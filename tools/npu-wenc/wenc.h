/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npu-wenc: compresses the weights of a scheduled graph, packs biases and
 * scales, and lays out the constants that the NPU reads (region 0, "flash").
 */
#ifndef NPU_WENC_WENC_H
#define NPU_WENC_WENC_H

#include "base/file.h"
#include "graph/graph.h"
#include "stream/emit.h"
#include "weights/weights.h"

struct options {
	const char *input, *output;
	const char *blob; /* write the constants here and name the file */
	unsigned jobs;
	int level; /* 0: the one that was planned for */
	bool stats, decode, allocation;
};

/* one encoded piece: a slice's channels on one core */
struct piece {
	struct arena *a; /* has these: copied once, to their place */
	struct bytes scales, stream;
	size_t values; /* in the stream, padding included */
	uint64_t hash; /* of both */
};

/* all pieces of one weights record, slice after slice, core after core */
struct coded {
	struct g_weights *w;
	const struct g_op *op; /* the first that uses it */
	int slices, cores;
	struct piece *piece; /* [slice * cores + core] */
	struct bytes *coding; /* of each piece, as npu-sched found it; NULL: none */
	int64_t bytes;
	uint64_t hash; /* of all pieces */
	struct err err;
};

struct wenc {
	struct file_set *files; /* what is written */
	struct arena *a;
	struct graph *g;
	const struct accel *accel;
	struct coded *coded;
	size_t n_coded;
	struct err *e;
};

/* coding.c: leaves in c->coding what the graph says of weights that are encoded at a
 * level; false: it contradicts itself */
bool find_coding(struct wenc *w, struct coded *c, int level);
/* the graph's codings are used up */
void drop_codings(struct wenc *w);

/* encode.c: fills w->coded, on `jobs` threads */
bool encode_all(struct wenc *w, const struct options *o);
/* what the pieces have, whether all went well or not */
void forget_pieces(struct wenc *w);

/* layout.c: places everything in flash, adds code records and the blob */
bool lay_out(struct wenc *w, const struct options *o);

/* report.c */
void print_stats(const struct wenc *w, struct text *t);
void print_allocation(const struct wenc *w, struct text *t);

/* decode.c: encoded weights of a finished graph back as OHWI .npy files */
bool decode_all(struct wenc *w, const struct options *o);

#endif
