/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the number of inputs in one run, and their grouping (groupings.c).  Each grouping is
 * planned as a network of its own, and the requested goal decides between them as it does
 * between plans.
 */
#include "batch.h"

#include "../search/rewrites.h"
#include "../search/search.h"
#include "base/cli.h"
#include "graph/facts.h"
#include "graph/graph.h"
#include "rewrite/rewrite.h"
#include "target/accel.h"
#include "tflite/tflite.h"

#include <inttypes.h>
#include <string.h>

/* operations of a graph that is searched: the search takes milliseconds for each */
enum { MOST_OPS = 4096 };

struct batch {
	struct sched *s;
	bool (*plan)(struct sched *);
	bool *joint_ops[MAX_GROUPINGS];
	size_t n_groupings;
	struct sched best;
	const bool *best_joint_ops;
	int32_t n; /* number of inputs of best; 0: none */
	double plain; /* cycles of one input alone; 0: not planned */
	bool slow;    /* a batch takes more cycles than its inputs one by one */
	bool many;    /* a batch has too many operations */
};

/* ---- obstacles ------------------------------------------------------------------- */

/* Returns why input or output k, of this shape, cannot have a batch; NULL if it can. */
static const char *
shape_obstacle(struct arena *a, const char *what, int k, const int32_t *dim, int rank)
{
	if (!rank)
		return arena_printf(a, "%s %d has no leading dimension", what, k);
	return dim[0] == 1 ? NULL
			   : arena_printf(a, "%s %d has a leading dimension of %d, not 1",
					  what, k, dim[0]);
}

/* *why: the same for all inputs and outputs.  False: an error. */
static bool
io_obstacle(struct sched *s, const char **why)
{
	static const struct g_model none;
	const struct g_model *m = s->g->n_models ? s->g->models[0] : &none;
	const bool in_graph = G_HAS(m, G_MODEL_in); /* there is no original model */
	struct tfl_model *model = NULL;
	if (!in_graph && !graph_model(s->g, &model, s->e))
		return false;
	*why = NULL;
	for (int out = 0; out < 2; out++) {
		const char *what = out ? "output" : "input";
		const struct g_tensors *l = out ? &m->out : &m->in;
		for (size_t i = 0; in_graph && i < l->n && !*why; i++)
			*why = shape_obstacle(s->a, what, (int)i, l->v[i]->shape.dim,
					      l->v[i]->shape.rank);
		if (in_graph)
			continue;
		/* tensors of the model: its own, or those that the graph names instead */
		const struct tfl_subgraph *sg = &model->subgraph[0];
		const bool names = G_HAS(m, out ? G_MODEL_outputs : G_MODEL_inputs);
		const struct g_tfls *named = out ? &m->outputs : &m->inputs;
		const int *v = out ? sg->out : sg->in, n = out ? sg->n_out : sg->n_in;
		for (int i = 0; i < (names ? named->n : n) && !*why; i++) {
			const int t = names ? named->v[i].index : v[i];
			if (t >= 0 && t < sg->n_tensors)
				*why = shape_obstacle(s->a, what, i, sg->tensor[t].dim,
						      sg->tensor[t].rank);
		}
	}
	return true;
}

/* *why: the reason that forbids a batch, or NULL.  False: an error. */
static bool
find_obstacle(struct sched *s, const char **why)
{
	const struct graph *g = s->g;
	*why = NULL;
	for (size_t i = 0; i < g->n_nodes && !*why; i++)
		if (g->nodes[i]->kind == NODE_CPU)
			*why = arena_printf(s->a, "n%d, %s, runs on the CPU",
					    g->nodes[i]->rec.id,
					    g->nodes[i]->what ? g->nodes[i]->what : "unnamed");
	if (graph_has_loops(g) && !*why)
		*why = "the network has a loop, and loops take one input at a time";
	for (size_t i = 0; i < g->n_tensors && !*why; i++)
		if (G_HAS(g->tensors[i], G_TENSOR_at))
			*why = arena_printf(s->a, "t%d has a fixed address in the "
						  "graph",
					    g->tensors[i]->rec.id);
	if (!g->n_ops && !*why)
		*why = "nothing runs on the NPU";
	return *why || io_obstacle(s, why);
}

/* ---- groupings ------------------------------------------------------------------- */

static const char other_ops[] = "other operations process all inputs at once";
static const struct rewrite_changes changes = { .to = other_ops, .from = other_ops };

/* Plans n inputs with one grouping.  False: no plan that pays, and e may have the reason. */
static bool
try_grouping(struct batch *b, int32_t n, const bool *together, struct sched *out, struct err *e)
{
	struct sched *s = b->s;
	const struct batch_choice how = { .n = n, .columns = s->accel->ublock.w,
					  .together = together };
	struct graph *g = n > 1 ? rewrite_batch(s->a, s->g, &how) : graph_copy(s->a, s->g);
	bool many = n > 1 && g->n_ops > MOST_OPS;
	b->many |= many;
	rewrite_open(s, g, out, e);
	if (!many && graph_check(g, e) && b->plan(out)) {
		/* the inputs must not take more cycles together than one by one */
		if (b->plain == 0 || s->o->max_cycles || !out->plan ||
		    objective_of(out) <= n * b->plain * (1 + ROUNDING))
			return true;
		b->slow = true;
	}
	plan_close(out->plan);
	return false;
}

static bool
try_inputs(struct batch *b, int32_t n)
{
	bool any = false;
	b->slow = b->many = false;
	for (size_t i = 0; i < b->n_groupings; i++) {
		struct sched x;
		struct err e = { 0 };
		if (try_grouping(b, n, b->joint_ops[i], &x, &e) &&
		    keep_rewrite(&b->best, &any, &x, any && is_better_rewrite(&x, &b->best),
				 &changes)) {
			b->best_joint_ops = b->joint_ops[i];
			b->n = n;
		}
	}
	return any;
}

/*
 * Changes the best grouping operation by operation, beginning next to where it changes, and
 * keeps changes that are better.  --effort limits their number.  Only where memory is the limit:
 * with enough of it, a change saves less than a thousandth.  In a much larger graph, no change can
 * be planned in a reasonable time.
 */
static void
improve_grouping(struct batch *b)
{
	enum { TRIES = 2, MOST = 512 /* operations */ };
	struct arena *a = b->s->a;
	const struct graph *g = b->s->g;
	const struct options *o = b->s->o;
	const int64_t limit = b->s->limit_bytes ? b->s->limit_bytes : b->s->profile_bytes;
	size_t n = (size_t)o->effort * TRIES;
	if (b->n < 2 || o->front || o->dump || b->best.g->n_ops > MOST)
		return;
	if (!o->max_cycles && o->goal == GOAL_PERFORMANCE &&
	    (!limit || peak_of(&b->best, b->best.plan) <= limit / 2))
		return;
	const size_t *turn = batch_turns(a, g, b->best_joint_ops);
	bool *joint_ops = anew(a, bool, g->n_ops + 1);
	memcpy(joint_ops, b->best_joint_ops, g->n_ops * sizeof(*joint_ops));
	bool slow = b->slow, many = b->many; /* these are reasons against more inputs */
	bool any = true;
	for (size_t i = 0; i < n && i < g->n_ops; i++) {
		struct sched x;
		struct err e = { 0 };
		joint_ops[turn[i]] ^= true;
		if (!try_grouping(b, b->n, joint_ops, &x, &e) ||
		    !keep_rewrite(&b->best, &any, &x, is_better_rewrite(&x, &b->best), &changes))
			joint_ops[turn[i]] ^= true;
	}
	b->slow = slow;
	b->many = many;
}

bool
plan_batch(struct sched *s, bool (*plan)(struct sched *))
{
	const struct options *o = s->o;
	const int32_t wanted = o->batch;
	struct batch b = { .s = s, .plan = plan };
	const char *why = NULL;
	if (!find_obstacle(s, &why))
		return false;
	if (!why && wanted > 1) {
		b.n_groupings = batch_groupings(s->a, s->g, b.joint_ops);
		/* one input alone: a batch must not be slower, and this plan is the fallback */
		if (!o->front && !o->dump) {
			const bool *none = b.joint_ops[b.n_groupings - 1];
			if (!try_grouping(&b, 1, none, &b.best, s->e))
				return false;
			b.n = 1;
			b.plain = objective_of(&b.best);
		}
		/* the largest number that fits, by halving: one input more never needs less memory */
		int32_t lo = 1, hi = try_inputs(&b, wanted) ? lo : wanted;
		while (hi - lo > 1) {
			int32_t mid = lo + (hi - lo) / 2;
			if (try_inputs(&b, mid))
				lo = mid;
			else
				hi = mid;
		}
		improve_grouping(&b);
	}
	if (!b.n && !plan(s))
		return false;
	if (b.n)
		adopt_rewrite(s, &b.best);
	if (!why && b.n < wanted && wanted > 1)
		why = b.slow   ? "a larger batch takes more cycles per input"
		      : b.many ? "a larger batch needs too many operations"
			       : "a larger batch does not fit the arena";
	const int32_t n = b.n ? b.n : 1;
	struct g_model *m = s->g->n_models ? s->g->models[0] : graph_add_g_model(s->g);
	G_PUT(m, MODEL, desired_batch, wanted);
	G_PUT(m, MODEL, actual_batch, n);
	if (n == wanted)
		cli_note("batch", "a run takes the %d input%s of --batch", n, n == 1 ? "" : "s");
	else
		cli_note("batch", "a run takes %d of the %d inputs of --batch%s%s", n, wanted,
			 why ? ": " : "", why ? why : "");
	return n == wanted || !o->require_batch ||
	       err_no(s->e, s->g->file, 0, "--require-batch: a batch of %d is not possible, but "
		      "%d is: %s", wanted, n, why);
}
