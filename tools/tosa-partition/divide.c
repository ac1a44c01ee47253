/* SPDX-License-Identifier: Apache-2.0 */
/* INTDIV: Ethos-U85's own division, or the words of lower/divide.c. */
#include "part.h"

/* v repeated to the result's dimensions, as words in rows, columns and channels */
static bool
as_words(struct part *p, const struct nd *v, const struct nd *out, const int64_t *dim,
	 struct g_operand *o)
{
	struct nd r = *v;
	for (int i = 0; i < v->rank; i++)
		if (v->dim[i] != out->dim[i]) {
			r = spread(p, v, out);
			break;
		}
	r = mapped(p, &r, dim, true);
	return nd_operand(&r, o);
}

const char *
lower_divide(struct part *p, const struct tosa_op *op)
{
	struct nd a = value_of(p, op->in[0]), b = value_of(p, op->in[1]);
	struct nd out = result_place(p, op->out[0]);
	if (low_has(p->l, LACK_DIVISION)) {
		struct finish f = { .round = ROUND_NATURAL };
		both_to(p, OP_DIV, &a, &b, &out, &f);
		return NULL;
	}
	enum { MAX_EXTENT = 65536 };
	int64_t dim[4] = { 1, 1, 1, 1 };
	for (int i = 0; i < out.rank; i++)
		dim[i + 3 < out.rank ? 1 : i + 4 - out.rank] *= out.dim[i];
	for (int i = 1; i < 4; i++)
		if (dim[i] > MAX_EXTENT)
			return "rows, columns or channels of more than 65536";
	struct nd to = mapped(p, &out, dim, false);
	struct g_operand x, y, z;
	if (!as_words(p, &a, &out, dim, &x) || !as_words(p, &b, &out, dim, &y) ||
	    !nd_operand(&to, &z))
		return "its elements are not in order";
	word_divide_to(p->l, x, y, z);
	unmapped(p, &to, &out);
	return NULL;
}
