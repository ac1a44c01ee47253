/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream held against the graph that it was made from.  By the decoded words
 * alone: this shares nothing with the emitter, and computes every address, range
 * and padding from the graph's records anew.
 */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "graph/graph.h"
#include "stream/stream.h"

struct npu_map;

enum { VERIFY_RULE_SOURCE = 53 }; /* the stream does what the graph says */

/*
 * Is every step of the graph in the streams of model m, once, in order, and
 * nothing else; is each operand the tensor that the graph says, in the same place,
 * shape, type and scale; are constants and the plan of the arena the graph's; have
 * the operators' tensors the types, shapes, scales and zero points of the original's,
 * where the graph holds that?
 * Findings are reported like those of stream_verify.  g: of npu-wenc.  Fails
 * where the original can't be read.
 */
bool stream_verify_source(const struct tfl_model *m, const struct npu_stream *s,
			  int n, struct graph *g, struct npu_verify *v,
			  struct err *e);

/* ---- in the compiled file: source_file.c ----------------------------------- */

/* puts g into the map, as far as streams are compared with it, unless it is large
 * beside the file */
void source_carry(struct arena *a, const struct graph *g, size_t file_bytes,
		  struct npu_map *m);
/* the graph in the map of the file `name`; NULL: it has none */
bool source_carried(struct arena *a, const struct npu_map *m, const char *name,
		    struct graph **out, struct err *e);
/*
 * Of all that computes: operators with their options, tensors, constants, streams, the
 * plan of the arena.  Names and shapes are part of it, the order of bytes in the file
 * and other metadata are not.
 */
uint64_t source_digest(const struct tfl_model *m);
/* is it the one that a map has, 0: none?  A finding of rule 53, if not */
void source_verify_digest(const struct tfl_model *m, const struct npu_stream *s,
			  uint64_t digest, struct npu_verify *v);

#endif
