/* SPDX-License-Identifier: Apache-2.0 */
/* --report --json: where each operator runs, and the operators that a cut leaves out. */
#include "part.h"

#include "base/json_out.h"

static void
put_tensors(const struct part_cut *c, const struct json_out *j, const char *key, const int *v,
	    int n)
{
	json_open(j, key, '[');
	for (int i = 0; i < n; i++)
		json_put_string(j, NULL, c->of->subgraph[0].tensor[v[i]].name);
	json_close(j, ']');
}

static void
put_operators(const struct part *p, const struct json_out *j)
{
	json_open(j, "operators", '[');
	for (int i = 0; i < p->sg->n_ops; i++) {
		const struct tfl_op *op = &p->sg->op[i];
		const struct placement *x = &p->op[i];
		const char *why = x->left_out ? x->left_out : x->npu ? NULL : x->why;
		json_line(j, 0);
		json_open(j, NULL, '{');
		json_put_i64(j, "index", i);
		json_put_string(j, "operator", tfl_op_label(op));
		json_put_string(j, "name", x->was ? x->was : part_name(p, op));
		json_put_string(j, "runs_on", x->left_out ? "none" : x->npu ? "npu" : "cpu");
		if (why)
			json_put_string(j, "why", why);
		if (!x->left_out && !x->npu) {
			json_key(j, "cpu_cycles");
			text_printf(j->t, "%.0f", cpu_cost(&p->core, p->sg, op).cycles);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

void
print_report_json(const struct part *p, const struct part *body, size_t n, struct text *t)
{
	const struct json_out out = { .t = t, .style = JSON_SPACED }, *j = &out;
	json_root(j, '{');
	json_put_string(j, "model", p->m->name);
	json_line(j, 0);
	put_operators(p, j);
	if (n) {
		json_line(j, 0);
		json_open(j, "bodies", '[');
		for (size_t i = 0; i < n; i++) {
			json_line(j, 0);
			json_open(j, NULL, '{');
			json_put_i64(j, "subgraph", body[i].body);
			json_put_string(j, "name", body[i].sg->name);
			json_line(j, 0);
			put_operators(&body[i], j);
			json_close(j, '}');
		}
		json_close(j, ']');
	}
	if (p->cut) {
		const struct part_cut *c = p->cut;
		json_line(j, 0);
		json_open(j, "cut", '{');
		put_tensors(c, j, "inputs", c->cut.in, c->cut.n_in);
		put_tensors(c, j, "outputs", c->cut.out, c->cut.n_out);
		json_open(j, "left_out", '[');
		for (int i = 0; i < c->cut.n_ops; i++) {
			if (c->cut.side[i] == CUT_INSIDE)
				continue;
			json_line(j, 0);
			json_open(j, NULL, '{');
			json_put_i64(j, "index", i);
			json_put_string(j, "operator", tfl_op_label(&c->of->subgraph[0].op[i]));
			json_put_string(j, "place", cut_side_name(c->cut.side[i]));
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	text_puts(t, "}\n");
}
