/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides all operations into cascades.  For a limit of memory, the fastest sequence of choices
 * that stays below it is a shortest path.
 */
#include "cascades.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

/*
 * Cycles of a choice if `capacity` bytes are left for its weights; 0: all stay in place.
 * Stripes use the whole weights of an operation all the time.  Without stripes, weights can be
 * cut into slices that are fetched one after the other.
 */
static double
cost_with_capacity(const struct cascade_choice *k, int64_t capacity)
{
	double in_place = k->cost[0], fetched = k->cost[1];
	if (!k->weights || capacity >= k->weights)
		return fetched;
	if (k->rows) {
		for (int i = 0; i < k->n_savings; i++)
			if (k->saving[i].bytes <= capacity) {
				in_place -= k->saving[i].cycles;
				capacity -= k->saving[i].bytes;
			}
		return in_place;
	}
	double share = capacity > 0 ? (double)capacity / (double)k->weights : 0;
	return in_place - (in_place - fetched) * share;
}

static int64_t
choice_bytes(const struct cascade_choice *k, int area, bool slide)
{
	return k->bytes[area] + (slide ? 0 : k->slid[area]);
}

int64_t
cascades_least(struct sched *s, const struct cascades *c)
{
	struct arena *a = arena_open();
	int64_t *peak = anew(a, int64_t, (size_t)s->n_ops + 1);
	peak[0] = c->sums[LIMITED].at_cpu;
	for (int i = 0; i < s->n_ops; i++) {
		peak[i + 1] = INT64_MAX;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct cascade_choice *x = &c->v[k];
			int64_t from = peak[x->first];
			int64_t most = max_i64(x->bytes[LIMITED], from);
			peak[i + 1] = most < peak[i + 1] ? most : peak[i + 1];
		}
	}
	int64_t least = peak[s->n_ops];
	arena_close(a);
	return least;
}

int64_t
cascades_most(const struct cascades *c)
{
	int64_t most = c->whole_peak;
	for (size_t i = 0; i < c->n; i++) {
		const struct cascade_choice *x = &c->v[i];
		most = max_i64(most, choice_bytes(x, LIMITED, false) + x->weights);
	}
	return most;
}

struct division
cascades_choose(struct sched *s, struct arena *list, const struct cascades *c, int64_t limit,
		bool slide, bool in_place)
{
	struct path {
		double cycles;
		int64_t peak;
		int choice;
	};
	struct division d = { .picked = anew(list, int, (size_t)s->n_ops + 1) };
	struct arena *a = arena_open();
	struct path *p = anew(a, struct path, (size_t)s->n_ops + 1);
	p[0].peak = c->sums[LIMITED].at_cpu;
	for (int i = 0; i < s->n_ops; i++) {
		p[i + 1].choice = -1;
		for (int k = c->first_of[i]; k < c->first_of[i + 1]; k++) {
			const struct cascade_choice *x = &c->v[k];
			const struct path *from = &p[x->first];
			const bool is_first = p[i + 1].choice < 0;
			const int64_t bytes = choice_bytes(x, LIMITED, slide);
			if (bytes > limit || p[0].peak > limit || (x->first && from->choice < 0))
				continue;
			if (!is_first &&
			    from->cycles + x->lower_bound * (1 - ROUNDING) > p[i + 1].cycles)
				continue;
			const double cycles = from->cycles +
					      cost_with_capacity(x, in_place ? 0 : limit - bytes);
			const int64_t peak = max_i64(bytes, from->peak);
			if (is_first || cycles < p[i + 1].cycles ||
			    (cycles == p[i + 1].cycles && peak < p[i + 1].peak))
				p[i + 1] = (struct path){ cycles, peak, k };
		}
	}
	for (int area = 0; area < AREAS; area++)
		d.bytes[area] = c->sums[area].at_cpu;
	for (int i = s->n_ops; i > 0 && p[s->n_ops].choice >= 0; i = c->v[d.picked[d.n++]].first) {
		const struct cascade_choice *x = &c->v[p[i].choice];
		d.picked[d.n] = p[i].choice;
		d.slide |= slide && (x->slid[LIMITED] > 0 || x->slid[BESIDE] > 0);
		for (int area = 0; area < AREAS; area++)
			d.bytes[area] = max_i64(d.bytes[area], choice_bytes(x, area, slide));
	}
	arena_close(a);
	return d;
}

double
division_lower_bound(struct sched *s, const struct cascades *c, const struct division *d,
		     enum cut cut)
{
	double sum = 0;
	for (int i = d->n; i-- > 0;) {
		const struct cascade_choice *k = &c->v[d->picked[i]];
		sum += k->rows || k->last > k->first
			       ? k->lower_bound
			       : whole_lower_bound(s, k->first, k->objective, cut);
	}
	return sum * (1 - ROUNDING);
}

void
division_decide(const struct cascades *c, const struct division *d, enum cut cut,
		struct decision *out)
{
	for (int n = d->n; n-- > 0;) {
		const struct cascade_choice *k = &c->v[d->picked[n]];
		for (int i = k->first; i <= k->last; i++)
			out[i] = (struct decision){ .joins = i > k->first, .cut = cut, .objective = k->objective,
						    .rows = k->rows };
	}
}

struct plan *
cascades_take(struct sched *s, struct cascades *all, const struct decision *d, bool slide)
{
	struct plan *p = plan_new(s);
	struct arena *a = arena_open();
	const struct cascade **taken = anew(a, const struct cascade *, (size_t)s->n_ops + 1);
	size_t kernels = 0;
	int n = 0;
	for (int first = 0, last; first < s->n_ops; first = last + 1) {
		for (last = first; last + 1 < s->n_ops && d[last + 1].joins;)
			last++;
		/* each cascade and its kernels are made once */
		const struct decision *x = &d[last];
		const int32_t key[] = { first, last, x->rows, (int32_t)x->objective };
		void **at = hash_table_at(&all->made, hash_xxh3(key, sizeof(key)));
		struct cascade *c = *at;
		if (!c) {
			c = *at = anew(all->a, struct cascade, 1);
			*c = (struct cascade){ .first = first, .last = last, .rows = x->rows,
					       .objective = x->objective };
			c->stripe = anew(all->a, int32_t, (size_t)(last - first) + 1);
			(void)cascade_price(s, c);
			cascade_run(s, all->a, c, true);
		}
		taken[n++] = c;
		kernels += c->n_kernels;
	}
	p->decided.slide = slide;
	if (s->n_ops)
		memcpy(p->decided.op, d, (size_t)s->n_ops * sizeof(*d));
	p->kernel = anew(p->a, struct kernel, kernels + 1);
	for (int k = 0; k < n; k++) {
		const struct cascade *c = taken[k];
		for (size_t i = 0; i < c->n_kernels; i++) {
			const struct stripe *x = &c->kernel[i];
			p->kernel[p->n_kernels++] = (struct kernel){
				.op = x->op, .links = c->rows ? 0 : c->last - c->first,
				.objective = c->objective, .rows = { .lo = x->lo, .hi = x->hi },
				.depth = { .hi = s->info[x->op].op->ofm.shape.c }, .slice = -1,
			};
		}
		for (int i = c->first; i <= c->last; i++) {
			const bool over = i == c->last && (slide || !c->lead);
			p->over[i] = over ? c->over : NULL;
			p->lead[i] = c->lead;
			p->stripe[i] = c->rows ? c->stripe[i - c->first] : 0;
			p->rolling[i] = c->rows && i < c->last ? c->rolling[i - c->first] : 0;
		}
	}
	for (size_t i = 0; i < all->slides.n; i++) {
		const struct slide *x = &all->slides.v[i];
		p->over[x->first] = x->from;
		p->lead[x->first] = x->lead;
	}
	arena_close(a);
	make_slices(s, p);
	return p;
}
