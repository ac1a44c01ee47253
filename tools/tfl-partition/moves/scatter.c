/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SCATTER_ND with constant and distinct indices: fills the result with zeros, then
 * makes one copy for each run of evenly spaced indices.
 */
#include "move.h"

#include "lower/runs.h"

enum { MAX_INDICES = 65536, MAX_LINES = 1 << 26 };

struct scatter {
	/* of the OFM: number of positions, and elements of each; of INT64, words of each */
	int64_t lines, inner;
	int n;
	int64_t *at; /* n positions */
};

enum { MOST_RUNS = ND_MAX_COPIES / 8 };

/* true if one transfer, as in gather.c, is better than copies */
static bool
is_transfer_better(const struct part *p, const struct lop *o)
{
	enum { FEW = 3, GOOD_BYTES = 16 };
	const struct scatter *s = o->own;
	int type = o->ifm2->type;
	int64_t bytes = s->inner * tfl_type_bytes(type == TFL_INT64 ? TFL_INT32 : type);
	int runs = low_even_runs(s->at, s->n, false);
	const int64_t any[3] = { 1, s->lines, s->inner };
	return nd_can_index(p->l, any, s->n) &&
	       ((bytes >= GOOD_BYTES && runs > FEW) || runs > MOST_RUNS);
}

const char *
read_scatter(const struct part *p, struct lop *o)
{
	const struct tfl_tensor *at = o->ifm, *in = o->ifm2, *out = o->ofm;
	struct scatter *s = o->own = anew(p->a, struct scatter, 1);
	const char *why = check_moved_by(p, o->op, in, "IFM") ?:
			  check_moved_by(p, o->op, out, "OFM");
	if (why)
		return why;
	int depth = at->rank ? at->dim[at->rank - 1] : 0, n;
	int64_t all = tfl_elements(at);
	if (in->type != out->type)
		return "IFM and OFM differ in type";
	if (depth < 1 || depth > out->rank || in->data.p)
		return "indices of more dimensions than the OFM, or a constant IFM";
	if (all < 1 || all > MAX_INDICES)
		return "no indices, or more than 65536";
	int64_t *v = anew(p->a, int64_t, (size_t)all);
	if (!part_ints(at, v, (int)all, &n) || n != all)
		return "the indices are not constant integers";
	*s = (struct scatter){ .lines = 1, .inner = 1, .n = n / depth };
	for (int i = 0; i < out->rank; i++)
		*(i < depth ? &s->lines : &s->inner) *= out->dim[i];
	if (s->lines > MAX_LINES)
		return "more than 2^26 elements to index";
	s->at = anew(p->a, int64_t, (size_t)s->n);
	for (int k = 0; k < n; k++) {
		if (v[k] < 0 || v[k] >= out->dim[k % depth])
			return "an index is out of range";
		s->at[k / depth] = s->at[k / depth] * out->dim[k % depth] + v[k];
	}
	bool fits = s->n * s->inner == tfl_elements(in);
	s->inner *= in->type == TFL_INT64 ? 2 : 1;
	if (!fits)
		return "the IFM's shape is not what the indices give";
	uint8_t *seen = anew(p->a, uint8_t, (size_t)s->lines);
	for (int i = 0; i < s->n; i++)
		if (seen[s->at[i]]++)
			return "an index occurs twice";
	int runs = is_transfer_better(p, o) ? 0 : low_even_runs(s->at, s->n, false);
	if (runs > MOST_RUNS)
		return arena_printf(p->a, "the indices give %d separate blocks: at most %d",
				    runs, MOST_RUNS);
	return s->inner > MAX_INDICES ? "blocks of more than 65536 elements" : NULL;
}

void
lower_scatter(struct part *p, const struct lop *o)
{
	const struct tfl_op *op = o->op;
	const struct scatter *s = o->own;
	struct g_operand ofm = part_ofm(p, op->out[0]), dest = low_destination(p->l, ofm);
	struct g_operand in = low_linear(p->l, part_ifm(p, op->in[1]));
	struct nd to = as_words(o->ofm, nd_of(dest, o->ofm));
	struct nd from = as_words(o->ifm2, nd_of(in, o->ifm2));
	to = nd_as(to, (int64_t[]){ s->lines, s->inner }, 2);
	from = nd_as(from, (int64_t[]){ s->n, s->inner }, 2);
	/* fills all lines with zeros, from one constant line */
	int32_t *zero = anew(p->a, int32_t, (size_t)s->inner);
	struct hwc line = { .h = 1, .w = 1, .c = (int32_t)s->inner };
	struct g_operand none = low_const(p->l, to.type, line, zero);
	struct nd zeros = nd_operand_of(none, 2, (int32_t[]){ 1, line.c });
	nd_binary(p->l, OP_MAX, &zeros, 0, &zeros, 0, &to, &low_as_made);
	if (is_transfer_better(p, o)) {
		int32_t *v = anew(p->a, int32_t, (size_t)s->n);
		for (int i = 0; i < s->n; i++)
			v[i] = (int32_t)s->at[i];
		struct hwc shape = { .h = 1, .w = s->n, .c = 1 };
		struct nd at = nd_operand_of(low_const(p->l, TFL_INT32, shape, v), 2,
					     (int32_t[]){ 1, s->n });
		from = nd_as(from, (int64_t[]){ 1, s->n, s->inner }, 3);
		to = nd_as(to, (int64_t[]){ 1, s->lines, s->inner }, 3);
		nd_scatter(p->l, &from, &at, &to);
		low_deliver(p->l, dest, ofm);
		return;
	}
	for (int k = 0; k < s->n;) {
		int64_t step;
		int n = low_even(s->at + k, s->n - k, false, &step);
		struct nd some = nd_part(&from, 0, k, n), dest_lines = to;
		nd_slice(&dest_lines, 0, s->at[k], n, step);
		nd_copy(p->l, &some, &dest_lines);
		k += n;
	}
	low_deliver(p->l, dest, ofm);
}
