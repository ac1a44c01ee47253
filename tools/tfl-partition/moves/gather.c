/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER and GATHER_ND with constant indices: one copy for each run of evenly
 * spaced indices.  GATHER_ND selects along the first dimensions, merged into one;
 * so does GATHER with batch dimensions before its axis.
 */
#include "move.h"

#include "lower/runs.h"
#include "tflite/fields.h"

#include <string.h>

struct gather {
	int rank, axis; /* of the IFM, after dimensions were merged */
	int64_t dim[TFL_MAX_RANK + 1]; /* INT64: pairs of words in the last one */
	int n;
	const int64_t *index; /* n indices along the axis */
};

/* sets source and destination of the run from index k on; returns the start of the next */
static int
gather_run(const struct gather *g, int k, struct nd *from, struct nd *to)
{
	int64_t step;
	int n = low_even(g->index + k, g->n - k, true, &step);
	nd_slice(from, g->axis, g->index[k], n, step);
	nd_slice(to, g->axis, k, n, 1);
	return k + n;
}

/* the OFM with the indices as one dimension */
static struct nd
gathered(const struct gather *g, struct nd to)
{
	int64_t dim[TFL_MAX_RANK + 1];
	memcpy(dim, g->dim, sizeof(dim));
	dim[g->axis] = g->n;
	return nd_as(to, dim, g->rank);
}

/*
 * Reads (*v)[0] to (*v)[n - 1], or returns why these are no constant indices.  No
 * address of an Ethos-U55 or U65 depends on data (U85: indexed.c).  To compare an
 * index with all positions takes a product with all elements of the IFM, some
 * thousand times what the CPU needs to copy a few.
 */
static const char *
read_indices(const struct part *p, const struct tfl_tensor *t, const int64_t **v, int *n)
{
	enum { MAX_INDICES = 65536 };
	int64_t all = tfl_elements(t);
	if (all < 1 || all > MAX_INDICES)
		return "the number of indices is not 1 to 65536";
	int64_t *at = anew(p->a, int64_t, (size_t)all);
	*v = at;
	return part_ints(t, at, (int)all, n) && *n == all
		   ? NULL
		   : "the indices are not integers";
}

/* rows of columns, and channels of a column, for the DMA engine */
struct columns {
	int64_t rows, inner;
};

static struct columns
columns_of(const struct gather *g)
{
	struct columns c = { .rows = 1, .inner = 1 };
	for (int i = 0; i < g->rank; i++)
		if (i != g->axis)
			*(i < g->axis ? &c.rows : &c.inner) *= g->dim[i];
	return c;
}

/*
 * True if one indexed transfer is better than copies, each of which waits for
 * memory.  It is not if columns are so short that most of a burst is read in vain.
 * On ethos-u85-256 in Dedicated_Sram, 24 cases of 1 to 5,120 bytes a column take
 * 0.36 to 0.90 of the copies' cycles from 16 bytes on, and up to 11 times as many
 * below.  But a copy from DRAM costs as much as some 16 columns of any length.
 */
static bool
is_transfer_better(const struct part *p, const struct lop *o)
{
	const struct gather *g = o->own;
	/* words of indices; bytes of a column; columns for each copy */
	enum { MOST = 65536, GOOD_BYTES = 16, FEW = 4 };
	struct columns c = columns_of(g);
	int type = o->ifm->type == TFL_INT64 ? TFL_INT32 : o->ifm->type;
	int64_t bytes = c.inner * tfl_type_bytes(type);
	int runs = low_even_runs(g->index, g->n, true);
	const int64_t any[3] = { c.rows, g->dim[g->axis], c.inner };
	return nd_can_index(p->l, any, g->n) && c.rows * g->n <= MOST && runs > 1 &&
	       (bytes >= GOOD_BYTES || runs > ND_MAX_COPIES ||
		c.rows * g->n <= FEW * runs);
}

static const char *
count_copies(const struct part *p, const struct lop *o)
{
	struct gather *g = o->own;
	int64_t copies = 0, inner = 1;
	struct nd in = words_shape(o->ifm), out = words_shape(o->ofm);
	if (o->ifm->type == TFL_INT64)
		g->dim[g->rank++] = 2;
	for (int i = 0; i < g->rank; i++)
		inner *= i == g->axis ? g->n : g->dim[i];
	if (inner != nd_elements(&out))
		return "the OFM's shape is not what the indices give";
	if (is_transfer_better(p, o))
		return NULL;
	in = nd_as(in, g->dim, g->rank);
	out = gathered(g, out);
	for (int k = 0; k < g->n;) {
		struct nd from = in, to = out;
		k = gather_run(g, k, &from, &to);
		copies += nd_copies(p->l, &from, &to);
		if (copies > ND_MAX_COPIES)
			return arena_printf(p->a, "gathering takes more than %d copies",
					ND_MAX_COPIES);
	}
	return NULL;
}

static const char *
read_axes(const struct part *p, const struct lop *o)
{
	const struct tfl_tensor *in = o->ifm;
	struct gather *g = o->own;
	const char *why = check_options(p, o->op, &fb_GatherOptions) ?: check_move(p, o) ?:
			  read_indices(p, o->ifm2, &g->index, &g->n);
	if (why)
		return why;
	g->rank = in->rank;
	int batch = (int)TFL_OPT(o->op, GatherOptions, batch_dims);
	g->axis = move_axis(TFL_OPT(o->op, GatherOptions, axis), in->rank);
	if (g->axis < 0)
		return "the axis is out of range";
	for (int i = 0; i < in->rank; i++)
		g->dim[i] = in->dim[i];
	for (int k = 0; k < g->n; k++)
		if (g->index[k] < 0 || g->index[k] >= g->dim[g->axis])
			return "an index is out of range";
	if (!batch)
		return count_copies(p, o);
	/*
	 * Merges the axis and the dimensions before it, if these are all batch dimensions.
	 * Every batch has the same number of indices, into its own part of the merged axis.
	 */
	int64_t batches = 1, each = g->dim[g->axis];
	for (int i = 0; i < g->axis; i++)
		batches *= g->dim[i];
	if (batch != g->axis || g->n % batches)
		return arena_printf(p->a, "%d batch dimensions before axis %d", batch,
				g->axis);
	int64_t *v = anew(p->a, int64_t, (size_t)g->n);
	for (int k = 0; k < g->n; k++)
		v[k] = g->index[k] + k / (g->n / batches) * each;
	g->index = v;
	g->dim[0] = batches * each;
	for (int i = g->axis + 1; i < g->rank; i++)
		g->dim[i - g->axis] = g->dim[i];
	g->rank -= g->axis;
	g->axis = 0;
	return count_copies(p, o);
}

/* merges indices of several dimensions into one index of their product */
static const char *
read_numbers(const struct part *p, const struct lop *o)
{
	const struct tfl_tensor *in = o->ifm, *at = o->ifm2;
	struct gather *g = o->own;
	int n, depth = at->rank ? at->dim[at->rank - 1] : 0;
	const int64_t *v;
	const char *why = check_move(p, o) ?: read_indices(p, at, &v, &n);
	if (why)
		return why;
	if (depth < 1 || depth > in->rank)
		return "the indices are of more dimensions than the IFM";
	*g = (struct gather){ .rank = 2, .dim = { 1, 1 }, .n = n / depth };
	for (int i = 0; i < in->rank; i++)
		g->dim[i >= depth] *= in->dim[i];
	int64_t *line = anew(p->a, int64_t, (size_t)g->n);
	for (int k = 0; k < n; k++) {
		if (v[k] < 0 || v[k] >= in->dim[k % depth])
			return "an index is out of range";
		line[k / depth] = line[k / depth] * in->dim[k % depth] + v[k];
	}
	g->index = line;
	return count_copies(p, o);
}

static bool
indices_are_constant(const struct lop *o)
{
	return !o->ifm2 || o->ifm2->data.p;
}

const char *
read_gather(const struct part *p, struct lop *o)
{
	if (!indices_are_constant(o))
		return read_indexed(p, o);
	o->own = anew(p->a, struct gather, 1);
	return o->op->code == TFL_GATHER ? read_axes(p, o) : read_numbers(p, o);
}

bool
gather_axis(const struct lop *o, int *axis, const int64_t **index, int *n)
{
	const struct gather *g = o->own;
	if (!indices_are_constant(o) || TFL_OPT(o->op, GatherOptions, batch_dims))
		return false;
	*axis = g->axis;
	*index = g->index;
	*n = g->n;
	return true;
}

void
lower_gather(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct gather *g = o->own;
	if (!indices_are_constant(o)) {
		lower_indexed(p, o);
		return;
	}
	struct nd in = nd_readable_as(p->l, words_ifm(p, op->in[0]), g->dim, g->rank);
	struct nd from = in, to = in;
	if (gather_run(g, 0, &from, &to) == g->n) {
		move_result(p, op, &from);
		return;
	}
	struct nd out = gathered(g, words_ofm(p, op->out[0]));
	if (!is_transfer_better(p, o) || !nd_is_dense(&in) || !nd_is_dense(&out)) {
		for (int k = 0; k < g->n;) {
			from = in;
			to = out;
			k = gather_run(g, k, &from, &to);
			nd_copy(p->l, &from, &to);
		}
		return;
	}
	/* one transfer, with the same indices for each row */
	struct columns c = columns_of(g);
	const int64_t any[] = { c.rows, g->dim[g->axis], c.inner };
	const int64_t some[] = { c.rows, g->n, c.inner };
	int32_t *v = anew(p->a, int32_t, (size_t)(c.rows * g->n));
	for (int64_t i = 0; i < c.rows * g->n; i++)
		v[i] = (int32_t)g->index[i % g->n];
	struct hwc shape = { .h = (int32_t)c.rows, .w = g->n, .c = 1 };
	struct nd at = nd_operand_of(low_const(p->l, TFL_INT32, shape, v), 2,
				     (int32_t[]){ shape.h, shape.w });
	in = nd_as(in, any, 3);
	out = nd_as(out, some, 3);
	nd_gather(p->l, &in, &at, &out);
}
