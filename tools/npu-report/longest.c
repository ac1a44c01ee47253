/* SPDX-License-Identifier: Apache-2.0 */
/* The operators that take longest, of NPU and CPU together: for summary and page alike. */
#include "report.h"

#include <string.h>

/* the operator of the source that a layer is; NULL: the file does not say */
static const struct node *
node_of(const struct report *r, const struct layer *l)
{
	for (size_t i = 0; r->has_map && i < r->n_nodes; i++)
		if (r->node[i].layer == (int)(l - r->layer) && r->node[i].within < 0)
			return &r->node[i];
	return NULL;
}

static struct longest
of_layer(const struct report *r, const struct layer *l)
{
	return (struct longest){ .name = l->name, .label = l->label, .kind = l->kind,
				 .node = node_of(r, l), .limit = limit_text(r, layer_limit(l)), .time = l->total };
}

static struct longest
of_cpu(const struct report *r, const struct cpu_operator *c)
{
	const struct node *x = c->node >= 0 ? &r->node[c->node] : NULL;
	return (struct longest){ .name = x ? x->name : c->name, .label = cpu_label(r, c),
				 .kind = c->kind, .node = x, .limit = "on the CPU, roughly",
				 .time = c->end - c->start };
}

/* inserts x behind those that take as long, into n of at most `most`; returns how many */
static size_t
insert(struct longest *v, size_t n, size_t most, struct longest x)
{
	size_t at = n;
	while (at > 0 && v[at - 1].time < x.time)
		at--;
	if (at == most || !(x.time > 0))
		return n;
	n += n < most;
	memmove(&v[at + 1], &v[at], (n - 1 - at) * sizeof(*v));
	v[at] = x;
	return n;
}

size_t
list_longest(const struct report *r, size_t most, struct longest *out)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_layers; i++)
		n = insert(out, n, most, of_layer(r, &r->layer[i]));
	for (size_t i = 0; i < r->n_cpu; i++)
		n = insert(out, n, most, of_cpu(r, &r->cpu[i]));
	return n;
}
