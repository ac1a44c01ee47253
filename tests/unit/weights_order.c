/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the order of weights with the closed form (ethosu-weights(7) 2.4) on random
 * shapes; tests the inverse order, streams made directly from a tensor, and scale records.
 *
 * weights_order [COUNT [SEED]]
 */
#include "weights/weights.h"

#include "drawn.h"
#include "views.h"
#include "target/accel.h"
#include "target/blocks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
up(int v, int to)
{
	return (v + to - 1) / to * to;
}

static int
min(int a, int b)
{
	return a < b ? a : b;
}

struct shape {
	int o, h, w, i;
};

/*
 * lengths of the brick of (ob, b, sy, sx), and positions in it: table of
 * ethosu-weights(7) 2.4
 */
struct brick {
	int u, ne, sw, ib, blocks;
};

static struct brick
brick(const struct weights_order *ord, struct shape s, int bd, int ob, int b,
      int sy, int sx)
{
	int e = ord->traversal == WEIGHTS_DEPTH_FIRST ? 1
		: ord->traversal == WEIGHTS_PART_KERNEL && ord->ifm_bits == 16
		    ? 2 : 4;
	int ib = ord->traversal == WEIGHTS_DEPTH_FIRST && ord->ifm_bits == 8
		     ? 32 : 16;
	int sh = min(8 / ord->dilation_y, s.h - sy);
	int sw = min(8 / ord->dilation_x, s.w - sx);

	return (struct brick){
		.u = up(min(bd, s.o - ob), ord->ou) / ord->ou,
		.ne = up(sh * sw, e), .sw = sw, .ib = ib,
		.blocks = up(min(ib, s.i - b), 8) / 8,
	};
}

static long
brick_length(const struct weights_order *ord, struct brick k)
{
	long n = (long)k.u * k.ne * ord->ou;

	if (ord->traversal == WEIGHTS_DEPTH_FIRST)
		return n * k.ib;
	return ord->traversal == WEIGHTS_PART_KERNEL ? n * k.blocks * 8 : n;
}

static long
brick_offset(const struct weights_order *ord, struct brick k, int o, int e,
	     int i)
{
	int u = o / ord->ou, oz = o % ord->ou, ui = i / 8, iz = i % 8;

	switch (ord->traversal) {
	case WEIGHTS_DEPTH_FIRST:
		return ((((long)u * k.ne + e) * (k.ib / 8) + ui) * ord->ou +
			oz) * 8 + iz;
	case WEIGHTS_PART_KERNEL:
		return ((((long)ui * k.u + u) * k.ne + e) * ord->ou + oz) *
			   8 + iz;
	case WEIGHTS_DEPTHWISE:
		break;
	}
	return ((long)u * k.ne + e) * ord->ou + oz;
}

/* the source element of every position, -1 for padding; returns the count */
static long
closed_form(const struct weights_order *ord, struct shape s, int32_t *source,
	    long cap)
{
	int bd = (ord->block_depth + ord->cores - 1 - ord->core) / ord->cores;
	bool dw = ord->traversal == WEIGHTS_DEPTHWISE;
	int ib = brick(ord, s, bd, 0, 0, 0, 0).ib;
	long at = 0;

	for (long p = 0; p < cap; p++)
		source[p] = -1;
	for (int ob = 0; ob < s.o; ob += bd)
	for (int b = 0; b < s.i; b += ib)
	for (int sy = 0; sy < s.h; sy += 8 / ord->dilation_y)
	for (int sx = 0; sx < s.w; sx += 8 / ord->dilation_x) {
		struct brick k = brick(ord, s, bd, ob, b, sy, sx);
		int sh = min(8 / ord->dilation_y, s.h - sy);
		for (int o = ob; o < min(ob + bd, s.o); o++)
		for (int e = 0; e < sh * k.sw; e++)
		for (int i = b; i < min(dw ? 1 : b + ib, s.i); i++) {
			int y = sy + e / k.sw, x = sx + e % k.sw;
			int c = ord->begin + ord->core + o * ord->cores;
			long p = at + brick_offset(ord, k, o - ob, e, i - b);
			if (p >= cap)
				return -1;
			source[p] = ((c * s.h + y) * s.w + x) * s.i + i;
		}
		at += brick_length(ord, k);
	}
	return at;
}

static struct weights_order
random_order(struct shape *s)
{
	struct weights_order ord = {
		.traversal = (enum weights_traversal)roll(0, 2),
		.ou = roll(0, 3) ? 8 : 4,
		.ifm_bits = roll(0, 3) ? 8 : 16,
		.dilation_y = roll(1, 2),
		.dilation_x = roll(1, 2),
		.cores = 1,
	};
	bool small = roll(0, 1);

	if (ord.ou == 8 && roll(0, 1))
		ord.cores = 2;
	*s = (struct shape){ .o = roll(1, small ? 20 : 150),
			     .h = roll(1, small ? 4 : 19),
			     .w = roll(1, small ? 4 : 19),
			     .i = roll(1, small ? 90 : 40) };
	if (ord.traversal == WEIGHTS_DEPTHWISE)
		s->i = 1;
	ord.begin = roll(0, 2) ? 0 : roll(0, s->o - 1);
	ord.end = roll(0, 2) ? s->o : roll(ord.begin + 1, s->o);
	ord.block_depth = 16 * roll(1, 8);
	return ord;
}

/* encodes from the tensor, and from its values in order */
static bool
check_stream(const struct weights_view *v, const struct weights_order *ord,
	     const int16_t *values, size_t n)
{
	int level = roll(1, 7);
	struct arena *a = arena_open();
	struct bytes want = weights_encode(a, values, n, level);
	struct bytes got = weights_encode_view(a, v, ord, level);
	bool ok = got.n == want.n && memcmp(got.p, want.p, want.n) == 0 &&
		  weights_cost(values, n, level) == want.n &&
		  weights_cost_view(v, ord, level) == want.n;

	arena_close(a);
	return ok;
}

static bool
check_core(const struct weights_view *v, const struct weights_order *ord,
	   struct shape s, const int16_t *plain, int16_t *back)
{
	s.o = weights_order_channels(ord);
	size_t n = weights_order_count(ord, s.h, s.w, s.i);
	int32_t *source = malloc((n + 1) * sizeof(*source));
	int16_t *got = malloc((n + 1) * sizeof(*got));
	struct weights_dest place = {
		.p = back, .h = s.h, .w = s.w, .i = s.i,
		.stride_o = (ptrdiff_t)s.h * s.w * s.i,
		.stride_y = (ptrdiff_t)s.w * s.i,
		.stride_x = s.i, .stride_i = 1,
	};
	bool ok = source && got &&
		  closed_form(ord, s, source, (long)n) == (long)n;

	got[n] = 12345;
	weights_reorder(v, ord, got);
	for (size_t p = 0; ok && p < n; p++)
		ok = got[p] == (source[p] < 0 ? 0 : plain[source[p]]);
	ok = ok && got[n] == 12345;
	ok = ok && weights_restore(got, ord, &place) == 0;
	if (n < 5000)
		ok = ok && check_stream(v, ord, got, n);
	free(source);
	free(got);
	return ok;
}

static bool
check_shape(void)
{
	struct shape s;
	struct weights_order ord = random_order(&s);
	size_t per_o = (size_t)(s.h * s.w * s.i), n = (size_t)s.o * per_o;
	uint8_t *data = malloc(n);
	int16_t *plain = malloc(n * sizeof(*plain));
	int16_t *back = calloc(n, sizeof(*back));
	int32_t *zero = malloc((size_t)s.o * sizeof(*zero));
	bool turned = roll(0, 4) == 0, is_unsigned = roll(0, 1);

	for (size_t e = 0; e < n; e++)
		data[e] = (uint8_t)roll(0, 255);
	for (int o = 0; o < s.o; o++)
		zero[o] = is_unsigned ? roll(0, 255) : 0;
	struct weights_view v =
	    ord.traversal == WEIGHTS_DEPTHWISE
		? view_depthwise(data, s.h, s.w, s.o)
		: view_ohwi(data, s.o, s.h, s.w, s.i);
	v.is_unsigned = is_unsigned;
	v.zero = zero;
	v.n_zero = (size_t)s.o;
	for (int o = 0; o < s.o; o++)
		for (size_t e = 0; e < per_o; e++) {
			size_t from = turned ? per_o - 1 - e : e;
			size_t i = e % (size_t)s.i;
			if (turned)
				from = from / (size_t)s.i * (size_t)s.i + i;
			from = ord.traversal == WEIGHTS_DEPTHWISE
				   ? from * (size_t)s.o + (size_t)o
				   : (size_t)o * per_o + from;
			int w = is_unsigned ? data[from] : (int8_t)data[from];
			plain[(size_t)o * per_o + e] = (int16_t)(w - zero[o]);
		}
	if (turned) { /* the kernel rotated by 180 degrees, as in a transposed convolution */
		v.p += (v.h - 1) * v.stride_y + (v.w - 1) * v.stride_x;
		v.stride_y = -v.stride_y;
		v.stride_x = -v.stride_x;
	}
	bool ok = true;
	for (ord.core = 0; ord.core < ord.cores; ord.core++)
		ok = ok && check_core(&v, &ord, s, plain, back);
	size_t len = (size_t)(ord.end - ord.begin) * per_o;
	ok = ok && memcmp(back, plain + (size_t)ord.begin * per_o,
			  len * sizeof(*back)) == 0;
	if (!ok)
		printf("traversal %d, %dx%dx%dx%d, block %d, ou %d, %d bit, "
		       "dilation %dx%d, slice %d-%d, %d cores: differs\n",
		       ord.traversal, s.o, s.h, s.w, s.i, ord.block_depth,
		       ord.ou, ord.ifm_bits, ord.dilation_y, ord.dilation_x,
		       ord.begin, ord.end, ord.cores);
	free(data);
	free(plain);
	free(back);
	free(zero);
	return ok;
}

/* the choice for a kernel of h x w elements and i channels */
static bool
prefers_part_kernel(int32_t h, int32_t w, int32_t i, int bits)
{
	return block_part_kernel(&accels[ACCEL_U55_128], i, h * w, bits, false);
}

static bool
check_part_kernel(void)
{
	/*
	 * ethosu-weights(7) 2.5: utilisation of an RGB 3x3 and of deeper kernels, by
	 * hand
	 */
	bool ok = prefers_part_kernel(3, 3, 3, 8) &&
		  !prefers_part_kernel(3, 3, 32, 8) &&
		  prefers_part_kernel(4, 4, 24, 8) &&
		  prefers_part_kernel(3, 3, 24, 8) &&
		  !prefers_part_kernel(3, 3, 28, 8) &&
		  prefers_part_kernel(2, 2, 64, 8) &&
		  prefers_part_kernel(3, 3, 24, 16);
	if (!ok)
		printf("choice of part-kernel order differs\n");
	return ok;
}

static bool
check_scales(void)
{
	/* the record of ethosu-weights(7) 4.1 */
	static const uint8_t want[] = { 0x9c, 0x79, 0, 0, 0, 0x00, 0xe3, 0x29,
					0x46, 0x26 };
	struct weights_scale s = { .bias = 31132, .scale = 1177150208,
				   .shift = 38 }, back;
	uint8_t got[WEIGHTS_SCALE_SIZE];
	struct err e = { 0 };
	bool ok = weights_scale_pack(&s, got, &e) &&
		  memcmp(got, want, sizeof(want)) == 0;
	const int64_t edge = INT64_C(1) << 39;

	for (int i = 0; i < 4; i++) {
		s.bias = (int64_t[]){ -edge, edge - 1, -1, 0 }[i];
		ok = ok && weights_scale_pack(&s, got, &e) &&
		     weights_scale_unpack(got, &back, &e) &&
		     back.bias == s.bias && back.scale == s.scale &&
		     back.shift == s.shift;
	}
	s.bias = edge;
	ok = ok && !weights_scale_pack(&s, got, &e);
	s = (struct weights_scale){ .shift = 64 };
	ok = ok && !weights_scale_pack(&s, got, &e);
	got[9] = 0x40;
	ok = ok && !weights_scale_unpack(got, &s, &e);
	ok = ok && weights_scales_size(0) == 0 && weights_scales_size(8) == 80 &&
	     weights_scales_size(9) == 96;
	if (!ok)
		printf("scale records differ\n");
	return ok;
}

int
main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 300;
	uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;

	if (!check_scales() || !check_part_kernel())
		return EXIT_NO;
	for (long i = 0; i < count; i++) {
		drawn_state = seed + (uint64_t)i;
		if (!check_shape()) {
			printf("case: weights_order 1 %" PRIu64 "\n",
			       seed + (uint64_t)i);
			return EXIT_NO;
		}
	}
	return EXIT_YES;
}
