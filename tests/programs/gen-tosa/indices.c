/* SPDX-License-Identifier: Apache-2.0 */
/* Rows selected by computed indices, and a layer between the layouts of a framework. */
#include "gen.h"

/* values below n, a power of two, for any input */
static int
masked(struct gen *g, const int32_t dim[2], int64_t n)
{
	int in[2] = { gen_input(g, TOSA_INT32, 2, dim) };
	in[1] = gen_const(g, TOSA_INT32, 2, (int32_t[]){ 1, 1 }, &(int64_t){ n - 1 });
	return gen_op(g, TOSA_BITWISE_AND, 0, 2, in, TOSA_INT32, 2, dim);
}

/* each row is written once: every batch has one index for it */
void
draw_indices(struct gen *g)
{
	static const int types[] = { TOSA_INT8, TOSA_INT16, TOSA_INT32 };
	bool scatter = draw(g, 2);
	int type = types[draw(g, 3)];
	int32_t n = between(g, 1, 3), k = 1 << between(g, 1, 4), c = between(g, 1, 20);
	int32_t w = scatter ? 1 : between(g, 1, 15);
	int32_t all[3] = { n, k, c }, part[3] = { n, w, c };
	int in[3] = { gen_input(g, type, 3, all) };
	in[1] = masked(g, (int32_t[]){ n, w }, k);
	if (scatter)
		in[2] = gen_input(g, type, 3, part);
	(void)gen_op(g, scatter ? TOSA_SCATTER : TOSA_GATHER, 0, scatter ? 3 : 2, in, type, 3,
		     scatter ? all : part);
}

void
draw_broken(struct gen *g)
{
	static const int codes[] = { TOSA_LOGICAL_RIGHT_SHIFT, TOSA_LOGICAL_LEFT_SHIFT,
				     TOSA_ARITHMETIC_RIGHT_SHIFT, TOSA_INTDIV, TOSA_GATHER,
				     TOSA_SCATTER, TOSA_SCATTER };
	size_t kind = g->state % ARRAY_LEN(codes);
	int code = codes[kind], rank = kind < 4 ? 2 : 3;
	int32_t n = between(g, 1, 3), c = between(g, 2, 20), k = between(g, 8, 12);
	int32_t all[3] = { rank == 2 ? k : n, rank == 2 ? c : k, c }, part[3] = { n, 3, c };
	int in[3] = { gen_input(g, TOSA_INT32, rank, all) };
	fbw_off a = 0;
	if (code == TOSA_ARITHMETIC_RIGHT_SHIFT)
		a = gen_attribute(g, &fb_TosaShift, 0, NULL, NULL, 1, (int64_t[]){ draw(g, 2) });
	bool zeros = code == TOSA_INTDIV || kind == 6; /* a divisor, or indices that are equal */
	const int32_t *dim = rank == 2 ? all : part;
	in[1] = zeros ? masked(g, dim, 1) : gen_input(g, TOSA_INT32, 2, dim);
	if (code == TOSA_SCATTER)
		in[2] = gen_input(g, TOSA_INT32, 3, part);
	(void)gen_op(g, code, a, code == TOSA_SCATTER ? 3 : 2, in, TOSA_INT32, rank,
		     code == TOSA_GATHER ? part : all);
}

static int
transposed(struct gen *g, int x, const int32_t perm[4])
{
	const struct gen_tensor t = g->tensor[x];
	int32_t dim[4];
	for (int i = 0; i < 4; i++)
		dim[i] = t.dim[perm[i]];
	fbw_off a = gen_attribute(g, &fb_TosaPerms, 1, &perm, (int[]){ 4 }, 0, NULL);
	return gen_op(g, TOSA_TRANSPOSE, a, 1, &x, t.type, 4, dim);
}

/* a pool; outside, the channels precede rows and columns */
void
draw_borders(struct gen *g)
{
	const int32_t last[4] = { 0, 2, 3, 1 }, first[4] = { 0, 3, 1, 2 };
	int32_t kernel[2] = { 2, 2 }, stride[2] = { 1, 1 }, pad[4] = { 0 };
	int32_t c = between(g, 2, 40), h = between(g, 3, 12), w = between(g, 3, 12);
	const int32_t *list[3] = { kernel, stride, pad };
	fbw_off a = gen_attribute(g, &fb_TosaPool, 3, list, (int[]){ 2, 2, 4 }, 1,
				  &(int64_t){ 1 });
	int x = gen_input(g, TOSA_INT8, 4, (int32_t[]){ 1, c, h, w });
	x = transposed(g, x, last);
	x = gen_op(g, TOSA_MAX_POOL2D, a, 1, &x, TOSA_INT8, 4,
		   (int32_t[]){ 1, h - 1, w - 1, c });
	(void)transposed(g, x, first);
}
