/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a cascade in stripes of rows.  Each operation advances when a later one needs its rows.
 * Between operations, only rows that will still be read are kept.  A cascade may have branches
 * that end inside.
 */
#include "cascades.h"

#include "emit/emit.h"
#include "graph/facts.h"

#include <math.h>

struct run {
	struct sched *s;
	struct arena *a;
	struct cascade *c;
	int32_t *done; /* of each operation: rows of its OFM that exist */
	/* of each operation: rows of its IFM that the next stripe reads */
	struct emit_rows *next;
	int32_t *low; /* of each operation: lowest row that the last stripe read */
	bool kernels; /* list the kernels */
	size_t cap;
	struct kept kept;
};

/* The operand that is a feature map over which the last OFM may be written. */
static const struct g_operand *
ending_operand(const struct sched *s, const struct cascade *c, const struct ending *e)
{
	const struct g_op *op = s->info[c->first + e->op].op;
	return e->operand ? &op->ifm2 : &op->ifm;
}

static int32_t
height(const struct run *r, int i)
{
	return r->s->info[r->c->first + i].op->ofm.shape.h;
}

/* The producer, inside the cascade, of operand k of operation i; -1: none. */
static int
inside(const struct sched *s, const struct cascade *c, int i, int k)
{
	int p = s->info[c->first + i].producer[k];
	return p >= c->first && p < c->last ? p - c->first : -1;
}

static bool
is_copy(const struct run *r, int i)
{
	return op_is_transfer(r->s->info[r->c->first + i].op->kind);
}

/*
 * The lowest row of the OFM of operation p that the cascade will still read.  If either the
 * producer or a reader is a transfer, both run at the same time: then rows that are being read
 * count, too.
 */
static int32_t
still_wanted(const struct run *r, int p)
{
	int n = r->c->last - r->c->first + 1;
	int32_t low = INT32_MAX;
	for (int i = p + 1; i < n; i++)
		for (int k = 0; k < 2; k++) {
			if (inside(r->s, r->c, i, k) != p)
				continue;
			bool apart = is_copy(r, p) != is_copy(r, i);
			int32_t at = apart && r->low[i] < r->next[i].lo ? r->low[i]
									: r->next[i].lo;
			low = at < low ? at : low;
		}
	return low;
}

static struct g_range
next_stripe(const struct run *r, int i)
{
	int32_t hi = r->done[i] + r->c->stripe[i];
	return (struct g_range){ .lo = r->done[i],
				 .hi = hi < height(r, i) ? hi : height(r, i) };
}

/*
 * Called before rows of the last OFM are written.  That OFM must begin so far before a dying
 * feature map that it overwrites no row of this map which may still be read or is being read.
 * Kernels in flight are assumed to be at their last stripe.
 */
static void
keep_clear(struct run *r, struct g_range rows, int32_t reading)
{
	const struct g_tensor *o = r->s->info[r->c->last].op->ofm.t;
	int64_t row = tensor_bytes(o) / o->hwc.h;
	int n = r->c->last - r->c->first + 1;
	for (int d = 0; d < r->kept.n_endings; d++) {
		struct ending *x = &r->kept.ending[d];
		const struct g_tensor *t = ending_operand(r->s, r->c, x)->t;
		int32_t low = INT32_MAX;
		for (int i = 0; i < n; i++) {
			const struct g_op *op = r->s->info[r->c->first + i].op;
			if (op->ifm.t != t && op->ifm2.t != t)
				continue;
			int32_t at = i == n - 1 ? reading : r->low[i];
			low = at < low ? at : low;
		}
		int64_t lead = rows.hi * row - low * (tensor_bytes(t) / t->hwc.h);
		if (lead > x->lead)
			x->lead = lead;
	}
}

/* Lists the kernel of these rows, if kernels are wanted. */
static void
add_kernel(struct run *r, int i, struct g_range rows)
{
	struct cascade *c = r->c;
	if (!r->kernels)
		return;
	c->kernel = arena_grow(r->a, c->kernel, c->n_kernels, &r->cap,
			       sizeof(*c->kernel));
	c->kernel[c->n_kernels++] = (struct stripe){ .op = c->first + i, .lo = (int32_t)rows.lo,
						     .hi = (int32_t)rows.hi };
}

static struct emit_rows
next_rows(const struct run *r, int i)
{
	if (r->done[i] == height(r, i))
		return (struct emit_rows){ .lo = INT32_MAX };
	return emit_ifm_rows(r->s->info[r->c->first + i].op, next_stripe(r, i));
}

/*
 * Rows of producer p that must exist before operation i runs its next stripe.  Copies are a
 * stripe ahead, so that they move while that runs.
 */
static int32_t
rows_before(const struct run *r, int i, int p)
{
	struct g_range rows = next_stripe(r, i);
	if (!is_copy(r, p) || rows.hi == height(r, i))
		return r->next[i].hi;
	rows.lo = rows.hi;
	rows.hi += r->c->stripe[i];
	rows.hi = rows.hi < height(r, i) ? rows.hi : height(r, i);
	return emit_ifm_rows(r->s->info[r->c->first + i].op, rows).hi;
}

/* Runs stripes of operation i until `upto` rows of its OFM exist. */
static void
advance(struct run *r, int i, int32_t upto)
{
	bool last = r->c->first + i == r->c->last;
	while (r->done[i] < upto) {
		struct g_range rows = next_stripe(r, i);
		struct emit_rows in = r->next[i];
		for (int k = 0; k < 2; k++) {
			int p = inside(r->s, r->c, i, k);
			if (p >= 0)
				advance(r, p, rows_before(r, i, p));
		}
		add_kernel(r, i, rows);
		r->done[i] = (int32_t)rows.hi;
		r->low[i] = in.lo;
		if (last) {
			keep_clear(r, rows, in.lo);
		} else { /* all rows from the lowest that will still be read are kept meanwhile */
			const int32_t lo = min_i32(still_wanted(r, i), (int32_t)rows.lo);
			r->kept.rolling[i] = max_i32(r->kept.rolling[i], (int32_t)rows.hi - lo);
		}
		r->next[i] = next_rows(r, i);
	}
}

bool
dies_with(const struct sched *s, const struct g_tensor *t, int last)
{
	if (tensor_is_output(t))
		return false;
	const struct use *u = &s->use[t->rec.index];
	return u->last_touch <= last && !u->leaves &&
	       u->last_in <= s->info[last].node;
}

bool
may_share_bytes(const struct g_tensor *t, const struct g_tensor *o)
{
	return !tensor_is_const(t) && !t->variable && !o->variable && t != o &&
	       !tensor_has_strides(t) && !tensor_has_strides(o) &&
	       t->area == o->area && !G_HAS(t, G_TENSOR_at) &&
	       !G_HAS(o, G_TENSOR_at);
}

/* May the cascade's last OFM be written over t?  Not if the OFM holds values before t dies; nor if
 * the cascade reads t in part, or broadcast, as a late block may need bytes that an early one
 * overwrote. */
static bool
can_cover(const struct sched *s, const struct cascade *c, const struct g_tensor *t)
{
	const struct g_tensor *o = s->info[c->last].op->ofm.t;
	if (!may_share_bytes(t, o) || s->use[o->rec.index].first_touch != c->last ||
	    !dies_with(s, t, c->last))
		return false;
	for (int i = c->first; i <= c->last; i++) {
		const struct g_op *op = s->info[i].op;
		if ((op->ifm.t == t && !operand_has_rows(&op->ifm)) ||
		    (op->ifm2.t == t && !operand_has_rows(&op->ifm2)))
			return false;
	}
	return true;
}

/* Lists feature maps from outside the cascade, whether they die in it or not, which depends on
 * the variant. */
static void
list_endings(struct run *r)
{
	struct kept *x = &r->kept;
	for (int i = r->c->first; i <= r->c->last; i++) {
		const struct g_operand *in[2] = { &r->s->info[i].op->ifm,
						  &r->s->info[i].op->ifm2 };
		for (int k = 0; k < 2; k++) {
			struct ending e = { .op = i - r->c->first, .operand = k };
			const struct g_tensor *t = in[k]->t;
			bool found = !t || inside(r->s, r->c, e.op, k) >= 0 ||
				     !operand_has_rows(in[k]) || t->hwc.h < 2;
			for (int d = 0; !found && d < x->n_endings; d++)
				found = ending_operand(r->s, r->c, &x->ending[d])->t == t;
			if (!found)
				x->ending[x->n_endings++] = e;
		}
	}
}

/* Puts a whole elementwise result exactly over an operand of the same shape, type and layout,
 * which no operation of a chain touches before the last one. */
static void
replace_operand(struct sched *s, struct cascade *c)
{
	const struct op_info *f = &s->info[c->last];
	const struct g_operand *in[2] = { &f->op->ifm, &f->op->ifm2 };
	const struct g_tensor *o = f->op->ofm.t;
	if (!op_is_elementwise(f->op->kind) || f->op->ofm.view != VIEW_WHOLE)
		return;
	for (int k = 0; k < 2 && !c->over; k++) {
		struct g_tensor *t = in[k]->t;
		bool touched = false;
		for (int i = c->first; i < c->last; i++) {
			const struct g_op *op = s->info[i].op;
			touched |= op->ifm.t == t || op->ifm2.t == t || op->ofm.t == t;
		}
		if (t && !touched && in[k]->view == VIEW_WHOLE && in[k]->type == f->op->ofm.type &&
		    hwc_equal(t->hwc, o->hwc) && t->layout == o->layout && can_cover(s, c, t))
			c->over = t;
	}
}

bool
cascade_price(struct sched *s, struct cascade *c)
{
	const int n = c->last - c->first + 1;
	if (!c->rows && n > 1) { /* a chain, whose kernel must take no longer than its operations */
		const struct g_op *lead = s->info[c->first].op;
		struct weights_size w = whole_size(s, c->first);
		struct kernel k = { .op = c->first, .links = n - 1,
				    .objective = c->objective, .slice = -1,
				    .rows = { .hi = lead->ofm.shape.h },
				    .depth = { .hi = lead->ofm.shape.c } };
		double alone = 0;
		if (!stripe_cost(s, &k, lead->ofm.shape.h, w.stream, w.scales))
			return false;
		for (int i = c->first; i <= c->last; i++) {
			const struct cached_stripe_cost *b =
				op_cost(s, i, s->info[i].op->ofm.shape.h, c->objective);
			alone += b ? b->paced[FETCHED] : INFINITY;
		}
		c->cost[0] = paced_cost(s, k.cost[IN_PLACE]);
		c->cost[1] = paced_cost(s, k.cost[FETCHED]);
		c->lower_bound = least_cost(&k);
		return c->cost[1] <= alone;
	}
	/* rows per stripe of each operation, from the last to the first; rows 0: all in one */
	for (int i = 0; i < n; i++)
		c->stripe[i] = 1;
	c->stripe[n - 1] = c->rows ? c->rows : s->info[c->last].op->ofm.shape.h;
	for (int i = n - 1; i >= 0; i--) {
		const struct g_op *op = s->info[c->first + i].op;
		for (int k = 0; k < 2; k++) {
			const int p = inside(s, c, i, k);
			if (p >= 0)
				c->stripe[p] = max_i32(c->stripe[p], c->stripe[i] * op->stride.y);
		}
		c->stripe[i] = min_i32(c->stripe[i], op->ofm.shape.h);
	}
	c->cost[0] = c->cost[1] = c->lower_bound = 0;
	for (int i = 0; i < n; i++) {
		const struct cached_stripe_cost *b = op_cost(s, c->first + i, c->stripe[i],
							     c->objective);
		if (!b)
			return false;
		c->cost[0] += b->paced[0];
		c->cost[1] += b->paced[1];
		c->lower_bound += b->cost[0] < b->cost[1] ? b->cost[0] : b->cost[1];
	}
	c->lower_bound += leading_copy(s, c->first, c->stripe[0]);
	if (!c->rows)
		c->lower_bound = whole_lower_bound(s, c->first, c->objective, ANY_CUT);
	const double kernels[2] = { c->cost[0], c->cost[1] };
	for (int i = 0; i < n; i++) {
		const struct g_op *op = s->info[c->first + i].op;
		if (!op_is_transfer(op->kind))
			continue;
		/* what kernels do not hide of a copy: the first stripe, or the excess over them */
		const int32_t h = op->ofm.shape.h, stripe = c->stripe[i];
		const double first = copy_transfer(s, op, stripe);
		const double all = first * (h / stripe) +
				   (h % stripe ? copy_transfer(s, op, h % stripe) : 0);
		for (int k = 0; k < 2; k++)
			c->cost[k] += fmax(all - kernels[k], first);
	}
	return true;
}

static void
run_in_stripes(struct run *r)
{
	struct cascade *c = r->c;
	int n = c->last - c->first + 1;
	r->kept.n_ops = n;
	r->kept.rolling = anew(r->a, int32_t, (size_t)n);
	r->kept.ending = anew(r->a, struct ending, 2 * (size_t)n);
	r->done = anew(r->a, int32_t, (size_t)n);
	r->next = anew(r->a, struct emit_rows, (size_t)n);
	r->low = anew(r->a, int32_t, (size_t)n);
	for (int i = 0; i < n; i++)
		r->next[i] = next_rows(r, i);
	list_endings(r);
	advance(r, n - 1, height(r, n - 1));
	/* A pool or a convolution may read none of the last rows of its IFM.  These rows are
	 * written at the end, when their rolling buffer holds nothing else. */
	for (int i = n - 2; i >= 0; i--)
		advance(r, i, height(r, i));
	/* a transfer moves contiguous rows: rolling buffers hold whole stripes of copies */
	for (int i = 0; i + 1 < n; i++)
		for (int k = i; k < n; k++)
			if (is_copy(r, k) && (k == i || inside(r->s, c, k, 0) == i))
				r->kept.rolling[i] = (int32_t)round_up_i64(r->kept.rolling[i],
									   c->stripe[k]);
}

void
cascade_run(struct sched *s, struct arena *a, struct cascade *c, bool kernels)
{
	struct run r = { .s = s, .a = a, .c = c, .kernels = kernels };
	c->kernel = NULL;
	c->n_kernels = 0;
	c->over = NULL;
	c->lead = 0;
	c->rolling = anew(a, int32_t, (size_t)(c->last - c->first) + 1);
	if (c->rows) {
		/* the rows that the cascade keeps are cached; its kernels are not */
		void **found = kernels ? NULL : kept_at(s, c);
		const struct kept *kept = found ? *found : NULL;
		if (!kept) {
			run_in_stripes(&r);
			kept = &r.kept;
			if (found)
				*found = copy_kept(s, kept);
		}
		/* the feature map over which the last OFM saves most bytes */
		const int64_t to = tensor_bytes(s->info[c->last].op->ofm.t);
		int64_t best = 0;
		for (int d = 0; d < kept->n_endings; d++) {
			struct g_tensor *t = ending_operand(s, c, &kept->ending[d])->t;
			const int64_t lead = round_up_i64(kept->ending[d].lead, 16);
			const int64_t from = tensor_bytes(t);
			const int64_t saved = from + to - max_i64(from + lead, to);
			if (saved <= best || !can_cover(s, c, t))
				continue;
			best = saved;
			c->over = t;
			c->lead = lead;
		}
		for (int i = 0; i < c->last - c->first; i++)
			c->rolling[i] = kept->rolling[i];
		return;
	}
	if (kernels) {
		c->kernel = anew(a, struct stripe, 1);
		r.cap = 1;
	}
	add_kernel(&r, 0, (struct g_range){ .lo = 0, .hi = height(&r, 0) });
	replace_operand(s, c);
}
