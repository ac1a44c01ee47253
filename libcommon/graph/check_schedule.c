/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a schedule runs every operation completely and once, after the operations
 * whose results it reads.  The steps are visited in the order of the command streams,
 * node by node; for each operation the finished rows are counted.  The memory needed is
 * proportional to the number of steps.
 */
#include "graph/check.h"

#include "base/fixed.h"
#include "graph/facts.h"

#include <inttypes.h>

enum { OPERANDS = 3 };

struct order {
	struct check *c;
	const struct graph *g;
	const struct g_op **op;	    /* sorted by node */
	const struct g_step **step; /* sorted by node */
	int64_t *place;		    /* index into op[] of each operation of the graph */
	int32_t **done;		    /* finished rows of each slice of an operation */
	int *slices, *open;	    /* of an operation: number of slices, of unfinished
				     * slices */
	struct touches {
		const struct g_op **op; /* in the order of order.op */
		size_t n, first_open;
	} *touch; /* operations that access each tensor */
	struct loaded {
		const struct g_weights *weights;
		int32_t slice;
		int64_t bytes; /* loaded bytes, from the first on */
	} *loaded; /* the content of each buffer */
	int64_t time_step; /* time step of the next kernel, as npu-sched counts */
};

static int
count_slices(const struct g_op *op)
{
	return op->weights && op->weights->slices.n ? (int)op->weights->slices.n - 1
						    : 1;
}

/* ---- preparation ----------------------------------------------------------- */

/* stable sort by the index of node(item) */
#define BY_NODE(o, to, from, n_from, node)                                     \
	do {                                                                   \
		size_t *at = anew((o)->c->a, size_t, (o)->g->n_nodes + 2);     \
		for (size_t i = 0; i < (n_from); i++)                          \
			at[(node((from)[i]))->rec.index + 1]++;                \
		for (size_t i = 0; i < (o)->g->n_nodes; i++)                   \
			at[i + 1] += at[i];                                    \
		for (size_t i = 0; i < (n_from); i++)                          \
			(to)[at[(node((from)[i]))->rec.index]++] = (from)[i];  \
	} while (0)

#define OP_NODE(x) (x)->node

/* ---- dependencies of a step --------------------------------------------------- */

/* Returns the rows of an operand that some rows of the OFM depend on. */
static struct g_range
rows_read(const struct g_op *op, const struct g_operand *x, struct g_range ofm)
{
	int32_t h = x->shape.h;
	struct g_range all = { .lo = 0, .hi = h };
	if (op_is_row_by_row(op->kind))
		return h == 1 ? all : ofm;
	if (op->edge.top || op->edge.bottom || op->kind == OP_REDUCE_SUM)
		return all;
	int64_t up = op->upscale == UPSCALE_NONE ? 1 : 2;
	int64_t lo = ofm.lo * op->stride.y - op->pad.top;
	int64_t hi = (ofm.hi - 1) * op->stride.y - op->pad.top + op_dilated(op).y;
	lo = lo > 0 ? lo / up : 0;
	hi = (hi + up - 1) / up;
	return (struct g_range){ .lo = lo, .hi = hi < h ? hi : h };
}

/* lo: rows that all slices have finished; hi: rows that at least one has finished. */
static struct g_range
rows_made(const struct order *o, const struct g_op *op)
{
	const int32_t *done = o->done[op->rec.index];
	struct g_range r = { .lo = done[0], .hi = done[0] };
	for (int i = 1; i < o->slices[op->rec.index]; i++) {
		r.lo = done[i] < r.lo ? done[i] : r.lo;
		r.hi = done[i] > r.hi ? done[i] : r.hi;
	}
	return r;
}

/*
 * Checks the operation `before`, which comes earlier and accesses the same tensor: it
 * must be finished, or have made the rows that this step reads.
 */
static bool
check_before(struct order *o, const struct g_step *s, struct g_range rows,
	     const struct g_op *before, const struct g_operand *x)
{
	const struct g_op *op = s->op;
	const struct g_tensor *t = x->t;
	if (!ops_conflict(before, op, t))
		return true;
	/*
	 * Rows of the operand may be read while later ones are made.  A slice of the channels of a
	 * reshaped tensor is addressed without its rows.
	 */
	bool by_rows = operand_has_rows(x) && (x->view == VIEW_WHOLE || count_slices(op) == 1);
	bool streams = x != &op->ofm && before->ofm.t == t &&
		       operand_has_rows(&before->ofm) && by_rows && op->ofm.t != t;
	if (!streams)
		return BAD(o->c, s, "p%d runs o%d, but o%d, which uses t%d before it, "
			   "has not finished", s->rec.id, op->rec.id,
			   before->rec.id, t->rec.id);
	struct g_range need = rows_read(op, x, rows), made = rows_made(o, before);
	if (need.hi > made.lo)
		return BAD(o->c, s, "p%d: o%d reads rows %" PRId64 ":%" PRId64 " of "
				    "t%d, but o%d has written %" PRId64, s->rec.id,
			   op->rec.id, need.lo, need.hi, t->rec.id,
			   before->rec.id, made.lo);
	return true;
}

static bool
check_needs(struct order *o, const struct g_step *s, struct g_range rows)
{
	for (int k = 0; k < OPERANDS; k++) {
		const struct g_operand *x = operand_ofm_first(s->op, k);
		if (!x->t || tensor_is_const(x->t))
			continue;
		struct touches *v = &o->touch[x->t->rec.index];
		while (v->first_open < v->n && v->op[v->first_open] != s->op &&
		       !o->open[v->op[v->first_open]->rec.index])
			v->first_open++;
		for (size_t i = v->first_open; i < v->n && v->op[i] != s->op; i++)
			if (o->open[v->op[i]->rec.index] &&
			    o->place[v->op[i]->rec.index] <
				    o->place[s->op->rec.index] &&
			    !check_before(o, s, rows, v->op[i], x))
				return false;
		/* a rolling buffer still has the rows that the step reads */
		for (size_t i = 0; k && G_HAS(x->t, G_TENSOR_rows) && i < v->n; i++) {
			if (v->op[i]->ofm.t != x->t)
				continue;
			struct g_range need = rows_read(s->op, x, rows);
			struct g_range made = rows_made(o, v->op[i]);
			if (need.lo < made.hi - x->t->rows)
				return BAD(o->c, s, "p%d: o%d reads rows %" PRId64 ":%" PRId64
						    " of t%d, a rolling buffer of %d rows, after %"
						    PRId64 " are written", s->rec.id, s->op->rec.id,
					   need.lo, need.hi, x->t->rec.id, x->t->rows, made.hi);
		}
	}
	return true;
}

/* ---- live ranges --------------------------------------------------------------- */

static bool
check_live(struct order *o, const struct g_tensor *t, int64_t time_step)
{
	if (!t || !G_HAS(t, G_TENSOR_live) || tensor_is_const(t) ||
	    (t->live.lo <= time_step && time_step <= t->live.hi))
		return true;
	return BAD(o->c, t, "t%d: live=%" PRId64 ":%" PRId64 ", but it is used at %"
		   PRId64, t->rec.id, t->live.lo, t->live.hi, time_step);
}

static bool
check_lives(struct order *o, const struct g_tensors *l, int64_t time_step)
{
	for (size_t i = 0; i < l->n; i++)
		if (!check_live(o, l->v[i], time_step))
			return false;
	return true;
}

static bool
check_buffer_live(struct order *o, const struct g_buffer *b, int64_t time_step)
{
	return !G_HAS(b, G_BUFFER_live) ||
	       (b->live.lo <= time_step && time_step <= b->live.hi) ||
	       BAD(o->c, b, "b%d: live=%" PRId64 ":%" PRId64 ", but it is used at %"
		   PRId64, b->rec.id, b->live.lo, b->live.hi, time_step);
}

/* ---- buffers ---------------------------------------------------------------------- */

/* size of a slice: as encoded, else as planned; 0: not determined yet */
static int64_t
slice_bytes(const struct order *o, const struct g_weights *w, int32_t slice)
{
	int64_t lo = INT64_MAX, hi = 0;
	for (size_t i = 0; i < o->g->n_codes; i++) {
		const struct g_code *c = o->g->codes[i];
		if (c->weights != w || c->slice != slice)
			continue;
		int64_t end = c->weight_bytes.at + c->weight_bytes.bytes;
		lo = c->scale_bytes.at < lo ? c->scale_bytes.at : lo;
		hi = end > hi ? end : hi;
	}
	if (hi > lo)
		return hi - lo;
	return (size_t)slice < w->bytes.n ? w->bytes.v[slice] : 0;
}

static bool
check_fetch(struct order *o, const struct g_step *s)
{
	const struct g_buffer *b = s->buffer;
	for (size_t i = 0; i < o->g->n_buffers; i++) {
		const struct g_buffer *other = o->g->buffers[i];
		if (other != b && other->area == b->area &&
		    spans_overlap(other->at, other->bytes, b->at, b->bytes))
			o->loaded[i].weights = NULL;
	}
	struct loaded *l = &o->loaded[b->rec.index];
	if (l->weights != s->weights || l->slice != s->slice)
		*l = (struct loaded){ .weights = s->weights, .slice = s->slice };
	struct g_range part = { .lo = 0, .hi = slice_bytes(o, s->weights, s->slice) };
	if (G_HAS(s, G_STEP_bytes))
		part = s->bytes;
	if (part.lo <= l->bytes && part.hi > l->bytes)
		l->bytes = part.hi;
	return check_buffer_live(o, b, o->time_step - 1);
}

static bool
check_loaded(struct order *o, const struct g_step *s)
{
	const struct g_buffer *b = s->buffer ? s->buffer : s->scale_buffer;
	if (!b)
		return true;
	const struct loaded *l = &o->loaded[b->rec.index];
	if (!s->op->weights || l->weights != s->op->weights || l->slice != s->slice)
		return BAD(o->c, s, "p%d: b%d does not hold the weights or scales that "
				    "o%d needs", s->rec.id,
			   b->rec.id, s->op->rec.id);
	/* of the slice, or of its scales; 0: not encoded yet */
	int64_t bytes = s->buffer ? slice_bytes(o, l->weights, l->slice) : 0;
	for (size_t i = 0; !s->buffer && i < o->g->n_codes; i++) {
		const struct g_code *c = o->g->codes[i];
		if (c->weights == l->weights && c->slice == l->slice && c->core == 0) {
			bytes = c->scale_bytes.bytes;
			break;
		}
	}
	if (l->bytes < bytes)
		return BAD(o->c, s, "p%d: b%d holds %" PRId64 " of the %" PRId64
			   " bytes that o%d needs", s->rec.id, b->rec.id, l->bytes,
			   bytes, s->op->rec.id);
	return check_buffer_live(o, b, o->time_step);
}

/* ---- all steps in order --------------------------------------------------------------- */

static bool
check_run(struct order *o, const struct g_step *s)
{
	const struct g_op *op = s->op;
	int32_t height = op->ofm.shape.h;
	struct g_range rows = { .lo = 0, .hi = height };
	if (G_HAS(s, G_STEP_rows))
		rows = s->rows;
	int32_t *done = &o->done[op->rec.index][s->slice];
	if (op->chain) /* all operations of a chain run in one time step */
		o->time_step -= 2;
	if (rows.lo != *done)
		return BAD(o->c, s, "p%d: o%d runs rows %" PRId64 ":%" PRId64 ", but "
			   "has run %d of %d", s->rec.id, op->rec.id, rows.lo,
			   rows.hi, *done, height);
	if (!check_needs(o, s, rows) || !check_loaded(o, s))
		return false;
	for (int k = 0; k < OPERANDS; k++)
		if (!check_live(o, operand_ofm_first(op, k)->t, o->time_step))
			return false;
	*done = (int32_t)rows.hi;
	o->open[op->rec.index] -= rows.hi == height;
	o->time_step += 2;
	return true;
}

static bool
walk_nodes(struct order *o)
{
	size_t p = 0;
	for (size_t n = 0; n < o->g->n_nodes; n++) {
		const struct g_node *node = o->g->nodes[n];
		if (!check_lives(o, &node->in, o->time_step))
			return false;
		for (; p < o->g->n_steps && step_node(o->step[p]) == node; p++) {
			const struct g_step *s = o->step[p];
			if ((s->weights && !check_fetch(o, s)) ||
			    (s->op && !check_run(o, s)))
				return false;
		}
		if (node->kind == NODE_CPU)
			o->time_step += 2;
		if (!check_lives(o, &node->out, o->time_step > 2 ? o->time_step - 2 : o->time_step))
			return false;
	}
	return true;
}

bool
check_schedule(struct check *c)
{
	const struct graph *g = c->g;
	struct order order = { .c = c, .g = g, .time_step = 1 }, *o = &order;
	if (g->stage < STAGE_SCHED)
		return true;

	/* the progress of each slice; an operation has at least a step for each */
	int *runs = anew(c->a, int, g->n_ops + 1);
	o->done = anew(c->a, int32_t *, g->n_ops + 1);
	o->slices = anew(c->a, int, g->n_ops + 1);
	o->open = anew(c->a, int, g->n_ops + 1);
	for (size_t i = 0; i < g->n_steps; i++)
		if (g->steps[i]->op)
			runs[g->steps[i]->op->rec.index]++;
	for (size_t i = 0; i < g->n_ops; i++) {
		o->slices[i] = o->open[i] = count_slices(g->ops[i]);
		if (!runs[i])
			return BAD(c, g->ops[i], "no step runs o%d", g->ops[i]->rec.id);
		if (runs[i] < o->slices[i])
			return BAD(c, g->ops[i], "o%d has %d slices, steps run %d",
				   g->ops[i]->rec.id, o->slices[i], runs[i]);
		o->done[i] = anew(c->a, int32_t, (size_t)o->slices[i]);
	}

	/* operations and steps in the order of the nodes, and those that access each tensor */
	o->op = anew(c->a, const struct g_op *, g->n_ops + 1);
	o->step = anew(c->a, const struct g_step *, g->n_steps + 1);
	o->place = anew(c->a, int64_t, g->n_ops + 1);
	BY_NODE(o, o->op, g->ops, g->n_ops, OP_NODE);
	BY_NODE(o, o->step, g->steps, g->n_steps, step_node);
	for (size_t i = 0; i < g->n_ops; i++)
		o->place[o->op[i]->rec.index] = (int64_t)i;
	o->touch = anew(c->a, struct touches, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < OPERANDS; k++) {
			const struct g_tensor *t = operand_ofm_first(o->op[i], k)->t;
			if (t)
				o->touch[t->rec.index].n++;
		}
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct touches *x = &o->touch[i];
		x->op = anew(c->a, const struct g_op *, x->n);
		x->n = 0;
	}
	for (size_t i = 0; i < g->n_ops; i++)
		for (int k = 0; k < OPERANDS; k++) {
			const struct g_tensor *t = operand_ofm_first(o->op[i], k)->t;
			struct touches *x = t ? &o->touch[t->rec.index] : NULL;
			if (x && (!x->n || x->op[x->n - 1] != o->op[i]))
				x->op[x->n++] = o->op[i];
		}

	o->loaded = anew(c->a, struct loaded, g->n_buffers + 1);
	if (!walk_nodes(o))
		return false;
	for (size_t i = 0; i < g->n_ops; i++)
		if (o->open[i])
			return BAD(c, g->ops[i], "o%d never finishes: %" PRId64 " of %d rows run",
				   g->ops[i]->rec.id, rows_made(o, g->ops[i]).lo,
				   g->ops[i]->ofm.shape.h);

	/* inputs must be live at the first time step, outputs at the last, variables at both */
	int64_t last = o->time_step > 2 ? o->time_step - 2 : o->time_step;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (((tensor_is_input(t) || t->variable) && !check_live(o, t, 1)) ||
		    ((tensor_is_output(t) || t->variable) && !check_live(o, t, last)))
			return false;
	}
	return true;
}
