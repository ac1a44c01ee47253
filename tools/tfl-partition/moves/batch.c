/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND: the pixels at one offset within all blocks
 * are a separate image in the batch.  BROADCAST_TO: elements are read several
 * times.
 */
#include "move.h"

/* ---- SPACE_TO_BATCH_ND, BATCH_TO_SPACE_ND ------------------------------------- */

enum { MAX_BLOCK = 1 << 15 };

struct blocks {
	int n;		/* number of dimensions with blocks: 1 or 2 */
	int64_t block[2];
	int64_t before[2]; /* padding or crop in front of the images */
	int32_t big[2], small[2]; /* extents of the images, and of their pieces */
	int64_t images;
};

/*
 * Sets views of piece i: *pixels are its pixels in the images, *piece is its own
 * memory, and at[] the position in *piece where the pixels begin.
 */
static void
cut_piece(const struct blocks *b, int64_t i, const struct nd *big,
	  const struct nd *small, struct nd *pixels, struct nd *piece, int64_t *at)
{
	*pixels = *big;
	*piece = *small;
	nd_slice(piece, 0, i * b->images, b->images, 1);
	for (int k = b->n; k-- > 0;) {
		int64_t step = b->block[k], phase = i % step, lead = b->before[k];
		/* position h of the piece is pixel h * step + phase - lead */
		int64_t first = lead > phase ? (lead - phase + step - 1) / step : 0;
		int64_t start = first * step + phase - lead;
		int64_t n = start < b->big[k] ? (b->big[k] - 1 - start) / step + 1 : 0;
		at[1 + k] = n ? first : 0;
		nd_slice(pixels, 1 + k, n ? start : 0, n, step);
		i /= step;
	}
}

/* the part of a piece that holds pixels */
static struct nd
piece_pixels(const struct nd *piece, const struct nd *pixels, const int64_t *at)
{
	struct nd v = *piece;
	for (int k = 0; k < v.rank; k++)
		nd_slice(&v, k, at[k], pixels->dim[k], 1);
	return v;
}

const char *
read_blocks(const struct part *p, struct lop *o)
{
	struct blocks *b = o->own = anew(p->a, struct blocks, 1);
	bool to_batch = o->op->code == TFL_SPACE_TO_BATCH_ND;
	const char *why = check_move(p, o);
	if (why)
		return why;
	const struct tfl_tensor *big = to_batch ? o->ifm : o->ofm;
	const struct tfl_tensor *small = to_batch ? o->ofm : o->ifm;
	int64_t margin[4];
	int n, n_margin;
	if (!part_ints(o->ifm2, b->block, 2, &n) ||
	    !part_ints(part_in(p, o->op, 2), margin, 4, &n_margin))
		return "block or margins are not constant";
	if (n < 1 || big->rank != n + 2 || small->rank != n + 2 || n_margin != 2 * n)
		return "the block does not match the IFM's rank";
	b->n = n;
	b->images = big->dim[0];
	for (int k = 0; k < n; k++) {
		int64_t before = margin[2 * k], after = margin[2 * k + 1];
		b->before[k] = before;
		b->big[k] = big->dim[1 + k];
		b->small[k] = small->dim[1 + k];
		if (b->block[k] < 1 || b->block[k] > MAX_BLOCK || before < 0 ||
		    after < 0 || before > INT32_MAX || after > INT32_MAX ||
		    b->block[k] * b->small[k] != b->big[k] + before + after)
			return "the shapes of IFM and OFM do not match";
	}
	int64_t all = b->block[0] * (n > 1 ? b->block[1] : 1);
	if (small->dim[0] != all * b->images || small->dim[n + 1] != big->dim[n + 1])
		return "the shapes of IFM and OFM do not match";
	struct nd in = nd_shape(o->ifm), out = nd_shape(o->ofm);
	int64_t pieces = (to_batch ? out : in).dim[0] / b->images, copies = 0;
	for (int64_t i = 0; i < pieces && copies <= ND_MAX_COPIES; i++) {
		struct nd pixels, piece;
		int64_t at[ND_MAX] = { 0 };
		cut_piece(b, i, to_batch ? &in : &out, to_batch ? &out : &in,
			  &pixels, &piece, at);
		struct nd v = piece_pixels(&piece, &pixels, at);
		if (nd_elements(&v))
			copies += nd_copies(p->l, &pixels, &v);
		copies++;
	}
	return copies <= ND_MAX_COPIES
		   ? NULL
		   : arena_printf(p->a, "the blocks take more than %d copies", ND_MAX_COPIES);
}

void
lower_blocks(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct blocks *b = o->own;
	bool to_batch = op->code == TFL_SPACE_TO_BATCH_ND;
	struct nd in = nd_ifm(p, op->in[0]), any = nd_readable(p->l, &in);
	struct nd out = nd_ofm(p, op->out[0]);
	int64_t pieces = (to_batch ? out : in).dim[0] / b->images;
	for (int64_t i = 0; i < pieces; i++) {
		struct nd pixels, piece;
		int64_t at[ND_MAX] = { 0 };
		cut_piece(b, i, to_batch ? &in : &out, to_batch ? &out : &in,
			  &pixels, &piece, at);
		struct nd v = piece_pixels(&piece, &pixels, at);
		if (nd_elements(&v) && to_batch)
			nd_copy(p->l, &pixels, &v);
		else if (nd_elements(&v))
			nd_copy(p->l, &v, &pixels);
		if (to_batch)
			nd_fill_border(p->l, &any, &piece, at, pixels.dim,
				    quant_zero(o->ofm));
	}
}

/* ---- BROADCAST_TO --------------------------------------------------------------- */

/* the IFM with its elements repeated to the OFM's shape */
const char *
view_repeat(const struct part *p, const struct tfl_op *op, struct nd *v)
{
	const struct tfl_tensor *o = part_out(p, op, 0);
	const char *differs = "the OFM's shape is not what the IFM broadcasts to";
	struct nd r = *v;
	int more = o->rank - v->rank;
	if (more < 0)
		return differs;
	r.rank = o->rank;
	for (int k = 0; k < o->rank; k++) {
		int64_t n = k < more ? 1 : v->dim[k - more];
		if (n != 1 && n != o->dim[k])
			return differs;
		r.dim[k] = o->dim[k];
		r.stride[k] = n == 1 ? 0 : v->stride[k - more];
	}
	*v = r;
	return NULL;
}
