/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the fronts, and chooses rows.  A front says bytes and cycles of a row, but not where
 * inputs, outputs and variables are.  The choice takes what is not known as if it cost
 * nothing; the chosen rows are compiled, and the choice is made again, until all chosen rows
 * are known.  Then no other choice is better, because what is learnt only makes rows worse.
 *
 * Each question about other budgets starts with the fronts again, and takes a file that another
 * question has compiled only when it chooses that row.  Therefore the answer is the choice of a
 * run of npu-share with these budgets.
 */
#include "share.h"

#include "base/fixed.h"
#include "base/json.h"

#include <string.h>

/* steps of choose_rows(): about a second */
static const uint64_t most_steps = 1500000;

/* Leaves the row alone that npucc takes with the limit of a network: the largest within it. */
static bool
take_limited_row(struct share *s, int net)
{
	struct net *x = &s->p.net[net];
	const struct row *best = NULL;
	int64_t least = INT64_MAX;
	for (int k = 0; k < x->n_rows; k++) {
		const struct row *r = &x->row[k];
		least = min_i64(least, r->sram);
		if (r->sram <= s->net[net].limit && (!best || r->sram > best->sram))
			best = r;
	}
	if (!best)
		return err_no(s->e, s->net[net].name, 0, "no plan fits --arena-cache-size=%s=%lld: "
			      "the least is %lld", s->net[net].name, (long long)s->net[net].limit,
			      (long long)least);
	x->row[0] = *best;
	x->n_rows = 1;
	return true;
}

bool
take_fronts(struct share *s)
{
	struct job *job = anew(s->a, struct job, MAX_NETS);
	for (int i = 0; i < s->p.n; i++) {
		struct job *j = &job[i];
		j->path = s->npucc;
		add_word(j, "npucc");
		add_word(j, "-q");
		add_word(j, "--front");
		add_word(j, "--json");
		add_target(s, j, true);
		add_input_model(s, j, i);
	}
	if (!run_jobs(s, job, s->p.n))
		return false;
	for (int i = 0; i < s->p.n; i++) {
		struct net *x = &s->p.net[i];
		struct json o;
		size_t n;
		if (!json_parse(s->a, job[i].out, "npucc --front", &o, s->e))
			return false;
		const struct json *v = json_items(&o, "front", &n);
		x->row = anew(s->a, struct row, n + 1);
		s->net[i].compiled = anew(s->a, struct compiled, n + 1);
		for (size_t k = 0; k < n && x->n_rows < MAX_ROWS; k++) {
			int64_t sram = (int64_t)json_number(&v[k], "sram", 0);
			int64_t dram = (int64_t)json_number(&v[k], "dram", 0);
			struct row r = { .sram = sram, .fast = s->spilling ? sram : 0,
					 .arena = round_up_i64(s->spilling ? dram : sram, 16),
					 .stream = (int64_t)json_number(&v[k], "streams", 0),
					 .cycles = json_number(&v[k], "cycles", 0) };
			struct segment *seg = anew(s->a, struct segment, 1);
			/* the same row of the same model has the same constants */
			seg->hash = s->net[i].hash ^ (uint64_t)sram;
			seg->bytes = (int64_t)json_number(&v[k], "flash", 0);
			r.segment = seg;
			r.n_segments = 1;
			if (r.fast <= s->p.fast)
				x->row[x->n_rows++] = r;
		}
		if (s->net[i].limit && !take_limited_row(s, i))
			return false;
		if (!x->n_rows)
			return err_no(s->e, s->net[i].name, 0, "no plan fits the fast memory of "
				      "%lld bytes", (long long)s->p.fast);
	}
	return true;
}

/* Compiles one row of some networks: row[i] -1: none. */
static bool
compile(struct share *s, const int *row)
{
	struct job *job = anew(s->a, struct job, MAX_NETS);
	struct job *perf = anew(s->a, struct job, MAX_NETS);
	int n = 0;
	for (int i = 0; i < s->p.n; i++) {
		if (row[i] < 0 || s->p.net[i].row[row[i]].is_measured)
			continue;
		struct job *j = &job[n++];
		*j = (struct job){ .path = s->npucc, .net = i, .row = row[i] };
		add_word(j, "npucc");
		add_word(j, "-q");
		add_target(s, j, true);
		if (s->o->part)
			add_word(j, "--allow-overflow");
		add_word(j, arena_printf(s->a, "--arena-cache-size=%lld",
					 (long long)s->p.net[i].row[row[i]].sram));
		add_word(j, "-o");
		add_word(j, "-");
		add_input_model(s, j, i);
	}
	if (!run_jobs(s, job, n))
		return false;
	for (int k = 0; k < n; k++) {
		perf[k] = (struct job){ .path = s->perf, .in = job[k].out };
		add_word(&perf[k], "npu-perf");
		add_word(&perf[k], "--json");
		add_target(s, &perf[k], false);
	}
	if (!run_jobs(s, perf, n))
		return false;
	for (int k = 0; k < n; k++)
		if (!read_facts(s, job[k].net, job[k].row, job[k].out, perf[k].out))
			return false;
	if (!s->o->tflm)
		return true;
	/* what an interpreter takes */
	struct job *arenas = anew(s->a, struct job, MAX_NETS);
	for (int k = 0; k < n; k++) {
		arenas[k] = (struct job){ .path = s->tfl2c, .in = job[k].out };
		add_word(&arenas[k], "tfl2c");
		add_word(&arenas[k], "--declarations");
		add_word(&arenas[k], "-n");
		add_word(&arenas[k], s->net[job[k].net].name);
	}
	if (!run_jobs(s, arenas, n))
		return false;
	for (int k = 0; k < n; k++)
		if (!read_arenas(s, job[k].net, job[k].row, arenas[k].out))
			return false;
	return true;
}

double
share_within(const struct share *s)
{
	enum { DEFAULT = 5 }; /* that of npu-sched */
	/* arenas in DRAM do not compete for SRAM, and a budget that is named may be used */
	return s->o->within >= 0 ? s->o->within : s->spilling || s->o->sram ? 0 : DEFAULT;
}

int64_t *
budget_of(struct problem *p, enum memory m)
{
	return m == MEMORY_ARENAS ? &p->arena : m == MEMORY_CONSTANTS ? &p->flash : &p->both;
}

int64_t
used_of(const struct choice *c, enum memory m)
{
	return (m == MEMORY_CONSTANTS ? 0 : c->place.bytes) + (m == MEMORY_ARENAS ? 0 : c->flash);
}

enum memory
saved_memory(const struct problem *p)
{
	return p->both < INT64_MAX ? MEMORY_BOTH : MEMORY_ARENAS;
}

/*
 * Replaces a choice by that of the fewest bytes whose time is at most `most`.  Less
 * memory never takes less time, so that it is found by bisection.
 */
static void
choose_smaller(const struct problem *base, double most, struct choice *c)
{
	const int64_t unit = 16;
	const enum memory m = saved_memory(base);
	struct problem p = *base;
	struct choice with_less;
	for (int64_t none = 0; used_of(c, m) - none > unit;) {
		int64_t middle = none + round_up_i64((used_of(c, m) - none) / 2, unit);
		*budget_of(&p, m) = middle;
		if (choose_rows(&p, most_steps / 16, &with_less) && with_less.time <= most)
			*c = with_less;
		else
			none = middle;
	}
}

/* The same problem with rows of its own: *p may learn what `from` does not know. */
static void
copy_rows(const struct share *s, const struct problem *from, struct problem *p)
{
	*p = *from;
	for (int i = 0; i < p->n; i++) {
		size_t n = (size_t)p->net[i].n_rows;
		p->net[i].row = anew(s->a, struct row, n);
		memcpy(p->net[i].row, from->net[i].row, n * sizeof(*p->net[i].row));
	}
}

/* Gives the rows of a choice the figures of their files.  *is_new: p lacked some of these. */
static bool
learn(struct share *s, struct problem *p, const int *row, bool *is_new)
{
	*is_new = false;
	if (!compile(s, row))
		return false;
	for (int i = 0; i < p->n; i++) {
		*is_new |= !p->net[i].row[row[i]].is_measured;
		p->net[i].row[row[i]] = s->p.net[i].row[row[i]];
	}
	return true;
}

bool
settle(struct share *s, struct problem *p, struct choice *c, bool *found)
{
	struct problem fronts = *p;
	for (int i = 0; i < p->n; i++)
		fronts.net[i].row = s->net[i].front;
	copy_rows(s, &fronts, p);
	for (bool more = true; more;) {
		struct choice larger;
		*found = choose_rows(p, most_steps, c);
		/*
		 * The front's figure of a stream may be larger than the stream: the files of the
		 * choice with any flash may fit, although their rows do not.
		 */
		struct problem any = *p;
		any.flash = any.both = INT64_MAX;
		if (!*found && !choose_rows(&any, most_steps, &larger))
			return true;
		if (!learn(s, p, *found ? c->row : larger.row, &more))
			return false;
	}
	return true;
}

/* The choice of the fewest bytes within so many per cent of the least time. */
static bool
settle_smaller(struct share *s, double percent, struct choice *c)
{
	struct problem p;
	copy_rows(s, &s->base, &p);
	for (bool more = true; more;) {
		*c = s->fastest;
		choose_smaller(&p, (1 + percent / 100) * s->fastest.time, c);
		if (!learn(s, &p, c->row, &more))
			return false;
	}
	return true;
}

/* Compiles the last row of each front, which says what the others have in common with it. */
static bool
take_first_files(struct share *s)
{
	int row[MAX_NETS];
	for (int i = 0; i < s->p.n; i++)
		row[i] = s->p.net[i].n_rows - 1;
	if (!compile(s, row))
		return false;
	for (int i = 0; i < s->p.n; i++) {
		const struct net *n = &s->p.net[i];
		s->net[i].front = anew(s->a, struct row, (size_t)n->n_rows);
		for (int k = 0; k < n->n_rows; k++) {
			struct row *r = &n->row[k];
			if (!r->is_measured) {
				/* the time of the NPU, by the clock, and that of the CPU */
				r->seconds = r->cycles / s->net[i].clock + s->net[i].cpu_seconds;
				/* files have the same bytes beside constants and streams */
				r->stream += s->net[i].wrapper;
			}
			s->net[i].front[k] = *r;
		}
	}
	return true;
}

bool
solve(struct share *s)
{
	bool found;
	s->base = s->p;
	if (!take_first_files(s) || !settle(s, &s->base, &s->fastest, &found))
		return false;
	if (!found)
		return refuse(s);
	s->choice = s->fastest;
	return share_within(s) <= 0 || settle_smaller(s, share_within(s), &s->choice);
}

bool
ask_other_budgets(struct share *s)
{
	enum { KILOBYTE = 1024 };
	static const double percent[] = { 10, 25, 100 };
	const enum memory saved = saved_memory(&s->p);
	int64_t bytes = used_of(&s->choice, saved);
	for (size_t i = 0; i < ARRAY_LEN(percent) && !s->spilling; i++) {
		struct saving *x = &s->saving[s->n_savings];
		x->percent = percent[i];
		if (percent[i] <= share_within(s))
			continue;
		if (!settle_smaller(s, percent[i], &x->choice))
			return false;
		if (used_of(&x->choice, saved) > bytes - bytes / 10)
			continue;
		bytes = used_of(&x->choice, saved);
		s->n_savings++;
	}
	/* one budget of both, or two */
	const enum memory last = saved == MEMORY_BOTH ? saved : MEMORY_CONSTANTS;
	for (enum memory m = saved; m <= last; m++) {
		struct less *x = &s->less[s->n_less++];
		struct problem p = s->p;
		x->memory = m;
		/* what --within has saved stays unused */
		if (is_smaller(s))
			*budget_of(&p, saved) = used_of(&s->choice, saved);
		x->bytes = *budget_of(&p, m) = used_of(&s->choice, m) - KILOBYTE;
		if (!settle(s, &p, &x->choice, &x->fits))
			return false;
	}
	return true;
}
