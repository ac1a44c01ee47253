/* SPDX-License-Identifier: Apache-2.0 */
/* What a device measured, beside the estimate: operator by operator. */
#include "report.h"

#include <string.h>

static const char title[] = "Measured beside estimated";

static const struct json *
list_of(const struct report *r, const char *key, size_t *n)
{
	return json_items(json_get(r->root, "measured"), key, n);
}

struct pair {
	const char *name;
	double measured, estimated; /* estimated 0: unknown */
};

/* Cycles of the operators of a log, or shares of the samples of a histogram. */
static struct pair *
pairs_of(const struct report *r, bool samples, size_t *n, double *most)
{
	size_t n_estimates;
	const struct json *v = list_of(r, samples ? "sampled" : "operators", n);
	const struct json *estimate = list_of(r, "operators_estimated", &n_estimates);
	struct pair *p = anew(r->a, struct pair, *n + 1);
	*most = 0;
	for (size_t i = 0; i < *n; i++) {
		p[i].name = json_string(&v[i], "name", "?");
		p[i].measured = json_number(&v[i], samples ? "share" : "ticks", 0);
		p[i].estimated = samples ? json_number(&v[i], "estimated_share", 0)
				 : i < n_estimates ? estimate[i].number : 0;
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

static void
put_pair(struct text *t, const struct report *r, const struct pair *x, double most)
{
	const char *name = text_shortened(r->a, text_plain(r->a, x->name), 36);
	text_printf(t, "  %-36s measured  %12.6g ", name, x->measured);
	put_bar(t, '#', x->measured, most);
	text_printf(t, "  %-36s estimated %12.6g ", "", x->estimated);
	put_bar(t, '-', x->estimated, most);
}

void
print_measured(struct text *t, const struct report *r)
{
	for (int samples = 0; samples < 2; samples++) {
		size_t n;
		double most;
		const struct pair *p = pairs_of(r, samples, &n, &most);
		if (n)
			text_printf(t, "\n%s%s\n", title,
				    samples ? ", shares of the time" : ", cycles");
		for (size_t i = 0; i < n; i++)
			put_pair(t, r, &p[i], most);
	}
}

struct table
table_measured(const struct report *r)
{
	static const char *const columns[] = { "operator", "measured", "estimated", "ratio", NULL };
	struct table b = table_of(r->a, title, columns);
	for (int samples = 0; samples < 2; samples++) {
		size_t n;
		double most;
		const struct pair *p = pairs_of(r, samples, &n, &most);
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
