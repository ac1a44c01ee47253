/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the operators that compute in 16 bits: those that the user names, and the fewest
 * that keep the loss of accuracy below a limit.
 */
#include "quantize.h"

#include "base/cli.h"
#include "base/text.h"

#include <fnmatch.h>
#include <string.h>

/* ---- --keep-int16 ------------------------------------------------------------------- */

static bool
matches(const char *pattern, const struct tfl_subgraph *g, int op)
{
	const struct tfl_op *o = &g->op[op];
	if (!strcmp(pattern, tfl_op_label(o)) || !fnmatch(pattern, tfl_op_label(o), 0))
		return true;
	for (int k = 0; k < o->n_out; k++) {
		const char *name = g->tensor[o->out[k]].name;
		if (!strcmp(pattern, name) || !fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

static bool
widen_named(const struct options *o, const struct tfl_model *m, const struct op_plan *plan,
	    bool *wide, struct err *e)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	for (int p = 0; p < o->n_wide; p++) {
		int narrow = -1, n = 0;
		for (int i = 0; i < g->n_ops; i++) {
			if (!matches(o->wide[p], g, i))
				continue;
			if (!plan[i].has_16)
				narrow = i;
			n += plan[i].has_16;
			wide[i] |= plan[i].has_16;
		}
		if (!n && narrow >= 0)
			return err_at(e, m->name, 0, "--keep-int16=%s: operator %d (%s) has no "
				      "INT16 version", o->wide[p], narrow,
				      tfl_op_label(&g->op[narrow]));
		if (!n)
			return err_at(e, m->name, 0, "--keep-int16=%s: no operator or tensor has "
				      "this name", o->wide[p]);
	}
	return true;
}

/* ---- --accuracy --------------------------------------------------------------------- */

struct search {
	const struct options *o;
	const struct tfl_model *m;
	const struct op_plan *plan;
	const struct ranges *ranges;
	struct figures f;
	int *candidate; /* operators, the noisiest first */
	int n;
	bool *wide; /* one per operator: the choice */
};

/* Measures the loss of the choice; details: also the noise of each operator. */
static bool
try_choice(struct search *s, bool details, double *loss, struct err *e)
{
	struct arena *a = arena_open();
	struct result r;
	bool ok = make_result(a, s->o, s->m, s->plan, s->ranges, s->wide, &r, e) &&
		  compare_networks(s->o, s->m, s->plan, &r,
				   details ? COMPARE_TENSORS : COMPARE_ANSWERS, 0, 0, &s->f, e);
	arena_close(a);
	*loss = 0;
	if (!ok)
		return false;
	/* the part of the samples that the integer network answers wrongly, in percent */
	const struct figures *f = &s->f;
	size_t n = f->labelled ? f->labelled : f->n;
	double before = (double)(f->labelled ? f->right_float : f->n);
	double after = (double)(f->labelled ? f->right_integer : f->equal);
	*loss = n ? 100 * (before - after) / (double)n : 0;
	/* only now it is known which samples have labels */
	if (f->has_answers)
		return true;
	if (answers_of(s->m, s->plan) == ANSWERS_OF_LABELLED && !f->labelled)
		return err_at(e, s->m->name, 0, "--accuracy counts right answers, which an output "
			      "of shape %s has only for samples with labels: use --labels=FILE, or "
			      "--keep-int16=PATTERN", output_shape(f->a, s->m));
	return err_at(e, s->m->name, 0, "--accuracy: output 0 has no values that can be compared");
}

static void
choose_first(struct search *s, int n)
{
	for (int i = 0; i < s->n; i++)
		s->wide[s->candidate[i]] = i < n;
}

static bool
reach_accuracy(struct arena *a, struct search *s, struct err *e)
{
	enum { TRIALS = 32 };
	const struct tfl_subgraph *g = &s->m->subgraph[0];
	const double most_loss = s->o->most_loss;
	double loss, all;
	if (answers_of(s->m, s->plan) == ANSWERS_NONE)
		return err_at(e, s->m->name, 0, "--accuracy counts right answers, but output 0 of shape %s "
			      "is not one vector of classes: choose the operators by their noise, which "
			      "--report shows, with --keep-int16=PATTERN", output_shape(s->f.a, s->m));
	if (!try_choice(s, true, &loss, e))
		return false;
	if (loss > most_loss) {
		/* all candidates together */
		int n_ranked;
		const int *rank = rank_operators(a, s->m, s->plan, &s->f, &n_ranked);
		s->candidate = anew(a, int, (size_t)n_ranked + 1);
		for (int i = 0; i < n_ranked; i++)
			if (s->plan[rank[i]].has_16 && !s->wide[rank[i]])
				s->candidate[s->n++] = rank[i];
		choose_first(s, s->n);
		if (!try_choice(s, false, &all, e))
			return false;
		if (all > most_loss)
			return err_no(e, s->m->name, 0, "no choice of operators in 16 bits "
				      "keeps the loss below %.3g %%: it is %.3g %% in 8 bits, "
				      "and %.3g %% with all %d operators in 16 bits",
				      most_loss, loss, all, s->n);
		/* the least number of the noisiest operators that is enough */
		int few = 0, enough = s->n;
		while (enough - few > 1) {
			int middle = few + (enough - few) / 2;
			choose_first(s, middle);
			if (!try_choice(s, false, &loss, e))
				return false;
			if (loss <= most_loss)
				enough = middle;
			else
				few = middle;
		}
		choose_first(s, enough);
		/* take back operators that the others can do without, the least noisy first */
		for (int i = enough - 1, k = 0; i >= 0 && k < TRIALS; i--, k++) {
			s->wide[s->candidate[i]] = false;
			if (!try_choice(s, false, &loss, e))
				return false;
			s->wide[s->candidate[i]] = loss > most_loss;
		}
		if (!try_choice(s, false, &loss, e))
			return false;
	}
	struct text t = { 0 };
	int n = 0;
	for (int i = 0; i < g->n_ops; i++)
		if (s->wide[i])
			text_printf(&t, "%s %d (%s)", n++ ? "," : ":", i, tfl_op_label(&g->op[i]));
	cli_note_to(e, "note", "%s: a loss of %.3g %% with %d of %d operators in 16 bits%s", s->m->name,
		    loss, n, g->n_ops, text_str(&t));
	text_free(&t);
	return true;
}

bool
choose_wide(struct arena *a, const struct options *o, const struct tfl_model *m,
	    const struct op_plan *plan, const struct ranges *ranges, bool **wide,
	    struct err *e)
{
	struct search s = { .o = o, .m = m, .plan = plan, .ranges = ranges, .f = { .a = a },
			    .wide = anew(a, bool, (size_t)m->subgraph[0].n_ops + 1) };
	*wide = s.wide;
	return widen_named(o, m, plan, s.wide, e) &&
	       (!o->has_limit || reach_accuracy(a, &s, e));
}
