/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides the nodes of a graph at the cuts that yield.c has chosen.  Each division begins
 * with the graph as it was, so that other cuts can follow.
 */
#include "yield.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"

#include <string.h>

bool
yield_moves(const struct yield *y, const struct g_buffer *b)
{
	return y->s->memory.spilling && b->area == PLACE_CACHE;
}

bool
yield_is_live(const struct g_tensor *t)
{
	return G_HAS(t, G_TENSOR_at) && G_HAS(t, G_TENSOR_live) && !tensor_is_const(t);
}

static void
set_arena(struct graph *g, int64_t used)
{
	struct g_area *x = NULL;
	for (size_t i = 0; i < g->n_areas; i++)
		if (!strcmp(g->areas[i]->rec.word, place_names[PLACE_ARENA]))
			x = g->areas[i];
	if (!x && !used)
		return;
	if (!x) {
		x = graph_add_g_area(g);
		x->rec.word = place_names[PLACE_ARENA];
		G_PUT(x, AREA, region, PLACE_ARENA);
	}
	G_PUT(x, AREA, used, used);
}

/* Sorts the steps by their pieces. */
static void
move_steps(struct yield *y)
{
	struct graph *g = y->s->g;
	size_t *at = anew(y->s->a, size_t, y->n_pieces + 1);
	for (size_t i = 0; i < y->n; i++)
		at[y->piece_of[i] + 1]++;
	for (size_t p = 0; p < y->n_pieces; p++)
		at[p + 1] += at[p];
	for (size_t i = 0; i < y->n; i++) {
		struct g_step *x = y->step[i];
		struct g_node *n = y->piece[y->piece_of[i]].node;
		x->rec.index = (int)at[y->piece_of[i]];
		g->steps[at[y->piece_of[i]]++] = x;
		if (x->op)
			x->op->node = n;
		if (G_HAS(x, G_STEP_node))
			x->node = n;
	}
	/* memory of a buffer whose fetch has moved is not in use until then */
	for (size_t i = 0; i < g->n_buffers; i++) {
		size_t user = (size_t)y->users[i].lo;
		const struct piece *p = user < y->n ? &y->piece[y->piece_of[user]] : NULL;
		if (p && yield_moves(y, g->buffers[i]) && y->fetched[i] < p->step &&
		    y->node[y->fetched[i]] == p->of)
			g->buffers[i]->live.lo = y->moment[p->step] - 1;
	}
}

static void
list_tensor(struct arena *a, struct g_tensors *l, struct g_tensor *t)
{
	if (tensors_have(l, t))
		return;
	struct g_tensor **v = anew(a, struct g_tensor *, l->n + 1);
	for (size_t i = 0; i < l->n; i++)
		v[i] = l->v[i];
	v[l->n] = t;
	*l = (struct g_tensors){ .v = v, .n = l->n + 1 };
}

/*
 * Shares inputs, outputs and operators of an undivided node among its pieces, the nodes
 * [lo, hi).  Tensors between pieces are no inputs and outputs: they stay in the scratch memory,
 * which all pieces have.
 */
static void
share_lists(struct yield *y, const struct g_node *was, size_t lo, size_t hi)
{
	struct graph *g = y->s->g;
	struct arena *a = y->s->a;
	for (size_t i = lo; i < hi; i++) {
		g->nodes[i]->in = g->nodes[i]->out = (struct g_tensors){ .n = 0 };
		G_CLEAR(g->nodes[i], G_NODE_in);
		G_CLEAR(g->nodes[i], G_NODE_out);
		g->nodes[i]->tfl = (struct g_tfls){
			.v = anew(a, struct g_tfl, (size_t)was->tfl.n + 1) };
		G_CLEAR(g->nodes[i], G_NODE_tfl);
	}
	/* an input belongs to each piece that reads it; one that is not read, to the first piece */
	for (size_t i = 0; i < was->in.n; i++) {
		struct g_tensor *t = was->in.v[i];
		struct g_node *n = NULL;
		for (size_t k = 0; k < g->n_ops; k++) {
			const struct g_op *op = g->ops[k];
			const size_t at = (size_t)op->node->rec.index;
			if (at < lo || at >= hi || (op->ifm.t != t && op->ifm2.t != t))
				continue;
			n = op->node;
			list_tensor(a, &n->in, t);
			G_SET(n, G_NODE_in);
		}
		if (!n) {
			list_tensor(a, &g->nodes[lo]->in, t);
			G_SET(g->nodes[lo], G_NODE_in);
		}
	}
	/* an output belongs to the last piece that writes it */
	for (size_t i = 0; i < was->out.n; i++) {
		struct g_tensor *t = was->out.v[i];
		size_t last = hi;
		for (size_t k = 0; k < g->n_ops; k++) {
			const size_t at = (size_t)g->ops[k]->node->rec.index;
			if (g->ops[k]->ofm.t == t && at >= lo && at < hi)
				last = last == hi || at > last ? at : last;
		}
		struct g_node *n = g->nodes[last == hi ? hi - 1 : last];
		list_tensor(a, &n->out, t);
		G_SET(n, G_NODE_out);
	}
	/* an operator belongs to the first piece with one of its operations, an alias to the operator
	 * before */
	size_t of = lo;
	for (int i = 0; i < was->tfl.n; i++) {
		size_t first = hi;
		for (size_t k = 0; k < g->n_ops; k++) {
			const size_t at = (size_t)g->ops[k]->node->rec.index;
			if (at >= lo && at < first && has_operator(&g->ops[k]->tfl, was->tfl.v[i]))
				first = at;
		}
		of = first < hi ? first : of;
		struct g_tfls *l = &g->nodes[of]->tfl;
		l->v[l->n++] = was->tfl.v[i];
		G_SET(g->nodes[of], G_NODE_tfl);
	}
}

/* ---- feature maps in the NPU's own SRAM -------------------------------------------------- */

/* The tensor whose bytes t reuses, directly or not. */
static const struct g_tensor *
root_of(const struct g_tensor *t)
{
	while (t->over.n)
		t = t->over.v[0];
	return t;
}

/* Moves the tensors that share the bytes of `root` to the lowest free address of the arena. */
static void
move_to_arena(struct graph *g, const struct g_tensor *root)
{
	int64_t begin = root->at, end = root->at, at = 0;
	struct g_range life = root->live;
	for (size_t i = 0; i < g->n_tensors; i++) {
		const struct g_tensor *t = g->tensors[i];
		if (!yield_is_live(t) || root_of(t) != root)
			continue;
		begin = min_i64(begin, t->at);
		end = max_i64(end, t->at + tensor_bytes(t));
		life.lo = min_i64(life.lo, t->live.lo);
		life.hi = max_i64(life.hi, t->live.hi);
	}
	for (bool free = false; !free;) {
		free = true;
		for (size_t i = 0; i < g->n_tensors + g->n_buffers; i++) {
			const struct g_tensor *t = i < g->n_tensors ? g->tensors[i] : NULL;
			const struct g_buffer *b = t ? NULL : g->buffers[i - g->n_tensors];
			if (t && !yield_is_live(t))
				continue;
			const struct g_range live = t ? t->live : b->live;
			const int64_t from = t ? t->at : b->at, bytes = t ? tensor_bytes(t) : b->bytes;
			if ((t ? t->area : b->area) != PLACE_ARENA || live.lo > life.hi ||
			    life.lo > live.hi || from >= at + (end - begin) || at >= from + bytes)
				continue;
			at = round_up_i64(from + bytes, ALIGN);
			free = false;
		}
	}
	for (size_t i = 0; i < g->n_tensors; i++) {
		struct g_tensor *t = g->tensors[i];
		if (!yield_is_live(t) || root_of(t) != root)
			continue;
		t->at += at - begin;
		G_PUT(t, TENSOR, area, PLACE_ARENA);
	}
	set_arena(g, max_i64(graph_place_used(g, PLACE_ARENA),
			     round_up_i64(at + (end - begin), ALIGN)));
}

/* Divides the graph at the cuts. */
void
yield_divide(struct yield *y)
{
	struct graph *g = y->s->g;
	/* the graph as it was */
	g->n_nodes = y->n_nodes;
	g->next_nodes = y->next_nodes;
	for (size_t i = 0; i < y->n_nodes; i++) {
		g->nodes[i] = y->nodes[i];
		*g->nodes[i] = y->was[i];
	}
	for (size_t i = 0; i < g->n_ops; i++)
		g->ops[i]->node = y->node_of[i];
	for (size_t i = 0; i < g->n_buffers; i++)
		g->buffers[i]->live = y->live[i];
	for (size_t i = 0; i < g->n_tensors; i++)
		*g->tensors[i] = y->tensor[i];
	set_arena(g, y->arena);
	/* the pieces; a fetch that moves is in the piece of the first kernel that uses it */
	y->n_pieces = 0;
	for (size_t i = 0, b = 0; i < y->n; i++) {
		bool first = !i || y->node[i] != y->node[i - 1], begins = first;
		for (; b < y->n_borders && y->border[b].step <= i; b++)
			begins |= y->border[b].cut && y->border[b].step == i;
		if (begins)
			y->piece[y->n_pieces++] = (struct piece){ .step = i, .of = y->node[i],
								  .first = first };
		y->piece_of[i] = y->n_pieces - 1;
	}
	for (size_t i = 0; i < y->n; i++) {
		const struct g_buffer *x = y->step[i]->weights ? y->step[i]->buffer : NULL;
		size_t user = x ? (size_t)y->users[x->rec.index].lo : y->n;
		if (x && yield_moves(y, x) && user < y->n && user > i &&
		    y->node[user] == y->node[i])
			y->piece_of[i] = y->piece_of[user];
	}
	/* their nodes, in the order of execution */
	for (size_t p = 0; p < y->n_pieces; p++) {
		struct piece *x = &y->piece[p];
		x->node = x->first ? x->of : graph_add_g_node(g);
		G_PUT(x->node, NODE, kind, NODE_NPU);
	}
	for (size_t i = 0, at = 0, p = 0; i < y->n_nodes; i++) {
		g->nodes[at++] = y->nodes[i];
		for (; p < y->n_pieces && y->piece[p].of == y->nodes[i]; p++)
			if (!y->piece[p].first)
				g->nodes[at++] = y->piece[p].node;
	}
	for (size_t i = 0; i < g->n_nodes; i++)
		g->nodes[i]->rec.index = (int)i;
	move_steps(y);
	/* feature maps in the NPU's own SRAM that are live at a cut inside of a node */
	for (size_t p = 0; p < y->n_pieces; p++) {
		int64_t moment = y->moment[y->piece[p].step];
		if (y->piece[p].first || !y->s->memory.spilling)
			continue;
		for (size_t i = 0; i < g->n_tensors; i++) {
			const struct g_tensor *t = g->tensors[i];
			if (yield_is_live(t) && t->area == PLACE_CACHE && t->live.lo < moment &&
			    t->live.hi >= moment)
				move_to_arena(g, root_of(t));
		}
	}
	for (size_t i = 0, lo = 0, hi; i < y->n_nodes; i++, lo = hi) {
		for (hi = lo + 1; hi < g->n_nodes && g->nodes[hi]->rec.id >= y->next_nodes; hi++)
			;
		if (hi > lo + 1)
			share_lists(y, &y->was[i], lo, hi);
	}
}

