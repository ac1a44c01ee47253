/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Suggests cuts.  Detection heads and preprocessing often compute in floats behind or
 * before an integer network.  The suggestion names the tensors between the two parts, for
 * --cut-inputs and --cut-outputs of tfl-partition and npucc.
 */
#include "quantcheck.h"

#include <string.h>

struct search {
	const struct review *r;
	const struct tfl_subgraph *g;
	bool *front, *tail; /* of each operator: floats before, or behind, the network */
	bool *early, *late; /* of each tensor: a front or a tail operator writes it */
	bool *is_input;	    /* of each tensor */
};

static bool
is_float_op(const struct search *s, int i)
{
	const struct tfl_op *op = &s->g->op[i];
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (t >= 0 && type_is_float(s->g->tensor[t].type))
			return true;
	}
	return false;
}

static bool
is_inside(const struct search *s, int op)
{
	return op >= 0 && !s->front[op] && !s->tail[op];
}

/* True if the operator has a feature map with a scale: integers without one count or compare. */
static bool
is_quantized(const struct search *s, const struct tfl_op *op)
{
	for (int k = 0; k < op->n_in + op->n_out; k++) {
		int t = k < op->n_in ? op->in[k] : op->out[k - op->n_in];
		if (t >= 0 && !s->g->tensor[t].data.p && s->g->tensor[t].quant.n_scale)
			return true;
	}
	return false;
}

/* A part that has only QUANTIZE or DEQUANTIZE at the model's ends stays: --integer-io. */
static void
keep_borders(struct search *s, bool *part)
{
	for (int i = 0; i < s->g->n_ops; i++)
		if (part[i] && !is_border_operator(s->r, (struct place){ 0, i, -1 }))
			return;
	memset(part, 0, (size_t)s->g->n_ops * sizeof(*part));
}

/* of each tensor: an operator of the part, or of the network, reads it */
static bool *
find_read(const struct search *s, const bool *part)
{
	bool *read = anew(s->r->a, bool, (size_t)s->g->n_tensors + 1);
	for (int i = 0; i < s->g->n_ops; i++)
		for (int k = 0; k < s->g->op[i].n_in; k++)
			if (s->g->op[i].in[k] >= 0 && (part ? part[i] : is_inside(s, i)))
				read[s->g->op[i].in[k]] = true;
	return read;
}

void
find_cuts(struct review *r)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	size_t n_ops = (size_t)g->n_ops + 1, n_tensors = (size_t)g->n_tensors + 1;
	struct search s = { .r = r, .g = g };
	s.front = anew(r->a, bool, n_ops);
	s.tail = anew(r->a, bool, n_ops);
	s.early = anew(r->a, bool, n_tensors);
	s.late = anew(r->a, bool, n_tensors);
	s.is_input = anew(r->a, bool, n_tensors);
	for (int i = 0; i < g->n_in; i++)
		s.is_input[g->in[i]] = true;
	r->cuts.in = anew(r->a, int, n_tensors);
	r->cuts.out = anew(r->a, int, n_tensors);
	/* float operators that read only inputs of the model and results of such operators */
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		bool any = false, all = true;
		for (int k = 0; k < op->n_in; k++) {
			int t = op->in[k];
			if (t < 0 || g->tensor[t].data.p)
				continue;
			any = true;
			all = all && (s.is_input[t] || s.early[t]);
		}
		s.front[i] = any && all && is_float_op(&s, i);
		for (int k = 0; s.front[i] && k < op->n_out; k++)
			s.early[op->out[k]] = true;
	}
	/* the other float operators, and all operators that depend on them */
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		bool tail = is_float_op(&s, i);
		for (int k = 0; k < op->n_in; k++)
			tail |= op->in[k] >= 0 && s.late[op->in[k]];
		s.tail[i] = tail && !s.front[i];
		for (int k = 0; s.tail[i] && k < op->n_out; k++)
			s.late[op->out[k]] = true;
	}
	bool inside = false;
	for (int i = 0; i < g->n_ops; i++)
		inside |= is_inside(&s, i) && is_quantized(&s, &g->op[i]);
	keep_borders(&s, s.front);
	keep_borders(&s, s.tail);
	if (!inside)
		return;
	bool has_tail = false;
	for (int i = 0; i < g->n_ops; i++) {
		r->cuts.n_ops += s.front[i] || s.tail[i];
		has_tail |= s.tail[i];
	}
	const bool *inner = find_read(&s, NULL);
	for (int i = 0; i < g->n_tensors; i++) {
		int p = g->tensor[i].producer;
		if (inner[i] && p >= 0 && s.front[p])
			r->cuts.in[r->cuts.n_in++] = i;
	}
	bool *outer = find_read(&s, s.tail);
	for (int i = 0; i < g->n_out; i++)
		outer[g->out[i]] = true;
	for (int i = 0; i < g->n_tensors && has_tail; i++)
		if (outer[i] && is_inside(&s, g->tensor[i].producer))
			r->cuts.out[r->cuts.n_out++] = i;
}

/* ---- text -------------------------------------------------------------------------- */

static void
put_option(struct text *t, const struct review *r, const char *option, const int *v, int n)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	if (!n)
		return;
	text_printf(t, " %s='", option);
	for (int i = 0; i < n; i++) {
		/* a name that is not unique, or that a shell or a list would break, is a number */
		const char *name = g->tensor[v[i]].name;
		bool plain = *name && !strpbrk(name, ",'") && text_plain(r->a, name) == name;
		for (int k = 0; plain && k < g->n_tensors; k++)
			plain = k == v[i] || strcmp(g->tensor[k].name, name) != 0;
		text_puts(t, i ? "," : "");
		if (plain)
			text_puts(t, name);
		else
			text_i64(t, v[i]);
	}
	text_putc(t, '\'');
}

bool
report_cuts(struct text *t, const struct review *r)
{
	const struct cuts *c = &r->cuts;
	if (!c->n_ops)
		return false;
	text_printf(t, "cut: %d of %d operators are float parts around an integer network; "
		       "tfl-partition and npucc compile the network with",
		    c->n_ops, r->m->subgraph[0].n_ops);
	put_option(t, r, "--cut-inputs", c->in, c->n_in);
	put_option(t, r, "--cut-outputs", c->out, c->n_out);
	text_putc(t, '\n');
	return true;
}
