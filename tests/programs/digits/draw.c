/* SPDX-License-Identifier: Apache-2.0 */
/* Draws digits as bent and noisy curves: the data set. */
#include "digits.h"

#include <math.h>

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom generators" */
struct rng
rng_seeded(uint64_t seed)
{
	return (struct rng){ .state = seed * 0x9e3779b97f4a7c15u };
}

uint32_t
rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

float
rng_range(struct rng *r, float lo, float hi)
{
	return lo + (hi - lo) * (float)(rng_next(r) >> 8) * 0x1p-24f;
}

float
rng_normal(struct rng *r)
{
	float sum = 0;
	for (int i = 0; i < 12; i++)
		sum += rng_range(r, -0.5f, 0.5f);
	return sum;
}

/* ---- how a digit is written -------------------------------------------- */

enum { MAX_POINTS = 12, MAX_STROKES = 3, SPLINE_STEPS = 6 };

struct point {
	float x, y; /* in a unit square, y downwards */
};

/* a smooth curve through its points */
struct stroke {
	int n;
	struct point p[MAX_POINTS];
};

struct glyph {
	int digit, n;
	struct stroke s[MAX_STROKES];
};

/* clang-format off */
#define P(px, py) { .x = px##f, .y = py##f }
static const struct glyph glyphs[] = {
	{ .digit = 0, .n = 1, .s = {
		{ 8, { P(.5, .08), P(.22, .25), P(.16, .55), P(.28, .86),
		       P(.55, .93), P(.8, .7), P(.82, .35), P(.5, .08) } } } },
	{ .digit = 1, .n = 2, .s = {
		{ 2, { P(.3, .3), P(.55, .08) } },
		{ 3, { P(.55, .08), P(.53, .5), P(.5, .92) } } } },
	{ .digit = 1, .n = 1, .s = {
		{ 3, { P(.52, .08), P(.5, .5), P(.48, .92) } } } },
	{ .digit = 1, .n = 3, .s = {
		{ 2, { P(.32, .25), P(.52, .08) } },
		{ 2, { P(.52, .08), P(.52, .92) } },
		{ 2, { P(.3, .92), P(.74, .92) } } } },
	{ .digit = 2, .n = 2, .s = {
		{ 6, { P(.2, .28), P(.38, .1), P(.65, .1), P(.76, .3),
		       P(.55, .58), P(.2, .9) } },
		{ 3, { P(.2, .9), P(.5, .87), P(.82, .9) } } } },
	{ .digit = 3, .n = 2, .s = {
		{ 5, { P(.22, .16), P(.5, .08), P(.74, .24), P(.64, .42),
		       P(.42, .48) } },
		{ 5, { P(.42, .48), P(.7, .55), P(.78, .75), P(.5, .93),
		       P(.2, .84) } } } },
	{ .digit = 4, .n = 3, .s = {
		{ 3, { P(.5, .08), P(.34, .35), P(.15, .62) } },
		{ 3, { P(.15, .62), P(.5, .6), P(.86, .6) } },
		{ 3, { P(.66, .34), P(.64, .6), P(.6, .92) } } } },
	{ .digit = 4, .n = 3, .s = {
		{ 3, { P(.64, .08), P(.4, .36), P(.15, .66) } },
		{ 2, { P(.15, .66), P(.86, .64) } },
		{ 3, { P(.64, .08), P(.64, .5), P(.62, .92) } } } },
	{ .digit = 5, .n = 3, .s = {
		{ 3, { P(.76, .1), P(.5, .1), P(.3, .12) } },
		{ 3, { P(.3, .12), P(.27, .3), P(.24, .46) } },
		{ 6, { P(.24, .46), P(.5, .38), P(.76, .52), P(.75, .78),
		       P(.5, .93), P(.2, .85) } } } },
	{ .digit = 6, .n = 1, .s = {
		{ 9, { P(.68, .1), P(.42, .26), P(.24, .55), P(.3, .84),
		       P(.54, .93), P(.76, .76), P(.65, .56), P(.42, .55),
		       P(.27, .7) } } } },
	{ .digit = 7, .n = 2, .s = {
		{ 3, { P(.2, .12), P(.5, .1), P(.8, .12) } },
		{ 3, { P(.8, .12), P(.58, .48), P(.42, .92) } } } },
	{ .digit = 7, .n = 3, .s = {
		{ 3, { P(.2, .12), P(.5, .1), P(.8, .12) } },
		{ 3, { P(.8, .12), P(.58, .48), P(.42, .92) } },
		{ 2, { P(.36, .5), P(.76, .5) } } } },
	{ .digit = 8, .n = 1, .s = {
		{ 11, { P(.5, .48), P(.28, .32), P(.38, .1), P(.64, .1),
			P(.74, .3), P(.5, .48), P(.24, .7), P(.38, .93),
			P(.65, .92), P(.76, .7), P(.5, .48) } } } },
	{ .digit = 9, .n = 1, .s = {
		{ 9, { P(.74, .32), P(.54, .5), P(.28, .4), P(.3, .16),
		       P(.56, .08), P(.74, .2), P(.74, .4), P(.7, .66),
		       P(.54, .92) } } } },
};
#undef P
/* clang-format on */

static const struct glyph *
pick_glyph(struct rng *r, int digit)
{
	const struct glyph *found[ARRAY_LEN(glyphs)];
	uint32_t n = 0;
	for (size_t i = 0; i < ARRAY_LEN(glyphs); i++)
		if (glyphs[i].digit == digit)
			found[n++] = &glyphs[i];
	return found[rng_next(r) % n];
}

/* ---- the hand ----------------------------------------------------------- */

/* picture coordinates of the unit square's centre, and the map around it */
struct hand {
	float xx, xy, yx, yy;
	float cx, cy;
	float radius; /* of the pen, in pixels */
	float ink;
};

static struct hand
pick_hand(struct rng *r)
{
	/* sine and cosine of a small angle by their series: the error is below 1e-6 */
	float t = rng_range(r, -0.3f, 0.3f);
	float s = t - t * t * t / 6 + t * t * t * t * t / 120;
	float c = 1 - t * t / 2 + t * t * t * t / 24;
	float shear = rng_range(r, -0.25f, 0.25f);
	float wide = rng_range(r, 13, 20), high = rng_range(r, 16, 22);
	return (struct hand){
		.xx = c * wide,
		.xy = (shear * c - s) * high,
		.yx = s * wide,
		.yy = (shear * s + c) * high,
		.cx = SIDE / 2 + rng_range(r, -2.5f, 2.5f),
		.cy = SIDE / 2 + rng_range(r, -2.5f, 2.5f),
		.radius = rng_range(r, 0.6f, 1.7f),
		.ink = rng_range(r, 0.65f, 1),
	};
}

static struct point
place(const struct hand *h, struct point p)
{
	float x = p.x - 0.5f, y = p.y - 0.5f;
	return (struct point){
		.x = h->cx + h->xx * x + h->xy * y,
		.y = h->cy + h->yx * x + h->yy * y,
	};
}

static float
catmull_rom(float a, float b, float c, float d, float t)
{
	return b + 0.5f * t *
		       (c - a +
			t * (2 * a - 5 * b + 4 * c - d +
			     t * (3 * (b - c) + d - a)));
}

/* squared distance of q from the segment a b */
static float
distance2(struct point q, struct point a, struct point b)
{
	float ux = b.x - a.x, uy = b.y - a.y;
	float vx = q.x - a.x, vy = q.y - a.y;
	float len = ux * ux + uy * uy;
	float t = len > 0 ? (vx * ux + vy * uy) / len : 0;
	t = t < 0 ? 0 : t > 1 ? 1 : t;
	float dx = vx - t * ux, dy = vy - t * uy;
	return dx * dx + dy * dy;
}

/* the pen touches the pixels around a segment; dist holds squared distances */
static void
touch(float *dist, struct point a, struct point b)
{
	const float reach = 3; /* above the largest radius and its soft edge */
	for (int y = 0; y < SIDE; y++) {
		float low = a.y < b.y ? a.y : b.y, high = a.y + b.y - low;
		if ((float)y < low - reach || (float)y > high + reach)
			continue;
		for (int x = 0; x < SIDE; x++) {
			struct point q = { .x = (float)x, .y = (float)y };
			float d = distance2(q, a, b);
			if (d < dist[y * SIDE + x])
				dist[y * SIDE + x] = d;
		}
	}
}

static void
draw_stroke(float *dist, const struct hand *h, const struct stroke *s,
	    struct rng *r)
{
	struct point p[MAX_POINTS];
	for (int i = 0; i < s->n; i++)
		p[i] = place(h, (struct point){
			.x = s->p[i].x + rng_range(r, -0.04f, 0.04f),
			.y = s->p[i].y + rng_range(r, -0.04f, 0.04f),
		});
	struct point pen = p[0];
	for (int i = 0; i + 1 < s->n; i++) {
		struct point a = p[i > 0 ? i - 1 : 0], b = p[i], c = p[i + 1];
		struct point d = p[i + 2 < s->n ? i + 2 : i + 1];
		for (int k = 1; k <= SPLINE_STEPS; k++) {
			float t = (float)k / SPLINE_STEPS;
			struct point to = {
				.x = catmull_rom(a.x, b.x, c.x, d.x, t),
				.y = catmull_rom(a.y, b.y, c.y, d.y, t),
			};
			touch(dist, pen, to);
			pen = to;
		}
	}
}

void
draw_digit(struct rng *r, int digit, struct picture *out)
{
	const struct glyph *g = pick_glyph(r, digit);
	struct hand h = pick_hand(r);
	float noise = rng_range(r, 0, 0.08f);
	float dist[PIXELS];
	for (int i = 0; i < PIXELS; i++)
		dist[i] = 1000;
	for (int i = 0; i < g->n; i++)
		draw_stroke(dist, &h, &g->s[i], r);
	for (int i = 0; i < PIXELS; i++) {
		float v = h.radius + 0.5f - sqrtf(dist[i]);
		v = (v < 0 ? 0 : v > 1 ? 1 : v) * h.ink;
		v += noise * rng_normal(r);
		v = v < 0 ? 0 : v > 1 ? 1 : v;
		out->pixel[i] = (uint8_t)(v * 255 + 0.5f);
	}
	out->digit = digit;
}

void
draw_any(struct rng *r, struct picture *out)
{
	draw_digit(r, (int)(rng_next(r) % CLASSES), out);
}
