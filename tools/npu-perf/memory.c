/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts moments of the memory plan to cycles of the timeline, for the spans of a
 * source map.
 */
#include "report.h"

#include "stream/op.h"

#include <stdlib.h>

struct span_time *
span_times(struct arena *a, const struct network *net)
{
	const struct npu_map *map = net->map;
	size_t n = (size_t)map->sources[0].moments;
	double *start = anew(a, double, n + 1), *end = anew(a, double, n + 1);
	struct span_time *t = anew(a, struct span_time, map->n_spans);
	for (size_t m = 0; m < n; m++)
		start[m] = -1;
	/* the first and the last cycle of every moment with commands */
	for (size_t k = 0; k < net->n; k++) {
		const struct operator *op = &net->op[k];
		int64_t last = -1; /* moment, which ends when no memory is busy */
		for (size_t i = 0; op->command && i < op->run.n; i++) {
			const struct perf_row *r = &op->run.row[i];
			if (!row_listed(r) || r->npu->index >= op->n_labels)
				continue;
			int64_t m = op->command[r->npu->index].moment;
			double s = op->start + r->step.start;
			double e = op->start + r->step.end;
			if (start[m] < 0 || s < start[m])
				start[m] = s;
			if (e > end[m])
				end[m] = e;
			last = m > last ? m : last;
		}
		if (last >= 0 && op->start + op->busy.end > end[last])
			end[last] = op->start + op->busy.end;
	}
	/* a moment without commands, such as a CPU operator, is between its neighbours */
	for (size_t m = 0; m < n; m++) {
		double before = m ? end[m - 1] : 0;
		if (start[m] < 0)
			start[m] = end[m] = before;
		if (end[m] < before)
			end[m] = before;
	}
	for (size_t i = 0; i < map->n_spans; i++) {
		const struct map_span *s = &map->spans[i];
		t[i] = (struct span_time){ .start = start[s->lo], .end = end[s->hi] };
	}
	return t;
}

/* ---- bytes in use over time ------------------------------------------------------- */

struct piece {
	int64_t at, end;
};

static int
by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

struct memory_use *
memory_use(struct arena *a, const struct network *net, int place)
{
	const struct npu_map *map = net->map;
	size_t n = (size_t)map->sources[0].moments;
	struct memory_use *use = anew(a, struct memory_use, n + 1);
	struct piece *p = anew(a, struct piece, map->n_spans + 1);
	for (size_t m = 0; m < n; m++) {
		size_t k = 0;
		for (size_t i = 0; i < map->n_spans; i++) {
			const struct map_span *s = &map->spans[i];
			int64_t at = (int64_t)m;
			if (s->place != place || s->lo > at || s->hi < at)
				continue;
			p[k++] = (struct piece){ s->at, s->at + s->bytes };
			if (s->at + s->bytes > use[m].top)
				use[m].top = s->at + s->bytes;
		}
		/* bytes in several pieces count once */
		int64_t end = 0;
		qsort(p, k, sizeof(*p), by_address);
		for (size_t i = 0; i < k; i++) {
			int64_t from = p[i].at > end ? p[i].at : end;
			if (p[i].end > from)
				use[m].bytes += p[i].end - from;
			if (p[i].end > end)
				end = p[i].end;
		}
	}
	return use;
}

size_t
memory_peak(const struct network *net, const struct memory_use *use)
{
	size_t best = 0;
	for (size_t m = 0; m < (size_t)net->map->sources[0].moments; m++)
		if (use[m].bytes > use[best].bytes)
			best = m;
	return best;
}
