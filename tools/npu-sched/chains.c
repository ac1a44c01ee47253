/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All operations divided into chains: every candidate is made and costed once;
 * for a limit of memory the fastest sequence of candidates that stays below it
 * is a shortest path.
 */
#include "sched.h"

enum { MAX_LENGTH = 12, MAX_HEIGHTS = 6 };

/* when a tensor is in memory, counted in operations */
struct life {
	int lo, hi;
	int64_t bytes;
	int producer; /* operation whose OFM it is, if that may roll; or -1 */
};

/* what fetching one operation's weights costs and saves */
struct saving {
	int64_t bytes;
	double cycles;
};

struct candidate {
	struct chain chain;
	int64_t bytes;	 /* all feature maps live while it runs */
	int64_t slid;	 /* of them: saved by sliding its result over an operand */
	int64_t weights; /* to have them all in SRAM */
	struct saving *saving; /* of a banded chain: the best first */
	int n_savings;
};

struct chains {
	struct arena *a;
	struct candidate *v;
	size_t n, cap;
	int *first_of; /* index of the first candidate that ends at op i */
	struct life *life; /* of each tensor */
	size_t n_lives;
	struct slides slides;
	int64_t *begun, *ended; /* bytes of lives from before, to before each op */
};

static void
stretch(struct life *l, int at)
{
	if (at < l->lo)
		l->lo = at;
	if (at > l->hi)
		l->hi = at;
}

static struct life *
life_of(const struct chains *c, const struct g_tensor *t)
{
	return &c->life[t->rec.index];
}

static void
stretch_lists(struct sched *s, struct chains *c)
{
	int op = 0;
	for (size_t n = 0; n < s->g->n_nodes; n++) {
		const struct g_node *node = s->g->nodes[n];
		int first = op;
		while (op < s->n_ops && s->info[op].node == (int)n)
			op++;
		int last = op > first ? op - 1 : first;
		for (size_t i = 0; i < node->in.n; i++)
			stretch(life_of(c, node->in.v[i]), first);
		for (size_t i = 0; i < node->out.n; i++)
			stretch(life_of(c, node->out.v[i]), last);
	}
}

/* bytes of the limited memory only: the cache when there is one */
static bool
is_limited(const struct sched *s, const struct g_tensor *t)
{
	if (tensor_is_const(t) || t->variable)
		return false;
	return !s->memory.spilling || t->area == PLACE_CACHE;
}

static void
sum_lives(struct sched *s, struct chains *c)
{
	size_t n = (size_t)s->n_ops;
	c->begun = anew(c->a, int64_t, n + 2);
	c->ended = anew(c->a, int64_t, n + 2);
	for (size_t i = 0; i < c->n_lives; i++) {
		const struct life *l = &c->life[i];
		if (l->hi < l->lo || !s->n_ops)
			continue;
		c->begun[l->lo + 1] += l->bytes;
		c->ended[l->hi + 1] += l->bytes;
	}
	for (size_t i = 0; i <= n; i++) {
		c->begun[i + 1] += c->begun[i];
		c->ended[i + 1] += c->ended[i];
	}
}

static void
find_lives(struct sched *s, struct chains *c)
{
	struct graph *g = s->g;
	c->n_lives = g->n_tensors;
	c->life = anew(c->a, struct life, g->n_tensors + 1);
	for (size_t i = 0; i <= g->n_tensors; i++)
		c->life[i] = (struct life){ .lo = INT32_MAX, .hi = -1, .producer = -1 };
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		const struct g_tensor *t[3] = { op->ifm.t, op->ifm2.t, op->ofm.t };
		for (int k = 0; k < 3; k++)
			if (t[k])
				stretch(life_of(c, t[k]), i);
		if (s->info[i].internal)
			life_of(c, op->ofm.t)->producer = i;
	}
	stretch_lists(s, c);
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (t->io == IO_IN)
			stretch(&c->life[i], 0);
		if (t->io == IO_OUT && s->n_ops)
			stretch(&c->life[i], s->n_ops - 1);
		if (is_limited(s, t))
			c->life[i].bytes = round_up_i64(tensor_bytes(t), 16);
	}
	sum_lives(s, c);
}

/* bytes live while first..last run, rolling buffers instead of whole maps */
static int64_t
live_bytes(const struct sched *s, const struct chains *c, const struct chain *x,
	   int64_t *saved)
{
	int64_t sum = x->inside + c->begun[x->last + 1] - c->ended[x->first] -
		      slides_save(&c->slides, x->first, x->last);
	for (int i = x->first; x->rows && i < x->last; i++) {
		const struct life *l = life_of(c, s->info[i].op->ofm.t);
		if (l->producer == i)
			sum -= l->bytes;
	}
	if (x->over) {
		int64_t from = life_of(c, x->over)->bytes;
		int64_t to = life_of(c, s->info[x->last].op->ofm.t)->bytes;
		int64_t both = from + x->lead > to ? from + x->lead : to;
		*saved = from + to - both;
		sum -= *saved;
	}
	return sum;
}

/* sorted by what a byte saves */
static void
list_savings(struct sched *s, struct arena *a, struct candidate *k)
{
	const struct chain *c = &k->chain;
	k->saving = anew(a, struct saving, (size_t)(c->last - c->first) + 1);
	for (int i = c->first; i <= c->last; i++) {
		struct saving v = { .bytes = 0 };
		if (!s->info[i].op->weights)
			continue;
		v.bytes = weights_bytes(s, i);
		for (size_t n = 0; n < c->n_kernels; n++)
			if (c->kernel[n].op == i)
				v.cycles += c->kernel[n].cost[0] - c->kernel[n].cost[1];
		int at = k->n_savings++;
		for (; at > 0 && k->saving[at - 1].cycles * (double)v.bytes <
				     v.cycles * (double)k->saving[at - 1].bytes; at--)
			k->saving[at] = k->saving[at - 1];
		k->saving[at] = v;
	}
}

static void
add_candidate(struct sched *s, struct chains *c, struct arena *scratch, int first,
	      int last, int32_t rows)
{
	struct candidate k = { .bytes = 0 };
	arena_reset(scratch);
	if (!chain_make(s, scratch, first, last, rows, &k.chain))
		return;
	k.bytes = live_bytes(s, c, &k.chain, &k.slid);
	if (!k.chain.lead)
		k.slid = 0; /* exactly in place: nothing slides */
	for (int i = first; i <= last; i++) {
		if (s->info[i].op->weights)
			k.weights += weights_bytes(s, i);
	}
	if (rows)
		list_savings(s, c->a, &k);
	/* those that are taken are made again: most are not */
	k.chain.kernel = NULL;
	agrow(c->a, c->v, c->n, &c->cap);
	c->v[c->n++] = k;
}

/* can first..last be one chain?  every map inside must end inside */
static bool
closed(const struct sched *s, const struct chains *c, int first, int last)
{
	int furthest = first;
	for (int i = first; i <= last; i++) {
		const struct op_info *f = &s->info[i];
		if (!f->bands || f->node != s->info[first].node ||
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

static void
add_chains_ending_at(struct sched *s, struct chains *c, struct arena *scratch,
		     int last, bool bands)
{
	int32_t h = s->info[last].op->ofm.shape.h;
	add_candidate(s, c, scratch, last, last, 0);
	for (int first = last; bands && first >= 0 && first > last - MAX_LENGTH;
	     first--) {
		if (!s->info[first].bands || !s->info[last].bands ||
		    (first < last && !s->info[first].internal))
			break;
		if (!closed(s, c, first, last))
			continue;
		int n = 0;
		for (int32_t rows = 1; rows < h && n < MAX_HEIGHTS; rows *= 2, n++)
			add_candidate(s, c, scratch, first, last, rows);
	}
}

int64_t
chains_whole_peak(const struct sched *s, const struct chains *c)
{
	int64_t peak = 0;
	for (int i = 0; i < s->n_ops; i++) {
		const struct candidate *k = &c->v[c->first_of[i]];
		peak = k->bytes > peak ? k->bytes : peak;
	}
	return peak;
}

/* the least that runs each operation, alone or in a chain */
static void
find_needs(const struct sched *s, const struct chains *c, int64_t *need)
{
	for (int i = 0; i < s->n_ops; i++)
		need[i] = INT64_MAX;
	for (size_t k = 0; k < c->n; k++)
		for (int i = c->v[k].chain.first; i <= c->v[k].chain.last; i++)
			need[i] = c->v[k].bytes < need[i] ? c->v[k].bytes : need[i];
}

/* the operation with most bytes live, of those that need more than limit */
static int
find_fullest(const struct sched *s, const int64_t *live, const int64_t *need,
	     int64_t limit)
{
	int fullest = -1;
	for (int i = 0; i < s->n_ops; i++)
		if (need[i] > limit && (fullest < 0 || live[i] > live[fullest]))
			fullest = i;
	return fullest;
}

static int
largest_at(const struct chains *c, int op)
{
	int best = -1;
	for (size_t i = 0; i < c->n_lives; i++) {
		const struct life *l = &c->life[i];
		if (l->lo <= op && l->hi >= op && l->bytes > 0 &&
		    (best < 0 || l->bytes > c->life[best].bytes))
			best = (int)i;
	}
	return best;
}

bool
chains_spill(struct sched *s, struct chains *c, int64_t limit)
{
	int64_t *live = anew(c->a, int64_t, (size_t)s->n_ops + 1);
	int64_t *need = anew(c->a, int64_t, (size_t)s->n_ops + 1);
	bool any = false;
	find_needs(s, c, need);
	for (int i = 0; i < s->n_ops; i++)
		live[i] = c->v[c->first_of[i]].bytes;
	for (;;) {
		int op = find_fullest(s, live, need, any ? limit : -1);
		int t = op < 0 ? -1 : largest_at(c, op);
		if (t < 0)
			return any;
		struct life *l = &c->life[t];
		for (int i = l->lo; i <= l->hi; i++) {
			live[i] -= l->bytes;
			need[i] -= l->bytes;
		}
		l->bytes = 0;
		s->g->tensors[t]->area = PLACE_ARENA;
		any = true;
	}
}

static void
list_all(struct sched *s, struct chains *c, bool bands)
{
	struct arena *scratch = arena_open();
	c->n = 0;
	for (int i = 0; i < s->n_ops; i++) {
		c->first_of[i] = (int)c->n;
		add_chains_ending_at(s, c, scratch, i, bands);
	}
	c->first_of[s->n_ops] = (int)c->n;
	arena_close(scratch);
}

struct chains *
chains_list(struct sched *s)
{
	struct arena *a = arena_open();
	struct chains *c = anew(a, struct chains, 1);
	c->a = a;
	c->first_of = anew(c->a, int, (size_t)s->n_ops + 1);
	find_lives(s, c);
	find_slides(s, &c->slides);
	list_all(s, c, false);
	int64_t limit = s->memory.cache_bytes;
	bool limited = limit && limit < NO_LIMIT_BYTES;
	if (s->o->size || s->memory.spilling || limited)
		list_all(s, c, true);
	return c;
}

void
chains_close(struct chains *c)
{
	if (c)
		arena_close(c->a);
}

/*
 * Cycles of a candidate when this much memory is left for its weights.  Bands
 * want an operation's weights whole, all the time; without bands they can be
 * cut into slices that come and go.
 */
static double
cost_with_room(const struct candidate *k, int64_t room)
{
	double in_place = k->chain.cost[0], fetched = k->chain.cost[1];
	if (!k->weights || room >= k->weights)
		return fetched;
	if (k->chain.rows) {
		for (int i = 0; i < k->n_savings; i++)
			if (k->saving[i].bytes <= room) {
				in_place -= k->saving[i].cycles;
				room -= k->saving[i].bytes;
			}
		return in_place;
	}
	double share = room > 0 ? (double)room / (double)k->weights : 0;
	return in_place - (in_place - fetched) * share;
}

struct path {
	double cycles;
	int64_t peak;
	int candidate;
};

static struct path *
shortest(struct sched *s, struct arena *a, const struct chains *c, int64_t limit,
	 bool slide)
{
	struct path *p = anew(a, struct path, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		p[i + 1].candidate = -1;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct candidate *x = &c->v[k];
			const struct path *from = &p[x->chain.first];
			int64_t bytes = x->bytes + (slide ? 0 : x->slid);
			if (bytes > limit || (x->chain.first && from->candidate < 0))
				continue;
			double cycles = from->cycles + cost_with_room(x, limit - bytes);
			int64_t peak = bytes > from->peak ? bytes : from->peak;
			if (p[i + 1].candidate >= 0 &&
			    (cycles > p[i + 1].cycles ||
			     (cycles == p[i + 1].cycles && peak >= p[i + 1].peak)))
				continue;
			p[i + 1] = (struct path){ cycles, peak, k };
		}
	}
	return p;
}

int64_t
chains_least(struct sched *s, struct chains *c)
{
	int64_t *peak = anew(c->a, int64_t, (size_t)s->n_ops + 1);
	for (int i = 0; i < s->n_ops; i++) {
		peak[i + 1] = INT64_MAX;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct candidate *x = &c->v[k];
			int64_t from = peak[x->chain.first];
			int64_t most = x->bytes > from ? x->bytes : from;
			peak[i + 1] = most < peak[i + 1] ? most : peak[i + 1];
		}
	}
	return peak[s->n_ops];
}

static void
take(struct sched *s, struct arena *a, struct candidate *k, struct plan *p, bool slide)
{
	struct chain *c = &k->chain;
	if (!c->kernel)
		(void)chain_make(s, a, c->first, c->last, c->rows, c);
	for (size_t i = 0; i < c->n_kernels; i++) {
		agrow(p->a, p->kernel, p->n_kernels, &p->cap_kernels);
		p->kernel[p->n_kernels++] = c->kernel[i];
	}
	for (int i = c->first; i <= c->last; i++) {
		bool over = i == c->last && (slide || !c->lead);
		p->over[i] = over ? c->over : NULL;
		p->lead[i] = c->lead;
		p->band[i] = c->rows ? c->band[i - c->first] : 0;
		p->rolling[i] = c->rows && i < c->last ? c->rolling[i - c->first] : 0;
		if (p->rolling[i] >= s->info[i].op->ofm.t->hwc.h)
			p->rolling[i] = 0;
	}
}

bool
chains_choose(struct sched *s, struct chains *c, int64_t limit, bool slide,
	      struct plan *out)
{
	struct path *p = shortest(s, out->a, c, limit, slide);
	int *picked = anew(out->a, int, (size_t)s->n_ops + 1), n = 0;
	if (s->n_ops && p[s->n_ops].candidate < 0)
		return false;
	for (int i = s->n_ops; i > 0; i = c->v[picked[n++]].chain.first)
		picked[n] = p[i].candidate;
	while (n-- > 0)
		take(s, c->a, &c->v[picked[n]], out, slide);
	for (size_t i = 0; i < c->slides.n; i++) {
		const struct slide *x = &c->slides.v[i];
		out->over[x->first] = x->from;
		out->lead[x->first] = x->lead;
	}
	return true;
}
