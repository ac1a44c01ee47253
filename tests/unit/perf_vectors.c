/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the tables of test vectors: blocks that Vela 3.12's search chooses with
 * their SHRAM layout, and the cycles and accesses of each (ethosu-timing(7) 7).  The
 * search itself is in this file, as our compiler chooses blocks differently; the test
 * checks the functions that the search is made of.
 */
#include "base/fixed.h"
#include "perf/perf.h"
#include "target/accel.h"
#include "target/blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 5 }; /* U55-32, -64, -128, -256, U65-512 */

static const enum accel_id column_accel[COLUMNS] = {
	ACCEL_U55_32, ACCEL_U55_64, ACCEL_U55_128, ACCEL_U55_256, ACCEL_U65_512,
};

struct layout {
	int h, w, di, c; /* block; di: the IFM block's depth */
	int ib_end, ab_start, ib2_start;
};

struct count {
	int64_t npu, ifm, ifm2, weights;
};

struct vector {
	char name;
	enum block_class class;
	enum perf_func func;
	int bits;
	struct hwc ifm, ofm;
	int kernel_h, kernel_w, stride;
	enum upscale upscale;
	bool second, table; /* two tensors; LUT */
	bool scalar;
	struct layout layout[4];
	struct count want[COLUMNS];
};

#define HWC(hh, ww, cc) { .h = hh, .w = ww, .c = cc }
#define K(kh, kw, s) .kernel_h = kh, .kernel_w = kw, .stride = s

static const struct vector vectors[] = {
	{ 'A', BLOCK_POOL, PERF_OTHER, 8, HWC(1, 1, 784), HWC(1, 1, 784), K(1, 1, 1),
	  .layout = { { 1, 1, 128, 128, 4, 12, 0 }, { 1, 1, 128, 128, 4, 12, 0 },
		      { 1, 2, 128, 128, 6, 14, 0 }, { 2, 2, 128, 128, 10, 30, 0 } },
	  .want = { { 1920, 784, 0, 0 }, { 976, 784, 0, 0 }, { 512, 784, 0, 0 },
		    { 496, 784, 0, 0 }, { 256, 784, 0, 0 } } },
	{ 'B', BLOCK_FC, PERF_OTHER, 8, HWC(1, 1, 784), HWC(1, 1, 1008), K(1, 1, 1),
	  .layout = { { 1, 1, 32, 128, 4, 12, 0 }, { 1, 1, 32, 128, 4, 12, 0 },
		      { 1, 2, 32, 128, 6, 14, 0 }, { 2, 2, 32, 128, 10, 30, 0 } },
	  .want = { { 105690, 6272, 0, 802816 }, { 105666, 6272, 0, 802816 },
		    { 105661, 6272, 0, 802816 }, { 105661, 6272, 0, 802816 },
		    { 52858, 6272, 0, 802816 } } },
	{ 'C', BLOCK_CONV, PERF_OTHER, 8, HWC(32, 32, 16), HWC(32, 32, 16), K(3, 3, 1),
	  .layout = { { 8, 8, 16, 16, 6, 8, 0 }, { 8, 8, 16, 16, 6, 8, 0 },
		      { 5, 16, 16, 16, 6, 6, 0 }, { 12, 16, 16, 16, 10, 14, 0 } },
	  .want = { { 100450, 25600, 0, 36864 }, { 50274, 25600, 0, 36864 },
		    { 27639, 28224, 0, 32256 }, { 14830, 24192, 0, 13824 },
		    { 7423, 24192, 0, 13824 } } },
	{ 'D', BLOCK_CONV, PERF_OTHER, 8, HWC(96, 96, 3), HWC(48, 48, 8), K(3, 3, 2),
	  .layout = { { 7, 12, 8, 8, 8, 8, 0 }, { 7, 12, 8, 8, 8, 8, 0 },
		      { 8, 16, 8, 8, 14, 14, 0 }, { 16, 16, 8, 8, 26, 30, 0 } },
	  .want = { { 57792, 168000, 0, 6048 }, { 28896, 168000, 0, 6048 },
		    { 14336, 166464, 0, 3888 }, { 7424, 166464, 0, 1944 },
		    { 3718, 166464, 0, 1944 } } },
	{ 'E', BLOCK_DEPTHWISE, PERF_OTHER, 8, HWC(24, 24, 32), HWC(24, 24, 32), K(3, 3, 1),
	  .layout = { { 8, 8, 16, 16, 6, 8, 0 }, { 8, 8, 16, 16, 6, 8, 0 },
		      { 7, 12, 16, 16, 6, 6, 0 }, { 14, 14, 16, 16, 10, 14, 0 } },
	  .want = { { 57344, 28800, 0, 2592 }, { 28672, 28800, 0, 2592 },
		    { 16800, 32256, 0, 2304 }, { 10192, 32768, 0, 1152 },
		    { 5096, 32768, 0, 1152 } } },
	{ 'F', BLOCK_DEPTHWISE, PERF_OTHER, 8, HWC(48, 48, 16), HWC(24, 24, 16), K(3, 3, 2),
	  .layout = { { 5, 8, 16, 16, 8, 8, 0 }, { 5, 8, 16, 16, 8, 8, 0 },
		      { 8, 8, 16, 16, 14, 14, 0 }, { 10, 12, 16, 16, 26, 30, 0 } },
	  .want = { { 30080, 44880, 0, 2160 }, { 15040, 44880, 0, 2160 },
		    { 7433, 44064, 0, 1296 }, { 4982, 54912, 0, 864 },
		    { 2499, 54912, 0, 864 } } },
	{ 'G', BLOCK_CONV, PERF_OTHER, 8, HWC(12, 12, 64), HWC(12, 12, 64), K(1, 1, 1),
	  .layout = { { 2, 12, 32, 64, 4, 4, 0 }, { 2, 12, 32, 64, 4, 4, 0 },
		      { 4, 12, 32, 32, 6, 6, 0 }, { 4, 12, 32, 64, 10, 14, 0 } },
	  .want = { { 21504, 9216, 0, 24576 }, { 10752, 9216, 0, 24576 },
		    { 5376, 18432, 0, 12288 }, { 3072, 9216, 0, 12288 },
		    { 1536, 9216, 0, 12288 } } },
	{ 'H', BLOCK_CONV, PERF_OTHER, 8, HWC(8, 8, 64), HWC(8, 8, 64), K(3, 3, 1),
	  .layout = { { 7, 8, 32, 16, 8, 8, 0 }, { 7, 8, 32, 16, 8, 8, 0 },
		      { 8, 8, 32, 16, 10, 14, 0 }, { 8, 8, 32, 64, 10, 14, 0 } },
	  .want = { { 133612, 32768, 0, 73728 }, { 66860, 32768, 0, 73728 },
		    { 19824, 16384, 0, 36864 }, { 11984, 4096, 0, 36864 },
		    { 6000, 4096, 0, 36864 } } },
	{ 'I', BLOCK_CONV, PERF_OTHER, 8, HWC(49, 10, 1), HWC(25, 5, 64), K(10, 4, 2),
	  .layout = { { 12, 5, 8, 16, 8, 8, 0 }, { 12, 5, 8, 16, 8, 8, 0 },
		      { 10, 6, 8, 16, 10, 14, 0 }, { 14, 6, 8, 32, 10, 14, 0 } },
	  .want = { { 118135, 115200, 0, 7680 }, { 59095, 115200, 0, 7680 },
		    { 29549, 99840, 0, 7680 }, { 14516, 43520, 0, 5120 },
		    { 7266, 43520, 0, 5120 } } },
	{ 'J', BLOCK_POOL, PERF_MAXPOOL, 8, HWC(112, 112, 64), HWC(56, 56, 64), K(2, 2, 2),
	  .layout = { { 1, 5, 16, 16, 4, 12, 0 }, { 1, 5, 16, 16, 4, 12, 0 },
		      { 1, 10, 16, 16, 6, 14, 0 }, { 2, 10, 16, 16, 10, 30, 0 } },
	  .want = { { 215120, 860160, 0, 0 }, { 130416, 860160, 0, 0 },
		    { 82045, 860160, 0, 0 }, { 57878, 860160, 0, 0 },
		    { 34323, 860160, 0, 0 } } },
	{ 'K', BLOCK_POOL, PERF_OTHER, 8, HWC(7, 7, 1024), HWC(1, 1, 1024), K(7, 7, 1),
	  .layout = { { 1, 1, 96, 96, 12, 12, 0 }, { 1, 1, 96, 96, 12, 12, 0 },
		      { 1, 2, 96, 96, 14, 14, 0 }, { 2, 2, 128, 128, 18, 30, 0 } },
	  .want = { { 13447, 50176, 0, 0 }, { 6808, 50176, 0, 0 },
		    { 6793, 50176, 0, 0 }, { 6692, 50176, 0, 0 },
		    { 3354, 50176, 0, 0 } } },
	{ 'L', BLOCK_ELEMENTWISE, PERF_ADD_SUB, 8, HWC(16, 16, 32), HWC(16, 16, 32), K(1, 1, 1),
	  .second = true,
	  .layout = { { 12, 16, 16, 16, 16, 16, 8 }, { 12, 16, 16, 16, 16, 16, 8 },
		      { 16, 16, 16, 16, 22, 22, 10 }, { 16, 16, 32, 32, 46, 46, 18 } },
	  .want = { { 49152, 8192, 8192, 0 }, { 24576, 8192, 8192, 0 },
		    { 12288, 8192, 8192, 0 }, { 6144, 8192, 8192, 0 },
		    { 3072, 8192, 8192, 0 } } },
	{ 'M', BLOCK_ELEMENTWISE, PERF_ADD_SUB, 8, HWC(32, 32, 16), HWC(32, 32, 16), K(1, 1, 1),
	  .table = true, .scalar = true,
	  .layout = { { 12, 32, 16, 16, 14, 14, 0 }, { 12, 32, 16, 16, 14, 14, 0 },
		      { 20, 32, 16, 16, 22, 22, 0 }, { 32, 32, 16, 16, 46, 46, 0 } },
	  .want = { { 98304, 16384, 0, 0 }, { 49152, 16384, 0, 0 },
		    { 24576, 16384, 0, 0 }, { 16384, 16384, 0, 0 },
		    { 8192, 16384, 0, 0 } } },
	{ 'N', BLOCK_ELEMENTWISE, PERF_MUL, 32, HWC(1, 1, 10), HWC(1, 1, 10), K(1, 1, 1),
	  .second = true,
	  .layout = { { 1, 1, 12, 12, 16, 16, 6 }, { 1, 1, 16, 16, 16, 16, 6 },
		      { 1, 2, 16, 16, 22, 22, 10 }, { 2, 2, 16, 16, 46, 46, 18 } },
	  .want = { { 32, 16, 16, 0 }, { 21, 16, 16, 0 }, { 12, 16, 16, 0 },
		    { 10, 16, 16, 0 }, { 6, 16, 16, 0 } } },
	{ 'O', BLOCK_CONV, PERF_OTHER, 16, HWC(32, 32, 16), HWC(32, 32, 16), K(3, 3, 1),
	  .layout = { { 3, 17, 16, 16, 8, 8, 0 }, { 3, 17, 16, 16, 8, 8, 0 },
		      { 9, 8, 16, 16, 10, 10, 0 }, { 8, 16, 16, 16, 18, 26, 0 } },
	  .want = { { 164105, 33440, 0, 50688 }, { 82097, 33440, 0, 50688 },
		    { 42443, 28160, 0, 36864 }, { 19370, 23040, 0, 18432 },
		    { 9693, 23040, 0, 18432 } } },
	{ 'P', BLOCK_POOL, PERF_OTHER, 8, HWC(16, 16, 32), HWC(32, 32, 32), K(1, 1, 1),
	  .upscale = UPSCALE_NEAREST,
	  .layout = { { 7, 13, 16, 16, 4, 4, 0 }, { 7, 13, 16, 16, 4, 4, 0 },
		      { 7, 18, 16, 16, 6, 6, 0 }, { 14, 18, 16, 16, 10, 14, 0 } },
	  .want = { { 88816, 13440, 0, 0 }, { 44408, 13440, 0, 0 },
		    { 20664, 12800, 0, 0 }, { 12656, 15360, 0, 0 },
		    { 6336, 15360, 0, 0 } } },
	{ 'Q', BLOCK_CONV, PERF_OTHER, 8, HWC(8, 8, 64), HWC(16, 16, 32), K(3, 3, 1),
	  .upscale = UPSCALE_ZEROS,
	  .layout = { { 8, 10, 32, 16, 4, 4, 0 }, { 8, 10, 32, 16, 4, 4, 0 },
		      { 8, 16, 32, 16, 6, 6, 0 }, { 16, 16, 32, 16, 10, 14, 0 } },
	  .want = { { 190806, 15360, 0, 73728 }, { 95446, 15360, 0, 73728 },
		    { 39544, 10240, 0, 36864 }, { 21200, 8192, 0, 18432 },
		    { 10608, 8192, 0, 18432 } } },
	{ 'R', BLOCK_REDUCE_SUM, PERF_OTHER, 32, HWC(1, 1, 10), HWC(1, 1, 1), K(1, 1, 1),
	  .layout = { { 1, 1, 16, 4, 6, 12, 0 }, { 1, 1, 16, 8, 6, 12, 0 },
		      { 1, 2, 16, 8, 10, 14, 0 }, { 2, 2, 16, 8, 18, 30, 0 } },
	  .want = { { 43, 16, 0, 0 }, { 59, 16, 0, 0 }, { 59, 16, 0, 0 },
		    { 59, 16, 0, 0 }, { 41, 16, 0, 0 } } },
};

static int failures;

static bool
equal_depth(enum block_class c)
{
	return c == BLOCK_ELEMENTWISE || c == BLOCK_POOL || c == BLOCK_DEPTHWISE;
}

/* strictly greater, one quotient: ethosu-weights(7) 2.5, "3.12 block search" */
static bool
search_part_kernel(const struct vector *v)
{
	if (v->class != BLOCK_CONV && v->class != BLOCK_DEPTHWISE)
		return false;
	int d = v->ifm.c, k = v->kernel_h * v->kernel_w, wide = v->bits == 16;
	if (d <= 8)
		return true;
	double depth = (double)d / (double)round_up_i64(d, wide ? 16 : 32);
	double part = (double)(d * k) / (double)(round_up_i64(d, 8) *
						 round_up_i64(k, wide ? 2 : 4));
	return part > depth;
}

static struct block_query
query_of(const struct vector *v)
{
	return (struct block_query){
		.class = v->class, .ifm = v->ifm, .ofm = v->ofm,
		.ifm_bits = v->bits, .kernel_h = v->kernel_h,
		.kernel_w = v->kernel_w, .stride_y = v->stride,
		.stride_x = v->stride, .upscale = v->upscale,
		.part_kernel = search_part_kernel(v), .uses_table = v->table,
		.acc40 = v->bits == 16 && v->class != BLOCK_POOL,
		.one_tensor = v->scalar,
	};
}

static int
double_banks(int64_t bytes, int granule)
{
	return (int)round_up_i64(2 * ((bytes + 1023) / 1024), granule);
}

/*
 * SHRAM by ethosu-timing(7) 2.3, without the emission rule for even blocks under
 * upscaling
 */
static bool
layout_of(const struct accel *a, const struct block_query *q, struct hwc b,
	  struct layout *out)
{
	struct hwc ib = block_ifm(a, q, b), acc = block_accumulated(a, q, b);
	int lut = q->uses_table || a->banks > 16 ? 2 : 0;
	int end = a->banks - lut;
	int ifm = double_banks((int64_t)ib.h * ib.w *
				   round_up_i64(ib.c * q->ifm_bits / 8, 8),
			       q->ifm_bits == 32 ? a->granule_ifm32 : a->granule_ifm);
	*out = (struct layout){ .h = b.h, .w = b.w, .di = ib.c, .c = b.c };
	if (q->class == BLOCK_ELEMENTWISE) {
		out->ib2_start = 2 + ifm;
		out->ib_end = out->ab_start = end;
		return 2 + ifm * (q->one_tensor ? 1 : 2) <= end;
	}
	int banks = double_banks((int64_t)acc.h * acc.w * round_up_i64(acc.c, 8) *
				     (q->acc40 ? 40 : 32) / 8,
				 q->acc40 ? a->granule_acc40 : a->granule_acc32);
	out->ib_end = 2 + ifm;
	out->ab_start = end - banks;
	return out->ib_end <= out->ab_start;
}

/* ethosu-timing(7) 3.2; the order of multiplications decides ties */
static double
search_cost(const struct accel *a, const struct block_query *q, struct hwc b,
	    struct hwc ib)
{
	struct hwc o = q->ofm, i = q->ifm, adj = block_accumulated(a, q, b);
	struct hwc full = { .h = ceil_div(o.h, adj.h), .w = ceil_div(o.w, adj.w),
			    .c = ceil_div(o.c, adj.c) };
	double fh = (double)o.h / adj.h, fw = (double)o.w / adj.w;
	double fd = (double)o.c / adj.c;
	int repeats = ceil_div(q->kernel_w, 8) * ceil_div(q->kernel_h, 8);
	double wfetch = 0;
	if (q->class == BLOCK_CONV || q->class == BLOCK_DEPTHWISE)
		wfetch = q->kernel_w * q->kernel_h * i.c * full.w * full.h;
	if (q->class != BLOCK_DEPTHWISE)
		wfetch *= adj.c * fd;
	double ifetch = (double)ib.w * ib.h * i.c * repeats * (fw * fh);
	if (!equal_depth(q->class))
		ifetch *= full.c;
	double cost = (ifetch + wfetch) / (double)hwc_elements(o);
	if (q->class == BLOCK_ELEMENTWISE)
		cost = fmax((double)hwc_elements(o) / (double)hwc_elements(adj), 1);
	return hwc_elements(i) < 2 * hwc_elements(ib) ? cost / 2 : cost;
}

struct search {
	double cost, cover;
	struct layout best;
	bool found;
};

static void
consider(struct search *s, const struct accel *a, const struct block_query *q,
	 const struct layout *l)
{
	struct hwc b = { .h = l->h, .w = l->w, .c = l->c };
	struct hwc ib = block_ifm(a, q, b);
	double cost = search_cost(a, q, b, ib);
	if (!s->found || cost < s->cost) {
		*s = (struct search){ cost, INFINITY, *l, true };
		return;
	}
	int h = q->ifm.h < ib.h ? q->ifm.h : ib.h;
	int w = q->ifm.w < ib.w ? q->ifm.w : ib.w;
	double cover = (double)q->ifm.w * q->ifm.h / (h * w);
	if (cost == s->cost && b.h <= 4 && b.w <= 4 && cover <= s->cover) {
		s->best = *l;
		s->cover = cover;
	}
}

/* ethosu-timing(7) 3.1 */
static struct layout
search_312(const struct accel *a, const struct block_query *q)
{
	struct hwc max = block_bounds(a, q), ub = a->ublock;
	struct search s = { 0 };
	int depth = max.c < 16 ? max.c : 16;
	depth = depth > ub.c ? depth : ub.c;
	if (depth < q->ofm.c)
		depth = (int)round_up_i64(depth, 16);
	while (depth <= max.c) {
		static bool tall[128][128]; /* pairs that will not fit */
		for (int h = 0; h < 128; h++)
			for (int w = 0; w < 128; w++)
				tall[h][w] = false;
		for (int h = ub.h; h <= max.h; h += ub.h)
			for (int w = ub.w; w <= max.w; w += ub.w) {
				struct hwc b = { .h = h, .w = w, .c = depth };
				struct layout l;
				if (tall[h][w])
					continue;
				if (layout_of(a, q, b, &l))
					consider(&s, a, q, &l);
				else
					tall[w][h] = true;
			}
		depth += ub.c;
		if (depth < q->ofm.c)
			depth = (int)round_up_i64(depth, 16);
	}
	return s.best;
}

static void
check(const struct vector *v, const struct accel *a, const char *what,
      int64_t got, int64_t want)
{
	if (got == want)
		return;
	failures++;
	printf("case %c on %s: %s is %" PRId64 ", not %" PRId64 "\n", v->name,
	       a->name, what, got, want);
}

/* the library's rule must agree if its limits allow the block */
static void
check_library(const struct vector *v, const struct accel *a,
	      const struct block_query *q, const struct layout *l)
{
	struct hwc b = { .h = l->h, .w = l->w, .c = l->c };
	struct shram_layout s;
	if (block_limit(a, q, b))
		return check(v, a, "refused block", q->upscale, UPSCALE_NEAREST);
	check(v, a, "fits", block_layout(a, q, b, &s, NULL), true);
	check(v, a, "library's IB_END", s.ib_end, l->ib_end);
	check(v, a, "library's AB_START", s.ab_start, l->ab_start);
	check(v, a, "library's IFM2_IB_START", s.ib2_start, l->ib2_start);
}

static void
check_block(const struct vector *v, const struct accel *a, int column)
{
	struct block_query q = query_of(v);
	struct layout got = search_312(a, &q);
	const struct layout *want = &v->layout[column < 4 ? column : 3];
	check(v, a, "block height", got.h, want->h);
	check(v, a, "block width", got.w, want->w);
	check(v, a, "block depth", got.c, want->c);
	check(v, a, "IFM block depth", got.di, want->di);
	check(v, a, "IB_END", got.ib_end, want->ib_end);
	check(v, a, "AB_START", got.ab_start, want->ab_start);
	if (want->ib2_start)
		check(v, a, "IFM2_IB_START", got.ib2_start, want->ib2_start);
	check_library(v, a, &q, &got);
}

static struct perf_fm
sram(struct hwc shape, int bits)
{
	return (struct perf_fm){ .shape = shape, .bits = bits,
				  .nhcwb16 = true, .area = MEM_SRAM };
}

static void
check_cycles(const struct vector *v, const struct perf_machine *m, int column)
{
	const struct layout *l = &v->layout[column < 4 ? column : 3];
	const struct count *want = &v->want[column];
	bool weighted = v->class == BLOCK_CONV || v->class == BLOCK_FC ||
			v->class == BLOCK_DEPTHWISE;
	struct perf_op op = {
		.class = v->class, .func = v->func,
		.activation = v->table ? ACT_TABLE : ACT_NONE,
		.upscale = v->upscale, .ifm = sram(v->ifm, v->bits),
		.ofm = sram(v->ofm, v->bits), .kernel_h = v->kernel_h,
		.kernel_w = v->kernel_w, .stride_y = v->stride,
		.stride_x = v->stride, .dilation_y = 1, .dilation_x = 1,
		.block = { .h = l->h, .w = l->w, .c = l->c },
		.part_kernel = search_part_kernel(v),
		.acc40 = v->bits == 16 && v->class != BLOCK_POOL,
		.has_bias = weighted, .weight_area = MEM_SRAM,
		.scale_area = MEM_SRAM,
	};
	if (v->second)
		op.ifm2 = op.ifm;
	else if (v->scalar)
		op.ifm2 = sram((struct hwc){ 1, 1, 1 }, v->bits);
	perf_op_set_blocks(&op, m->accel);
	struct perf_cost c;
	perf_cost(m, &op, &c);
	check(v, m->accel, "NPU cycles", c.npu, want->npu);
	check(v, m->accel, "IFM elements", c.ifm_read, want->ifm);
	check(v, m->accel, "IFM2 elements", c.ifm2_read, want->ifm2);
	check(v, m->accel, "weight elements", c.weight_read, want->weights);
}

int
main(void)
{
	struct arena *arena = arena_open();
	struct err e = { 0 };
	for (int i = 0; i < COLUMNS; i++) {
		const struct accel *a = &accels[column_accel[i]];
		struct memory_system mem;
		/* only SRAM is used: it is the same in every stock system */
		if (!memory_load(arena, NULL,
				 accel_is_u65(a) ? "Ethos_U65_High_End"
						 : "Ethos_U55_High_End_Embedded",
				 accel_is_u65(a) ? "Dedicated_Sram" : "Shared_Sram",
				 a, &mem, &e)) {
			printf("%s\n", e.text);
			return EXIT_FAILURE;
		}
		struct perf_machine m = perf_machine_of(a, &mem);
		for (size_t v = 0; v < ARRAY_LEN(vectors); v++) {
			check_block(&vectors[v], a, i);
			check_cycles(&vectors[v], &m, i);
		}
	}
	printf("%zu cases on %d accelerators, %d differences\n",
	       ARRAY_LEN(vectors), COLUMNS, failures);
	arena_close(arena);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
