/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of a plan (schema/plan.def): --keep-plan writes its decisions, --plan reads them, and
 * people may change them.
 */
#ifndef NPU_SCHED_PLAN_TEXT_H
#define NPU_SCHED_PLAN_TEXT_H

#include "plan.h"

struct plan_target { /* rec.word is the accelerator's name */
	struct g_rec rec;
	const char *system, *memory;
	int model; /* enum model */
	int32_t level;
};

struct plan_network {
	struct g_rec rec;
	int32_t ops;
	int32_t ahead, columns; /* struct split, of a network with split sums */
};

struct plan_memory {
	struct g_rec rec;
	struct memory_decision decided; /* limit: absent if there is none */
	int32_t effort;		       /* step of --effort by which packings were tried */
	int32_t slide;
};

struct plan_op {
	struct g_rec rec;
	int kind;
	struct hwc ofm;
	struct decision decided; /* rows, objective: in the last line of a cascade */
	int32_t fast;
	struct g_list fetch; /* of each slice: 1 if it is fetched where that saves time, else 0 */
	int layout, area;    /* of the OFM's tensor */
	const char *name;
};

/* The number of each key, PLAN_OP_rows, is its bit in rec.has. */
#define RECORD(n, keyword, prefix, type) enum {
#define KEY(n, field, text, kind, names) PLAN_##n##_##field,
#define END(n) PLAN_##n##_KEYS };
#include "plan.def"

#define PLAN_HAS(r, key) ((r)->rec.has >> (key) & 1)
#define PLAN_SET(r, n, field) ((r)->rec.has |= (uint64_t)1 << PLAN_##n##_##field)
#define PLAN_CLEAR(r, n, field) ((r)->rec.has &= ~((uint64_t)1 << PLAN_##n##_##field))
#define PLAN_PUT(r, n, field, value) ((r)->field = (value), PLAN_SET(r, n, field))

/* A bit for each decision about memory. */
enum {
	PLAN_MEMORY_DECIDED = 0
#define DECIDED(n, field, text, kind, names) DECIDED_##n(field)
#define DECIDED_MEMORY(field) | 1 << PLAN_MEMORY_##field
#define DECIDED_OP(field)
#include "plan.def"
#undef DECIDED_MEMORY
#undef DECIDED_OP
};

struct plan_text {
	const char *file; /* name for messages */
	const char *summary; /* of the comment that is printed */
	struct plan_target target;
	struct plan_network network;
	struct plan_memory memory;
	struct plan_op *op; /* in running order */
	size_t n_ops, cap_ops;
	const struct plan_op **by_id; /* of each number of an operation; NULL: no line */
	int n_ids;
};

/* plan_text.c.  Reports an error at a line of the plan. */
#define plan_err(t, r, e, ...) err_at(e, (t)->file, (r)->rec.line, __VA_ARGS__)

/* Reads the file of --plan.  Result: s->plan_input, whose keys are in their ranges.  False: an error. */
bool plan_read(struct sched *s);
void plan_print(const struct plan_text *p, struct text *t);
/* The line of an operation; NULL: there is none. */
const struct plan_op *plan_line(const struct plan_text *t, const struct g_op *op);

#endif
