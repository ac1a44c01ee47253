/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds LSTMs that a converter wrote step by step, and makes each of them one
 * UNIDIRECTIONAL_SEQUENCE_LSTM: the file then has the weights once, and the cell state has
 * 16 bits.  A step computes four gates from its input x and the output h of the step before;
 * gates are sums of products with constants, in any grouping:
 *
 *	c = LOGISTIC(forget) * c' + LOGISTIC(input) * TANH(candidate)
 *	h = LOGISTIC(output) * TANH(c)
 *
 * All steps have the same weights, and their inputs are the parts of one tensor, from the first
 * part to the last one, or from the last to the first.
 */
#include "quantize.h"

#include "kernels/kernels.h"
#include "real/real.h"
#include "tflite/fields.h"

#include <string.h>

enum { MOST_STEPS = 4096, MOST_UNITS = 1 << 16, MOST_DEPTH = 8, LSTM_TAG = 71 };

struct term { /* `weights` from this row and column on, times the tensor `source` */
	int source, weights;
	int64_t row, column;
};
struct gate { /* the sum of the terms and the bias */
	struct term term[2];
	int n_terms;
	float *bias; /* one per unit */
};
struct step {
	int out, state, before; /* tensors h, c, and c of the step before; -1: c is 0 */
	int sum[LSTM_N_GATES];	/* tensors of the gates before LOGISTIC and TANH; -1: none */
	struct term x[LSTM_N_GATES], h[LSTM_N_GATES];
};
struct chain {
	struct net *n;
	int32_t units;
	float *bias[2][LSTM_N_GATES]; /* of the last step, and of the step that was found last */
	int32_t capacity;	      /* of each bias */
	struct step *step; /* the last step first */
	int n_steps;
	bool *inside;	 /* one per operator: part of the chain */
	bool *elsewhere; /* the same, of a step that may belong to another chain */
	int *input;	 /* one per step: the tensor x */
	bool backward;	 /* the first step reads the end of the sequence */
};

static const struct tfl_op *
made_by(struct chain *c, int t, int code)
{
	int i = c->n->tensor[t].producer;
	const struct net_op *o = i < 0 ? NULL : &c->n->op[i];
	if (!o || o->removed || o->op.code != code || net_activation(o) > TFL_ACT_NONE)
		return NULL;
	for (int k = 0; k < o->op.n_in; k++)
		if (o->op.in[k] < 0 && code != TFL_FULLY_CONNECTED)
			return NULL;
	return &o->op;
}

static void
mark(struct chain *c, int t)
{
	c->inside[c->n->tensor[t].producer] = true;
}

static bool
has_units(const struct chain *c, int t)
{
	const struct tfl_tensor *v = &c->n->tensor[t];
	return v->type == TFL_FLOAT32 && v->rank == 2 && v->dim[0] == 1 && v->dim[1] == c->units;
}

/* t = f(x): returns x; -1: t is something else */
static int
argument_of(struct chain *c, int t, int code)
{
	const struct tfl_op *op = made_by(c, t, code);
	if (!op || op->n_in != 1 || !has_units(c, t) || !has_units(c, op->in[0]))
		return -1;
	mark(c, t);
	return op->in[0];
}

/* t = a * b, and a = LOGISTIC(sum): returns b; -1: t is something else */
static int
factor_of(struct chain *c, int t, int *sum)
{
	const struct tfl_op *op = made_by(c, t, TFL_MUL);
	for (int k = 0; op && op->n_in == 2 && k < 2; k++) {
		*sum = argument_of(c, op->in[k], TFL_LOGISTIC);
		if (*sum >= 0 && has_units(c, op->in[1 - k]) && has_units(c, t)) {
			mark(c, t);
			return op->in[1 - k];
		}
	}
	return -1;
}

static bool
is_zero(const struct tfl_tensor *t)
{
	for (int64_t i = 0; t->data.p && i < tfl_elements(t); i++)
		if (load_f32(t->data.p + 4 * i) != 0)
			return false;
	return t->data.p;
}

/* Finds the parts of the step whose output is tensor h. */
static bool
find_step(struct chain *c, int h, struct step *s)
{
	*s = (struct step){ .out = h, .before = -1 };
	const struct tfl_tensor *out = &c->n->tensor[h];
	c->units = out->rank == 2 && out->dim[1] <= MOST_UNITS ? out->dim[1] : 0;
	int tanh_of = factor_of(c, h, &s->sum[LSTM_OUTPUT]);
	s->state = tanh_of < 0 ? -1 : argument_of(c, tanh_of, TFL_TANH);
	if (s->state < 0)
		return false;
	const struct tfl_op *add = made_by(c, s->state, TFL_ADD);
	int part[2] = { s->state, -1 };
	for (int k = 0; add && k < 2; k++)
		part[k] = add->in[k];
	if (add && add->n_in != 2)
		return false;
	if (add)
		mark(c, s->state);
	s->sum[LSTM_FORGET] = -1;
	for (int k = 0; k < 2; k++) {
		int other = part[1 - k], sum = -1, by = part[k] < 0 ? -1 : factor_of(c, part[k], &sum);
		s->sum[LSTM_INPUT] = sum;
		s->sum[LSTM_CANDIDATE] = by < 0 ? -1 : argument_of(c, by, TFL_TANH);
		if (s->sum[LSTM_CANDIDATE] < 0)
			continue;
		s->before = other < 0 ? -1 : factor_of(c, other, &s->sum[LSTM_FORGET]);
		if (other >= 0 && s->before < 0)
			return false;
		if (s->before >= 0 && is_zero(&c->n->tensor[s->before]))
			s->before = -1;
		return true;
	}
	return false;
}

/* ---- gates -------------------------------------------------------------------------- */

static bool
add_constant(const struct chain *c, const struct tfl_tensor *t, int64_t from, struct gate *g)
{
	int64_t n = tfl_elements(t);
	if (t->type != TFL_FLOAT32 || (n > 1 && (t->dim[t->rank - 1] != n || n < from + c->units)))
		return false;
	for (int32_t i = 0; i < c->units; i++)
		g->bias[i] += load_f32(t->data.p + (n > 1 ? 4 * (from + i) : 0));
	return true;
}

static bool
add_product(struct chain *c, const struct tfl_op *op, int64_t from, struct gate *g)
{
	const struct tfl_tensor *w = op->n_in < 2 || op->in[0] < 0 || op->in[1] < 0
					     ? NULL : &c->n->tensor[op->in[1]];
	if (!w || !w->data.p || w->type != TFL_FLOAT32 || w->rank != 2 || w->is_sparse ||
	    w->dim[0] < from + c->units || tfl_elements(&c->n->tensor[op->in[0]]) != w->dim[1])
		return false;
	const struct tfl_op *join = made_by(c, op->in[0], TFL_CONCATENATION);
	const int *source = join ? join->in : op->in;
	int64_t column = 0;
	if (join)
		mark(c, op->in[0]);
	for (int k = 0; k < (join ? join->n_in : 1); k++) {
		const struct tfl_tensor *v = &c->n->tensor[source[k]];
		/* vectors are in order in whatever dimension CONCATENATION joins them */
		if (g->n_terms == 2 || (join && (!v->rank || v->dim[v->rank - 1] != tfl_elements(v))))
			return false;
		g->term[g->n_terms++] = (struct term){ source[k], op->in[1], from, column };
		column += tfl_elements(v);
	}
	if (op->n_in < 3 || op->in[2] < 0)
		return true;
	const struct tfl_tensor *bias = &c->n->tensor[op->in[2]];
	return bias->data.p && add_constant(c, bias, from, g);
}

/* Adds elements from `from` on of tensor t to the gate. */
static bool
add_to_gate(struct chain *c, int t, int64_t from, int depth, struct gate *g)
{
	const struct tfl_tensor *v = &c->n->tensor[t];
	const struct tfl_op *op;
	int64_t n = tfl_elements(v), axis[1];
	int count;
	if (v->data.p)
		return add_constant(c, v, from, g);
	if (depth == MOST_DEPTH || v->type != TFL_FLOAT32 || v->rank < 1 || v->dim[v->rank - 1] != n)
		return false;
	if ((op = made_by(c, t, TFL_ADD)) && op->n_in == 2) {
		for (int k = 0; k < 2; k++) {
			const struct tfl_tensor *in = &c->n->tensor[op->in[k]];
			if (tfl_elements(in) != n && !(in->data.p && tfl_elements(in) == 1))
				return false;
			if (!add_to_gate(c, op->in[k], from, depth + 1, g))
				return false;
		}
	} else if ((op = made_by(c, t, TFL_SPLIT)) && op->n_in == 2 && op->n_out) {
		int part = 0;
		while (op->out[part] != t)
			part++;
		if (!real_ints(&c->n->tensor[op->in[0]], axis, 1, &count) || count != 1 ||
		    (axis[0] != v->rank - 1 && axis[0] != -1) ||
		    !add_to_gate(c, op->in[1], from + part * n, depth + 1, g))
			return false;
	} else if (!(op = made_by(c, t, TFL_FULLY_CONNECTED)) || !add_product(c, op, from, g)) {
		return false;
	}
	mark(c, t);
	return true;
}

/* Finds the sums of all gates, and their terms of x and h. */
static bool
find_gates(struct chain *c, struct step *s, int *previous, int *input)
{
	struct gate gate[LSTM_N_GATES] = { 0 };
	struct step before;
	*previous = *input = -1;
	if (c->units > c->capacity) { /* make room for the biases */
		c->capacity = c->units > 2 * c->capacity ? c->units : 2 * c->capacity;
		for (int k = 0; k < 2; k++)
			for (int g = 0; g < LSTM_N_GATES; g++)
				c->bias[k][g] = anew(c->n->a, float, (size_t)c->capacity);
	}
	for (int g = 0; g < LSTM_N_GATES; g++) {
		gate[g].bias = c->bias[c->n_steps > 0][g];
		memset(gate[g].bias, 0, (size_t)c->units * sizeof(float));
		if (s->sum[g] >= 0 && !add_to_gate(c, s->sum[g], 0, 0, &gate[g]))
			return false;
	}
	const struct gate *any = &gate[LSTM_INPUT];
	struct chain other = { .n = c->n, .inside = c->elsewhere };
	for (int k = 0; k < any->n_terms && s->before >= 0 && *previous < 0; k++)
		if (find_step(&other, any->term[k].source, &before) && before.state == s->before)
			*previous = before.out;
	for (int g = 0; g < LSTM_N_GATES; g++) {
		bool is_used = s->sum[g] >= 0;
		s->x[g].source = s->h[g].source = -1;
		for (int k = 0; k < gate[g].n_terms; k++) {
			struct term *to = gate[g].term[k].source == *previous ? &s->h[g] : &s->x[g];
			if (to->source >= 0)
				return false;
			*to = gate[g].term[k];
		}
		if (is_used && (s->x[g].source < 0 || (s->before >= 0) != (s->h[g].source >= 0) ||
				(*input >= 0 && *input != s->x[g].source)))
			return false;
		*input = is_used ? s->x[g].source : *input;
	}
	return s->before < 0 || *previous >= 0;
}

static bool
is_same_term(const struct term *a, const struct term *b)
{
	return a->weights == b->weights && a->row == b->row && a->column == b->column;
}

/* true if both steps, whose biases c has, compute the same function; b may be the first step */
static bool
is_same_step(const struct chain *c, const struct step *a, const struct step *b)
{
	for (int g = 0; g < LSTM_N_GATES; g++) {
		if (b->sum[g] < 0)
			continue;
		if (!is_same_term(&a->x[g], &b->x[g]) ||
		    (b->before >= 0 && !is_same_term(&a->h[g], &b->h[g])))
			return false;
		for (int32_t i = 0; i < c->units; i++)
			if (c->bias[0][g][i] != c->bias[1][g][i])
				return false;
	}
	return true;
}

/* ---- the sequence ------------------------------------------------------------------- */

/* Finds the tensor of which t is a part, and the part's first element. */
static int
whole_of(struct chain *c, int t, int64_t *first)
{
	static const int views[] = { TFL_RESHAPE, TFL_SQUEEZE, TFL_EXPAND_DIMS };
	const struct tfl_op *op;
	int64_t n = tfl_elements(&c->n->tensor[t]), at[1];
	int count, part = 0, in = -1;
	for (size_t k = 0; k < ARRAY_LEN(views); k++)
		if ((op = made_by(c, t, views[k])) && op->n_in) {
			t = op->in[0];
			k = SIZE_MAX; /* all of them again */
		}
	if ((op = made_by(c, t, TFL_UNPACK)) && op->n_in == 1) {
		in = op->in[0];
		at[0] = TFL_OPT(op, UnpackOptions, axis);
	} else if ((op = made_by(c, t, TFL_SPLIT)) && op->n_in == 2 &&
		   real_ints(&c->n->tensor[op->in[0]], at, 1, &count) && count == 1) {
		in = op->in[1];
	}
	if (in >= 0) {
		const struct tfl_tensor *v = &c->n->tensor[in];
		int64_t axis = at[0] < 0 ? at[0] + v->rank : at[0];
		while (op->out[part] != t)
			part++;
		for (int d = 0; d < axis && d < v->rank; d++)
			if (v->dim[d] != 1)
				return -1;
		if (axis < 0 || axis >= v->rank)
			return -1;
		*first = part * n;
		return in;
	}
	if (!(op = made_by(c, t, TFL_SLICE)))
		op = made_by(c, t, TFL_STRIDED_SLICE);
	return op && op->n_in && slice_start(c->n, op, first) ? op->in[0] : -1;
}

/* Walks from the last step, whose output is h, to the first one.  Returns the sequence. */
static int
find_chain(struct chain *c, int h)
{
	int whole = -1;
	for (bool more = true; more;) {
		struct step *s = &c->step[c->n_steps];
		int previous;
		if (c->n_steps == MOST_STEPS || !find_step(c, h, s) ||
		    !find_gates(c, s, &previous, &c->input[c->n_steps]) ||
		    (c->n_steps && !is_same_step(c, &c->step[0], s)))
			return -1;
		c->n_steps++;
		more = s->before >= 0;
		h = previous;
	}
	int64_t n = tfl_elements(&c->n->tensor[c->input[0]]);
	for (int k = 0; k < c->n_steps; k++) {
		int64_t first = -1;
		int in = whole_of(c, c->input[k], &first);
		c->backward = k ? c->backward : first == 0;
		if (in < 0 || (whole >= 0 && in != whole) ||
		    first != (c->backward ? k : c->n_steps - 1 - k) * n)
			return -1;
		whole = in;
	}
	const struct tfl_tensor *v = &c->n->tensor[whole];
	return c->n_steps > 1 && v->type == TFL_FLOAT32 && tfl_elements(v) == n * c->n_steps ? whole
											     : -1;
}

/* true if nobody else reads what the chain computes, except for the outputs of steps */
static bool
is_closed(const struct chain *c)
{
	struct net *n = c->n;
	int *users = net_users(n);
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_in && c->inside[i]; k++)
			if (n->op[i].op.in[k] >= 0)
				users[n->op[i].op.in[k]]--;
	for (int k = 0; k < c->n_steps; k++)
		users[c->step[k].out] = 0;
	for (int i = 0; i < n->n_ops; i++)
		for (int k = 0; k < n->op[i].op.n_out && c->inside[i]; k++)
			if (users[n->op[i].op.out[k]])
				return false;
	return true;
}

/* ---- the operator ------------------------------------------------------------------- */

static int
add_tensor(struct net *n, const char *name, int type, int rank, const int32_t *dim, void *data)
{
	struct tfl_tensor t = { .name = name, .type = type, .rank = rank, .has_shape = true,
				.producer = -1 };
	memcpy(t.dim, dim, (size_t)rank * sizeof(*dim));
	if (data)
		t.data = (struct bytes){ .p = data, .n = (size_t)tfl_bytes(&t) };
	return net_add_tensor(n, &t);
}

static int
add_weights(struct net *n, const struct term *from, const char *name, int32_t rows, int32_t columns)
{
	const struct tfl_tensor *w = &n->tensor[from->weights];
	uint8_t *p = arena_alloc(n->a, (size_t)rows * (size_t)columns, 4);
	for (int32_t r = 0; r < rows; r++)
		memcpy(p + 4 * (size_t)r * (size_t)columns,
		       w->data.p + 4 * ((from->row + r) * w->dim[1] + from->column),
		       4 * (size_t)columns);
	return add_tensor(n, name, TFL_FLOAT32, 2, (int32_t[]){ rows, columns }, p);
}

static int
add_ints(struct net *n, const char *name, int32_t a, int32_t b)
{
	uint8_t *p = arena_alloc(n->a, 2, sizeof(int32_t));
	store_le32(p, (uint32_t)a);
	store_le32(p + 4, (uint32_t)b);
	return add_tensor(n, name, TFL_INT32, 1, (int32_t[]){ 2 }, p);
}

/* Puts an operator in the place of operator i. */
static void
place(struct net *n, int i, int code, int n_in, const int *in, int out)
{
	int *to = anew(n->a, int, (size_t)n_in + 1);
	memcpy(to, in, (size_t)n_in * sizeof(*to));
	to[n_in] = out;
	n->op[i] = (struct net_op){ .activation = -1, .padding = -1, .from = i,
				    .op = { .code = code, .version = 1, .n_in = n_in,
					    .n_out = 1, .in = to, .out = to + n_in } };
	n->tensor[out].producer = i;
}

/* Puts a REVERSE_V2 of the steps of x in the place of operator i.  Returns its output. */
static int
reverse(struct net *n, int i, int x)
{
	struct tfl_tensor t = n->tensor[x];
	uint8_t *axis = arena_alloc(n->a, 1, sizeof(int32_t));
	store_le32(axis, 1);
	t.name = arena_printf(n->a, "%s_backward", t.name);
	int out = net_add_tensor(n, &t);
	int by = add_tensor(n, arena_printf(n->a, "%s_axis", t.name), TFL_INT32, 1,
			    (int32_t[]){ 1 }, axis);
	place(n, i, TFL_REVERSE_V2, 2, (int[]){ x, by }, out);
	return out;
}

static void
replace_steps(struct chain *c, int whole)
{
	static const int64_t options[] = { [0] = TFL_ACT_TANH, [5] = 0 };
	struct net *n = c->n;
	const struct step *s = &c->step[0];
	const char *name = n->tensor[s->out].name, *x_name = n->tensor[whole].name;
	int32_t u = c->units, t = c->n_steps, width = (int32_t)(tfl_elements(&n->tensor[whole]) / t);
	enum { PLACES = 4 };
	int in[LSTM_N_INPUTS], at[PLACES], n_at = 0, *users = net_users(n);
	for (int i = 0; i < n->n_ops; i++) {
		for (int k = 0; k < n->op[i].op.n_in && c->inside[i]; k++)
			if (n->op[i].op.in[k] >= 0)
				users[n->op[i].op.in[k]]--;
		/* the first operators of a step come before its output */
		if (c->inside[i] && n_at < PLACES)
			at[n_at++] = i;
		n->op[i].removed |= c->inside[i];
	}
	memset(in, -1, sizeof(in));
	in[LSTM_X] = add_tensor(n, arena_printf(n->a, "%s_steps", x_name), TFL_FLOAT32, 3,
				(int32_t[]){ 1, t, width }, NULL);
	n->tensor[in[LSTM_X]].quant = n->tensor[whole].quant;
	for (int g = 0; g < LSTM_N_GATES; g++) {
		in[LSTM_WEIGHTS + g] = add_weights(n, &s->x[g], arena_printf(n->a, "%s_w%d", name, g),
						   u, width);
		in[LSTM_RECURRENT + g] = add_weights(n, &s->h[g],
						     arena_printf(n->a, "%s_r%d", name, g), u, u);
		uint8_t *b = arena_alloc(n->a, (size_t)u, 4);
		for (int32_t i = 0; i < u; i++)
			store_f32(b + 4 * i, c->bias[0][g][i]);
		in[LSTM_BIAS + g] = add_tensor(n, arena_printf(n->a, "%s_b%d", name, g),
					       TFL_FLOAT32, 1, &u, b);
	}
	for (int k = LSTM_HIDDEN; k <= LSTM_CELL; k++) {
		in[k] = add_tensor(n, arena_printf(n->a, "%s_%s", name, k == LSTM_CELL ? "cell" : "hidden"),
				   TFL_FLOAT32, 2, (int32_t[]){ 1, u }, NULL);
		n->tensor[in[k]].is_variable = true;
	}
	int y = add_tensor(n, arena_printf(n->a, "%s_all", name), TFL_FLOAT32, 3,
			   (int32_t[]){ 1, t, u }, NULL);
	int rows = add_tensor(n, arena_printf(n->a, "%s_rows", name), TFL_FLOAT32, 2,
			      (int32_t[]){ t, u }, NULL);
	place(n, at[0], TFL_RESHAPE, 1, &whole, in[LSTM_X]);
	if (c->backward)
		in[LSTM_X] = reverse(n, at[1], in[LSTM_X]);
	place(n, at[2], TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, LSTM_N_INPUTS, in, y);
	n->op[at[2]].options = &fb_UnidirectionalSequenceLSTMOptions;
	n->op[at[2]].options_tag = LSTM_TAG;
	n->op[at[2]].option = options;
	place(n, at[3], TFL_RESHAPE, 1, &y, rows);
	int size = add_ints(n, arena_printf(n->a, "%s_size", name), 1, u);
	for (int k = 0; k < t; k++) {
		int out = c->step[k].out, by = n->tensor[out].producer;
		if (!users[out])
			continue;
		n->tensor[out].quant = (struct tfl_quant){ 0 };
		int begin = add_ints(n, arena_printf(n->a, "%s_begin", n->tensor[out].name), t - 1 - k, 0);
		place(n, by, TFL_SLICE, 3, (int[]){ rows, begin, size }, out);
	}
}

void
fold_unrolled(struct net *n)
{
	struct chain c = { .n = n };
	bool any = false;
	if (!n->n_ops)
		return;
	c.step = anew(n->a, struct step, MOST_STEPS);
	c.input = anew(n->a, int, MOST_STEPS);
	c.inside = anew(n->a, bool, (size_t)n->n_ops);
	c.elsewhere = anew(n->a, bool, (size_t)n->n_ops);
	/* the outputs of one LSTM may be the inputs of another one */
	for (int i = n->n_ops - 1; i >= 0; i--) {
		const struct net_op *o = &n->op[i];
		int whole;
		if (o->removed || o->op.code != TFL_MUL || o->op.n_out != 1)
			continue;
		memset(c.inside, 0, (size_t)n->n_ops * sizeof(*c.inside));
		c.n_steps = 0;
		whole = find_chain(&c, o->op.out[0]);
		if (whole < 0 || !is_closed(&c))
			continue;
		replace_steps(&c, whole);
		any = true;
		i = n->n_ops;
	}
	if (!any)
		return;
	/* remove operators that only select or move values, and whose results nobody reads */
	int *users = net_users(n);
	for (int i = n->n_ops - 1; i >= 0; i--) {
		const struct tfl_op *op = &n->op[i].op;
		bool read = n->op[i].removed || rule_of(op->code)->kind != RULE_SAME;
		for (int k = 0; k < op->n_out; k++)
			read |= users[op->out[k]] > 0;
		for (int k = 0; k < op->n_in && !read; k++)
			if (op->in[k] >= 0)
				users[op->in[k]]--;
		n->op[i].removed |= !read;
	}
}
