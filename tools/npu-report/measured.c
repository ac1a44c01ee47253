/* SPDX-License-Identifier: Apache-2.0 */
/* What a device measured, beside the estimate: operator by operator. */
#include "report.h"

#include "map/map.h"

#include <string.h>

static const char title[] = "Measured beside estimated";

static const char *const units[] = {
	[MEASURED_COUNTERS] = "counters", [MEASURED_OPERATORS] = "cycles of the CPU's clock",
	[MEASURED_SAMPLES] = "shares of the time",
};

/* The counters that have an estimate. */
static struct measured_pair *
counters_of(const struct report *r, size_t *n)
{
	const struct json *m = json_get(r->root, "measured");
	struct measured_pair *p = anew(r->a, struct measured_pair, m ? m->n + 1 : 1);
	*n = 0;
	for (size_t i = 0; m && i < m->n; i++) {
		double estimated = m->item[i].kind == JSON_OBJECT
					   ? json_number(&m->item[i], "estimated", 0) : 0;
		if (estimated > 0)
			p[(*n)++] = (struct measured_pair){
				.name = m->item[i].key, .estimated = estimated,
				.measured = json_number(&m->item[i], "measured", 0) };
	}
	return p;
}

/* Cycles of the operators of a log, or shares of the samples of a histogram. */
static struct measured_pair *
rows_of(const struct report *r, bool samples, size_t *n)
{
	size_t n_estimates;
	const struct json *m = json_get(r->root, "measured");
	const struct json *v = json_items(m, samples ? "sampled" : "operators", n);
	const struct json *estimate = json_items(m, "operators_estimated", &n_estimates);
	struct measured_pair *p = anew(r->a, struct measured_pair, *n + 1);
	for (size_t i = 0; i < *n; i++) {
		const char *layers = json_string(&v[i], "layer_names", NULL);
		p[i].name = json_string(&v[i], "name", "?");
		if (layers)
			p[i].name = arena_printf(r->a, "%s: %s", p[i].name, layers);
		p[i].measured = json_number(&v[i], samples ? "share" : "ticks", 0);
		p[i].estimated = samples ? json_number(&v[i], "estimated_share", 0)
				 : i < n_estimates ? estimate[i].number : 0;
	}
	return p;
}

const struct measured_pair *
measured_pairs(const struct report *r, enum measured_group group, size_t *n, double *most)
{
	struct measured_pair *p = group == MEASURED_COUNTERS
					  ? counters_of(r, n)
					  : rows_of(r, group == MEASURED_SAMPLES, n);
	*most = 0;
	for (size_t i = 0; i < *n; i++) {
		*most = p[i].measured > *most ? p[i].measured : *most;
		*most = p[i].estimated > *most ? p[i].estimated : *most;
	}
	return p;
}

/* A bar of a text: at most WIDTH letters. */
static void
put_bar(struct text *t, char letter, double v, double most)
{
	enum { WIDTH = 30 };
	int n = most > 0 && v > 0 ? (int)(v / most * WIDTH + 0.5) : 0;
	for (int i = 0; i < n; i++)
		text_putc(t, letter);
	text_putc(t, '\n');
}

void
print_measured(struct text *t, const struct report *r)
{
	for (int g = 0; g < MEASURED_GROUPS; g++) {
		size_t n;
		double most;
		const struct measured_pair *p = measured_pairs(r, (enum measured_group)g, &n, &most);
		const char **name = anew(r->a, const char *, n + 1);
		for (size_t i = 0; i < n; i++)
			name[i] = text_plain(r->a, p[i].name);
		name = map_short_labels(r->a, name, n, LABEL);
		map_number_labels(r->a, name, n, LABEL);
		if (n)
			text_printf(t, "\n%s, %s\n", title, units[g]);
		for (size_t i = 0; i < n; i++) {
			const struct measured_pair *x = &p[i];
			text_printf(t, "  %-36s measured  %12.6g ", name[i], x->measured);
			put_bar(t, '#', x->measured, most);
			text_printf(t, "  %-36s estimated %12.6g ", "", x->estimated);
			put_bar(t, '-', x->estimated, most);
		}
	}
}

struct table
table_measured(const struct report *r)
{
	static const char *const columns[] = { "operator", "measured", "estimated", "ratio", NULL };
	struct table b = table_of(r->a, title, columns);
	for (int g = 0; g < MEASURED_GROUPS; g++) {
		size_t n;
		double most;
		const struct measured_pair *p = measured_pairs(r, (enum measured_group)g, &n, &most);
		for (size_t i = 0; i < n; i++) {
			table_add(&b, cell_text(p[i].name));
			table_add(&b, cell_number(p[i].measured));
			table_add(&b, cell_number(p[i].estimated));
			table_add(&b, cell_number(p[i].estimated > 0
						      ? p[i].measured / p[i].estimated : 0));
		}
	}
	return b;
}
