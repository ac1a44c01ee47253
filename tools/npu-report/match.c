/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs the operators of two reports.  Operators with the same name are pairs if both
 * reports have names.  Otherwise operators are pairs by what they compute: kernel, number
 * of results, multiplications, and about as many bytes of weights.
 *
 * An operator that is the only one of its shape in each report is a pair at once.  The
 * lists of all others are aligned in their order, with the best sum of similarities.  A
 * pair of the alignment counts only if it is certain: both reports have equally many
 * operators of this shape, and the two have the same position among them.  All operators
 * between two pairs form a stage.
 */
#include "report.h"

#include <string.h>

/* most cells of the alignment's table; reports that need more are compared as one stage */
enum { CELLS = 1 << 22 };

struct pairing {
	struct arena *a;
	const struct report *old, *new;
	int *of_old, *of_new; /* index of the partner; -1: none */
};

static void
join(struct pairing *p, size_t i, size_t k)
{
	p->of_old[i] = (int)k;
	p->of_new[k] = (int)i;
}

static void
forget(struct pairing *p)
{
	for (size_t i = 0; i < p->old->n_layers; i++)
		p->of_old[i] = -1;
	for (size_t i = 0; i < p->new->n_layers; i++)
		p->of_new[i] = -1;
}

/* ---- by shape ----------------------------------------------------------------------- */

/* Operators without weights must be of equal kernels, because their work says little. */
static bool
same_results(const struct layer *x, const struct layer *y)
{
	bool alike = x->has_weights ||
		     (x->is_uniform && y->is_uniform && x->ifm_c == y->ifm_c &&
		      x->ofm_c == y->ofm_c);
	return alike && x->has_weights == y->has_weights && x->results == y->results &&
	       !strcmp(x->kernel, y->kernel);
}

static bool
same_work(const struct layer *x, const struct layer *y)
{
	return same_results(x, y) && x->macs == y->macs;
}

typedef bool comparison(const struct layer *x, const struct layer *y);

/* 0: no pair */
static int
similarity(const struct layer *x, const struct layer *y)
{
	enum { OTHER_WORK = 1, NO_WEIGHTS = 2, SAME = 4 };
	/* up to this difference, two encoders may have made both sizes from the same weights */
	const double ratio = 1.33, slack = 64;
	bool similar = x->weight_bytes <= ratio * y->weight_bytes + slack &&
		       y->weight_bytes <= ratio * x->weight_bytes + slack;
	if (!same_results(x, y) || !similar)
		return 0;
	if (!same_work(x, y))
		return OTHER_WORK;
	return x->has_weights ? SAME : NO_WEIGHTS;
}

/* the similarity of two operators without partners */
static int
may_pair(const struct pairing *p, size_t i, size_t k)
{
	return p->of_old[i] < 0 && p->of_new[k] < 0
		   ? similarity(&p->old->layer[i], &p->new->layer[k]) : 0;
}

/*
 * best[i * w + k]: the best sum of the old operators from i and the new ones from k.  A
 * longest common subsequence with weights.
 */
static void
align(const struct pairing *p, int *partner)
{
	size_t n = p->old->n_layers, m = p->new->n_layers, w = m + 1;
	int *best = anew(p->a, int, (n + 1) * w);
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			int s = may_pair(p, i, k);
			int skip = best[(i + 1) * w + k], other = best[i * w + k + 1];
			skip = other > skip ? other : skip;
			s = s ? s + best[(i + 1) * w + k + 1] : 0;
			best[i * w + k] = s > skip ? s : skip;
		}
	for (size_t i = 0, k = 0; i < n && k < m;) {
		int here = best[i * w + k];
		int s = may_pair(p, i, k);
		if (s && here == s + best[(i + 1) * w + k + 1]) {
			partner[k++] = (int)i++;
		} else if (here == best[(i + 1) * w + k]) {
			i++;
		} else {
			k++;
		}
	}
}

/* position of layer x among the n layers like it; *all: how many there are */
static size_t
rank_of(const struct report *r, const struct layer *x, const struct layer *like,
	comparison *same, size_t *all)
{
	size_t rank = 0;
	*all = 0;
	for (size_t k = 0; k < r->n_layers; k++) {
		if (!same(&r->layer[k], like))
			continue;
		rank += &r->layer[k] < x;
		++*all;
	}
	return rank;
}

/*
 * True if x and y are certainly the same operator: each report has equally many
 * operators of this work, and x and y have the same position among them.  Operators of
 * different work but the same results count as the same only if neither report has the
 * work of the other operator.
 */
static bool
is_certain(const struct pairing *p, const struct layer *x, const struct layer *y)
{
	size_t n, m;
	comparison *same = same_work(x, y) ? same_work : same_results;
	if (same == same_results) {
		(void)rank_of(p->new, y, x, same_work, &n);
		(void)rank_of(p->old, x, y, same_work, &m);
		if (n || m)
			return false;
	}
	size_t i = rank_of(p->old, x, x, same, &n), k = rank_of(p->new, y, y, same, &m);
	return n == m && i == k;
}

static void
pair_shapes(struct pairing *p)
{
	size_t n = p->old->n_layers + 1, m = p->new->n_layers + 1;
	int *partner = anew(p->a, int, m);
	forget(p);
	if (n > CELLS / m)
		return;
	/* at once: operators that are the only ones of their work in each report */
	for (size_t k = 0; k < p->new->n_layers; k++) {
		const struct layer *y = &p->new->layer[k], *x = NULL;
		size_t n_new, n_old = 0;
		(void)rank_of(p->new, y, y, same_work, &n_new);
		for (size_t i = 0; n_new == 1 && i < p->old->n_layers; i++)
			if (same_work(&p->old->layer[i], y)) {
				x = &p->old->layer[i];
				n_old++;
			}
		if (n_old == 1 && x->has_weights && similarity(x, y))
			join(p, (size_t)(x - p->old->layer), k);
	}
	for (size_t k = 0; k < p->new->n_layers; k++)
		partner[k] = -1;
	align(p, partner);
	for (size_t k = 0; k < p->new->n_layers; k++)
		if (partner[k] >= 0 && is_certain(p, &p->old->layer[partner[k]],
						  &p->new->layer[k]))
			join(p, (size_t)partner[k], k);
}

/* ---- rows --------------------------------------------------------------------------- */

static double
bytes_of(const struct rows *l, const struct layer *x)
{
	return l->weights_only ? x->weight_bytes : x->constant_bytes;
}

static void
take_old(const struct rows *l, struct row *x, const struct layer *layer)
{
	x->old = x->n_old++ ? x->old : layer;
	x->old_cycles += layer->total;
	x->old_bytes += bytes_of(l, layer);
}

static void
take_new(const struct rows *l, struct row *x, const struct layer *layer)
{
	x->new = x->n_new++ ? x->new : layer;
	x->new_cycles += layer->total;
	x->new_bytes += bytes_of(l, layer);
}

static void
add_row(struct rows *l, const struct pairing *p, struct row x)
{
	if (!x.n_old && !x.n_new)
		return;
	bool prefer_new = p->new->has_map || !p->old->has_map;
	x.named_by_new = prefer_new ? x.n_new > 0 : !x.n_old;
	l->v[l->n++] = x;
}

/* the operators from i and k to the next pair of each report */
static void
add_stage(struct rows *l, const struct pairing *p, size_t i, size_t k)
{
	struct row x = { .is_stage = true };
	for (; i < p->old->n_layers && p->of_old[i] < 0; i++)
		take_old(l, &x, &p->old->layer[i]);
	for (; k < p->new->n_layers && p->of_new[k] < 0; k++)
		take_new(l, &x, &p->new->layer[k]);
	add_row(l, p, x);
}

static void
rows_by_shape(struct rows *l, const struct pairing *p)
{
	add_stage(l, p, 0, 0);
	for (size_t k = 0; k < p->new->n_layers; k++) {
		struct row x = { 0 };
		if (p->of_new[k] < 0)
			continue;
		take_old(l, &x, &p->old->layer[p->of_new[k]]);
		take_new(l, &x, &p->new->layer[k]);
		add_row(l, p, x);
		add_stage(l, p, (size_t)p->of_new[k] + 1, k + 1);
	}
}

struct rows
match_layers(const struct report *old, const struct report *new)
{
	struct arena *a = new->a;
	size_t least = old->n_layers < new->n_layers ? old->n_layers : new->n_layers;
	struct pairing p = { .a = a, .old = old, .new = new,
			     .of_old = anew(a, int, old->n_layers + 1),
			     .of_new = anew(a, int, new->n_layers + 1) };
	struct rows l = { .v = anew(a, struct row, old->n_layers + new->n_layers + 1),
			  .n_old = old->n_layers, .n_new = new->n_layers,
			  .weights_only = !old->has_map || !new->has_map };
	size_t n_named = 0;
	forget(&p);
	for (size_t i = 0; i < new->n_layers; i++) {
		const struct layer *x = layer_called(old, new->layer[i].name);
		int k = x ? (int)(x - old->layer) : -1;
		if (k < 0 || p.of_old[k] >= 0)
			continue;
		join(&p, (size_t)k, i);
		n_named++;
	}
	l.by_shape = 2 * n_named < least;
	if (l.by_shape) {
		pair_shapes(&p);
		rows_by_shape(&l, &p);
	} else {
		for (size_t i = 0; i < new->n_layers; i++) {
			struct row x = { 0 };
			take_new(&l, &x, &new->layer[i]);
			if (p.of_new[i] >= 0)
				take_old(&l, &x, &old->layer[p.of_new[i]]);
			add_row(&l, &p, x);
		}
		for (size_t i = 0; i < old->n_layers; i++) {
			struct row x = { 0 };
			take_old(&l, &x, &old->layer[i]);
			if (p.of_old[i] < 0)
				add_row(&l, &p, x);
		}
	}
	for (size_t i = 0; i < new->n_layers; i++)
		l.n_new -= new->layer[i].is_memory;
	double all = 0;
	for (size_t i = 0; i < l.n; i++) {
		const struct row *x = &l.v[i];
		bool pair = !x->is_stage && x->n_old && x->n_new;
		l.n_pairs += pair && !x->new->is_memory;
		l.paired += pair ? x->new_cycles : 0;
		all += x->new_cycles;
	}
	l.paired = all > 0 ? l.paired / all : 1;
	return l;
}

const char *
row_name(struct arena *a, const struct row *x, bool label)
{
	const struct layer *first = x->named_by_new ? x->new : x->old;
	size_t n = x->named_by_new ? x->n_new : x->n_old;
	const char *s = label ? first->label : first->name;
	return n > 1 ? arena_printf(a, "%s and %zu more", s, n - 1) : s;
}

const char *
match_text(const struct report *old, const struct report *new, const struct rows *l,
	   const char *between)
{
	struct arena *a = new->a;
	const struct report *nameless = !old->has_map ? old : !new->has_map ? new : NULL;
	const char *why = nameless ? arena_printf(a, "%s has no source map with the names "
						     "of its operators",
						  text_plain(a, nameless->file))
				   : "The files have different names for their operators";
	return arena_printf(a, "%s: %zu of %zu operators (%.1f %% of the time of %s) are "
			       "paired by shape, weights and order.%sThe others, which have no "
			       "certain partner, are compared by stage: all operators "
			       "between two pairs.",
			    why, l->n_pairs, l->n_new, 100 * l->paired,
			    text_plain(a, new->file), between);
}
