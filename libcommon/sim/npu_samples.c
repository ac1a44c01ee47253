/* SPDX-License-Identifier: Apache-2.0 */
/* The samples under the kernel of a pool, of all generations (ethosu-commands(7)
 * 6.8, 26.6, 26.7). */
#include "sim/npu.h"

/* How an operation combines the samples under its kernel. */
struct mode {
	/* joins the channels x[n] of one sample to acc; index: position along the axis */
	void (*join)(int64_t *acc, const int32_t *x, int32_t n, int32_t index);
	int64_t start;
	bool index_y; /* the position counts rows, not columns */
};

static void
join_max(int64_t *acc, const int32_t *x, int32_t n, int32_t index)
{
	(void)index;
	for (int32_t c = 0; c < n; c++)
		acc[c] = acc[c] > x[c] ? acc[c] : x[c];
}

static void
join_min(int64_t *acc, const int32_t *x, int32_t n, int32_t index)
{
	(void)index;
	for (int32_t c = 0; c < n; c++)
		acc[c] = acc[c] < x[c] ? acc[c] : x[c];
}

static void
join_sum(int64_t *acc, const int32_t *x, int32_t n, int32_t index)
{
	(void)index;
	for (int32_t c = 0; c < n; c++)
		acc[c] += x[c];
}

static void
join_depth(int64_t *acc, const int32_t *x, int32_t n, int32_t index)
{
	(void)index;
	for (int32_t c = 0; c < n; c++)
		acc[0] += x[c];
}

/*
 * Keeps the first maximum and its position as value * 2^16 - position, so that the larger
 * number is the larger value or, of equal values, the earlier position
 * (ethosu-commands(7) 26.7).
 */
static void
join_position(int64_t *acc, const int32_t *x, int32_t n, int32_t index)
{
	for (int32_t c = 0; c < n; c++) {
		int64_t v = (int64_t)x[c] * NPU_PLACES - index;
		acc[c] = acc[c] > v ? acc[c] : v;
	}
}

static const struct mode modes[NPU_POOL_COUNT] = {
	[NPU_POOL_MAX] = { .join = join_max, .start = INT64_MIN },
	[NPU_POOL_AVERAGE] = { .join = join_sum },
	[NPU_POOL_REDUCE_SUM] = { .join = join_depth },
	[NPU_POOL_SUM] = { .join = join_sum },
	[NPU_POOL_MIN] = { .join = join_min, .start = INT64_MAX },
	[NPU_POOL_ARGMAX_X] = { .join = join_position, .start = INT64_MIN },
	[NPU_POOL_ARGMAX_Y] = { .join = join_position, .start = INT64_MIN,
				.index_y = true },
};

int64_t
npu_samples_start(int mode)
{
	return modes[mode].start;
}

int32_t
npu_samples_join(const struct npu_samples *p, int mode, int32_t oy, int32_t ox, int64_t *acc)
{
	const struct mode *m = &modes[mode];
	struct hwc in = p->shape;
	int32_t count = 0;
	for (int32_t ky = 0; ky < p->ay.taps; ky++) {
		int32_t y = axis_tap(&p->ay, oy, ky);
		for (int32_t kx = 0; y >= 0 && kx < p->ax.taps; kx++) {
			int32_t x = axis_tap(&p->ax, ox, kx);
			if (x < 0)
				continue;
			m->join(acc, p->v + ((int64_t)y * in.w + x) * in.c,
				in.c, m->index_y ? ky : kx);
			count++;
		}
	}
	return count;
}

bool
npu_samples_spend(struct npu_run *r, struct hwc ofm)
{
	const struct npu_op *op = &r->op;
	uint64_t pixels = (uint64_t)ofm.h * (uint64_t)ofm.w;
	uint64_t taps = (uint64_t)op->kernel_h * (uint64_t)op->kernel_w;
	/* taps and pixels are <= 2^32: spending them first keeps the product in 64 bits */
	return npu_spend(r, taps) && npu_spend(r, pixels) && npu_spend(r, taps * pixels) &&
	       npu_spend(r, taps * pixels * ((uint64_t)op->ifm.shape.c + 4));
}

uint32_t
npu_reciprocal(int32_t n, int bits, int *shift)
{
	int k = 0;
	while (n > 1 && (n - 1) >> k)
		k++;
	*shift = bits + k;
	return (uint32_t)(((UINT64_C(1) << *shift) + (UINT64_C(1) << k)) / (uint64_t)n);
}
