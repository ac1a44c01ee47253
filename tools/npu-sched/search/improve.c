/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Improves plans: changes a decision, evaluates the plan, and keeps the change if the plan is
 * better.  The walk that plans transfers decides from the first slice to the last, each as early as
 * it can move and fits (weights/fetch.c).  Where memory is scarce, a slice that saves little for
 * its bytes keeps out one that would save more.  Where a plan waits for the memory of constants, a
 * slice that stays in place lets later ones arrive in time.
 */
#include "../weights/transfers.h"
#include "search.h"

#include "base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A plan whose decisions change, one after another, and the best decisions so far. */
struct improvement {
	struct sched *s;
	struct plan *p;
	struct arena *a;
	int64_t most; /* bytes */
	bool trims;   /* fewer bytes are better, too, for as many cycles */
	bool *in_place;
	struct memory_decision memory;
	struct merit merit;
	double ahead; /* cycles from the earliest transfer to its use */
	int64_t need; /* bytes: lower bound of the peak */
	bool is_faster; /* some change was kept */
	int idle; /* tries since the last gain, of the present kind */
	/* state of the kinds */
	double *worth; /* of each slice, rising */
	int at;	       /* index into it; or the first try of another phase */
	int64_t lo, hi; /* limits in bytes */
};

/* Takes the decisions of the plan as the best ones. */
static void
keep(struct improvement *m, struct merit now)
{
	const struct decisions *d = &m->p->decided;
	m->merit = now;
	m->memory = d->memory;
	memcpy(m->in_place, d->in_place, d->n_slices * sizeof(*d->in_place));
	m->ahead = m->p->used_ahead;
	m->need = m->p->need;
}

/* Gives the plan the best decisions again. */
static void
restore(struct improvement *m)
{
	struct decisions *d = &m->p->decided;
	decide_memory(m->p, m->memory);
	memcpy(d->in_place, m->in_place, d->n_slices * sizeof(*d->in_place));
	m->p->least_cycles = 0;
}

/* ---- kinds of changes: change i of a kind, counted from 0; false: there are no more ---- */

/* for qsort */
static int
compare_worths(const void *x, const void *y)
{
	const double *a = x, *b = y;
	return (*a > *b) - (*a < *b);
}

/*
 * Within a limit: the slice of the least slice_worth() stays in place, then the two least, and so
 * on, a sixteenth more of them each time.
 */
static bool
change_least(struct improvement *m, int i)
{
	enum { EACH = 16, PATIENCE = 8 };
	struct plan *p = m->p;
	const int n = (int)p->n_slices;
	if (!i) {
		m->worth = anew(m->a, double, (size_t)n + 1);
		for (int k = 0; k < n; k++)
			m->worth[k] = slice_worth(p, k);
		qsort(m->worth, (size_t)n, sizeof(*m->worth), compare_worths);
		m->at = 0;
	}
	while (m->at < n && m->worth[m->at] <= 0)
		m->at += 1 + m->at / EACH;
	if (m->at >= n || m->idle >= PATIENCE || m->most == NO_LIMIT_BYTES)
		return false;
	for (int k = 0; k < n; k++)
		decide_slice(p, (size_t)k, slice_worth(p, k) <= m->worth[m->at]);
	m->at += 1 + m->at / EACH;
	return true;
}

/* The decision for slice after slice is inverted, until none makes the plan faster. */
static bool
change_one(struct improvement *m, int i)
{
	enum { MOST = 64 };
	const int n = m->p->n_slices < MOST ? (int)m->p->n_slices : MOST;
	if (m->idle >= n)
		return false;
	decide_slice(m->p, (size_t)(i % n), !m->in_place[i % n]);
	return true;
}

/* Many rectangles are not packed anew, which takes long. */
static void
limit_transfers(struct improvement *m, int64_t limit, double ahead)
{
	decide_memory(m->p, (struct memory_decision){
		.limit = limit, .ahead = ahead, .packing = TRY, .outside = LAST,
		.buffers = m->p->n_rects > MANY_RECTS ? BETWEEN : SUMMED });
}

enum { CLOSE = 1024 }; /* bytes: limits that differ by less are not tried */

/* The limit becomes the least one with which the lower bound of the cycles stays; then, where
 * addresses make the plan slower, a higher one, by halving. */
static bool
change_to_least_limit(struct improvement *m, int i)
{
	struct plan *p = m->p;
	if (!i) {
		limit_transfers(m, NO_LIMIT_BYTES, 0);
		(void)plan_fetches(m->s, p);
		int64_t lo = 0, hi = m->hi = min_i64(p->need, m->memory.limit);
		while (hi - lo > CLOSE) {
			const int64_t mid = lo + (hi - lo) / 2;
			limit_transfers(m, mid, 0);
			if (plan_fetches(m->s, p) <= m->merit.cycles && p->need <= mid)
				hi = p->need;
			else
				lo = mid;
		}
		m->lo = hi;
	} else if (i == 1 && !m->idle) {
		return false;
	} else if (i > 1) {
		if (m->idle)
			m->lo += (m->hi - m->lo) / 2;
		else
			m->hi = m->need;
	}
	limit_transfers(m, i ? m->lo + (m->hi - m->lo) / 2 : m->lo, 0);
	return !i || m->hi - m->lo > CLOSE;
}

/*
 * The time from transfers to their uses grows; then it is a bit less than the best plan uses.  The
 * shortest time need not be best, as transfers delay each other.  Long times take long, as many
 * buffers are live at once.
 */
static bool
change_ahead(struct improvement *m, int i)
{
	enum { LENGTHS = 15, NEAR = 5, PATIENCE = 2 };
	const double shorter = 0.7;
	if (!i) {
		m->at = LENGTHS;
		m->hi = m->need;
	}
	if (i < m->at && m->memory.ahead > 0 && m->idle >= PATIENCE)
		m->at = i;
	limit_transfers(m, m->hi, i < m->at ? m->merit.cycles * pow(shorter, LENGTHS - i)
					    : m->ahead * pow(shorter, 1.0 / NEAR));
	return i < m->at || (m->memory.ahead > 0 && i < m->at + NEAR);
}

/* Packing gets the largest budget. */
static bool
change_packing(struct improvement *m, int i)
{
	struct memory_decision d = m->memory;
	d.packing = d.outside = LAST;
	decide_memory(m->p, d);
	return !i;
}

typedef bool change(struct improvement *m, int i);

/* A list of changes is tried in its order. */
static change *const to_faster[] = { change_least, change_one, NULL };
/* Without a limit, the fastest plan may hold more weights than it needs, and for longer. */
static change *const to_smaller[] = { change_to_least_limit, change_ahead, change_packing, NULL };

static void
improve(struct improvement *m, change *const *kind)
{
	/* smaller gains start no new round: with any, mbv2_int8 on ethos-u85-256 takes 17 % more
	 * instructions for the same plan */
	const double gain = 0.9998;
	for (; *kind; kind++) {
		m->idle = 0;
		for (int i = 0; (*kind)(m, i); i++) {
			const struct merit than = { m->merit.cycles, m->trims ? m->merit.bytes : 0 };
			const struct merit now = evaluate(m->s, m->p, &than);
			const bool better = is_better_merit(now, than) && now.bytes <= m->most;
			const bool gains = better && (m->trims || now.cycles < gain * than.cycles);
			m->idle = gains ? 0 : m->idle + 1;
			m->is_faster |= better;
			if (better)
				keep(m, now);
			else
				restore(m);
		}
		restore(m);
	}
	(void)evaluate(m->s, m->p, NULL);
}

/* A point, and its plan with more weights in place; without a limit, with the least memory with
 * which it stays as fast. */
struct improving {
	const struct front *f;
	const struct point *at;
	struct plan *p;
	bool is_wanted;
};

static void
improve_one(void *ctx, size_t i)
{
	struct improving *m = &((struct improving *)ctx)[i];
	const struct point *at = m->at;
	const bool unlimited = is_unlimited(m->f);
	const struct question *q = &m->f->question;
	struct sched *s = at->variant->s;
	/* the fastest plan may use all of the limit */
	const int64_t most = q->ask == ASK_FASTEST ? max_i64(at->sram, q->within) : at->sram;
	struct improvement l = { .s = s, .p = m->p, .most = most };
	l.a = arena_open();
	l.in_place = anew(l.a, bool, m->p->n_slices + 1);
	keep(&l, (struct merit){ m->p->cycles, peak_of(s, m->p) });
	if (weights_move(s) && m->p->n_slices)
		improve(&l, to_faster);
	m->is_wanted = (l.is_faster || unlimited) && front_wants(m->f, 0, 0, m->p->cycles);
	l.trims = true;
	l.most = l.merit.bytes;
	if (m->is_wanted && unlimited)
		improve(&l, to_smaller);
	arena_close(l.a);
}

/* Adds the plan, which was made from a point, with its decisions.  A limit accepts any; a goal of
 * bytes relies on the bounds of improvements. */
static void
add_improved(struct front *f, const struct improving *m)
{
	struct point q = *m->at;
	q.decisions = m->p->decided;
	q.sram = peak_of(q.variant->s, m->p);
	q.total = total_of(m->p);
	q.cycles = m->p->cycles;
	if (f->question.ask == ASK_FASTEST ||
	    (q.cycles * f->question.improvable >= m->at->cycles &&
	     q.sram + q.sram / IMPROVABLE_SHARE >= m->at->sram))
		front_add(f, &q);
}

enum { CROWD = 8 }; /* points improved at once, by threads, and added in their order */

/*
 * Improves at most CROWD points, and adds the plans that are wanted.  *enough: the first of the
 * points that became as fast as the question asks for; n: none.
 */
static bool
improve_crowd(struct front *f, const struct point *const *v, size_t n, size_t *enough)
{
	enum {
		MOST_KERNELS = 1 << 13, /* of all their plans: limits their memory */
		/* a plan is fitted many times, each as long as the encoding of some thousand
		 * weights for each kernel */
		WEIGHTS = 20000,
	};
	struct improving m[CROWD];
	bool ok = true;
	*enough = n;
	for (size_t done = 0, made; ok && done < n; done += made) {
		size_t kernels = 0;
		int64_t cost[CROWD];
		for (made = 0; ok && done + made < n && kernels < MOST_KERNELS; made++) {
			const struct point *at = v[done + made];
			struct plan *p = make_plan(at->variant, &at->decisions);
			m[made] = (struct improving){ .f = f, .at = at, .p = p };
			ok = p;
			kernels += ok ? p->n_kernels : 0;
			cost[made] = ok ? WEIGHTS * (int64_t)p->n_kernels : 0;
		}
		if (ok)
			threads_for(m->at->variant->s->o->jobs, made, cost, improve_one, m);
		for (size_t i = 0; i < made; i++) {
			if (ok && *enough == n && m[i].p->cycles <= f->question.cycles)
				*enough = done + i;
			if (ok && m[i].is_wanted)
				add_improved(f, &m[i]);
			plan_close(m[i].p);
			variant_rest(m[i].at->variant);
		}
	}
	return ok;
}

/*
 * Improves points by rising bytes and falling cycles, so that the one of the fewest bytes becomes
 * fast enough.  Points of more bytes need less improvement: of up to eight at equal distances, the
 * last one is the fastest; then those are tried between the first one that became fast enough and
 * the one before it.
 */
static bool
improve_to_enough(struct front *f, const struct point *const *v, size_t n)
{
	bool ok = true;
	while (ok && n) {
		const struct point *pick[CROWD];
		const size_t step = (n + CROWD - 1) / CROWD, first = (n - 1) % step;
		size_t made = 0, enough;
		for (size_t i = first; i < n; i += step)
			pick[made++] = v[i];
		ok = improve_crowd(f, pick, made, &enough);
		if (enough == made)
			return ok;
		n = enough ? step - 1 : first;
		v += enough ? first + (enough - 1) * step + 1 : 0;
	}
	return ok;
}

bool
improve_points(struct front *f, const struct point *v, size_t n)
{
	const bool by_bytes = f->question.ask == ASK_FAST_ENOUGH;
	const double improvable = f->question.improvable;
	const size_t most = by_bytes ? n : CROWD;
	const struct point **l = anew(f->a, const struct point *, most + 1);
	bool ok = true;
	for (size_t done = 0, made, enough; ok && done < n;) {
		for (made = 0; done < n && made < most; done++) {
			/* could the point be the answer if it is improved as far as improvement goes? */
			const struct point *p = &v[done];
			if (is_unlimited(f) || front_may_reach(f, p->sram - p->sram / IMPROVABLE_SHARE,
							       0, p->cycles / improvable))
				l[made++] = p;
		}
		ok = by_bytes ? improve_to_enough(f, l, made)
			      : improve_crowd(f, l, made, &enough);
	}
	return ok;
}
