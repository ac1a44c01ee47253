/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether an OFM block fits U85's buffers, and selects the microblock of an
 * operation: ethosu-memory(7) 28.
 */
#include "target/blocks85.h"

#include "base/diag.h"
#include "base/fixed.h"
#include "target/accel.h"
#include "target/generation.h"

/* ---- microblocks (ethosu-memory(7) 28.1) ------------------------------------- */

/* sets of operation classes */
enum {
	CONV = 1 << BLOCK_CONV, DEPTHWISE = 1 << BLOCK_DEPTHWISE,
	FC = 1 << BLOCK_FC, POOL = 1 << BLOCK_POOL,
	SUM = 1 << BLOCK_REDUCE_SUM, ELTWISE = 1 << BLOCK_ELEMENTWISE,
	MATMUL = 1 << BLOCK_MATMUL, RESIZE = 1 << BLOCK_RESIZE,
	ARRAY = CONV | FC | SUM | ELTWISE | MATMUL | RESIZE,
	MOST = ARRAY | DEPTHWISE | POOL, WORDS = SUM | ELTWISE | POOL,
	SHALLOW = DEPTHWISE | POOL | ELTWISE | RESIZE,
	/* for accelerators that have a separate microblock for matrix products */
	NOT_MATMUL = MOST & ~MATMUL, DEEP = CONV | FC | ELTWISE | MATMUL,
};

/* the operations that a microblock supports, by bits of the IFM: 8, 16, 32 */
struct use {
	int macs; /* of the accelerator */
	int depth;
	int of[3];
};

static const struct use uses[] = {
	{ 128, 8, { ARRAY, MOST, WORDS } },
	{ 128, 16, { SHALLOW, FC | ELTWISE | RESIZE, ELTWISE } },
	{ 256, 16, { SHALLOW, FC | ELTWISE | RESIZE, ELTWISE } },
	{ 256, 8, { ARRAY, MOST, WORDS } },
	{ 512, 16, { MOST, MOST, WORDS } },
	{ 1024, 32, { DEEP, DEEP, ELTWISE } },
	{ 1024, 16, { NOT_MATMUL, NOT_MATMUL, WORDS } },
	{ 2048, 64, { DEEP, DEEP, ELTWISE } },
	{ 2048, 16, { NOT_MATMUL, NOT_MATMUL, WORDS } },
};

static bool
is_for(const struct accel *a, struct hwc u, const struct block_query *q)
{
	int bits = q->ifm_bits == 8 ? 0 : q->ifm_bits == 16 ? 1 : 2;
	for (size_t i = 0; i < ARRAY_LEN(uses); i++)
		if (uses[i].macs == a->macs && uses[i].depth == u.c)
			return uses[i].of[bits] >> q->class & 1;
	return false;
}

struct hwc
block85_ublock(const struct accel *a, const struct block_query *q)
{
	struct hwc whole = q->whole.c ? q->whole : q->ofm, best = a->ublock;
	int64_t least = INT64_MAX;
	if (q->ublock.c)
		return q->ublock;
	for (int i = 0; i < a->n_ublocks; i++) {
		struct hwc u = a->ublocks[i];
		int64_t volume = round_up_i64(whole.h, u.h) *
				 round_up_i64(whole.w, u.w) *
				 round_up_i64(whole.c, u.c);
		if (is_for(a, u, q) && volume < least) {
			least = volume;
			best = u;
		}
	}
	return best;
}

/* ---- limits (ethosu-memory(7) 28.1) -------------------------------------- */

static int32_t
up(int32_t v, int32_t step)
{
	return (v + step - 1) / step * step;
}

/*
 * Largest number of columns whose IFM fits a slot of the chaining buffer
 * (ethosu-memory(7) 28.3).
 */
static int32_t
resize_width(const struct accel *a, const struct block_query *q)
{
	int32_t bricks = a->chain_buffer / 6 / (BRICK * q->ifm_bits / 8);
	int32_t n = ceil_div((bricks - 2) * q->up_x + 1, q->down_x);
	return n < 1 ? 1 : min_i32(n, generations[a->generation].max_block.w);
}

struct hwc
block85_bounds(const struct accel *a, const struct block_query *q)
{
	struct hwc u = block85_ublock(a, q);
	struct hwc most = generations[a->generation].max_block;
	int32_t depth = u.c > BRICK ? u.c : BRICK;
	if (q->order == ORDER_HCW && q->bricks)
		u.w = BRICK;
	if (q->class == BLOCK_RESIZE)
		return (struct hwc){ .h = 1, .w = resize_width(a, q), .c = BRICK };
	/*
	 * may be wider than the feature map: the estimate then has fewer commands
	 * (ethosu-timing(7) 24)
	 */
	int32_t width = q->class == BLOCK_ELEMENTWISE ? most.w : min_i32(q->ofm.w, most.w);
	return (struct hwc){ .h = up(min_i32(q->ofm.h, most.h), u.h),
			     .w = up(width, u.w),
			     .c = up(min_i32(q->ofm.c, most.c), depth) };
}

const char *
block85_limit(const struct accel *a, const struct block_query *q, struct hwc b)
{
	struct hwc u = block85_ublock(a, q);
	struct hwc most = generations[a->generation].max_block;
	if (b.h < 1 || b.w < 1 || b.c < 1)
		return "has an empty dimension";
	if (b.h > most.h || b.w > most.w || b.c > most.c)
		return "is larger than 128x128x1024";
	if (q->class == BLOCK_RESIZE)
		return b.h == 1 && b.c == BRICK && b.w <= resize_width(a, q)
			   ? NULL
			   : "is not a row of 16 channels that the resize unit holds";
	if (b.h % u.h || b.w % u.w || b.c % u.c)
		return "is not a multiple of the operation's microblock";
	if (b.c < q->ofm.c && b.c % BRICK)
		return "splits the OFM depth at other than a multiple of 16";
	/*
	 * ethosu-memory(7) 28.4: ORDER_HCW exchanges columns and channels, so channels
	 * have the limit of columns
	 */
	if (q->order == ORDER_HCW && b.c > most.w)
		return "has more channels than may become columns";
	if (q->order == ORDER_HCW && q->bricks && b.w % BRICK)
		return "has columns that fill no brick";
	if (q->order == ORDER_REVERSE_C && b.c != BRICK)
		return "is not 16 channels deep, as those written backwards are";
	return NULL;
}

/* ---- IFM blocks (ethosu-memory(7) 28.2, 28.3) ---------------------------- */

static int32_t
ifm_depth(const struct accel *a, const struct block_query *q, struct hwc u,
	  int32_t block)
{
	if (!block_class_is_deep(q->class))
		return block;
	if (q->class == BLOCK_CONV && q->part_kernel)
		return 16;
	if (q->ifm_bits == 32 || (a->macs <= 256 && u.c == 16 && !q->sparse))
		return 32;
	return q->sparse && q->ifm_bits == 8 ? 128 : 64;
}

/*
 * Returns the units in which the IFM buffer is allocated; the depth is in units of 16
 * bytes.
 */
static struct hwc
allocation(const struct accel *a, struct hwc u, int32_t bits)
{
	static const struct {
		int macs;
		struct hwc of[3], flat[3]; /* flat: for microblocks of one row of 4 */
	} all[] = {
#define U(y, x, z) { .h = y, .w = x, .c = z }
		{ 128, { U(1, 2, 1), U(1, 1, 2), U(1, 1, 2) },
		       { U(1, 2, 1), U(1, 1, 2), U(1, 1, 2) } },
		{ 256, { U(2, 2, 1), U(1, 2, 2), U(1, 1, 4) },
		       { U(1, 4, 1), U(1, 2, 2), U(1, 1, 4) } },
		{ 512, { U(2, 2, 1), U(1, 2, 2), U(1, 1, 4) },
		       { U(1, 4, 1), U(1, 2, 2), U(1, 1, 4) } },
		{ 1024, { U(2, 4, 1), U(2, 2, 2), U(1, 2, 4) },
			{ U(2, 4, 1), U(1, 4, 2), U(1, 2, 4) } },
		{ 2048, { U(4, 4, 1), U(2, 4, 2), U(2, 2, 4) },
			{ U(4, 4, 1), U(2, 4, 2), U(1, 4, 4) } },
#undef U
	};
	int row = bits <= 128 ? 0 : bits <= 256 ? 1 : 2;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i].macs == a->macs)
			return u.h == 1 && u.w == 4 ? all[i].flat[row]
						    : all[i].of[row];
	return (struct hwc){ .h = 1, .w = 1, .c = 1 };
}

/* Number of stored IFM rows (columns) that the rows of a block need. */
static int32_t
needed(int32_t v, int stride, int kernel, enum upscale mode)
{
	int near = mode == UPSCALE_NEAREST, factor = mode == UPSCALE_NONE ? 1 : 2;
	return ceil_div((v - 1) * stride + min_i32(kernel, SUBKERNEL_MAX) + near,
			factor);
}

struct hwc
block85_ifm(const struct accel *a, const struct block_query *q, struct hwc b)
{
	struct hwc u = block85_ublock(a, q);
	int32_t depth = ifm_depth(a, q, u, b.c);
	struct hwc unit = allocation(a, u, depth * q->ifm_bits);
	return (struct hwc){
		.h = up(needed(b.h, q->stride_y, q->kernel_h, q->upscale), unit.h),
		.w = up(needed(b.w, q->stride_x, q->kernel_w, q->upscale), unit.w),
		.c = depth,
	};
}

/* depth of an allocation unit, in elements */
static int32_t
unit_depth(struct hwc unit, int bits)
{
	enum { UNIT_BITS = 128 };
	return unit.c * UNIT_BITS / bits;
}

int32_t
block85_ifm_held(const struct accel *a, struct hwc ublock, int32_t depth, int bits)
{
	return up(depth, unit_depth(allocation(a, ublock, depth * bits), bits));
}

/* ---- capacities (ethosu-memory(7) 28.3) ---------------------------------- */

static int64_t
input_bytes(const struct accel *a, const struct block_query *q,
	    const struct shram_layout *l)
{
	struct hwc ib = l->ifm_block;
	struct hwc unit = allocation(a, l->ublock, ib.c * q->ifm_bits);
	int32_t granule = unit_depth(unit, q->ifm_bits);
	int64_t plane = (int64_t)ib.h * ib.w;
	if (block_class_is_deep(q->class))
		return plane * up(min_i32(ib.c, q->ifm.c), granule) *
		       (q->ifm_bits / 8);
	int64_t block = plane * up(ib.c, granule);
	int64_t all = (int64_t)up(q->ifm.h, unit.h) * up(q->ifm.w, unit.w) *
		      up(q->ifm.c, granule);
	return (block < all ? block : all) * (q->ifm_bits / 8);
}

/*
 * An elementwise block fits if one row of it fits the output buffer.  If an operand is
 * broadcast along height or channels, its bricks must also fit the chaining buffer
 * (ethosu-memory(7) 28.3).
 */
static bool
fits_elementwise(const struct accel *a, const struct block_query *q, struct hwc b)
{
	struct hwc u = block85_ublock(a, q);
	int bytes = q->ifm_bits / 8;
	int64_t row = (int64_t)b.w * b.c * bytes;
	int64_t max_bricks = a->chain_buffer / 6 / (BRICK * bytes) / u.h;
	if (!q->repeats_h && !q->repeats_c)
		return row <= a->out_buffer;
	int64_t need = b.w;
	if (!q->repeats_c)
		need *= (b.c + BRICK - 1) / BRICK;
	else if (!q->repeats_h && !q->repeats_w)
		need *= b.h / u.h;
	return need <= (max_bricks > u.w ? max_bricks : u.w) && row <= a->out_buffer;
}

/*
 * Convolutions double buffer both the IFM and the accumulators.  The smallest block may
 * be single buffered, as otherwise some operations would have no block.
 */
bool
block85_layout(const struct accel *a, const struct block_query *q, struct hwc b,
	       struct shram_layout *out, int *banks)
{
	*out = (struct shram_layout){ .ifm_block = { .h = 0 } };
	if (banks)
		*banks = 0;
	if (block85_limit(a, q, b))
		return false;
	out->ifm_block = block85_ifm(a, q, b);
	out->ublock = block85_ublock(a, q);
	if (q->class == BLOCK_ELEMENTWISE)
		return fits_elementwise(a, q, b);
	if (q->class == BLOCK_RESIZE)
		return true;
	int64_t in = input_bytes(a, q, out);
	int64_t acc = (int64_t)b.h * b.w * up(b.c, BRICK) * (q->acc40 ? 8 : 4);
	if (banks) /* in KiB: callers prefer the smaller one of two blocks */
		*banks = (int)((in + acc + 1023) / 1024);
	struct hwc u = out->ublock;
	bool smallest = b.h == u.h && b.w == u.w && b.c <= up(u.c, BRICK);
	bool sum = q->class == BLOCK_REDUCE_SUM;
	bool twice = block_class_is_deep(q->class) && !sum && !smallest;
	return in * (twice ? 2 : 1) <= a->ifm_buffer &&
	       acc * (twice ? 2 : 1) <= a->acc_buffer;
}

/* ---- weights (ethosu-weights(7) 22.3) ------------------------------------ */

bool
block85_part_kernel(int ifm_depth, int kernel_elements, bool sparse)
{
	const int step = sparse ? 10 : 5, odd = sparse ? 4 : 2;
	int rest = kernel_elements % step;
	int rounded = kernel_elements / step * step + (rest > odd ? rest : odd);
	double part = (double)ifm_depth / up(ifm_depth, 16) *
		      ((double)kernel_elements / rounded);
	double deep = (double)ifm_depth / up(ifm_depth, sparse ? 128 : 64);
	return part >= deep;
}
