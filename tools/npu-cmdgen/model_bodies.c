/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts bodies of IF and WHILE, each compiled as a model of its own, into their subgraphs.  The
 * arena of a body is behind those of its callers, whose tensors stay while the body runs.
 */
#include "model.h"

#include "base/fixed.h"
#include "stream/stream.h"
#include "target/accel.h"
#include "tflite/calls.h"

#include <string.h>

enum { ALIGN = 16 };

/* one of a body's inputs or outputs, before and after it was compiled */
static bool
same_tensor(const struct tfl_tensor *a, const struct tfl_tensor *b)
{
	return a->type == b->type && a->rank == b->rank &&
	       !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof(*a->dim));
}

bool
take_body(struct cmdgen *c, int n, struct bytes file, const char *name)
{
	struct tfl_model *m;
	struct npu_stream *s;
	int n_streams;
	if (n < 1 || n >= c->m->n_subgraphs || !tfl_bodies(c->a, c->m)[n])
		return err_at(c->e, c->g->file, 0, "--body=%d=%s: subgraph %d is no body of IF "
						   "or WHILE", n, name, n);
	if (!tfl_read(c->a, file, name, &m, c->e) ||
	    !stream_find(c->a, m, &s, &n_streams, c->e))
		return false;
	const struct tfl_subgraph *x = &c->m->subgraph[n], *y = &m->subgraph[0];
	bool same = x->n_in == y->n_in && x->n_out == y->n_out;
	for (int i = 0; same && i < x->n_in; i++)
		same = same_tensor(&x->tensor[x->in[i]], &y->tensor[y->in[i]]);
	for (int i = 0; same && i < x->n_out; i++)
		same = same_tensor(&x->tensor[x->out[i]], &y->tensor[y->out[i]]);
	if (m->n_subgraphs > c->m->n_subgraphs || tfl_metadata(m, BORDERS_METADATA).p || !same)
		return err_at(c->e, name, 0, "its inputs and outputs are not those of subgraph %d: "
					     "compile it with tfl-partition --subgraph=%d", n, n);
	if (n_streams && s[0].accel != c->accel)
		return err_at(c->e, name, 0, "is for %s, and the model for %s",
			      s[0].accel->name, c->accel->name);
	if (!c->body)
		c->body = anew(c->a, struct tfl_model *, (size_t)c->m->n_subgraphs);
	c->body[n] = m;
	return true;
}

bool
has_stream(const struct tfl_model *m)
{
	for (int i = 0; i < m->subgraph[0].n_ops; i++)
		if (npu_is_operator(&m->subgraph[0].op[i]))
			return true;
	return false;
}

/*
 * Bodies that do not run at the same time share memory, unless one of them has a variable,
 * which keeps its value.
 */
bool
place_bodies(struct build *b)
{
	const struct cmdgen *c = b->c;
	const int *order = tfl_call_order(c->a, c->m, c->e);
	int n = order ? c->m->n_subgraphs : 0;
	int64_t *bytes = anew(c->a, int64_t, (size_t)n), to[TFL_CALLEES], top;
	bool keeps = false;
	b->base = anew(c->a, int64_t, (size_t)n);
	bytes[0] = top = round_up_i64(b->arena_end, ALIGN);
	for (int i = 1; i < n; i++) {
		/* the arena of the body, if it has a stream, which may keep variables there */
		const struct tfl_model *m = c->body ? c->body[i] : NULL;
		const struct tfl_subgraph *g = m ? &m->subgraph[0] : NULL;
		for (int k = 0; m && has_stream(m) && k < g->n_tensors; k++) {
			int64_t at = tfl_planned_at(m, 0, k);
			if (at < 0)
				continue;
			bytes[i] = max_i64(bytes[i], at + tfl_bytes(&g->tensor[k]));
			keeps |= g->tensor[k].is_variable;
		}
		bytes[i] = round_up_i64(bytes[i], ALIGN);
	}
	for (int k = 0; k < n; k++) {
		const struct tfl_subgraph *g = &c->m->subgraph[order[k]];
		int64_t *base = &b->base[order[k]];
		if (keeps && order[k]) {
			*base = top;
			top += bytes[order[k]];
		}
		if (*base + bytes[order[k]] > INT32_MAX)
			return err_at(c->e, c->g->file, 0, "the arenas of the model and of its "
							   "bodies are larger than 2 GB");
		b->top = max_i64(b->top, *base + bytes[order[k]]);
		for (int i = 0; i < g->n_ops; i++)
			for (int j = 0; tfl_callees(&g->op[i], to) && j < TFL_CALLEES; j++)
				b->base[to[j]] = max_i64(b->base[to[j]], *base + bytes[order[k]]);
	}
	b->body_keeps = keeps;
	return order != NULL;
}

int64_t
body_planned_at(const struct build *b, int index, int tensor)
{
	const struct tfl_model *m = b->c->body ? b->c->body[index] : NULL;
	int64_t at = m && has_stream(m) ? tfl_planned_at(m, 0, tensor) : -1;
	return at < 0 ? -1 : b->base[index] + at;
}

bool
put_body(struct build *b, int index, struct tflw_subgraph *out)
{
	const struct tfl_model *m = b->c->body ? b->c->body[index] : NULL;
	if (!m)
		return false;
	const struct tfl_subgraph *from = &m->subgraph[0];
	struct tflw_model w;
	uint32_t *buffer = anew(b->c->a, uint32_t, (size_t)m->n_buffers + 1);
	tflw_copy(b->c->a, m, &w);
	*out = w.subgraph[0];
	for (int i = 0; i < out->n_tensors; i++) {
		uint32_t *k = &buffer[out->tensor[i].buffer];
		struct bytes data = m->buffer[out->tensor[i].buffer];
		if (data.p && !*k)
			*k = add_buffer(b, data);
		out->tensor[i].buffer = *k;
	}
	for (int i = 0; i < out->n_ops; i++) {
		struct tflw_tensor *stream = from->op[i].n_in && from->op[i].in[0] >= 0
						 ? &out->tensor[from->op[i].in[0]] : NULL;
		out->op[i].opcode = add_opcode(b, &w.opcode[from->op[i].opcode]);
		if (!stream || !npu_is_operator(&from->op[i]))
			continue;
		stream->t = from->tensor[from->op[i].in[0]];
		stream->t.name = arena_printf(b->c->a, "body%d_%s", index, stream->t.name);
		stream->from = (struct fb_ref){ 0 };
	}
	return true;
}
