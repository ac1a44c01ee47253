/* SPDX-License-Identifier: Apache-2.0 */
/* Makes buffers, operator codes and tensors of the compiled model's first subgraph. */
#include "model.h"

#include "base/fixed.h"
#include "graph/build.h"
#include "graph/facts.h"
#include "tflite/write.h"

#include <assert.h>
#include <string.h>

uint32_t
add_buffer(struct build *b, struct bytes data)
{
	struct tflw_model *w = &b->w;
	agrow(b->c->a, w->buffer, (size_t)w->n_buffers, &b->cap_buffers);
	w->buffer[w->n_buffers] = data;
	return (uint32_t)w->n_buffers++;
}

uint32_t
keep_buffer(struct build *b, uint32_t original)
{
	struct tfl_model *m = b->c->m;
	if (!m->buffer[original].p)
		return EMPTY_BUFFER;
	if (!b->buffer_map[original])
		b->buffer_map[original] = add_buffer(b, m->buffer[original]);
	return b->buffer_map[original];
}

uint32_t
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

uint32_t
add_opcode(struct build *b, const struct tflw_opcode *o)
{
	struct tflw_model *w = &b->w;
	for (int i = 0; i < w->n_opcodes; i++) {
		const struct tflw_opcode *x = &w->opcode[i];
		if (x->code == o->code && x->version == o->version &&
		    !strcmp(x->custom ? x->custom : "", o->custom ? o->custom : ""))
			return (uint32_t)i;
	}
	agrow(b->c->a, w->opcode, (size_t)w->n_opcodes, &b->cap_opcodes);
	w->opcode[w->n_opcodes] = *o;
	return (uint32_t)w->n_opcodes++;
}

uint32_t
ethosu_opcode(struct build *b)
{
	return add_opcode(b, &(struct tflw_opcode){ .code = TFL_CUSTOM, .custom = "ethos-u",
						    .version = 1 });
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

/* copies a tensor of the original to the new model */
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
	if (reshape_border(b->c, index, &own, &data)) {
		w = (struct tflw_tensor){ .t = own };
		w.buffer = data.n ? add_buffer(b, data) : EMPTY_BUFFER;
	} else {
		w.buffer = keep_buffer(b, t->buffer);
	}
	return *kept = add_tensor(b, w, -1);
}

const int *
keep_tensors(struct build *b, const int *v, int n)
{
	int *r = anew(b->c->a, int, (size_t)n + 1);
	for (int i = 0; i < n; i++)
		r[i] = keep_tensor(b, v[i]);
	return r;
}

int
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

bool
add_special_tensors(struct build *b)
{
	struct cmdgen *c = b->c;
	struct g_blob *blob = graph_find_blob(c->g, "flash");
	struct bytes flash;
	if (!blob)
		return err_at(c->e, c->g->file, 0, "the graph has no blob 'flash': run "
						   "npu-wenc on it first");
	if (!graph_blob(c->g, blob, &flash, c->e))
		return false;
	for (size_t i = 0; i < c->g->n_areas; i++)
		if (c->g->areas[i]->used > INT32_MAX)
			return graph_err(c->g, c->g->areas[i], c->e,
					 "this area is larger than 2 GB");
	int64_t arena = graph_place_used(c->g, PLACE_ARENA);
	int64_t cache = graph_place_used(c->g, PLACE_CACHE);
	b->flash = add_bytes_tensor(b, "npu_flash", (int64_t)flash.n,
				    flash.n ? add_buffer(b, flash) : 0, -1);
	b->scratch = add_bytes_tensor(b, "npu_scratch", arena, EMPTY_BUFFER, 0);
	/* without spilling, both names mean the same memory (ethosu-commands(7) 13.3) */
	b->fast = add_bytes_tensor(b, "npu_scratch_fast",
				   c->memory.spilling ? cache : arena,
				   EMPTY_BUFFER, 0);
	return true;
}

bool
add_io_regions(struct build *b)
{
	enum { ALIGN = 16 }; /* also the least size, because tensors have bytes */
	static const char *const names[] = { "npu_inputs", "npu_outputs" };
	const struct graph *g = b->c->g;
	int64_t at = graph_place_used(g, PLACE_ARENA);
	int64_t fast = graph_place_used(g, PLACE_CACHE);
	static_assert(ARRAY_LEN(names) == STREAM_IO_REGIONS, "every region has a name");
	if (g->n_nodes != 1 || !graph_has_separate(g) || !node_packs_io(g->nodes[0]))
		return true;
	at = at > fast ? at : fast;
	for (int k = 0; k < STREAM_IO_REGIONS; k++) {
		int64_t used = graph_place_used(g, PLACE_IO + k);
		int64_t bytes = used > ALIGN ? used : ALIGN;
		at = round_up_i64(at, ALIGN);
		if (at + bytes > INT32_MAX)
			return err_at(b->c->e, g->file, 0, "scratch memory, inputs and outputs "
							   "are larger than 2 GB");
		b->io_region[k] = add_bytes_tensor(b, names[k], bytes, EMPTY_BUFFER, at);
		b->arena_end = at += bytes;
	}
	return true;
}

int
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

/* true for an input or output of the finished model */
static bool
is_border(const struct build *b, int index)
{
	const struct graph *g = b->c->g;
	const struct tfl_subgraph *sg = &b->c->m->subgraph[0];
	const struct g_model *m = g->n_models ? g->models[0] : NULL;
	bool in = m && G_HAS(m, G_MODEL_inputs), out = m && G_HAS(m, G_MODEL_outputs);
	return is_listed(in ? &m->inputs : NULL, sg->in, sg->n_in, index) ||
	       is_listed(out ? &m->outputs : NULL, sg->out, sg->n_out, index);
}

int
node_tensors(struct build *b, const struct g_tensors *l, int *out)
{
	int n = 0;
	for (size_t i = 0; i < l->n; i++) {
		for (int k = 0; k < l->v[i]->tfl.n; k++)
			if (!tensor_is_separate(l->v[i]) ||
			    is_border(b, l->v[i]->tfl.v[k].index))
				out[n++] = keep_tensor(b, l->v[i]->tfl.v[k].index);
		if (!l->v[i]->tfl.n)
			out[n++] = make_tensor(b, l->v[i]);
	}
	return n;
}

int
count_tensors(const struct g_tensors *l)
{
	int n = 0;
	for (size_t i = 0; i < l->n; i++)
		n += l->v[i]->tfl.n ? l->v[i]->tfl.n : 1;
	return n;
}
