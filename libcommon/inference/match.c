/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the tensor of the plain model that the NPU has just written.  A command stream
 * has no tensors, so the search compares values: whole tensors first, then rows and
 * channels of a tensor (stripes, slices of depth).
 */
#include "inference/inference.h"

#include "stream/op.h"

#include <string.h>

/* a tensor as rows x columns x channels */
struct plane {
	const uint8_t *v;
	int64_t h, w, c;
	size_t bytes; /* of an element */
};

static struct plane
plane_of(struct sim *s, int index)
{
	const struct tfl_tensor *t = &sim_model(s)->subgraph[0].tensor[index];
	struct plane p = { .v = sim_tensor(s, index), .h = 1, .w = 1, .c = 1,
			   .bytes = (size_t)tfl_type_bytes(t->type) };
	if (t->rank > 0)
		p.c = t->dim[t->rank - 1];
	if (t->rank > 1)
		p.w = t->dim[t->rank - 2];
	if (p.c && p.w)
		p.h = tfl_elements(t) / (p.c * p.w);
	return p;
}

static int64_t
count(const struct plane *p)
{
	return p->h * p->w * p->c;
}

/* Copies a feature map in C order.  Returns false if it exceeds its region. */
static bool
copy_feature_map(struct arena *a, const struct npu_fm *f, const struct sim_region *r,
       struct plane *out)
{
	int bytes = npu_fm_bytes(f);
	*out = (struct plane){ .h = f->shape.h, .w = f->shape.w,
			       .c = f->shape.c, .bytes = (size_t)bytes };
	uint8_t *to = anew(a, uint8_t, (size_t)count(out) * out->bytes);
	out->v = to;
	for (int32_t y = 0; y < f->shape.h; y++)
		for (int32_t x = 0; x < f->shape.w; x++)
			for (int32_t c = 0; c < f->shape.c; c++, to += bytes) {
				int64_t at = npu_fm_address(f, y, x, c);
				if (at < 0 || (uint64_t)at + (uint64_t)bytes >
						  r->bytes)
					return false;
				memcpy(to, r->rd + at, (size_t)bytes);
			}
	return true;
}

/* true if part equals whole from row y and channel c on */
static bool
is_part_at(const struct plane *whole, const struct plane *part, int64_t y,
	int64_t c)
{
	size_t n = (size_t)part->c * part->bytes;
	for (int64_t i = 0; i < part->h * part->w; i++) {
		int64_t at = (y * whole->w + i) * whole->c + c;
		if (memcmp(whole->v + (size_t)at * whole->bytes,
			   part->v + (size_t)i * n, n))
			return false;
	}
	return true;
}

static bool
is_whole(const struct plane *whole, const struct plane *part)
{
	return count(whole) == count(part) &&
	       !memcmp(whole->v, part->v, (size_t)count(part) * part->bytes);
}

/* Parts have whole rows; their channels begin at a multiple of 16, like bricks. */
static bool
is_part(const struct plane *whole, const struct plane *part, struct place *at)
{
	if (whole->w != part->w || part->h > whole->h || part->c > whole->c)
		return false;
	for (int64_t y = 0; y <= whole->h - part->h; y++)
		for (int64_t c = 0; c <= whole->c - part->c; c += 16)
			if (is_part_at(whole, part, y, c)) {
				at->y = y;
				at->c = c;
				at->all_rows = part->h == whole->h;
				at->all_channels = part->c == whole->c;
				return true;
			}
	return false;
}

/* finds the first match in execution order, preferably one that is not complete yet */
static bool
find_match(const struct watch *w, const struct plane *part, bool whole,
     struct place *at)
{
	bool found = false;
	for (int i = 0; i < w->n_order; i++) {
		int t = w->order[i];
		struct plane p = plane_of(w->plain, t);
		struct place here = { .tensor = t, .all_rows = whole,
				      .all_channels = whole, .h = part->h,
				      .n_c = part->c };
		if (p.bytes != part->bytes || !count(part) ||
		    (whole ? !is_whole(&p, part) : !is_part(&p, part, &here)))
			continue;
		if (!found)
			*at = here;
		found = true;
		if (w->seen[t] < count(&p)) {
			*at = here;
			return true;
		}
	}
	return found;
}

struct watch *
watch_open(struct arena *a, const struct options *o, struct sim *plain)
{
	struct watch *w = anew(a, struct watch, 1);
	w->options = o;
	w->plain = plain;
	if (!plain)
		return w;
	const struct tfl_subgraph *g = &sim_model(plain)->subgraph[0];
	int n = 0;
	w->seen = anew(a, int64_t, (size_t)g->n_tensors);
	w->order = anew(a, int, (size_t)g->n_tensors);
	for (int i = 0; i < g->n_ops; i++)
		for (int k = 0; k < g->op[i].n_out && n < g->n_tensors; k++)
			w->order[n++] = g->op[i].out[k];
	w->n_order = n;
	return w;
}

static bool
match_values(struct watch *w, const struct plane *p, struct place *at)
{
	if (find_match(w, p, true, at)) {
		/* also tensors with the same values under another name (RESHAPE) */
		for (int i = 0; i < w->n_order; i++) {
			struct plane q = plane_of(w->plain, w->order[i]);
			if (q.bytes == p->bytes && is_whole(&q, p))
				w->seen[w->order[i]] = count(p);
		}
		return true;
	}
	if (!find_match(w, p, false, at))
		return false;
	w->seen[at->tensor] += count(p);
	return true;
}

bool
match_feature_map(struct watch *w, const struct sim_npu_event *ev,
		  struct place *at)
{
	struct arena *a = arena_open();
	const struct npu_fm *ofm = &ev->op->ofm;
	struct plane p;
	bool found = w->plain && npu_is_kernel(ev->op) &&
		     copy_feature_map(a, ofm, &ev->region[ofm->region], &p) &&
		     match_values(w, &p, at);
	arena_close(a);
	return found;
}

bool
match_tensor(struct watch *w, struct sim *s, int index, struct place *at)
{
	struct plane p = plane_of(s, index);
	return w->plain && match_values(w, &p, at);
}
