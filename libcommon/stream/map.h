/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of a compiled model: which operator of the source a command of a
 * stream belongs to, what lies at which address and when, whose weights the
 * constants are.  npu-cmdgen puts it into the file as TFLite metadata, where
 * runtimes do not look; its records are in schema/map.def, its bytes are
 * described in nputools-map(5).
 */
#ifndef STREAM_MAP_H
#define STREAM_MAP_H

#include "stream/emit.h"
#include "stream/stream.h"

#define MAP_METADATA "nputools.map"

struct map_source {
	const char *name; /* of the model's first subgraph */
	int64_t moments;  /* see struct map_command; all are below */
};

struct map_layer {
	const char *kind, *name; /* "CONV_2D"; of its first output */
	int64_t npu;		 /* 1: it went there */
};

struct map_stream {
	int64_t commands;
};

enum map_command_kind { MAP_KERNEL, MAP_FETCH, MAP_UPLOAD, MAP_COPY };

/* a kernel or transfer; they stand in the order of npu_op.index */
struct map_command {
	int64_t at;   /* word of its operation */
	int64_t what; /* enum map_command_kind */
	int64_t layer; /* 0: none, else its number + 1 */
	const char *name; /* of the operation, weights or table */
	int64_t slice;	  /* of the weights that are fetched */
	/*
	 * The k-th kernel, copy or CPU operator of the plan, from 0, is at
	 * 2k + 1, other transfers before it at 2k: nputools-graph(5), live
	 */
	int64_t moment;
};

enum map_span_kind { MAP_TENSOR, MAP_BUFFER, MAP_INPUT, MAP_OUTPUT, MAP_VARIABLE };

/* bytes [at, at + bytes) of a place in moments lo to hi, both included */
struct map_span {
	int64_t what; /* enum map_span_kind; a buffer is of weights */
	const char *name, *shape; /* "i8[1,28,28,8]"; of a buffer: "" */
	int64_t place;		  /* enum g_place: arena or cache */
	int64_t at, bytes, lo, hi;
};

enum map_constant_kind { MAP_WEIGHTS, MAP_TABLE, MAP_VALUES };

struct map_constant {
	int64_t what, layer; /* enum map_constant_kind; as a command's */
	const char *name;
	int64_t at, bytes; /* in the constants; weights: with their scales */
	int64_t scales;	   /* of these bytes */
	int64_t original;  /* weights: elements before encoding */
};

struct npu_map {
#define RECORD(n, keyword, type, array)                                      \
	struct type *array;                                                  \
	size_t n_##array;
#include "map.def"
	/* what the streams are verified against: stream/source.h */
	struct bytes graph;  /* its text, deflated; n 0: left out */
	int64_t graph_bytes; /* of the text */
	uint64_t digest;     /* source_digest() of the file; 0: unknown */
};

/* ---- bytes and text: map_code.c -------------------------------------------- */

/* the last bytes are the digest, little-endian */
enum { MAP_DIGEST_BYTES = 8 };
struct bytes map_encode(struct arena *a, const struct npu_map *m);

/*
 * The contrary; strings point into the arena.  Fails, with what is wrong and
 * where, on bytes that no map has: references, ranges and order are checked.
 */
bool map_decode(struct arena *a, struct bytes b, struct npu_map *out,
		struct err *e);

/* a record a line: keyword, key=value ... */
void map_print(struct text *t, const struct npu_map *m);

/* ---- from a graph: map_make.c ------------------------------------------------ */

/*
 * words: the streams of the nodes of g, by their index (n_marks 0: none).  The
 * graph was written by npu-wenc, and its nodes and tensors name operators and
 * tensors of source that there are; NULL: the source is not at hand.
 */
struct npu_map *map_make(struct arena *a, const struct graph *g,
			 const struct tfl_model *source,
			 const struct emit_words *words);

/* ---- in a compiled model: map_find.c ------------------------------------------- */

/* The map in the metadata of m, whatever its streams; NULL: there is none. */
bool map_read(struct arena *a, const struct tfl_model *m, struct npu_map **out,
	      struct err *e);

/*
 * The map in the metadata of m, whose streams (stream_find) are s: NULL if there
 * is none or, with *stale, none of these streams.  Fails on a map that can't be
 * read.
 */
bool map_find(struct arena *a, const struct tfl_model *m,
	      const struct npu_stream *s, int n, const struct npu_map **out,
	      bool *stale, struct err *e);

/* the first command of stream k */
const struct map_command *map_commands(const struct npu_map *m, int k);
/*
 * The kernel or transfer of stream k that a word is of: its operation, or one of
 * the registers that are written for it.  NULL: behind the last.
 */
const struct map_command *map_command_at(const struct npu_map *m, int k,
					 size_t word);
/* what a command is called: "conv1", "fetch conv1/weights.2", "table l0" */
const char *map_label(struct arena *a, const struct map_command *c);
/* operators that went to the NPU */
int map_npu_layers(const struct npu_map *m);

/* ---- without: map_strip.c ------------------------------------------------------- */

/*
 * The file without its map and its profile (stream/profile.h), as npu-cmdgen --no-map
 * would have made it; m->file where there is neither.
 */
bool map_strip(struct arena *a, const struct tfl_model *m, struct bytes *out,
	       struct err *e);

/*
 * The same, but the profile and everything else stay where it is in the file: the map, which is
 * what lies last in it, is cut off, and its metadata empty.  m->file, where
 * another program has put something behind it.
 */
struct bytes map_cut(struct arena *a, const struct tfl_model *m);

#endif
