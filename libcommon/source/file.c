/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source map of a compiled file contains the data for its verification: the graph,
 * as far as a stream is compared with the graph, and a digest of everything that
 * computes.
 */
#include "source/source.h"

#include "base/deflate.h"
#include "base/hash.h"
#include "base/little_endian.h"
#include "base/text.h"
#include "graph/graph.h"
#include "map/map.h"
#include "tflite/fields.h"
#include "tflite/write.h"

#include <string.h>

/*
 * The source map contains a graph of at most FREE_BYTES compressed bytes, and a larger
 * graph if it takes at most 1/SHARE of the file.
 */
enum { FREE_BYTES = 16384, SHARE = 16 };

void
source_carry(struct arena *a, const struct graph *g, size_t file_bytes, struct npu_map *m)
{
	struct text t = { 0 }, packed = { 0 };
	graph_print_bare(g, &t);
	deflate_bytes(a, &packed, (struct bytes){ .p = (const uint8_t *)t.p, .n = t.n });
	if (packed.n <= FREE_BYTES || packed.n <= file_bytes / SHARE) {
		uint8_t *p = arena_alloc(a, packed.n, 1);
		memcpy(p, packed.p, packed.n);
		m->graph = (struct bytes){ .p = p, .n = packed.n };
		m->graph_bytes = (int64_t)t.n;
	}
	text_free(&t);
	text_free(&packed);
}

bool
source_carried(struct arena *a, const struct npu_map *m, const char *name,
	       struct graph **out, struct err *e)
{
	const char *file = arena_printf(a, "%s (its graph)", name);
	size_t n = (size_t)m->graph_bytes;
	uint8_t *p = arena_alloc(a, n + 1, 1);
	*out = NULL;
	if (!m->graph.n)
		return true;
	return (inflate_bytes(m->graph, p, n) ||
		err_at(e, file, 0, "the compressed graph does not inflate to %zu bytes", n)) &&
	       graph_read(a, (struct bytes){ .p = p, .n = n }, file, STAGE_WENC, out, e);
}

/* ---- the digest -------------------------------------------------------------------- */

/* Hashes the length before each part, so that no part can take bytes from the next one. */
static void
add_part(struct hash_stream *h, struct bytes b)
{
	uint8_t n[8];
	store_le64(n, b.n);
	hash_add(h, n, sizeof(n));
	hash_add(h, b.p, b.n);
}

/* Hashes the same bytes for the same fields, however the file arranges them. */
static void
add_table(struct hash_stream *h, struct fb_ref t)
{
	struct fbw *w;
	struct err e = { 0 };
	struct bytes b;
	fbw_off root;
	if (fb_opaque(t)) /* npu-cmdgen cannot write such a table either */
		return;
	w = fbw_open();
	if (!fbw_copy(w, t, &root, &e) || !fbw_finish(w, root, &b, &e))
		out_of_memory();
	add_part(h, b);
	fbw_close(w);
}

uint64_t
source_digest(const struct tfl_model *m)
{
	struct hash_stream *h = hash_begin();
	uint32_t n = fb_vector(m->root, FB_Model_operator_codes).n;
	for (uint32_t i = 0; i < n; i++)
		add_table(h, fb_item(m->root, FB_Model_operator_codes, i));
	for (int i = 0; i < m->n_subgraphs; i++) {
		const struct tfl_subgraph *sg = &m->subgraph[i];
		add_table(h, sg->ref);
		for (int k = 0; k < sg->n_tensors; k++)
			add_part(h, m->buffer[sg->tensor[k].buffer]);
	}
	add_part(h, tfl_metadata(m, "OfflineMemoryAllocation"));
	uint64_t v = hash_end(h);
	return v ? v : 1; /* 0 means that there is no digest */
}
