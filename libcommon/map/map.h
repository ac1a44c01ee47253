/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source map of a compiled model.  A source map says which operator of the source
 * model each command of a stream belongs to, which bytes of memory each tensor and
 * buffer occupies and when, and which layer the constants belong to.  npu-cmdgen writes
 * the source map into the file as TFLite metadata, which runtimes ignore.  Its records
 * are in schema/map.def, its bytes are described in nputools-map(5).
 */
#ifndef MAP_MAP_H
#define MAP_MAP_H

#include "base/arena.h"
#include "base/bytes.h"

struct emit_words;
struct graph;
struct npu_stream;
struct text;
struct tfl_model;

#define MAP_METADATA "nputools.map"

struct map_source {
	const char *name; /* of the model's first subgraph */
	int64_t moments;  /* number of moments (struct map_command); every moment is below */
};

struct map_layer {
	const char *kind, *name; /* operator type, "CONV_2D"; name of its first output */
	int64_t npu;		 /* 1: the operator went to the NPU */
};

struct map_stream {
	int64_t commands;
};

enum map_command_kind { MAP_KERNEL, MAP_FETCH, MAP_UPLOAD, MAP_COPY };

/* A kernel or transfer.  The records are in the order of npu_op.index. */
struct map_command {
	int64_t at;   /* word index of its operation */
	int64_t what; /* enum map_command_kind */
	int64_t layer; /* number of the layer + 1; 0: none */
	const char *name; /* of the operation, weights or table */
	int64_t slice;	  /* MAP_FETCH: slice of the weights */
	/*
	 * The k-th kernel, copy or CPU operator of the plan, from 0, has moment 2k + 1.
	 * Other transfers before it have moment 2k (nputools-graph(5), live).
	 */
	int64_t moment;
};

enum map_span_kind { MAP_TENSOR, MAP_BUFFER, MAP_INPUT, MAP_OUTPUT, MAP_VARIABLE };

/* Bytes [at, at + bytes) of a memory that are in use in moments lo to hi, both included. */
struct map_span {
	int64_t what; /* enum map_span_kind; MAP_BUFFER: of weights */
	const char *name, *shape; /* "i8[1,28,28,8]"; "" for a buffer */
	int64_t place;		  /* enum g_place: arena or cache */
	int64_t at, bytes, lo, hi;
};

enum map_constant_kind { MAP_WEIGHTS, MAP_TABLE, MAP_VALUES };

struct map_constant {
	int64_t what, layer; /* enum map_constant_kind; layer as in struct map_command */
	const char *name;
	int64_t at, bytes; /* in the constants; of weights, with their scales */
	int64_t scales;	   /* how many of the bytes are scales */
	int64_t original;  /* weights: number of elements before encoding */
};

struct npu_map {
#define RECORD(n, keyword, type, array)                                      \
	struct type *array;                                                  \
	size_t n_##array;
#include "map.def"
	/* The streams are verified against the rest: source/source.h. */
	struct bytes graph;  /* text of the graph, deflated; n 0: left out */
	int64_t graph_bytes; /* size of the text, not deflated */
	uint64_t digest;     /* source_digest() of the file; 0: none */
};

/* ---- bytes and text: code.c -------------------------------------------- */

/* The last bytes are the digest, little-endian. */
enum { MAP_DIGEST_BYTES = 8 };
struct bytes map_encode(struct arena *a, const struct npu_map *m);

/*
 * Decodes what map_encode() has made; strings point into the arena.  Fails on bytes that
 * are no valid map, and says what is wrong and where.  References, ranges and order are
 * checked.
 */
bool map_decode(struct arena *a, struct bytes b, struct npu_map *out,
		struct err *e);

/* Prints one line per record: keyword, key=value ... */
void map_print(struct text *t, const struct npu_map *m);

/* ---- from a graph: make.c ------------------------------------------------ */

/*
 * Makes the source map of a graph that npu-wenc wrote.  words has the stream of each
 * node of g, by the node's index (n_marks 0: no stream).  Every operator and tensor
 * that the graph names must exist in source.  source is NULL if the original model is
 * not available.
 */
struct npu_map *map_make(struct arena *a, const struct graph *g,
			 const struct tfl_model *source,
			 const struct emit_words *words);

/* The layers alone: the operators that the graph lists, or those of the original model; NULL: none. */
void map_take_layers(struct arena *a, const struct graph *g, const struct tfl_model *source,
		     struct npu_map *m);

/* ---- in a compiled model: find.c ------------------------------------------ */

/*
 * Reads the source map in the metadata of m without comparing it with the streams.
 * *out is NULL if m has no source map.
 */
bool map_read(struct arena *a, const struct tfl_model *m, struct npu_map **out,
	      struct err *e);

/*
 * Reads the source map in the metadata of m and compares it with the streams s of m
 * (stream_find).  The streams of bodies that come last may have no commands in the map.  *out is
 * NULL if m has no source map.  If the source map does not belong to these streams, *out is NULL
 * and *stale is true.  Fails on a source map that can't be read.
 */
bool map_find(struct arena *a, const struct tfl_model *m,
	      const struct npu_stream *s, int n, const struct npu_map **out,
	      bool *stale, struct err *e);

/* The first command of stream k. */
const struct map_command *map_commands(const struct npu_map *m, int k);
/*
 * The kernel or transfer of stream k to which a word belongs: the word is its operation or
 * one of the register writes for it.  NULL: the word is behind the last operation.
 */
const struct map_command *map_command_at(const struct npu_map *m, int k,
					 size_t word);
/* The name of a command for messages: "conv1", "fetch conv1/weights.2", "table l0". */
const char *map_label(struct arena *a, const struct map_command *c);
/* Number of operators that went to the NPU. */
int map_npu_layers(const struct npu_map *m);

/* ---- what a user calls a layer: label.c ------------------------------------------ */

/*
 * The label of each layer: of the names that a converter joined, that of the layer with the
 * weights, without the network's first component.  The operator behind its last slash is left
 * out, unless another layer then has the same label.
 */
const char **map_labels(struct arena *a, const struct npu_map *m);
/*
 * The same n labels for a narrow column: of a label of more than `most` characters, the end behind
 * a slash that is the shortest one that no other label has; if that is too long, its begin and end.
 */
const char **map_short_labels(struct arena *a, const char *const *label, size_t n, size_t most);
/* Adds to labels that are equal the number of their layer: "SVDF, operator 3". */
void map_number_labels(struct arena *a, const char **label, size_t n, size_t most);
/*
 * Prints the label of a layer with the kinds of all operators that its kernels compute.  parts:
 * the others of them, in the order of the source.
 */
void map_put_label(struct text *t, const struct npu_map *m, const char *const *label, int layer,
		   const int *parts, size_t n_parts);

/* ---- removing the source map: strip.c ------------------------------------ */

/*
 * Writes the file without its source map and its profile (map/profile.h), as npu-cmdgen
 * --no-map would have made it.  *out is m->file if the model has neither.
 */
bool map_strip(struct arena *a, const struct tfl_model *m, struct bytes *out,
	       struct err *e);

/*
 * Returns the file without its source map, but with everything else, the profile
 * included, at the same offsets.  The source map is the last data in the file: it is
 * cut off, and its metadata becomes empty.  Returns m->file if another program has put
 * data behind the source map.
 */
struct bytes map_cut(struct arena *a, const struct tfl_model *m);

#endif
