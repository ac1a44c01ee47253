/* SPDX-License-Identifier: Apache-2.0 */
/* Labels: names that are short enough, and numbers for operators with the same one. */
#include "report.h"

#include "map/map.h"

#include <stdlib.h>
#include <string.h>

const char *
cpu_label(const struct report *r, const struct cpu_operator *c)
{
	return c->node >= 0 ? r->node[c->node].label
	       : *c->name   ? text_shortened(r->a, c->name, LABEL) : c->kind;
}

const char *
rewrite_label(const struct report *r, const struct json *rewrite)
{
	const char *name = json_string(rewrite, "name", "");
	for (size_t i = 0; i < r->n_nodes; i++)
		if (!strcmp(r->node[i].name, name))
			return r->node[i].label;
	return text_shortened(r->a, name, LABEL);
}

const char *
rewrite_text(const struct report *r, const struct json *rewrite)
{
	const char *text = json_string(rewrite, "text", ""), *name = json_string(rewrite, "name", "");
	const char *at = *name ? strstr(text, name) : NULL;
	return at ? arena_printf(r->a, "%.*s%s%s", (int)(at - text), text,
				 rewrite_label(r, rewrite), at + strlen(name))
		  : text;
}

static int
by_label(const void *p, const void *q)
{
	const struct node *const *x = p, *const *y = q;
	int order = strcmp((*x)->label, (*y)->label);
	return order ? order : (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

void
make_labels(struct report *r)
{
	size_t n = r->n_nodes;
	const char **whole = anew(r->a, const char *, n + r->n_layers + 1);
	for (size_t i = 0; i < n; i++)
		whole[i] = r->node[i].label;
	for (size_t i = 0; i < r->n_layers; i++)
		whole[n + i] = r->layer[i].label;
	const char **short_label = map_short_labels(r->a, whole, n + r->n_layers, LABEL);
	for (size_t i = 0; i < n; i++)
		r->node[i].label = short_label[i];
	for (size_t i = 0; i < r->n_layers; i++)
		r->layer[i].label = short_label[n + i];
	/* two operators without names, or with one name, differ in their number alone */
	struct node **v = anew(r->a, struct node *, n + 1);
	for (size_t i = 0; i < n; i++)
		v[i] = &r->node[i];
	qsort(v, n, sizeof(*v), by_label);
	for (size_t i = 0, end; i < n; i = end) {
		const char *label = v[i]->label;
		for (end = i + 1; end < n && !strcmp(v[end]->label, label);)
			end++;
		for (size_t k = i; end - i > 1 && k < end; k++) {
			const char *number = arena_printf(r->a, ", operator %zu", v[k]->index);
			v[k]->label = arena_printf(r->a, "%s%s",
						   text_shortened(r->a, label, LABEL - strlen(number)),
						   number);
			if (v[k]->layer >= 0)
				r->layer[v[k]->layer].label = v[k]->label;
		}
	}
}
