/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins elementwise operators that together are a function of one 8-bit tensor, for
 * example x * LOGISTIC(x).  The reference kernels compute the function for all 256
 * values, and one table replaces all these operators.  Intermediate tensors may
 * have a type that the NPU lacks, as in DEQUANTIZE, SQRT, QUANTIZE.
 */
#include "../part.h"

#include "kernels/kernels.h"

#include <string.h>

enum { BYTES = 256, MAX_IN = 3 };

struct function {
	int root;     /* the 8-bit tensor that is the argument; -1: no such function */
	void *values; /* results for all 256 values of the root, in ascending order */
};

struct composing {
	struct part *p;
	struct function *made; /* of each tensor: the function that its operator computes */
	/*
	 * Of each tensor: the function that its readers see.  This is `made` or, if
	 * others want the tensor, too, the identity of the tensor itself.
	 */
	struct function *read;
	bool *wanted; /* read by others than elementwise operators */
};

/* can operator i go into a table?  The NPU need not be able to run it alone */
static bool
may_compose(const struct part *p, int i)
{
	return family_of(p->sg->op[i].code)->joins >= JOINS_yes && may_join(p, i);
}

/* the identity function of an 8-bit tensor */
static struct function
identity(const struct composing *c, int tensor)
{
	const struct tfl_tensor *t = &c->p->sg->tensor[tensor];
	bool written = t->producer >= 0 || c->p->is_model_input[tensor];
	if (!has_type(t, TYPE_8) || t->is_variable || !written)
		return (struct function){ .root = -1 };
	uint8_t *v = anew(c->p->a, uint8_t, BYTES);
	for (int i = 0; i < BYTES; i++)
		v[i] = (uint8_t)(t->type == TFL_INT8 ? i - 128 : i);
	return (struct function){ .root = tensor, .values = v };
}

/* finds the function of one tensor that operator i computes, if it is one */
static void
find_function(struct composing *c, int i)
{
	struct part *p = c->p;
	const struct tfl_op *op = &p->sg->op[i];
	void *in[MAX_IN] = { NULL };
	if (!may_compose(p, i) || op->n_in > MAX_IN || op->n_out != 1)
		return;
	const struct tfl_tensor *out = part_out(p, op, 0);
	int root = -1, size = tfl_type_bytes(out->type); /* root: all inputs are its functions */
	for (int k = 0; k < op->n_in; k++) {
		const struct tfl_tensor *t = part_in(p, op, k);
		if (!t || (t->data.p && tfl_elements(t) != 1))
			return;
		if (t->data.p)
			continue;
		struct function *f = &c->read[op->in[k]];
		if (f->root < 0)
			*f = identity(c, op->in[k]);
		if (f->root < 0 || tfl_elements(t) != tfl_elements(out) ||
		    (root >= 0 && f->root != root))
			return;
		root = f->root;
		in[k] = f->values;
	}
	if (root < 0 || out->is_variable || size < 1 || size > 4)
		return;
	struct err e = { 0 };
	/* the evaluation below ignores shapes, so check that they are valid */
	if (!kernel_check(p->sg, op, &e))
		return;
	uint32_t *values = anew(p->a, uint32_t, BYTES);
	if (!part_evaluate(p, op, in, values, BYTES))
		return;
	c->made[op->out[0]] = (struct function){ .root = root, .values = values };
	if (!c->wanted[op->out[0]])
		c->read[op->out[0]] = c->made[op->out[0]];
}

/* an operator and those before it whose results only the operators of this set read */
struct inside {
	int op[MAX_JOINED], n;
	bool table; /* one of them would be lowered to a table of its own */
	bool cpu;   /* the NPU can't run one of them except as part of the table */
};

/* how often operators of the set read a tensor */
static int
count_reads(const struct part *p, const struct inside *x, int tensor)
{
	int n = 0;
	for (int i = 0; i < x->n; i++) {
		const struct tfl_op *op = &p->sg->op[x->op[i]];
		for (int k = 0; k < op->n_in; k++)
			n += op->in[k] == tensor;
	}
	return n;
}

/*
 * Collects all operators between the root and operator `last`.  Returns false if
 * there are too many, or if an operator outside reads an intermediate result.
 */
static bool
find_inside(const struct part *p, int last, struct inside *x)
{
	const struct tfl_subgraph *sg = p->sg;
	int root = p->function[sg->op[last].out[0]].root;
	*x = (struct inside){ .op = { last }, .n = 1 };
	for (int i = 0; i < x->n; i++) {
		const struct tfl_op *op = &sg->op[x->op[i]];
		x->table |= family_of(op->code)->joins == JOINS_table;
		x->cpu |= !p->op[x->op[i]].npu;
		for (int k = 0; k < op->n_in; k++) {
			int from = sg->tensor[op->in[k]].producer;
			bool found = op->in[k] == root || sg->tensor[op->in[k]].data.p;
			for (int j = 0; j < x->n; j++)
				found |= x->op[j] == from;
			if (found)
				continue;
			if (x->n == MAX_JOINED)
				return false;
			x->op[x->n++] = from;
		}
	}
	for (int i = 1; i < x->n; i++) {
		int out = sg->op[x->op[i]].out[0];
		if (count_reads(p, x, out) != p->uses[out])
			return false;
	}
	return true;
}

/* a feature map as far as a table needs one: the scale does not matter */
static bool
fits_table(const struct part *p, int tensor)
{
	const struct tfl_tensor *t = &p->sg->tensor[tensor];
	if (check_fixed(p, t, "") || tfl_elements(t) < 1)
		return false;
	for (int i = 0; i < t->rank; i++)
		if (t->dim[i] > UINT16_MAX)
			return false;
	return t->data.p == NULL;
}

bool
join_table(struct part *p, int last, struct join *j)
{
	const struct tfl_op *op = &p->sg->op[last];
	int out = op->n_out == 1 ? op->out[0] : -1, root = out < 0 ? -1 : p->function[out].root;
	struct inside x;
	if (root < 0 || !has_type(&p->sg->tensor[out], TYPE_8) || !find_inside(p, last, &x) ||
	    (!x.cpu && (x.n < 2 || (x.n < 3 && !x.table))) ||
	    (x.cpu && (!fits_table(p, root) || !fits_table(p, out))))
		return false;
	p->uses[root] -= count_reads(p, &x, root) - 1;
	p->op[last].lop.table = p->function[out].values;
	p->op[last].lop.root = root;
	j->as = AS_TABLE;
	j->n = x.n - 1;
	memcpy(j->op, x.op + 1, (size_t)j->n * sizeof(*x.op));
	return true;
}

void
find_functions(struct part *p)
{
	struct composing c = { .p = p };
	size_t n = (size_t)p->sg->n_tensors + 1;
	p->function = c.made = anew(p->a, struct function, n);
	c.read = anew(p->a, struct function, n);
	c.wanted = anew(p->a, bool, n);
	for (int i = 0; i < p->sg->n_tensors; i++)
		c.made[i].root = c.read[i].root = -1;
	for (int i = 0; i < p->sg->n_out; i++)
		c.wanted[p->sg->out[i]] = true;
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		bool inner = may_compose(p, i);
		for (int k = 0; k < op->n_in && !inner; k++)
			if (op->in[k] >= 0)
				c.wanted[op->in[k]] = true;
	}
	for (int i = 0; i < p->sg->n_ops; i++)
		find_function(&c, i);
}
