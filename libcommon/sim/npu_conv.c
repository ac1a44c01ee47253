/* SPDX-License-Identifier: Apache-2.0 */
/* CONV and DEPTHWISE (ethosu-commands(7) 6.7). */
#include "sim/npu85.h"

#include "base/fixed.h"
#include "base/products.h"
#include "target/accel.h"

#include <string.h>

enum { PIXELS = 32 }; /* output columns that are computed at a time */

struct conv;

/* Steps before and after the products, which differ by generation. */
struct conv_rules {
	bool (*check)(struct npu_run *r);
	bool (*prepare)(struct conv *c); /* loads filters, biases, scales */
	void (*finish)(struct conv *c, int32_t oy, int32_t ox, int32_t n);
};

struct conv {
	struct npu_run *r;
	const int16_t *x;   /* IFM, [h][w][c], minus the zero point */
	const int32_t *x32; /* the same, if 16 bits can't hold it */
	struct npu_filters f;
	struct npu_channel *ch;
	struct npu_stage stage;	  /* U85 */
	struct npu_operand first; /* IFM2 as start of the accumulators; U85 */
	const struct conv_rules *rules;
	struct npu_axis ay, ax;
	int32_t in_w, in_c, out_c;
	int64_t columns; /* of a patch: kh * kw * in_c; depthwise: the taps */
	int64_t block;	 /* most columns whose products can be summed in 32 bits */
	int64_t *acc;	 /* [PIXELS][out_c], accumulators */
	int32_t *y;	 /* [PIXELS][out_c], results */
};

/* Computes acc[pixel][channel] of n patches. */
static void
multiply(const struct conv *c, const int16_t *patch, int32_t n)
{
	int64_t pitch = c->f.pitch;
	for (int32_t o = 0; o < c->out_c; o += 4)
		for (int32_t i = 0; i < n; i += 2) {
			int64_t sum[8] = { 0 };
			for (int64_t k = 0; k < pitch; k += c->block) {
				int64_t left = pitch - k;
				int32_t part[8];
				products_4x2(c->f.w + o * pitch + k, pitch,
					     patch + i * pitch + k, pitch,
					     left < c->block ? left : c->block,
					     part);
				for (int t = 0; t < 8; t++)
					sum[t] += part[t];
			}
			for (int t = 0; t < 8; t++)
				if (o + t / 2 < c->out_c && i + t % 2 < n)
					c->acc[(int64_t)(i + t % 2) * c->out_c +
					       o + t / 2] = sum[t];
		}
}

/* Copies the inputs of output (oy, ox) to one row of a matrix. */
static void
fill_patch(const struct conv *c, int32_t oy, int32_t ox, int16_t *to)
{
	const struct npu_axis *ay = &c->ay, *ax = &c->ax;
	int64_t left = (int64_t)ox * ax->stride - ax->pad;
	bool whole = ax->dilation == 1 && ax->upscale == UPSCALE_NONE &&
		     left >= 0 && left + ax->taps <= ax->extent;
	size_t depth = (size_t)c->in_c, row = depth * (size_t)ax->taps;
	for (int32_t ky = 0; ky < ay->taps; ky++, to += row) {
		int32_t y = axis_tap(ay, oy, ky);
		const int16_t *from = c->x + (int64_t)y * c->in_w * c->in_c;
		if (y < 0) {
			memset(to, 0, row * sizeof(*to));
		} else if (whole) {
			memcpy(to, from + left * c->in_c, row * sizeof(*to));
		} else for (int32_t kx = 0; kx < ax->taps; kx++) {
			int32_t x = axis_tap(ax, ox, kx);
			int16_t *p = to + (size_t)kx * depth;
			if (x < 0)
				memset(p, 0, depth * sizeof(*p));
			else
				memcpy(p, from + (int64_t)x * c->in_c,
				       depth * sizeof(*p));
		}
	}
}

/* Inputs wider than 16 bits: one product at a time. */
static void
multiply_wide(const struct conv *c, int32_t oy, int32_t ox, int64_t *acc)
{
	memset(acc, 0, (size_t)c->out_c * sizeof(*acc));
	for (int32_t t = 0; t < c->ay.taps * c->ax.taps; t++) {
		int32_t y = axis_tap(&c->ay, oy, t / c->ax.taps);
		int32_t x = axis_tap(&c->ax, ox, t % c->ax.taps);
		if (y < 0 || x < 0)
			continue;
		const int32_t *in = c->x32 + ((int64_t)y * c->in_w + x) * c->in_c;
		const int16_t *w = c->f.w + (int64_t)t * c->in_c;
		for (int32_t o = 0; o < c->out_c; o++, w += c->f.pitch)
			for (int32_t i = 0; i < c->in_c; i++)
				acc[o] += (int64_t)in[i] * w[i];
	}
}

/* ---- depthwise ---------------------------------------------------------- */

/* sum is scratch for out_c partial sums of 32 bits, each of at most c->block taps. */
static void
multiply_depthwise(const struct conv *c, int32_t oy, int32_t ox, int64_t *acc,
		   int32_t *sum)
{
	int32_t pending = 0, taps = c->ay.taps * c->ax.taps, n = c->out_c;
	memset(acc, 0, (size_t)n * sizeof(*acc));
	memset(sum, 0, (size_t)n * sizeof(*sum));
	for (int32_t t = 0; t < taps; t++) {
		int32_t y = axis_tap(&c->ay, oy, t / c->ax.taps);
		int32_t x = axis_tap(&c->ax, ox, t % c->ax.taps);
		int64_t at = ((int64_t)y * c->in_w + x) * c->in_c;
		const int16_t *w = c->f.w + (int64_t)t * n;
		if (y < 0 || x < 0)
			continue;
		if (c->x32) {
			for (int32_t i = 0; i < n; i++)
				acc[i] += (int64_t)c->x32[at + i] * w[i];
			continue;
		}
		add_products(sum, c->x + at, w, n);
		if (++pending < c->block)
			continue;
		for (int32_t i = 0; i < n; i++)
			acc[i] += sum[i];
		memset(sum, 0, (size_t)n * sizeof(*sum));
		pending = 0;
	}
	for (int32_t i = 0; i < n; i++)
		acc[i] += sum[i];
}

/* ---- all kernels -------------------------------------------------------- */

/* Turns the accumulators of n pixels from column ox on into outputs. */
static void
finish55(struct conv *c, int32_t oy, int32_t ox, int32_t n)
{
	struct npu_run *r = c->r;
	enum npu_rounding rounding = r->op.rounding;
	for (int32_t i = 0; i < n; i++) {
		int64_t *acc = c->acc + (int64_t)i * c->out_c;
		for (int32_t o = 0; o < c->out_c; o++)
			acc[o] += c->ch[o].bias;
		npu_watch(r, acc, c->out_c);
		for (int32_t o = 0; o < c->out_c; o++)
			acc[o] = npu_scale(acc[o], c->ch[o].mult,
					   c->ch[o].shift, rounding);
	}
	npu_output(r, c->acc, (int64_t)n * c->out_c, c->y);
	fm_store(r, oy, ox, n, c->y);
}

/* Accumulators may start with kept ones, or with IFM2 (ethosu-commands(7) 6.5). */
static void
finish85(struct conv *c, int32_t oy, int32_t ox, int32_t n)
{
	struct npu_run *r = c->r;
	int64_t count = (int64_t)n * c->out_c;
	int64_t at = ((int64_t)oy * r->op.extent.w + ox) * c->out_c;
	const int64_t *held = npu85_held(r, oy, ox);
	for (int64_t i = 0; held && i < count; i++)
		c->acc[i] += held[i];
	if (c->first.v)
		for (int64_t i = 0; i < count; i++)
			c->acc[i] += c->first.v[at + i];
	if (c->first.v64)
		for (int64_t i = 0; i < count; i++)
			c->acc[i] += c->first.v64[at + i];
	(void)npu85_put(r, &c->stage, oy, ox, n, c->acc);
}

static void
run_row(struct conv *c, int32_t oy, int16_t *patches, int32_t *sum)
{
	struct npu_run *r = c->r;
	int32_t width = r->op.extent.w;
	for (int32_t ox = 0; ox < width; ox += PIXELS) {
		int32_t n = width - ox < PIXELS ? width - ox : PIXELS;
		for (int32_t i = 0; i < n; i++) {
			int64_t *acc = c->acc + (int64_t)i * c->out_c;
			if (r->op.kind == NPU_DEPTHWISE)
				multiply_depthwise(c, oy, ox + i, acc, sum);
			else if (c->x32)
				multiply_wide(c, oy, ox + i, acc);
			else
				fill_patch(c, oy, ox + i,
					   patches + i * c->f.pitch);
		}
		if (r->op.kind == NPU_CONV && !c->x32)
			multiply(c, patches, n);
		c->rules->finish(c, oy, ox, n);
	}
}

static bool
check55(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (op->ifm.bits > 16)
		return npu_fail(r, "IFM of %d bits (rule 13)", op->ifm.bits);
	if (op->dilated_h > 64 || op->dilated_h * (int64_t)op->dilated_w > 4096)
		return npu_fail(r, "kernel of %d x %d (rule 26)", op->dilated_h,
				op->dilated_w);
	return true;
}

/* Only the registers limit the kernel's size (ethosu-commands(7) 35). */
static bool
check85(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	if (op->ifm.bits > 16)
		return npu_fail(r, "IFM of %d bits (rule 13)", op->ifm.bits);
	if (op->ifm.storage != NPU_TILES)
		return npu_fail(r, "the IFM is not in memory (rule 54)");
	return fm_check(r, &op->ifm, "IFM", false);
}

static bool
prepare55(struct conv *c)
{
	return npu_load_filters(c->r, &c->f) && npu_load_channels(c->r, &c->ch);
}

static bool
prepare85(struct conv *c)
{
	struct npu_run *r = c->r;
	const struct npu_op *op = &r->op;
	bool matrix = op->weights_ifm2;
	if (op->acc_input == NPU_ACC_IFM2 &&
	    (matrix || !npu85_load(r, &op->ifm2, false, "IFM2", &c->first)))
		return npu_fail(r, "IFM2 is both filters and accumulators");
	return (matrix ? npu85_matrix(r, &c->f) : npu_load_filters(r, &c->f)) &&
	       npu85_stage(r, &c->stage);
}

static const struct conv_rules rules[GENERATIONS] = {
	[GEN_U55] = { check55, prepare55, finish55 },
	[GEN_U65] = { check55, prepare55, finish55 },
	[GEN_U85] = { check85, prepare85, finish85 },
};

bool
npu_run_conv(struct npu_run *r)
{
	const struct npu_op *op = &r->op;
	struct conv c = {
		.r = r, .ay = npu_axis_y(op), .ax = npu_axis_x(op),
		.in_w = op->ifm.shape.w, .in_c = op->ifm.shape.c,
		.out_c = op->extent.c, .rules = &rules[r->accel->generation],
	};
	c.columns = (int64_t)op->kernel_h * op->kernel_w *
		    (op->kind == NPU_CONV ? c.in_c : 1);
	uint64_t products = (uint64_t)c.columns *
			    (uint64_t)hwc_elements(op->extent);
	bool lanes = op->kind == NPU_CONV && fm_fits16(&op->ifm);
	if (!c.rules->check(r) ||
	    !npu_spend(r, lanes ? products / 4 : products) ||
	    !c.rules->prepare(&c))
		return false;
	int64_t product = (int64_t)fm_largest(&op->ifm) *
			  (c.f.largest ? c.f.largest : 1);
	c.block = INT32_MAX / product;
	if (op->kind == NPU_CONV)
		c.block = c.block / 16 * 16;
	/* products of two 16-bit feature maps are too large to be summed in 32 bits */
	if (fm_fits16(&op->ifm) && c.block)
		c.x = fm_load16(r, &op->ifm);
	else
		c.x32 = fm_load32(r, &op->ifm);
	c.acc = anew(r->a, int64_t, PIXELS * (size_t)c.out_c);
	c.y = anew(r->a, int32_t, PIXELS * (size_t)c.out_c);
	int16_t *patches = anew(r->a, int16_t, PIXELS * (size_t)c.f.pitch);
	int32_t *sum = anew(r->a, int32_t, (size_t)c.out_c);
	for (int32_t oy = 0; oy < op->extent.h; oy++)
		run_row(&c, oy, patches, sum);
	return true;
}
