/* SPDX-License-Identifier: Apache-2.0 */
/* Building a graph: its records, blobs and the data of constants. */
#ifndef GRAPH_BUILD_H
#define GRAPH_BUILD_H

#include "base/bytes.h"
#include "graph/records.h"

/* Returns an empty graph; file is its name in error messages. */
struct graph *graph_new(struct arena *a, const char *file);

/* graph_add_tensor(g), ...: appends a new record with the next free number. */
#define RECORD(n, keyword, prefix, type, array)                              \
	struct type *graph_add_##type(struct graph *g);
#include "graph.def"
/* Appends a blob; its data are not copied. */
struct g_blob *graph_add_blob(struct graph *g, const char *name,
			      struct bytes data);

/* Returns the data of a blob, decoded and compared with its hash. */
bool graph_blob(struct graph *g, struct g_blob *b, struct bytes *out,
		struct err *e);
/* NULL if the graph has no blob of this name */
struct g_blob *graph_find_blob(const struct graph *g, const char *name);
void graph_drop_blob(struct graph *g, const struct g_blob *b);

/*
 * Returns the original model, from the blob "model".  If the model record lists border
 * tensors itself (in, out), there is no original; the result then has no tensors and
 * operators.
 */
bool graph_model(struct graph *g, struct tfl_model **out, struct err *e);
/*
 * Returns constant data: a slice of the model or of a blob.  Errors are reported at
 * `of`, the record whose from= is the source.
 */
bool graph_source(struct graph *g, const struct g_rec *of, const struct g_source *s,
		  struct bytes *out, struct err *e);

#endif
