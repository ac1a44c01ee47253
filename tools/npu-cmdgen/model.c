/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model that TensorFlow Lite Micro runs: CPU operators as they were, one
 * ethos-u operator for every NPU node, four special tensors, and the arena
 * plan (ethosu-commands(7) 13, nputools-tflite(5) 6.8 and 6.9).
 */
#include "cmdgen.h"

#include <stdio.h>

enum { EMPTY_BUFFER = 0 };

/* the model being put together */
struct build {
	struct cmdgen *c;
	struct tflw_model w;
	size_t cap_buffers, cap_opcodes, cap_tensors, cap_metadata;
	uint32_t *buffer_map; /* of the original, 0: not kept yet */
	int *opcode_map;      /* of the original, -1 */
	struct tflw_subgraph sg;
	int *tensor_map;   /* of subgraph 0, -1: dropped */
	int *made;	   /* of the graph's tensors that the original hasn't, -1 */
	int64_t *plan;	   /* arena offset of every new tensor, -1 */
	size_t cap_plan;
	int flash, scratch, fast; /* tensor indices, -1 */
};

static uint32_t
add_buffer(struct build *b, struct bytes data)
{
	struct tflw_model *w = &b->w;
	agrow(b->c->a, w->buffer, (size_t)w->n_buffers, &b->cap_buffers);
	w->buffer[w->n_buffers] = data;
	return (uint32_t)w->n_buffers++;
}

static uint32_t
keep_buffer(struct build *b, uint32_t original)
{
	struct tfl_model *m = b->c->m;
	if (!m->buffer[original].p)
		return EMPTY_BUFFER;
	if (!b->buffer_map[original])
		b->buffer_map[original] = add_buffer(b, m->buffer[original]);
	return b->buffer_map[original];
}

static uint32_t
keep_opcode(struct build *b, const struct tfl_op *op)
{
	struct tflw_model *w = &b->w;
	if (b->opcode_map[op->opcode] < 0) {
		agrow(b->c->a, w->opcode, (size_t)w->n_opcodes, &b->cap_opcodes);
		b->opcode_map[op->opcode] = w->n_opcodes;
		w->opcode[w->n_opcodes++] = (struct tflw_opcode){
			.code = op->code, .custom = op->custom,
			.version = op->version };
	}
	return (uint32_t)b->opcode_map[op->opcode];
}

static uint32_t
ethosu_opcode(struct build *b)
{
	struct tflw_model *w = &b->w;
	for (int i = 0; i < w->n_opcodes; i++)
		if (w->opcode[i].custom && !strcmp(w->opcode[i].custom, "ethos-u"))
			return (uint32_t)i;
	agrow(b->c->a, w->opcode, (size_t)w->n_opcodes, &b->cap_opcodes);
	w->opcode[w->n_opcodes] = (struct tflw_opcode){
		.code = TFL_CUSTOM, .custom = "ethos-u", .version = 1 };
	return (uint32_t)w->n_opcodes++;
}

static int
add_tensor(struct build *b, struct tflw_tensor t, int64_t at)
{
	struct tflw_subgraph *g = &b->sg;
	agrow(b->c->a, g->tensor, (size_t)g->n_tensors, &b->cap_tensors);
	agrow(b->c->a, b->plan, (size_t)g->n_tensors, &b->cap_plan);
	b->plan[g->n_tensors] = at;
	g->tensor[g->n_tensors] = t;
	return g->n_tensors++;
}

/* a tensor of the original in the new model */
static int
keep_tensor(struct build *b, int index)
{
	struct tfl_tensor own;
	struct bytes data;
	if (index < 0)
		return -1;
	const struct tfl_tensor *t = &b->c->m->subgraph[0].tensor[index];
	int *kept = &b->tensor_map[index];
	if (*kept >= 0)
		return *kept;
	struct tflw_tensor w = { .from = t->ref };
	if (reshape_end(b->c, index, &own, &data)) {
		w = (struct tflw_tensor){ .t = own };
		w.buffer = data.n ? add_buffer(b, data) : EMPTY_BUFFER;
	} else {
		w.buffer = keep_buffer(b, t->buffer);
	}
	return *kept = add_tensor(b, w, -1);
}

static const int *
keep_tensors(struct build *b, const int *v, int n)
{
	int *r = anew(b->c->a, int, (size_t)n + 1);
	for (int i = 0; i < n; i++)
		r[i] = keep_tensor(b, v[i]);
	return r;
}

static int
add_bytes_tensor(struct build *b, const char *name, int64_t bytes,
		 uint32_t buffer, int64_t at)
{
	struct tflw_tensor t = { .buffer = buffer };
	t.t.name = name;
	t.t.type = TFL_UINT8;
	t.t.rank = 1;
	t.t.dim[0] = (int32_t)bytes;
	return add_tensor(b, t, at);
}

static int64_t
area_used(const struct graph *g, int place)
{
	for (size_t i = 0; i < g->n_areas; i++)
		if (!strcmp(g->areas[i]->rec.word, place_names[place]))
			return g->areas[i]->used;
	return 0;
}

static bool
add_special_tensors(struct build *b)
{
	struct cmdgen *c = b->c;
	struct g_blob *blob = graph_find_blob(c->g, "flash");
	struct bytes flash;
	if (!blob)
		return err_at(c->e, c->g->file, 0, "there is no blob 'flash'");
	if (!graph_blob(c->g, blob, &flash, c->e))
		return false;
	for (size_t i = 0; i < c->g->n_areas; i++)
		if (c->g->areas[i]->used > INT32_MAX)
			return graph_err(c->g, c->g->areas[i], c->e,
					 "an area of more than 2 GB");
	int64_t arena = area_used(c->g, PLACE_ARENA);
	int64_t cache = area_used(c->g, PLACE_CACHE);
	b->flash = add_bytes_tensor(b, "npu_flash", (int64_t)flash.n,
				    flash.n ? add_buffer(b, flash) : 0, -1);
	b->scratch = add_bytes_tensor(b, "npu_scratch", arena, EMPTY_BUFFER, 0);
	/* without spilling both names mean the same memory (section 13.3) */
	b->fast = add_bytes_tensor(b, "npu_scratch_fast",
				   c->memory.spilling ? cache : arena,
				   EMPTY_BUFFER, 0);
	return true;
}

/* a variable of the graph's own */
static int
make_tensor(struct build *b, const struct g_tensor *t)
{
	int *made = &b->made[t->rec.index];
	if (*made >= 0)
		return *made;
	struct tflw_tensor w = { .buffer = EMPTY_BUFFER };
	w.t.name = t->name;
	w.t.type = t->shape.type;
	w.t.rank = t->shape.rank;
	memcpy(w.t.dim, t->shape.dim, sizeof(w.t.dim));
	w.t.has_shape = true;
	w.t.is_variable = t->variable != 0;
	if (G_HAS(t, G_TENSOR_scale))
		w.t.quant = (struct tfl_quant){ .n_scale = 1, .n_zero = 1,
						.scale = &t->scale,
						.zero = &t->zero };
	return *made = add_tensor(b, w, -1);
}

static bool
is_listed(const struct g_tfls *instead, const int *v, int n, int index)
{
	n = instead ? instead->n : n;
	for (int i = 0; i < n; i++)
		if ((instead ? instead->v[i].index : v[i]) == index)
			return true;
	return false;
}

/* is it an input or output of the model, as that is called here? */
static bool
is_end(const struct build *b, int index)
{
	const struct graph *g = b->c->g;
	const struct tfl_subgraph *sg = &b->c->m->subgraph[0];
	const struct g_model *m = g->n_models ? g->models[0] : NULL;
	bool in = m && G_HAS(m, G_MODEL_inputs), out = m && G_HAS(m, G_MODEL_outputs);
	return is_listed(in ? &m->inputs : NULL, sg->in, sg->n_in, index) ||
	       is_listed(out ? &m->outputs : NULL, sg->out, sg->n_out, index);
}

/*
 * TFLite tensors that a graph tensor stands for, or it itself.  Where base pointers are
 * counted each is one: what has memory of its own is no other tensor there.
 */
static int
node_tensors(struct build *b, const struct g_tensors *l, int *out)
{
	int n = 0;
	for (size_t i = 0; i < l->n; i++) {
		for (int k = 0; k < l->v[i]->tfl.n; k++)
			if (!tensor_is_separate(l->v[i]) ||
			    is_end(b, l->v[i]->tfl.v[k].index))
				out[n++] = keep_tensor(b, l->v[i]->tfl.v[k].index);
		if (!l->v[i]->tfl.n)
			out[n++] = make_tensor(b, l->v[i]);
	}
	return n;
}

static int
count_tensors(const struct g_tensors *l)
{
	int n = 0;
	for (size_t i = 0; i < l->n; i++)
		n += l->v[i]->tfl.n ? l->v[i]->tfl.n : 1;
	return n;
}

static bool
add_npu_op(struct build *b, struct tflw_op *op, size_t node)
{
	enum { MAX_BASES = 8 }; /* what TFLM hands to the driver */
	static const uint8_t options[] = { 0x01, 0x04, 0x01 };
	struct cmdgen *c = b->c;
	const struct g_node *n = c->g->nodes[node];
	struct bytes payload = emit_payload(c->a, c->accel, &c->stream[node]);
	const char *name = arena_printf(c->a, "npu_command_stream_%zu", node);
	int *in = anew(c->a, int, (size_t)count_tensors(&n->in) + 4);
	int *out = anew(c->a, int, (size_t)count_tensors(&n->out) + 1);
	in[0] = add_bytes_tensor(b, name, (int64_t)payload.n,
				 add_buffer(b, payload), -1);
	in[1] = b->flash;
	in[2] = b->scratch;
	in[3] = b->fast;
	uint32_t opcode = ethosu_opcode(b);
	int n_in = 4 + node_tensors(b, &n->in, in + 4);
	int n_out = node_tensors(b, &n->out, out);
	*op = (struct tflw_op){
		.opcode = opcode,
		.n_in = n_in, .n_out = n_out,
		.in = in, .out = out,
		.custom_options = { .p = options, .n = sizeof(options) },
	};
	return true;
}

static void
add_cpu_op(struct build *b, struct tflw_op *op, int index)
{
	const struct tfl_op *from = &b->c->m->subgraph[0].op[index];
	*op = (struct tflw_op){
		.from = from->ref, .n_in = from->n_in,
		.n_out = from->n_out, .n_mid = from->n_mid,
	};
	op->opcode = keep_opcode(b, from);
	op->in = keep_tensors(b, from->in, from->n_in);
	op->out = keep_tensors(b, from->out, from->n_out);
	op->mid = keep_tensors(b, from->mid, from->n_mid);
}

/* tensors of the original that a record names */
static bool
check_tensors(const struct cmdgen *c, const struct g_rec *r, const char *id,
	      const struct g_tfls *l)
{
	int n = c->m->subgraph[0].n_tensors;
	for (int k = 0; k < l->n; k++)
		if (l->v[k].subgraph || l->v[k].index >= n)
			return err_at(c->e, c->g->file, r->line,
				      "%s%d names tensor %d.%d, which the model "
				      "hasn't", id, r->id, l->v[k].subgraph,
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
				return graph_err(c->g, n, c->e, "n%d names operator "
						 "%d.%d, which the model hasn't",
						 n->rec.id, n->tfl.v[k].subgraph,
						 n->tfl.v[k].index);
		if (n->kind == NODE_CPU && !original)
			return graph_err(c->g, n, c->e, "n%d: a CPU node of a graph "
					 "without a model", n->rec.id);
		if (n->kind == NODE_CPU && n->tfl.n != 1)
			return graph_err(c->g, n, c->e, "n%d: a CPU node is one "
					 "operator", n->rec.id);
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

/* inputs or outputs: those that the graph lists, else of the original */
static const int *
keep_ends(struct build *b, const struct g_tfls *l, const int *v, int *n)
{
	if (!l)
		return keep_tensors(b, v, *n);
	int *ends = anew(b->c->a, int, (size_t)l->n + 1);
	for (int i = 0; i < l->n; i++)
		ends[i] = l->v[i].index;
	*n = l->n;
	return keep_tensors(b, ends, l->n);
}

/* tensors of the graph, where there is no original */
static const int *
make_ends(struct build *b, const struct g_tensors *l, int *n)
{
	int *ends = anew(b->c->a, int, l->n + 1);
	for (size_t i = 0; i < l->n; i++)
		ends[i] = make_tensor(b, l->v[i]);
	*n = (int)l->n;
	return ends;
}

static void
plan_tensor(struct build *b, int tensor, int64_t at)
{
	if (tensor >= 0)
		b->plan[tensor] = at;
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
	b->sg.in = keep_ends(b, in ? &m->inputs : NULL, from->in, &b->sg.n_in);
	b->sg.n_out = from->n_out;
	b->sg.out = keep_ends(b, out ? &m->outputs : NULL, from->out, &b->sg.n_out);
	if (m && G_HAS(m, G_MODEL_in))
		b->sg.in = make_ends(b, &m->in, &b->sg.n_in);
	if (m && G_HAS(m, G_MODEL_out))
		b->sg.out = make_ends(b, &m->out, &b->sg.n_out);
	b->sg.op = anew(c->a, struct tflw_op, c->g->n_nodes + 1);
	bool special = false;
	for (size_t i = 0; i < c->g->n_nodes; i++) {
		struct tflw_op *op = &b->sg.op[b->sg.n_ops];
		if (c->g->nodes[i]->kind == NODE_CPU) {
			add_cpu_op(b, op, c->g->nodes[i]->tfl.v[0].index);
		} else {
			/* a node of aliases only has nothing to run */
			if (c->stream[i].n_marks == 0)
				continue;
			if (!special && !add_special_tensors(b))
				return false;
			special = true;
			if (!add_npu_op(b, op, i))
				return false;
		}
		b->sg.n_ops++;
	}
	for (size_t i = 0; i < c->g->n_tensors; i++) {
		const struct g_tensor *t = c->g->tensors[i];
		if (!G_HAS(t, G_TENSOR_at) || t->area != PLACE_ARENA ||
		    tensor_is_const(t))
			continue;
		for (int k = 0; k < t->tfl.n; k++)
			plan_tensor(b, b->tensor_map[t->tfl.v[k].index], t->at);
		plan_tensor(b, b->made[i], t->at);
	}
	return true;
}

static bool
names_subgraph(const struct tfl_op *op)
{
	return op->code == TFL_CALL_ONCE || op->code == TFL_IF ||
	       op->code == TFL_WHILE || op->code > TFL_ASSIGN_VARIABLE;
}

/*
 * Nobody needs the subgraph that initialised variables when those are tensors.
 * Where no operator ever named another subgraph, they are functions of their own.
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

/* the other subgraphs go along as they are */
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

static void
add_metadata(struct build *b, const char *name, struct bytes data)
{
	struct tflw_model *w = &b->w;
	agrow(b->c->a, w->metadata, (size_t)w->n_metadata, &b->cap_metadata);
	w->metadata[w->n_metadata++] = (struct tflw_metadata){
		.name = name, .buffer = add_buffer(b, data) };
}

static void
keep_metadata(struct build *b)
{
	struct fb_ref root = b->c->m->root;
	uint32_t n = fb_vector(root, FB_Model_metadata).n;
	for (uint32_t i = 0; i < n; i++) {
		struct fb_ref md = fb_item(root, FB_Model_metadata, i);
		const char *name = fb_string(md, FB_Metadata_name, NULL);
		uint64_t buffer = (uint64_t)fb_int(md, FB_Metadata_buffer);
		if (strcmp(name, "OfflineMemoryAllocation") != 0 &&
		    strcmp(name, MAP_METADATA) != 0 &&
		    strcmp(name, ENDS_METADATA) != 0 &&
		    buffer < b->c->m->n_buffers && b->c->m->buffer[buffer].p)
			add_metadata(b, name, b->c->m->buffer[buffer]);
	}
}

/* section 13.4; tensors of the other subgraphs are the runtime's */
static void
add_plan(struct build *b)
{
	int n = 0, k = 0;
	for (int i = 0; i < b->w.n_subgraphs; i++)
		n += b->w.subgraph[i].n_tensors;
	uint8_t *p = arena_alloc(b->c->a, 4 * ((size_t)n + 3), 1);
	store_le32(p, 0);
	store_le32(p + 4, (uint32_t)b->w.n_subgraphs);
	store_le32(p + 8, (uint32_t)n);
	for (; k < b->sg.n_tensors; k++)
		store_le32(p + 12 + 4 * k, (uint32_t)(int32_t)b->plan[k]);
	for (; k < n; k++)
		store_le32(p + 12 + 4 * k, UINT32_MAX);
	add_metadata(b, "OfflineMemoryAllocation",
		     (struct bytes){ .p = p, .n = 4 * ((size_t)n + 3) });
}

static void
add_ends(struct build *b)
{
	struct ends x = find_ends(b->c);
	struct bytes text = ends_print(b->c->a, &x);
	if (text.p)
		add_metadata(b, ENDS_METADATA, text);
}

/* last, so that what comes before is the same with it and without */
static void
add_map(struct build *b)
{
	const struct cmdgen *c = b->c;
	bool any = false;
	for (size_t i = 0; i < c->g->n_nodes; i++)
		any |= c->stream[i].n_marks > 0;
	if (any && !c->no_map)
		add_metadata(b, MAP_METADATA,
			     map_encode(c->a, map_make(c->a, c->g, c->m, c->stream)));
}

bool
build_model(struct cmdgen *c, struct bytes *out)
{
	struct build b = { .c = c };
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
		copy_subgraph(&b, i, &b.w.subgraph[i]);
	keep_metadata(&b);
	add_plan(&b);
	add_ends(&b);
	add_map(&b);
	struct err e = { 0 };
	return tfl_write(c->a, &b.w, out, &e) ||
	       err_set(c->e, "%s: %s", c->g->file, e.text);
}
