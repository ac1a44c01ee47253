/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One search for every case: for each choice of layouts, and of maps that leave
 * the NPU's SRAM, the plan that is fastest, or of least weight, below the limit.
 */
#include "search.h"

#include <inttypes.h>
#include <math.h>

static int64_t
limit_of(const struct sched *s)
{
	if (s->memory.cache_bytes && s->memory.cache_bytes < NO_LIMIT_BYTES)
		return s->memory.cache_bytes;
	return NO_LIMIT_BYTES;
}

static bool
too_small(struct sched *s, int64_t limit, int64_t least)
{
	if (least >= NO_LIMIT_BYTES)
		return err_no(s->e, "%s: error: the network needs %d bytes of SRAM or "
			      "more, and nothing is planned for that many",
			      s->g->file, (int)NO_LIMIT_BYTES);
	return err_no(s->e, "%s: error: the network needs %" PRId64 " bytes of SRAM, "
		      "more than the limit of %" PRId64 "; the smallest that works "
		      "is %" PRId64, s->g->file, least, limit, least);
}

double
plan_score(const struct sched *s, const struct plan *p)
{
	if (!p)
		return INFINITY;
	return s->o->size ? plan_weight(p) : p->cycles;
}

/* whole maps only, for the areas and layouts that tensors have now; false: an
 * operation has no block */
static bool
begin_areas(struct search *x)
{
	forget_blocks(x->s);
	cascades_close(x->cascades);
	x->cascades = cascades_list(x->s);
	x->unfit = cascades_least(x->s, x->cascades) == INT64_MAX;
	return !x->unfit;
}

/* the fastest plan: of whole maps, then of stripes.  Those that can't be faster are
 * left out only where there is no limit: with others, divisions are others */
static struct plan *
search_cascades(struct search *x, double below)
{
	struct sched *s = x->s;
	struct plan *p = search_fastest(x, below);
	if (s->e->status)
		return p;
	below = p ? p->cycles : below;
	if (!cascades_add(s, x->cascades, below, is_unlimited(x)))
		return p;
	struct plan *q = search_fastest(x, below);
	if (!q)
		return p;
	plan_close(p);
	return q;
}

static struct plan *
search_weights(struct search *x, double below)
{
	(void)cascades_add(x->s, x->cascades, INFINITY, false);
	return search_smallest(x, below);
}

/* the best plan for these areas, if it scores below; NULL: none, or an error */
static struct plan *
search_areas(struct search *x, double below)
{
	if (!begin_areas(x))
		return NULL;
	struct plan *p = x->s->o->size ? search_weights(x, below)
				       : search_cascades(x, below);
	return x->s->e->status ? p : search_least(x, p, below);
}

/* where and how each tensor lies, how blocks are chosen: part of a plan as long as
 * plans are compared */
struct home {
	struct {
		int area, layout;
	} *of;
	enum block_objective objective;
};

static struct home *
note_homes(struct search *x)
{
	struct graph *g = x->s->g;
	struct home *h = anew(x->s->a, struct home, 1);
	h->objective = x->s->objective;
	h->of = arena_alloc(x->s->a, g->n_tensors + 1, sizeof(*h->of));
	for (size_t i = 0; i < g->n_tensors; i++) {
		h->of[i].area = g->tensors[i]->area;
		h->of[i].layout = g->tensors[i]->layout;
	}
	return h;
}

static void
restore_homes(struct search *x, const struct home *h)
{
	struct graph *g = x->s->g;
	x->s->objective = h->objective;
	for (size_t i = 0; i < g->n_tensors; i++) {
		g->tensors[i]->area = h->of[i].area;
		g->tensors[i]->layout = h->of[i].layout;
	}
}

/* blocks follow the layouts and areas, those of whole operations first */
static void
choose_blocks(struct sched *s)
{
	forget_blocks(s);
	for (int i = 0; i < s->n_ops; i++)
		(void)block_for(s, i, s->info[i].op->ofm.shape.h);
}

/* stripes too, whatever they cost; then what may leave, for the layouts of now */
static struct spills *
find_spills(struct search *x, struct arena *a)
{
	if (!begin_areas(x))
		return NULL;
	(void)cascades_add(x->s, x->cascades, INFINITY, false);
	return spills_list(x->s, x->cascades, a, x->limit);
}

static struct plan *
search_spilling(struct search *x, double below)
{
	enum { PATIENCE = 4 }; /* for plans of least weight */
	struct arena *a = arena_open();
	struct plan *best = NULL;
	struct home *first = note_homes(x), *homes = first;
	const struct spills *l = find_spills(x, a);
	for (size_t i = 0, worse = 0; l && i < l->n && !x->s->e->status; i++) {
		if (i && l->v[i].order != l->v[i - 1].order)
			worse = 0;
		if (x->s->o->size && worse >= PATIENCE)
			continue;
		restore_homes(x, first);
		spills_apply(x->s, l, i);
		pack_left_maps(x->s);
		struct plan *p = search_areas(x, best ? plan_score(x->s, best) : below);
		worse = p ? 0 : worse + (best != NULL);
		if (p) {
			plan_close(best);
			best = p;
			homes = note_homes(x);
		}
	}
	restore_homes(x, homes);
	choose_blocks(x->s);
	arena_close(a);
	return best;
}

/* the best plan of n ways to do something */
static struct plan *
search_ways(struct search *x, void (*use)(struct sched *, int), int n,
	    struct plan *(*search)(struct search *, double), double below)
{
	struct sched *s = x->s;
	struct home *first = note_homes(x), *homes = first;
	struct plan *best = NULL;
	for (int way = 0; way < n && !s->e->status; way++) {
		if (way)
			restore_homes(x, first);
		use(s, way);
		struct plan *p = search(x, best ? plan_score(s, best) : below);
		if (!p)
			continue;
		plan_close(best);
		best = p;
		homes = note_homes(x);
	}
	if (n > 1) {
		restore_homes(x, homes);
		choose_blocks(s);
	}
	return best;
}

static void
use_objective(struct sched *s, int way)
{
	s->objective = (enum block_objective)way;
}

/* among few weights it matters how finely they can be cut and how often they are
 * read; the latter without a limit only where there is little to wait behind */
static int
count_objectives(const struct search *x)
{
	enum { FEW_WEIGHTS = 16, FEW_OPS = 16 };
	const struct sched *s = x->s;
	if (!weights_move(s) || s->g->n_weights > FEW_WEIGHTS)
		return 1;
	return is_unlimited(x) && s->n_ops > FEW_OPS ? BLOCK_OBJECTIVES - 1 : BLOCK_OBJECTIVES;
}

/* without a limit nothing has to leave */
static struct plan *
search_objectives(struct search *x, double below)
{
	bool leave = x->s->memory.spilling && !is_unlimited(x);
	return search_ways(x, use_objective, count_objectives(x),
			   leave ? search_spilling : search_areas, below);
}

/* maps with padded bricks are tried without them, too */
static struct plan *
search_layouts(struct search *x, double below)
{
	return search_ways(x, pack_shallow_maps, x->s->n_shallow > 0 ? 2 : 1,
			   search_objectives, below);
}

/* is q better than p?  where memory has no limit, less of it is welcome */
static bool
is_preferred(const struct sched *s, const struct plan *q, const struct plan *p)
{
	return plan_score(s, q) < plan_score(s, p) ||
	       (q && plan_score(s, q) == plan_score(s, p) && peak_of(s, q) < peak_of(s, p));
}

/* the graph's order again, or the other one */
static void
use_order(struct search *x, bool other)
{
	if (x->other == other)
		return;
	change_order(x->s, other ? x->order : x->back);
	x->other = other;
}

/* the best plan for this order, if it scores no more than `most` */
static struct plan *
search_order(struct search *x, double most)
{
	struct sched *s = x->s;
	struct plan *p = search_layouts(x, nextafter(most, INFINITY));
	if (p && !s->e->status && is_unlimited(x))
		plan_trim(s, p);
	return p;
}

/* the graph's order and, where another one needs less memory, that */
static struct plan *
search_orders(struct search *x)
{
	struct sched *s = x->s;
	struct home *first = note_homes(x);
	use_order(x, false);
	struct plan *p = search_order(x, x->most);
	if (s->e->status || !x->order)
		return p;
	struct home *homes = note_homes(x);
	restore_homes(x, first);
	use_order(x, true);
	struct plan *q = search_order(x, fmin(x->most, plan_score(s, p)));
	if (s->e->status || is_preferred(s, q, p)) {
		plan_close(p);
		return q;
	}
	plan_close(q);
	use_order(x, false);
	restore_homes(x, homes);
	choose_blocks(s);
	return p;
}

/* the fastest plan without a limit, if it is below the limit: then none is faster */
static struct plan *
search_unlimited(struct search *x, const struct home *homes)
{
	struct sched *s = x->s;
	int64_t limit = x->limit;
	if (s->o->size || limit == NO_LIMIT_BYTES)
		return NULL;
	x->limit = NO_LIMIT_BYTES;
	struct plan *p = search_orders(x);
	x->limit = limit;
	if (s->e->status || !p || peak_of(s, p) <= limit)
		return p;
	x->fastest = p->cycles;
	x->least = smaller(x->least, peak_of(s, p));
	plan_close(p);
	use_order(x, false);
	restore_homes(x, homes);
	return NULL;
}

/* what the best plan below a limit needs; above the limit: there is none */
static int64_t
need_below(struct search *x, const struct home *homes, int64_t limit)
{
	x->limit = limit;
	use_order(x, false);
	restore_homes(x, homes);
	struct plan *p = search_orders(x);
	int64_t need = p ? peak_of(x->s, p) : INT64_MAX;
	plan_close(p);
	return need;
}

/*
 * The smallest limit that is met, for the message: what needed least of all that was
 * looked at, or less, as long as searches below that find something.
 */
static int64_t
least_limit(struct search *x, const struct home *homes)
{
	int64_t refused = x->limit, least = smaller(x->least, NO_LIMIT_BYTES);
	for (int64_t limit = least - ALIGN; limit > refused && !x->s->e->status;) {
		int64_t need = need_below(x, homes, limit);
		if (need > limit && limit == least - ALIGN)
			break;
		if (need > limit) {
			limit = least - ALIGN; /* a plan needs less room than to find it */
			continue;
		}
		least = limit;
		limit = need < limit ? need : limit - ALIGN;
	}
	return least;
}

/* the best plan for the graph as it is, if it scores no more than `most` */
static struct plan *
search_graph(struct search *x, double most)
{
	struct sched *s = x->s;
	find_order(s, &x->order, &x->back);
	forget_blocks(s);
	x->other = false;
	x->most = most;
	struct home *homes = note_homes(x);
	struct plan *p = search_unlimited(x, homes);
	return p || s->e->status ? p : search_orders(x);
}

/* what was studied for the plan that is best so far */
struct variant {
	struct plan *plan;
	struct op_info *info;
	int n_ops;
	struct use *use;
	struct home *homes;
};

/*
 * With copies, then without.  Which of them to make depends on nothing but costs, so
 * more memory never costs cycles.
 */
static struct plan *
search_copies(struct search *x)
{
	struct sched *s = x->s;
	struct home *homes = note_homes(x);
	struct variant v = { .plan = NULL };
	if (weigh_copies(s)) {
		use_copies(s, true);
		restudy_ops(s);
		v.plan = search_graph(x, INFINITY);
		v.info = s->info, v.n_ops = s->n_ops, v.use = s->use;
		v.homes = note_homes(x);
	}
	if (s->e->status)
		return v.plan;
	use_copies(s, false);
	restudy_ops(s);
	restore_homes(x, homes);
	struct plan *p = search_graph(x, plan_score(s, v.plan));
	if (s->e->status || !v.plan || is_preferred(s, p, v.plan)) {
		plan_close(v.plan);
		return p;
	}
	plan_close(p);
	use_copies(s, true);
	s->info = v.info, s->n_ops = v.n_ops, s->use = v.use;
	restore_homes(x, v.homes);
	choose_blocks(s);
	return v.plan;
}

static bool
search_all(struct search *x)
{
	struct sched *s = x->s;
	struct home *homes = note_homes(x);
	int64_t limit = x->limit;
	s->plan = s->copies ? search_copies(x) : search_graph(x, INFINITY);
	if (s->plan || s->e->status)
		return !s->e->status;
	if (x->unfit)
		return err_at(s->e, s->g->file, 0, "an operation has no block that "
						   "fits the SHRAM of %s",
			      s->accel->name);
	int64_t least = least_limit(x, homes);
	return s->e->status ? false : too_small(s, limit, least);
}

bool
search_plan(struct sched *s)
{
	if (s->g->n_steps)
		return graph_err(s->g, s->g->steps[0], s->e, "the graph is scheduled "
				 "already; npu-sched takes what tfl-partition wrote");
	struct search x = { .s = s, .limit = limit_of(s), .least = INT64_MAX,
			    .most = INFINITY };
	forget_blocks(s);
	bool ok = measure_whole(s) && search_all(&x);
	drop_candidates(&x);
	cascades_close(x.cascades);
	return ok;
}
