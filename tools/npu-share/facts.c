/* SPDX-License-Identifier: Apache-2.0 */
/* Reads from a compiled file what its row takes: bytes, places of tensors, constants. */
#include "share.h"

#include "base/fixed.h"
#include "base/hash.h"
#include "base/json.h"
#include "kernels/kernels.h"
#include "stream/op.h"
#include "stream/stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM, FLASH, SCRATCH, FAST };

static int64_t
up(int64_t n)
{
	return round_up_i64(n, 16);
}

static int
compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;
	return a->at < b->at ? -1 : a->at > b->at;
}

/* spans under construction */
struct spans {
	struct arena *a;
	struct span *v;
	size_t n, cap;
	bool uses_fast; /* an operation uses region 2 */
};

static void
note(struct spans *x, const struct npu_range *r)
{
	if (r->n <= 0)
		return;
	x->uses_fast |= r->region == 2;
	if (r->region)
		return;
	agrow(x->a, x->v, x->n, &x->cap);
	x->v[x->n++] = (struct span){ r->at, r->n };
}

static void
note_fm(struct spans *x, const struct npu_fm *f)
{
	struct npu_range tile[4];
	if (!npu_fm_stored(f))
		return;
	(void)npu_fm_extent(f, npu_fm_box(f), tile);
	for (int i = 0; i < 4; i++)
		note(x, &tile[i]);
}

static void
note_op(struct spans *x, const struct npu_op *op)
{
	if (op->kind == NPU_DMA) {
		struct npu_range src = op->src, dst = op->dst;
		int64_t rows = max_i64(op->size0, 1) * max_i64(op->size1, 1);
		if (op->src_indexed || op->dst_indexed)
			note(x, &op->rows);
		src.n = rows > 1 ? INT64_MAX / 4 : src.n;
		if (!op->src_internal)
			note(x, &src);
		if (!op->dst_internal)
			note(x, &dst);
		return;
	}
	if (!npu_is_kernel(op))
		return;
	if (!op->ifm_scalar)
		note_fm(x, &op->ifm);
	if (op->has_ifm2 && !op->ifm2_scalar)
		note_fm(x, &op->ifm2);
	note_fm(x, &op->ofm);
	for (int i = 0; i < NPU_MAX_STREAMS; i++)
		note(x, &op->weights[i]);
	for (int i = 0; i < 2; i++)
		note(x, &op->scales[i]);
}

/*
 * The parts of the constants that a stream reads, merged where they overlap.  A transfer in
 * several rows takes all bytes to the end.
 */
static bool
find_ranges(struct share *s, struct compiled *c, const struct npu_stream *stream, bool *fast)
{
	struct spans x = { .a = s->a };
	struct npu_walk w;
	struct npu_op op;
	struct err bad = { 0 };
	walk_init(&w, stream);
	while (walk_next(&w, &op, &bad))
		note_op(&x, &op);
	if (bad.status)
		return err_at(s->e, c->m->name, 0, "%s", bad.text);
	*fast |= x.uses_fast;
	if (x.n)
		qsort(x.v, x.n, sizeof(*x.v), compare_spans);
	size_t n = 0;
	for (size_t i = 0; i < x.n; i++) {
		struct span r = x.v[i];
		if (r.at >= (int64_t)c->flash.n)
			continue;
		r.n = up(min_i64(r.n, (int64_t)c->flash.n - r.at) + r.at % 16);
		r.at -= r.at % 16;
		r.n = min_i64(r.n, (int64_t)c->flash.n - r.at);
		if (n && r.at < x.v[n - 1].at + x.v[n - 1].n)
			x.v[n - 1].n = max_i64(x.v[n - 1].n, r.at + r.n - x.v[n - 1].at);
		else
			x.v[n++] = r;
	}
	c->range = x.v;
	c->n_ranges = (int)n;
	return true;
}

static struct span
place_of(const struct tfl_model *m, int subgraph, int tensor)
{
	return (struct span){ .at = tfl_planned_at(m, subgraph, tensor),
			      .n = tfl_bytes(&m->subgraph[subgraph].tensor[tensor]) };
}

static const struct span *
places_of(struct share *s, const struct tfl_model *m, const int *v, int n, bool *all)
{
	struct span *out = anew(s->a, struct span, (size_t)n + 1);
	for (int i = 0; i < n; i++) {
		out[i] = place_of(m, 0, v[i]);
		*all &= out[i].at >= 0;
	}
	return out;
}

/* the fast memory of an NPU operator, which is no part of the arena */
static bool
is_fast(const struct tfl_subgraph *g, int tensor)
{
	for (int i = 0; i < g->n_ops; i++) {
		const struct tfl_op *op = &g->op[i];
		if (npu_is_operator(op) && op->n_in > FAST && op->in[FAST] == tensor &&
		    op->in[FAST] != op->in[SCRATCH])
			return true;
	}
	return false;
}

static bool
set_places(struct share *s, int net, struct row *r, struct compiled *c)
{
	const struct tfl_model *m = c->m;
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct span *kept = anew(s->a, struct span, MAX_KEPT);
	bool all = true;
	r->in = places_of(s, m, g->in, g->n_in, &all);
	r->out = places_of(s, m, g->out, g->n_out, &all);
	if (!all)
		return err_at(s->e, s->net[net].name, 0, "an input or output is outside of the "
			      "arena");
	r->kept = kept;
	r->arena = 0;
	/*
	 * The places of variables, and the end of all tensors.  An interpreter has memory of its
	 * own for variables that are not planned.
	 */
	for (int k = 0; k < m->n_subgraphs; k++) {
		const struct tfl_subgraph *sub = &m->subgraph[k];
		for (int i = 0; i < sub->n_tensors; i++) {
			struct span t = place_of(m, k, i);
			if (sub->tensor[i].data.p || is_fast(sub, i))
				continue;
			if (t.at >= 0)
				r->arena = max_i64(r->arena, up(t.at + t.n));
			if (!sub->tensor[i].is_variable || (t.at < 0 && s->o->tflm))
				continue;
			if (t.at < 0 || r->n_kept == MAX_KEPT)
				return err_at(s->e, s->net[net].name, 0, "a variable is outside of the "
					      "arena, or there are more than %d", MAX_KEPT);
			kept[r->n_kept++] = t;
		}
	}
	return true;
}

static bool
read_streams(struct share *s, struct row *r, struct compiled *c)
{
	struct npu_stream *stream;
	int n;
	bool fast = false;
	if (!stream_find(s->a, c->m, &stream, &n, s->e))
		return false;
	r->stream = r->fast = 0;
	for (int i = 0; i < n; i++) {
		const struct tfl_subgraph *g = &c->m->subgraph[stream[i].subgraph];
		const int *in = g->op[stream[i].op].in;
		c->payload = g->tensor[in[STREAM]].data;
		c->flash = in[FLASH] >= 0 ? g->tensor[in[FLASH]].data : (struct bytes){ 0 };
		r->stream += up((int64_t)c->payload.n);
		fast = false;
		if (!find_ranges(s, c, &stream[i], &fast))
			return false;
		if (fast && in[FAST] != in[SCRATCH])
			r->fast = max_i64(r->fast, tfl_bytes(&g->tensor[in[FAST]]));
	}
	c->alone = !s->o->tflm && n == 1 && c->m->subgraph[0].n_ops == 1 && c->m->n_subgraphs == 1;
	return true;
}

bool
read_facts(struct share *s, int net, int row, struct bytes file, struct bytes perf)
{
	struct row *r = &s->p.net[net].row[row];
	struct network *x = &s->net[net];
	struct compiled *c = &x->compiled[row];
	struct json o;
	c->file = file;
	if (!tfl_read(s->a, file, x->path, &c->m, s->e) ||
	    !json_parse(s->a, perf, "npu-perf", &o, s->e) || !set_places(s, net, r, c) ||
	    !read_streams(s, r, c))
		return false;
	if (c->alone) { /* its ranges, with the hash of their bytes */
		struct segment *v = anew(s->a, struct segment, (size_t)c->n_ranges + 1);
		for (int i = 0; i < c->n_ranges; i++)
			v[i] = (struct segment){
				.hash = hash_xxh3(c->flash.p + c->range[i].at,
						  (size_t)c->range[i].n),
				.bytes = up(c->range[i].n) };
		r->segment = v;
		r->n_segments = c->n_ranges;
	} else { /* constants belong to the network's own C file, or to its model */
		struct segment *v = anew(s->a, struct segment, 1);
		const struct tfl_subgraph *g = &c->m->subgraph[0];
		for (int i = 0; i < g->n_tensors; i++)
			v->bytes += up((int64_t)g->tensor[i].data.n);
		if (s->o->tflm) {
			x->wrapper = up((int64_t)c->file.n) - v->bytes;
			v->bytes = up((int64_t)c->file.n);
		}
		v->hash = hash_xxh3_seeded(c->file.p, c->file.n, (uint64_t)net + 1);
		v->bytes -= r->stream;
		r->segment = v;
		r->n_segments = 1;
	}
	double clock = json_number(&o, "core_clock", 1);
	r->cycles = json_number(&o, "inference_npu_cycles", 0);
	r->seconds = json_number(&o, "inference_seconds", 0);
	c->low = json_number(&o, "inference_seconds_low", r->seconds);
	c->high = json_number(&o, "inference_seconds_high", r->seconds);
	if (x->clock == 0)
		x->cpu_seconds = r->seconds - r->cycles / clock;
	if (x->cpu_seconds < 0)
		x->cpu_seconds = 0;
	x->clock = clock;
	r->is_measured = true;
	return true;
}

/* the number of "#define NETWORK_SUFFIX" in a header; -1: there is none */
static int64_t
macro(struct share *s, int net, struct bytes header, const char *suffix)
{
	const char *text = arena_strndup(s->a, (const char *)header.p, header.n);
	char *name = arena_printf(s->a, "#define %s_%s ", s->net[net].name, suffix);
	for (char *c = name + strlen("#define "); *c; c++)
		*c = (char)toupper((unsigned char)*c);
	const char *at = strstr(text, name);
	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

bool
read_arenas(struct share *s, int net, int row, struct bytes header)
{
	struct row *r = &s->p.net[net].row[row];
	struct compiled *c = &s->net[net].compiled[row];
	int64_t bytes = macro(s, net, header, "NON_PERSISTENT_ARENA_SIZE");
	c->persistent = macro(s, net, header, "PERSISTENT_ARENA_SIZE");
	if (bytes < 0 || c->persistent < 0)
		return err_at(s->e, s->net[net].name, 0, "the header of tfl2c has no sizes of "
			      "arenas");
	c->resources = (int)max_i64(macro(s, net, header, "RESOURCE_VARIABLES"), 0);
	r->arena = max_i64(r->arena, bytes);
	return true;
}
