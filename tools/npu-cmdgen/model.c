/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the model that TensorFlow Lite Micro runs: unchanged CPU operators, one
 * ethos-u operator for every NPU node, four special tensors, and the arena plan
 * (ethosu-commands(7) 13, nputools-tflite(5) 6.8 and 6.9).
 */
#include "model.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "tflite/fields.h"
#include "tflite/write.h"

static void
add_npu_op(struct build *b, struct tflw_op *op, size_t node)
{
	struct cmdgen *c = b->c;
	const struct g_node *n = c->g->nodes[node];
	struct bytes payload = emit_payload(c->a, c->accel, &c->stream[node]);
	const char *name = arena_printf(c->a, "npu_command_stream_%zu", node);
	int *in = anew(c->a, int, (size_t)count_tensors(&n->in) + 4 + STREAM_IO_REGIONS);
	int *out = anew(c->a, int, (size_t)count_tensors(&n->out) + 1);
	in[0] = add_bytes_tensor(b, name, (int64_t)payload.n,
				 add_buffer(b, payload), -1);
	in[1] = b->flash;
	in[2] = b->scratch;
	in[3] = b->fast;
	uint32_t opcode = ethosu_opcode(b);
	int n_in = 4;
	for (int k = 0; k < STREAM_IO_REGIONS; k++)
		if (b->io_region[k] >= 0)
			in[n_in++] = b->io_region[k];
	n_in += node_tensors(b, &n->in, in + n_in);
	int n_out = node_tensors(b, &n->out, out);
	*op = (struct tflw_op){
		.opcode = opcode,
		.n_in = n_in, .n_out = n_out,
		.in = in, .out = out,
		.custom_options = { .p = ethosu_options, .n = sizeof(ethosu_options) },
	};
}

/* checks that the original has the tensors that a record names */
static bool
check_tensors(const struct cmdgen *c, const struct g_rec *r, const char *id,
	      const struct g_tfls *l)
{
	int n = c->m->subgraph[0].n_tensors;
	for (int k = 0; k < l->n; k++)
		if (l->v[k].subgraph || l->v[k].index >= n)
			return err_at(c->e, c->g->file, r->line,
				      "%s%d names tensor %d.%d, which the model does "
				      "not have", id, r->id, l->v[k].subgraph,
				      l->v[k].index);
	return true;
}

static bool
check_nodes(const struct cmdgen *c)
{
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	bool original = graph_find_blob(c->g, "model") != NULL;
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		const struct g_node *n = c->g->nodes[i];
		for (int k = 0; original && k < n->tfl.n; k++)
			if (n->tfl.v[k].subgraph || n->tfl.v[k].index >= sg->n_ops)
				return graph_err(c->g, n, c->e,
				    "n%d names operator %d.%d, which the model does "
				    "not have",
						 n->rec.id, n->tfl.v[k].subgraph,
						 n->tfl.v[k].index);
		if (n->kind == NODE_CPU && !original)
			return graph_err(c->g, n, c->e, "n%d is a CPU node, but the "
							"graph has no model", n->rec.id);
		if (n->kind == NODE_CPU && n->tfl.n != 1)
			return graph_err(c->g, n, c->e, "n%d: a CPU node must have "
							"exactly one operator",
							n->rec.id);
	}
	for (size_t i = 0; i < c->g->n_tensors; i++)
		if (!check_tensors(c, &c->g->tensors[i]->rec, "t",
				   &c->g->tensors[i]->tfl))
			return false;
	for (size_t i = 0; i < c->g->n_models; i++)
		if (!check_tensors(c, &c->g->models[i]->rec, "m",
				   &c->g->models[i]->inputs) ||
		    !check_tensors(c, &c->g->models[i]->rec, "m",
				   &c->g->models[i]->outputs))
			return false;
	return true;
}

/* The model's inputs or outputs: those that the graph lists, else those of the original. */
static const int *
keep_borders(struct build *b, const struct g_tfls *l, const int *v, int *n)
{
	if (!l)
		return keep_tensors(b, v, *n);
	int *borders = anew(b->c->a, int, (size_t)l->n + 1);
	for (int i = 0; i < l->n; i++)
		borders[i] = l->v[i].index;
	*n = l->n;
	return keep_tensors(b, borders, l->n);
}

/* tensors of the graph, for a graph without an original model */
static const int *
make_borders(struct build *b, const struct g_tensors *l, int *n)
{
	int *borders = anew(b->c->a, int, l->n + 1);
	for (size_t i = 0; i < l->n; i++)
		borders[i] = make_tensor(b, l->v[i]);
	*n = (int)l->n;
	return borders;
}

static bool
build_main(struct build *b)
{
	struct cmdgen *c = b->c;
	const struct tfl_subgraph *from = &c->m->subgraph[0];
	const struct g_model *m = c->g->n_models ? c->g->models[0] : NULL;
	bool in = m && G_HAS(m, G_MODEL_inputs), out = m && G_HAS(m, G_MODEL_outputs);
	b->sg.name = from->name;
	b->sg.n_in = from->n_in;
	b->sg.in = keep_borders(b, in ? &m->inputs : NULL, from->in, &b->sg.n_in);
	b->sg.n_out = from->n_out;
	b->sg.out = keep_borders(b, out ? &m->outputs : NULL, from->out, &b->sg.n_out);
	if (m && G_HAS(m, G_MODEL_in))
		b->sg.in = make_borders(b, &m->in, &b->sg.n_in);
	if (m && G_HAS(m, G_MODEL_out))
		b->sg.out = make_borders(b, &m->out, &b->sg.n_out);
	b->sg.op = anew(c->a, struct tflw_op, c->g->n_nodes + 2);
	bool special = false;
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		struct tflw_op *op = &b->sg.op[b->sg.n_ops];
		if (c->g->nodes[i]->kind == NODE_CPU) {
			const struct tfl_op *o = &from->op[c->g->nodes[i]->tfl.v[0].index];
			*op = (struct tflw_op){
				.from = o->ref, .n_in = o->n_in,
				.n_out = o->n_out, .n_mid = o->n_mid,
			};
			op->opcode = keep_opcode(b, o);
			op->in = keep_tensors(b, o->in, o->n_in);
			op->out = keep_tensors(b, o->out, o->n_out);
			op->mid = keep_tensors(b, o->mid, o->n_mid);
		} else {
			/* a node that has only aliases runs nothing */
			if (c->stream[i].n_marks == 0)
				continue;
			if (!special && !add_special_tensors(b))
				return false;
			if (!special && !add_io_regions(b))
				return false;
			special = true;
			add_npu_op(b, op, i);
		}
		b->sg.n_ops++;
	}
	for (size_t i = 0; i < c->g->n_tensors; i++) {
		const struct g_tensor *t = c->g->tensors[i];
		/* where the tensor is in the plan; -1: outside of the arena */
		int64_t at = -1;
		int region = t->area - PLACE_IO;
		if (G_HAS(t, G_TENSOR_at) && !tensor_is_const(t) && t->area == PLACE_ARENA)
			at = t->at;
		else if (G_HAS(t, G_TENSOR_at) && !tensor_is_const(t) && region >= 0 &&
			 region < STREAM_IO_REGIONS && b->io_region[region] >= 0)
			at = b->plan[b->io_region[region]] + t->at;
		for (int k = 0; at >= 0 && k < t->tfl.n; k++) {
			int kept = b->tensor_map[t->tfl.v[k].index];
			if (kept >= 0)
				b->plan[kept] = at;
		}
		if (at >= 0 && b->made[i] >= 0)
			b->plan[b->made[i]] = at;
	}
	b->arena_end = max_i64(b->arena_end, graph_place_used(c->g, PLACE_ARENA));
	if (!place_bodies(b))
		return false;
	add_guard(b);
	return true;
}

static bool
names_subgraph(const struct tfl_op *op)
{
	return op->code == TFL_CALL_ONCE || op->code == TFL_IF ||
	       op->code == TFL_WHILE || op->code > TFL_ASSIGN_VARIABLE;
}

/*
 * A subgraph that only initialised variables is dropped when the variables are tensors.
 * If no operator of the original names another subgraph, the subgraphs are functions of
 * their own and stay.
 */
static bool
subgraphs_needed(const struct cmdgen *c)
{
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	bool named = false;
	for (int i = 0; i < sg->n_ops; i++)
		named |= names_subgraph(&sg->op[i]);
	for (size_t i = 0; i < c->g->n_nodes; i++)
		if (c->g->nodes[i]->kind == NODE_CPU &&
		    names_subgraph(&sg->op[c->g->nodes[i]->tfl.v[0].index]))
			return true;
	return !named;
}

/* copies one of the other subgraphs without changes */
static void
copy_subgraph(struct build *b, int index, struct tflw_subgraph *out)
{
	const struct tfl_subgraph *from = &b->c->m->subgraph[index];
	*out = (struct tflw_subgraph){
		.name = from->name, .in = from->in, .out = from->out,
		.n_in = from->n_in, .n_out = from->n_out,
		.n_tensors = from->n_tensors, .n_ops = from->n_ops,
	};
	out->tensor = anew(b->c->a, struct tflw_tensor, (size_t)from->n_tensors + 1);
	for (int i = 0; i < from->n_tensors; i++)
		out->tensor[i] = (struct tflw_tensor){
			.from = from->tensor[i].ref,
			.buffer = keep_buffer(b, from->tensor[i].buffer) };
	out->op = anew(b->c->a, struct tflw_op, (size_t)from->n_ops + 1);
	for (int i = 0; i < from->n_ops; i++) {
		const struct tfl_op *op = &from->op[i];
		out->op[i] = (struct tflw_op){
			.from = op->ref, .opcode = keep_opcode(b, op),
			.n_in = op->n_in, .n_out = op->n_out, .n_mid = op->n_mid,
			.in = op->in, .out = op->out, .mid = op->mid };
	}
}

bool
build_model(struct cmdgen *c, struct bytes *out)
{
	struct build b = { .c = c, .io_region = { -1, -1 } };
	if (!check_nodes(c))
		return false;
	const struct tfl_subgraph *sg = &c->m->subgraph[0];
	uint32_t opcodes = fb_vector(c->m->root, FB_Model_operator_codes).n;
	b.buffer_map = anew(c->a, uint32_t, c->m->n_buffers + 1);
	b.opcode_map = anew(c->a, int, opcodes + 1);
	b.tensor_map = anew(c->a, int, (size_t)sg->n_tensors + 1);
	for (uint32_t i = 0; i < opcodes; i++)
		b.opcode_map[i] = -1;
	for (int i = 0; i < sg->n_tensors; i++)
		b.tensor_map[i] = -1;
	b.made = anew(c->a, int, c->g->n_tensors + 1);
	for (size_t i = 0; i < c->g->n_tensors; i++)
		b.made[i] = -1;
	(void)add_buffer(&b, (struct bytes){ .n = 0 });
	if (!build_main(&b))
		return false;
	b.w.description = "nputools " NPUTOOLS_VERSION;
	b.w.n_subgraphs = subgraphs_needed(c) ? c->m->n_subgraphs : 1;
	b.w.subgraph = anew(c->a, struct tflw_subgraph, (size_t)b.w.n_subgraphs);
	b.w.subgraph[0] = b.sg;
	for (int i = 1; i < b.w.n_subgraphs; i++)
		if (!put_body(&b, i, &b.w.subgraph[i]))
			copy_subgraph(&b, i, &b.w.subgraph[i]);
	keep_signatures(&b);
	build_metadata(&b);
	struct err e = { 0 };
	if (!tfl_write(c->a, &b.w, out, &e))
		return err_at(c->e, c->g->file, 0, "%s", e.text);
	return tfl_append_archive(c->a, c->m->file, out) ||
	       err_at(c->e, c->g->file, 0, "with the archive behind the model, the file is "
					   "larger than 2 GB");
}
