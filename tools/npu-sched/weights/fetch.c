/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides when weights are fetched.  Walks the kernels in order with the clocks of the timeline
 * estimate (ethosu-timing(7) 8).  Before each kernel it starts transfers of as many bytes of
 * the coming weights as the DMA engine can move while that kernel runs, provided that their
 * buffers fit from here to their last use.  A kernel whose weights have not arrived waits for
 * them or reads them in place, whichever ends earlier.
 *
 * Transfers and kernels share the bandwidth of the memory of constants.  The walk starts a
 * transfer only if that memory has then been busy for no longer than time has passed; the
 * estimate is no less than the time for which the memory is busy in all.
 */
#include "../costs/costs.h"
#include "../memory/memory.h"
#include "graph/facts.h"
#include "transfers.h"

#include "base/fixed.h"
#include "target/accel.h"

#include <math.h>
#include <string.h>

enum { LEAST_CHUNK = 1024 };	/* bytes of the smallest partial transfer */

/* kernels to look ahead: an LSTM takes 10 for each step of a sequence */
enum { FAR = 128 };

struct walk {
	struct sched *s;
	struct plan *p;
	int64_t limit;
	struct usage *used; /* bytes of feature maps and buffers so far, at each kernel */
	struct gaps *gaps; /* NULL: only the sum of bytes decides */
	/* clocks in cycles: of the front end; NPU idle from; DMA engine idle from */
	double t, tk, td;
	double end[2];	  /* when the last two kernels end, the older first */
	double dma_end[DMA_QUEUE]; /* when the last transfers end, the oldest first */
	double flash; /* cycles for which the memory of constants has been busy so far */
	/* of each kernel: sum of cycles of the kernels before it, with weights fetched */
	double *begin;
	double *copied; /* of each copy: when it ends */
	struct cached_space {	/* cached result of sum_has_space() */
		int slice; /* -1: cache is empty */
		int64_t bytes; /* size of the slice's buffer */
		int from;    /* the buffer fits from this kernel on; -1: not computed */
		int none_at; /* the buffer does not fit at this kernel; -1: not computed */
		int64_t most; /* if the buffer fits: the most bytes in use at any kernel of
				 * its live range, without the buffer */
	} space;
	int next;	  /* first slice that is not fetched or skipped yet */
	int64_t sent;	  /* bytes of that slice sent so far */
	int node_start, node_end; /* kernels [start, end) of the node that is walked now */
};

/* ---- memory for buffers ------------------------------------------------------------- */

/* The lifetime of a buffer that is filled before kernel `from`. */
static struct g_range
buffer_lifetime(const struct walk *w, const struct weight_slice *u, int from)
{
	return (struct g_range){ .lo = kernel_step(w->s, w->p, from) - 1,
				 .hi = kernel_step(w->s, w->p, u->last) };
}

/*
 * Do `bytes` for slice u fit from kernel `from` on?  By the sum of bytes: bytes in use only grow,
 * and not while the same slice is asked for, so a result for one kernel holds for later ones.
 * With addresses, also between the feature maps.
 */
static bool
has_space(struct walk *w, struct weight_slice *u, int64_t bytes, int from)
{
	struct cached_space *k = &w->space;
	int slice = (int)(u - w->p->slice);
	bool same = k->slice == slice && k->bytes == bytes;
	if (same && from <= k->none_at)
		return false;
	if (!same || k->from < 0 || from < k->from) {
		*k = (struct cached_space){ .slice = slice, .bytes = bytes, .from = -1,
					  .none_at = -1 };
		k->none_at = usage_last_above(w->used, from, u->last, w->limit - bytes, &k->most);
		if (k->none_at >= 0)
			return false;
		k->from = from;
	}
	if (w->gaps && !gaps_find(w->gaps, buffer_lifetime(w, u, from), bytes, &u->at))
		return false;
	int64_t end = w->gaps ? u->at + bytes : 0;
	end = k->most + bytes > end ? k->most + bytes : end;
	w->p->asked = end > w->p->asked ? end : w->p->asked;
	return true;
}

/* A buffer that fits, and the time at which the front end can start to fill it. */
struct space {
	int from; /* kernel from which on its bytes are free; -1: no buffer fits */
	double t;
};

/*
 * Finds a buffer for a part of slice u, to be filled before kernel i.  Kernels that still run
 * may use bytes that die with them.  A buffer whose bytes were free before these kernels began
 * needs no wait; for any other one the transfer waits until they end.
 */
static struct space
find_space(struct walk *w, struct weight_slice *u, enum held held, int i)
{
	int64_t bytes = round_up_i64(held_bytes(u, held), ALIGN);
	/* the oldest kernel that may still run when kernel i is about to start */
	int from = i - MAX_KERNELS > w->node_start ? i - MAX_KERNELS : w->node_start;
	double t = w->t;
	if (w->gaps)
		gaps_pass(w->gaps, kernel_step(w->s, w->p, from) - 1);
	for (; !has_space(w, u, bytes, from); from++) {
		if (from == i)
			return (struct space){ .from = -1 };
		t = max_f64(t, w->end[MAX_KERNELS - (i - from)]);
	}
	return (struct space){ .from = from, .t = t };
}

static void
reserve(struct walk *w, struct weight_slice *u, enum held held, struct space r)
{
	int64_t bytes = round_up_i64(held_bytes(u, held), ALIGN);
	w->t = r.t;
	u->held = held;
	u->start = r.from;
	if (w->gaps)
		gaps_put(w->gaps, buffer_lifetime(w, u, r.from), bytes, u->at);
	w->space.slice = -1;
	usage_add(w->used, r.from, u->last, bytes);
}

/* ---- what pays ----------------------------------------------------------------------- */

/* Can it help to fetch the scales of a slice alone? */
static bool
may_be_apart(const struct walk *w, int slice)
{
	const struct plan *p = w->p;
	return has_long_queue(w->s) &&
	       isfinite(p->kernel[p->slice[slice].first].cost[SCALES_FETCHED]);
}

/*
 * The time at which all uses of a slice have ended, for each enum held.  The memory of constants
 * has then been busy for the transfer, or for the reads in place: the time is no earlier.
 */
static void
end_times_of_uses(const struct walk *w, int slice, double t, double begin, double end[HELDS])
{
	const struct weight_slice *u = &w->p->slice[slice];
	const double start = max_f64(t, w->td);
	for (enum held h = IN_PLACE; h < HELDS; h++) {
		const double cycles =
			h == IN_PLACE ? 0 : weights_transfer(w->s, held_bytes(u, h));
		const double arrival = h == IN_PLACE ? begin : start + cycles;
		end[h] = max_f64(max_f64(begin, arrival) + u->cost[h],
				 w->flash + (cycles * transfer_share(w->s) + u->busy[h]));
	}
}

/* The part of a slice to fetch from time t on, where its first kernel could begin at `begin`. */
static enum held
goal_of(const struct walk *w, int slice, double t, double begin)
{
	double end[HELDS];
	if (!may_be_apart(w, slice))
		return FETCHED;
	end_times_of_uses(w, slice, t, begin, end);
	return end[SCALES_FETCHED] > end[FETCHED] ? FETCHED : SCALES_FETCHED;
}

/* The time at which the first use of the slice behind `slice` ends, if all uses of that end at
 * `end` and the DMA engine is free at `dma`. */
static double
end_of_next(const struct walk *w, int slice, double end, double dma)
{
	const struct plan *p = w->p;
	const struct weight_slice *u = &p->slice[slice], *next = u + 1;
	const double *cost = p->kernel[next->first].cost;
	end += w->begin[next->first] - w->begin[u->last + 1];
	dma += weights_transfer(w->s, slice_bytes(next));
	return fmin(end + cost[IN_PLACE], max_f64(end, dma) + cost[FETCHED]);
}

/* Do all uses of the slice end earlier if that part is fetched from time t on than if the slice
 * stays in place, and those of the next slice no later? */
static bool
fetching_pays(const struct walk *w, int slice, enum held held, double t, double begin)
{
	const struct plan *p = w->p;
	const struct weight_slice *u = &p->slice[slice];
	double end[HELDS];
	end_times_of_uses(w, slice, t, begin, end);
	if (!(end[held] < end[IN_PLACE]))
		return false;
	if (slice + 1 == (int)p->n_slices || p->decided.in_place[slice + 1] || u[1].first <= u->last ||
	    u[1].first >= w->node_end)
		return true;
	/* the transfer may keep the DMA engine for longer than it saves */
	const double dma = max_f64(t, w->td);
	const double after = dma + weights_transfer(w->s, held_bytes(u, held));
	return !(end_of_next(w, slice, end[IN_PLACE], dma) < end_of_next(w, slice, end[held], after));
}

/* ---- transfers ------------------------------------------------------------------------- */

/* DMA_START: the front end waits while the queue is full. */
static void
start_transfer(struct walk *w, double cycles)
{
	w->t = max_f64(w->t, w->dma_end[DMA_QUEUE - w->s->accel->max_dma]);
	w->td = max_f64(w->t, w->td) + cycles;
	memmove(w->dma_end, w->dma_end + 1,
		(DMA_QUEUE - 1) * sizeof(*w->dma_end));
	w->dma_end[DMA_QUEUE - 1] = w->td;
}

static void
send(struct walk *w, int slice, int64_t bytes, int before)
{
	struct plan *p = w->p;
	agrow(p->a, p->fetch, p->n_fetches, &p->cap_fetches);
	p->fetch[p->n_fetches++] = (struct fetch){
		.slice = slice, .before = before, .lo = w->sent, .hi = w->sent + bytes };
	const double cycles = weights_transfer(w->s, bytes);
	start_transfer(w, cycles);
	w->flash += cycles * transfer_share(w->s);
	w->sent += bytes;
	p->slice[slice].arrival = w->td;
	if (w->sent == held_bytes(&p->slice[slice], p->slice[slice].held)) {
		w->next = slice + 1;
		w->sent = 0;
	}
}

/* Decides about the weights of kernel i: fetches the rest now, or leaves the slice in place. */
static void
decide_weights(struct walk *w, int i)
{
	int slice = w->p->kernel[i].slice;
	if (slice < 0)
		return;
	struct weight_slice *u = &w->p->slice[slice];
	if (slice < w->next) {
		if (u->held)
			w->t = max_f64(w->t, u->arrival);
		return;
	}
	/* slices that were skipped are read in place */
	if (w->next < slice) {
		w->next = slice;
		w->sent = 0;
	}
	/* a buffer for the part that pays */
	const bool may_fetch = !u->held && !w->p->decided.in_place[slice];
	const double begin = max_f64(w->t, w->tk);
	for (enum held h = may_fetch ? goal_of(w, slice, w->t, begin) : HELDS; h < HELDS; h++) {
		if (h == SCALES_FETCHED && !may_be_apart(w, slice))
			break;
		struct space r = find_space(w, u, h, i);
		if (r.from < 0 || !fetching_pays(w, slice, h, r.t, begin))
			continue;
		reserve(w, u, h, r);
		break;
	}
	if (!u->held) { /* none pays or fits */
		w->next = slice + 1;
		return;
	}
	send(w, slice, held_bytes(u, u->held) - w->sent, i);
	w->t = max_f64(w->t, u->arrival); /* the kernel waits for its weights */
}

/* Bytes that a transfer can move until time `until`. */
static int64_t
budget(const struct walk *w, double until)
{
	double start = max_f64(max_f64(w->t, w->td), w->flash) +
		       w->s->memory.mem[w->s->memory.const_area].read_latency;
	double rate = w->s->machine.read_rate[w->s->memory.const_area][READ_COPY];
	double bytes = (until - start) * rate;
	return bytes > 0 ? (int64_t)bytes / ALIGN * ALIGN : 0;
}

/*
 * Kernel i, which ends at `until`, is too short for a transfer, but it may be long enough
 * together with the next kernels.  Returns the time up to which kernels need the DMA engine for
 * weights only, but no later than the first use of slice u, or than its rest takes.
 */
static double
weights_only_until(const struct walk *w, int i, const struct weight_slice *u, int64_t rest,
	    double until)
{
	int end = u->first < w->node_end ? u->first : w->node_end;
	for (int k = i; k == i || (k < end && k < i + FAR && budget(w, until) < rest); k++) {
		const struct kernel *x = &w->p->kernel[k];
		if (op_is_transfer(w->s->info[x->op].op->kind) || x->table_load != 0)
			break;
		until += k == i ? 0 : x->cost[held_of(w->p, x)];
	}
	return until;
}

/* Cycles from the beginning of kernel i to the first use of slice u. */
static double
time_ahead(const struct walk *w, int i, const struct weight_slice *u)
{
	return w->begin[u->first] - w->begin[i];
}

/* Sends as many bytes of slice u as can move while kernel i runs.  False: none for now. */
static bool
send_ahead(struct walk *w, struct weight_slice *u, enum held held, int i, double until)
{
	const struct cached_space *k = &w->space;
	if (!u->held && k->slice == w->next && i <= k->none_at &&
	    k->bytes == round_up_i64(held_bytes(u, held), ALIGN)) /* it does not fit */
		return false;
	int64_t rest = held_bytes(u, held) - w->sent, n = budget(w, until);
	if (n < rest && n < LEAST_CHUNK)
		n = budget(w, weights_only_until(w, i, u, rest, until));
	if (n < rest && n < LEAST_CHUNK)
		return false;
	if (!u->held) { /* a buffer for this part, if that pays */
		const struct space r = find_space(w, u, held, i);
		if (r.from < 0 ||
		    (u->first == i + 1 && !fetching_pays(w, w->next, held, r.t, until)))
			return false;
		reserve(w, u, held, r);
	}
	if (n >= rest - LEAST_CHUNK)
		n = rest;
	w->p->used_ahead = max_f64(w->p->used_ahead, time_ahead(w, i, u));
	send(w, w->next, n < rest ? n : rest, i);
	return true;
}

/* Sends coming weights as far as they can move while kernel i runs. */
static void
look_ahead(struct walk *w, int i, double until)
{
	struct plan *p = w->p;
	while (w->next < (int)p->n_slices) {
		struct weight_slice *u = &p->slice[w->next];
		if (p->decided.in_place[w->next]) {
			w->next++;
			continue;
		}
		/* the front end would wait at DMA_START while no kernel runs */
		const bool starves = w->dma_end[DMA_QUEUE - w->s->accel->max_dma] >
				     max_f64(w->t, w->tk);
		const double ahead = p->decided.memory.ahead;
		if (u->first <= i || u->first >= w->node_end || starves ||
		    (ahead > 0 && time_ahead(w, i, u) > ahead))
			return;
		/* when the first use of the slice could begin if kernel i ends at `until` */
		const double begin = until + w->begin[u->first] - w->begin[i + 1];
		enum held held = u->held ? u->held : goal_of(w, w->next, w->t, begin);
		if (send_ahead(w, u, held, i, until))
			continue;
		if (u->held || held == SCALES_FETCHED || !may_be_apart(w, w->next))
			return;
		/* can the scales arrive in time only if their transfer begins soon? */
		const double first = weights_transfer(w->s, held_bytes(u, SCALES_FETCHED));
		const bool is_last_chance =
			u->first == i + 1 || begin - max_f64(w->t, w->td) < 2 * first;
		if (!is_last_chance || !send_ahead(w, u, SCALES_FETCHED, i, until))
			return;
	}
}

static void
issue(struct walk *w, int i)
{
	const struct kernel *k = &w->p->kernel[i];
	if (op_is_transfer(w->s->info[k->op].op->kind)) {
		start_transfer(w, k->transfer);
		w->copied[i] = w->td;
		return;
	}
	if (k->awaits >= 0)
		w->t = max_f64(w->t, w->copied[k->awaits]);
	decide_weights(w, i);
	enum held held = held_of(w->p, k);
	double cost = k->cost[held];
	double start = max_f64(w->t, w->tk);
	w->flash += constants_busy(w->s, k, held);
	if (weights_move(w->s))
		look_ahead(w, i, start + cost);
	if (k->table_load > 0) { /* the kernel waits for its table */
		start_transfer(w, k->table_load);
		w->t = max_f64(w->t, w->td);
	}
	/* the front end waits while two kernels are outstanding */
	w->t = max_f64(w->t, w->end[0]);
	start = max_f64(w->t, w->tk);
	w->tk = start + cost;
	w->end[0] = w->end[1];
	w->end[1] = w->tk;
}

static void
walk_kernels(struct walk *w, struct arena *scratch)
{
	struct sched *s = w->s;
	struct plan *p = w->p;
	w->space.slice = -1;
	p->n_fetches = 0;
	p->cycles = 0;
	p->asked = 0;
	p->used_ahead = 0;
	for (size_t i = 0; i < p->n_slices; i++)
		p->slice[i].held = IN_PLACE;
	w->used = usage_open(scratch, p->map_bytes, (int)p->n_kernels);
	w->copied = anew(scratch, double, p->n_kernels + 1);
	w->begin = anew(scratch, double, p->n_kernels + 1);
	for (size_t i = 0; i < p->n_kernels; i++)
		w->begin[i + 1] = w->begin[i] + p->kernel[i].cost[1];
	for (int i = 0; i < (int)p->n_kernels; i = w->node_end) {
		int node = s->info[p->kernel[i].op].node;
		w->node_start = w->node_end = i;
		while (w->node_end < (int)p->n_kernels &&
		       s->info[p->kernel[w->node_end].op].node == node)
			w->node_end++;
		w->t = w->tk = w->td = w->flash = 0;
		w->end[0] = w->end[1] = 0;
		memset(w->dma_end, 0, sizeof(w->dma_end));
		for (int k = i; k < w->node_end; k++)
			issue(w, k);
		p->cycles += max_f64(w->tk, w->td);
	}
	(void)usage_last_above(w->used, 0, (int)p->n_kernels - 1, INT64_MAX, &p->need);
}

void
walk_transfers(struct sched *s, struct plan *p)
{
	const struct memory_decision *m = &p->decided.memory;
	struct arena *a = arena_open();
	struct walk w = { .s = s, .p = p, .limit = m->limit };
	w.gaps = m->buffers == BETWEEN ? gaps_open(a, p, limited_place(s), m->limit) : NULL;
	walk_kernels(&w, a);
	find_buffers(s, p);
	/* the addresses that the walk assigned between the feature maps */
	for (size_t i = 0; m->buffers == BETWEEN && i < p->n_rects; i++) {
		struct rect *r = &p->rect[i];
		if (r->slice >= 0)
			r->at = p->slice[r->slice].at;
		else if (r->place == limited_place(s) && r->bytes)
			r->at = p->map_at[i];
	}
	arena_close(a);
}
