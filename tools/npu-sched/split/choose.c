/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the form of a network: whether and how sums are split, and whether the rules CHOSEN of
 * schema/rewrites.def are applied.  Each form is planned as a network of its own, and the
 * requested goal decides between the forms.
 */
#include "split.h"

#include "../network/plan_text.h"
#include "../search/rewrites.h"
#include "../search/search.h"
#include "graph/graph.h"
#include "rewrite/exact.h"
#include "rewrite/rewrite.h"

#include <string.h>

/* operations of a graph that is searched: a thousand steps of an LSTM */
enum { MOST_OPS = 1 << 15 };

struct rewrite_set {
	struct sched best; /* of the rewrites that have a plan */
	bool any;
	/* the error if no rewrite has a plan: that with the least sufficient limit */
	struct err why;
	int64_t least;
	bool fits; /* `least` is in cycles */
};

enum { MAX_SPLITS = 6, MAX_CHOSEN = 4, MAX_ALTERNATIVES = MAX_SPLITS + MAX_CHOSEN };

/* Lists splits that differ and are small enough to be searched; those with more pieces come
 * later. */
static int
list_splits(const struct graph *g, const struct sums *l, struct alternative *v)
{
	/* operations for each piece; an LSTM of 4 pieces has 21, and its products */
	enum { USES = 6 };
	int all = 1, n = 0; /* all: the largest number of sums that share one product */
	bool has_columns = false;
	for (size_t i = 0; i < l->n; i++) {
		has_columns |= l->v[i].add->ofm.shape.h * l->v[i].add->ofm.shape.w > 1;
		for (int k = 0; k < 2; k++)
			all = l->v[i].shared[k] > all ? l->v[i].shared[k] : all;
	}
	const struct split how[MAX_SPLITS] = {
		{ .ahead = all }, { .ahead = all / 2 }, { .ahead = all / 4 }, { .ahead = 0 },
		{ .columns = true, .ahead = all }, { .columns = true },
	};
	for (int i = 0; i < MAX_SPLITS; i++) {
		int64_t ops = (int64_t)g->n_ops; /* upper bound of those after the split */
		if ((how[i].columns && !has_columns) || how[i].ahead == 1 ||
		    (i && how[i].ahead == how[i - 1].ahead))
			continue;
		for (size_t k = 0; k < l->n; k++)
			ops += USES * count_pieces(&l->v[k], how[i]);
		if (ops <= MOST_OPS)
			v[n++] = (struct alternative){ .name = "split", .sums = how[i] };
	}
	return n;
}

/* The forms of the graph beside the graph itself. */
struct alternatives {
	struct alternative v[MAX_ALTERNATIVES];
	struct graph *graph[MAX_ALTERNATIVES]; /* NULL: sums are split in a copy of the graph */
	int n;
};

/* A copy of the graph with the rules up to `last`.  NULL: an error. */
static struct graph *
apply_rules(struct sched *s, struct arena *a, const char *last)
{
	struct graph *g = graph_copy(a, s->g);
	return rewrite_chosen(a, g, s->accel, &s->o->rewrites, last, s->e) ? g : NULL;
}

/* Needs: no pass has changed the graph. */
static bool
list_alternatives(struct sched *s, struct alternatives *l)
{
	const struct sums sums = sums_find(s->a, s->g);
	int64_t changes = 0, now;
	const char *name;
	*l = (struct alternatives){ .n = 0 };
	l->n = sums.n ? list_splits(s->g, &sums, l->v) : 0;
	for (int i = 0; i < MAX_CHOSEN && (name = rewrite_chosen_name(i)); i++) {
		/* the number of changes by the rules up to this one */
		struct arena *a = arena_open();
		const struct graph *g = apply_rules(s, a, name);
		now = g ? (int64_t)(g->n_rewrites - s->g->n_rewrites) : -1;
		arena_close(a);
		if (now < 0)
			return false;
		if (now == changes)
			continue; /* the rule was not applied */
		changes = now;
		l->graph[l->n] = apply_rules(s, s->a, name);
		l->v[l->n++] = (struct alternative){ .name = name };
	}
	return true;
}

static bool
is_split(const struct alternative *f)
{
	return f && !strcmp(f->name, "split");
}

/* Begins form i of the graph; -1: the graph as it is. */
static void
alternative_open(const struct sched *s, const struct graph *g, const struct alternatives *l, int i,
		 struct sched *out, struct err *e)
{
	*out = *s;
	out->e = e;
	if (i < 0)
		return;
	struct alternative *own = anew(s->a, struct alternative, 1);
	*own = l->v[i];
	rewrite_open(s, l->graph[i] ? l->graph[i] : rewrite_sums(s->a, g, own->sums), out, e);
	out->alternative = own;
}

/* Plans form i, and compares it with those before.  It becomes the best, or its plan is closed. */
static void
try_alternative(struct rewrite_set *f, const struct sched *s, const struct graph *g,
		const struct alternatives *l, int i, bool (*plan)(struct sched *))
{
	static const struct rewrite_changes sums = {
		.to = "fewer channels of sums of products are computed at once",
		.from = "more channels of sums of products are computed at once",
	}, rules = {
		.to = "fewer rewrites that need memory (nputools-rewrites(7))",
		.from = "rewrites that need memory (nputools-rewrites(7))",
	};
	const struct options *o = s->o;
	struct sched x;
	struct err why = { 0 };
	alternative_open(s, g, l, i, &x, &why);
	/* where the fastest form wins, and no row of a front names another one, the others only have
	 * to be faster */
	if (f->any && o->goal != GOAL_SIZE && !o->max_cycles && !o->front && !o->explain) {
		x.best_cycles = f->best.fastest;
		x.best_within = f->best.fastest_within;
	}
	if (graph_check(x.g, &why) && plan(&x)) {
		(void)keep_rewrite(&f->best, &f->any, &x, f->any && is_better_rewrite(&x, &f->best),
				   is_split(x.alternative) ? &sums : &rules);
		return;
	}
	/* Is the limit that x was refused for nearer than that of all before?  A rewrite that is only
	 * too slow is nearer than one that needs more bytes. */
	const bool is_nearer = x.least && (x.fits != f->fits ? x.fits : x.least < f->least);
	if (!f->any && (!f->why.status || is_nearer ||
			(!x.alternative && why.status != EXIT_NO))) {
		f->why = why;
		f->least = x.least;
		f->fits = x.fits;
	}
	plan_close(x.plan);
}

/* Plans the form that --plan names. */
static bool
plan_as_read(struct sched *s, const struct alternatives *l, bool (*plan)(struct sched *))
{
	const struct plan_network *x = &s->plan_input->network;
	if (!strcmp(x->rec.word, "whole"))
		return plan(s);
	for (int i = 0; i < l->n; i++) {
		const struct alternative *f = &l->v[i];
		struct sched y;
		if (strcmp(x->rec.word, f->name) != 0 || f->sums.ahead != x->ahead ||
		    f->sums.columns != x->columns)
			continue;
		alternative_open(s, s->g, l, i, &y, s->e);
		if (!graph_check(y.g, s->e) || !plan(&y))
			return false;
		adopt_rewrite(s, &y);
		return true;
	}
	return plan_err(s->plan_input, x, s->e, "the network has no such %s", x->rec.word);
}

/*
 * The form with all rules comes first: it is nearly always the fastest, and ends the search for
 * the others soon.  Sums are split where memory is scarce; more pieces come later.
 */
bool
plan_alternatives(struct sched *s, bool (*plan)(struct sched *))
{
	struct rewrite_set f = { .any = false, .least = INT64_MAX };
	struct alternatives l;
	if (!list_alternatives(s, &l))
		return false;
	if (s->plan_input)
		return plan_as_read(s, &l, plan);
	if (!l.n)
		return plan(s);
	const struct graph *original = graph_copy(s->a, s->g);
	int splits = 0;
	while (splits < l.n && is_split(&l.v[splits]))
		splits++;
	for (int i = l.n - 1; i >= splits; i--)
		try_alternative(&f, s, original, &l, i, plan);
	for (int i = -1; i < splits && (i < 0 || f.any || f.why.status == EXIT_NO); i++)
		try_alternative(&f, s, original, &l, i, plan);
	if (f.any)
		adopt_rewrite(s, &f.best);
	else
		*s->e = f.why;
	return f.any;
}
