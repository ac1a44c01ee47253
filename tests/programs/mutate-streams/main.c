/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate-streams COUNT SEED GRAPH.wenc COMPILED.tflite
 *
 * Makes COUNT changed copies (mutants) of a compiled model and counts which checks notice:
 * the rules, the graph (npu-dis --verify --source), the graph and the digest in the file's
 * own source map (npu-dis --verify), a comparison of results with one input (npu-sim --compare).
 * A mutant is effective if a result differs for any of five inputs, or if there is no
 * result.
 *
 * The last line is "N mutants, N effective, N missed"; status 1: some were missed.  A
 * mutant is missed if it is effective and the file's source map does not notice, or neither the
 * rules nor the graph do; or if it lacks an operation, or has another region or address, and
 * the graph does not notice.
 */
#include "base/cli.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "graph/graph.h"
#include "map/map.h"
#include "sim/sim.h"
#include "source/source.h"
#include "tflite/tflite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUTS = 5, HEADER = 32, TRIES = 1000 };

enum mutation { REGISTER, REGION, ADDRESS, DROPPED, WAIT, WEIGHTS, SCALES, MUTATIONS };

static const char *const names[MUTATIONS] = {
	"registers", "regions", "addresses", "dropped operations", "waits",
	"weights", "scales",
};

struct subject {
	struct arena *a;
	struct graph *g;
	struct tfl_model *m;
	struct graph *carried; /* in the file's map */
	uint64_t digest;
	struct npu_stream *stream; /* as compiled */
	int n_streams;
	struct npu_command **command; /* of each stream */
	size_t *n_commands;
	uint64_t wanted[INPUTS], random;
	/* the bytes that the last mutation changed, to restore them */
	uint8_t *at, was[4];
	size_t n;
};

struct count {
	int n, effective, rules, graph, map, compared, missed;
};

static uint64_t
below(struct subject *s, uint64_t n)
{
	s->random += 0x9E3779B97F4A7C15u;
	uint64_t z = s->random;
	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
	z = (z ^ z >> 27) * 0x94D049BB133111EBu;
	return (z ^ z >> 31) % n;
}

/* ---- changes --------------------------------------------------------------- */

/* the model's bytes are this process's own copy of the file */
static uint8_t *
bytes_of(const struct subject *s, int stream, int input)
{
	const struct npu_stream *x = &s->stream[stream];
	const struct tfl_subgraph *g = &s->m->subgraph[x->subgraph];
	return (uint8_t *)(uintptr_t)g->tensor[g->op[x->op].in[input]].data.p;
}

static void
change(struct subject *s, uint8_t *at, uint32_t value, size_t n)
{
	uint8_t v[4];
	store_le32(v, value);
	s->at = at;
	s->n = n;
	memcpy(s->was, at, n);
	memcpy(at, v, n);
}

static bool
ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);
	return n >= k && !strcmp(s + n - k, end);
}

/* addresses that an operation uses as soon as they are written */
static bool
is_address(const struct npu_command *c)
{
	return !c->is_op && (ends_with(c->info->name, "_BASE0") ||
			     ends_with(c->info->name, "WEIGHT_BASE") ||
			     ends_with(c->info->name, "SCALE_BASE") ||
			     ends_with(c->info->name, "DMA0_SRC") ||
			     ends_with(c->info->name, "DMA0_DST"));
}

/* not SHRAM, whose "region" is a mask of cores with unused bits */
static bool
is_region(const struct npu_command *c)
{
	return !c->is_op && ends_with(c->info->name, "_REGION") &&
	       !(c->param & 0x100);
}

static bool
is_wait(const struct npu_command *c)
{
	return c->code == NPU_OP_KERNEL_WAIT || c->code == NPU_OP_DMA_WAIT;
}

static bool
suits(const struct npu_command *c, enum mutation what)
{
	switch (what) {
	case REGION:
		return is_region(c);
	case ADDRESS:
		return is_address(c);
	case DROPPED:
		return c->is_op && !is_wait(c) && c->code != NPU_OP_STOP;
	case WAIT:
		return c->is_op && is_wait(c);
	default:
		return !c->is_op;
	}
}

/* a wrong value: one bit, a neighbouring value, or any value */
static uint32_t
other_value(struct subject *s, uint32_t v, int bits)
{
	uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
	switch (below(s, 4)) {
	case 0:
		return (v + 1) & mask;
	case 1:
		return (v - 1) & mask;
	case 2:
		return (uint32_t)below(s, (uint64_t)mask + 1);
	default:
		return v ^ 1u << below(s, (uint64_t)bits);
	}
}

/* the address of another operand of any operation: a plausible value, the wrong
 * tensor */
static uint32_t
other_address(struct subject *s, int stream, uint32_t v)
{
	for (int i = 0; i < TRIES; i++) {
		const struct npu_command *c =
		    &s->command[stream][below(s, s->n_commands[stream])];
		if (is_address(c) && c->payload != v)
			return c->payload;
	}
	return v ^ 16;
}

static void
change_command(struct subject *s, int stream, const struct npu_command *c,
	       enum mutation what)
{
	uint8_t *word = bytes_of(s, stream, 0) + HEADER + 4 * c->at;
	uint32_t region = c->param;
	switch (what) {
	case REGION:
		while (region == c->param)
			region = (c->param & 0xff00u) | (uint32_t)below(s, 3);
		change(s, word + 2, region, 2);
		break;
	case ADDRESS:
		change(s, word + 4, below(s, 2) ? other_address(s, stream, c->payload)
						: c->payload ^ 16u << below(s, 8), 4);
		break;
	case DROPPED: /* a wait for all operations replaces it */
		change(s, word, c->code == NPU_OP_DMA_START ? NPU_OP_DMA_WAIT
							    : NPU_OP_KERNEL_WAIT, 4);
		break;
	case WAIT:
		change(s, word + 2, c->code == NPU_OP_DMA_WAIT ? 1 : 3, 2);
		break;
	default:
		if (c->has_payload)
			change(s, word + 4, other_value(s, c->payload, 32), 4);
		else
			change(s, word + 2, other_value(s, c->param, 16), 2);
	}
}

static bool
change_stream(struct subject *s, enum mutation what)
{
	int stream = (int)below(s, (uint64_t)s->n_streams);
	for (int i = 0; i < TRIES; i++) {
		const struct npu_command *c =
		    &s->command[stream][below(s, s->n_commands[stream])];
		if (!suits(c, what))
			continue;
		change_command(s, stream, c, what);
		return memcmp(s->at, s->was, s->n) != 0;
	}
	return false;
}

static bool
change_constants(struct subject *s, enum mutation what)
{
	if (!s->g->n_codes)
		return false;
	const struct g_code *c = s->g->codes[below(s, s->g->n_codes)];
	const struct g_span *r = what == WEIGHTS ? &c->weight_bytes : &c->scale_bytes;
	if (r->bytes < 1)
		return false;
	uint8_t *p = bytes_of(s, 0, 1) + r->at + below(s, (uint64_t)r->bytes);
	change(s, p, other_value(s, *p, 8), 1);
	return *p != s->was[0];
}

/* ---- who notices -------------------------------------------------------------- */

static bool
run(struct arena *a, const struct tfl_model *m, int input, uint64_t *hash)
{
	const struct tfl_subgraph *g = &m->subgraph[0];
	struct sim *sim;
	struct err e = { 0 };
	uint64_t seed = (uint64_t)input + 1;
	*hash = 0;
	if (!sim_open(a, m, &sim, &e))
		return false;
	for (int k = 0; k < g->n_in; k++)
		sim_random(&seed, &g->tensor[g->in[k]], sim_tensor(sim, g->in[k]));
	if (!sim_invoke(sim, NULL, &e))
		return false;
	for (int k = 0; k < g->n_out; k++)
		*hash = *hash * 31 + hash_xxh3(sim_tensor(sim, g->out[k]),
					       (size_t)tfl_bytes(&g->tensor[g->out[k]]));
	return true;
}

struct verdict {
	bool rules, graph, map, compared, effective;
};

/* Compares streams with the graph and the digest in the file's map. */
static bool
map_notices(struct subject *s, const struct npu_stream *stream, int n, struct err *e)
{
	struct npu_verify v = { 0 };
	(void)stream_verify_source(s->m, stream, n, s->carried, &v, e);
	source_verify_digest(s->m, stream, s->digest, &v);
	return v.errors > 0;
}

static struct verdict
judge(struct subject *s)
{
	struct arena *a = arena_open();
	struct err e = { 0 };
	struct verdict r = { 0 };
	struct npu_stream *stream;
	int n;
	if (!stream_find(a, s->m, &stream, &n, &e)) {
		r = (struct verdict){ true, true, true, true, true };
	} else {
		struct npu_verify rules = { .jobs = 1 }, graph = { 0 };
		stream_verify(s->m, stream, n, &rules);
		(void)stream_verify_source(s->m, stream, n, s->g, &graph, &e);
		r.rules = rules.errors > 0;
		r.graph = graph.errors > 0;
		r.map = map_notices(s, stream, n, &e);
	}
	for (int i = 0; i < INPUTS && !r.effective; i++) {
		uint64_t hash;
		struct arena *b = arena_open();
		r.effective = !run(b, s->m, i, &hash) || hash != s->wanted[i];
		r.compared |= i == 0 && r.effective;
		arena_close(b);
	}
	arena_close(a);
	return r;
}

static bool
must_graph_notice(enum mutation what)
{
	return what == REGION || what == ADDRESS || what == DROPPED;
}

static void
mutate(struct subject *s, enum mutation what, struct count *c)
{
	bool stream = what < WEIGHTS;
	if (!(stream ? change_stream : change_constants)(s, what)) {
		if (s->at)
			memcpy(s->at, s->was, s->n);
		return;
	}
	struct verdict v = judge(s);
	/* an effective mutant is noticed by the comparison that shows its effect */
	bool missed = (must_graph_notice(what) && !v.graph) ||
		      (v.effective && (!v.map || (!v.rules && !v.graph)));
	c->n++;
	c->effective += v.effective;
	c->rules += v.effective && v.rules;
	c->graph += v.effective && v.graph;
	c->map += v.effective && v.map;
	c->compared += v.effective && v.compared;
	c->missed += missed;
	if (missed)
		printf("missed: %s, %zu bytes at %td\n", names[what], s->n,
		       s->at - s->m->file.p);
	memcpy(s->at, s->was, s->n);
}

/* ---- the subject ------------------------------------------------------------------ */

static void
list_commands(struct subject *s)
{
	s->command = anew(s->a, struct npu_command *, (size_t)s->n_streams);
	s->n_commands = anew(s->a, size_t, (size_t)s->n_streams);
	for (int i = 0; i < s->n_streams; i++) {
		struct err e = { 0 };
		size_t at = 0;
		s->command[i] = anew(s->a, struct npu_command, s->stream[i].n_words);
		while (stream_next(&s->stream[i], &at,
				   &s->command[i][s->n_commands[i]], &e))
			s->n_commands[i]++;
	}
}

static bool
open_map(struct subject *s, const char *model, struct err *e)
{
	struct npu_map *map;
	if (!map_read(s->a, s->m, &map, e))
		return false;
	if (!map || !map->digest)
		return err_at(e, model, 0, "no source map with a digest");
	s->digest = map->digest;
	return source_carried(s->a, map, model, &s->carried, e) &&
	       (s->carried || err_at(e, model, 0, "no graph in the map"));
}

static bool
open_subject(struct subject *s, const char *graph, const char *model, struct err *e)
{
	struct bytes text, file;
	if (!file_read(s->a, graph, SIZE_MAX / 4, &text, e) ||
	    !graph_read(s->a, text, graph, STAGE_WENC, &s->g, e) ||
	    !file_read(s->a, model, TFL_MAX_BYTES, &file, e) ||
	    !tfl_read(s->a, file, model, &s->m, e) ||
	    !stream_find(s->a, s->m, &s->stream, &s->n_streams, e))
		return false;
	if (!s->n_streams)
		return err_at(e, model, 0, "no ethos-u operator");
	if (!open_map(s, model, e))
		return false;
	list_commands(s);
	for (int i = 0; i < INPUTS; i++)
		if (!run(s->a, s->m, i, &s->wanted[i]))
			return err_at(e, model, 0, "does not run");
	return true;
}

int
main(int argc, char **argv)
{
	struct subject s = { .a = arena_open() };
	struct count c[MUTATIONS] = { 0 }, all = { 0 };
	struct err e = { 0 };
	if (argc != 5) {
		(void)fprintf(stderr, "usage: mutate-streams COUNT SEED GRAPH MODEL\n");
		return 2;
	}
	s.random = strtoull(argv[2], NULL, 10);
	if (!open_subject(&s, argv[3], argv[4], &e)) {
		cli_print(&e);
		return 2;
	}
	for (long i = 0; i < strtol(argv[1], NULL, 10); i++) {
		enum mutation what = (enum mutation)(i % MUTATIONS);
		mutate(&s, what, &c[what]);
	}
	printf("%-20s %6s %9s | of the effective: %6s %6s %6s %8s\n", "", "all",
	       "effective", "rules", "graph", "map", "compared");
	for (int i = 0; i < MUTATIONS; i++) {
		printf("%-20s %6d %9d |                   %6d %6d %6d %8d\n", names[i],
		       c[i].n, c[i].effective, c[i].rules, c[i].graph, c[i].map,
		       c[i].compared);
		all.n += c[i].n;
		all.effective += c[i].effective;
		all.missed += c[i].missed;
	}
	printf("%d mutants, %d effective, %d missed\n", all.n, all.effective, all.missed);
	arena_close(s.a);
	return all.missed > 0;
}
