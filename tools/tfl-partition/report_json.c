/* SPDX-License-Identifier: Apache-2.0 */
/* --report --json: where each operator runs, and the operators that a cut leaves out. */
#include "part.h"

#include "base/cli.h"

static void
put_string(struct text *t, const char *key, const char *s)
{
	text_printf(t, ", \"%s\": ", key);
	text_quoted(t, s, strlen(s));
}

static void
put_operator(const struct part *p, struct text *t, int i)
{
	const struct tfl_op *op = &p->sg->op[i];
	const struct placement *x = &p->op[i];
	text_printf(t, "{\"index\": %d", i);
	put_string(t, "operator", tfl_op_label(op));
	put_string(t, "name", x->was ? x->was : part_name(p, op));
	put_string(t, "runs_on", x->left_out ? "none" : x->npu ? "npu" : "cpu");
	const char *why = x->left_out ? x->left_out : x->npu ? NULL : x->why;
	if (why)
		put_string(t, "why", why);
	if (!x->left_out && !x->npu)
		text_printf(t, ", \"cpu_cycles\": %.0f", cpu_cycles(p->sg, op));
	text_putc(t, '}');
}

static void
put_tensors(const struct part_cut *c, struct text *t, const char *key, const int *v, int n)
{
	text_printf(t, "\"%s\": [", key);
	for (int i = 0; i < n; i++) {
		const char *name = c->of->subgraph[0].tensor[v[i]].name;
		text_puts(t, i ? ", " : "");
		text_quoted(t, name, strlen(name));
	}
	text_putc(t, ']');
}

static void
put_cut(const struct part_cut *c, struct text *t)
{
	const char *sep = "\n";
	text_puts(t, ",\n\"cut\": {");
	put_tensors(c, t, "inputs", c->cut.in, c->cut.n_in);
	text_puts(t, ", ");
	put_tensors(c, t, "outputs", c->cut.out, c->cut.n_out);
	text_puts(t, ", \"left_out\": [");
	for (int i = 0; i < c->cut.n_ops; i++) {
		if (c->cut.side[i] == CUT_INSIDE)
			continue;
		text_printf(t, "%s{\"index\": %d", sep, i);
		put_string(t, "operator", tfl_op_label(&c->of->subgraph[0].op[i]));
		put_string(t, "place", cut_side_name(c->cut.side[i]));
		text_putc(t, '}');
		sep = ",\n";
	}
	text_puts(t, "]}");
}

void
print_report_json(const struct part *p, struct text *t)
{
	text_puts(t, "{\"model\": ");
	text_quoted(t, p->m->name, strlen(p->m->name));
	text_puts(t, ",\n\"operators\": [");
	for (int i = 0; i < p->sg->n_ops; i++) {
		text_puts(t, i ? ",\n" : "\n");
		put_operator(p, t, i);
	}
	text_putc(t, ']');
	if (p->cut)
		put_cut(p->cut, t);
	text_puts(t, "}\n");
}
