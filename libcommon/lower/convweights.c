/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and scales of convolutions: the model's own, or copies in another order. */
#include "lower/convparts.h"

#include "graph/build.h"

#include <string.h>

enum { GROUP_DEPTH = 16 }; /* minimum of IFM channels per operation */

static int32_t
hardware_dilation(int32_t d)
{
	return d <= LOW_DILATION ? d : d % 2 == 0 ? 2 : 1;
}

struct yx
conv_dilation(const struct low_conv *c)
{
	return (struct yx){ .y = hardware_dilation(c->dilation.y),
			    .x = hardware_dilation(c->dilation.x) };
}

/* distance between taps in the kernel extended by zeros */
static struct yx
spread_of(const struct low_conv *c)
{
	struct yx d = conv_dilation(c);
	return (struct yx){ .y = c->dilation.y / d.y, .x = c->dilation.x / d.x };
}

struct yx
conv_taps(const struct low_conv *c)
{
	struct yx s = spread_of(c);
	return (struct yx){ .y = (c->kernel.y - 1) * s.y + 1,
			    .x = (c->kernel.x - 1) * s.x + 1 };
}

static int32_t
group_step(const struct low_conv *c)
{
	return c->groups == 1 ? 1 : (GROUP_DEPTH + c->i - 1) / c->i;
}

int64_t
conv_group_ops(const struct low_conv *c)
{
	int32_t step = group_step(c);
	return (c->groups + step - 1) / step;
}

bool
conv_groups_next(const struct low_conv *c, struct conv_groups *g)
{
	int32_t step = group_step(c);
	g->first += g->n;
	g->n = c->groups - g->first < step ? c->groups - g->first : step;
	return g->n > 0;
}

/* ---- weights --------------------------------------------------------------------------- */

/* the channel of v that is channel k in one of the orders of low_weights */
static int32_t
channel_at(const int32_t *order, int32_t k)
{
	return order ? order[k] : k;
}

static int64_t
zero_of(const struct low_weights *w, int32_t o)
{
	return w->zero[w->n_zero > 1 ? channel_at(w->out, o) : 0];
}

static void
put_zeros(struct lower *l, struct g_weights *to, const struct low_weights *w,
	  int32_t first, int32_t n)
{
	size_t count = w->n_zero > 1 ? (size_t)n : 1;
	int64_t *zero = anew(l->a, int64_t, count);
	for (size_t o = 0; o < count; o++)
		zero[o] = zero_of(w, first + (int32_t)o);
	G_PUT(to, WEIGHTS, zero, (struct g_list){ .v = zero, .n = count });
}

static struct g_weights *
new_weights(struct lower *l, const struct low_weights *w, int32_t o, struct yx kernel,
	    int32_t i)
{
	struct g_weights *r = graph_add_g_weights(l->g);
	G_PUT(r, WEIGHTS, shape,
	      (struct g_shape){ .type = w->type, .rank = 4,
				.dim = { o, kernel.y, kernel.x, i } });
	G_PUT(r, WEIGHTS, name, w->name);
	return r;
}

static void
put_blob(struct lower *l, const char *prefix, struct g_weights *w, struct bytes b)
{
	const char *name = arena_printf(l->a, "%s%d", prefix, w->rec.id);
	G_PUT(w, WEIGHTS, source,
	      (struct g_source){ .blob = graph_add_blob(l->g, name, b)->name });
}

struct g_weights *
low_weights_new(struct lower *l, const char *prefix, struct g_shape shape, struct bytes b)
{
	struct g_weights *w = graph_add_g_weights(l->g);
	G_PUT(w, WEIGHTS, shape, shape);
	G_PUT(w, WEIGHTS, zero, (struct g_list){ .v = anew(l->a, int64_t, 1), .n = 1 });
	put_blob(l, prefix, w, b);
	return w;
}

/*
 * Copies the taps of a channel between zero points into O,H,W,I order; row and depth
 * are the bytes of a row and of a pixel.
 */
static void
copy_taps(const struct low_conv *c, int32_t o, uint8_t *to, size_t row, size_t depth)
{
	struct yx spread = spread_of(c);
	const int64_t *s = c->weights.stride;
	const uint8_t *from = c->weights.v;
	int64_t first = c->weights.first + channel_at(c->weights.out, o) * s[0];
	for (int32_t y = 0; y < c->kernel.y; y++)
		for (int32_t x = 0; x < c->kernel.x; x++) {
			uint8_t *pixel = to + (size_t)(y * spread.y) * row +
					 (size_t)(x * spread.x) * depth;
			for (int32_t i = 0; i < c->i; i++) {
				int32_t at = channel_at(c->weights.in, i);
				if (at >= 0)
					pixel[i] = from[first + y * s[1] + x * s[2] + at * s[3]];
			}
		}
}

/*
 * Makes weights in O,H,W,I order in a blob: taps are spread by the dilation, and the
 * channels of a group are in their block of the depth.
 */
static struct g_weights *
made_weights(struct lower *l, const struct low_conv *c, struct conv_groups g)
{
	struct yx taps = conv_taps(c);
	int32_t og = c->o / c->groups, o_n = og * g.n;
	int32_t depth = c->kind == OP_DEPTHWISE ? 1 : c->i * g.n;
	size_t row = (size_t)taps.x * (size_t)depth, all = (size_t)taps.y * row;
	uint8_t *v = anew(l->a, uint8_t, all * (size_t)o_n);
	for (int32_t k = 0; k < o_n; k++) {
		int32_t o = g.first * og + k;
		int32_t start = c->kind == OP_DEPTHWISE ? 0 : k / og * c->i;
		uint8_t *to = v + (size_t)k * all;
		memset(to, (int)(uint8_t)zero_of(&c->weights, o), all);
		copy_taps(c, o, to + start, row, (size_t)depth);
	}
	struct g_weights *w = new_weights(l, &c->weights, o_n, taps, depth);
	put_zeros(l, w, &c->weights, g.first * og, o_n);
	put_blob(l, "weights", w, (struct bytes){ .p = v, .n = all * (size_t)o_n });
	return w;
}

struct g_weights *
conv_weights(struct lower *l, const struct low_conv *c, struct conv_groups g)
{
	const struct low_weights *w = &c->weights;
	const int64_t *s = w->stride;
	struct yx spread = spread_of(c);
	if (!w->source || spread.y != 1 || spread.x != 1 || c->groups != 1 || w->out || w->in)
		return made_weights(l, c, g);
	/* the model's own weights, in their place */
	struct g_weights *r = new_weights(l, w, c->o, c->kernel, c->i);
	G_PUT(r, WEIGHTS, source, *w->source);
	put_zeros(l, r, w, 0, c->o);
	if (w->first)
		G_PUT(r, WEIGHTS, offset, w->first);
	int64_t *v = anew(l->a, int64_t, 4);
	memcpy(v, s, 4 * sizeof(*v));
	if (w->first || c->kind == OP_DEPTHWISE || s[3] != 1 || s[2] != c->i ||
	    s[1] != (int64_t)c->kernel.x * c->i || s[0] != c->kernel.y * s[1])
		G_PUT(r, WEIGHTS, strides, (struct g_list){ .v = v, .n = 4 });
	return r;
}

/* ---- scales ---------------------------------------------------------------------------- */

struct g_scales *
low_scales_new(struct lower *l, size_t n, const int64_t *from, const struct npu_scale *scale,
	       bool same)
{
	struct g_scales *s = graph_add_g_scales(l->g);
	int64_t *bias = anew(l->a, int64_t, n), *mult = anew(l->a, int64_t, n),
		*shift = anew(l->a, int64_t, n);
	for (size_t k = 0; k < n; k++) {
		bias[k] = from ? from[k] : 0;
		mult[k] = scale[same ? 0 : k].mult;
		shift[k] = scale[same ? 0 : k].shift;
	}
	G_PUT(s, SCALES, bias, (struct g_list){ .v = bias, .n = n });
	G_PUT(s, SCALES, mult, (struct g_list){ .v = mult, .n = n });
	G_PUT(s, SCALES, shift, (struct g_list){ .v = shift, .n = n });
	return s;
}

struct g_scales *
conv_scales(struct lower *l, const struct low_conv *c, struct conv_groups g)
{
	int32_t og = c->o / c->groups, first = g.first * og;
	return low_scales_new(l, (size_t)(og * g.n), c->bias + first, c->scale + first, false);
}
