/* SPDX-License-Identifier: Apache-2.0 */
/* The operators that take longest, of NPU and CPU together: for summary and page alike. */
#include "report.h"

#include <string.h>

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
	for (size_t i = 0; i < r->n_layers; i++) {
		const struct layer *l = &r->layer[i];
		const struct node *x = NULL; /* the operator of the source; NULL: the file does not say */
		if (l->is_memory)
			continue;
		for (size_t k = 0; r->has_map && !x && k < r->n_nodes; k++)
			if (r->node[k].layer == (int)i && r->node[k].within < 0)
				x = &r->node[k];
		n = insert(out, n, most, (struct longest){
			.name = l->name, .label = l->label, .kind = l->kind, .node = x,
			.limit = limit_text(r, layer_limit(l)), .time = l->total });
	}
	for (size_t i = 0; i < r->n_cpu; i++) {
		const struct cpu_operator *c = &r->cpu[i];
		const struct node *x = c->node >= 0 ? &r->node[c->node] : NULL;
		n = insert(out, n, most, (struct longest){
			.name = x ? x->name : c->name, .label = cpu_label(r, c), .kind = c->kind,
			.node = x, .limit = "on the CPU, roughly", .time = c->end - c->start });
	}
	return n;
}
