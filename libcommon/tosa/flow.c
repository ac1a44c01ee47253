/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and blocks of a graph, and COND_IF, which runs them. */
#include "tosa/load.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANK_SHAPE = 8 * TOSA_MAX_RANK };

static bool
take_block(struct load *l, struct fb_ref region)
{
	uint32_t n = fb_vector(region, FB_TosaRegion_blocks).n;
	if (n != 1)
		return BAD(l, "%u blocks, only regions of one are supported", n);
	l->block = fb_item(region, FB_TosaRegion_blocks, 0);
	return true;
}

/* Returns the region of this name; buf is NULL if there is none. */
static struct fb_ref
find_region(const struct load *l, const char *name)
{
	uint32_t n = fb_vector(l->root, FB_TosaGraph_regions).n;
	for (uint32_t i = 0; i < n; i++) {
		size_t len;
		struct fb_ref r = fb_item(l->root, FB_TosaGraph_regions, i);
		const char *s = fb_string(r, FB_TosaRegion_name, &len);
		if (strlen(s) == len && !strcmp(s, name))
			return r;
	}
	return (struct fb_ref){ 0 };
}

bool
load_find_main(struct load *l)
{
	uint32_t n = fb_vector(l->root, FB_TosaGraph_regions).n;
	struct fb_ref r = find_region(l, "main");
	if (!n)
		return BAD(l, "no region, one is needed");
	if (!r.buf || n == 1)
		r = fb_item(l->root, FB_TosaGraph_regions, 0);
	return take_block(l, r);
}

/* ---- COND_IF ------------------------------------------------------------------------ */

bool
load_alike(struct load *l, const struct tosa_op *op, const char *role, int i,
	   const struct tosa_tensor *got, const struct tosa_tensor *want)
{
	bool same = got->type == want->type && got->rank == want->rank &&
		    !memcmp(got->dim, want->dim, (size_t)got->rank * sizeof(got->dim[0]));
	return same || BAD(l, "%s: %s %d is %s, %s is needed", load_label(l, op), role, i,
			   tosa_text(l->a, got), tosa_text(l->a, want));
}

bool
load_region(struct load *l, const struct tosa_op *op, int slot)
{
	size_t len;
	const char *name = fb_string(op->attribute, slot, &len);
	struct fb_ref region = find_region(l, name);
	if (!region.buf)
		return BAD(l, "%s: there is no region %s", load_label(l, op),
			   text_plain(l->a, name));
	return take_block(l, region);
}

/* Binds the names of a branch's inputs to the operands of op behind the condition. */
static bool
bind_inputs(struct load *l, const struct tosa_op *op)
{
	const int *own;
	int n;
	if (!load_names(l, l->block, FB_TosaBlock_inputs, "a branch", "input", &own, &n))
		return false;
	if (n != op->n_in - 1)
		return BAD(l, "%s has %d operands after its condition, but its branch "
			      "has %d inputs", load_label(l, op), op->n_in - 1, n);
	for (int i = 0; i < n; i++) {
		if (!load_alike(l, op, "a branch's input", i, &l->g->tensor[own[i]],
				&l->g->tensor[op->in[1 + i]]))
			return false;
		struct load_name *name = load_find(l, l->g->tensor[own[i]].name);
		if (name->tensor != own[i])
			return BAD(l, "%s: a branch has input %s twice", load_label(l, op),
				   name->s);
		name->tensor = op->in[1 + i];
	}
	return true;
}

/* Appends the operators of a branch; *out are its results. */
static bool
load_branch(struct load *l, const struct tosa_op *op, bool then, const int **out)
{
	int slot = then ? FB_TosaCondIf_then_graph : FB_TosaCondIf_else_graph;
	int n, first = l->g->n_ops;
	struct load b = *l;
	b.inside = true;
	if (!load_region(&b, op, slot) || !load_tensors(&b) || !bind_inputs(&b, op) ||
	    !load_ops(&b) ||
	    !load_names(&b, b.block, FB_TosaBlock_outputs, "a branch", "output", out, &n))
		return false;
	if (n != op->n_out)
		return BAD(l, "%s has %d results, its branch has %d", load_label(l, op),
			   op->n_out, n);
	for (int i = 0; i < n; i++)
		if (!load_alike(&b, op, "a branch's output", i, &b.g->tensor[(*out)[i]],
				&b.g->tensor[op->out[i]]))
			return false;
	for (int i = first; i < l->g->n_ops; i++) {
		l->g->op[i].guard = 1 + op->in[0];
		l->g->op[i].guard_is = then;
	}
	l->writer = b.writer;
	l->number = b.number;
	l->cap_tensors = b.cap_tensors;
	l->cap_ops = b.cap_ops;
	return true;
}

static void
add_op(struct load *l, const struct tosa_op *like, int code, int n, const int *in, int out)
{
	struct tosa_op *op = load_more_ops(l, 1);
	int *v = anew(l->a, int, (size_t)n + 1);
	memcpy(v, in, (size_t)n * sizeof(*v));
	v[n] = out;
	*op = (struct tosa_op){ .code = code, .name = like->name, .number = like->number,
				.n_in = n, .n_out = 1, .in = v, .out = v + n };
	l->g->tensor[out].producer = l->g->n_ops++;
}

/*
 * Returns the condition, reshaped to `rank` dimensions of 1; -1 if there are too many
 * tensors.
 */
static int
reshaped(struct load *l, const struct tosa_op *op, int rank)
{
	static const uint8_t ones[MAX_RANK_SHAPE] = { [0] = 1, [8] = 1, [16] = 1, [24] = 1,
						      [32] = 1, [40] = 1 };
	struct tosa_graph *g = l->g;
	int in[2] = { op->in[0] };
	if (g->tensor[in[0]].rank == rank)
		return in[0];
	if (!load_more_tensors(l, 2))
		return -1;
	struct tosa_tensor *t = &g->tensor[g->n_tensors];
	t[0] = g->tensor[in[0]];
	t[0].is_input = t[0].is_output = false;
	t[0].data = (struct bytes){ 0 };
	t[0].uses = 0;
	t[0].rank = rank;
	for (int i = 0; i < rank; i++)
		t[0].dim[i] = 1;
	t[1] = (struct tosa_tensor){ .name = t[0].name, .type = TOSA_SHAPE, .rank = 1,
				     .dim = { rank }, .producer = -1 };
	t[1].data = (struct bytes){ .p = ones, .n = 8 * (size_t)rank };
	in[1] = g->n_tensors + 1;
	int out = g->n_tensors;
	g->n_tensors += 2;
	add_op(l, op, TOSA_RESHAPE, 2, in, out);
	return out;
}

static bool
take_branches(struct load *l, const struct tosa_op *op)
{
	const struct tosa_tensor *c = &l->g->tensor[op->in[0]];
	const int *then, *other;
	if (c->type != TOSA_BOOL || tosa_elements(c) != 1)
		return BAD(l, "%s: its condition is %s, one bool is needed",
			   load_label(l, op), tosa_text(l->a, c));
	if (!load_branch(l, op, true, &then) || !load_branch(l, op, false, &other))
		return false;
	for (int i = 0; i < op->n_out; i++) {
		int which = reshaped(l, op, l->g->tensor[op->out[i]].rank);
		const int in[3] = { which, then[i], other[i] };
		if (which < 0)
			return false;
		add_op(l, op, TOSA_SELECT, 3, in, op->out[i]);
	}
	return true;
}

bool
load_branches(struct load *l)
{
	struct tosa_graph *g = l->g;
	int n = g->n_ops, kept = 0, found = 0;
	for (int i = 0; i < n; i++) {
		struct tosa_op op = g->op[i];
		found += op.code == TOSA_COND_IF || op.code == TOSA_WHILE_LOOP;
		if (op.code == TOSA_COND_IF && !take_branches(l, &op))
			return false;
	}
	if (!found && !l->inside && fb_vector(l->root, FB_TosaGraph_regions).n != 1)
		return BAD(l, "%u regions, and no COND_IF or WHILE_LOOP that runs them",
			   fb_vector(l->root, FB_TosaGraph_regions).n);
	for (int i = 0; i < g->n_ops; i++) {
		if (g->op[i].code == TOSA_COND_IF)
			continue;
		for (int k = 0; k < g->op[i].n_out; k++)
			g->tensor[g->op[i].out[k]].producer = kept;
		g->op[kept++] = g->op[i];
	}
	g->n_ops = kept;
	return true;
}
