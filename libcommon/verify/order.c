/* SPDX-License-Identifier: Apache-2.0 */
/* Waits and block dependencies: rules 44 to 47. */
#include "verify/rules.h"

#include "base/fixed.h"
#include "target/accel.h"

#include <string.h>

/* ---- accesses of an operation (ethosu-commands(7) 11.2) ----------------- */

enum { SHRAM = N_REGIONS }; /* number of a region that stands for SHRAM: byte 0 is bank 0 */

struct touch { /* one access of an operation */
	bool write;
	const struct npu_fm *fm; /* the access is this feature map; NULL: dma or range */
	struct npu_range range;	 /* the access, if fm and dma are NULL; region is always valid */
	const struct npu_op *dma; /* the access has all runs of side `which` of this transfer */
	int which; /* 0: source, 1: destination */
};

static int
region_of(const struct touch *t)
{
	return t->fm ? t->fm->region : t->range.region;
}

enum { MAX_TOUCHES = 12 };

/*
 * Lists the accesses of an operation.  A kernel reads the slots of its own table
 * (ethosu-commands(7) 11.2).  With all_slots it reads the whole table memory, as some
 * generators assume: a wait for such an access does not count as useless.
 */
static int
touches(const struct npu_op *op, const struct accel *a, bool all_slots, struct touch *t)
{
	if (op->kind == NPU_DMA) {
		t[0] = (struct touch){ .dma = op, .which = 0, .range = op->src };
		t[1] = (struct touch){ .dma = op, .which = 1, .range = op->dst,
				       .write = true };
		if (op->src_internal)
			t[0].range.region = SHRAM;
		if (op->dst_internal)
			t[1].range.region = SHRAM;
		if (!op->src_indexed && !op->dst_indexed)
			return 2;
		t[2] = (struct touch){ .range = op->rows };
		return 3;
	}
	int n = 0;
	int32_t lut = accel_lut_base(a);
	bool whole = !a->lut_banks && !npu_uses_table(op);
	if (!op->ifm_scalar && npu_fm_stored(&op->ifm))
		t[n++] = (struct touch){ .fm = &op->ifm };
	if (op->has_ifm2 && !op->ifm2_scalar && npu_fm_stored(&op->ifm2))
		t[n++] = (struct touch){ .fm = &op->ifm2 };
	for (int k = 0; k < NPU_MAX_STREAMS; k++)
		if (op->weights[k].n)
			t[n++] = (struct touch){ .range = op->weights[k] };
	for (size_t k = 0; k < ARRAY_LEN(op->scales); k++)
		if (op->scales[k].n)
			t[n++] = (struct touch){ .range = op->scales[k] };
	if (npu_uses_table(op)) {
		/* if tables have a memory of their own, its first byte is 0 */
		int32_t table0 = a->banks == a->lut_banks ? 0 : lut;
		struct npu_range slots = { .region = SHRAM, .at = table0 + op->table.at,
					   .n = op->table.n };
		if (all_slots)
			slots = (struct npu_range){ .region = SHRAM, .at = table0,
						    .n = LUT_BYTES };
		t[n++] = (struct touch){ .range = slots };
	}
	t[n++] = (struct touch){ .write = true,
				 .range = { .region = SHRAM,
					    .n = whole ? lut + LUT_BYTES
						       : lut } };
	if (npu_fm_stored(&op->ofm) && !op->acc_kept)
		t[n++] = (struct touch){ .write = true, .fm = &op->ofm };
	return n;
}

/* ---- comparing two accesses --------------------------------------------- */

static bool
each_run(const struct touch *t, npu_visit visit, void *ctx)
{
	if (t->fm)
		return npu_fm_runs(t->fm, npu_fm_box(t->fm), visit, ctx);
	if (t->dma)
		return npu_dma_runs(t->dma, t->which, visit, ctx);
	return visit(ctx, t->range.at, t->range.n);
}

struct pair { /* compares run [at, at + n) with the runs of another access */
	const struct touch *other;
	int64_t at, n;
	uint64_t *steps; /* runs that may still be examined */
};

static bool
misses(void *ctx, int64_t at, int64_t n)
{
	const struct pair *p = ctx;
	if (!*p->steps)
		return false;
	--*p->steps;
	return !spans_overlap(at, n, p->at, p->n);
}

static bool
misses_other(void *ctx, int64_t at, int64_t n)
{
	struct pair *p = ctx;
	p->at = at;
	p->n = n;
	return each_run(p->other, misses, p);
}

/* Returns a range that contains all bytes of an access. */
static struct npu_range
hull(const struct touch *t)
{
	if (t->dma && (t->dma->size0 != 1 || t->dma->size1 != 1))
		return (struct npu_range){ .at = INT64_MIN / 2,
					   .n = INT64_MAX };
	if (!t->fm)
		return t->range;
	struct npu_range tile[4], r = { .at = INT64_MAX };
	int64_t end = INT64_MIN;
	npu_fm_extent(t->fm, npu_fm_box(t->fm), tile);
	for (int i = 0; i < 4; i++) {
		if (!tile[i].n)
			continue;
		r.at = tile[i].at < r.at ? tile[i].at : r.at;
		end = tile[i].at + tile[i].n > end ? tile[i].at + tile[i].n
						   : end;
	}
	r.n = end > r.at ? end - r.at : 0;
	return r;
}

static bool
share_bytes(const struct touch *a, const struct touch *b, uint64_t *steps)
{
	if (region_of(a) != region_of(b) || (!a->write && !b->write))
		return false;
	struct npu_range ha = hull(a), hb = hull(b);
	if (!spans_overlap(ha.at, ha.n, hb.at, hb.n))
		return false;
	if (a->fm && b->fm)
		return npu_fm_overlap(a->fm, npu_fm_box(a->fm), b->fm,
				      npu_fm_box(b->fm), steps);
	/* the access with several runs outside, the plain range inside */
	const struct touch *outer = a->fm || a->dma ? a : b;
	struct pair p = { .other = outer == a ? b : a, .steps = steps };
	return !each_run(outer, misses_other, &p);
}

/* True if two operations access the same bytes and one of them writes.  False if there are too
 * many runs to compare. */
static bool
conflict(struct checker *c, const struct npu_op *a, const struct npu_op *b, bool all_slots)
{
	struct touch ta[MAX_TOUCHES], tb[MAX_TOUCHES];
	int na = touches(a, c->accel, all_slots, ta);
	int nb = touches(b, c->accel, all_slots, tb);
	for (int i = 0; i < na; i++)
		for (int j = 0; j < nb; j++)
			if (share_bytes(&ta[i], &tb[j], &c->runs))
				return c->runs > 0;
	return false;
}

/* ---- the queues --------------------------------------------------------- */

static void
drop_oldest(struct queue *q)
{
	q->n--;
	memmove(q->item, q->item + 1, (size_t)q->n * sizeof(q->item[0]));
	memmove(q->group, q->group + 1, (size_t)q->n * sizeof(q->group[0]));
}

/* Returns the number of entries: a chain counts as one. */
static int
entries(const struct queue *q)
{
	int n = 0;
	for (int i = 0; i < q->n; i++)
		n += i == 0 || q->group[i] != q->group[i - 1];
	return n;
}

static void
push(struct queue *q, const struct npu_op *op, int group)
{
	q->group[q->n] = group;
	q->item[q->n++] = *op;
	while (entries(q) > q->depth || q->n == ARRAY_LEN(q->item))
		drop_oldest(q);
}

/* Handles a wait: at most `keep` operations remain, the others have finished. */
static void
wait_for(struct checker *c, struct queue *q, int keep)
{
	int n = entries(q);
	WARN_IF(n <= keep, c, 45, "waits for nothing: only %d operations are outstanding", n);
	while (entries(q) > keep) {
		if (c->waited.n < c->waited.depth)
			c->waited.item[c->waited.n++] = q->item[0];
		if (q == &c->kernels && q->n == 1)
			c->has_previous = false;
		drop_oldest(q);
	}
	c->waits = true;
	c->wait_at = c->at;
}

/*
 * Rule 45: warns if no operation that the waits before this operation waited for conflicts
 * with this operation.
 */
static void
check_waits(struct checker *c)
{
	bool used = !c->waits;
	for (int i = 0; i < c->waited.n && !used; i++)
		used = conflict(c, &c->waited.item[i], &c->op, true);
	if (!used && c->waited.n)
		WARN(c, 45, "the wait at 0x%06zx is useless: this operation shares no bytes with "
		     "the operations waited for",
		     4 * c->wait_at);
	c->waited.n = 0;
	c->waits = false;
}

/* Rule 44: no unfinished operation may conflict with this operation. */
static void
check_hazards(struct checker *c, const struct queue *other)
{
	for (int i = other->n - 1; i >= 0; i--)
		ERROR_IF(conflict(c, &other->item[i], &c->op, false), c, 44,
			 "may run while %s at 0x%06zx, which touches the same "
			 "bytes, is unfinished; a wait is missing",
			 npu_op_name(&other->item[i]),
			 4 * other->item[i].at);
}

void
check_order(struct checker *c)
{
	const struct npu_op *op = &c->op;
	if (op->kind == NPU_DMA_WAIT) {
		ERROR_IF(op->param > 15, c, 46, "DMA_WAIT %d, the largest is 15", op->param);
		WARN_IF(op->param >= c->dmas.depth, c, 46, "DMA_WAIT %d has "
			"no effect: at most %d transfers are outstanding",
			op->param, c->dmas.depth);
		wait_for(c, &c->dmas, op->param);
	} else if (op->kind == NPU_KERNEL_WAIT) {
		ERROR_IF(op->param > 3, c, 46, "KERNEL_WAIT %d, the largest is 3", op->param);
		wait_for(c, &c->kernels, op->param);
	} else if (op->kind == NPU_DMA) {
		check_waits(c);
		check_hazards(c, &c->kernels);
		if (c->rules->dmas_overlap)
			check_hazards(c, &c->dmas);
		push(&c->dmas, op, ++c->group);
	} else if (npu_is_kernel(op)) {
		check_waits(c);
		check_hazards(c, &c->dmas);
		/* Rule 47: the bytes that blocks share give the largest safe BLOCKDEP. */
		WARN_IF(!c->any_kernel && op->blockdep, c, 47,
			"BLOCKDEP %d, but no kernel is before this one", op->blockdep);
		if (c->has_previous) {
			int max = blockdep_max(&c->previous, op, c->accel, &c->runs);
			ERROR_IF(op->blockdep > max && c->runs, c, 47,
				 "BLOCKDEP %d: a block of %s at 0x%06zx may be read "
				 "before it is written; use at most %d", op->blockdep,
				 npu_op_name(&c->previous), 4 * c->previous.at, max);
		}
		c->any_kernel = c->has_previous = true;
		c->previous = *op;
		c->group += !c->state85.is_member;
		push(&c->kernels, op, c->group);
	}
}
