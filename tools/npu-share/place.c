/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places arenas.  For each pair of networks, the difference of the two addresses must lie in
 * one of a few ranges: outside of the ranges in which they would share bytes that they may
 * not share.  A branch chooses one range for each pair; the chosen ranges are a system of
 * differences, whose least solution is a longest path.  The search visits all choices that
 * could take fewer bytes than the best placement so far.
 */
#include "choice.h"

#include "base/fixed.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 16, MAX_RANGES = 2 * MAX_KEPT + 2, MAX_PAIRS = MAX_NETS * (MAX_NETS - 1) / 2 };
static const int64_t far_away = (int64_t)1 << 50;

struct range {
	int64_t lo, hi;
};

/* the ranges in which address(j) - address(i) may lie */
struct pair {
	int i, j, n;
	struct range range[MAX_RANGES];
};

struct search {
	const struct problem *p;
	const int *row;
	struct pair pair[MAX_PAIRS];
	int n_pairs;
	int64_t least; /* a lower bound of the bytes, or enough bytes */
	struct placement best;
	bool found;
	int steps, most_steps;
};

/* after[u][v]: address(v) is at least address(u) + after[u][v]; node n is address 0 */
struct system {
	int64_t after[MAX_NETS + 1][MAX_NETS + 1];
	int n;
};

static const struct row *
row_of(const struct search *s, int net)
{
	return &s->p->net[net].row[s->row[net]];
}

/* Forbids the differences between lo and hi, both excluded; ranges stay sorted. */
static void
forbid(struct pair *x, int64_t lo, int64_t hi)
{
	struct range out[MAX_RANGES];
	int n = 0;
	for (int k = 0; k < x->n; k++) {
		struct range r = x->range[k];
		if (r.hi <= lo || r.lo >= hi) {
			out[n++] = r;
			continue;
		}
		if (r.lo <= lo && n < MAX_RANGES)
			out[n++] = (struct range){ r.lo, lo };
		if (r.hi >= hi && n < MAX_RANGES)
			out[n++] = (struct range){ hi, r.hi };
	}
	memcpy(x->range, out, (size_t)n * sizeof(*out));
	x->n = n;
}

static void
require(struct pair *x, int64_t difference)
{
	bool allowed = false;
	for (int k = 0; k < x->n; k++)
		allowed |= x->range[k].lo <= difference && difference <= x->range[k].hi;
	x->n = allowed;
	x->range[0] = (struct range){ difference, difference };
}

/*
 * Bytes `kept` of one network and the whole arena of the other are apart.  Whole units of 16
 * bytes are, so that all addresses are multiples of 16.
 */
static void
keep_apart(struct pair *x, const struct span *kept, int64_t other, bool kept_in_i)
{
	int64_t from = kept->at - kept->at % UNIT;
	int64_t to = round_up_i64(kept->at + kept->n, UNIT);
	if (kept_in_i)
		forbid(x, from - other, to);
	else
		forbid(x, -to, other - from);
}

static void
make_pair(struct search *s, int i, int j)
{
	struct pair *x = &s->pair[s->n_pairs];
	const struct row *a = row_of(s, i), *b = row_of(s, j);
	*x = (struct pair){ .i = i, .j = j, .n = 1, .range = { { -far_away, far_away } } };
	if (s->p->together[i][j])
		forbid(x, -b->arena, a->arena);
	for (int k = 0; k < a->n_kept; k++)
		keep_apart(x, &a->kept[k], b->arena, true);
	for (int k = 0; k < b->n_kept; k++)
		keep_apart(x, &b->kept[k], a->arena, false);
	/* a chained tensor is apart from the arenas of all networks but its reader's */
	for (int k = 0; k < s->p->n_chains; k++) {
		const struct chain *c = &s->p->chain[k];
		bool in_i = i == c->from && j != c->to, in_j = j == c->from && i != c->to;
		if (row_of(s, c->from)->out && (in_i || in_j))
			keep_apart(x, &row_of(s, c->from)->out[c->out], (in_i ? b : a)->arena, in_i);
	}
	for (int k = 0; k < s->p->n_chains; k++) {
		const struct chain *c = &s->p->chain[k];
		const struct row *from = row_of(s, c->from), *to = row_of(s, c->to);
		if (!from->out || !to->in)
			continue;
		int64_t difference = from->out[c->out].at - to->in[c->in].at;
		if (c->from == i && c->to == j)
			require(x, difference);
		else if (c->from == j && c->to == i)
			require(x, -difference);
	}
	bool is_free = x->n == 1 && x->range[0].lo == -far_away && x->range[0].hi == far_away;
	s->n_pairs += !is_free;
}

/* address(v) >= address(u) + w; false: that contradicts the system */
static bool
add_edge(struct system *g, int u, int v, int64_t w)
{
	if (w <= g->after[u][v])
		return true;
	if (g->after[v][u] + w > 0)
		return false;
	for (int x = 0; x <= g->n; x++)
		for (int y = 0; y <= g->n; y++) {
			int64_t through = g->after[x][u] + w + g->after[v][y];
			if (through > g->after[x][y])
				g->after[x][y] = through;
		}
	return true;
}

/*
 * The pair with the fewest ranges left; -1: no pair has a choice.  *dead: a pair has none.
 */
static int
next_pair(const struct search *s, const struct system *g, const bool *done, bool *dead)
{
	int best = -1, fewest = MAX_RANGES + 1;
	*dead = false;
	for (int q = 0; q < s->n_pairs; q++) {
		const struct pair *x = &s->pair[q];
		int n = 0;
		for (int k = 0; k < x->n && !done[q]; k++)
			n += x->range[k].hi >= g->after[x->i][x->j] &&
			     -x->range[k].lo >= g->after[x->j][x->i];
		if (done[q])
			continue;
		if (!n) {
			*dead = true;
			return -1;
		}
		if (n < fewest) {
			fewest = n;
			best = q;
		}
	}
	return best;
}

static void
search(struct search *s, const struct system *g, bool *done)
{
	bool dead;
	int64_t bytes = 0; /* of the arena, at least */
	for (int i = 0; i < g->n; i++)
		bytes = max_i64(bytes, g->after[g->n][i] + row_of(s, i)->arena);
	if (s->steps >= s->most_steps || (s->found && (bytes >= s->best.bytes ||
						    s->best.bytes <= s->least)))
		return;
	s->steps++;
	int q = next_pair(s, g, done, &dead);
	if (dead)
		return;
	if (q < 0) {
		for (int i = 0; i < g->n; i++)
			s->best.at[i] = g->after[g->n][i];
		s->best.bytes = bytes;
		s->found = true;
		return;
	}
	done[q] = true;
	for (int k = 0; k < s->pair[q].n; k++) {
		struct system next = *g;
		const struct pair *x = &s->pair[q];
		const struct range *r = &x->range[k];
		if ((r->lo == -far_away || add_edge(&next, x->i, x->j, r->lo)) &&
		    (r->hi == far_away || add_edge(&next, x->j, x->i, -r->hi)))
			search(s, &next, done);
	}
	done[q] = false;
}

bool
place_arenas(const struct problem *p, const int *row, int64_t enough, int most_steps,
	     struct placement *out)
{
	struct search s = { .p = p, .row = row, .most_steps = most_steps };
	struct system g = { .n = p->n };
	bool done[MAX_PAIRS] = { false };
	for (int i = 0; i < p->n; i++)
		for (int j = i + 1; j < p->n; j++)
			make_pair(&s, i, j);
	for (int i = 0; i <= p->n; i++)
		for (int j = 0; j <= p->n; j++)
			g.after[i][j] = i == j ? 0 : i == p->n ? 0 : -2 * far_away;
	int64_t bound = place_bound(p, row);
	s.least = max_i64(bound, enough);
	search(&s, &g, done);
	s.best.is_proven = s.steps < most_steps || (s.found && s.best.bytes <= bound);
	s.best.steps = s.steps;
	*out = s.best;
	return s.found;
}

/* ---- a lower bound ----------------------------------------------------------------- */

void
find_cliques(struct problem *p)
{
	p->n_cliques = 0;
	for (unsigned set = 1; set < 1u << p->n; set++) {
		unsigned common = (1u << p->n) - 1;
		for (int i = 0; i < p->n; i++)
			for (int j = 0; j < p->n && set >> i & 1; j++)
				if (j != i && !p->together[i][j])
					common &= ~(1u << j);
		/* all members are neighbours of each other, and of no other network */
		if (common == set)
			p->clique[p->n_cliques++] = set;
	}
}

int64_t
place_bound(const struct problem *p, const int *row)
{
	int64_t own[MAX_NETS], best = 0, all_kept = 0;
	for (int i = 0; i < p->n; i++) {
		int64_t arena = INT64_MAX, kept = INT64_MAX;
		for (int k = 0; k < p->net[i].n_rows; k++) {
			const struct row *r = &p->net[i].row[k];
			if (row[i] >= 0 && row[i] != k)
				continue;
			int64_t bytes = 0;
			for (int n = 0; n < r->n_kept; n++)
				bytes += r->kept[n].n;
			arena = min_i64(arena, r->arena);
			kept = min_i64(kept, bytes);
		}
		own[i] = arena - kept;
		all_kept += kept;
	}
	for (int k = 0; k < p->n_cliques; k++) {
		int64_t sum = all_kept;
		for (int i = 0; i < p->n; i++)
			sum += p->clique[k] >> i & 1 ? own[i] : 0;
		best = max_i64(best, sum);
	}
	return best;
}
