/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --yield-every: divides the streams of nodes into pieces, each a node of its own, so that the
 * firmware can do something else between them.
 *
 * A stream can be divided at a border: a step before which every operation is either finished
 * or not begun.  Cascades, chains and single operations have no borders inside.  Of all choices
 * with no piece above the limit, the one with the fewest pieces is taken, and of these the one
 * with the fewest live bytes, summed over its borders.
 *
 * What is live at a border stays where it is, in the arena: feature maps, and weights that are
 * fetched already (if all fetches were moved behind the border, MobileNetV2 in five pieces took
 * 40 % longer).  The SRAM of the NPU alone (Dedicated_Sram) belongs to the operator that runs.
 * There, a feature map that is live at a border moves to the arena, and weights are fetched by
 * the piece that uses them.
 *
 * A piece takes longer than its part of the undivided stream, because its first kernel
 * overlaps with nothing, and it waits for its last transfers.  The pieces are therefore emitted
 * and estimated; if one exceeds the limit, the borders are chosen again with what is known of it.
 *
 * Tested by tests/npu-sched-yield.bats: limits, minimum, bytes.
 */
#include "../network/plan.h"
#include "../passes.h"
#include "base/fixed.h"
#include "graph/facts.h"
#include "predict.h"
#include "stream/op.h"
#include "yield.h"

#include "base/cli.h"
#include "graph/table.h"

#include <inttypes.h>
#include <math.h>

enum { MOST_ROUNDS = 64 };

static struct g_node *
node_of(const struct g_step *x)
{
	return x->op ? x->op->node : x->node;
}

/* Notes bytes that are live between the moments of a range, and so at each border in it. */
static void
note_kept(struct yield *y, struct g_range live, bool fixed, int64_t bytes)
{
	live.lo = max_i64(live.lo, 0);
	live.hi = min_i64(live.hi, y->moment[y->n]);
	if (live.lo >= live.hi)
		return;
	y->kept[live.lo + 1] += bytes;
	y->kept[live.hi + 1] -= bytes;
	y->fixed[live.lo + 1] += fixed;
	y->fixed[live.hi + 1] -= fixed;
}

static void
find_kept(struct yield *y)
{
	const struct graph *g = y->s->g;
	size_t moments = (size_t)y->moment[y->n] + 2;
	y->kept = anew(y->s->a, int64_t, moments);
	y->fixed = anew(y->s->a, int, moments);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (!yield_is_live(t))
			continue;
		note_kept(y, t->live, false, tensor_bytes(t));
		const struct g_tensor *same = t->over.n ? t->over.v[0] : NULL;
		if (same && yield_is_live(same)) /* count the bytes that both have once */
			note_kept(y, (struct g_range){ .lo = max_i64(t->live.lo, same->live.lo),
						       .hi = min_i64(t->live.hi, same->live.hi) },
				  false, -min_i64(tensor_bytes(t), tensor_bytes(same)));
	}
	for (size_t i = 0; i < g->n_buffers; i++)
		if (y->users[i].hi >= 0) {
			/* live from its first fetch on, or from its first kernel */
			const bool moves = yield_moves(y, g->buffers[i]);
			const size_t begin = moves || y->fetched[i] == y->n ? (size_t)y->users[i].lo
									    : y->fetched[i];
			note_kept(y, (struct g_range){ .lo = y->moment[begin],
						       .hi = y->moment[y->users[i].hi] },
				  moves, g->buffers[i]->bytes);
		}
	for (size_t i = 1; i < moments; i++) {
		y->kept[i] += y->kept[i - 1];
		y->fixed[i] += y->fixed[i - 1];
	}
}

static void
add_border(struct yield *y, struct border b)
{
	agrow(y->s->a, y->border, y->n_borders, &y->cap);
	y->border[y->n_borders++] = b;
}

/* ---- the undivided streams --------------------------------------------------------------- */

/* Finds the cycles that a node's stream takes until the operations before each step are done. */
static bool
find_times(struct yield *y, size_t lo, size_t hi, double *at)
{
	struct emit_words w;
	struct perf_run run;
	double end = 0;
	size_t r = 0, m = 0;
	if (!predict_stream(y->s, y->node[lo], &w, &run))
		return false;
	for (size_t i = lo; i < hi; i++) {
		at[i] = end;
		if (!y->step[i]->op)
			continue;
		for (; m < w.n_marks && w.mark[m].step != y->step[i]; m++)
			;
		/* weights that are fetched for later steps do not count */
		for (; m < w.n_marks && r < run.n && run.row[r].npu->at <= w.mark[m].at; r++)
			if (run.row[r].step.kind == PERF_KERNEL ||
			    run.row[r].npu->at == w.mark[m].at)
				end = fmax(end, run.row[r].step.end);
	}
	at[hi] = run.cycles;
	return true;
}

/* Lists the borders of each node: both its ends, and steps before which no operation is open. */
static bool
find_all_borders(struct yield *y)
{
	double *at = anew(y->s->a, double, y->n + 1); /* cycles before each step */
	int *left = anew(y->s->a, int, y->s->g->n_ops + 1); /* steps of each operation */
	for (size_t i = 0; i < y->n; i++)
		if (y->step[i]->op)
			left[y->step[i]->op->rec.index]++;
	for (size_t lo = 0, hi; lo < y->n; lo = hi) {
		for (hi = lo; hi < y->n && y->node[hi] == y->node[lo]; hi++)
			;
		if (node_continues(y->node[lo])) /* no stream of its own */
			continue;
		if (!find_times(y, lo, hi, at))
			return false;
		add_border(y, (struct border){ .step = lo });
		int open = 0; /* operations that have begun */
		bool *begun = anew(y->s->a, bool, y->s->g->n_ops + 1);
		size_t end = hi;
		for (; end > lo && !y->step[end - 1]->op; end--)
			;
		for (size_t i = lo; i + 1 < end; i++) {
			const struct g_op *op = y->step[i]->op;
			if (!op)
				continue;
			open += !begun[op->rec.index];
			begun[op->rec.index] = true;
			open -= --left[op->rec.index] == 0;
			const int64_t moment = y->moment[i + 1];
			if (open || step_next_in_chain(y->s->g, y->step[i]) || y->fixed[moment])
				continue;
			add_border(y, (struct border){ .step = i + 1, .at = at[i + 1],
						       .kept = y->kept[moment] });
		}
		add_border(y, (struct border){ .step = hi, .at = at[hi] });
	}
	return true;
}

/* ---- the choice ---------------------------------------------------------------------------- */

/* Chooses the cuts among the borders first to last of a node, which include both its ends. */
static void
choose_cuts(struct yield *y, size_t first, size_t last)
{
	const double limit = (double)y->s->o->yield_every;
	struct border *b = y->border;
	for (size_t j = first; j <= last; j++)
		b[j].pieces = 0;
	for (size_t j = first + 1; j <= last; j++)
		for (size_t i = j; i-- > first;) {
			double part = b[j].at - b[i].at;
			bool least = i + 1 == j; /* can't be divided further */
			if (!least && part > limit)
				break;
			if (!least && part + b[i].extra > limit)
				continue;
			int64_t pieces = b[i].pieces + 1, sum = b[i].sum + b[j].kept;
			if (b[j].pieces && (pieces > b[j].pieces ||
					    (pieces == b[j].pieces && sum >= b[j].sum)))
				continue;
			b[j].pieces = pieces;
			b[j].sum = sum;
			b[j].before = i;
		}
	for (size_t i = last; i != first; i = b[i].before)
		b[i].cut = true;
	b[first].cut = true;
}

static bool
open_yield(struct yield *y, struct sched *s)
{
	struct graph *g = s->g;
	struct arena *a = s->a;
	size_t *first = anew(a, size_t, g->n_nodes + 1);
	*y = (struct yield){ .s = s, .n = g->n_steps, .n_nodes = g->n_nodes,
			     .next_nodes = g->next_nodes };
	y->step = anew(a, struct g_step *, y->n + 1);
	y->node = anew(a, struct g_node *, y->n + 1);
	y->moment = anew(a, int64_t, y->n + 1);
	y->piece = anew(a, struct piece, y->n + 1);
	y->piece_of = anew(a, size_t, y->n + 1);
	y->nodes = anew(a, struct g_node *, y->n_nodes + 1);
	y->was = anew(a, struct g_node, y->n_nodes + 1);
	y->node_of = anew(a, struct g_node *, g->n_ops + 1);
	y->live = anew(a, struct g_range, g->n_buffers + 1);
	y->tensor = anew(a, struct g_tensor, g->n_tensors + 1);
	y->arena = graph_place_used(g, PLACE_ARENA);
	y->users = anew(a, struct g_range, g->n_buffers + 1);
	y->fetched = anew(a, size_t, g->n_buffers + 1);
	for (size_t i = 0; i < y->n; i++)
		first[node_of(g->steps[i])->rec.index + 1]++;
	for (size_t i = 0; i < y->n_nodes; i++) {
		first[i + 1] += first[i];
		y->nodes[i] = g->nodes[i];
		y->was[i] = *g->nodes[i];
	}
	for (size_t i = 0; i < y->n; i++) {
		size_t at = first[node_of(g->steps[i])->rec.index]++;
		y->step[at] = g->steps[i];
		y->node[at] = node_of(g->steps[i]);
	}
	for (size_t i = 0; i < g->n_ops; i++)
		y->node_of[i] = g->ops[i]->node;
	for (size_t i = 0; i < g->n_buffers; i++)
		y->live[i] = g->buffers[i]->live;
	for (size_t i = 0; i < g->n_tensors; i++)
		y->tensor[i] = *g->tensors[i];
	/* who fetches and uses each buffer */
	for (size_t i = 0; i < g->n_buffers; i++) {
		y->users[i] = (struct g_range){ .lo = (int64_t)y->n, .hi = -1 };
		y->fetched[i] = y->n;
	}
	for (size_t i = y->n; i-- > 0;) {
		const struct g_step *x = y->step[i];
		const struct g_buffer *b = x->buffer ? x->buffer : x->scale_buffer;
		if (b && x->weights)
			y->fetched[b->rec.index] = i;
		if (!b || !x->op)
			continue;
		y->users[b->rec.index].lo = (int64_t)i;
		y->users[b->rec.index].hi = max_i64(y->users[b->rec.index].hi, (int64_t)i);
	}
	int64_t now = 1;
	for (size_t k = 0, i = 0; k < g->n_nodes; k++) {
		now += g->nodes[k]->kind == NODE_CPU ? 2 : 0;
		for (; i < y->n && y->node[i] == g->nodes[k]; i++) {
			const struct g_op *op = y->step[i]->op;
			now -= op && op->chain ? 2 : 0; /* the moment of the chain */
			y->moment[i] = now;
			now += op ? 2 : 0;
		}
	}
	y->moment[y->n] = now;
	find_kept(y);
	return find_all_borders(y);
}

/* Estimates the pieces.  *exceeds: one that has borders inside takes longer than the limit. */
static bool
estimate_pieces(struct yield *y, bool *exceeds)
{
	*exceeds = false;
	for (size_t i = 0, p = 0; i + 1 < y->n_borders; i++) {
		struct border *b = &y->border[i], *end = b + 1;
		struct emit_words w;
		struct perf_run run;
		for (; p < y->n_pieces && y->piece[p].step < b->step; p++)
			;
		if (!b->cut || p == y->n_pieces || y->piece[p].of != y->node[b->step])
			continue;
		for (; !end->cut; end++)
			;
		if (end == b + 1 || end->step <= b->step)
			continue;
		if (!predict_stream(y->s, y->piece[p].node, &w, &run))
			return false;
		if (run.cycles <= (double)y->s->o->yield_every)
			continue;
		b->extra = run.cycles - (end->at - b->at);
		*exceeds = true;
	}
	return true;
}

static bool
divide_within(struct yield *y)
{
	bool exceeds = true;
	for (int round = 0; exceeds && round < MOST_ROUNDS; round++) {
		for (size_t i = 0; i < y->n_borders; i++)
			y->border[i].cut = false;
		for (size_t first = 0, last; first < y->n_borders; first = last + 1) {
			const struct g_node *n = y->node[y->border[first].step];
			for (last = first + 1; y->border[last].step < y->n &&
					       y->node[y->border[last].step] == n; last++)
				;
			choose_cuts(y, first, last);
		}
		yield_divide(y);
		if (!estimate_pieces(y, &exceeds))
			return false;
	}
	return true;
}

/* ---- the pass ------------------------------------------------------------------------------ */

bool
yield_streams(struct sched *s)
{
	struct g_target *t = s->g->targets[0];
	struct prediction before, after;
	struct yield y;
	if (!s->o->yield_every)
		return true;
	if (graph_has_separate(s->g))
		return err_at(s->e, s->g->file, 0,
			      "--yield-every divides the network into operators, but inputs and "
			      "outputs outside of the arena need a single one: leave out "
			      "--separate-io-regions");
	sketch_codes(s);
	bool ok = predict_streams(s, &before) && open_yield(&y, s) && divide_within(&y) &&
		  predict_streams(s, &after);
	drop_codes(s);
	if (!ok)
		return false;
	G_PUT(t, TARGET, yield_every, s->o->yield_every);
	G_PUT(t, TARGET, yield_cycles, round((after.cycles - before.cycles) * 1000) / 1000);
	G_PUT(t, TARGET, yield_bytes, 4 * (after.words - before.words));
	int64_t most = 0;
	for (size_t i = 0; i < y.n_borders; i++)
		if (y.border[i].cut)
			most = max_i64(most, y.border[i].kept);
	G_PUT(t, TARGET, yield_kept, most);
	/* feature maps that have moved have other addresses than in the plan */
	struct plan *p = s->plan;
	for (size_t i = 0; i < p->n_rects; i++)
		if (p->rect[i].t && G_HAS(p->rect[i].t, G_TENSOR_at)) {
			p->rect[i].place = p->rect[i].t->area;
			p->rect[i].at = p->rect[i].t->at;
		}
	p->peak[PLACE_ARENA] = max_i64(p->peak[PLACE_ARENA],
				       graph_place_used(s->g, PLACE_ARENA));
	return true;
}

void
note_yield(const struct sched *s)
{
	enum { MOST = 4 };
	const struct g_target *t = s->g->targets[0];
	double longest = 0;
	size_t above = 0;
	if (!s->o->yield_every)
		return;
	for (size_t i = 0; i < s->n_runs; i++)
		longest = fmax(longest, s->run[i].of.cycles);
	cli_note_to(s->e, "yield", "%zu NPU operator%s of up to %.0f cycles; %.0f cycles and "
		    "%" PRId64 " bytes of commands more than undivided; up to %" PRId64
		    " bytes of the arena live between operators", s->n_runs,
		    s->n_runs == 1 ? "" : "s", longest, t->yield_cycles, t->yield_bytes,
		    t->yield_kept);
	for (size_t i = 0; i < s->n_runs; i++) {
		const struct node_run *run = &s->run[i];
		if (run->of.cycles <= (double)s->o->yield_every || above++ >= MOST)
			continue;
		/* The piece has no border inside.  The first operation's name is whole, as npu-perf
		 * --json has it: a converter's names often differ in the middle only. */
		const struct g_op *first = NULL;
		int ops = 0;
		for (size_t k = 0; k < s->g->n_ops; k++)
			if (s->g->ops[k]->node == run->node) {
				first = first ? first : s->g->ops[k];
				ops++;
			}
		const char *name = first ? table_name(s->a, first->name, 'o', first->rec.id) : "";
		const char *others = ops > 1 ? arena_printf(s->a, " and the next %d", ops - 1) : "";
		cli_note_to(s->e, "yield", "operation %s%s: %.0f cycles, which can't be divided",
			    name, others, run->of.cycles);
	}
	if (above > MOST)
		cli_note_to(s->e, "yield", "in all, %zu operators exceed %" PRId64 " cycles", above,
			    s->o->yield_every);
}
