/* SPDX-License-Identifier: Apache-2.0 */
#include "tflite/calls.h"

#include "tflite/fields.h"
#include "tflite/write.h"

bool
tfl_callees(const struct tfl_op *op, int64_t callee[TFL_CALLEES])
{
	if (op->code == TFL_IF) {
		callee[0] = TFL_OPT(op, IfOptions, then_subgraph_index);
		callee[1] = TFL_OPT(op, IfOptions, else_subgraph_index);
	} else if (op->code == TFL_WHILE) {
		callee[0] = TFL_OPT(op, WhileOptions, cond_subgraph_index);
		callee[1] = TFL_OPT(op, WhileOptions, body_subgraph_index);
	}
	return op->code == TFL_IF || op->code == TFL_WHILE;
}

int *
tfl_call_order(struct arena *a, const struct tfl_model *m, struct err *e)
{
	int *calls = anew(a, int, (size_t)m->n_subgraphs);
	int *order = anew(a, int, (size_t)m->n_subgraphs);
	int64_t to[TFL_CALLEES];
	int n = 0;
	for (int s = 0; s < m->n_subgraphs; s++)
		for (int i = 0; i < m->subgraph[s].n_ops; i++) {
			const struct tfl_op *op = &m->subgraph[s].op[i];
			for (int k = 0; tfl_callees(op, to) && k < TFL_CALLEES; k++) {
				if (to[k] < 1 || to[k] >= m->n_subgraphs) {
					(void)err_at(e, m->name, 0, "subgraph %d: operator "
						     "%d (%s) calls subgraph %lld, not one "
						     "of 1 to %d", s, i, tfl_op_label(op),
						     (long long)to[k], m->n_subgraphs - 1);
					return NULL;
				}
				calls[to[k]]++;
			}
		}
	for (int s = 0; s < m->n_subgraphs; s++)
		if (!calls[s])
			order[n++] = s;
	for (int k = 0; k < n; k++) {
		const struct tfl_subgraph *g = &m->subgraph[order[k]];
		for (int i = 0; i < g->n_ops; i++)
			for (int c = 0; tfl_callees(&g->op[i], to) && c < TFL_CALLEES; c++)
				if (!--calls[to[c]])
					order[n++] = (int)to[c];
	}
	if (n == m->n_subgraphs)
		return order;
	for (n = 0; !calls[n];)
		n++;
	(void)err_at(e, m->name, 0, "subgraph %d is called by itself or by subgraphs that call "
				    "each other", n);
	return NULL;
}

bool *
tfl_bodies(struct arena *a, const struct tfl_model *m)
{
	bool *body = anew(a, bool, (size_t)m->n_subgraphs);
	const int *order = tfl_call_order(a, m, &(struct err){ 0 });
	int64_t to[TFL_CALLEES];
	for (int k = 0; order && k < m->n_subgraphs; k++) {
		const struct tfl_subgraph *g = &m->subgraph[order[k]];
		for (int i = 0; (!order[k] || body[order[k]]) && i < g->n_ops; i++)
			for (int c = 0; tfl_callees(&g->op[i], to) && c < TFL_CALLEES; c++)
				body[to[c]] = true;
	}
	return body;
}

bool
tfl_body(struct arena *a, const struct tfl_model *m, int n, struct bytes *out,
	 struct err *e)
{
	struct tflw_model w;
	struct err inner = { 0 };
	if (n < 1 || n >= m->n_subgraphs || !tfl_bodies(a, m)[n])
		return err_at(e, m->name, 0, "subgraph %d is no body of IF or WHILE", n);
	tflw_copy(a, m, &w);
	w.subgraph[0] = w.subgraph[n];
	w.subgraph[n] = (struct tflw_subgraph){ .name = w.subgraph[0].name };
	/* buffers that no tensor uses become empty */
	bool *used = anew(a, bool, (size_t)w.n_buffers);
	for (int s = 0; s < w.n_subgraphs; s++)
		for (int i = 0; i < w.subgraph[s].n_tensors; i++)
			used[w.subgraph[s].tensor[i].buffer] = true;
	for (int i = 0; i < w.n_buffers; i++)
		if (!used[i])
			w.buffer[i] = (struct bytes){ 0 };
	return tfl_write(a, &w, out, &inner) || err_at(e, m->name, 0, "%s", inner.text);
}
