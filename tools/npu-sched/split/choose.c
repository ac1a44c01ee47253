/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses whether and how sums are split.  Each rewrite of the network with split sums is
 * planned as a network of its own, and the requested goal decides between the rewrites.
 */
#include "split.h"

#include "../network/plan_text.h"
#include "../search/rewrites.h"
#include "../search/search.h"
#include "graph/graph.h"
#include "rewrite/rewrite.h"

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

/* Upper bound of the number of operations after a split. */
static int64_t
count_ops(const struct graph *g, const struct sums *l, struct split how)
{
	/* operations for each piece; an LSTM of 4 pieces has 21, and its products */
	enum { USES = 6 };
	int64_t n = (int64_t)g->n_ops;
	for (size_t i = 0; i < l->n; i++)
		n += USES * count_pieces(&l->v[i], how);
	return n;
}

static bool
has_columns(const struct sums *l)
{
	bool any = false;
	for (size_t i = 0; i < l->n; i++)
		any |= l->v[i].add->ofm.shape.h * l->v[i].add->ofm.shape.w > 1;
	return any;
}

/* The largest number of sums that share one product. */
static int
count_shared(const struct sums *l)
{
	int most = 1;
	for (size_t i = 0; i < l->n; i++)
		for (int k = 0; k < 2; k++)
			most = l->v[i].shared[k] > most ? l->v[i].shared[k] : most;
	return most;
}

enum { MAX_REWRITES = 6 };

/* Lists rewrites that differ and are small enough to be searched; those with more pieces come
 * later. */
static int
list_rewrites(const struct graph *g, const struct sums *l, struct split v[MAX_REWRITES])
{
	int all = count_shared(l), n = 0;
	const struct split rewrite_set[MAX_REWRITES] = {
		{ .ahead = all }, { .ahead = all / 2 }, { .ahead = all / 4 }, { .ahead = 0 },
		{ .columns = true, .ahead = all }, { .columns = true },
	};
	for (int i = 0; i < MAX_REWRITES; i++)
		if ((!rewrite_set[i].columns || has_columns(l)) && rewrite_set[i].ahead != 1 &&
		    (i == 0 || rewrite_set[i].ahead != rewrite_set[i - 1].ahead) &&
		    count_ops(g, l, rewrite_set[i]) <= MOST_OPS)
			v[n++] = rewrite_set[i];
	return n;
}

static bool
try_split(const struct sched *s, const struct graph *g, struct split how,
	  bool (*plan)(struct sched *), struct sched *out, struct err *e)
{
	struct split *own = anew(s->a, struct split, 1);
	*own = how;
	rewrite_open(s, rewrite_sums(s->a, g, how), out, e);
	out->split = own;
	return graph_check(out->g, e) && plan(out);
}

/* Is the limit that x was refused for nearer than that of all before?  A rewrite that is only too
 * slow is nearer than one that needs more bytes. */
static bool
is_nearer(const struct rewrite_set *f, const struct sched *x)
{
	return x->least && (x->fits != f->fits ? x->fits : x->least < f->least);
}

/* Compares x, whose sums are split further than before.  It becomes the best, or its plan is
 * closed. */
static void
compare(struct rewrite_set *f, struct sched *x, bool ok)
{
	static const struct rewrite_changes changes = {
		.to = "fewer channels of sums of products are computed at once",
		.from = "more channels of sums of products are computed at once",
	};
	if (ok) {
		(void)keep_rewrite(&f->best, &f->any, x, f->any && is_better_rewrite(x, &f->best),
				   &changes);
		return;
	}
	if (!f->any && is_nearer(f, x)) {
		f->why = *x->e;
		f->least = x->least;
		f->fits = x->fits;
	}
	plan_close(x->plan);
}

static void
plan_plain(struct rewrite_set *f, struct sched *s, bool (*plan)(struct sched *))
{
	s->e = &f->why;
	f->any = plan(s);
	f->best = *s;
	f->least = s->least ? s->least : INT64_MAX;
	f->fits = s->fits;
}

/* Plans the rewrite of --plan. */
static bool
plan_as_read(struct sched *s, const struct split *v, int n, bool (*plan)(struct sched *))
{
	const struct plan_network *x = &s->plan_input->network;
	if (strcmp(x->rec.word, "split") != 0)
		return plan(s);
	for (int i = 0; i < n; i++) {
		struct sched y;
		if (v[i].ahead != x->ahead || v[i].columns != x->columns)
			continue;
		if (!try_split(s, s->g, v[i], plan, &y, s->e))
			return false;
		adopt_rewrite(s, &y);
		return true;
	}
	return plan_err(s->plan_input, x, s->e, "the network has no such split");
}

bool
plan_split(struct sched *s, bool (*plan)(struct sched *))
{
	const struct sums l = sums_find(s->a, s->g);
	struct err *e = s->e;
	struct rewrite_set f = { .any = false };
	struct split split_list[MAX_REWRITES];
	/* before planning, which changes the graph */
	const int n = l.n ? list_rewrites(s->g, &l, split_list) : 0;
	if (s->plan_input)
		return plan_as_read(s, split_list, n, plan);
	if (!l.n)
		return plan(s);
	const struct graph *original = graph_copy(s->a, s->g);
	plan_plain(&f, s, plan);
	for (int i = 0; i < n && (f.any || f.why.status == EXIT_NO); i++) {
		struct sched x;
		struct err why = { 0 };
		bool ok = try_split(s, original, split_list[i], plan, &x, &why);
		compare(&f, &x, ok);
	}
	s->e = e;
	if (f.any)
		adopt_rewrite(s, &f.best);
	else
		*e = f.why;
	return f.any;
}
