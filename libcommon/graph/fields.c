/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/fields.h"

#include "target/memory.h"

#include <assert.h>

/* in the order of the enumerations; the last entry is NULL */
const char *const area_names[] = { "sram", "dram", "on-chip-flash",
				   "off-chip-flash", NULL };
const char *const io_names[] = { "none", "in", "out", "inout", NULL };
const char *const layout_names[] = { "nhwc", "nhcwb16", NULL };
const char *const place_names[] = { "flash", "arena", "cache", "io3", "io4", "io5",
				    "io6", "io7", NULL };
const char *const node_names[] = { "npu", "cpu", NULL };
const char *const loop_names[] = { "none", "condition", "test", "body", "end", NULL };
const char *const op_names[] = {
#define OPERATION(kind, name, blocks, stages) name,
#include "operations.def"
#undef OPERATION
	NULL
};
const char *const upscale_names[] = { "none", "nearest", "zeros", NULL };
const char *const order_names[] = { "hwc", "hcw", "reverse-h", "reverse-w",
				    "reverse-c", NULL };
const char *const sample_names[] = { "nearest", "bilinear", NULL };
const char *const scaled_names[] = { "both", "a", "b", NULL };
const char *const round_names[] = { "tfl", "truncate", "natural", NULL };
const char *const act_names[] = { "clamp", "tanh", "sigmoid", "lut", NULL };
const char *const traversal_names[] = { "depth-first", "part-kernel", NULL };
const char *const chain_names[] = { "none", "ifm", "ifm2", NULL };
const char *const driver_names[] = { "linux", NULL };

static_assert(ARRAY_LEN(area_names) == MEM_AREAS + 1, "every area has a name");
static_assert(ARRAY_LEN(place_names) == PLACES + 1, "every place has a name");

/* typedefs for offsetof below */
#define RECORD(n, keyword, prefix, type, array) typedef struct type rec_##n;
#include "graph.def"

#define RECORD(n, keyword, prefix, type, array) static const struct key_desc key_##n[] = {
#define KEY(n, field, t, k, e) { .text = t, .kind = KIND_##k, \
	.offset = offsetof(rec_##n, field), .names = (const char *const *)e },
#define END(n) };
#include "graph.def"

const struct record_desc record_descs[RECORDS] = {
#define RECORD(r, k, p, type, arr) [REC_##r] = { \
	.keyword = k, .prefix = p, .size = sizeof(struct type), \
	.n_keys = ARRAY_LEN(key_##r), .key = key_##r, \
	.array = offsetof(struct graph, arr), .n = offsetof(struct graph, n_##arr), \
	.cap = offsetof(struct graph, cap_##arr), .next = offsetof(struct graph, next_##arr) },
#include "graph.def"
};

#define RECORD(r, k, p, type, arr) static_assert(ARRAY_LEN(key_##r) <= 64, "has-bits");
#include "graph.def"

const enum record_kind ref_record[] = { REC_WEIGHTS, REC_SCALES, REC_LUT,
					REC_BUFFER, REC_NODE, REC_OP };

void
record_number(struct graph *g, enum record_kind kind)
{
	size_t n;
	void **p = record_array(g, kind, &n);
	int next = 0;
	for (size_t i = 0; i < n; i++) {
		const struct g_rec *r = p[i];
		next = r->id >= next ? r->id + 1 : next;
	}
	memcpy((char *)g + record_descs[kind].next, &next, sizeof(next));
}

void *
record_add(struct graph *g, enum record_kind kind)
{
	const struct record_desc *d = &record_descs[kind];
	char *base = (char *)g;
	size_t n, cap;
	int next;
	void **p = record_array(g, kind, &n);
	memcpy(&cap, base + d->cap, sizeof(cap));
	memcpy(&next, base + d->next, sizeof(next));
	p = arena_grow(g->a, p, n, &cap, sizeof(*p));
	struct g_rec *r = arena_alloc(g->a, 1, d->size);
	r->id = next++;
	r->index = (int)n;
	p[n++] = r;
	memcpy(base + d->array, &p, sizeof(p));
	memcpy(base + d->n, &n, sizeof(n));
	memcpy(base + d->cap, &cap, sizeof(cap));
	memcpy(base + d->next, &next, sizeof(next));
	return r;
}

#define RECORD(r, k, p, type, arr)                                           \
	struct type *graph_add_##type(struct graph *g)                       \
	{                                                                    \
		return record_add(g, REC_##r);                               \
	}
#include "graph.def"
