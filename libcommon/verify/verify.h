/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier of command streams: rules of ethosu-commands(7) 16, listed in npu-dis(1). */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include "stream/stream.h"

enum { VERIFY_RULE_WRITTEN = 52 }; /* every byte that is read has been written */

struct npu_finding {
	int rule;    /* number in npu-dis(1), RULES */
	bool error;  /* false: a warning; legal but unusual, or the fault is inferred */
	const struct npu_stream *stream;
	size_t at_bytes; /* position of the command in the stream */
	const char *command; /* NULL: the finding is about the container */
	const char *text;
};

struct npu_verify {
	void (*report)(void *ctx, const struct npu_finding *f); /* NULL: only count */
	void *ctx;
	unsigned jobs; /* threads that decode weights; 0: one per processor */
	unsigned errors, warnings;
};

/*
 * Checks every rule of ethosu-commands(7) 16 that applies, without executing the
 * streams.
 *
 * With a model, s has all streams of the model, in order.  Then the verifier also
 * checks that all accesses are inside the buffers of the regions, and that all bytes
 * are written before they are read.  Without a model (m is NULL), each stream is
 * checked alone.
 */
void stream_verify(const struct tfl_model *m, const struct npu_stream *s, int n,
		   struct npu_verify *v);

#endif
