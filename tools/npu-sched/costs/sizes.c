/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of encoded weights: measured, or estimated before. */
#include "costs.h"

#include "emit/emit.h"

#include <string.h>

void
begin_sizes(struct sched *s)
{
	s->sizes = anew(s->a, struct size_cache, 1);
	s->sizes->a = s->a;
	s->sizes->of = anew(s->a, struct cached_size_list, s->g->n_weights + 1);
	for (size_t i = 0; i < s->g->n_weights; i++)
		s->sizes->of[i] = (struct cached_size_list){ .first = -1, .last = -1 };
}

int64_t
weight_count(const struct g_op *op)
{
	const int32_t *d = op->weights->shape.dim;
	return (int64_t)d[0] * d[1] * d[2] * d[3];
}

size_t
stream_cost(const struct sched *s, const struct g_op *op, const struct weights_view *v,
	    const struct weights_order *ord)
{
	return op->fast ? weights_fast_cost_view(v, ord)
			: weights_cost_view(v, ord, s->o->level);
}

const struct cached_size *
find_cached_size(const struct sched *s, const struct weight_slice *u, int32_t block_depth)
{
	for (int i = s->sizes->of[u->w->rec.index].first; i >= 0; i = s->sizes->v[i].next) {
		const struct cached_size *k = &s->sizes->v[i];
		if (k->depth.lo == u->depth.lo && k->depth.hi == u->depth.hi &&
		    k->block_depth == block_depth)
			return k;
	}
	return NULL;
}

void
estimate_by(struct sched *s, const struct weight_slice *u)
{
	struct cached_size_list *l = &s->sizes->of[u->w->rec.index];
	l->bytes += u->stream_bytes;
	l->channels += u->depth.hi - u->depth.lo;
}

/*
 * Bytes of some channels before these are measured: in proportion to the first measurement,
 * which is of the whole in one slice or several; without one, near the size of dense weights.
 * Later measurements must not count, so that plans compare alike whatever was tried before.
 */
struct weights_size
slice_size(const struct sched *s, int i, struct g_range depth)
{
	const struct g_op *op = s->info[i].op;
	const int64_t channels = depth.hi - depth.lo;
	if (!op->weights)
		return (struct weights_size){ .stream = 0 };
	const struct cached_size_list *l = &s->sizes->of[op->weights->rec.index];
	const int64_t bytes = l->channels
				      ? l->bytes * channels / l->channels
				      : weight_count(op) * channels / op->ofm.shape.c * 15 / 16;
	return (struct weights_size){ .stream = round_up_i64(bytes, 16),
				      .scales = emit_scale_bytes(s->accel, op, channels) };
}

struct weights_size
whole_size(const struct sched *s, int op)
{
	return slice_size(s, op, (struct g_range){ .hi = s->info[op].op->ofm.shape.c });
}

void
add_cached_size(struct sched *s, const struct weight_slice *u, int32_t block_depth,
	  struct bytes coding)
{
	struct cached_size_list *l = &s->sizes->of[u->w->rec.index];
	uint8_t *copy = anew(s->sizes->a, uint8_t, coding.n);
	int at = (int)s->sizes->n++;
	if (coding.n)
		memcpy(copy, coding.p, coding.n);
	s->sizes->v = arena_grow(s->sizes->a, s->sizes->v, (size_t)at,
				 &s->sizes->cap, sizeof(*s->sizes->v));
	s->sizes->v[at] = (struct cached_size){
		.w = u->w, .depth = u->depth, .block_depth = block_depth, .next = -1,
		.stream_bytes = u->stream_bytes, .scale_bytes = u->scale_bytes,
		.coding = { .p = copy, .n = coding.n } };
	if (l->first < 0)
		l->first = at;
	else
		s->sizes->v[l->last].next = at;
	l->last = at;
}
