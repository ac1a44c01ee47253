/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the choices for dividing all operations into cascades.  Each is made and priced once.
 * Its bytes are computed only if a good division may hold it.
 */
#include "cascades.h"

#include "emit/emit.h"
#include "graph/facts.h"

#include <math.h>
#include <string.h>

enum { MAX_HEIGHTS = 6 };

static void
stretch(struct live_range *l, int at)
{
	if (at < l->lo)
		l->lo = at;
	if (at > l->hi)
		l->hi = at;
}

static struct live_range *
tensor_lifetime(const struct cascades *c, const struct g_tensor *t)
{
	return &c->live[t->rec.index];
}

int
area_of(const struct sched *s, const struct g_tensor *t)
{
	if (tensor_is_const(t) || tensor_is_separate(t) ||
	    (t->variable && s->use[t->rec.index].last_touch < 0))
		return AREAS;
	return !s->memory.spilling || t->area == PLACE_CACHE ? LIMITED : BESIDE;
}

/* Bytes that are live during any of some time steps. */
static int64_t
live_during(const struct live_sums *m, int first, int last)
{
	return m->begun[last + 1] - m->ended[first];
}

static void
sum_live_ranges(const struct sched *s, struct cascades *c, int area, int steps)
{
	struct live_sums *m = &c->sums[area];
	size_t n = (size_t)steps;
	m->begun = anew(c->a, int64_t, n + 2);
	m->ended = anew(c->a, int64_t, n + 2);
	for (size_t i = 0; i < c->n_live; i++) {
		const struct live_range *l = &c->live[i];
		if (l->hi < l->lo)
			continue;
		m->begun[l->lo + 1] += l->bytes[area];
		m->ended[l->hi + 1] += l->bytes[area];
	}
	for (size_t i = 0; i <= n; i++) {
		m->begun[i + 1] += m->begun[i];
		m->ended[i + 1] += m->ended[i];
	}
	/* CPU nodes have the time steps that no operation has */
	for (int now = 0, op = 0; now < steps; now++) {
		if (op < s->n_ops && step_of(s, op) == now)
			op++;
		else
			m->at_cpu = max_i64(m->at_cpu, live_during(m, now, now));
	}
}

static void
find_live_ranges(struct sched *s, struct cascades *c)
{
	struct graph *g = s->g;
	c->n_live = g->n_tensors;
	c->live = anew(c->a, struct live_range, g->n_tensors + 1);
	for (size_t i = 0; i <= g->n_tensors; i++)
		c->live[i] = (struct live_range){ .lo = INT32_MAX, .hi = -1, .producer = -1 };
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		const struct g_tensor *t[3] = { op->ifm.t, op->ifm2.t, op->ofm.t };
		for (int k = 0; k < 3; k++)
			if (t[k])
				stretch(tensor_lifetime(c, t[k]), step_of(s, i));
		if (s->info[i].internal)
			tensor_lifetime(c, op->ofm.t)->producer = i;
	}
	int steps = 0, op = 0;
	for (size_t n = 0; n < g->n_nodes; n++) {
		const struct g_node *node = g->nodes[n];
		const int first = steps;
		steps += node->kind == NODE_CPU;
		for (; op < s->n_ops && s->info[op].node == (int)n; op++)
			steps++;
		const int last = steps > first ? steps - 1 : first;
		for (size_t i = 0; i < node->in.n; i++)
			stretch(tensor_lifetime(c, node->in.v[i]), first);
		for (size_t i = 0; i < node->out.n; i++)
			stretch(tensor_lifetime(c, node->out.v[i]), last);
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if ((tensor_is_input(t) || t->variable) && steps)
			stretch(&c->live[i], 0);
		if ((tensor_is_output(t) || t->variable) && steps)
			stretch(&c->live[i], steps - 1);
		if (area_of(s, t) < AREAS)
			c->live[i].bytes[area_of(s, t)] = round_up_i64(tensor_bytes(t), 16);
	}
	for (int area = 0; area < AREAS; area++)
		sum_live_ranges(s, c, area, steps);
}

/* Bytes live while a cascade runs, with rolling buffers instead of whole feature maps. */
static int64_t
live_bytes(const struct sched *s, const struct cascades *c, const struct cascade *x, int area,
	   int64_t *saved)
{
	int64_t sum = live_during(&c->sums[area], step_of(s, x->first), step_of(s, x->last)) -
		      slides_save(s, &c->slides, area, x->first, x->last);
	for (int i = x->first; i < x->last; i++) {
		const struct g_tensor *t = s->info[i].op->ofm.t;
		const struct live_range *l = tensor_lifetime(c, t);
		if (!x->rows || l->producer == i)
			sum -= l->bytes[area];
		if (x->rows && l->bytes[area])
			sum += round_up_i64(tensor_bytes(t) / t->hwc.h * x->rolling[i - x->first], 16);
	}
	/* both share an area */
	if (x->over && tensor_lifetime(c, x->over)->bytes[area]) {
		int64_t from = tensor_lifetime(c, x->over)->bytes[area];
		int64_t to = tensor_lifetime(c, s->info[x->last].op->ofm.t)->bytes[area];
		*saved = from + to - max_i64(from + x->lead, to);
		sum -= *saved;
	}
	return sum;
}

/* Lists savings of a cascade, sorted by cycles per byte. */
static void
list_savings(struct sched *s, struct arena *a, const int64_t *sizes, const struct cascade *c,
	     struct cascade_choice *k)
{
	k->saving = anew(a, struct saving, (size_t)(c->last - c->first) + 1);
	for (int i = c->first; i <= c->last; i++) {
		if (!s->info[i].op->weights)
			continue;
		const struct cached_stripe_cost *b = op_cost(s, i, c->stripe[i - c->first],
							     c->objective);
		struct saving v = { .bytes = sizes[i],
				    .cycles = b->paced[0] - b->paced[1] };
		int at = k->n_savings++;
		for (; at > 0 && k->saving[at - 1].cycles * (double)v.bytes <
				     v.cycles * (double)k->saving[at - 1].bytes; at--)
			k->saving[at] = k->saving[at - 1];
		k->saving[at] = v;
	}
}

/* Does a rolling buffer keep all rows?  Two shorter cascades take no more bytes. */
static bool
keeps_whole_map(const struct sched *s, const struct cascade *x)
{
	for (int i = x->first; x->rows && i < x->last; i++)
		if (x->rolling[i - x->first] >= s->info[i].op->ofm.t->hwc.h)
			return true;
	return false;
}

/* What choices are listed with, by operation. */
struct listing {
	struct sched *s;
	struct cascades *c;
	struct arena *a, *scratch; /* of the growing list; of one choice */
	size_t cap;
	int64_t *sizes; /* bytes of its weights */
	bool *differs;	/* it has another block for weights in place */
	double *least;	/* lower bound of the cycles of all operations before it */
};

/*
 * Do the operations of a cascade take fewer cycles alone, wherever their weights are, and no more
 * bytes, with and without slides?  Then no division takes the cascade: fetched weights that fit
 * beside it fit beside each operation.  A gain below rounding is none, as sums of equal cycles
 * differ by their order.
 */
static bool
is_worse_than_alone(struct sched *s, const struct cascades *c, const struct cascade *x,
		    const struct cascade_choice *k)
{
	double gain = 0; /* cycles */
	for (int i = x->first; i <= x->last; i++) {
		const struct cascade_choice *w = &c->v[c->first_of[i]];
		const double *alone = w->cost;
		const double *striped = op_cost(s, i, x->stripe[i - x->first], x->objective)->paced;
		if (w->last != i || w->first != i || w->rows ||
		    op_is_transfer(s->info[i].op->kind) || alone[1] > alone[0] ||
		    alone[0] > striped[0] || alone[1] > striped[1] ||
		    w->bytes[LIMITED] > k->bytes[LIMITED] ||
		    w->bytes[LIMITED] - w->slid[LIMITED] > k->bytes[LIMITED] - k->slid[LIMITED] ||
		    w->bytes[LIMITED] + w->slid[LIMITED] > k->bytes[LIMITED] + k->slid[LIMITED])
			return false;
		gain += fmin(striped[0] - alone[0], striped[1] - alone[1]);
	}
	return gain > ROUNDING * x->cost[0];
}

/*
 * Adds a choice for each block objective that makes a difference, unless no block fits or it is of
 * no use: its price, the bytes of its feature maps and weights.  Its kernels are made if a division
 * takes it.  Leaves: l->least[last + 1].
 */
static void
add_choices(struct listing *l, int first, int last, int32_t rows)
{
	struct sched *s = l->s;
	struct cascades *c = l->c;
	bool differs = false;
	for (int i = first; i <= last; i++)
		differs |= l->differs[i];
	for (int k = BLOCKS_FOR_FETCHED; k <= (differs ? BLOCKS_FOR_IN_PLACE : BLOCKS_FOR_FETCHED); k++) {
		int32_t stripe[MAX_LENGTH];
		struct cascade x = { .first = first, .last = last, .rows = rows,
				     .objective = (enum block_objective)k, .stripe = stripe };
		if (!cascade_price(s, &x))
			continue;
		l->least[last + 1] = fmin(l->least[last + 1], l->least[first] + x.lower_bound);
		arena_reset(l->scratch);
		cascade_run(s, l->scratch, &x, false);
		if (keeps_whole_map(s, &x))
			continue;
		struct cascade_choice choice = {
			.cost = { x.cost[0], x.cost[1] }, .lower_bound = x.lower_bound,
			.first = first, .last = last, .rows = rows, .objective = x.objective,
		};
		for (int area = 0; area < (s->memory.spilling ? AREAS : BESIDE); area++) {
			choice.bytes[area] = live_bytes(s, c, &x, area, &choice.slid[area]);
			if (!x.lead)
				choice.slid[area] = 0; /* exactly over the operand: no slide */
		}
		c->n_all++;
		if (rows && is_worse_than_alone(s, c, &x, &choice))
			continue;
		for (int i = first; i <= last; i++)
			choice.weights += l->sizes[i];
		if (rows)
			list_savings(s, c->a, l->sizes, &x, &choice);
		agrow(l->a, c->v, c->n, &l->cap);
		c->v[c->n++] = choice;
	}
}

/* Can first..last be one cascade?  All feature maps between its operations must die inside. */
static bool
closed(const struct sched *s, const struct cascades *c, int first, int last)
{
	int furthest = first;
	for (int i = first; i <= last; i++) {
		const struct op_info *f = &s->info[i];
		if (!f->stripes || f->node != s->info[first].node ||
		    is_slid(&c->slides, s, i))
			return false;
		if (i == last)
			break;
		if (!f->internal)
			return false;
		furthest = f->last_use > furthest ? f->last_use : furthest;
	}
	return furthest <= last;
}

/* The same for a chain of whole operations. */
static bool
may_chain(const struct sched *s, const struct cascades *c, int first, int last)
{
	bool ok = last - first < CHAIN_LENGTH && !is_slid(&c->slides, s, first);
	for (int i = first + 1; i <= last; i++)
		ok &= s->info[i].chain && !is_slid(&c->slides, s, i);
	return ok;
}

const char *
cascade_obstacle(struct sched *s, const struct cascades *c, int first, int last,
		 struct decision d)
{
	int32_t stripe[MAX_LENGTH];
	struct cascade x = { .first = first, .last = last, .rows = d.rows, .stripe = stripe,
			     .objective = d.objective };
	if (last - first >= MAX_LENGTH)
		return "a cascade has at most 12 operations";
	if (d.rows >= s->info[last].op->ofm.shape.h)
		return "rows= has to be below the height of the last result";
	if (d.rows ? !closed(s, c, first, last)
		   : last > first && !may_chain(s, c, first, last))
		return d.rows ? "an operation has no stripes, or a feature map is used outside"
			      : "without rows= they are a chain, which is not possible";
	if (!cascade_price(s, &x))
		return "no block fits, or a chain gains nothing";
	struct arena *a = arena_open();
	cascade_run(s, a, &x, false);
	const bool keeps = keeps_whole_map(s, &x);
	arena_close(a);
	return keeps ? "a buffer between them would keep all rows" : NULL;
}

void
cascades_list(struct sched *s, struct cascades *c, bool stripes)
{
	struct arena *a = arena_open();
	const size_t n = (size_t)s->n_ops + 1;
	if (!c->first_of) {
		c->first_of = anew(c->a, int, n);
		find_live_ranges(s, c);
	}
	struct listing l = { .s = s, .c = c, .a = a, .scratch = arena_open(),
			     .sizes = anew(a, int64_t, n), .differs = anew(a, bool, n),
			     .least = anew(a, double, n) };
	c->v = NULL;
	c->n = c->n_all = 0;
	for (int i = 0; i < s->n_ops; i++) {
		struct weights_size w = whole_size(s, i);
		const bool moves = s->info[i].op->weights && weights_move(s);
		const struct block_choice *b = moves ? whole_block(s, i) : NULL;
		l.sizes[i] = w.stream + w.scales;
		l.differs[i] = b && !hwc_equal(b->block, block_for(s, i, b->rows,
								   BLOCKS_FOR_IN_PLACE)->block);
	}
	for (int last = 0; last < s->n_ops; last++) {
		const struct op_info *info = s->info;
		c->first_of[last] = (int)c->n;
		l.least[last + 1] = INFINITY;
		add_choices(&l, last, last, 0);
		for (int first = last; info[first].chain && last - first + 1 < CHAIN_LENGTH &&
		     !is_slid(&c->slides, s, first) && !is_slid(&c->slides, s, first - 1);)
			add_choices(&l, --first, last, 0);
		for (int first = last; stripes && info[last].stripes && first >= 0 &&
		     first > last - MAX_LENGTH; first--) {
			if (!info[first].stripes || (first < last && !info[first].internal))
				break;
			if (!closed(s, c, first, last))
				continue;
			int32_t rows = 1, h = info[last].op->ofm.shape.h;
			for (int k = 0; rows < h && k < MAX_HEIGHTS; rows *= 2, k++)
				add_choices(&l, first, last, rows);
		}
	}
	c->first_of[s->n_ops] = (int)c->n;
	c->lower_bound = l.least[s->n_ops] * (1 - ROUNDING);
	struct cascade_choice *v = anew(c->a, struct cascade_choice, c->n + 1);
	if (c->n)
		memcpy(v, c->v, c->n * sizeof(*v));
	c->v = v;
	if (!stripes) {
		c->whole_peak = c->sums[LIMITED].at_cpu;
		for (int i = 0; i < s->n_ops; i++)
			if (c->first_of[i] < c->first_of[i + 1])
				c->whole_peak = max_i64(c->whole_peak, v[c->first_of[i]].bytes[LIMITED]);
	}
	arena_close(l.scratch);
	arena_close(a);
}

struct cascades *
cascades_open(struct sched *s)
{
	struct arena *a = arena_open();
	struct cascades *c = anew(a, struct cascades, 1);
	c->a = c->made.a = a;
	find_kept_keys(s);
	find_slides(s, &c->slides);
	return c;
}

void
cascades_close(struct cascades *c)
{
	if (c)
		arena_close(c->a);
}
