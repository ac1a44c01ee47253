/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a network keeps by name (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE).  The
 * net has one handle for each variable, and its initial value as a constant; net_write()
 * begins the network with CALL_ONCE and all handles, and writes the subgraph that
 * initializes them.
 */
#include "quantize.h"

#include "real/real.h"
#include "sim/resources.h"

enum { READ = TFL_READ_VARIABLE, ASSIGN = TFL_ASSIGN_VARIABLE };

bool
is_variable_frame(const struct tfl_op *op)
{
	return op->code == TFL_VAR_HANDLE || op->code == TFL_CALL_ONCE;
}

bool
net_find_variables(struct net *n, struct err *e)
{
	struct sim_resources *r;
	if (!sim_resources_open(n->a, n->m, &r, e))
		return false;
	int count = (int)sim_resources_count(r);
	n->variable = anew(n->a, struct net_variable, (size_t)count + 1);
	/* give all operators on a variable the same handle, and drop the other operators */
	bool touched = false;
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		touched |= op->code == READ || op->code == ASSIGN;
		if (op->code == TFL_CALL_ONCE && touched)
			return net_refuse(n, i, "initializes variables after their first use, which "
					    "is not supported", e);
		if (op->code == TFL_CALL_ONCE && !sim_run_resource_op(r, 0, i, NULL, e))
			return false;
		n->op[i].removed = is_variable_frame(op);
		if (op->code != TFL_VAR_HANDLE)
			continue;
		struct net_variable *v = &n->variable[sim_resource_of(r, 0, op->out[0])];
		if (v->ref.buf)
			net_replace(n, op->out[0], v->handle);
		else
			*v = (struct net_variable){ .handle = op->out[0], .ref = op->ref, .value = -1 };
	}
	/* take the initial values; all values of a variable have one type */
	for (int i = 0; i < n->n_ops; i++) {
		const struct tfl_op *op = &n->op[i].op;
		if (op->code != READ && op->code != ASSIGN)
			continue;
		int k = sim_resource_of(r, 0, op->in[0]);
		struct tfl_tensor t = n->tensor[op->code == READ ? op->out[0] : op->in[1]];
		const struct sim_resource *from = sim_resource(r, k);
		if (n->variable[k].value < 0) {
			t.data = (struct bytes){ .p = from->value, .n = from->bytes };
			t.name = from->name;
			t.producer = -1;
			n->variable[k].value = net_add_tensor(n, &t);
		} else if (n->tensor[n->variable[k].value].type != t.type) {
			return net_refuse(n, i, "its value has another type than the variable", e);
		}
	}
	for (int k = 0; k < count; k++)
		if (n->variable[k].ref.buf && n->variable[k].value >= 0)
			n->variable[n->n_variables++] = n->variable[k];
	return true;
}

struct real *
open_real(struct arena *a, const struct tfl_model *m)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct real *r = real_open(a, g);
	/* net_write(): one CALL_ONCE and all handles; and pairs of VAR_HANDLE and ASSIGN_VARIABLE */
	for (int k = 0; m->n_subgraphs > 1 && k < m->subgraph[1].n_ops / 2; k++) {
		const struct tfl_subgraph *begin = &m->subgraph[1];
		real_add_state(r, g->op[1 + k].out[0], &begin->tensor[begin->op[2 * k + 1].in[1]]);
	}
	return r;
}
