/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND.  Image (y * block_w + x) * N + n of the
 * larger batch holds the pixels at offset (y, x) inside every block of image n, for a
 * batch of N images.
 */
#include "kernels/view.h"

#include "base/little_endian.h"

#include <string.h>

struct blocks {
	struct nhwc big, small; /* shape of the images, and of their pieces */
	int64_t block_h, block_w;
	int64_t top, left; /* border or crop before the first block */
};

/* a tensor of rank 3 has no width: one column */
static bool
dims(struct call *c, const struct tfl_tensor *t, struct nhwc *out)
{
	if (t->rank == 3) {
		*out = (struct nhwc){
			.n = t->dim[0], .h = t->dim[1], .w = 1, .c = t->dim[2]
		};
		return true;
	}
	return call_nhwc(c, t, "tensor", out);
}

/* Loads inputs 1 and 2: the block, and two margins per dimension. */
static bool
load_block(struct call *c, struct blocks *b, int64_t margin[4])
{
	int64_t n, n_margin;
	const int64_t *block = call_indices(c, 1, "block shape", &n);
	const int64_t *margin_values = call_indices(c, 2, "margins", &n_margin);
	int spatial = call_in(c, 0)->rank - 2;
	if (!block || !margin_values)
		return false;
	if (n != spatial || n_margin != 2 * n)
		return call_mismatch(
		    c,
		    "block shape and margins have %lld and %lld "
		    "elements for %d dimensions",
		    (long long)n, (long long)n_margin, spatial);
	memset(margin, 0, 4 * sizeof(*margin));
	for (int64_t i = 0; i < n_margin; i++)
		margin[i] = margin_values[i];
	b->block_h = block[0];
	b->block_w = n > 1 ? block[1] : 1;
	for (int i = 0; i < 4; i++)
		if (margin[i] < 0 || margin[i] > INT32_MAX)
			return call_err(c, "the margin %lld is not 0 to %d",
					(long long)margin[i], INT32_MAX);
	return (b->block_h > 0 && b->block_w > 0 && b->block_h <= UINT16_MAX &&
		b->block_w <= UINT16_MAX) ||
	       call_err(c, "the block is %lld by %lld, not 1 to %d each",
			(long long)b->block_h, (long long)b->block_w, UINT16_MAX);
}

static bool
blocks_prepare(struct call *c, bool to_batch, struct blocks *b)
{
	int64_t m[4];
	const struct tfl_tensor *in = call_in(c, 0), *out = call_out(c, 0);
	if (!call_movable(c, in, out) ||
	    !dims(c, to_batch ? in : out, &b->big) ||
	    !dims(c, to_batch ? out : in, &b->small) || !load_block(c, b, m))
		return false;
	b->top = m[0];
	b->left = m[2];
	if (in->rank != out->rank || b->small.c != b->big.c ||
	    b->small.n != b->big.n * b->block_h * b->block_w ||
	    b->small.h * b->block_h != b->big.h + m[0] + m[1] ||
	    b->small.w * b->block_w != b->big.w + m[2] + m[3])
		return call_mismatch(
		    c,
		    "%dx%dx%d images in batches of %d are no "
		    "%lldx%lld blocks of %dx%dx%d in batches of %d",
		    b->big.h, b->big.w, b->big.c, b->big.n,
		    (long long)b->block_h, (long long)b->block_w, b->small.h,
		    b->small.w, b->small.c, b->small.n);
	return true;
}

/* Returns the pixel, among all pieces, that holds pixel (n, y, x) of the images. */
static int64_t
piece_pixel(const struct blocks *b, int64_t n, int64_t y, int64_t x)
{
	y += b->top;
	x += b->left;
	int64_t image =
	    (y % b->block_h * b->block_w + x % b->block_w) * b->big.n + n;
	return (image * b->small.h + y / b->block_h) * b->small.w +
	       x / b->block_w;
}

static void
copy_pixels(const struct blocks *b, uint8_t *to, const uint8_t *from,
	    bool to_batch, size_t bytes)
{
	int64_t pixel = 0;
	for (int32_t n = 0; n < b->big.n; n++)
		for (int32_t y = 0; y < b->big.h; y++)
			for (int32_t x = 0; x < b->big.w; x++, pixel++) {
				size_t i = (size_t)piece_pixel(b, n, y, x);
				size_t big = (size_t)pixel;
				if (to_batch)
					memcpy(to + i * bytes,
					       from + big * bytes, bytes);
				else
					memcpy(to + big * bytes,
					       from + i * bytes, bytes);
			}
}

bool
kernel_space_to_batch(struct call *c)
{
	struct blocks b;
	if (!blocks_prepare(c, true, &b))
		return false;
	const struct tfl_tensor *out = call_out(c, 0);
	struct affine q = { 0 };
	uint8_t zero[8] = { 0 };
	/* INT32 is padded with 0; its zero point is ignored */
	if (out->type != TFL_INT32 && out->quant.n_scale &&
	    !call_affine(c, out, "output", &q))
		return false;
	store_le32(zero, (uint32_t)q.zero);
	if (c->check)
		return true;
	for (int64_t i = 0; i < tfl_elements(out); i++) /* the border */
		memcpy((uint8_t *)c->io->out[0] + (size_t)i * element_size(out),
		       zero, element_size(out));
	copy_pixels(&b, c->io->out[0], c->io->in[0], true,
		    element_size(out) * (size_t)b.big.c);
	return true;
}

bool
kernel_batch_to_space(struct call *c)
{
	struct blocks b;
	if (!blocks_prepare(c, false, &b))
		return false;
	if (c->check)
		return true;
	copy_pixels(&b, c->io->out[0], c->io->in[0], false,
		    element_size(call_out(c, 0)) * (size_t)b.big.c);
	return true;
}
