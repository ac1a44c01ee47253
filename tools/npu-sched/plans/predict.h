/* SPDX-License-Identifier: Apache-2.0 */
/* predict.c: the cycles of the streams of a finished plan, as they will be emitted. */
#ifndef NPU_SCHED_PREDICT_H
#define NPU_SCHED_PREDICT_H

#include "../sched.h"

#include "emit/emit.h"

/* Adds code records of the right lengths, which streams need; drop_codes() removes them. */
void sketch_codes(struct sched *s);
void drop_codes(struct sched *s);

/* Emits the stream of a node and estimates it.  A node without a stream of its own has no words. */
bool predict_stream(struct sched *s, const struct g_node *n, struct emit_words *w,
		    struct perf_run *calibrated);

/* Sums over all streams. */
struct prediction {
	double cycles, objective;
	int64_t words;
};
/* Estimates all streams.  Result: s->run, and the cycles of the target record. */
bool predict_streams(struct sched *s, struct prediction *out);

#endif
