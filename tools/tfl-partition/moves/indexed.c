/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GATHER and GATHER_ND with computed indices: their addresses depend on data, which
 * the DMA engine of Ethos-U85 supports.  The reference fails at an index out of
 * range; the NPU may then read anything, or stop.
 */
#include "move.h"

#include "lower/linux.h"
#include "tflite/fields.h"

/* row r of [rows][any][inner] provides columns at[r / outer][0 .. n - 1] */
struct gather_shape {
	int64_t rows, outer, any, inner, n;
	int depth; /* numbers in each index */
};

static const char *
read_axis(const struct tfl_op *op, const struct tfl_tensor *in, const struct tfl_tensor *at,
	  struct gather_shape *k)
{
	int axis = move_axis(TFL_OPT(op, GatherOptions, axis), in->rank);
	int64_t batch = TFL_OPT(op, GatherOptions, batch_dims);
	if (axis < 0)
		return "the axis is out of range";
	if (batch < 0 || batch > axis || batch > at->rank)
		return "the batch dimensions are out of range";
	*k = (struct gather_shape){ .rows = 1, .outer = 1, .any = in->dim[axis], .inner = 1,
			     .n = tfl_elements(at), .depth = 1 };
	for (int i = 0; i < in->rank; i++) {
		if (i < batch && in->dim[i] != at->dim[i])
			return "the batch dimensions differ";
		if (i < batch)
			k->n /= in->dim[i];
		else if (i < axis)
			k->outer *= in->dim[i];
		if (i != axis)
			*(i < axis ? &k->rows : &k->inner) *= in->dim[i];
	}
	return NULL;
}

/* GATHER_ND: merges the dimensions that an index addresses */
static const char *
read_numbers(const struct tfl_tensor *in, const struct tfl_tensor *at, struct gather_shape *k)
{
	int depth = at->rank ? at->dim[at->rank - 1] : 0;
	if (depth < 1 || depth > in->rank)
		return "the indices are of more dimensions than the IFM";
	*k = (struct gather_shape){ .rows = 1, .outer = 1, .any = 1, .inner = 1, .depth = depth,
			     .n = tfl_elements(at) / depth };
	for (int i = 0; i < in->rank; i++)
		*(i < depth ? &k->any : &k->inner) *= in->dim[i];
	return NULL;
}

const char *
read_indexed(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *in = o->ifm, *at = o->ifm2;
	bool axis = o->op->code == TFL_GATHER;
	struct gather_shape *k = o->own = anew(p->a, struct gather_shape, 1);
	if (!low_has(p->l, LACK_GATHER))
		return "the indices are not constant, and addresses of NPU operations "
		       "can't depend on data";
	const char *why = check_moved_by(p, o->op, in, "IFM") ?:
			  check_moved_by(p, o->op, o->ofm, "OFM");
	if (!why && at->type != TFL_INT32 && at->type != TFL_INT64)
		why = arena_printf(p->a, "the indices are %s", tfl_type_name(at->type));
	why = why ?: check_fixed(p, at, "indices");
	if (!why && axis)
		why = check_options(p, o->op, &fb_GatherOptions);
	if (!why && in->type != o->ofm->type)
		why = "IFM and OFM differ in type";
	why = why ?: (axis ? read_axis(o->op, in, at, k) : read_numbers(in, at, k));
	if (why)
		return why;
	bool fits = k->rows * k->n * k->inner == tfl_elements(o->ofm);
	k->inner *= in->type == TFL_INT64 ? 2 : 1; /* words */
	if (!nd_can_index(p->l, (int64_t[]){ k->rows, k->any, k->inner }, k->n))
		return "more than 65535 indices or rows of them, or 65536 positions or elements of each";
	return fits ? NULL : "the OFM's shape is not what the indices give";
}

void
lower_indexed(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct gather_shape *k = o->own;
	const int64_t any[] = { k->rows, k->any, k->inner };
	const int64_t some[] = { k->rows, k->n, k->inner };
	/* the indices as words; of INT64 the lower words, as larger values are out of range */
	struct nd at = words_ifm(p, op->in[1]);
	if (o->ifm2->type == TFL_INT64) {
		nd_slice(&at, at.rank - 1, 0, 1, 1);
		at.rank--;
		at = nd_readable(p->l, &at);
	}
	at = nd_readable(p->l, &at);
	if (op->code == TFL_GATHER_ND) {
		/* merges the numbers of each index into one: [n][depth] to [1][n] */
		const int64_t numbers[] = { k->n, k->depth };
		struct g_operand sum = { .t = NULL };
		at = nd_as(at, numbers, 2);
		for (int d = 0; d < k->depth; d++) {
			struct nd column = nd_part(&at, 1, d, 1);
			struct g_operand v = nd_to_operand(&column);
			if (!sum.t) {
				sum = v;
				continue;
			}
			struct g_operand above = word_mul(p->l, sum,
							  word_const(p->l, o->ifm->dim[d]));
			sum = word_add(p->l, above, v);
		}
		at = nd_operand_of(sum, 2, (int32_t[]){ 1, (int32_t)k->n });
	} else {
		/* as [rows][n], repeated for dimensions between the batch and the axis */
		const int64_t rows[] = { k->rows / k->outer, 1, k->n }, all[] = { k->rows, k->n };
		at = nd_as(at, rows, 3);
		if (k->outer > 1) {
			at.dim[1] = k->outer;
			at.stride[1] = 0;
			at = nd_readable(p->l, &at);
		}
		at = nd_as(at, all, 2);
	}
	struct nd in = nd_readable_as(p->l, words_ifm(p, op->in[0]), any, 3);
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	struct nd out = nd_as(as_words(o->ofm, nd_of(dest, o->ofm)), some, 3);
	nd_gather(p->l, &in, &at, &out);
	low_deliver(p->l, dest, ofm);
}
