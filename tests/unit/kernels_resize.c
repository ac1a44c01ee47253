/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests random RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR operators, and one worked
 * out by hand.  The kernels use two neighbours along each axis.  Here every input has
 * a weight, which is a tent function of its distance (nputools-lowering(7) 5.2, the
 * reference's grid of 1/1024).
 */
#include "rules.h"

#include "tflite/fields.h"

enum { MOST_OUT = 2048, GRID = 1024 };

struct resize {
	struct bench b;
	int type;
	int32_t n, c, in[2], out[2]; /* rows, columns */
	bool align_corners, half_pixel;
	int64_t want[MOST_OUT];
};

/* a quotient of positive numbers, halves up */
static int64_t
nearest(int64_t a, int64_t b)
{
	return (2 * a + b) / (2 * b);
}

/* the position of output o among the inputs of an axis, in 1/1024, clamped to the
 * inputs */
static int64_t
position(const struct resize *r, int axis, int32_t o)
{
	int64_t in = r->in[axis], out = r->out[axis], most = (in - 1) * GRID;
	bool corners = r->align_corners && out > 1;
	int64_t step = corners ? nearest(most, out - 1) : nearest(in * GRID, out);
	int64_t p = o * step + (r->half_pixel ? step / 2 - GRID / 2 : 0);
	return p < 0 ? 0 : p > most ? most : p;
}

static int64_t
tent(int64_t p, int32_t i)
{
	int64_t off = p - (int64_t)i * GRID;
	off = off < 0 ? -off : off;
	return off < GRID ? GRID - off : 0;
}

static int64_t
half_away(int64_t sum, int64_t by)
{
	int64_t size = sum < 0 ? -sum : sum, q = nearest(size, by);
	return sum < 0 ? -q : q;
}

/* element c of an output pixel: the sum of all inputs, each with the product of two
 * weights */
static int64_t
blend(const struct resize *r, int32_t n, int64_t y, int64_t x, int32_t c)
{
	int64_t sum = 0;
	for (int32_t i = 0; i < r->in[0]; i++)
		for (int32_t k = 0; k < r->in[1]; k++) {
			int64_t at = (((int64_t)n * r->in[0] + i) * r->in[1] + k) * r->c + c;
			sum += get(&r->b, 0, at) * tent(y, i) * tent(x, k);
		}
	return half_away(sum, (int64_t)GRID * GRID);
}

/*
 * The input that output o selects, in integers.  Where the quotient is an integer
 * (or, for nearest, halfway), float32 decides, and the reference's product is formed.
 */
static int32_t
neighbour(const struct resize *r, int axis, int32_t o)
{
	int32_t in = r->in[axis], out = r->out[axis];
	bool corners = r->align_corners && out > 1;
	int64_t a = (2 * (int64_t)o + r->half_pixel) * (corners ? in - 1 : in);
	int64_t b = 2 * (int64_t)(corners ? out - 1 : out);
	bool halves = r->align_corners;
	int64_t i = halves ? (2 * a + b) / (2 * b) : a / b;
	if (halves ? (2 * a + b) % (2 * b) == 0 : a % b == 0) {
		volatile float ratio = corners ? (float)(in - 1) / (float)(out - 1)
					       : (float)in / (float)out;
		volatile float v = ((float)o + (r->half_pixel ? 0.5f : 0)) * ratio;
		i = (int64_t)(halves ? roundf(v) : floorf(v));
	}
	return (int32_t)(i < in - 1 ? i : in - 1);
}

static void
expect(struct resize *r, bool bilinear)
{
	int64_t k = 0;
	for (int32_t n = 0; n < r->n; n++)
		for (int32_t y = 0; y < r->out[0]; y++)
			for (int32_t x = 0; x < r->out[1]; x++)
				for (int32_t c = 0; c < r->c; c++, k++) {
					int64_t row = (int64_t)n * r->in[0] + neighbour(r, 0, y);
					int64_t at = (row * r->in[1] + neighbour(r, 1, x)) *
							     r->c + c;
					r->want[k] = bilinear
						? blend(r, n, position(r, 0, y),
							position(r, 1, x), c)
						: get(&r->b, 0, at);
				}
}

static void
run(struct resize *r, bool bilinear)
{
	const struct bench_option twice[] = {
		{ .slot = FB_ResizeBilinearOptions_align_corners, .v = r->align_corners },
		{ .slot = FB_ResizeBilinearOptions_half_pixel_centers, .v = r->half_pixel },
	}, nearest_ones[] = {
		{ .slot = FB_ResizeNearestNeighborOptions_align_corners, .v = r->align_corners },
		{ .slot = FB_ResizeNearestNeighborOptions_half_pixel_centers,
		  .v = r->half_pixel },
	};
	int size = bench_add(&r->b, TFL_INT32, (int32_t[4]){ 2 }, 0, 0);
	put(&r->b, size, 0, r->out[0]);
	put(&r->b, size, 1, r->out[1]);
	bench_add(&r->b, r->type, (int32_t[4]){ r->n, r->out[0], r->out[1], r->c }, 0.5f, 3);
	if (bilinear)
		bench_options(&r->b, &fb_ResizeBilinearOptions, twice, 2);
	else
		bench_options(&r->b, &fb_ResizeNearestNeighborOptions, nearest_ones, 2);
}

static void
drawn_resize(bool bilinear)
{
	static const int types[] = { TFL_INT8, TFL_UINT8, TFL_INT16 };
	struct resize r = { .type = types[draw() % 3] };
	r.n = (int32_t)draw_in(1, 2);
	r.c = (int32_t)draw_in(1, 3);
	for (int i = 0; i < 2; i++) {
		r.in[i] = (int32_t)draw_in(1, 9);
		r.out[i] = (int32_t)draw_in(1, 18);
	}
	r.align_corners = draw() % 3 == 0;
	r.half_pixel = !r.align_corners && draw() % 2;
	drawn_map(&r.b, r.type, (int32_t[4]){ r.n, r.in[0], r.in[1], r.c }, 0.5f, 3);
	run(&r, bilinear);
	expect(&r, bilinear);
	hold(&r.b, bilinear ? TFL_RESIZE_BILINEAR : TFL_RESIZE_NEAREST_NEIGHBOR,
	     r.half_pixel ? "half pixels" : r.align_corners ? "corners" : "plain", r.want);
}

/* 2x2 to 4x4, positions 0, 1/4, 3/4 and 1: halves round away from 0 */
static void
by_hand(void)
{
	static const int8_t in[] = { 0, 10, 20, 30 };
	struct resize r = { .type = TFL_INT8, .n = 1, .c = 1, .in = { 2, 2 },
			    .out = { 4, 4 }, .half_pixel = true,
			    .want = { 0, 3, 8, 10, 5, 8, 13, 15, 15, 18, 23, 25, 20, 23, 28,
				      30 } };
	bench_add(&r.b, TFL_INT8, (int32_t[4]){ 1, 2, 2, 1 }, 0.5f, 3);
	for (int i = 0; i < 4; i++)
		put(&r.b, 0, i, in[i]);
	run(&r, true);
	hold(&r.b, TFL_RESIZE_BILINEAR, "by hand", r.want);
	for (int i = 0; i < 4; i++)
		put(&r.b, 0, i, -in[i]);
	for (int i = 0; i < 16; i++)
		r.want[i] = -r.want[i];
	hold(&r.b, TFL_RESIZE_BILINEAR, "by hand, below 0", r.want);
}

int
main(void)
{
	by_hand();
	for (int i = 0; i < 400; i++) {
		drawn_resize(true);
		drawn_resize(false);
	}
	if (n_failed)
		printf("%d failed\n", n_failed);
	return n_failed > 0;
}
