/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of tensors and buffers: of different names different ones, also in little space. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

const char *
id_of(const char *name)
{
	static const char begin[] = " (t";
	const size_t n = strlen(name), head = strlen(begin);
	size_t at = n ? n - 1 : 0;
	while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	bool is_id = n > at + 1 && name[n - 1] == ')' && at >= head &&
		     !strncmp(name + at - head, begin, head);
	return name + (is_id ? at - head : n);
}

int
node_called(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->n_nodes; i++)
		if (!strcmp(r->node[i].name, name))
			return (int)i;
	return -1;
}

/* orders spans by labels, those of one label by names */
static int
by_label_and_name(const void *p, const void *q)
{
	const struct span *const *x = p, *const *y = q;
	int order = strcmp((*x)->label, (*y)->label);
	order = order ? order : strcmp((*x)->name, (*y)->name);
	return order ? order : (*x > *y) - (*x < *y);
}

void
name_spans(struct report *r)
{
	struct span **v = anew(r->a, struct span *, r->n_spans + 1);
	for (size_t i = 0; i < r->n_spans; i++) {
		struct span *s = v[i] = &r->span[i];
		/* a tensor or buffer is called as the operator that it belongs to */
		const int at = s->node < 0 ? node_called(r, s->stem) : s->node;
		const struct node *x = at < 0 ? NULL : &r->node[at];
		bool is_buffer = !strcmp(s->kind, "buffer");
		const char *id = id_of(s->owner);
		if (!x || x->title == x->name) {
			s->label = arena_printf(r->a, "%s%s%s", is_buffer ? "weights of " : "", s->label,
						id);
			continue;
		}
		const char *kinds = strstr(x->label, " (");
		size_t n = kinds ? (size_t)(kinds - x->label) : strlen(x->label);
		s->label = arena_printf(r->a, "%.*s%s%s", (int)n, x->label, s->node < 0 ? id : "",
					is_buffer ? " (weights)" : "");
	}
	qsort(v, r->n_spans, sizeof(*v), by_label_and_name);
	/* the names of one label get numbers, but for the first one */
	for (size_t i = 0, end; i < r->n_spans; i = end) {
		const char *label = v[i]->label, *name = v[i]->name;
		int number = 1;
		for (end = i; end < r->n_spans && !strcmp(v[end]->label, label); end++) {
			number += strcmp(v[end]->name, name) != 0;
			name = v[end]->name;
			if (number > 1)
				v[end]->label = arena_printf(r->a, "%s, %d", label, number);
		}
	}
}

/* True if y, shortened to its first and last characters, is x, shortened in this way. */
static bool
looks_like(const char *x, const char *y, size_t front, size_t back)
{
	const size_t n = strlen(x), m = strlen(y), width = text_width(y);
	const size_t head = text_prefix(x, front), tail = n - text_prefix(x, text_width(x) - back);
	return width > front + back && m >= head + tail && !strncmp(x, y, head) &&
	       !memcmp(x + n - tail, y + m - tail, tail);
}

const char *
label_in(const struct report *r, const char *label, size_t n)
{
	const size_t keep = n > 2 ? n - 2 : 0;
	/* characters at the begin: of both ends, of the end alone, of the begin alone */
	const size_t front[] = { (keep + 1) / 2, 0, keep };
	if (text_width(label) <= n)
		return label;
	for (size_t k = 0; keep && k < ARRAY_LEN(front); k++) {
		size_t i = 0;
		while (i < r->n_spans && (!strcmp(r->span[i].label, label) ||
					  !looks_like(label, r->span[i].label, front[k],
						      keep - front[k])))
			i++;
		if (i == r->n_spans)
			return text_elided(r->a, label, front[k], keep - front[k]);
	}
	return NULL;
}
