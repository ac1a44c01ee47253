/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads and stores feature maps in the regions, and checks every access:
 * ethosu-memory(7) 5, and rule 30 of npu-dis(1).
 */
#include "sim/npu.h"

#include "base/little_endian.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static const struct sim_region *
region_of(struct npu_run *r, int region, const char *role, bool write)
{
	const struct sim_region *g = &r->job->region[region];
	if (!g->rd) {
		(void)npu_fail(r, "%s: no memory is bound to region %d (rule 29)",
			       role, region);
		return NULL;
	}
	if (write && !g->wr) {
		(void)npu_fail(r, "%s: region %d is read-only (rule 33)", role,
			       region);
		return NULL;
	}
	return g;
}

static bool
inside(const struct sim_region *g, int64_t at, int64_t n)
{
	return at >= 0 && n >= 0 && (uint64_t)at <= g->bytes &&
	       (uint64_t)n <= g->bytes - (uint64_t)at;
}

enum { MOST_REPEATED = 1 << 24 }; /* bytes of an operand that is larger than its region */

struct bounds {
	const struct sim_region *g;
	int64_t at, n; /* of the first run outside */
};

static bool
run_inside(void *ctx, int64_t at, int64_t n)
{
	struct bounds *b = ctx;
	b->at = at;
	b->n = n;
	return inside(b->g, at, n);
}

bool
fm_check(struct npu_run *r, const struct npu_fm *f, const char *role, bool write)
{
	const struct sim_region *g = region_of(r, f->region, role, write);
	if (!g)
		return false;
	uint64_t bytes = (uint64_t)hwc_elements(f->shape) *
			 (uint64_t)npu_fm_bytes(f);
	/*
	 * An operand may repeat elements: by strides of 0 up to the size of the OFM, which is
	 * checked; pixels that overlap (rule 59) up to a size that is no burden for the host.
	 */
	bool repeated = !write && (hwc_elements(f->shape) <= hwc_elements(r->op.ofm.shape) ||
				   bytes <= MOST_REPEATED);
	if (bytes > g->bytes && !repeated)
		return npu_fail(r, "%s of %d x %d x %d elements is larger than "
				   "region %d of %zu bytes (rule 30)", role,
				f->shape.h, f->shape.w, f->shape.c, f->region,
				g->bytes);
	struct npu_range tile[4];
	bool ok = true;
	npu_fm_extent(f, npu_fm_box(f), tile);
	for (int t = 0; t < 4; t++)
		ok = ok && (!tile[t].n || inside(g, tile[t].at, tile[t].n));
	struct bounds b = { .g = g };
	if (ok || npu_fm_runs(f, npu_fm_box(f), run_inside, &b))
		return npu_spend(r, bytes);
	return npu_fail(r, "%s: %" PRId64 " bytes at 0x%" PRIx64 " are outside "
			   "region %d of %zu bytes (rule 30)", role, b.n,
			(uint64_t)b.at, f->region, g->bytes);
}

static bool
range_check(struct npu_run *r, const struct npu_range *n, const char *role,
	    const struct sim_region *g)
{
	if (!g)
		return false;
	return inside(g, n->at, n->n) ||
	       npu_fail(r, "%s: %" PRId64 " bytes at 0x%" PRIx64
			" are outside region %d of %zu bytes (rule 30)", role,
			n->n, (uint64_t)n->at, n->region, g->bytes);
}

const uint8_t *
range_read(struct npu_run *r, const struct npu_range *n, const char *role)
{
	const struct sim_region *g = region_of(r, n->region, role, false);
	return range_check(r, n, role, g) ? g->rd + n->at : NULL;
}

uint8_t *
range_write(struct npu_run *r, const struct npu_range *n, const char *role)
{
	const struct sim_region *g = region_of(r, n->region, role, true);
	return range_check(r, n, role, g) ? g->wr + n->at : NULL;
}

/* ---- elements ----------------------------------------------------------- */

/* Reads n elements of memory as integers minus zero. */
typedef void take(void *to, const uint8_t *from, int32_t n, int32_t zero);

#define TAKE(name, type, load)                                               \
	static void name(void *restrict to,                       \
				    const uint8_t *restrict from, int32_t n, \
				    int32_t zero)                            \
	{                                                                    \
		type *v = to;                                                \
		for (int32_t i = 0; i < n; i++)                              \
			v[i] = (type)((load) - zero);                        \
	}

TAKE(take_s8_16, int16_t, (int8_t)from[i])
TAKE(take_u8_16, int16_t, from[i])
TAKE(take_s16_16, int16_t, (int16_t)load_le16(from + 2 * (size_t)i))
TAKE(take_u16_16, int16_t, load_le16(from + 2 * (size_t)i))
TAKE(take_s8_32, int32_t, (int8_t)from[i])
TAKE(take_u8_32, int32_t, from[i])
TAKE(take_s16_32, int32_t, (int16_t)load_le16(from + 2 * (size_t)i))
TAKE(take_u16_32, int32_t, load_le16(from + 2 * (size_t)i))
TAKE(take_32_32, int32_t, (int64_t)(int32_t)load_le32(from + 4 * (size_t)i))

TAKE(take_64, int64_t,
     (int64_t)(load_le32(from + 8 * (size_t)i) |
	       (uint64_t)load_le32(from + 8 * (size_t)i + 4) << 32))

static take *
taker(const struct npu_fm *f, bool wide)
{
	if (f->bits == 64)
		return take_64;
	if (f->bits == 32)
		return take_32_32;
	if (f->bits == 16)
		return wide ? f->is_signed ? take_s16_32 : take_u16_32
			    : f->is_signed ? take_s16_16 : take_u16_16;
	return wide ? f->is_signed ? take_s8_32 : take_u8_32
		    : f->is_signed ? take_s8_16 : take_u8_16;
}

int32_t
fm_largest(const struct npu_fm *f)
{
	int32_t lo = f->is_signed ? -(1 << (f->bits - 1)) : 0;
	int32_t hi = f->is_signed ? (1 << (f->bits - 1)) - 1
				  : (int32_t)((1u << f->bits) - 1);
	int32_t a = abs(lo - f->zero), b = abs(hi - f->zero);
	return a > b ? a : b;
}

bool
fm_fits16(const struct npu_fm *f)
{
	if (f->bits == 16 && f->is_signed && f->zero == 0)
		return true;
	return f->bits <= 16 && fm_largest(f) <= INT16_MAX;
}

/* Loads one row, columns [x0, x1) of one tile side, into [x][c] elements of `size` bytes. */
static void
load_span(const struct npu_fm *f, const uint8_t *mem, int32_t y, int32_t x0,
	  int32_t x1, take *get, char *to, size_t size)
{
	int32_t depth = f->shape.c;
	int64_t bytes = npu_fm_bytes(f), at = npu_fm_address(f, y, x0, 0);
	if (!f->bricks && f->stride_x == depth * bytes) {
		get(to, mem + at, (x1 - x0) * depth, f->zero);
		return;
	}
	if (!f->bricks) {
		for (int32_t x = x0; x < x1; x++, at += f->stride_x)
			get(to + (size_t)(x - x0) * (size_t)depth * size,
			    mem + at, depth, f->zero);
		return;
	}
	for (int32_t c = 0; c < depth; c += BRICK, at += f->stride_c) {
		int32_t n = depth - c < BRICK ? depth - c : BRICK;
		char *p = to + (size_t)c * size;
		for (int32_t x = 0; x < x1 - x0; x++)
			get(p + (size_t)x * (size_t)depth * size,
			    mem + at + x * BRICK * bytes, n, f->zero);
	}
}

static void *
load(struct npu_run *r, const struct npu_fm *f, size_t size)
{
	const uint8_t *mem = r->job->region[f->region].rd;
	take *get = taker(f, size > 2);
	size_t row = (size_t)f->shape.w * (size_t)f->shape.c * size;
	char *plane = arena_alloc(r->a, row, (size_t)f->shape.h);
	int32_t split = f->w0 < f->shape.w ? f->w0 : f->shape.w;
	for (int32_t y = 0; y < f->shape.h; y++) {
		char *to = plane + (size_t)y * row;
		load_span(f, mem, y, 0, split, get, to, size);
		if (split < f->shape.w)
			load_span(f, mem, y, split, f->shape.w, get,
				  to + (size_t)split * (size_t)f->shape.c * size,
				  size);
	}
	return plane;
}

int16_t *
fm_load16(struct npu_run *r, const struct npu_fm *f)
{
	return load(r, f, 2);
}

int32_t *
fm_load32(struct npu_run *r, const struct npu_fm *f)
{
	return load(r, f, 4);
}

int64_t *
fm_load64(struct npu_run *r, const struct npu_fm *f)
{
	assert(f->bits == 64);
	return load(r, f, 8);
}

static void
put(uint8_t *restrict to, const int32_t *restrict v, int32_t n, int bits)
{
	if (bits == 8)
		for (int32_t i = 0; i < n; i++)
			to[i] = (uint8_t)v[i];
	else if (bits == 16)
		for (int32_t i = 0; i < n; i++)
			store_le16(to + 2 * (size_t)i, (uint16_t)v[i]);
	else
		for (int32_t i = 0; i < n; i++)
			store_le32(to + 4 * (size_t)i, (uint32_t)v[i]);
}

void
fm_store(struct npu_run *r, int32_t y, int32_t x, int32_t n, const int32_t *v)
{
	const struct npu_fm *f = &r->op.ofm;
	uint8_t *mem = r->job->region[f->region].wr;
	int32_t depth = f->shape.c;
	for (int32_t i = 0; i < n; i++, v += depth) {
		if (!f->bricks) {
			put(mem + npu_fm_address(f, y, x + i, 0), v, depth,
			    f->bits);
			continue;
		}
		int64_t at = npu_fm_address(f, y, x + i, 0);
		for (int32_t c = 0; c < depth; c += BRICK, at += f->stride_c)
			put(mem + at, v + c,
			    depth - c < BRICK ? depth - c : BRICK, f->bits);
	}
}
