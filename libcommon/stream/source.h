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

#endif
