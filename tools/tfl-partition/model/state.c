/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Variables that a model keeps by name between inferences (VAR_HANDLE,
 * READ_VARIABLE, ASSIGN_VARIABLE) become variable tensors, which the runtime keeps
 * and the NPU reads and writes.
 *
 * Within one inference such a variable has an old value and at most one new value
 * that survives.  READ_VARIABLE copies the old value out of the tensor or, after an
 * ASSIGN_VARIABLE, the value just assigned.  The last ASSIGN_VARIABLE copies into
 * the tensor; the others do nothing.  Operations on one tensor have a fixed order, so
 * all reads come before that copy.
 *
 * The runtime sets a variable tensor to one byte value: INT8 to its zero point,
 * other types to 0 (TensorFlow Lite Micro's ResetVariableTensors).  If the
 * initialising subgraph sets another value, the tensor begins at 0 and
 * READ_VARIABLE computes
 *
 *	tensor + initial value * (1 - begun)
 *
 * The flag `begun` is one more variable, of INT8: 0 until the first inference sets
 * it to 1.  One of the two summands is always 0, therefore nothing saturates.
 */
#include "../moves/move.h"

#include "sim/resources.h"
#include "tflite/calls.h"

#include <string.h>

static const char no_tensor[] = "its variable can't become a tensor of the NPU";

struct state {
	struct part *p;
	const struct options *o;
	struct sim_resources *r;
	int n;
	const char **why_not; /* of each resource: why it can't become a tensor; NULL: it can */
	/* of each resource: index of its last ASSIGN_VARIABLE; -1: none */
	int *last;
	/* of each resource: a tensor that is read from or assigned to it; -1: none */
	int *sample;
	bool *read;
};

static int
resource_of(const struct state *s, const struct tfl_op *op)
{
	return op->n_in ? sim_resource_of(s->r, 0, op->in[0]) : -1;
}

static bool
is_access(const struct tfl_op *op)
{
	return op->code == TFL_READ_VARIABLE || op->code == TFL_ASSIGN_VARIABLE;
}

static void
keep_resource(struct state *s, int subgraph, int tensor)
{
	int k = tensor < 0 ? -1 : sim_resource_of(s->r, subgraph, tensor);
	if (k >= 0)
		s->why_not[k] = no_tensor;
}

static struct tfl_quant
quant_of(struct part *p, float scale, int64_t zero)
{
	float *s = anew(p->a, float, 1);
	int64_t *z = anew(p->a, int64_t, 1);
	*s = scale;
	*z = zero;
	return (struct tfl_quant){ .n_scale = 1, .n_zero = 1, .scale = s, .zero = z };
}

/* adds a variable tensor that the original model lacks */
static int
add_variable(struct part *p, const char *name, const struct tfl_tensor *like,
	     int64_t zero)
{
	struct tfl_subgraph *sg = &p->m->subgraph[0];
	struct tfl_tensor v = *like;
	v.name = name;
	v.is_variable = true;
	v.data = (struct bytes){ 0 };
	v.producer = -1;
	v.buffer = 0;
	/* the runtime resets only INT8 to its zero point; 8-bit values are copied unchanged */
	if (tfl_type_bytes(v.type) == 1)
		v.type = TFL_INT8;
	if (v.type != TFL_INT32)
		v.quant = quant_of(p, like->quant.scale[0], zero);
	struct tfl_tensor *all = anew(p->a, struct tfl_tensor, (size_t)sg->n_tensors + 1);
	memcpy(all, sg->tensor, (size_t)sg->n_tensors * sizeof(*all));
	all[sg->n_tensors] = v;
	sg->tensor = all;
	return sg->n_tensors++;
}

/* makes the variable's tensor; adds to p->initial if the reset can't set its value */
static int
make_tensor(struct state *s, int k)
{
	struct part *p = s->p;
	const struct sim_resource *v = sim_resource(s->r, k);
	const struct tfl_tensor *like = &p->sg->tensor[s->sample[k]];
	bool byte = tfl_type_bytes(like->type) == 1;
	bool itself = byte || v->value[0] == 0; /* is it uniform, as the reset sets it? */
	for (size_t i = 1; i < v->bytes; i++)
		itself = itself && v->value[i] == v->value[0];
	int t = add_variable(p, v->name, like, byte && itself ? (int8_t)v->value[0] : 0);
	if (!itself && !p->begun) {
		struct tfl_tensor begun = { .type = TFL_INT8, .rank = 1, .dim = { 1 },
					    .has_shape = true,
					    .quant = quant_of(p, 1, 0) };
		p->begun = 1 + add_variable(p, "begun", &begun, 0);
	}
	if (!itself) {
		agrow(p->a, p->initial, p->n_initial, &p->cap_initial);
		p->initial[p->n_initial++] = (struct initial){ .tensor = t,
							       .type = like->type,
							       .value = v->value };
	}
	return t;
}

static const struct initial *
initial_of(const struct part *p, int tensor)
{
	for (size_t i = 0; i < p->n_initial; i++)
		if (p->initial[i].tensor == tensor)
			return &p->initial[i];
	return NULL;
}

/* makes the accesses read and write tensors, and leaves out what made the variables */
static void
rewrite(struct state *s, const int *tensor)
{
	struct part *p = s->p;
	/* sets what each access reads and writes, following the accesses in order */
	/* of each resource: the tensor that holds its value now */
	int *holds = anew(p->a, int, (size_t)s->n);
	memcpy(holds, tensor, (size_t)s->n * sizeof(*holds));
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		int k = is_access(op) ? resource_of(s, op) : -1;
		if (k < 0 || s->why_not[k])
			continue;
		if (op->code == TFL_READ_VARIABLE) {
			part_set_inputs(p, i, &holds[k], 1);
			continue;
		}
		holds[k] = op->in[1];
		if (i == s->last[k] && s->read[k]) {
			part_set_inputs(p, i, &holds[k], 1);
			part_set_outputs(p, i, &tensor[k], 1);
		} else {
			part_leave_out(p, i, "its value is assigned again or never read");
		}
	}

	/* reads of a tensor with an initial value also read the flag; the last read sets it */
	bool last = true, all = true;
	for (int i = p->sg->n_ops; p->begun && i-- > 0;) {
		const struct tfl_op *op = &p->sg->op[i];
		if (op->code != TFL_READ_VARIABLE || !initial_of(p, op->in[0]))
			continue;
		const int in[] = { op->in[0], p->begun - 1 };
		const int out[] = { op->out[0], p->begun - 1 };
		part_set_inputs(p, i, in, 2);
		part_set_outputs(p, i, out, last ? 2 : 1);
		last = false;
	}

	for (int k = 0; k < s->n; k++)
		all &= !s->why_not[k];
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		int k = op->code == TFL_VAR_HANDLE && op->n_out == 1
			    ? sim_resource_of(s->r, 0, op->out[0])
			    : -1;
		if (k >= 0 && !s->why_not[k])
			part_leave_out(p, i, "its variable became a tensor");
		if (op->code == TFL_CALL_ONCE && all)
			part_leave_out(p, i, "its initial values became those of the "
					     "variables");
	}
}

/* finds the resources and runs the subgraphs of CALL_ONCE, which give them their initial values */
static bool
open_state(struct state *s)
{
	struct err e = { 0 };
	struct part *p = s->p;
	if (!sim_resources_open(p->a, p->m, &s->r, &e))
		return false;
	s->n = (int)sim_resources_count(s->r);
	s->why_not = anew(p->a, const char *, (size_t)s->n);
	s->last = anew(p->a, int, (size_t)s->n);
	s->sample = anew(p->a, int, (size_t)s->n);
	s->read = anew(p->a, bool, (size_t)s->n);
	for (int k = 0; k < s->n; k++)
		s->last[k] = s->sample[k] = -1;
	bool touched = false;
	for (int i = 0; s->n && i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		if (op->code == TFL_CALL_ONCE &&
		    (touched || op->n_in || op->n_out || kept_on_cpu(s->o, op, i) ||
		     !sim_run_resource_op(s->r, 0, i, NULL, &e)))
			return false;
		touched |= is_access(op);
	}
	return s->n > 0;
}

void
take_state(struct part *p, const struct options *o)
{
	struct state s = { .p = p, .o = o };
	/* the resources of a body are also those of its model */
	if (o->subgraph || !open_state(&s))
		return;
	/* what the accesses show about their resources */
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		if (!is_access(op))
			continue;
		bool reads = op->code == TFL_READ_VARIABLE;
		int k = resource_of(&s, op), value = reads ? op->out[0] : op->in[1];
		const struct tfl_tensor *t = &p->sg->tensor[value];
		const char *why = check_fm(p, t, "its value", family_types(op));
		if (kept_on_cpu(o, op, i))
			why = "kept on the CPU by --cpu";
		if (t->is_variable)
			why = no_tensor;
		if (s.sample[k] < 0)
			s.sample[k] = value;
		const struct tfl_tensor *first = &p->sg->tensor[s.sample[k]];
		if (t->type != first->type || tfl_elements(t) != tfl_elements(first))
			why = "its variable has values of several types";
		if (why && !s.why_not[k])
			s.why_not[k] = why;
		if (!reads)
			s.last[k] = i;
		s.read[k] |= reads;
	}
	/* a resource whose handle is used elsewhere must remain a resource */
	for (int i = 0; i < p->sg->n_ops; i++)
		for (int k = is_access(&p->sg->op[i]); k < p->sg->op[i].n_in; k++)
			keep_resource(&s, 0, p->sg->op[i].in[k]);
	for (int i = 0; i < p->sg->n_out; i++)
		keep_resource(&s, 0, p->sg->out[i]);
	/* so must a resource that bodies of IF and WHILE use */
	const bool *body = tfl_bodies(p->a, p->m);
	for (int b = 1; b < p->m->n_subgraphs; b++)
		for (int i = 0; body[b] && i < p->m->subgraph[b].n_tensors; i++)
			keep_resource(&s, b, i);
	int *tensor = anew(p->a, int, (size_t)s.n);
	for (int k = 0; k < s.n; k++)
		if (!s.why_not[k] && s.read[k])
			tensor[k] = make_tensor(&s, k);
	rewrite(&s, tensor);
}

/* ---- lowering ------------------------------------------------------------------ */

/* take_state() has either rewritten the access to a tensor, or the CPU keeps it */
const char *
read_variable(const struct part *p, struct lop *o)
{
	bool made = p->op[o->op - p->sg->op].rewritten;
	return made && o->ifm &&
		       o->ifm->type != TFL_RESOURCE && o->op->n_out
		   ? NULL
		   : no_tensor;
}

static void
lower_begin(struct part *p, const struct initial *x, const struct tfl_op *op)
{
	/* one of two summands is 0, so 8-bit values are added as INT8 whatever their sign */
	int type = tfl_type_bytes(x->type) == 1 ? TFL_INT8 : x->type;
	struct g_operand v = part_ifm(p, op->in[0]);
	v.type = type;
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	struct hwc one = { .h = 1, .w = 1, .c = 1 };
	/* 1 in the first inference, 0 in later ones */
	struct g_operand first = low_new(p->l, type, one);
	(void)low_subtract_from(p->l, 1, part_ifm(p, p->begun - 1), first);
	struct g_operand begin = low_new(p->l, type, v.shape);
	int64_t n = hwc_elements(v.shape);
	size_t bytes = (size_t)n * (size_t)tfl_type_bytes(type);
	const struct tfl_tensor as = { .type = type, .data = { .p = x->value, .n = bytes } };
	int32_t *element = anew(p->a, int32_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		element[i] = tensor_int(&as, i);
	struct g_operand value = low_const(p->l, type, v.shape, element);
	struct g_operand sum = low_view(p->l, dest, v.shape);
	sum.type = type;
	(void)low_pair(p->l, OP_MUL, value, first, begin);
	(void)low_pair(p->l, OP_ADD, v, begin, sum);
	low_deliver(p->l, dest, ofm);
	if (op->n_out < 2)
		return;
	struct g_operand yes = low_const(p->l, TFL_INT8, one, (const int32_t[]){ 1 });
	(void)low_copy(p->l, yes, part_ofm(p, op->out[1]));
}

/* READ_VARIABLE, or ASSIGN_VARIABLE */
void
lower_variable(struct part *p, const struct lop *o)
{
	int in = o->op->in[0], out = o->op->out[0];
	const struct initial *x = initial_of(p, in);
	struct g_operand v;
	if (o->op->code == TFL_ASSIGN_VARIABLE) {
		struct nd from = nd_ifm(p, in);
		v = part_ifm(p, out);
		v.type = o->ifm->type; /* the type that the model means */
		struct nd to = nd_of(v, o->ifm);
		nd_copy(p->l, &from, &to);
	} else if (x) {
		lower_begin(p, x, o->op);
	} else {
		v = part_ifm(p, in);
		v.type = o->ofm->type;
		struct nd from = nd_of(v, o->ofm);
		nd_result(p, out, &from);
	}
}
