/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inferences on frames of inputs.  With --reset, frames are independent and are divided
 * among workers, each with its own models.  A round reads the inputs of its frames in
 * order, computes them in parallel, and keeps the outputs in order.  A round has a few
 * MiB, however many frames there are.
 */
#include "inference/inference.h"

#include "base/progress.h"
#include "base/threads.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { ROUND_BYTES = 1 << 24, MAX_TURNS = 32 };

struct frame { /* one frame of a round */
	int number;
	uint8_t **in, **out; /* values of each input and output */
	struct err e, verdict;
	size_t by; /* index of the worker that ran it */
};

struct worker {
	struct arena *a;
	struct sim *s;
	struct sim **other; /* the model to compare with: one per input of a batch */
	int n_other;	    /* 0: no comparison */
};

struct round {
	struct worker *worker;
	unsigned n_workers;
	struct frame *frame;
	unsigned n, max_frames; /* frames in use, and capacity */
	atomic_size_t next; /* the next frame that no worker has taken */
	atomic_size_t done; /* frames of all rounds that have run */
	struct progress progress; /* of worker 0 alone */
};

static bool
op_done(void *ctx, struct sim *s, int op_index, struct err *e)
{
	struct watch *w = ctx;
	const struct options *o = w->options;
	const struct tfl_subgraph *g = &sim_model(s)->subgraph[0];
	const struct tfl_op *op = &g->op[op_index];
	if (o->trace)
		print_operator(w, s, op_index);
	for (int k = 0; o->dump_dir && k < op->n_out; k++)
		if (!save_npy(w->files, &g->tensor[op->out[k]],
			      sim_tensor(s, op->out[k]), o->dump_dir, "tensor",
			      op->out[k], e))
			return false;
	return true;
}

/* The other model runs first, because a run may overwrite the inputs of its model. */
static bool
invoke(const struct run *r, const struct worker *k, struct watch *w, struct err *e)
{
	struct sim_hooks hooks = { .ctx = w, .op_done = op_done, .npu = r->o->npu };
	if (r->o->trace)
		hooks.npu_event = print_npu_event;
	for (int i = 0; i < k->n_other; i++)
		if (!copy_inputs(k->s, k->other[i], i, k->n_other, e) ||
		    !sim_invoke(k->other[i], NULL, e))
			return false;
	if (!sim_invoke(k->s, &hooks, e))
		return false;
	if (r->o->trace && k->n_other)
		print_unseen(w);
	return true;
}

static bool
run_frame(const struct run *r, const struct worker *w, struct frame *f)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	if (r->o->reset) {
		sim_reset(w->s);
		for (int i = 0; i < w->n_other; i++)
			sim_reset(w->other[i]);
	}
	for (int k = 0; k < g->n_in; k++)
		memcpy(sim_tensor(w->s, g->in[k]), f->in[k],
		       (size_t)tfl_bytes(&g->tensor[g->in[k]]));
	struct arena *scratch = arena_open();
	struct watch *watch = watch_open(scratch, r->o, w->n_other ? w->other[0] : NULL);
	watch->files = r->files;
	bool ok = invoke(r, w, watch, &f->e);
	arena_close(scratch);
	for (int k = 0; ok && k < g->n_out; k++)
		memcpy(f->out[k], sim_tensor(w->s, g->out[k]),
		       (size_t)tfl_bytes(&g->tensor[g->out[k]]));
	if (!ok)
		return false;

	/* find the frame's first difference; only trouble is a failure */
	struct judged j = { .frame = f->number, .frames = r->o->frames,
			    .wanted = "expected" };
	struct err *verdict = &f->verdict;
	ok = check_expectations(w->s, r->expect, &j, verdict);
	j.wanted = "but in the other model";
	if (ok && w->n_other)
		(void)compare_models(w->other, w->n_other, w->s, &j, verdict);
	return verdict->status != EXIT_TROUBLE || err_set(&f->e, "%s", verdict->text);
}

/*
 * Each worker takes the next frame when it is free, because cores may differ in speed
 * or have other work.  Frames are taken in order; therefore frames that did not run
 * after a failure come after the failed frame.  Worker 0 shows the progress of all.
 */
static void
run_share(void *ctx, size_t i)
{
	struct run *r = ctx;
	struct round *c = r->round;
	for (size_t k; (k = atomic_fetch_add(&c->next, 1)) < c->n;) {
		c->frame[k].by = i;
		if (!run_frame(r, &c->worker[i], &c->frame[k]))
			return;
		size_t done = atomic_fetch_add(&c->done, 1) + 1;
		if (i == 0)
			progress_show(&c->progress, (double)done, r->o->frames);
	}
}

static uint8_t **
alloc_tensors(struct arena *a, const struct tfl_subgraph *g, const int *tensor, int n)
{
	uint8_t **p = anew(a, uint8_t *, (size_t)n + 1);
	for (int k = 0; k < n; k++)
		p[k] = arena_alloc(a, (size_t)tfl_bytes(&g->tensor[tensor[k]]), 1);
	return p;
}

bool
open_frames(struct run *r, struct err *e)
{
	struct round *c = r->round = anew(r->a, struct round, 1);
	const struct options *o = r->o;
	/*
	 * The frames run in sequence unless each is reset and nothing is traced or dumped.
	 * With a TOSA graph one worker runs all frames, because its warnings are those of
	 * all frames.
	 */
	long cpus = o->jobs ? (long)o->jobs : sysconf(_SC_NPROCESSORS_ONLN);
	if (!o->reset || o->trace || o->dump_dir || r->model.tosa || r->with.tosa || cpus < 1)
		c->n_workers = 1;
	else
		c->n_workers = cpus < o->frames ? (unsigned)cpus : (unsigned)o->frames;
	c->worker = anew(r->a, struct worker, c->n_workers);
	for (unsigned i = 0; i < c->n_workers; i++) {
		struct worker *w = &c->worker[i];
		w->a = arena_open();
		if (!open_model(w->a, &r->model, o->compare && !o->expect.n, &w->s, e))
			return false;
		if (!o->compare)
			continue;
		int32_t n = inputs_each(&r->model, &r->with);
		w->other = anew(w->a, struct sim *, (size_t)n);
		for (; w->n_other < n; w->n_other++)
			if (!open_model(w->a, &r->with, true, &w->other[w->n_other], e))
				return false;
	}
	r->s = c->worker[0].s;
	r->other = c->worker[0].n_other ? c->worker[0].other[0] : NULL;
	r->m = sim_model(r->s);
	return true;
}

void
close_frames(struct run *r)
{
	if (r->file.fd > 0)
		spool_close(&r->file);
	for (unsigned i = 0; r->round && i < r->round->n_workers; i++)
		if (r->round->worker[i].a)
			arena_close(r->round->worker[i].a);
}

static bool
run_round(struct run *r, int first, struct err *e)
{
	struct round *c = r->round;
	int left = r->o->frames - first;
	c->n = left < (int)c->max_frames ? (unsigned)left : c->max_frames;
	for (unsigned i = 0; i < c->n; i++) {
		struct frame *f = &c->frame[i];
		f->number = first + (int)i;
		f->e = f->verdict = (struct err){ 0 };
		if (!next_inputs(&r->m->subgraph[0], &r->in, f->in, e))
			return false;
	}
	atomic_store(&c->next, 0);
	threads_for(c->n_workers, c->n_workers, NULL, run_share, r);
	/* append each frame's outputs to those of the earlier frames */
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	for (unsigned i = 0; i < c->n; i++) {
		const struct frame *f = &c->frame[i];
		if (f->e.status) {
			*e = f->e;
			return false;
		}
		if (!r->verdict.status)
			r->verdict = f->verdict;
		for (int k = 0; r->stacked && k < g->n_out; k++)
			if (!spool_put(&r->stacked[k], f->out[k],
				       (size_t)tfl_bytes(&g->tensor[g->out[k]]), e))
				return false;
	}
	const struct worker *last = &c->worker[c->frame[c->n - 1].by];
	r->s = last->s;
	r->other = last->n_other ? last->other[0] : NULL;
	return true;
}

bool
run_frames(struct run *r, struct err *e)
{
	const struct tfl_subgraph *g = &r->m->subgraph[0];
	struct round *c = r->round;
	size_t bytes = 1; /* of a frame */
	for (int k = 0; k < g->n_in; k++)
		bytes += (size_t)tfl_bytes(&g->tensor[g->in[k]]);
	for (int k = 0; k < g->n_out; k++)
		bytes += (size_t)tfl_bytes(&g->tensor[g->out[k]]);
	size_t turns = ROUND_BYTES / bytes / c->n_workers;
	turns = c->n_workers == 1 || turns < 1 ? 1 : turns > MAX_TURNS ? MAX_TURNS : turns;
	c->max_frames = (unsigned)turns * c->n_workers;
	c->frame = anew(r->a, struct frame, c->max_frames);
	for (unsigned i = 0; i < c->max_frames; i++) {
		c->frame[i].in = alloc_tensors(r->a, g, g->in, g->n_in);
		c->frame[i].out = alloc_tensors(r->a, g, g->out, g->n_out);
	}
	if (r->o->frames > 1) {
		/* one part of the file for all frames of each output */
		const struct spool *file = r->o->spool ? r->o->spool : &r->file;
		uint64_t at = 0;
		if (!r->o->spool && !spool_open(&r->file, e))
			return false;
		r->stacked = anew(r->a, struct spool, (size_t)g->n_out + 1);
		for (int k = 0; k < g->n_out; k++) {
			r->stacked[k] = spool_part(file, at);
			at += (uint64_t)tfl_bytes(&g->tensor[g->out[k]]) *
			      (uint64_t)r->o->frames;
		}
	}
	bool ok = true;
	progress_begin(&c->progress, "frames");
	for (int i = 0; ok && i < r->o->frames; i += (int)c->n)
		ok = run_round(r, i, e);
	progress_end(&c->progress);
	return ok;
}
