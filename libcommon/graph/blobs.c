/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs, which are decoded on first use and then checked against size and hash. */
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "graph/fields.h"
#include "graph/records.h"
#include "kernels/kernels.h"
#include "target/accel.h"
#include "target/generation.h"
#include "target/part.h"
#include "tflite/fields.h"
#include "tflite/tflite.h"

#include <inttypes.h>

enum { MAX_OUTSTANDING = 1 << 16 }; /* the same limit as in an ini file */

struct graph *
graph_new(struct arena *a, const char *file)
{
	struct graph *g = anew(a, struct graph, 1);
	g->a = a;
	g->file = file;
	return g;
}

struct g_blob *
graph_add_blob(struct graph *g, const char *name, struct bytes data)
{
	struct g_blob *b = anew(g->a, struct g_blob, 1);
	b->name = name;
	b->bytes = (int64_t)data.n;
	b->xxh3 = hash_xxh3(data.p, data.n);
	b->data = data.p;
	agrow(g->a, g->blobs, g->n_blobs, &g->cap_blobs);
	g->blobs[g->n_blobs++] = b;
	return b;
}

struct g_blob *
graph_find_blob(const struct graph *g, const char *name)
{
	for (size_t i = 0; i < g->n_blobs; i++)
		if (!strcmp(g->blobs[i]->name, name))
			return g->blobs[i];
	return NULL;
}

static bool
load_data(struct graph *g, struct g_blob *b, struct err *e)
{
	if (b->path) {
		struct bytes file;
		if (!file_read(g->a, b->path, TFL_MAX_BYTES, &file, e))
			return false;
		b->data = file.p;
		return file.n == (size_t)b->bytes ||
		       graph_err(g, b, e, "blob %s: %s has %zu bytes, not %" PRId64,
				 b->name, b->path, file.n, b->bytes);
	}
	/* the text limits the allocation: 4 characters give 3 bytes */
	if ((uint64_t)b->bytes > b->text_len)
		return graph_err(g, b, e, "blob %s has less text than %" PRId64
				 " bytes need", b->name, b->bytes);
	uint8_t *p = b->decode_to ? b->decode_to : arena_alloc(g->a, (size_t)b->bytes, 1);
	b->data = p;
	bool ok = base64_decode(b->text, b->text_len, p, (size_t)b->bytes);
	if (b->decode_to)
		b->text = NULL;
	return ok || graph_err(g, b, e, "blob %s is not base64 of %" PRId64 " bytes",
			       b->name, b->bytes);
}

void
graph_release_text(struct graph *g, uint8_t *p)
{
	const char *start = (const char *)p;
	for (size_t i = 0; i < g->n_blobs; i++)
		if (g->blobs[i]->text)
			g->blobs[i]->decode_to = p + (g->blobs[i]->text - start);
}

bool
graph_blob(struct graph *g, struct g_blob *b, struct bytes *out, struct err *e)
{
	if (!b->data) {
		if (!load_data(g, b, e)) {
			b->data = NULL;
			return false;
		}
		uint64_t h = hash_xxh3(b->data, (size_t)b->bytes);
		if (h != b->xxh3)
			return graph_err(g, b, e, "blob %s hashes to %016" PRIx64
					 ", not to %016" PRIx64, b->name, h,
					 b->xxh3);
	}
	*out = (struct bytes){ .p = b->data, .n = (size_t)b->bytes };
	return true;
}

void
graph_drop_blob(struct graph *g, const struct g_blob *b)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->n_blobs; i++)
		if (g->blobs[i] != b)
			g->blobs[kept++] = g->blobs[i];
	g->n_blobs = kept;
}

bool
graph_model(struct graph *g, struct tfl_model **out, struct err *e)
{
	struct g_blob *b = graph_find_blob(g, "model");
	struct bytes file;
	const char *name = g->n_models ? g->models[0]->name : NULL;
	if (!b && g->n_models && G_HAS(g->models[0], G_MODEL_in)) {
		/* a model with a name only, for a source that was not a TFLite model */
		struct tfl_model *m = *out = anew(g->a, struct tfl_model, 1);
		m->name = name ? name : g->file;
		m->description = "";
		m->n_subgraphs = 1;
		m->subgraph = anew(g->a, struct tfl_subgraph, 1);
		m->subgraph->name = "main";
		m->root = (struct fb_ref){ .table = &fb_Model };
		return true;
	}
	if (!b)
		return err_at(e, g->file, 0, "there is no blob 'model'");
	return graph_blob(g, b, &file, e) &&
	       model_read(g->a, file, name ? name : g->file, out, e);
}

bool
graph_source(struct graph *g, const struct g_rec *of, const struct g_source *s,
	     struct bytes *out, struct err *e)
{
	if (s->blob) {
		struct g_blob *b = graph_find_blob(g, s->blob);
		return b ? graph_blob(g, b, out, e)
			 : err_at(e, g->file, of->line, "there is no blob '%s'",
				  s->blob);
	}
	if (!g->model && !graph_model(g, &g->model, e))
		return false;
	if (s->buffer >= g->model->n_buffers || !g->model->buffer[s->buffer].p)
		return err_at(e, g->file, of->line,
			      "the model has no data in buffer %u", s->buffer);
	*out = g->model->buffer[s->buffer];
	return true;
}

/* ---- the target's records ---------------------------------------------- */

/*
 * Finds the chip of a target: by its name, or in the record if a file described the chip.  The
 * graph in a source map has no strings, and then no chip.
 */
static bool
find_chip(const struct graph *g, const struct g_target *t, struct memory_system *m, struct err *e)
{
	const int64_t most = INT64_C(1) << 40;
	m->part = t->part;
	m->chip = target_part_find(t->part, &(struct err){ 0 });
	if (!t->part || !t->part_system || !t->part_memory || !t->cpu || !t->arena_memory ||
	    !t->constant_memory)
		return true;
	if (t->arena_bytes < 0 || t->arena_bytes > most || t->constant_bytes < 0 ||
	    t->constant_bytes > most || t->npu_sram_bytes < 0 || t->npu_sram_bytes > most ||
	    !(t->cpu_clock >= 0 && t->cpu_clock <= 1e11))
		return graph_err(g, t, e, "a size or the clock of the target's part is out of range");
	struct target_part *p = anew(g->a, struct target_part, 1);
	*p = (struct target_part){
		.name = t->part, .accel = t->rec.word, .system = t->part_system,
		.mode = t->part_memory,
		.arena_memory = t->arena_memory, .constant_memory = t->constant_memory,
		.arena_bytes = t->arena_bytes, .constant_bytes = t->constant_bytes,
		.cache_bytes = t->npu_sram_bytes, .linux_bytes = t->npu_sram_bytes,
		.cpu = t->cpu, .cpu_clock = t->cpu_clock, .source = g->file,
	};
	m->chip = p;
	return true;
}

bool
graph_target(const struct graph *g, const struct accel **a,
	     struct memory_system *m, struct err *e)
{
	if (!g->n_targets)
		return err_at(e, g->file, 0, "there is no target record");
	if (g->n_targets > 1)
		return graph_err(g, g->targets[1], e, "there must be one target "
				 "record, not %zu", g->n_targets);
	const struct g_target *t = g->targets[0];
	*a = accel_find(t->rec.word);
	if (!*a)
		return graph_err(g, t, e, "there is no accelerator %s; there are %s",
				 t->rec.word, accel_names());
	struct err why = { 0 };
	if (!accel_does(*a, DO_COMPILE, &why))
		return graph_err(g, t, e, "%s", why.text);
	*m = (struct memory_system){
		.system = t->system, .mode = t->memory,
		.source = t->source, .clock = t->clock,
		.axi = { (enum mem_area)t->axi0, (enum mem_area)t->axi1 },
		.const_area = (enum mem_area)t->const_area,
		.arena_area = (enum mem_area)t->arena_area,
		.cache_area = (enum mem_area)t->cache_area,
		.cache_bytes = t->cache_bytes,
		.spilling = t->arena_area != t->cache_area,
		.fitted_for = t->fitted_for,
		.fit = { .measured = t->measured, .low = t->low, .high = t->high,
			 .operation_cycles = t->operation },
	};
	if (!t->system || !t->memory || !(t->clock > 0))
		return graph_err(g, t, e, "target needs clock=, system= and memory=");
	if (t->measured && !(t->measured > 0 && t->operation >= 0 &&
			     t->operation <= 1e6 && t->low >= 0 && t->low <= 1 &&
			     t->high >= 1 && t->high <= 1e3))
		return graph_err(g, t, e, "target's operation=, low= or high= is out "
				 "of range");
	if (!find_chip(g, t, m, e))
		return false;
	for (int i = 0; i < MEM_AREAS; i++)
		m->mem[i] = (struct mem_props){ 1.0, 1, 0, 0, 1, 0, 0 };
	for (size_t i = 0; i < g->n_memories; i++) {
		const struct g_memory *x = g->memories[i];
		bool ok = x->scale > 0 && x->scale < 1e3 && x->burst > 0 &&
			  x->read >= 0 && x->write >= 0 && x->ports > 0 &&
			  x->ports < 64 && x->max_reads >= 0 &&
			  x->max_reads <= MAX_OUTSTANDING && x->max_writes >= 0 &&
			  x->max_writes <= MAX_OUTSTANDING;
		int area = 0;
		while (area < MEM_AREAS && strcmp(area_names[area], x->rec.word) != 0)
			area++;
		if (!ok || area == MEM_AREAS)
			return graph_err(g, x, e, "memory %s: unknown, or its "
					 "numbers are out of range", x->rec.word);
		m->mem[area] = (struct mem_props){ x->scale, x->burst, x->read,
						   x->write, x->ports,
						   x->max_reads, x->max_writes };
	}
	return true;
}

void
graph_set_target(struct graph *g, const struct accel *a,
		 const struct memory_system *m)
{
	g->n_targets = g->n_memories = 0;
	struct g_target *t = graph_add_g_target(g);
	t->rec.word = a->name;
	G_PUT(t, TARGET, clock, m->clock);
	G_PUT(t, TARGET, system, m->system);
	G_PUT(t, TARGET, memory, m->mode);
	G_PUT(t, TARGET, axi0, (int)m->axi[0]);
	G_PUT(t, TARGET, axi1, (int)m->axi[1]);
	G_PUT(t, TARGET, const_area, (int)m->const_area);
	G_PUT(t, TARGET, arena_area, (int)m->arena_area);
	G_PUT(t, TARGET, cache_area, (int)m->cache_area);
	if (m->cache_bytes)
		G_PUT(t, TARGET, cache_bytes, m->cache_bytes);
	if (m->source)
		G_PUT(t, TARGET, source, m->source);
	if (m->fit.measured) {
		G_PUT(t, TARGET, measured, m->fit.measured);
		G_PUT(t, TARGET, operation, m->fit.operation_cycles);
		G_PUT(t, TARGET, low, m->fit.low);
		G_PUT(t, TARGET, high, m->fit.high);
		if (m->fitted_for)
			G_PUT(t, TARGET, fitted_for, m->fitted_for);
	}
	if (m->part)
		G_PUT(t, TARGET, part, m->part);
	/* later programs do not read the file that describes the part */
	const struct target_part *chip = m->chip;
	if (chip && target_part_is_own(chip)) {
		G_PUT(t, TARGET, part_system, chip->system);
		G_PUT(t, TARGET, part_memory, chip->mode);
		G_PUT(t, TARGET, arena_memory, chip->arena_memory);
		G_PUT(t, TARGET, arena_bytes, chip->arena_bytes);
		G_PUT(t, TARGET, constant_memory, chip->constant_memory);
		G_PUT(t, TARGET, constant_bytes, chip->constant_bytes);
		G_PUT(t, TARGET, npu_sram_bytes, chip->cache_bytes);
		G_PUT(t, TARGET, cpu, chip->cpu);
		G_PUT(t, TARGET, cpu_clock, chip->cpu_clock);
	}
	for (int i = 0; i < MEM_AREAS; i++) {
		const struct mem_props *p = &m->mem[i];
		if ((int)m->axi[0] != i && (int)m->axi[1] != i)
			continue;
		struct g_memory *x = graph_add_g_memory(g);
		x->rec.word = area_names[i];
		G_PUT(x, MEMORY, scale, p->clock_scale);
		G_PUT(x, MEMORY, burst, p->burst_bytes);
		G_PUT(x, MEMORY, read, p->read_latency);
		G_PUT(x, MEMORY, write, p->write_latency);
		G_PUT(x, MEMORY, ports, p->ports);
		if (p->max_reads)
			G_PUT(x, MEMORY, max_reads, p->max_reads);
		if (p->max_writes)
			G_PUT(x, MEMORY, max_writes, p->max_writes);
	}
}
