/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the order of operations in which whole feature maps need least memory.  The operations
 * that have run decide what is live.  So of all orders that lead to the same set of operations,
 * only the best is needed.  Sets grow by one operation at a time, and the best few of each size
 * are kept.  Where branches meet, one set is left, so the search is exact for all but the
 * widest networks.
 */
#include "flow.h"
#include "run.h"

#include "graph/facts.h"

#include <string.h>


enum {
	MAX_SETS = 64,	/* kept of each size */
	MAX_READY = 16, /* tried of the operations that may run next */
	SLOTS = 2 * MAX_SETS * MAX_READY,
};

/* A set of operations that have run: the last one, and the set before it. */
struct set {
	uint64_t hash;
	int64_t live;	/* bytes live now */
	int64_t peak;	/* most bytes live until now */
	double sum;	/* bytes live at each operation until now, added up */
	int parent, op;
};

/* the sets of one size */
struct generation {
	struct set *v;
	int n;
};

/* State of the sets that grow now. */
struct frontier {
	uint64_t *done[MAX_SETS]; /* a bit for each operation */
	int *ready[MAX_SETS], n_ready[MAX_SETS]; /* in the graph's order */
};

struct ordering {
	struct arena *a;
	const struct flow *f;
	size_t words; /* of 64 bits, in a set's bits */
	struct generation *gen;
	struct set *grown; /* new sets, each once, before the best are picked */
	int n_grown, *slot; /* [SLOTS] hash table: index in grown plus 1; 0: none */
	struct frontier *now, *next;
};

static bool
has(const uint64_t *done, int op)
{
	return done[op / 64] >> op % 64 & 1;
}

/* The set after op has run: memory while op runs, and afterwards. */
static struct set
run_next(const struct flow *f, const struct set *from, const uint64_t *done, int op)
{
	int64_t most = from->live, freed = 0, spared = 0;
	for (int i = f->maps.first[op]; i < f->maps.first[op + 1]; i++) {
		const struct flow_map *m = &f->map[f->maps.v[i]];
		bool is_begun = m->live_in, is_over = !m->live_out;
		for (int k = 0; !is_begun && k < m->n_users; k++)
			is_begun = has(done, m->user[k]);
		for (int k = m->n_users; is_over && k-- > 0;)
			is_over = m->user[k] == op || has(done, m->user[k]);
		if (!is_begun)
			most += m->bytes;
		if (!is_over)
			continue;
		freed += m->bytes;
		if (f->maps.v[i] == f->covered[op])
			spared = m->bytes;
	}
	/* a number that no sum of others is likely to equal */
	uint64_t h = ((uint64_t)op + 1) * 0x9e3779b97f4a7c15;
	h = (h ^ h >> 31) * 0xbf58476d1ce4e5b9;
	struct set s = { .hash = from->hash + (h ^ h >> 29), .op = op, .live = most - freed };
	most -= spared;
	s.peak = most > from->peak ? most : from->peak;
	s.sum = from->sum + (double)most;
	return s;
}

/* By peak, then by sum, then as in the graph. */
static bool
is_better_set(const struct set *a, const struct set *b)
{
	if (a->peak != b->peak)
		return a->peak < b->peak;
	if (a->sum != b->sum)
		return a->sum < b->sum;
	return a->parent != b->parent ? a->parent < b->parent : a->op < b->op;
}

/* Adds a new set, of which only the best with the same operations is kept. */
static void
add_grown(struct ordering *o, struct set s)
{
	size_t at = s.hash % SLOTS;
	while (o->slot[at] && o->grown[o->slot[at] - 1].hash != s.hash)
		at = (at + 1) % SLOTS;
	if (!o->slot[at]) {
		o->grown[o->n_grown] = s;
		o->slot[at] = ++o->n_grown;
	} else if (is_better_set(&s, &o->grown[o->slot[at] - 1])) {
		o->grown[o->slot[at] - 1] = s;
	}
}

/* The best few sets with one more operation, sorted. */
static struct generation
grow(struct ordering *o, const struct generation *from)
{
	memset(o->slot, 0, SLOTS * sizeof(*o->slot));
	o->n_grown = 0;
	for (int i = 0; i < from->n; i++)
		for (int k = 0; k < o->now->n_ready[i] && k < MAX_READY; k++) {
			struct set s = run_next(o->f, &from->v[i], o->now->done[i],
						o->now->ready[i][k]);
			s.parent = i;
			add_grown(o, s);
		}
	int most = o->n_grown < MAX_SETS ? o->n_grown : MAX_SETS;
	struct generation g = { .v = anew(o->a, struct set, (size_t)most) };
	for (int i = 0; i < o->n_grown; i++) {
		const struct set *s = &o->grown[i];
		int at = g.n;
		if (at == most && !is_better_set(s, &g.v[at - 1]))
			continue;
		for (at -= at == most; at > 0 && is_better_set(s, &g.v[at - 1]); at--)
			g.v[at] = g.v[at - 1];
		g.v[at] = *s;
		g.n += g.n < most;
	}
	return g;
}

static void
insert_ready(struct frontier *f, int i, int op)
{
	int at = f->n_ready[i]++;
	for (; at > 0 && f->ready[i][at - 1] > op; at--)
		f->ready[i][at] = f->ready[i][at - 1];
	f->ready[i][at] = op;
}

static bool
is_ready(const struct flow *f, const uint64_t *done, int op)
{
	for (int i = f->before.first[op]; i < f->before.first[op + 1]; i++)
		if (!has(done, f->before.v[i]))
			return false;
	return true;
}

/* Makes set i of the next frontier from its parent and one operation. */
static void
advance(struct ordering *o, int i, const struct set *s)
{
	const struct flow *f = o->f;
	struct frontier *now = o->now, *next = o->next;
	if (!next->done[i]) {
		next->done[i] = anew(o->a, uint64_t, o->words);
		next->ready[i] = anew(o->a, int, (size_t)f->n + 1);
	}
	memcpy(next->done[i], now->done[s->parent], o->words * sizeof(uint64_t));
	next->done[i][s->op / 64] |= (uint64_t)1 << s->op % 64;
	next->n_ready[i] = 0;
	for (int k = 0; k < now->n_ready[s->parent]; k++)
		if (now->ready[s->parent][k] != s->op)
			insert_ready(next, i, now->ready[s->parent][k]);
	for (int k = f->after.first[s->op]; k < f->after.first[s->op + 1]; k++) {
		int op = f->after.v[k];
		bool twice = k > f->after.first[s->op] && f->after.v[k - 1] == op;
		if (!twice && is_ready(f, next->done[i], op))
			insert_ready(next, i, op);
	}
}

/* Finds the best order of f's operations.  False: it is no better than the graph's. */
static bool
order_node(struct arena *a, const struct flow *f, int *order)
{
	const size_t words = (size_t)f->n / 64 + 1;
	struct ordering o = { .a = a, .f = f, .words = words };
	o.gen = anew(a, struct generation, (size_t)f->n + 1);
	o.now = anew(a, struct frontier, 1);
	o.next = anew(a, struct frontier, 1);
	o.now->done[0] = anew(a, uint64_t, words);
	o.now->ready[0] = anew(a, int, (size_t)f->n + 1);
	for (int i = 0; i < f->n; i++)
		if (is_ready(f, o.now->done[0], i))
			insert_ready(o.now, 0, i);
	o.grown = anew(a, struct set, MAX_SETS * MAX_READY);
	o.slot = anew(a, int, SLOTS);
	struct set none = { .parent = -1, .op = -1 };
	for (size_t i = 0; i < f->n_maps; i++)
		none.live += f->map[i].live_in ? f->map[i].bytes : 0;
	none.peak = none.live;
	o.gen[0] = (struct generation){ .v = anew(a, struct set, 1), .n = 1 };
	o.gen[0].v[0] = none;
	/* the graph's own order, measured in the same manner */
	struct set graph_order = none;
	uint64_t *done = anew(a, uint64_t, words);
	for (int i = 0; i < f->n; i++) {
		graph_order = run_next(f, &graph_order, done, i);
		done[i / 64] |= (uint64_t)1 << i % 64;
	}
	for (int n = 0; n < f->n; n++) {
		o.gen[n + 1] = grow(&o, &o.gen[n]);
		for (int i = 0; i < o.gen[n + 1].n; i++)
			advance(&o, i, &o.gen[n + 1].v[i]);
		struct frontier *last = o.now;
		o.now = o.next;
		o.next = last;
	}
	const struct set *s = &o.gen[f->n].v[0];
	/* an order of the same peak with hardly less memory over time is not worth a second
	 * search */
	const double hardly = 0.998;
	if (s->peak > graph_order.peak ||
	    (s->peak == graph_order.peak && s->sum >= hardly * graph_order.sum))
		return false;
	for (int n = f->n; n > 0; n--, s = &o.gen[n].v[s->parent])
		order[f->first + n - 1] = f->first + s->op;
	return true;
}

static bool
has_addresses(const struct sched *s)
{
	bool any = false;
	for (size_t i = 0; i < s->g->n_tensors; i++)
		any |= G_HAS(s->g->tensors[i], G_TENSOR_at);
	return any;
}

int
order_obstacle(struct sched *s, const int *order)
{
	struct arena *a = arena_open();
	int *note = anew(a, int, s->g->n_tensors + 1);
	bool *done = anew(a, bool, (size_t)s->n_ops + 1);
	const bool fixed = has_addresses(s);
	int at = 0, wrong = -1;
	for (int first = 0, end; first < s->n_ops && wrong < 0; first = end) {
		for (end = first; end < s->n_ops && s->info[end].node == s->info[first].node;)
			end++;
		const struct flow *f = flow_find(s, a, first, end - first, note);
		for (; at < end && wrong < 0; at++) {
			const int op = order[at] - first;
			bool ok = op >= 0 && op < f->n &&
				  (order[at] == at ||
				   (!fixed && !node_repeats(s->info[first].op->node)));
			for (int i = ok ? f->before.first[op] : 0;
			     ok && i < f->before.first[op + 1]; i++)
				ok = done[first + f->before.v[i]];
			done[order[at]] = true;
			wrong = ok ? -1 : at;
		}
	}
	arena_close(a);
	return wrong;
}

int *
find_order(struct sched *s)
{
	int *order = anew(s->a, int, (size_t)s->n_ops + 1);
	int *note = anew(s->a, int, s->g->n_tensors + 1);
	bool better = false, fixed = has_addresses(s);
	for (int i = 0; i < s->n_ops; i++)
		order[i] = i;
	for (int first = 0, end; first < s->n_ops && !fixed; first = end) {
		for (end = first; end < s->n_ops && s->info[end].node == s->info[first].node;)
			end++;
		/* the flow of one iteration does not show what the next one reads */
		if (node_repeats(s->info[first].op->node))
			continue;
		struct arena *a = arena_open();
		struct flow *f = flow_find(s, a, first, end - first, note);
		better |= order_node(a, f, order);
		arena_close(a);
	}
	return better ? order : NULL;
}
