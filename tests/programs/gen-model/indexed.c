/* SPDX-License-Identifier: Apache-2.0 */
/* GATHER and GATHER_ND with indices that an ARG_MAX computes, so that the indices are
 * in range. */
#include "gen.h"

#include "tflite/fields.h"

enum { ARG_MAX = 40, GATHER = 23 }; /* options of operators, in TFLite's union */

/* computed indices of this shape, below `most` */
static int
computed(struct gen *g, struct shape s, int32_t most)
{
	struct shape scores = s;
	scores.dim[scores.rank++] = most;
	int in = gen_random(g, TFL_INT8, scores);
	int64_t type = gen_chance(g, 30) ? TFL_INT64 : TFL_INT32;
	int to = gen_tensor(g, (int)type, s, 0, 0);
	return gen_op1(g, TFL_ARG_MAX, 2, (int[]){ in, gen_index(g, s.rank) }, to, ARG_MAX,
		       &fb_ArgMaxOptions, &type);
}

/* the gathered values; sometimes constant, as embeddings are */
static int
values(struct gen *g)
{
	int rank = (int)gen_range(g, 1, 4);
	int type = gen_chance(g, 20) ? TFL_INT32 : gen_type(g);
	struct shape s = gen_shape(g, rank, (int32_t)gen_range(g, 1, 3));
	if (type == TFL_INT32)
		return gen_tensor(g, type, s, 0, 0);
	return gen_chance(g, 30) ? gen_noise(g, type, s, 0.5f, 0) : gen_random(g, type, s);
}

static void
draw_picked(struct gen *g, int code)
{
	enum { MOST = 6 };
	int in = values(g);
	struct shape s = shape_of(g, in), at = { .rank = 0 }, out = { .rank = 0 };
	int axis = (int)gen_range(g, 0, s.rank - 1);
	int batch = axis ? (int)gen_range(g, 0, axis) : 0;
	for (int i = 0; i < batch; i++)
		at.dim[at.rank++] = s.dim[i];
	int more = (int)gen_range(g, !at.rank, 2);
	for (int i = 0; i < more; i++)
		at.dim[at.rank++] = (int32_t)gen_range(g, 1, MOST);
	for (int i = 0; i < axis; i++)
		out.dim[out.rank++] = s.dim[i];
	for (int i = batch; i < at.rank; i++)
		out.dim[out.rank++] = at.dim[i];
	for (int i = axis + 1; i < s.rank; i++)
		out.dim[out.rank++] = s.dim[i];
	int index = computed(g, at, s.dim[axis]);
	gen_op1(g, code, 2, (int[]){ in, index }, gen_like(g, in, out), GATHER,
		&fb_GatherOptions, (int64_t[]){ axis, batch });
}

static void
draw_picked_nd(struct gen *g, int code)
{
	enum { MOST = 8 };
	int in = values(g);
	struct shape s = shape_of(g, in);
	int32_t n = (int32_t)gen_range(g, 1, MOST), most = s.dim[0];
	int depth = (int)gen_range(g, 1, s.rank);
	struct shape out = { .rank = 1, .dim = { n } };
	for (int i = 0; i < s.rank; i++) {
		if (i < depth)
			most = s.dim[i] < most ? s.dim[i] : most;
		else
			out.dim[out.rank++] = s.dim[i];
	}
	int index = computed(g, SHAPE(n, depth), most);
	gen_op1(g, code, 2, (int[]){ in, index }, gen_like(g, in, out), 0, NULL, NULL);
}

const struct draw indexed_draws[] = {
	{ "GATHER_COMPUTED", draw_picked, TFL_GATHER },
	{ "GATHER_ND_COMPUTED", draw_picked_nd, TFL_GATHER_ND },
	{ 0 },
};
