/* SPDX-License-Identifier: Apache-2.0 */
/*
 * U85 has two formats of weights: a compressed one, whose decoder makes 8 weights a
 * cycle, and one of 2, 4 or 8 bits a weight, whose decoder makes 64, 64 or 32
 * (ethosu-weights(7) 24).  The second format is better where the decoder limits the
 * speed, as on the small NPUs with weights in SRAM that are used once, or where weights
 * have few different values.  The second format is chosen where it costs no cycles,
 * whether weights are read in place or fetched.
 */
#include "../network/plan_text.h"
#include "../passes.h"
#include "costs.h"

#include "base/threads.h"
#include "emit/emit.h"

enum { STANDARD, FAST, DECODERS };

struct trial {
	int op;
	struct weights_view view;
	int64_t bytes[DECODERS];
	double cycles[DECODERS][HELDS]; /* FETCHED includes the transfer */
};

struct trials {
	struct sched *s;
	struct trial *v;
	size_t n, cap;
	int now; /* the decoder being tried */
};

static struct g_op *
op_of(const struct trials *l, size_t i)
{
	return l->s->info[l->v[i].op].op;
}

/* Sets the decoder of all operations that share the weights of op. */
static void
set_decoder(struct sched *s, struct g_op *op, int decoder)
{
	for (int i = 0; i < s->n_ops; i++)
		if (s->info[i].op->weights == op->weights)
			s->info[i].op->fast = decoder == FAST;
}

/* Exact bytes, for the fastest block. */
static int64_t
bytes_of(struct sched *s, const struct trial *t, const struct block_choice *b)
{
	struct g_op op = *s->info[t->op].op;
	int64_t bytes = 0;
	op.block = b->block;
	for (int k = 0; k < emit_streams(s->accel, &op); k++) {
		struct weights_order o = emit_weights_order(s->accel, &op, 0, k);
		bytes += (int64_t)stream_cost(s, &op, &t->view, &o);
	}
	return bytes;
}

static void
measure_decoder(void *ctx, size_t i)
{
	struct trials *l = ctx;
	struct trial *t = &l->v[i];
	/* cached before the threads began */
	const struct block_choice *b = whole_block(l->s, t->op);
	t->bytes[l->now] = b ? bytes_of(l->s, t, b) : 0;
}

/* Finds the cycles of the whole operation, with the weights of a decoder. */
static void
find_cycles(struct sched *s, struct trial *t, int decoder)
{
	const struct g_op *op = s->info[t->op].op;
	struct kernel k = { .op = t->op, .rows = { .hi = op->ofm.shape.h },
			    .depth = { .hi = op->ofm.shape.c } };
	const struct block_choice *b = whole_block(s, t->op);
	int64_t scales = emit_scale_bytes(s->accel, op, op->ofm.shape.c);
	for (enum held h = IN_PLACE; h <= FETCHED && b; h++) {
		struct perf_op p = kernel_op(s, &k, &b->fold, t->bytes[decoder], scales, h);
		t->cycles[decoder][h] = cost_on(&s->machine, &p, b).total;
	}
	if (weights_move(s))
		t->cycles[decoder][FETCHED] += weights_transfer(s, t->bytes[decoder]);
}

/* Is the fast decoder worse in nothing, and better in something? */
static bool
fast_decoder_pays(const struct sched *s, const struct trial *t)
{
	const double *a = t->cycles[STANDARD], *b = t->cycles[FAST];
	int64_t more = t->bytes[FAST] - t->bytes[STANDARD];
	if (!t->bytes[FAST] || (s->o->goal != GOAL_PERFORMANCE && more > 0) || b[IN_PLACE] > a[IN_PLACE] ||
	    b[FETCHED] > a[FETCHED])
		return false;
	return more < 0 || b[IN_PLACE] < a[IN_PLACE] || b[FETCHED] < a[FETCHED];
}

/* May the decoder of an operation's weights be chosen?  Not if the input graph names it. */
static bool
is_open(const struct sched *s, int i)
{
	const struct g_op *op = s->info[i].op;
	return op->weights && (op->kind == OP_CONV || op->kind == OP_FC) &&
	       !G_HAS(op, G_OP_fast) && !G_HAS(op->weights, G_WEIGHTS_at);
}

/*
 * Lists an operation that may gain by the fast decoder.  At this point the bytes of the
 * standard format are an estimate, which is high.  False: an error.
 */
static bool
list_if_better(struct trials *l, int i)
{
	struct sched *s = l->s;
	struct g_op *op = s->info[i].op;
	struct trial t = { .op = i };
	const struct block_choice *b = whole_block(s, i);
	if (!b)
		return true;
	if (!emit_weights_view(s->a, s->g, op->weights, &t.view, s->e))
		return false;
	t.bytes[STANDARD] = whole_size(s, i).stream;
	find_cycles(s, &t, STANDARD);
	op->fast = 1;
	t.bytes[FAST] = bytes_of(s, &t, b);
	find_cycles(s, &t, FAST);
	op->fast = 0;
	if (!fast_decoder_pays(s, &t))
		return true;
	agrow(s->a, l->v, l->n, &l->cap);
	l->v[l->n++] = t;
	return true;
}

/*
 * Tries one weight decoder for all listed operations, in the blocks that suit the decoder,
 * and encodes the weights to know their exact size.
 */
static void
try_decoder(struct trials *l, int decoder)
{
	l->now = decoder;
	for (size_t i = 0; i < l->n; i++)
		set_decoder(l->s, op_of(l, i), decoder);
	find_works(l->s);
	for (size_t i = 0; i < l->n; i++)
		(void)whole_block(l->s, l->v[i].op);
	threads_for(l->s->o->jobs, l->n, NULL, measure_decoder, l);
	for (size_t i = 0; i < l->n; i++)
		find_cycles(l->s, &l->v[i], decoder);
}

/* Checks fast=1 of the input graph.  False: an error. */
static bool
check_graph_fast(struct sched *s, int i)
{
	const struct g_op *op = s->info[i].op;
	struct trial t = { .op = i };
	const struct block_choice *b = whole_block(s, i);
	if (!op->fast || !b)
		return true;
	if (!emit_weights_view(s->a, s->g, op->weights, &t.view, s->e))
		return false;
	return bytes_of(s, &t, b) ||
	       graph_err(s->g, op, s->e, "o%d: fast=1 is not possible: the weights of "
					 "w%d span more than 255",
					 op->rec.id, op->weights->rec.id);
}

/* Takes the decoders of --plan. */
static bool
take_decoders(struct sched *s)
{
	const bool lacks = accel_lacks(s->accel, LACK_FAST_WEIGHTS);
	for (int i = 0; i < s->n_ops; i++) {
		struct g_op *op = s->info[i].op;
		const struct plan_op *x = plan_line(s->plan_input, op);
		if (!x || x->fast == op->fast)
			continue;
		if (lacks || !is_open(s, i) || s->info[i].shared)
			return plan_err(s->plan_input, x, s->e, "fast=%d is not possible for o%d", x->fast,
					op->rec.id);
		G_PUT(op, OP, fast, 1);
	}
	find_works(s);
	for (int i = 0; i < s->n_ops; i++)
		if (s->info[i].op->weights && !check_graph_fast(s, i))
			return false;
	return true;
}

bool
choose_decoders(struct sched *s)
{
	struct trials l = { .s = s };
	if (s->plan_input)
		return take_decoders(s);
	if (accel_lacks(s->accel, LACK_FAST_WEIGHTS))
		return true;
	bool *seen = anew(s->a, bool, s->g->n_weights + 1);
	find_works(s);
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_weights *w = s->info[i].op->weights;
		if (!w || seen[w->rec.index])
			continue;
		seen[w->rec.index] = true;
		if (!check_graph_fast(s, i) || (is_open(s, i) && !list_if_better(&l, i)))
			return false;
	}
	if (!l.n)
		return true;
	try_decoder(&l, STANDARD);
	try_decoder(&l, FAST);
	for (size_t i = 0; i < l.n; i++)
		if (!fast_decoder_pays(s, &l.v[i]))
			set_decoder(s, op_of(&l, i), STANDARD);
	for (int i = 0; i < s->n_ops; i++)
		if (s->info[i].op->fast)
			G_PUT(s->info[i].op, OP, fast, 1);
	return true;
}
