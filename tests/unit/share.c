/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice and the placement of npu-share.  Placements are compared with a search over
 * all addresses; choices of four networks with ten rows each, with all 10,000; eight
 * networks of fifty rows end with a proven gap.
 */
#include "base/fixed.h"

#include "../../tools/npu-share/choice.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT = 16 };

static uint64_t state = 1;

/* 0 to n - 1 */
static int
draw(int n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (int)((state >> 33) % (uint64_t)n);
}

/* ---- placement ---------------------------------------------------------------------- */

static bool
meet(int64_t a, int64_t n, int64_t b, int64_t m)
{
	return a < b + m && b < a + n;
}

static const struct row *
row_of(const struct problem *p, const int *row, int i)
{
	return &p->net[i].row[row[i]];
}

/* Do bytes that network i keeps meet the arena of j? */
static bool
kept_meets(const struct problem *p, const int *row, const int64_t *at, int i, int j)
{
	const struct row *a = row_of(p, row, i), *b = row_of(p, row, j);
	for (int k = 0; k < a->n_kept; k++)
		if (meet(at[i] + a->kept[k].at, a->kept[k].n, at[j], b->arena))
			return true;
	for (int k = 0; k < p->n_chains; k++) {
		const struct chain *c = &p->chain[k];
		if (c->from == i && c->to != j &&
		    meet(at[i] + a->out[c->out].at, a->out[c->out].n, at[j], b->arena))
			return true;
	}
	return false;
}

static bool
is_legal(const struct problem *p, const int *row, const int64_t *at)
{
	for (int i = 0; i < p->n; i++)
		for (int j = 0; j < p->n; j++) {
			if (i == j)
				continue;
			if (kept_meets(p, row, at, i, j) ||
			    (p->together[i][j] && meet(at[i], row_of(p, row, i)->arena, at[j],
						       row_of(p, row, j)->arena)))
				return false;
		}
	for (int k = 0; k < p->n_chains; k++) {
		const struct chain *c = &p->chain[k];
		if (at[c->from] + row_of(p, row, c->from)->out[c->out].at !=
		    at[c->to] + row_of(p, row, c->to)->in[c->in].at)
			return false;
	}
	return true;
}

static int64_t
extent(const struct problem *p, const int *row, const int64_t *at)
{
	int64_t end = 0;
	for (int i = 0; i < p->n; i++)
		end = max_i64(end, at[i] + row_of(p, row, i)->arena);
	return end;
}

/* the fewest bytes of all placements with addresses below `most` units; -1: there is none */
static int64_t
by_enumeration(const struct problem *p, const int *row, int most)
{
	int64_t at[MAX_NETS] = { 0 }, best = -1;
	int digit[MAX_NETS] = { 0 };
	for (int i = 0; i < p->n;) {
		int64_t end = extent(p, row, at);
		if ((best < 0 || end < best) && is_legal(p, row, at))
			best = end;
		for (i = 0; i < p->n && ++digit[i] == most; i++)
			digit[i] = 0;
		for (int k = 0; k < p->n; k++)
			at[k] = (int64_t)UNIT * digit[k];
	}
	return best;
}

/* not all bytes of the last unit */
static struct span
draw_span(int units)
{
	int at = draw(units), n = 1 + draw(units - at < 2 ? units - at : 2);
	return (struct span){ (int64_t)UNIT * at, (int64_t)UNIT * n - draw(UNIT) };
}

/* a network of one row whose arena has at most `units` units */
static void
draw_net(struct arena *a, struct net *n, int units, bool keeps)
{
	struct row *r = anew(a, struct row, 1);
	int size = 2 + draw(units - 1);
	struct span *kept = anew(a, struct span, 2), *in = anew(a, struct span, 1);
	struct span *out = anew(a, struct span, 1);
	kept[0] = draw_span(size);
	in[0] = out[0] = (struct span){ (int64_t)UNIT * draw(size), UNIT };
	*r = (struct row){ .arena = (int64_t)UNIT * size, .kept = kept, .in = in, .out = out,
			   .n_kept = keeps && !draw(2) };
	*n = (struct net){ .name = "", .row = r, .n_rows = 1 };
}

static int
check_placement(int n, int units, bool chains)
{
	struct arena *a = arena_open();
	struct problem p = { .n = n, .arena = INT64_MAX, .flash = INT64_MAX,
			     .both = INT64_MAX };
	static const int row[MAX_NETS];
	int sum = 0, density = draw(4);
	for (int i = 0; i < n; i++) {
		draw_net(a, &p.net[i], units, draw(2));
		sum += (int)(p.net[i].row->arena / UNIT);
		for (int j = 0; j < i; j++)
			p.together[i][j] = p.together[j][i] = draw(4) < density;
	}
	if (chains)
		p.chain[p.n_chains++] = (struct chain){ .from = 0, .to = 1 };
	if (chains && n > 2 && !draw(2))
		p.chain[p.n_chains++] = (struct chain){ .from = 1, .to = 2 };
	for (int k = 0; k < p.n_chains; k++)
		p.together[p.chain[k].from][p.chain[k].to] =
		    p.together[p.chain[k].to][p.chain[k].from] = false;
	find_cliques(&p);
	struct placement place;
	bool found = place_arenas(&p, row, 0, PLACE_STEPS, &place);
	int64_t want = by_enumeration(&p, row, sum);
	int bad = found != (want >= 0);
	for (int i = 0; i < n && found; i++)
		bad |= place.at[i] % UNIT != 0;
	bad = bad ||
		  (found && (place.bytes != want || !place.is_proven ||
			     !is_legal(&p, row, place.at) || place_bound(&p, row) > want));
	if (bad)
		printf("placement of %d arenas: %" PRId64 " bytes, all addresses: %" PRId64 "\n",
		       n, found ? place.bytes : -1, want);
	arena_close(a);
	return bad;
}

/* ---- choice ------------------------------------------------------------------------- */

/* a front: more memory, less time; some rows keep bytes or share constants */
static void
draw_front(struct arena *a, struct net *n, int rows, bool plain)
{
	n->row = anew(a, struct row, (size_t)rows);
	n->n_rows = rows;
	n->name = "";
	n->rate = 1 + draw(20);
	int64_t arena = UNIT * (1 + draw(40));
	double seconds = (100 + draw(300)) * 1e-4;
	int states = plain ? 0 : draw(2);
	for (int i = 0; i < rows; i++) {
		struct segment *s = anew(a, struct segment, 2);
		struct span *kept = anew(a, struct span, 1);
		s[0] = (struct segment){ .hash = state | 1, .bytes = 1000 + draw(3000) };
		s[1] = (struct segment){ .hash = 2 * (uint64_t)draw(3), .bytes = 500 };
		kept[0] = (struct span){ UNIT * draw((int)(arena / UNIT)), UNIT };
		n->row[i] = (struct row){ .arena = arena, .seconds = seconds, .stream = 100,
					  .segment = s, .n_segments = 2, .kept = kept,
					  .n_kept = states };
		arena += UNIT * (1 + draw(30));
		seconds *= 0.7 + 0.029 * draw(10);
	}
}

static void
draw_problem(struct arena *a, struct problem *p, int nets, int rows, bool plain)
{
	int64_t most = 0;
	*p = (struct problem){ .n = nets, .flash = INT64_MAX, .both = INT64_MAX };
	int density = 1 + draw(4);
	for (int i = 0; i < nets; i++) {
		draw_front(a, &p->net[i], rows, plain);
		most += p->net[i].row[rows - 1].arena;
		for (int j = 0; j < i; j++)
			p->together[i][j] = p->together[j][i] = draw(4) < density;
		if (!plain && !draw(3))
			p->net[i].deadline = p->net[i].row[draw(rows)].seconds * (1 + draw(4));
	}
	p->arena = most * (20 + draw(60)) / 100;
	if (!plain && !draw(2))
		p->flash = nets * (1500 + draw(2500));
	if (!plain && !draw(2)) {
		p->both = p->arena + nets * (1500 + draw(2500));
		p->arena = draw(2) ? INT64_MAX : p->arena;
	}
	find_cliques(p);
}

static bool
is_allowed(const struct problem *p, const int *row)
{
	for (int i = 0; i < p->n; i++)
		if (p->net[i].deadline > 0 && response_of(p, row, i) > p->net[i].deadline)
			return false;
	return flash_of(p, row) <= p->flash;
}

static double
time_of(const struct problem *p, const int *row)
{
	double t = 0;
	for (int i = 0; i < p->n; i++)
		t += p->net[i].rate * row_of(p, row, i)->seconds;
	return t;
}

/* the least time of all choices; INFINITY: none is allowed */
static double
by_all_rows(const struct problem *p)
{
	int row[MAX_NETS] = { 0 };
	double best = INFINITY;
	for (int i = 0; i < p->n;) {
		struct placement place;
		if (time_of(p, row) < best && is_allowed(p, row) &&
		    place_arenas(p, row, 0, PLACE_STEPS, &place) && place.bytes <= p->arena &&
		    place.bytes + flash_of(p, row) <= p->both)
			best = time_of(p, row);
		for (i = 0; i < p->n && ++row[i] == p->net[i].n_rows; i++)
			row[i] = 0;
	}
	return best;
}

static int
check_choice(int nets, int rows)
{
	struct arena *a = arena_open();
	struct problem p;
	struct choice c;
	draw_problem(a, &p, nets, rows, !draw(3));
	bool found = choose_rows(&p, 1 << 24, &c);
	double want = by_all_rows(&p);
	int bad = !c.is_exact || found != (want < INFINITY) ||
		  (found && (fabs(c.time - want) > 1e-9 * want || c.place.bytes > p.arena ||
			     c.place.bytes + c.flash > p.both || !is_allowed(&p, c.row) ||
			     !is_legal(&p, c.row, c.place.at) || c.bound > c.time));
	if (bad)
		printf("choice of %d networks: %g, all rows: %g\n", nets, found ? c.time : -1,
		       want);
	arena_close(a);
	return bad;
}

/* Eight networks of fifty rows: a choice within the budget, and a bound below it. */
static int
check_large(uint64_t steps, double *worst)
{
	struct arena *a = arena_open();
	struct problem p;
	struct choice c, more;
	draw_problem(a, &p, 8, 50, true);
	bool found = choose_rows(&p, steps, &c);
	/* fewer steps never give a better choice, or a higher bound */
	bool early = choose_rows(&p, 100, &more);
	int bad = !found || c.place.bytes > p.arena || c.bound > c.time ||
		  (c.is_exact && c.bound != c.time) ||
		  (early && (more.time < c.time || more.bound > c.time));
	double gap = found ? (c.time - c.bound) / c.time : 1;
	if (gap > *worst)
		*worst = gap;
	if (bad)
		printf("eight networks of fifty rows: time %g, bound %g\n", c.time, c.bound);
	arena_close(a);
	return bad;
}

int
main(void)
{
	enum { PLACEMENTS = 300, CHOICES = 60, LARGE = 20 };
	double worst = 0;
	int bad = 0;
	for (int i = 0; i < PLACEMENTS; i++) {
		bad += check_placement(2, 6, i % 2);
		bad += check_placement(3, 5, i % 3 == 0);
		bad += i % 5 ? 0 : check_placement(4, 4, i % 2);
	}
	for (int i = 0; i < CHOICES; i++)
		bad += check_choice(4, 10);
	for (int i = 0; i < LARGE; i++)
		bad += check_large(200000, &worst);
	printf("largest gap of eight networks of fifty rows: %.2f %%\n", 100 * worst);
	return bad != 0;
}
