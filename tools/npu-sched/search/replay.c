/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the plan of --plan from its decisions, without a search, after checking each of them. */
#include "../network/copies.h"
#include "../network/plan_text.h"
#include "graph/facts.h"
#include "run.h"

#include <inttypes.h>
#include <string.h>

#define REFUSE(s, r, ...) plan_err((s)->plan_input, r, (s)->e, __VA_ARGS__)

/* The line of the operation at a position. */
static const struct plan_op *
line_at(const struct sched *s, int at)
{
	return &s->plan_input->op[at];
}

/* Is the line about this operation? */
static bool
check_op(const struct sched *s, const struct plan_op *x, const struct g_op *op)
{
	const char *name = op->name ? op->name : "";
	const bool own = op->weights && !G_HAS(op->weights, G_WEIGHTS_at);
	if (PLAN_HAS(x, PLAN_OP_kind) && x->kind != (int)op->kind)
		return REFUSE(s, x, "o%d of the network is %s, not %s", x->rec.id,
			      op_names[op->kind], op_names[x->kind]);
	if (PLAN_HAS(x, PLAN_OP_ofm) && !hwc_equal(x->ofm, op->ofm.shape))
		return REFUSE(s, x, "o%d of the network makes %dx%dx%d, not %dx%dx%d", x->rec.id,
			      op->ofm.shape.h, op->ofm.shape.w, op->ofm.shape.c, x->ofm.h, x->ofm.w,
			      x->ofm.c);
	if (PLAN_HAS(x, PLAN_OP_name) && strcmp(x->name, name) != 0)
		return REFUSE(s, x, "o%d of the network is named '%s', not '%s'", x->rec.id, name,
			      x->name);
	return own || (!x->decided.cut && !x->fetch.n) ||
	       REFUSE(s, x, "o%d has no weights of which slices= and fetch= could decide", x->rec.id);
}

/* Finds the operations of all lines, in their order; NULL: an error. */
static int *
take_order(struct sched *s)
{
	const struct plan_text *t = s->plan_input;
	int *order = anew(s->a, int, (size_t)s->n_ops + 1), *of = anew(s->a, int, t->n_ops + 1);
	if (PLAN_HAS(&t->network, PLAN_NETWORK_ops) && t->network.ops != s->n_ops)
		return REFUSE(s, &t->network, "the network has %d operations, the plan has %d",
			      s->n_ops, t->network.ops), NULL;
	for (size_t i = 0; i < t->n_ops; i++)
		of[i] = -1;
	for (int i = 0; i < s->n_ops; i++) {
		const struct g_op *op = s->info[i].op;
		const struct plan_op *x = plan_line(t, op);
		if (!x)
			return REFUSE(s, &t->network, "the plan has no line for o%d (%s)", op->rec.id,
				      op->name ? op->name : op_names[op->kind]), NULL;
		if (!check_op(s, x, op))
			return NULL;
		of[x - t->op] = i;
	}
	for (size_t i = 0; i < t->n_ops; i++) {
		if (of[i] < 0)
			return REFUSE(s, &t->op[i], "the network has no operation o%d",
				      t->op[i].rec.id), NULL;
		order[i] = of[i];
	}
	const int wrong = order_obstacle(s, order);
	if (wrong >= 0)
		return REFUSE(s, line_at(s, wrong), "o%d cannot run here: it needs results of later "
			      "lines, or its order is fixed", line_at(s, wrong)->rec.id), NULL;
	return order;
}

/* Takes layout and area of the tensor that an operation writes.  first: line of the first
 * operation that writes each tensor. */
static bool
take_map(const struct sched *s, const struct variant *v, int at, const struct plan_op **first)
{
	struct g_tensor *t = v->s->info[at].op->ofm.t;
	const struct g_tensor *was = s->g->tensors[t->rec.index];
	const struct plan_op *x = line_at(s, at), **y = &first[t->rec.index];
	const int layout = PLAN_HAS(x, PLAN_OP_layout) ? x->layout : t->layout;
	const int area = PLAN_HAS(x, PLAN_OP_area) ? x->area : t->area;
	if (*y && (layout != t->layout || area != t->area))
		return REFUSE(s, x, "o%d writes the feature map of line %u, which has another layout "
			      "or area", x->rec.id, (*y)->rec.line);
	*y = x;
	bool is_copied = false; /* operands of copies do not leave (spill.c) */
	for (int i = 0; area != was->area && i < v->s->n_ops; i++) {
		const struct g_op *op = v->s->info[i].op;
		is_copied |= op->kind == OP_COPY && (op->ifm.t == t || op->ofm.t == t);
	}
	if (layout != was->layout && layout != LAYOUT_NHWC)
		return REFUSE(s, x, "the result of o%d has to be nhwc", x->rec.id);
	if (area != was->area && (was->area != PLACE_CACHE || area != PLACE_ARENA || is_copied))
		return REFUSE(s, x, "the result of o%d has to be in the area %s", x->rec.id,
			      place_names[was->area]);
	t->layout = layout;
	t->area = area;
	return true;
}

/* Takes the decisions about operations. */
static bool
take_cascades(struct variant *v, struct decision *d)
{
	struct sched *s = v->s;
	if (s->n_ops && line_at(s, 0)->decided.joins)
		return REFUSE(s, line_at(s, 0), "the first operation has none before it to join");
	for (int first = 0, last; first < s->n_ops; first = last + 1) {
		for (last = first; last + 1 < s->n_ops && line_at(s, last + 1)->decided.joins;)
			last++;
		const struct plan_op *x = line_at(s, last);
		for (int i = first; i <= last; i++) {
			const struct plan_op *y = line_at(s, i);
			if (i < last && (y->decided.rows || y->decided.objective))
				return REFUSE(s, y, "rows= and blocks= belong to the last line of a "
					      "cascade, that of o%d", x->rec.id);
			d[i] = x->decided;
			d[i].joins = i > first;
			d[i].cut = y->decided.cut;
		}
		const char *why = cascade_obstacle(s, v->cascades, first, last, d[last]);
		if (why)
			return REFUSE(s, x, "o%d to o%d cannot run so: %s", line_at(s, first)->rec.id,
				      x->rec.id, why);
	}
	return true;
}

/* Takes the decisions about slices. */
static bool
take_slices(const struct sched *s, struct plan *p)
{
	struct arena *a = arena_open();
	int *n = anew(a, int, (size_t)s->n_ops + 1);
	bool ok = true;
	for (size_t i = 0; i < p->n_slices; i++) {
		const int op = p->slice[i].op, k = n[op]++;
		const struct g_list *l = &line_at(s, op)->fetch;
		if (l->n)
			decide_slice(p, i, !l->v[l->n == 1 || (size_t)k >= l->n ? 0 : k]);
	}
	for (int i = 0; ok && i < s->n_ops; i++) {
		const struct plan_op *x = line_at(s, i);
		if (x->decided.cut && !p->cut_points[i].n)
			ok = REFUSE(s, x, "the weights of o%d cannot be cut: in stripes or a chain, or "
				    "few", x->rec.id);
		else if (x->fetch.n > 1 && x->fetch.n != (size_t)n[i])
			ok = REFUSE(s, x, "fetch= has %zu slices, but o%d is the first to use %d",
				    x->fetch.n, x->rec.id, n[i]);
	}
	arena_close(a);
	return ok;
}

/* Makes the plan in its variant; NULL: an error. */
static struct plan *
plan_of_text(struct variant *v)
{
	struct sched *s = v->s;
	struct decisions d = { .n_ops = s->n_ops, .slide = s->plan_input->memory.slide };
	d.op = anew(v->a, struct decision, (size_t)s->n_ops + 1);
	find_works(s);
	v->cascades = cascades_open(s);
	struct plan *p = take_cascades(v, d.op) ? plan_kernels(v, &d) : NULL;
	if (!p || !take_slices(s, p))
		return plan_close(p), NULL;
	const struct plan_memory *x = &s->plan_input->memory;
	struct memory_decision m = x->decided;
	if (!PLAN_HAS(x, PLAN_MEMORY_limit))
		m.limit = NO_LIMIT_BYTES;
	if (!PLAN_HAS(x, PLAN_MEMORY_outside))
		m.outside = TRY;
	fit_kernels(v, p, m);
	return p;
}

bool
replay_plan(struct sched *s)
{
	const struct plan_text *t = s->plan_input;
	if (s->copies) { /* those by DMA that have lines */
		for (size_t i = 0; i < s->copies->n; i++)
			s->copies->v[i].pays = plan_line(t, s->copies->v[i].op) != NULL;
		use_copies(s, true);
		study_ops(s);
	}
	const int *order = take_order(s);
	if (!order)
		return false;
	s->effort_step = t->memory.effort;
	struct variant *v = variant_open(s, order);
	const struct plan_op **first = anew(v->a, const struct plan_op *, s->g->n_tensors + 1);
	v->setting.copies = true;
	bool ok = true;
	for (int i = 0; ok && i < s->n_ops; i++)
		ok = take_map(s, v, i, first);
	struct plan *p = ok ? plan_of_text(v) : NULL;
	const int64_t limit = limit_of(s->memory.cache_bytes), peak = p ? peak_of(s, p) : 0;
	ok = p && (peak <= limit ||
		   err_no(s->e, t->file, t->memory.rec.line, "the plan needs %" PRId64 " bytes of %s, "
			  "more than the limit of %" PRId64, peak, limited_memory(s), limit));
	if (ok)
		variant_adopt(s, v, p);
	else
		plan_close(p);
	variant_close(v);
	return ok;
}
