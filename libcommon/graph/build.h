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
/*
 * graph_copy_tensor(g, of), ...: appends a copy of a record, with the next free number.
 * graph_keep_tensor(g, keep), ...: drops the records i without keep[i].
 */
#define RECORD(n, keyword, prefix, type, array)                              \
	struct type *graph_copy_##type(struct graph *g, const struct type *of); \
	void graph_keep_##type(struct graph *g, const bool *keep);
#include "graph.def"
/* Appends a tensor of this shape, without a name or a place. */
struct g_tensor *graph_add_feature_map(struct graph *g, int type, struct hwc shape);
/* Inserts an original operator or tensor into a list that other records may share. */
void tfls_insert(struct graph *g, struct g_tfls *l, int at, struct g_tfl v);
/* Replaces the operations of g by n operations, whose order is that of op. */
void graph_set_ops(struct graph *g, struct g_op **op, size_t n);
/*
 * Returns a copy of a graph, whose records can be changed without a change of the
 * original.  Strings, lists of numbers, blobs and the original model are shared.
 */
struct graph *graph_copy(struct arena *a, const struct graph *from);
/* The same of tensors, nodes and operations alone: all other records are shared. */
struct graph *graph_copy_maps(struct arena *a, const struct graph *from);
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
