/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WHILE_LOOP: counts down from an input; each turn changes or exchanges maps.  COND_IF: a
 * comparison of two maps of 32 bits.
 */
#include "gen.h"

enum { VALUES = 4 /* the count, and maps */ };

/* the values of a region, which are its first tensors */
static void
take_values(struct gen *g, const struct gen *like, const int *value)
{
	for (int i = 0; i < VALUES; i++) {
		const struct gen_tensor t = like->tensor[value[i]];
		(void)gen_input(g, t.type, t.rank, t.dim);
	}
}

static int
with_one(struct gen *g, int code, int x, int64_t v, int type)
{
	const int in[2] = { x, gen_number(g, TOSA_INT32, v) };
	return gen_op(g, code, 0, 2, in, type, 1, (int32_t[]){ 1 });
}

/* greater than 0, or not equal to 0 */
static void
draw_condition(struct gen *g)
{
	int yes = with_one(g, draw(g, 2) ? TOSA_GREATER : TOSA_EQUAL, 0, 0, TOSA_BOOL);
	if (g->op[g->n_ops - 1].code == TOSA_EQUAL)
		yes = gen_op(g, TOSA_LOGICAL_NOT, 0, 1, &yes, TOSA_BOOL, 1, (int32_t[]){ 1 });
	g->out[g->n_out++] = yes;
}

/* each map becomes itself or another one, changed or not, in some order */
static void
draw_body(struct gen *g)
{
	g->out[g->n_out++] = with_one(g, TOSA_SUB, 0, 1, TOSA_INT32);
	int first = (int)draw(g, VALUES - 1);
	for (int i = 0; i < VALUES - 1; i++) {
		int x = 1 + (first + i) % (VALUES - 1);
		for (int n = (int)draw(g, 3); n > 0; n--)
			x = draw_alike(g, x);
		g->out[g->n_out++] = x;
	}
}

void
draw_loop(struct gen *g)
{
	static const int32_t most[4] = { 2, 9, 9, 20 };
	int32_t dim[4];
	int value[VALUES] = { gen_input(g, TOSA_INT32, 1, (int32_t[]){ 1 }) };
	for (int i = 0; i < 4; i++)
		dim[i] = between(g, 1, most[i]);
	int type = draw(g, 3) ? TOSA_INT8 : TOSA_INT16;
	value[0] = with_one(g, TOSA_BITWISE_AND, value[0], 3, TOSA_INT32);
	int x = gen_input(g, type, 4, dim);
	for (int i = 1; i < VALUES; i++)
		value[i] = draw(g, 2) ? draw_alike(g, x) : x;
	struct gen *cond = gen_region(g, "cond"), *body = gen_region(g, "body");
	take_values(cond, g, value);
	draw_condition(cond);
	take_values(body, g, value);
	draw_body(body);
	fbw_off cond_name = fbw_string(g->w, cond->name);
	fbw_off body_name = fbw_string(g->w, body->name);
	fbw_table(g->w, &fb_TosaWhileLoop);
	fbw_ref(g->w, FB_TosaWhileLoop_cond_graph, cond_name);
	fbw_ref(g->w, FB_TosaWhileLoop_body_graph, body_name);
	int first = gen_op(g, TOSA_WHILE_LOOP, fbw_end(g->w), VALUES, value, TOSA_INT32, 1,
			   (int32_t[]){ 1 });
	g->op[g->n_ops - 1].n_more = VALUES - 1;
	for (int i = 1; i < VALUES; i++)
		(void)gen_new(g, type, 4, dim);
	g->out[g->n_out++] = first;
	for (int i = 1; i < VALUES; i++)
		g->out[g->n_out++] = draw(g, 2) ? draw_alike(g, first + i) : first + i;
}

/* one operator of both values of a region; a minimum or a maximum propagates no NaN */
static void
draw_branch(struct gen *g, const int32_t *dim)
{
	static const int codes[] = { TOSA_ADD, TOSA_SUB, TOSA_MAXIMUM, TOSA_MINIMUM };
	int in[2], k = (int)draw(g, 4);
	for (int i = 0; i < 2; i++)
		in[i] = gen_input(g, TOSA_INT32, 4, dim);
	fbw_off a = k < 2 ? 0
			  : gen_attribute(g, &fb_TosaNan, 0, NULL, NULL, 1, (int64_t[]){ 1 });
	g->out[g->n_out++] = gen_op(g, codes[k], a, 2, in, TOSA_INT32, 4, dim);
}

void
draw_if(struct gen *g)
{
	int32_t dim[4] = { 1 };
	int in[3] = { gen_input(g, TOSA_INT32, 1, (int32_t[]){ 1 }) };
	for (int i = 1; i < 4; i++)
		dim[i] = between(g, 1, 9);
	in[0] = with_one(g, TOSA_GREATER, in[0], 0, TOSA_BOOL);
	for (int i = 1; i < 3; i++) {
		int x = gen_input(g, TOSA_INT16, 4, dim); /* sums do not overflow */
		in[i] = gen_op(g, TOSA_CAST, 0, 1, &x, TOSA_INT32, 4, dim);
	}
	struct gen *yes = gen_region(g, "yes"), *no = gen_region(g, "no");
	draw_branch(yes, dim);
	draw_branch(no, dim);
	fbw_off yes_name = fbw_string(g->w, yes->name);
	fbw_off no_name = fbw_string(g->w, no->name);
	fbw_table(g->w, &fb_TosaCondIf);
	fbw_ref(g->w, FB_TosaCondIf_then_graph, yes_name);
	fbw_ref(g->w, FB_TosaCondIf_else_graph, no_name);
	(void)gen_op(g, TOSA_COND_IF, fbw_end(g->w), 3, in, TOSA_INT32, 4, dim);
}
