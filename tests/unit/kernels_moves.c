/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests random operators that only move elements.  Each has a rule that maps the
 * position of an output element to an input element, or to the zero point around the
 * input.
 */
#include "rules.h"

#include "tflite/fields.h"

enum { AXES = 4, MOST_OUT = 2048 };

struct move {
	struct bench b;
	int type;
	float scale;
	int64_t zero;
	int32_t in[AXES], out[AXES];
	int64_t a[AXES], c[AXES]; /* the operator's arguments, by axis */
	int axis, block;
	bool flag;
	struct bench_option option[3];
	int n_options;
};

/* the source of output element o; false: the zero point */
typedef bool rule(const struct move *m, const int32_t o[AXES], int32_t from[AXES]);

static int64_t
place(const int32_t dim[AXES], const int32_t at[AXES])
{
	return (((int64_t)at[0] * dim[1] + at[1]) * dim[2] + at[2]) * dim[3] + at[3];
}

/* v: per axis, or of n values */
static void
numbers(struct move *m, const int64_t *v, int32_t n, int32_t columns)
{
	int32_t dim[AXES] = { columns ? n / columns : n, columns };
	int i = bench_add(&m->b, TFL_INT32, dim, 0, 0);
	for (int32_t k = 0; k < n; k++)
		put(&m->b, i, k, v[k]);
}

static void
option(struct move *m, int slot, double v)
{
	m->option[m->n_options++] = (struct bench_option){ .slot = slot, .v = v };
}

/* ---- arguments of each operator, and the sources of its elements --------------- */

static bool
from_transposed(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[m->a[d]] = o[d];
	return true;
}

static void
transpose(struct move *m)
{
	for (int d = 0; d < AXES; d++)
		m->a[d] = d;
	for (int d = AXES - 1; d > 0; d--) {
		int k = (int)draw_in(0, d);
		int64_t t = m->a[d];
		m->a[d] = m->a[k];
		m->a[k] = t;
	}
	for (int d = 0; d < AXES; d++)
		m->out[d] = m->in[m->a[d]];
	numbers(m, m->a, AXES, 0);
}

static bool
from_padded(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++) {
		from[d] = o[d] - (int32_t)m->a[d];
		if (from[d] < 0 || from[d] >= m->in[d])
			return false;
	}
	return true;
}

/* at most so many on each side, so that the output has at most MOST_OUT elements */
static int64_t
widest(int axis)
{
	return axis ? 2 : 1;
}

static void
pad(struct move *m)
{
	int64_t v[2 * AXES];
	for (int d = 0; d < AXES; d++) {
		v[2 * d] = m->a[d] = draw_in(0, widest(d));
		v[2 * d + 1] = draw_in(0, widest(d));
		m->out[d] = m->in[d] + (int32_t)(v[2 * d] + v[2 * d + 1]);
	}
	numbers(m, v, 2 * AXES, 2);
}

/* REFLECT leaves the edge out, SYMMETRIC repeats it */
static bool
from_mirrored(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	int32_t again = m->flag ? 1 : 0;
	for (int d = 0; d < AXES; d++) {
		from[d] = o[d] - (int32_t)m->a[d];
		if (from[d] < 0)
			from[d] = -from[d] - again;
		if (from[d] >= m->in[d])
			from[d] = 2 * m->in[d] - 2 + again - from[d];
	}
	return true;
}

static void
mirror_pad(struct move *m)
{
	int64_t v[2 * AXES];
	m->flag = draw() % 2;
	for (int d = 0; d < AXES; d++) {
		int64_t most = m->in[d] - !m->flag;
		most = most < widest(d) ? most : widest(d);
		v[2 * d] = m->a[d] = draw_in(0, most);
		v[2 * d + 1] = draw_in(0, most);
		m->out[d] = m->in[d] + (int32_t)(v[2 * d] + v[2 * d + 1]);
	}
	numbers(m, v, 2 * AXES, 2);
	option(m, FB_MirrorPadOptions_mode, m->flag);
}

static bool
from_sliced(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[d] = (int32_t)(m->a[d] + o[d] * m->c[d]);
	return true;
}

static void
slice(struct move *m)
{
	int64_t n[AXES];
	for (int d = 0; d < AXES; d++) {
		m->a[d] = draw_in(0, m->in[d] - 1);
		m->c[d] = 1;
		m->out[d] = (int32_t)draw_in(1, m->in[d] - m->a[d]);
		bool all = m->out[d] == m->in[d] - m->a[d] && draw() % 2;
		n[d] = all ? -1 : m->out[d];
	}
	numbers(m, m->a, AXES, 0);
	numbers(m, n, AXES, 0);
}

/* steps in either direction; the mask marks an end before the first element */
static void
strided_slice(struct move *m)
{
	int64_t end[AXES], begin[AXES];
	int mask = 0;
	for (int d = 0; d < AXES; d++) {
		int64_t last = m->in[d] - 1, step = draw_in(1, 3);
		m->a[d] = draw_in(0, last);
		m->c[d] = draw() % 2 ? step : -step;
		int64_t most = (m->c[d] > 0 ? last - m->a[d] : m->a[d]) / step + 1;
		m->out[d] = (int32_t)draw_in(1, most);
		end[d] = m->a[d] + (m->out[d] - 1) * m->c[d] + (m->c[d] > 0 ? 1 : -1);
		if (end[d] < 0)
			mask |= 1 << d;
		begin[d] = draw() % 2 ? m->a[d] : m->a[d] - m->in[d];
	}
	numbers(m, begin, AXES, 0);
	numbers(m, end, AXES, 0);
	numbers(m, m->c, AXES, 0);
	option(m, FB_StridedSliceOptions_end_mask, mask);
}

static bool
from_reversed(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[d] = d == m->axis ? m->in[d] - 1 - o[d] : o[d];
	return true;
}

static void
reverse(struct move *m)
{
	int64_t axis = draw() % 2 ? m->axis : m->axis - AXES;
	memcpy(m->out, m->in, sizeof(m->out));
	numbers(m, &axis, 1, 0);
}

static bool
from_tiled(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[d] = o[d] % m->in[d];
	return true;
}

static void
tile(struct move *m)
{
	for (int d = 0; d < AXES; d++) {
		m->a[d] = draw_in(1, 2);
		m->out[d] = (int32_t)(m->in[d] * m->a[d]);
	}
	numbers(m, m->a, AXES, 0);
}

static bool
from_gathered(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[d] = d == m->axis ? (int32_t)m->a[o[d]] : o[d];
	return true;
}

static void
gather(struct move *m)
{
	memcpy(m->out, m->in, sizeof(m->out));
	m->out[m->axis] = AXES;
	for (int k = 0; k < AXES; k++)
		m->a[k] = draw_in(0, m->in[m->axis] - 1);
	numbers(m, m->a, AXES, 0);
	option(m, FB_GatherOptions_axis, m->axis);
}

/* channel (y, x, c) of block x block x c */
static bool
from_depth(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	int32_t b = m->block, inner = (o[1] % b * b + o[2] % b) * m->out[3];
	from[0] = o[0];
	from[1] = o[1] / b;
	from[2] = o[2] / b;
	from[3] = inner + o[3];
	return true;
}

static void
depth_to_space(struct move *m)
{
	m->in[3] *= m->block * m->block;
	m->out[0] = m->in[0];
	m->out[1] = m->in[1] * m->block;
	m->out[2] = m->in[2] * m->block;
	m->out[3] = m->in[3] / m->block / m->block;
	option(m, FB_DepthToSpaceOptions_block_size, m->block);
}

static bool
from_space(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	int32_t tap = o[3] / m->in[3];
	from[0] = o[0];
	from[1] = o[1] * m->block + tap / m->block;
	from[2] = o[2] * m->block + tap % m->block;
	from[3] = o[3] % m->in[3];
	return true;
}

static void
space_to_depth(struct move *m)
{
	m->in[1] *= m->block;
	m->in[2] *= m->block;
	m->out[0] = m->in[0];
	m->out[1] = m->in[1] / m->block;
	m->out[2] = m->in[2] / m->block;
	m->out[3] = m->in[3] * m->block * m->block;
	option(m, FB_SpaceToDepthOptions_block_size, m->block);
}

static bool
from_same(const struct move *m, const int32_t o[AXES], int32_t from[AXES])
{
	for (int d = 0; d < AXES; d++)
		from[d] = m->in[d] == 1 ? 0 : o[d];
	return true;
}

static void
broadcast_to(struct move *m)
{
	for (int d = 0; d < AXES; d++) {
		m->out[d] = m->in[d];
		if (draw() % 2)
			m->in[d] = 1;
		m->a[d] = m->out[d];
	}
	numbers(m, m->a, AXES, 0);
}

static const struct kind {
	int code;
	void (*draw)(struct move *m); /* sizes, and the tensors behind the first */
	rule *from;
	const struct fb_table *table;
} kinds[] = {
	{ TFL_TRANSPOSE, transpose, from_transposed, NULL },
	{ TFL_PAD, pad, from_padded, NULL },
	{ TFL_MIRROR_PAD, mirror_pad, from_mirrored, &fb_MirrorPadOptions },
	{ TFL_SLICE, slice, from_sliced, NULL },
	{ TFL_STRIDED_SLICE, strided_slice, from_sliced, &fb_StridedSliceOptions },
	{ TFL_REVERSE_V2, reverse, from_reversed, NULL },
	{ TFL_TILE, tile, from_tiled, NULL },
	{ TFL_GATHER, gather, from_gathered, &fb_GatherOptions },
	{ TFL_DEPTH_TO_SPACE, depth_to_space, from_depth, &fb_DepthToSpaceOptions },
	{ TFL_SPACE_TO_DEPTH, space_to_depth, from_space, &fb_SpaceToDepthOptions },
	{ TFL_BROADCAST_TO, broadcast_to, from_same, NULL },
};

static void
moved(const struct kind *k)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct move m = { .type = types[draw() % 3], .axis = (int)draw_in(0, AXES - 1),
			  .block = (int)draw_in(1, 3), .scale = draw_scale(-4) };
	int64_t want[MOST_OUT], i = 0;
	m.zero = draw_zero(m.type);
	for (int d = 0; d < AXES; d++)
		m.in[d] = (int32_t)draw_in(1, d ? 4 : 2);
	m.b.n = 1; /* the first tensor: its size is determined after the others are drawn */
	k->draw(&m);
	int n = m.b.n;
	m.b.n = 0;
	drawn_map(&m.b, m.type, m.in, m.scale, m.zero);
	m.b.n = n;
	bench_add(&m.b, m.type, m.out, m.scale, m.zero);
	if (k->table)
		bench_options(&m.b, k->table, m.option, m.n_options);
	int32_t o[AXES], from[AXES];
	for (o[0] = 0; o[0] < m.out[0]; o[0]++)
		for (o[1] = 0; o[1] < m.out[1]; o[1]++)
			for (o[2] = 0; o[2] < m.out[2]; o[2]++)
				for (o[3] = 0; o[3] < m.out[3]; o[3]++)
					want[i++] = k->from(&m, o, from)
							? get(&m.b, 0, place(m.in, from))
							: m.zero;
	hold(&m.b, k->code, "drawn", want);
}

int
main(void)
{
	for (int i = 0; i < 300; i++)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			moved(&kinds[k]);
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
