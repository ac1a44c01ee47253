/* SPDX-License-Identifier: Apache-2.0 */
/* A network that can be edited: copies of the tensors and operators of a model. */
#include "quantize.h"

#include "tflite/fields.h"

#include <string.h>

static int *
copy_indices(struct arena *a, const int *from, int n)
{
	int *to = anew(a, int, (size_t)n + 1);
	if (n)
		memcpy(to, from, (size_t)n * sizeof(*to));
	return to;
}

struct net *
net_open(struct arena *a, const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct net *n = anew(a, struct net, 1);
	*n = (struct net){ .a = a, .m = m, .n_tensors = g->n_tensors, .n_ops = g->n_ops,
			   .n_in = g->n_in, .n_out = g->n_out,
			   .tensors_capacity = g->n_tensors, .ops_capacity = g->n_ops };
	n->in = copy_indices(a, g->in, g->n_in);
	n->out = copy_indices(a, g->out, g->n_out);
	n->tensor = anew(a, struct tfl_tensor, (size_t)n->n_tensors + 1);
	n->op = anew(a, struct net_op, (size_t)n->n_ops + 1);
	if (n->n_tensors)
		memcpy(n->tensor, g->tensor, (size_t)n->n_tensors * sizeof(*n->tensor));
	for (int i = 0; i < n->n_ops; i++) {
		struct tfl_op *op = &n->op[i].op;
		*op = g->op[i];
		op->in = copy_indices(a, op->in, op->n_in);
		op->out = copy_indices(a, op->out, op->n_out);
		op->n_mid = 0; /* convert() adds those that the result needs */
		n->op[i].activation = n->op[i].padding = -1;
		n->op[i].from = i;
	}
	return n;
}

/* the room for one more item of an array in an arena */
static void *
grow(struct arena *a, void *items, int n, int *capacity, size_t size)
{
	if (n < *capacity)
		return items;
	*capacity = 2 * n + 8;
	void *more = arena_alloc(a, (size_t)*capacity, size);
	if (n)
		memcpy(more, items, (size_t)n * size);
	return more;
}

int
net_add_tensor(struct net *n, const struct tfl_tensor *t)
{
	n->tensor = grow(n->a, n->tensor, n->n_tensors, &n->tensors_capacity,
			 sizeof(*n->tensor));
	n->tensor[n->n_tensors] = *t;
	return n->n_tensors++;
}

void
net_insert(struct net *n, int at, int code, int in, int out)
{
	n->op = grow(n->a, n->op, n->n_ops, &n->ops_capacity, sizeof(*n->op));
	memmove(&n->op[at + 1], &n->op[at], (size_t)(n->n_ops++ - at) * sizeof(*n->op));
	n->op[at] = (struct net_op){ .activation = -1, .padding = -1, .from = -1, .op = { .code = code, .n_in = 1, .n_out = 1, .version = 1,
					     .in = copy_indices(n->a, &in, 1),
					     .out = copy_indices(n->a, &out, 1) } };
}

void
net_replace(struct net *n, int from, int to)
{
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_in; k++)
			if (n->op[i].op.in[k] == from)
				((int *)(uintptr_t)n->op[i].op.in)[k] = to;
	for (int k = 0; k < n->n_out; k++)
		if (n->out[k] == from)
			n->out[k] = to;
}

int
net_option_slot(const struct tfl_op *op, const char *name)
{
	const struct fb_table *t = op->options.buf ? op->options.table : NULL;
	for (int i = 0; t && i < t->n_slots; i++)
		if (t->slot[i].name && !strcmp(t->slot[i].name, name))
			return i;
	return -1;
}

int
net_activation(const struct net_op *o)
{
	int slot = net_option_slot(&o->op, "fused_activation_function");
	if (o->activation >= 0 || slot < 0)
		return o->activation;
	return (int)fb_int(o->op.options, slot);
}

int
net_count_users(const struct net *n, int t)
{
	int users = 0;
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_in && !n->op[i].removed; k++)
			users += n->op[i].op.in[k] == t;
	for (int k = 0; k < n->n_out; k++)
		users += n->out[k] == t;
	return users;
}

int *
net_users(struct net *n)
{
	int *users = anew(n->a, int, (size_t)n->n_tensors + 1);
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_in && !n->op[i].removed; k++)
			if (n->op[i].op.in[k] >= 0)
				users[n->op[i].op.in[k]]++;
	for (int k = 0; k < n->n_out; k++)
		users[n->out[k]]++;
	return users;
}

struct net_op *
net_producer(struct net *n, int t)
{
	for (int i = 0; i < n->n_ops; i++)
		if (!n->op[i].removed && n->op[i].op.n_out == 1 && n->op[i].op.out[0] == t)
			return &n->op[i];
	return NULL;
}

/* ---- writing ---------------------------------------------------------------------- */

struct writer {
	struct net *n;
	int *index; /* of each tensor in the file; -1: dropped */
	struct tflw_model m;
	struct tflw_subgraph g, begin; /* begin: initializes the variables */
};

static void
mark(struct writer *w, const int *v, int n)
{
	for (int i = 0; i < n; i++)
		if (v[i] >= 0)
			w->index[v[i]] = 0;
}

static void
number_tensors(struct writer *w)
{
	struct net *n = w->n;
	w->index = anew(n->a, int, (size_t)n->n_tensors + 1);
	memset(w->index, -1, (size_t)n->n_tensors * sizeof(*w->index));
	for (int i = 0; i < n->n_ops; i++)
		if (!n->op[i].removed) {
			mark(w, n->op[i].op.in, n->op[i].op.n_in);
			mark(w, n->op[i].op.out, n->op[i].op.n_out);
			mark(w, n->op[i].op.mid, n->op[i].op.n_mid);
		}
	for (int i = 0; i < n->n_variables; i++)
		mark(w, &n->variable[i].handle, 1);
	mark(w, n->in, n->n_in);
	mark(w, n->out, n->n_out);
	w->g.tensor = anew(n->a, struct tflw_tensor, (size_t)n->n_tensors + 1);
	w->m.buffer = anew(n->a, struct bytes, (size_t)n->n_tensors + (size_t)n->n_variables + 1);
	w->m.n_buffers = 1;
	for (int i = 0; i < n->n_tensors; i++) {
		if (w->index[i] < 0)
			continue;
		const struct tfl_tensor *t = &n->tensor[i];
		w->index[i] = w->g.n_tensors;
		struct tflw_tensor *to = &w->g.tensor[w->g.n_tensors++];
		to->t = *t;
		if (t->data.p) {
			w->m.buffer[w->m.n_buffers] = t->data;
			to->buffer = (uint32_t)w->m.n_buffers++;
		}
	}
}

static const int *
numbered(struct writer *w, const int *v, int n)
{
	int *to = copy_indices(w->n->a, v, n);
	for (int i = 0; i < n; i++)
		to[i] = v[i] < 0 ? -1 : w->index[v[i]];
	return to;
}

/* the code's index in the file */
static uint32_t
opcode_of(struct writer *w, const struct tfl_op *op)
{
	for (int i = 0; i < w->m.n_opcodes; i++) {
		const struct tflw_opcode *c = &w->m.opcode[i];
		if (c->code == op->code && c->version == op->version &&
		    (!c->custom || !strcmp(c->custom, op->custom)))
			return (uint32_t)i;
	}
	w->m.opcode[w->m.n_opcodes] = (struct tflw_opcode){
		.code = op->code, .custom = op->custom, .version = op->version };
	return (uint32_t)w->m.n_opcodes++;
}

static void
add_op(struct writer *w, struct tflw_subgraph *g, int code, const struct tflw_op *op)
{
	g->op[g->n_ops] = *op;
	g->op[g->n_ops++].opcode = opcode_of(w, &(struct tfl_op){ .code = code, .version = 1 });
}

/* Begins the network with its handles, and writes the subgraph that initializes them. */
static void
write_variables(struct writer *w)
{
	enum { CALL_ONCE_TAG = 103 };
	static const int64_t first = 1; /* subgraph */
	struct net *n = w->n;
	struct tflw_subgraph *b = &w->begin;
	size_t count = 2 * (size_t)n->n_variables;
	int *at = anew(n->a, int, count + 1);
	*b = (struct tflw_subgraph){ .name = "begin", .op = anew(n->a, struct tflw_op, count + 1),
				     .tensor = anew(n->a, struct tflw_tensor, count + 1) };
	if (count)
		add_op(w, &w->g, TFL_CALL_ONCE,
		       &(struct tflw_op){ .options = &fb_CallOnceOptions,
					  .options_tag = CALL_ONCE_TAG, .option = &first });
	for (int i = 0; i < n->n_variables; i++) {
		const struct net_variable *v = &n->variable[i];
		struct tflw_op handle = { .from = v->ref, .n_out = 1,
					  .out = numbered(w, &v->handle, 1) };
		add_op(w, &w->g, TFL_VAR_HANDLE, &handle);
		int *own = &at[b->n_tensors];
		for (int k = 0; k < 2; k++)
			own[k] = b->n_tensors + k;
		handle.out = own;
		add_op(w, b, TFL_VAR_HANDLE, &handle);
		add_op(w, b, TFL_ASSIGN_VARIABLE, &(struct tflw_op){ .n_in = 2, .in = own });
		b->tensor[b->n_tensors++].t = n->tensor[v->handle];
		w->m.buffer[w->m.n_buffers] = n->tensor[v->value].data;
		b->tensor[b->n_tensors++] = (struct tflw_tensor){
			.t = n->tensor[v->value], .buffer = (uint32_t)w->m.n_buffers++ };
	}
}

bool
net_write(struct net *n, struct bytes *out, struct err *e)
{
	struct writer w = { .n = n };
	size_t most = (size_t)n->n_ops + (size_t)n->n_variables + 3;
	number_tensors(&w);
	w.g.op = anew(n->a, struct tflw_op, most);
	w.m.opcode = anew(n->a, struct tflw_opcode, most);
	write_variables(&w);
	for (int i = 0; i < n->n_ops; i++) {
		const struct net_op *o = &n->op[i];
		const struct tfl_op *op = &o->op;
		if (o->removed)
			continue;
		struct tflw_op *to = &w.g.op[w.g.n_ops++];
		*to = (struct tflw_op){ .from = op->ref, .n_in = op->n_in,
					.n_out = op->n_out, .n_mid = op->n_mid,
					.options = o->options, .options_tag = o->options_tag,
					.option = o->option };
		to->opcode = opcode_of(&w, op);
		to->in = numbered(&w, op->in, op->n_in);
		to->out = numbered(&w, op->out, op->n_out);
		to->mid = numbered(&w, op->mid, op->n_mid);
		if (o->activation < 0 && o->padding < 0)
			continue;
		/* values replace the copied options, among them another activation or padding */
		const struct fb_table *t = op->options.table;
		int64_t *v = anew(n->a, int64_t, (size_t)t->n_slots);
		for (int k = 0; k < t->n_slots; k++)
			if (t->slot[k].kind < FB_F32 && t->slot[k].kind != FB_NONE)
				v[k] = fb_int(op->options, k);
		if (o->activation >= 0)
			v[net_option_slot(op, "fused_activation_function")] = o->activation;
		if (o->padding >= 0)
			v[net_option_slot(op, "padding")] = o->padding;
		to->from = (struct fb_ref){ 0 };
		to->options = t;
		to->options_tag = (int)fb_int(op->ref, FB_Operator_builtin_options_tag);
		to->option = v;
	}
	n->index = w.index;
	w.g.name = n->m->subgraph[0].name;
	w.g.in = numbered(&w, n->in, n->n_in);
	w.g.out = numbered(&w, n->out, n->n_out);
	w.g.n_in = n->n_in;
	w.g.n_out = n->n_out;
	w.m.description = n->m->description;
	w.m.subgraph = (struct tflw_subgraph[]){ w.g, w.begin };
	w.m.n_subgraphs = n->n_variables ? 2 : 1;
	struct err bare = { 0 };
	return tfl_write(n->a, &w.m, out, &bare) ||
	       err_at(e, n->m->name, 0, "%s", bare.text);
}
