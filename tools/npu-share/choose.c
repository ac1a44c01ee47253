/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses rows by branch and bound.  A branch chooses the row of one network.  The bound of
 * the weighted time is the largest of these: the fastest row of each network that is left;
 * and, for each clique, the least time in the memory that is left, if rows could be mixed
 * (the linear relaxation of a multiple-choice knapsack).
 */
#include "choice.h"

#include "base/fixed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a step along the lower hull of a network's rows: more bytes, less time */
struct gain {
	int net;
	double bytes, time;
};

struct search {
	const struct problem *p;
	int order[MAX_NETS];		  /* networks, those with the most to lose first */
	int sorted[MAX_NETS][MAX_ROWS];	  /* rows by rising time, then bytes */
	double fastest[MAX_NETS], quickest[MAX_NETS]; /* least weighted time, least seconds */
	int64_t smallest[MAX_NETS];	  /* least arena */
	double slim[MAX_NETS];		  /* weighted time of that row */
	int64_t own[MAX_NETS][MAX_ROWS];  /* flash that no other network can share */
	int64_t least_own[MAX_NETS];
	struct gain gain[MAX_NETS * MAX_ROWS];
	int n_gains;
	double price[MAX_NETS];	     /* of a byte of each network's arena, in weighted time */
	double offer[MAX_NETS];	     /* least time and price of a row */
	double refund;		     /* of the whole budget, for all cliques */
	int64_t most_arena;	     /* bytes of the arenas, beside the least flash of all choices */
	int row[MAX_NETS];
	uint64_t steps, most_steps;
	bool stopped, found;
	bool unproven; /* a placement that did not fit may not be the best one */
	double open; /* the least bound of the branches that were not searched */
	struct choice best;
};

/* a network without a rate counts so little that its time only breaks ties */
static const double tie_rate = 1e-6;

static double
weighted(const struct net *n, int row)
{
	return (n->rate > 0 ? n->rate : tie_rate) * n->row[row].seconds;
}

double
runs_before(const struct problem *p, int net, int j)
{
	if (j == net)
		return 1;
	if (!p->together[net][j])
		return 0;
	return fmax(1, ceil(p->net[net].deadline * p->net[j].rate - 1e-9));
}

double
response_of(const struct problem *p, const int *row, int net)
{
	double sum = 0;
	for (int j = 0; j < p->n; j++)
		sum += runs_before(p, net, j) * p->net[j].row[row[j]].seconds;
	return sum;
}

/* ---- flash -------------------------------------------------------------------------- */

static bool
is_counted(const struct problem *p, const int *row, int net, int segment)
{
	const struct row *r = &p->net[net].row[row[net]];
	for (int k = 0; k < segment; k++)
		if (r->segment[k].hash == r->segment[segment].hash)
			return true;
	for (int i = 0; i < net; i++) {
		const struct row *x = &p->net[i].row[row[i]];
		for (int k = 0; k < x->n_segments; k++)
			if (x->segment[k].hash == r->segment[segment].hash)
				return true;
	}
	return false;
}

int64_t
flash_of(const struct problem *p, const int *row)
{
	int64_t sum = 0;
	for (int i = 0; i < p->n; i++) {
		const struct row *r = &p->net[i].row[row[i]];
		sum += r->stream;
		for (int k = 0; k < r->n_segments; k++)
			sum += is_counted(p, row, i, k) ? 0 : r->segment[k].bytes;
	}
	return sum;
}

/* true if a row of another network has the segment */
static bool
is_shared(const struct problem *p, int net, uint64_t hash)
{
	for (int i = 0; i < p->n; i++)
		for (int r = 0; i != net && r < p->net[i].n_rows; r++)
			for (int k = 0; k < p->net[i].row[r].n_segments; k++)
				if (p->net[i].row[r].segment[k].hash == hash)
					return true;
	return false;
}

/* ---- preparation --------------------------------------------------------------------- */

static int
compare_gains(const void *pa, const void *pb)
{
	const struct gain *a = pa, *b = pb;
	double x = a->time * b->bytes, y = b->time * a->bytes;
	if (x != y)
		return x > y ? -1 : 1;
	return a->net - b->net;
}

/* Adds the steps of the lower hull from the smallest arena to the fastest row. */
static void
add_gains(struct search *s, int net)
{
	const struct net *n = &s->p->net[net];
	int64_t at = s->smallest[net];
	double time = s->slim[net];
	for (;;) {
		int best = -1;
		double slope = 0;
		for (int r = 0; r < n->n_rows; r++) {
			double less = time - weighted(n, r);
			double more = (double)(n->row[r].arena - at);
			if (less <= 0 || more <= 0)
				continue;
			if (best < 0 || less / more > slope ||
			    (less / more == slope && n->row[r].arena > n->row[best].arena)) {
				best = r;
				slope = less / more;
			}
		}
		if (best < 0)
			return;
		s->gain[s->n_gains++] = (struct gain){
			net, (double)(n->row[best].arena - at), time - weighted(n, best) };
		at = n->row[best].arena;
		time = weighted(n, best);
	}
}

static void
prepare_net(struct search *s, int net)
{
	const struct net *n = &s->p->net[net];
	s->fastest[net] = s->quickest[net] = s->slim[net] = INFINITY;
	s->smallest[net] = s->least_own[net] = INT64_MAX;
	for (int r = 0; r < n->n_rows; r++) {
		const struct row *x = &n->row[r];
		s->fastest[net] = fmin(s->fastest[net], weighted(n, r));
		s->quickest[net] = fmin(s->quickest[net], x->seconds);
		if (x->arena < s->smallest[net] ||
		    (x->arena == s->smallest[net] && weighted(n, r) < s->slim[net])) {
			s->smallest[net] = x->arena;
			s->slim[net] = weighted(n, r);
		}
		s->own[net][r] = x->stream;
		for (int k = 0; k < x->n_segments; k++) {
			bool again = false;
			for (int q = 0; q < k; q++)
				again |= x->segment[q].hash == x->segment[k].hash;
			if (!again && !is_shared(s->p, net, x->segment[k].hash))
				s->own[net][r] += x->segment[k].bytes;
		}
		s->least_own[net] = min_i64(s->least_own[net], s->own[net][r]);
	}
	int *v = s->sorted[net];
	for (int r = 0; r < n->n_rows; r++) {
		int at = r;
		for (; at > 0; at--) {
			double a = weighted(n, v[at - 1]), b = weighted(n, r);
			if (a < b || (a == b && n->row[v[at - 1]].arena <= n->row[r].arena))
				break;
			v[at] = v[at - 1];
		}
		v[at] = r;
	}
	add_gains(s, net);
}

/* ---- bounds -------------------------------------------------------------------------- */

/* the least time of a clique in the memory that is left; INFINITY: it does not fit */
static double
clique_time(const struct search *s, unsigned clique, int64_t budget)
{
	const struct problem *p = s->p;
	double rest = (double)budget, time = 0;
	for (int i = 0; i < p->n; i++) {
		bool in = clique >> i & 1;
		if (s->row[i] >= 0) {
			time += weighted(&p->net[i], s->row[i]);
			rest -= in ? (double)p->net[i].row[s->row[i]].arena : 0;
		} else {
			time += in ? s->slim[i] : s->fastest[i];
			rest -= in ? (double)s->smallest[i] : 0;
		}
	}
	if (rest < 0)
		return INFINITY;
	for (int k = 0; k < s->n_gains && rest > 0; k++) {
		const struct gain *g = &s->gain[k];
		if (!(clique >> g->net & 1) || s->row[g->net] >= 0)
			continue;
		double part = g->bytes <= rest ? 1 : rest / g->bytes;
		time -= part * g->time;
		rest -= part * g->bytes;
	}
	return time;
}

static double
fastest_time(const struct search *s)
{
	double time = 0;
	for (int i = 0; i < s->p->n; i++)
		time += s->row[i] >= 0 ? weighted(&s->p->net[i], s->row[i]) : s->fastest[i];
	return time;
}

/* a lower bound of the flash of all choices below a node: what networks share counts nothing */
static int64_t
least_flash(const struct search *s)
{
	int64_t sum = 0;
	for (int i = 0; i < s->p->n; i++)
		sum += s->row[i] < 0 ? s->least_own[i] : s->own[i][s->row[i]];
	return sum;
}

/* the bytes that arenas may take beside so much flash; negative: there are none */
static int64_t
arena_beside(const struct problem *p, int64_t flash)
{
	return p->both < INT64_MAX ? min_i64(p->arena, p->both - flash) : p->arena;
}

/* Could all deadlines hold if the networks that are left took their quickest rows? */
static bool
deadlines_may_hold(const struct search *s)
{
	const struct problem *p = s->p;
	for (int i = 0; i < p->n; i++) {
		const struct net *n = &p->net[i];
		double sum = 0;
		for (int j = 0; j < p->n && n->deadline > 0; j++) {
			if (j != i && !p->together[i][j])
				continue;
			double runs = j == i ? 1 : ceil(n->deadline * p->net[j].rate - 1e-9);
			sum += (runs > 1 ? runs : 1) *
			       (s->row[j] < 0 ? s->quickest[j] : p->net[j].row[s->row[j]].seconds);
		}
		if (n->deadline > 0 && sum > n->deadline)
			return false;
	}
	return true;
}

/*
 * A lower bound by prices: each clique pays for its arenas and gets the price of the budget
 * back (Lagrange's relaxation).
 */
static double
priced_time(const struct search *s)
{
	double time = -s->refund;
	for (int i = 0; i < s->p->n; i++) {
		const struct net *n = &s->p->net[i];
		time += s->row[i] < 0 ? s->offer[i]
				      : weighted(n, s->row[i]) +
					    s->price[i] * (double)n->row[s->row[i]].arena;
	}
	return time;
}

/* Sets prices and offers for the multipliers of the cliques; take[i]: the row of each offer. */
static void
set_prices(struct search *s, const double *multiplier, int *taken)
{
	const struct problem *p = s->p;
	s->refund = 0;
	memset(s->price, 0, sizeof(s->price));
	for (int k = 0; k < p->n_cliques; k++) {
		s->refund += multiplier[k] * (double)s->most_arena;
		for (int i = 0; i < p->n; i++)
			s->price[i] += p->clique[k] >> i & 1 ? multiplier[k] : 0;
	}
	for (int i = 0; i < p->n; i++) {
		const struct net *n = &p->net[i];
		s->offer[i] = INFINITY;
		for (int r = 0; r < n->n_rows; r++) {
			double x = weighted(n, r) + s->price[i] * (double)n->row[r].arena;
			if (x < s->offer[i]) {
				s->offer[i] = x;
				taken[i] = r;
			}
		}
	}
}

/* Finds the multipliers of the highest bound: steps along the subgradient. */
static void
find_prices(struct search *s)
{
	enum { ROUNDS = 400 };
	const struct problem *p = s->p;
	double now[MAX_CLIQUES] = { 0 }, best[MAX_CLIQUES] = { 0 }, most = 0;
	int taken[MAX_NETS];
	double target = s->found ? s->best.time : 0, pace = 1;
	for (int i = 0; i < p->n && !s->found; i++)
		target += s->slim[i];
	for (int round = 0; round < ROUNDS && s->most_arena < INT64_MAX; round++) {
		double over[MAX_CLIQUES], square = 0;
		set_prices(s, now, taken);
		double bound = priced_time(s);
		if (bound > most) {
			most = bound;
			memcpy(best, now, sizeof(best));
		} else {
			pace *= 0.98;
		}
		for (int k = 0; k < p->n_cliques; k++) {
			over[k] = -(double)s->most_arena;
			for (int i = 0; i < p->n; i++)
				over[k] += p->clique[k] >> i & 1
					       ? (double)p->net[i].row[taken[i]].arena : 0;
			square += over[k] > 0 || now[k] > 0 ? over[k] * over[k] : 0;
		}
		double step = square > 0 ? pace * (target - bound) / square : 0;
		for (int k = 0; k < p->n_cliques; k++)
			now[k] = fmax(0, now[k] + step * over[k]);
	}
	set_prices(s, best, taken);
}

/* a lower bound of the weighted time of all choices below a node; INFINITY: there are none */
static double
bound_of(const struct search *s)
{
	const struct problem *p = s->p;
	double bound = fmax(fastest_time(s), priced_time(s));
	int64_t flash = least_flash(s), most = arena_beside(p, flash);
	for (int k = 0; k < p->n_cliques && most < INT64_MAX; k++)
		bound = fmax(bound, clique_time(s, p->clique[k], most));
	if (bound < INFINITY && (!deadlines_may_hold(s) || flash > p->flash ||
				 place_bound(p, s->row) > most))
		return INFINITY;
	return bound;
}

/* ---- the search ---------------------------------------------------------------------- */

/* Is every choice below a node with this bound worse than the best one, or equal to it? */
static bool
is_hopeless(const struct search *s, double bound)
{
	const double equal = 1e-12;
	if (bound == INFINITY)
		return true;
	if (!s->found || bound < s->best.time * (1 - equal))
		return false;
	return bound > s->best.time * (1 + equal) ||
	       (double)place_bound(s->p, s->row) >= s->best.bound;
}

static void
take(struct search *s)
{
	const struct problem *p = s->p;
	struct choice c = { .time = fastest_time(s), .flash = flash_of(p, s->row) };
	if (c.flash > p->flash)
		return;
	for (int i = 0; i < p->n; i++)
		if (p->net[i].deadline > 0 &&
		    response_of(p, s->row, i) > p->net[i].deadline)
			return;
	const double equal = 1e-12;
	c.bound = (double)place_bound(p, s->row);
	bool same = s->found && c.time >= s->best.time * (1 - equal);
	if (same && (c.time > s->best.time * (1 + equal) || c.bound >= s->best.bound))
		return;
	int64_t most = arena_beside(p, c.flash);
	if (c.bound > (double)most)
		return;
	bool placed = place_arenas(p, s->row, most < INT64_MAX ? most : 0, PLACE_STEPS,
				   &c.place);
	s->steps += (uint64_t)c.place.steps;
	s->unproven |= !placed || c.place.bytes > most ? !c.place.is_proven : 0;
	if (!placed || c.place.bytes > most)
		return;
	for (int i = 0; i < p->n; i++) {
		c.row[i] = s->row[i];
		c.fast = max_i64(c.fast, p->net[i].row[s->row[i]].fast);
	}
	s->best = c;
	s->found = true;
}

/* Can the rows be placed, by a short search, and do they hold the deadlines? */
static bool
may_fit(const struct search *s)
{
	enum { FEW_STEPS = 300 };
	const struct problem *p = s->p;
	struct placement place;
	bool limited = p->flash < INT64_MAX || p->both < INT64_MAX;
	int64_t flash = limited ? flash_of(p, s->row) : 0, most = arena_beside(p, flash);
	return flash <= p->flash && place_bound(p, s->row) <= most && deadlines_may_hold(s) &&
	       place_arenas(p, s->row, most, FEW_STEPS, &place) && place.bytes <= most;
}

/*
 * A first choice, so that bounds have something to beat: from the smallest arenas on, the
 * network whose next row saves most time for its bytes takes that row.
 */
static void
climb(struct search *s)
{
	const struct problem *p = s->p;
	for (int i = 0; i < p->n; i++)
		for (int r = 0; r < p->net[i].n_rows; r++)
			if (s->row[i] < 0 ||
			    (p->net[i].row[r].arena == s->smallest[i] &&
			     weighted(&p->net[i], r) == s->slim[i]))
				s->row[i] = r;
	for (bool more = true; more;) {
		double best = 0;
		int net = -1, row = -1;
		for (int i = 0; i < p->n; i++) {
			int own = s->row[i];
			for (int r = 0; r < p->net[i].n_rows; r++) {
				double less = weighted(&p->net[i], own) - weighted(&p->net[i], r);
				double bytes = (double)(p->net[i].row[r].arena -
							p->net[i].row[own].arena);
				double worth = less / fmax(bytes, 1);
				if (less <= 0 || worth <= best)
					continue;
				s->row[i] = r;
				if (may_fit(s)) {
					best = worth;
					net = i;
					row = r;
				}
				s->row[i] = own;
			}
		}
		more = net >= 0;
		if (more)
			s->row[net] = row;
	}
	take(s);
	for (int i = 0; i < p->n; i++)
		s->row[i] = -1;
}

static void
branch(struct search *s, int depth)
{
	if (depth == s->p->n) {
		take(s);
		return;
	}
	int net = s->order[depth];
	for (int k = 0; k < s->p->net[net].n_rows; k++) {
		s->row[net] = s->sorted[net][k];
		double bound = bound_of(s);
		s->steps++;
		s->stopped |= s->steps >= s->most_steps;
		if (is_hopeless(s, bound))
			continue;
		if (s->stopped)
			s->open = fmin(s->open, bound);
		else
			branch(s, depth + 1);
	}
	s->row[net] = -1;
}

bool
choose_rows(const struct problem *p, uint64_t max_steps, struct choice *out)
{
	struct arena *a = arena_open();
	struct search *s = anew(a, struct search, 1);
	s->p = p;
	s->most_steps = max_steps;
	s->open = INFINITY;
	for (int i = 0; i < p->n; i++) {
		prepare_net(s, i);
		s->row[i] = -1;
	}
	s->most_arena = arena_beside(p, least_flash(s));
	qsort(s->gain, (size_t)s->n_gains, sizeof(*s->gain), compare_gains);
	for (int i = 0; i < p->n; i++) {
		int at = i;
		double lose = s->slim[i] - s->fastest[i];
		for (; at > 0; at--) {
			int x = s->order[at - 1];
			if (s->slim[x] - s->fastest[x] >= lose)
				break;
			s->order[at] = x;
		}
		s->order[at] = i;
	}
	climb(s);
	find_prices(s);
	branch(s, 0);
	if (s->found)
		(void)place_arenas(p, s->best.row, 0, PLACE_STEPS, &s->best.place);
	*out = s->best;
	out->steps = s->steps;
	out->bound = s->found ? fmin(s->open, s->best.time) : s->open;
	out->is_exact = !s->unproven && !(s->open < INFINITY);
	bool found = s->found;
	arena_close(a);
	return found;
}
