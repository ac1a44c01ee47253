/* SPDX-License-Identifier: Apache-2.0 */
/* schema/graph.def as tables, which the reader and the printer use. */
#ifndef GRAPH_FIELDS_H
#define GRAPH_FIELDS_H

#include "graph/graph.h"

#include <string.h>

enum field_kind {
	KIND_I32, KIND_I64, KIND_HEX, KIND_F32, KIND_F64, KIND_STR, KIND_WORD,
	KIND_HWC, KIND_YX, KIND_PAD, KIND_RANGE, KIND_SPAN, KIND_SCALE,
	KIND_LIST, KIND_ENUM, KIND_SHAPE, KIND_SOURCE, KIND_TFLS,
	KIND_TENSORS, KIND_OPERAND,
	/* references to one record */
	KIND_WEIGHTS, KIND_SCALES, KIND_LUT, KIND_BUFFER, KIND_NODE, KIND_OP,
};

enum record_kind {
#define RECORD(n, keyword, prefix, type, array) REC_##n,
#include "graph.def"
	RECORDS
};

struct key_desc {
	const char *text;
	enum field_kind kind;
	size_t offset;
	const char *const *names; /* KIND_ENUM: the names, NULL-terminated */
};

struct record_desc {
	const char *keyword, *prefix;
	size_t size;
	int n_keys;
	const struct key_desc *key;
	size_t array, n, cap, next; /* offsets in struct graph */
};

extern const struct record_desc record_descs[RECORDS];

/* the record that a key of KIND_WEIGHTS + i refers to */
extern const enum record_kind ref_record[];

/*
 * Prints the line of a record.  bare: omit comments, x- keys, and strings except the reasons of CPU
 * nodes and the texts of rewrites; print zeros for encoded values.
 */
struct text;
void graph_print_record(struct text *t, const struct record_desc *d, const struct g_rec *r, bool bare);

/* Appends a zeroed record with the next free number. */
void *record_add(struct graph *g, enum record_kind kind);
/* Records that follow get numbers above those of all records of this kind. */
void record_number(struct graph *g, enum record_kind kind);

static inline void **
record_array(const struct graph *g, enum record_kind kind, size_t *n)
{
	const char *base = (const char *)g;
	const void *n_at = base + record_descs[kind].n;
	const void *p_at = base + record_descs[kind].array;
	memcpy(n, n_at, sizeof(*n));
	void **p;
	memcpy(&p, p_at, sizeof(p));
	return p;
}

#endif
