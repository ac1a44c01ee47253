/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says why no choice fits: which deadline no plans hold, or which budget is too small, and how
 * large it must be.  That size is found by bisection, with all chosen rows compiled, so that a
 * run with it finds plans.
 */
#include "share.h"

#include "base/fixed.h"

static struct problem
without_budgets(const struct problem *p)
{
	struct problem out = *p;
	out.arena = out.flash = out.both = INT64_MAX;
	return out;
}

static struct problem
without_deadlines(const struct problem *p)
{
	struct problem out = *p;
	for (int i = 0; i < out.n; i++)
		out.net[i].deadline = 0;
	return out;
}

/*
 * The least budget of one memory for which plans are found, to 16 bytes; 0: no budget is large
 * enough.  *is_least: it is proven that smaller budgets are too small.
 */
static bool
least_budget(struct share *s, struct problem p, enum memory m, int64_t *least, bool *is_least)
{
	const int64_t unit = 16;
	struct choice c;
	bool found, fits;
	*budget_of(&p, m) = INT64_MAX;
	if (!settle(s, &p, &c, &found))
		return false;
	*is_least = true;
	*least = found ? round_up_i64(used_of(&c, m), unit) : 0;
	/* first what that choice takes; more, if the front's figures take more than its files */
	int64_t low = 0, probe = *least;
	for (found = false; *least && (!found || *least - low > unit);) {
		*budget_of(&p, m) = probe;
		if (!settle(s, &p, &c, &fits))
			return false;
		found |= fits;
		if (fits)
			*least = probe;
		else
			low = probe;
		*is_least &= fits || c.is_exact;
		probe = found ? (low + *least) / 2 / unit * unit : 2 * low;
	}
	return true;
}

/*
 * Names a budget that is too small.  alone: only one that is too small even if the others have
 * no limit.  The error stays empty if there is none.
 */
static bool
refuse_memory(struct share *s, const struct problem *wanted, bool alone)
{
	for (enum memory m = MEMORY_ARENAS; m < MEMORY_COUNT; m++) {
		struct problem p = *wanted, one = without_budgets(wanted);
		int64_t budget = *budget_of(&p, m), least;
		struct choice c;
		bool found = !alone, is_least;
		*budget_of(&one, m) = budget;
		if (budget == INT64_MAX)
			continue;
		if (alone && !settle(s, &one, &c, &found))
			return false;
		if (alone == found)
			continue;
		if (!least_budget(s, p, m, &least, &is_least) ||
		    (alone && !least && !least_budget(s, one, m, &least, &is_least)))
			return false;
		if (!least)
			continue;
		const char *note = ""; /* says how to need less memory */
		for (int i = 0; i < s->p.n && !*note && m != MEMORY_CONSTANTS; i++)
			if (!s->o->integer_io && has_float_border(s->net[i].original))
				note = arena_printf(s->a, "; --integer-io leaves out the float "
						    "inputs and outputs of %s", s->net[i].name);
		return err_no(s->e, NULL, 0, "the networks do not fit %lld bytes of %s: %s %lld%s%s",
			      (long long)budget, m == MEMORY_CONSTANTS ? s->constants_in : s->arenas_in,
			      m == MEMORY_BOTH ? "arenas and constants together need" : "they need",
			      (long long)least, is_least ? " at least" : " or less", note);
	}
	return true;
}

/* The budgets are large enough without the deadlines. */
static bool
refuse_deadlines(struct share *s)
{
	for (int i = 0; i < s->p.n; i++) {
		struct problem p = without_deadlines(&s->p);
		struct choice c;
		bool found;
		if (s->p.net[i].deadline <= 0)
			continue;
		/* the shortest response of the network */
		for (int k = 0; k < p.n; k++)
			p.net[k].rate = runs_before(&s->p, i, k);
		if (!settle(s, &p, &c, &found))
			return false;
		double least = found ? response_of(&s->p, c.row, i) : 0;
		if (least > s->p.net[i].deadline)
			return err_no(s->e, NULL, 0, "no plans within the budgets hold the "
				      "deadline of %s: the fastest response takes %.4g ms",
				      s->net[i].name, 1e3 * least);
	}
	return err_no(s->e, NULL, 0, "no plans within the budgets hold all deadlines at once; each "
		      "one can be held");
}

bool
refuse(struct share *s)
{
	struct problem plain = without_deadlines(&s->p), p = plain;
	struct choice c;
	bool found;
	if (!settle(s, &p, &c, &found))
		return false;
	if (found)
		return refuse_deadlines(s);
	/* a size that holds the deadlines, too, if there is one */
	p = without_budgets(&s->p);
	if (!settle(s, &p, &c, &found))
		return false;
	const struct problem *wanted = found ? &s->p : &plain;
	if (!refuse_memory(s, wanted, true) || !refuse_memory(s, wanted, false))
		return false;
	return err_no(s->e, NULL, 0, "no placement of the networks fits %lld bytes of %s%s",
		      (long long)min_i64(s->p.arena, s->p.both), s->arenas_in,
		      s->p.n_chains ? " with these chains" : "");
}
