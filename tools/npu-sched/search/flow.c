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
		    ops_conflict(info[m->user[k]].op, info[i].op, t)) {
			agrow(x->a, x->f->before.v, x->n_before, &x->cap_before);
			x->f->before.v[x->n_before++] = m->user[k];
		}
	agrow(x->a, m->user, (size_t)m->n_users, &m->cap_users);
	m->user[m->n_users++] = i;
	agrow(x->a, x->f->maps.v, x->n_touches, &x->cap_touches);
	x->f->maps.v[x->n_touches++] = map;
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
	for (int i = 0; i < n; i++) {
		const struct g_op *op = s->info[first + i].op;
		const struct g_operand *o = &op->ofm;
		f->before.first[i] = (int)x.n_before;
		f->maps.first[i] = (int)x.n_touches;
		for (int k = 0; k < MAX_TOUCHES; k++)
			if (is_map(operand_ofm_first(op, k)->t))
				add_user(&x, i, operand_ofm_first(op, k)->t);
		/* an elementwise result may cover an operand of the same shape and type */
		f->covered[i] = -1;
		const int operands = op_is_elementwise(op->kind) ? MAX_TOUCHES : 0;
		for (int k = 1; k < operands && f->covered[i] < 0; k++) {
			const struct g_operand *in = operand_ofm_first(op, k);
			if (is_map(in->t) && in->t != o->t && in->view == VIEW_WHOLE &&
			    o->view == VIEW_WHOLE && in->type == o->type &&
			    hwc_equal(in->t->hwc, o->t->hwc))
				f->covered[i] = feature_map_of(&x, in->t);
		}
	}
	f->before.first[n] = (int)x.n_before;
	f->maps.first[n] = (int)x.n_touches;
	/* the inverse of `before`: the operations that must run after each */
	int *next = f->after.first = anew(a, int, (size_t)n + 2);
	for (size_t i = 0; i < x.n_before; i++)
		next[f->before.v[i] + 2]++;
	for (int i = 0; i < n; i++)
		next[i + 2] += next[i + 1];
	f->after.v = anew(a, int, x.n_before + 1);
	for (int i = 0; i < n; i++)
		for (int k = f->before.first[i]; k < f->before.first[i + 1]; k++)
			f->after.v[next[f->before.v[k] + 1]++] = i;
	for (int i = 0; i < n; i++) /* zeros again */
		for (int k = 0; k < MAX_TOUCHES; k++) {
			const struct g_tensor *t = operand_ofm_first(s->info[first + i].op, k)->t;
			if (is_map(t))
				note[t->rec.index] = 0;
		}
	return f;
}
