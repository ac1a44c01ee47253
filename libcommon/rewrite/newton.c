/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newton: a step of Newton's iteration for a reciprocal, y + 4 * (y * error >> 31), takes one
 * kernel less on Ethos-U65 (nputools-rewrites(7) 7).  The product is written four times
 * beside y, and one sum over five words takes the place of a product with 4 and a sum.
 */
#include "rewrite/rules.h"

#include "graph/build.h"
#include "target/accel.h"

enum { FOUR = 4, WORDS = FOUR + 1 };

struct finder {
	struct exact *x;
	struct graph *g;
	bool ok;
	size_t *writer, *readers; /* for each tensor: its only writer, and the number of readers */
	int *writes;
};

/* The operations of a step. */
struct step {
	struct g_op *error; /* SUB: 2^29 - half * y */
	struct g_op *product, *four, *sum;
	struct g_tensor *y;
};

static bool
is_one_word(const struct g_operand *o)
{
	return o->t && o->type == TFL_INT32 && o->t->shape.type == TFL_INT32 &&
	       hwc_elements(o->shape) == 1 && hwc_elements(o->t->hwc) == 1 &&
	       o->view == VIEW_WHOLE;
}

/* True if the operand is a constant of one word with this value. */
static bool
is_word(struct finder *f, const struct g_operand *o, int32_t v)
{
	int32_t is;
	return is_one_word(o) && exact_is_word(f->x, o, &is, &f->ok) && is == v;
}

/* The operation of a kind that alone writes the word; NULL: there is none. */
static struct g_op *
writer_of(const struct finder *f, const struct g_operand *o, enum g_op_kind kind)
{
	if (!is_one_word(o) || f->writes[o->t->rec.index] != 1)
		return NULL;
	struct g_op *op = f->g->ops[f->writer[o->t->rec.index]];
	return op->kind == (int)kind && is_one_word(&op->ofm) && !op->reversed && !op->ifm_zero &&
			       !op->ifm2_zero && !op->ofm_zero && !op_has_table(op)
		   ? op : NULL;
}

static bool
shifts_by(const struct g_op *op, int shift)
{
	return op->scale.mult == 1 && op->scale.shift == shift && op->round == ROUND_TFL;
}

/* True if one operation writes the word and one reads it. */
static bool
is_private(const struct finder *f, const struct g_operand *o)
{
	int i = o->t->rec.index;
	return f->writes[i] == 1 && f->readers[i] == 1 && exact_is_inner(f->g, o->t);
}

/* The operation of a kind that alone writes the tensor of an operand; NULL: there is none. */
static const struct g_op *
maker_of(const struct finder *f, const struct g_operand *o, enum g_op_kind kind)
{
	if (!o->t || f->writes[o->t->rec.index] != 1)
		return NULL;
	const struct g_op *op = f->g->ops[f->writer[o->t->rec.index]];
	return op->kind == (int)kind ? op : NULL;
}

/*
 * True if the word is x << (leading zeros of x - 1), and x is above 0: 2^30 to 2^31 - 1.  x is a
 * sum of the exponentials of a SOFTMAX, of which that of the greatest element is at least 2^30,
 * and none is negative.
 */
static bool
is_normal(struct finder *f, const struct g_operand *half)
{
	const struct g_op *shl = writer_of(f, half, OP_SHL);
	const struct g_op *left = shl ? writer_of(f, &shl->ifm2, OP_ADD) : NULL;
	const struct g_op *clz = left ? writer_of(f, &left->ifm2, OP_CLZ) : NULL;
	if (!clz || clz->ifm.t != shl->ifm.t || !is_one_word(&shl->ifm) ||
	    !is_word(f, &left->ifm, -1))
		return false;
	const struct g_op *sum = maker_of(f, &shl->ifm, OP_REDUCE_SUM);
	const struct g_op *shr = sum ? maker_of(f, &sum->ifm, OP_SHR) : NULL;
	const struct g_op *sub = shr ? maker_of(f, &shr->ifm, OP_SUB) : NULL;
	const struct g_op *max = sub ? maker_of(f, &sub->ifm2, OP_MAXPOOL) : NULL;
	if (!max || !is_word(f, &shr->ifm2, 12) || sub->act != G_ACT_LUT || sub->lut->bits != 32 ||
	    max->ifm.t != sub->ifm.t || sub->ofm_zero != 127 ||
	    hwc_elements(max->ifm.shape) != (int64_t)max->kernel.y * max->kernel.x ||
	    hwc_elements(max->ifm.shape) != hwc_elements(sub->ifm.shape))
		return false;
	for (size_t i = 0; i < sub->lut->values.n; i++)
		if (sub->lut->values.v[i] > INT32_MAX)
			return false;
	return sub->lut->values.v[255] >= 1 << 30;
}

/* Finds the step that makes the word. */
static bool
is_step(struct finder *f, const struct g_operand *word, struct step *s)
{
	s->sum = writer_of(f, word, OP_ADD);
	s->four = s->sum ? writer_of(f, &s->sum->ifm2, OP_MUL) : NULL;
	s->product = s->four ? writer_of(f, &s->four->ifm2, OP_MUL) : NULL;
	s->error = s->product ? writer_of(f, &s->product->ifm2, OP_SUB) : NULL;
	if (!s->error)
		return false;
	s->y = s->sum->ifm.t;
	return shifts_by(s->four, 0) && shifts_by(s->product, 31) &&
	       is_word(f, &s->four->ifm, 4) && is_word(f, &s->error->ifm, 1 << 29) &&
	       is_one_word(&s->sum->ifm) && s->product->ifm.t == s->y && exact_is_inner(f->g, s->y) &&
	       is_private(f, &s->sum->ifm2) && is_private(f, &s->four->ifm2) &&
	       is_private(f, &s->product->ifm2) && s->error->node == s->sum->node;
}

/* The operand `half` of an iteration that makes the word; NULL: it is no iteration. */
static const struct g_operand *
half_of(struct finder *f, const struct g_operand *word)
{
	struct step s;
	/* the first value is 48/17 - 32/17 * half */
	const struct g_op *add = writer_of(f, word, OP_ADD);
	const struct g_op *mul = add ? writer_of(f, &add->ifm2, OP_MUL) : NULL;
	if (mul && shifts_by(mul, 31) && is_word(f, &add->ifm, 1515870810) &&
	    is_word(f, &mul->ifm, -1010580540))
		return &mul->ifm2;
	if (!f->ok || !is_step(f, word, &s))
		return NULL;
	mul = writer_of(f, &s.error->ifm2, OP_MUL);
	const struct g_operand *half = half_of(f, &s.sum->ifm);
	return half && mul && shifts_by(mul, 31) && mul->ifm.t == s.y && mul->ifm2.t == half->t
		   ? half : NULL;
}

/* ---- the replacement --------------------------------------------------------------- */

static const struct hwc one_word = { .h = 1, .w = 1, .c = 1 };
static const struct hwc four_words = { .h = 1, .w = FOUR, .c = 1 };

/* The new operations of a step.  Five words have four products and y. */
struct parts {
	struct g_op error, product, sum;
	struct g_operand y; /* beside the products */
};

static struct parts
parts_of(const struct step *s, struct g_tensor *five, struct g_tensor *errors,
	 struct g_operand ones)
{
	struct parts r = { .error = *s->error, .product = *s->product };
	struct hwc row = { .h = 1, .w = 1, .c = WORDS };
	r.y = operand_box(five, one_word, (struct hwc){ .w = FOUR });
	r.error.ifm = ones;
	r.error.ofm = operand_whole(errors);
	r.product.ifm = operand_whole(errors);
	r.product.ifm2 = r.y;
	r.product.ofm = operand_box(five, four_words, (struct hwc){ .w = 0 });
	r.sum = (struct g_op){ .rec = s->sum->rec, .node = s->sum->node,
			       .kernel = s->sum->kernel, .stride = s->sum->stride,
			       .dilation = s->sum->dilation };
	r.sum.rec.has = 0;
	G_PUT(&r.sum, OP, kind, OP_REDUCE_SUM);
	G_SET(&r.sum, G_OP_node);
	if (s->sum->name)
		G_PUT(&r.sum, OP, name, s->sum->name);
	if (G_HAS(s->sum, G_OP_tfl))
		G_PUT(&r.sum, OP, tfl, s->sum->tfl);
	G_PUT(&r.sum, OP, ifm, operand_reshape(five, row));
	G_PUT(&r.sum, OP, ofm, s->sum->ofm);
	op_zeros(&r.sum, 0, 0);
	op_scale(&r.sum, (struct npu_scale){ .mult = 1 }, ROUND_TFL);
	op_clamp(&r.sum, type_range(TFL_INT32));
	return r;
}

bool
rewrite_newton(struct exact *x)
{
	static const int32_t half[FOUR] = { 1 << 29, 1 << 29, 1 << 29, 1 << 29 };
	struct graph *g = x->g;
	struct finder f = { .x = x, .g = g, .ok = true };
	const size_t n_old = g->n_tensors;
	bool *gone = anew(x->a, bool, g->n_ops + 1);
	struct step *v = anew(x->a, struct step, g->n_ops + 1);
	double saved, all = 0;
	const struct g_op *first = NULL;
	int count = 0;
	/*
	 * U55 hands over to the next kernel in few cycles: there, the published formulas say that
	 * four words take longer than a kernel
	 */
	if (!x->estimate || x->l->accel->generation != GEN_U65 || graph_has_loops(g))
		return true;
	f.writer = anew(x->a, size_t, g->n_tensors + 1);
	f.readers = anew(x->a, size_t, g->n_tensors + 1);
	f.writes = anew(x->a, int, g->n_tensors + 1);
	for (size_t i = 0; i < g->n_ops; i++) {
		const struct g_op *op = g->ops[i];
		f.writes[op->ofm.t->rec.index]++;
		f.writer[op->ofm.t->rec.index] = i;
		f.readers[op->ifm.t->rec.index]++;
		if (op->ifm2.t)
			f.readers[op->ifm2.t->rec.index]++;
	}
	size_t n = 0; /* number of steps */
	for (size_t i = 0; f.ok && i < g->n_ops; i++) {
		const struct g_operand *word = &g->ops[i]->ofm;
		if (g->ops[i]->kind != OP_ADD || !is_one_word(word) || !is_step(&f, word, &v[n]))
			continue;
		const struct g_operand *of = half_of(&f, word);
		n += of && is_normal(&f, of);
	}
	for (size_t i = 0; f.ok && i < n; i++) {
		const struct step *s = &v[i];
		struct g_tensor *five = graph_add_feature_map(
		    g, TFL_INT32, (struct hwc){ .h = 1, .w = WORDS, .c = 1 });
		struct g_tensor *errors = graph_add_feature_map(g, TFL_INT32, four_words);
		struct g_operand ones = low_const(x->l, TFL_INT32, four_words, half);
		struct parts p = parts_of(s, five, errors, ones);
		const struct change c = { .old = { s->error, s->product, s->four, s->sum },
					  .now = { &p.error, &p.product, &p.sum } };
		if (!change_pays(x, &c, 1, &saved))
			continue;
		first = first ? first : s->sum;
		gone[s->four->rec.index] = true;
		for (size_t k = 0; k < g->n_ops; k++)
			for (int j = 0; j < 3; j++) {
				struct g_operand *o = operand_ofm_first(g->ops[k], j);
				if (o->t == s->y)
					*o = p.y;
			}
		*s->error = p.error;
		*s->product = p.product;
		*s->sum = p.sum;
		all += saved;
		count++;
	}
	if (n) { /* remove the products with 4, and tensors that no operation uses any more */
		struct g_op **op = anew(x->a, struct g_op *, g->n_ops + 1);
		size_t kept = 0;
		for (size_t i = 0; i < g->n_ops; i++)
			if (!gone[i])
				op[kept++] = g->ops[i];
		graph_set_ops(g, op, kept);
		bool *written = anew(x->a, bool, g->n_tensors + 1);
		for (size_t i = 0; i < g->n_tensors; i++)
			written[i] = i >= n_old || f.writes[i] || tensor_is_const(g->tensors[i]);
		exact_drop_unused(x, written, g->n_tensors);
	}
	if (count)
		(void)exact_note(x, first, 0, all, "%d step%s of Newton's iteration %s a kernel less",
				 count, count == 1 ? "" : "s", count == 1 ? "takes" : "take");
	return f.ok;
}
