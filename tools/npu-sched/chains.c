/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of U85: where the step behind a kernel is an elementwise operation on its
 * result, and nothing else wants that, the unit passes it on block by block.  The
 * chain costs as one kernel, whose output stage works for all of them (ethosu-timing(7)
 * 21): mostly what the elementwise operation does is hidden behind dot products.
 *
 * Needs: the plan in the graph.  Leaves: op->chain, and the block of a chain's first
 * kernel in all of it.  The plan stays what it is: a map that is none any more keeps its
 * place.
 */
#include "sched.h"

#include "stream/emit.h"

#include <math.h>

/*
 * Cycles that a link must save: registers of maps are written anew beside it, some 300
 * bytes, of which a port brings 16 a cycle.  Or any, where the network as a whole gains
 * by that: short kernels that wait for each other are fewer then.
 */
static const int least_saved[] = { 20, 0 };
static const double WORTHWHILE = 0.005; /* of all cycles: what the second one must gain */

/* the kernels at the end of what was walked, and what they cost as one */
struct chain {
	const struct g_step *first, *last;
	struct perf_op work;
	double cycles;
};

struct walk {
	struct sched *s;
	struct graph *g;
	const int *index; /* in s->info, of each operation */
	size_t kernel;	  /* the plan's next */
	int least;	  /* cycles that a link must save */
	size_t n;	  /* links so far */
};

/* a kernel alone, in a block */
static bool
describe(struct walk *w, const struct g_step *step, const struct kernel *planned,
	 struct perf_op *out)
{
	struct sched *s = w->s;
	const struct g_op *op = step->op;
	const struct weight_slice *u =
	    planned->slice >= 0 ? &s->plan->slice[planned->slice] : NULL;
	struct block_query q = op_block_query(op, op->ofm.shape.h);
	struct shram_layout layout;
	struct kernel k = { .op = w->index[op->rec.index], .slice = planned->slice,
			    .rows = { .hi = op->ofm.shape.h },
			    .depth = { .hi = op->ofm.shape.c } };
	if (!block_layout(s->accel, &q, op->block, &layout, NULL))
		return false;
	*out = kernel_op(s, &k, u ? u->stream_bytes : 0, u ? u->scale_bytes : 0,
			 held_of(s->plan, planned));
	out->block = op->block;
	out->ifm_block = layout.ifm_block;
	out->ublock = layout.ublock;
	return true;
}

static double
cycles_of(const struct walk *w, const struct perf_op *work)
{
	struct perf_cost c;
	perf_cost(&w->s->machine, work, &c);
	return c.total;
}

/* a map that was taken for another one, as it is, if it has a chain's extents */
static void
unfold(struct g_operand *o, struct hwc shape)
{
	int type = o->type;
	if (!o->t || o->view != VIEW_RESHAPE || !hwc_equal(o->t->hwc, shape))
		return;
	*o = operand_whole(o->t);
	o->type = type;
}

/* op as it would be behind a chain's kernels, with operand `which` of the chain */
static void
link_to(const struct chain *c, int which, struct g_op *op)
{
	const struct g_op *lead = c->first->op;
	if (!hwc_equal(op->ofm.shape, lead->ofm.shape)) {
		unfold(&op->ifm, lead->ofm.shape);
		unfold(&op->ifm2, lead->ofm.shape);
		unfold(&op->ofm, lead->ofm.shape);
	}
	op->chain = which;
	op->block = lead->block;
}

/* a step to another place; what it passes keeps its order */
static void
move_step(struct graph *g, struct g_step *step, int to)
{
	int from = step->rec.index, way = to < from ? -1 : 1;
	for (int i = from; i != to; i += way) {
		struct g_step *x = g->steps[i + way];
		int id = x->rec.id;
		g->steps[i] = x;
		x->rec.index = i;
		x->rec.id = step->rec.id;
		step->rec.id = id;
	}
	g->steps[to] = step;
	step->rec.index = to;
}

/* the chain with one more: fewer cycles than without?  then it is that */
static bool
extend(struct walk *w, struct chain *c, struct g_step *step, const struct perf_op *alone)
{
	struct g_op *op = step->op;
	const struct g_op was = *op;
	int which = op->ifm.t == c->last->op->ofm.t ? CHAIN_IFM : CHAIN_IFM2;
	struct perf_op work = c->work;
	int place = step->rec.index;
	link_to(c, which, op);
	/* transfers between the two may as well start behind both */
	move_step(w->g, step, c->last->rec.index + 1);
	if (!chain_fault(w->g, c->first, c->last)) {
		struct perf_op next = *alone;
		const bool from[2] = { which == CHAIN_IFM, which == CHAIN_IFM2 };
		bool chained[2] = { from[0], from[1] };
		next.ofm.shape = op->ofm.shape;
		work.stage.chained = true;
		double cycles = perf_chain_add(&w->s->machine, &work, &next, chained)
					? cycles_of(w, &work) : INFINITY;
		if (cycles + w->least < c->cycles + cycles_of(w, alone)) {
			c->work = work;
			c->cycles = cycles;
			c->last = step;
			G_PUT(op, OP, chain, which);
			w->n++;
			return true;
		}
	}
	*op = was;
	move_step(w->g, step, place);
	return false;
}

/* does the graph leave open how the operation runs? */
static bool
is_open(const struct walk *w, const struct g_op *op)
{
	return !w->s->info[w->index[op->rec.index]].given_block && !G_HAS(op, G_OP_chain) &&
	       !G_HAS(op, G_OP_blockdep);
}

/* the next step of the plan */
static void
take(struct walk *w, struct chain *c, struct g_step *step)
{
	struct perf_op work;
	if (!step->op)
		return;
	const struct kernel *planned = &w->s->plan->kernel[w->kernel++];
	if (step->op->kind == OP_COPY || !describe(w, step, planned, &work)) {
		*c = (struct chain){ .first = NULL };
		return;
	}
	const struct g_op *op = step->op;
	bool follows = c->first && op_is_elementwise(op->kind) && is_open(w, op) &&
		       !G_HAS(c->first->op, G_OP_blockdep) &&
		       (op->ifm.t == c->last->op->ofm.t || op->ifm2.t == c->last->op->ofm.t);
	if (follows && extend(w, c, step, &work))
		return;
	*c = (struct chain){ .first = step, .last = step, .work = work,
			     .cycles = cycles_of(w, &work) };
}

/* operations and the order of steps as they were */
struct saved {
	struct g_op *op;
	struct g_step **step;
	int *id;
};

static struct saved
save(struct arena *a, const struct graph *g)
{
	struct saved v = { .op = anew(a, struct g_op, g->n_ops + 1),
			   .step = anew(a, struct g_step *, g->n_steps + 1),
			   .id = anew(a, int, g->n_steps + 1) };
	for (size_t i = 0; i < g->n_ops; i++)
		v.op[i] = *g->ops[i];
	for (size_t i = 0; i < g->n_steps; i++) {
		v.step[i] = g->steps[i];
		v.id[i] = g->steps[i]->rec.id;
	}
	return v;
}

static void
restore(struct graph *g, const struct saved *v)
{
	for (size_t i = 0; i < g->n_ops; i++)
		*g->ops[i] = v->op[i];
	for (size_t i = 0; i < g->n_steps; i++) {
		g->steps[i] = v->step[i];
		g->steps[i]->rec.index = (int)i;
		g->steps[i]->rec.id = v->id[i];
	}
}

/* all links that save so many cycles; how many there are */
static size_t
make_chains(struct walk w, int least)
{
	struct chain c = { .first = NULL };
	w.least = least;
	for (size_t i = 0; i < w.g->n_steps; i++)
		take(&w, &c, w.g->steps[i]);
	return w.n;
}

/* cycles of the whole; 0: an error */
static double
cycles_now(struct sched *s)
{
	return predict_cycles(s) ? s->g->targets[0]->cycles : 0;
}

bool
choose_chains(struct sched *s)
{
	if (accel_lacks(s->accel, LACK_CHAINS))
		return true;
	int *index = anew(s->a, int, s->g->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++)
		index[s->info[i].op->rec.index] = i;
	const struct walk w = { .s = s, .g = s->g, .index = index };
	const struct saved was = save(s->a, s->g);
	if (!make_chains(w, 0))
		return true;
	restore(s->g, &was);
	double best = cycles_now(s), less = 1;
	int chosen = -1;
	for (int i = 0; i < (int)ARRAY_LEN(least_saved) && best > 0; i++) {
		(void)make_chains(w, least_saved[i]);
		double cycles = cycles_now(s);
		restore(s->g, &was);
		if (cycles == 0 || cycles < best * less) {
			best = cycles;
			chosen = i;
		}
		less = 1 - WORTHWHILE;
	}
	if (chosen >= 0)
		(void)make_chains(w, least_saved[chosen]);
	return best > 0;
}
