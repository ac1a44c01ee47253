/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a stream with the graph that it was made from.  This code shares nothing with the
 * emitter: it decodes the words, and computes every address, range and padding anew from the
 * records of the graph.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "graph/records.h"
#include "verify/verify.h"

struct npu_map;

enum { VERIFY_RULE_SOURCE = 53 }; /* the stream does what the graph says */

/*
 * Checks a model m and the streams of its first subgraph against the graph g, which npu-wenc
 * has written:
 * - every step of the graph is in the streams, once, in order, and nothing else;
 * - each operand is the graph's tensor, with its address, shape, type and scale;
 * - constants and the plan of the arena are the graph's;
 * - the operators' tensors have the types, shapes, scales and zero points of the original
 *   model, if the graph holds that model.
 *
 * Findings are reported like those of stream_verify().  Fails if the original model can't
 * be read.
 */
bool stream_verify_source(const struct tfl_model *m, const struct npu_stream *s,
			  int n, struct graph *g, struct npu_verify *v,
			  struct err *e);

/* ---- in the compiled file: file.c ----------------------------------- */

/*
 * Puts the records of g that the comparison needs into the source map, unless they are
 * large compared with the file.
 */
void source_carry(struct arena *a, const struct graph *g, size_t file_bytes,
		  struct npu_map *m);
/*
 * Reads the graph in the source map of the file `name`; *out is NULL if the source map
 * has none.
 */
bool source_carried(struct arena *a, const struct npu_map *m, const char *name,
		    struct graph **out, struct err *e);
/*
 * Returns a hash of operators with their options, tensors with names and shapes, constants,
 * streams, and the plan of the arena.  The hash does not depend on the order of bytes in the
 * file and on other metadata.
 */
uint64_t source_digest(const struct tfl_model *m);
/*
 * Compares the digest of m with the digest of a source map; 0: the source map has none.
 * Reports a finding of rule 53 if they differ.
 */
void source_verify_digest(const struct tfl_model *m, const struct npu_stream *s,
			  uint64_t digest, struct npu_verify *v);

#endif
