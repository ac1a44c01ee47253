/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the cycles of the output, by the calibrated estimate and by the objective.  The streams
 * are emitted with the sizes that the encoder will produce, and costed like any stream.
 */
#include "../costs/costs.h"
#include "../network/plan.h"
#include "../passes.h"
#include "graph/build.h"
#include "predict.h"

#include <math.h>
#include <stdlib.h>

/* The addresses of the records do not matter yet. */
void
sketch_codes(struct sched *s)
{
	int64_t at = 0;
	for (size_t i = 0; i < s->plan->n_slices; i++) {
		const struct weight_slice *u = &s->plan->slice[i];
		int cores = emit_streams(s->accel, s->info[u->op].op);
		for (int core = 0; core < cores; core++) {
			struct g_code *c = graph_add_g_code(s->g);
			/* cost depends on the sum over the cores only */
			int64_t scales = core ? 0 : u->scale_bytes;
			int64_t n = u->depth.hi - u->depth.lo;
			int64_t used = n < cores ? n : cores;
			int64_t share = u->stream_bytes / 16 / used * 16;
			int64_t bytes = core < used - 1	   ? share
					: core == used - 1 ? u->stream_bytes - share * (used - 1)
							   : 0;
			c->weights = u->w;
			c->slice = u->index;
			c->core = core;
			c->scale_bytes = (struct g_span){ .at = at, .bytes = scales };
			at += scales;
			c->weight_bytes = (struct g_span){ .at = at, .bytes = bytes };
			at += bytes;
		}
	}
}

void
drop_codes(struct sched *s)
{
	s->g->n_codes = 0;
}

bool
predict_stream(struct sched *s, const struct g_node *n, struct emit_words *w,
	       struct perf_run *calibrated)
{
	*w = (struct emit_words){ .n = 0 };
	if (n->kind != NODE_NPU)
		return true;
	if (!emit_node(s->a, s->g, n, w, s->e))
		return false;
	return !w->n_marks ||
	       perf_records(s->a, &s->calibrated, w->op, w->n_ops, calibrated, s->e);
}

bool
predict_streams(struct sched *s, struct prediction *out)
{
	*out = (struct prediction){ .words = 0 };
	s->n_runs = 0;
	for (size_t n = 0; n < s->g->n_nodes; n++) {
		struct emit_words w;
		struct perf_run run, by_objective;
		if (!predict_stream(s, s->g->nodes[n], &w, &run))
			return false;
		if (!w.n_marks)
			continue;
		if (!perf_records(s->a, &s->machine, w.op, w.n_ops, &by_objective, s->e))
			return false;
		out->cycles += run.cycles;
		out->objective += by_objective.cycles;
		out->words += (int64_t)w.n;
		agrow(s->a, s->run, s->n_runs, &s->cap_runs);
		s->run[s->n_runs++] = (struct node_run){ .node = s->g->nodes[n], .of = run,
							   .mark = w.mark, .n_marks = w.n_marks };
	}
	/* in thousandths, because a sum of thirds depends on their order */
	G_PUT(s->g->targets[0], TARGET, cycles, round(out->cycles * 1000) / 1000);
	G_PUT(s->g->targets[0], TARGET, objective, round(out->objective * 1000) / 1000);
	return true;
}

/*
 * The cycles of the plan, which the search has computed, and the objective of the streams are equal
 * except for rounding, so that a limit gives the cycles that the front shows.  Builds with
 * CHECK_BOUNDS (all builds with sanitizers) abort if they differ by more.
 */
bool
predict_cycles(struct sched *s)
{
	struct prediction sum;
	sketch_codes(s);
	bool ok = predict_streams(s, &sum);
	drop_codes(s);
#ifdef CHECK_BOUNDS
	if (ok && !(fabs(s->plan->cycles - sum.objective) <= ROUNDING * sum.objective))
		abort();
#endif
	return ok;
}
