/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the dependencies between the operations of a node, and who touches each feature map. */
#include "flow.h"

#include "graph/facts.h"

enum {
	MAX_TOUCHES = 3, /* of an operation: IFM, IFM2, OFM */
	/* a feature map with more users is touched in the graph's order from that user on */
	FREE_USERS = 64,
};

struct finding {
	struct sched *s;
	struct arena *a;
	struct flow *f;
	int *feature_map_of; /* of each tensor: index of its feature map plus 1; 0: none yet */
	size_t cap_maps, n_before, cap_before, n_touches, cap_touches;
};

static bool
is_map(const struct g_tensor *t)
{
	return t && !tensor_is_const(t);
}

static int
feature_map_of(struct finding *x, const struct g_tensor *t)
{
	int *map = &x->feature_map_of[t->rec.index];
	if (*map)
		return *map - 1;
	const struct use *u = &x->s->use[t->rec.index];
	const struct g_node *node = x->s->g->nodes[x->s->info[x->f->first].node];
	agrow(x->a, x->f->map, x->f->n_maps, &x->cap_maps);
	struct flow_map *m = &x->f->map[x->f->n_maps];
	*m = (struct flow_map){ .bytes = t->variable ? 0 : tensor_bytes(t) };
	m->live_in = tensor_is_input(t) || t->variable;
	m->live_out = tensor_is_output(t) || t->variable ||
		   u->last_touch >= x->f->first + x->f->n;
	for (size_t i = 0; i < node->in.n; i++)
		m->live_in |= node->in.v[i] == t;
	for (size_t i = 0; i < node->out.n; i++)
		m->live_out |= node->out.v[i] == t;
	*map = (int)++x->f->n_maps;
	return *map - 1;
}

static void
add_before(struct finding *x, int earlier)
{
	agrow(x->a, x->f->before.v, x->n_before, &x->cap_before);
	x->f->before.v[x->n_before++] = earlier;
}

/* Adds operation i to the users of t, and to `before` the earlier users that it must follow. */
static void
add_user(struct finding *x, int i, const struct g_tensor *t)
{
	const struct op_info *info = &x->s->info[x->f->first];
	int map = feature_map_of(x, t);
	struct flow_map *m = &x->f->map[map];
	if (m->n_users && m->user[m->n_users - 1] == i)
		return;
	int from = m->n_users > FREE_USERS ? m->n_users - 1 : 0;
	for (int k = from; k < m->n_users; k++)
		if (m->n_users >= FREE_USERS ||
		    ops_conflict(info[m->user[k]].op, info[i].op, t))
			add_before(x, m->user[k]);
	agrow(x->a, m->user, (size_t)m->n_users, &m->cap_users);
	m->user[m->n_users++] = i;
	agrow(x->a, x->f->maps.v, x->n_touches, &x->cap_touches);
	x->f->maps.v[x->n_touches++] = map;
}

/* Inverts `before`: lists the operations that must run after each. */
static void
turn_around(struct finding *x)
{
	struct flow *f = x->f;
	int *next = anew(x->a, int, (size_t)f->n + 2);
	for (size_t i = 0; i < x->n_before; i++)
		next[f->before.v[i] + 2]++;
	for (int i = 0; i < f->n; i++)
		next[i + 2] += next[i + 1];
	f->after.first = next;
	f->after.v = anew(x->a, int, x->n_before + 1);
	for (int i = 0; i < f->n; i++)
		for (int k = f->before.first[i]; k < f->before.first[i + 1]; k++)
			f->after.v[next[f->before.v[k] + 1]++] = i;
}

/* The operand, of the same shape and type, that an elementwise result may cover; -1: none. */
static int
find_covered(struct finding *x, const struct g_op *op)
{
	const struct g_operand *o = &op->ofm;
	for (int k = 1; op_is_elementwise(op->kind) && k < MAX_TOUCHES; k++) {
		const struct g_operand *in = operand_ofm_first(op, k);
		if (is_map(in->t) && in->t != o->t && in->view == VIEW_WHOLE &&
		    o->view == VIEW_WHOLE && in->type == o->type &&
		    hwc_equal(in->t->hwc, o->t->hwc))
			return feature_map_of(x, in->t);
	}
	return -1;
}

static void
list_op(struct finding *x, int i)
{
	const struct g_op *op = x->s->info[x->f->first + i].op;
	x->f->before.first[i] = (int)x->n_before;
	x->f->maps.first[i] = (int)x->n_touches;
	for (int k = 0; k < MAX_TOUCHES; k++)
		if (is_map(operand_ofm_first(op, k)->t))
			add_user(x, i, operand_ofm_first(op, k)->t);
	x->f->covered[i] = find_covered(x, op);
}

/* Resets the notes of tensors to 0. */
static void
forget_maps(struct finding *x)
{
	for (int i = 0; i < x->f->n; i++)
		for (int k = 0; k < MAX_TOUCHES; k++) {
			const struct g_op *op = x->s->info[x->f->first + i].op;
			const struct g_tensor *t = operand_ofm_first(op, k)->t;
			if (is_map(t))
				x->feature_map_of[t->rec.index] = 0;
		}
}

struct flow *
flow_find(struct sched *s, struct arena *a, int first, int n, int *note)
{
	struct flow *f = anew(a, struct flow, 1);
	struct finding x = { .s = s, .a = a, .f = f, .feature_map_of = note };
	f->first = first;
	f->n = n;
	f->before.first = anew(a, int, (size_t)n + 1);
	f->maps.first = anew(a, int, (size_t)n + 1);
	f->covered = anew(a, int, (size_t)n + 1);
	for (int i = 0; i < n; i++)
		list_op(&x, i);
	f->before.first[n] = (int)x.n_before;
	f->maps.first[n] = (int)x.n_touches;
	turn_around(&x);
	forget_maps(&x);
	return f;
}
