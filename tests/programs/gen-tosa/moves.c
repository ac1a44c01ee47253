/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that only move elements, in sequence and in parallel, with a few that
 * compute. */
#include "gen.h"

#include <string.h>

enum { MOST = 12 /* operators */ };

static int
transposed(struct gen *g, int x, const int32_t *perm)
{
	const struct gen_tensor t = g->tensor[x];
	int32_t dim[TOSA_MAX_RANK];
	for (int i = 0; i < t.rank; i++)
		dim[i] = t.dim[perm[i]];
	fbw_off a = gen_attribute(g, &fb_TosaPerms, 1, &perm, &t.rank, 0, NULL);
	return gen_op(g, TOSA_TRANSPOSE, a, 1, &x, t.type, t.rank, dim);
}

static int
reshaped(struct gen *g, int x, int rank, const int32_t *dim)
{
	int64_t v[TOSA_MAX_RANK];
	for (int i = 0; i < rank; i++)
		v[i] = dim[i];
	int in[2] = { x, gen_shape(g, rank, v) };
	return gen_op(g, TOSA_RESHAPE, 0, 2, in, g->tensor[x].type, rank, dim);
}

static int
transpose(struct gen *g, int x)
{
	int32_t perm[TOSA_MAX_RANK];
	int rank = g->tensor[x].rank;
	draw_order(g, rank, perm);
	return transposed(g, x, perm);
}

/* distributes the prime factors of all dimensions to as many others, in order or not */
static int
reshape(struct gen *g, int x)
{
	int32_t factor[64], dim[TOSA_MAX_RANK];
	int n = 0, rank = between(g, 1, TOSA_MAX_RANK);
	for (int i = 0; i < g->tensor[x].rank; i++)
		for (int32_t left = g->tensor[x].dim[i], f = 2; left > 1;)
			if (left % f)
				f++;
			else
				left /= factor[n++] = f;
	bool mixed = draw(g, 2);
	for (int i = 0; i < rank; i++)
		dim[i] = 1;
	for (int i = 0; i < n; i++) {
		int k = mixed ? (int)draw(g, (uint32_t)(n - i)) : 0;
		dim[i * rank / n] *= factor[i + k];
		factor[i + k] = factor[i];
	}
	return reshaped(g, x, rank, dim);
}

static int
sliced(struct gen *g, int x, const int64_t *start, const int32_t *dim)
{
	const struct gen_tensor t = g->tensor[x];
	int64_t size[TOSA_MAX_RANK];
	for (int i = 0; i < t.rank; i++)
		size[i] = dim[i];
	int in[3] = { x, gen_shape(g, t.rank, start) };
	in[2] = gen_shape(g, t.rank, size);
	return gen_op(g, TOSA_SLICE, 0, 3, in, t.type, t.rank, dim);
}

static int
joined(struct gen *g, int x, int y, int64_t axis)
{
	const struct gen_tensor t = g->tensor[x];
	int32_t dim[TOSA_MAX_RANK];
	memcpy(dim, t.dim, sizeof(dim));
	dim[axis] *= 2;
	const int in[2] = { x, y };
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	return gen_op(g, TOSA_CONCAT, a, 2, in, t.type, t.rank, dim);
}

static int
slice(struct gen *g, int x)
{
	const struct gen_tensor t = g->tensor[x];
	int64_t start[TOSA_MAX_RANK];
	int32_t dim[TOSA_MAX_RANK];
	for (int i = 0; i < t.rank; i++) {
		int32_t n = draw(g, 2) ? t.dim[i]
			    : draw(g, 2) ? (t.dim[i] + 1) / 2
					 : between(g, 1, t.dim[i]);
		dim[i] = n;
		start[i] = draw(g, 2) ? t.dim[i] - n : between(g, 0, t.dim[i] - n);
	}
	return sliced(g, x, start, dim);
}

static int
reverse_or_concat(struct gen *g, int x)
{
	const struct gen_tensor t = g->tensor[x];
	int64_t axis = draw(g, (uint32_t)t.rank);
	if (draw(g, 2))
		return joined(g, x, x, axis);
	fbw_off a = gen_attribute(g, &fb_TosaAxis, 0, NULL, NULL, 1, &axis);
	return gen_op(g, TOSA_REVERSE, a, 1, &x, t.type, t.rank, t.dim);
}

/* interleaves channels of two groups, with pixels first or channels first */
static int
shuffle(struct gen *g, int x)
{
	const struct gen_tensor t = g->tensor[x];
	static const int32_t first[4] = { 0, 3, 1, 2 }, last[4] = { 0, 2, 3, 1 };
	static const int32_t inner[5] = { 0, 1, 2, 4, 3 }, outer[5] = { 0, 2, 1, 3, 4 };
	if (t.rank != 4 || t.dim[3] % 2)
		return transpose(g, x);
	int32_t n = t.dim[0], h = t.dim[1], w = t.dim[2], c = t.dim[3];
	if (draw(g, 2)) {
		x = reshaped(g, x, 5, (int32_t[]){ n, h, w, 2, c / 2 });
		return reshaped(g, transposed(g, x, inner), 4, t.dim);
	}
	x = reshaped(g, transposed(g, x, first), 5, (int32_t[]){ n, 2, c / 2, h, w });
	x = reshaped(g, transposed(g, x, outer), 4, (int32_t[]){ n, c, h, w });
	return transposed(g, x, last);
}

/* both halves of shuffled channels, the second half first */
static int
halves(struct gen *g, int x)
{
	x = shuffle(g, x);
	const struct gen_tensor t = g->tensor[x];
	int32_t dim[TOSA_MAX_RANK];
	int last = t.rank - 1;
	if (t.dim[last] % 2)
		return x;
	memcpy(dim, t.dim, sizeof(dim));
	dim[last] /= 2;
	int64_t start[TOSA_MAX_RANK] = { 0 };
	int first = sliced(g, x, start, dim);
	start[last] = dim[last];
	return joined(g, sliced(g, x, start, dim), first, last);
}

/* a reader that accepts channels in any order, of shuffled channels or of half of
 * them */
static int
layer(struct gen *g, int x)
{
	if (g->tensor[x].type == TOSA_INT32 || g->tensor[x].rank != 4)
		return transpose(g, x);
	x = shuffle(g, x);
	const struct gen_tensor t = g->tensor[x];
	int32_t dim[TOSA_MAX_RANK];
	int64_t start[TOSA_MAX_RANK] = { 0 };
	memcpy(dim, t.dim, sizeof(dim));
	if (t.dim[3] % 2 == 0 && draw(g, 2)) {
		dim[3] /= 2;
		start[3] = draw(g, 2) ? dim[3] : 0;
		x = sliced(g, x, start, dim);
	}
	return draw_layer(g, x);
}

void
draw_moves(struct gen *g)
{
	static int (*const step[])(struct gen *, int) = {
		transpose, transpose, reshape, reshape, slice, shuffle, halves,
		reverse_or_concat, layer };
	static const int type[] = { TOSA_INT8, TOSA_INT8, TOSA_INT16, TOSA_INT32 };
	static const int32_t most[4] = { 3, 8, 8, 24 };
	int32_t dim[4];
	int made[MOST + 1];
	for (int i = 0; i < 4; i++)
		dim[i] = between(g, 1, most[i]);
	made[0] = gen_new(g, type[draw(g, 4)], 4, dim);
	g->in[g->n_in++] = made[0];
	made[1] = (draw(g, 2) ? layer : shuffle)(g, made[0]);
	for (int n = 1, last = between(g, 2, MOST); n < last; n++) {
		int x = made[draw(g, 5) ? n : (int)draw(g, (uint32_t)n + 1)];
		made[n + 1] = step[draw(g, 9)](g, x);
	}
}
