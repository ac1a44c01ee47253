/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a command stream, operation by operation, in program order. */
#include "sim/npu85.h"

#include "base/text.h"
#include "map/map.h"
#include "target/accel.h"

#include <assert.h>
#include <string.h>

/*
 * Steps of one stream, about a nanosecond each: ten times as many as the largest published
 * networks for these NPUs need.
 */
#define MAX_STEPS ((uint64_t)1 << 35)

static bool
check_kernel(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (op->ifm.bits > 32 || op->ofm.bits > 32)
		return npu_fail(r, "precision code 3 is not defined (rule 8)");
	if (op->upscale > UPSCALE_ZEROS || op->rounding > NPU_ROUND_NATURAL ||
	    op->ifm_rounding > NPU_ROUND_NATURAL || op->operand_scale > 2)
		return npu_fail(r, "undefined code for upscaling, rounding or "
				   "operand scaling (rule 8)");
	if (!npu_check_window(r, 22))
		return false;
	if (op->kind != NPU_ELEMENTWISE && op->kind != NPU_CONV &&
	    !(op->kind == NPU_POOL && op->mode == NPU_POOL_REDUCE_SUM) &&
	    op->ifm.shape.c != op->ofm.shape.c)
		return npu_fail(r, "IFM depth %d and OFM depth %d differ "
				   "(rule 21)", op->ifm.shape.c, op->ofm.shape.c);
	return npu_output_check(r) && fm_check(r, &op->ifm, "IFM", false) &&
	       fm_check(r, &op->ofm, "OFM", true);
}

/* Accumulators of parts with 16 banks overwrite the tables (ethosu-memory(7) 8.3). */
static void
invalidate_tables(struct npu_run *r)
{
	if (!r->accel->lut_banks && !npu_uses_table(&r->op))
		memset(r->table_valid, 0, sizeof(r->table_valid));
}

/*
 * The functions of a generation: check before each kernel, run by kind, close after each
 * kernel.
 */
static const struct model {
	bool (*check)(struct npu_run *r);
	bool (*run[NPU_DMA + 1])(struct npu_run *r);
	void (*close)(struct npu_run *r);
} model55 = {
	.check = check_kernel,
	.run = { [NPU_CONV] = npu_run_conv, [NPU_DEPTHWISE] = npu_run_conv,
		 [NPU_POOL] = npu_run_pool, [NPU_ELEMENTWISE] = npu_run_eltwise,
		 [NPU_DMA] = npu_run_dma },
	.close = invalidate_tables,
}, model85 = {
	.check = npu85_check,
	.run = { [NPU_CONV] = npu_run_conv, [NPU_DEPTHWISE] = npu_run_conv,
		 [NPU_POOL] = npu85_run_pool, [NPU_RESIZE] = npu85_run_resize,
		 [NPU_ELEMENTWISE] = npu85_run_eltwise, [NPU_DMA] = npu85_run_dma },
	.close = npu85_close,
};

static const struct model *const models[GENERATIONS] = {
	[GEN_U55] = &model55, [GEN_U65] = &model55, [GEN_U85] = &model85,
};

static bool
run_operation(struct npu_run *r)
{
	const struct model *m = models[r->accel->generation];
	if (r->op.n_missing)
		return npu_fail(r, "uses register %s, which nothing has written "
				   "(rule 7)",
				npu_registers[r->op.missing[0]].name);
	if (!npu_spend(r, 1000)) /* fixed cost of an operation */
		return false;
	r->a = arena_open();
	r->overflows = 0;
	bool ok = true;
	if (npu_is_kernel(&r->op)) {
		assert(m->run[r->op.kind]); /* rule 1: the accelerator has the command */
		ok = m->check(r) && m->run[r->op.kind](r);
		m->close(r);
	} else if (r->op.kind == NPU_DMA) {
		ok = m->run[NPU_DMA](r);
	}
	arena_close(r->a);
	const struct sim_hooks *h = r->job->hooks;
	if (!ok || !h || !h->npu_event)
		return ok;
	struct text t = { 0 };
	struct arena *a = arena_open();
	const char *name = npu_label(a, r);
	stream_print_op(&t, &r->op);
	if (name) {
		text_puts(&t, " name=");
		text_quoted(&t, name, strlen(name));
	}
	arena_close(a);
	if (r->overflows)
		text_printf(&t, " overflows=%llu",
			    (unsigned long long)r->overflows);
	struct sim_npu_event ev = { .op_index = r->job->op_index,
				    .at_bytes = 4 * r->op.at,
				    .text = text_str(&t), .op = &r->op,
				    .region = r->job->region };
	h->npu_event(h->ctx, &ev);
	text_free(&t);
	return true;
}

/* BRANCH: always, or depending on the last kernel's result (ethosu-commands(7) 32). */
static bool
follow_branch(struct npu_run *r, struct npu_walk *w)
{
	if (r->op.param & 1 && !r->flag)
		return true;
	if (r->op.target % 4 || r->op.target / 4 >= (int64_t)w->stream->n_words)
		return npu_fail(r, "branches to 0x%llx (rule 57)",
				(unsigned long long)r->op.target);
	if (!r->op_at) {
		/* the words of all kernels and transfers, in the order of their numbers */
		struct npu_walk all;
		struct npu_op op;
		struct err bad = { 0 };
		size_t cap = 0;
		r->op_at = anew(r->keep, size_t, 1);
		walk_init(&all, w->stream);
		while (walk_next(&all, &op, &bad)) {
			if (op.index < 0)
				continue;
			agrow(r->keep, r->op_at, r->n_op_at, &cap);
			r->op_at[r->n_op_at++] = op.at;
		}
	}
	w->at = (size_t)r->op.target / 4;
	/* a binary search for the number of kernels and transfers before the target */
	size_t lo = 0, hi = r->n_op_at;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (r->op_at[mid] < w->at)
			lo = mid + 1;
		else
			hi = mid;
	}
	w->n_ops = (int)lo;
	return true;
}

static bool
run_stream(struct npu_run *r, const struct npu_stream *s)
{
	struct npu_walk w;
	struct err bad = { 0 };
	walk_init(&w, s);
	while (walk_next(&w, &r->op, &bad)) {
		if (r->op.kind == NPU_STOP)
			return true;
		if (!run_operation(r) ||
		    (r->op.kind == NPU_BRANCH && !follow_branch(r, &w)))
			return false;
	}
	if (!bad.status)
		(void)err_set(&bad, "the stream ends without STOP (rule 2)");
	(void)err_at(r->e, r->job->name, 0, "operator %d (ethos-u): %s",
		     r->job->op_index, bad.text);
	r->e->status = EXIT_NO;
	return false;
}

bool
sim_npu_run(const struct sim_npu_job *job, struct err *e)
{
	struct arena *keep = arena_open();
	struct npu_run *r = anew(keep, struct npu_run, 1);
	struct npu_stream s = { .subgraph = -1 };
	struct err bad = { 0 };
	bool ok = job->accel ? stream_raw(keep, job->payload, job->accel, &s, &bad)
			     : stream_payload(keep, job->payload, &s, &bad);
	if (!ok) {
		(void)err_at(e, job->name, 0, "operator %d (ethos-u): %s",
			     job->op_index, bad.text);
		e->status = EXIT_NO;
	}
	r->job = job;
	r->accel = s.accel;
	r->keep = keep;
	r->e = e;
	r->max_steps = job->max_steps ? job->max_steps : MAX_STEPS;
	r->budget = r->max_steps;
	ok = ok && accel_does(s.accel, DO_SIMULATE, e) && run_stream(r, &s);
	if (r->links)
		arena_close(r->links);
	if (r->holding)
		arena_close(r->holding);
	arena_close(keep);
	return ok;
}
